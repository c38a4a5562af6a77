//! Groups of remarks of the same kind.

use feeler_geom::P3;
use feeler_hierarchy::{Remark, Severity};
use serde::Serialize;

/// Maximum number of remarks of a group that are listed; the report states the number of all. Reports
/// are long with a larger value; a smaller one hides locations.
const MAX_LISTED: usize = 20;

/// Numbers of remarks by severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Severities {
    pub(super) note: usize,
    pub(super) warning: usize,
    pub(super) error: usize,
}

impl Severities {
    pub(super) fn of(remarks: &[Remark]) -> Self {
        let count = |s| remarks.iter().filter(|r| r.severity == s).count();
        Self { note: count(Severity::Note), warning: count(Severity::Warning), error: count(Severity::Error) }
    }
}

impl std::ops::AddAssign for Severities {
    fn add_assign(&mut self, other: Self) {
        self.note += other.note;
        self.warning += other.warning;
        self.error += other.error;
    }
}

/// Remarks whose messages differ only in numbers and names.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Group {
    pub(super) severity: Severity,
    /// Common message, with `…` in place of numbers and names; the whole message if the group has one
    /// remark.
    pub(super) text: String,
    /// Number of remarks in the group.
    pub(super) count: usize,
    /// First remarks of the group, at most [`MAX_LISTED`].
    pub(super) first: Vec<Member>,
}

impl Group {
    /// Text with the severity, the first remark of the group and the number of the others.
    pub(super) fn summary(&self) -> String {
        let what = match self.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "left out",
        };
        let first = self.first.first().map_or_else(String::new, |m| match m.subject.as_str() {
            "" => m.text.clone(),
            subject => format!("{subject}: {}", m.text),
        });
        match self.count {
            0 | 1 => format!("{what}: {first}"),
            n => format!("{what}: {first}; and {} more of this kind", n - 1),
        }
    }
}

/// One remark of a group.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Member {
    /// Name of the solid that the remark is about; empty for the whole file.
    subject: String,
    entity: Option<String>,
    place: Option<[f64; 3]>,
    text: String,
}

impl Member {
    fn of(remark: &Remark) -> Self {
        Self {
            subject: remark.subject.clone(),
            entity: remark.entity.map(|e| format!("#{e}")),
            place: remark.point,
            text: remark.message.clone(),
        }
    }

    /// Entity number of the solid that the remark is about; `None` if the `subject` states none.
    pub(super) fn solid(&self) -> Option<u64> {
        let (_, digits) = self.subject.split_once("solid #")?;
        digits.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    }

    /// Entity number that the remark is about.
    pub(super) fn entity(&self) -> Option<u64> {
        self.entity.as_ref()?.strip_prefix('#')?.parse().ok()
    }

    /// Location (mm) of the remark in the coordinates of its solid.
    pub(super) fn place(&self) -> Option<P3> {
        self.place.map(P3::from)
    }

    /// Message of the remark.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Cells of the table of remarks: solid, entity, location and message.
    pub(super) fn columns(&self) -> [String; 4] {
        let place = self.place.map_or_else(String::new, |p| format!("{:.3}, {:.3}, {:.3}", p[0], p[1], p[2]));
        [self.subject.clone(), self.entity.clone().unwrap_or_default(), place, self.text.clone()]
    }
}

/// Groups remarks whose messages differ only in numbers and names. Groups are sorted by decreasing
/// severity; groups of equal severity are in the order of their first remarks.
pub(super) fn groups_of(remarks: &[Remark]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for remark in remarks {
        let text = general(&remark.message);
        let same = |g: &&mut Group| g.severity == remark.severity && g.text == text;
        match groups.iter_mut().find(same) {
            Some(group) => {
                group.count += 1;
                if group.first.len() < MAX_LISTED {
                    group.first.push(Member::of(remark));
                }
            }
            None => groups.push(Group {
                severity: remark.severity,
                text,
                count: 1,
                first: vec![Member::of(remark)],
            }),
        }
    }
    for group in groups.iter_mut().filter(|g| g.count == 1) {
        group.text.clone_from(&group.first[0].text);
    }
    groups.sort_by_key(|g| std::cmp::Reverse(g.severity));
    groups
}

/// Returns a message with `…` in place of numbers and quoted names. Remarks for which the result is
/// equal belong to one group.
fn general(message: &str) -> String {
    let mut out = String::with_capacity(message.len());
    let mut rest = message;
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        let in_word = before.is_alphanumeric() || before == '_';
        let taken = match c {
            '0'..='9' if !in_word => number_length(rest),
            '\'' | '"' if !in_word => rest[1..].find(c).map_or(0, |end| end + 2),
            _ => 0,
        };
        if taken > 0 {
            out.push('…');
            before = '…';
            rest = &rest[taken..];
        } else {
            out.push(c);
            before = c;
            rest = &rest[c.len_utf8()..];
        }
    }
    // Messages that differ only in the length of a list belong to one group.
    for list in ["…, …", "#…, #…"] {
        while out.contains(list) {
            out = out.replace(list, list.split(", ").next().unwrap_or(list));
        }
    }
    out
}

/// Length (bytes) of the number at the beginning of a text: digits, an optional fraction and an optional
/// exponent.
fn number_length(text: &str) -> usize {
    let digits = |t: &str| t.len() - t.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let mut n = digits(text);
    let fraction = text[n..].strip_prefix('.').map_or(0, digits);
    if fraction > 0 {
        n += 1 + fraction;
    }
    if let Some(exponent) = text[n..].strip_prefix(['e', 'E']) {
        let sign = usize::from(exponent.starts_with(['+', '-']));
        let power = digits(&exponent[sign..]);
        n += if power > 0 { 1 + sign + power } else { 0 };
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remark(severity: Severity, message: &str) -> Remark {
        let subject = "solid #1 'x'".to_owned();
        Remark {
            severity,
            subject,
            entity: Some(7),
            point: Some([1.0, 2.0, 3.0]),
            message: message.to_owned(),
        }
    }

    #[test]
    fn numbers_and_names_are_replaced() {
        let cases = [
            ("face #965: its loops", "face #…: its loops"),
            ("approximated to 3.0e-5 mm.", "approximated to … mm."),
            ("the schema is 'A b', of AP203 and AP214", "the schema is …, of AP203 and AP214"),
            ("faces [1, 2, 3] and 12.", "faces […] and …."),
            ("it's 5e and 5.e3", "it's …e and ….e3"),
            ("'open", "'open"),
            ("#12; #13, #14, #15", "#…; #…"),
            ("größer als 5 µm", "größer als … µm"),
        ];
        for (message, expected) in cases {
            assert_eq!(general(message), expected, "{message}");
        }
    }

    #[test]
    fn groups_are_sorted_by_severity() {
        let mut remarks = vec![remark(Severity::Note, "edge #5 has no length")];
        remarks.extend((0..30).map(|i| remark(Severity::Warning, &format!("face #{i} was turned"))));
        remarks.push(remark(Severity::Error, "#9 is open"));
        remarks.push(remark(Severity::Note, "edge #6 has no length"));
        let groups = groups_of(&remarks);
        let seen: Vec<_> = groups.iter().map(|g| (g.text.as_str(), g.count, g.first.len())).collect();
        assert_eq!(
            seen,
            [("#9 is open", 1, 1), ("face #… was turned", 30, MAX_LISTED), ("edge #… has no length", 2, 2)]
        );
        assert_eq!(Severities::of(&remarks), Severities { note: 2, warning: 30, error: 1 });
        assert_eq!(groups[1].first[0].columns()[..3], ["solid #1 'x'", "#7", "1.000, 2.000, 3.000"]);
    }
}
