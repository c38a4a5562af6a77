//! Plain text tables for people.

use std::fmt::Write as _;

/// Lays out rows under a header: columns are padded to their widest cell, cells that look like numbers are
/// aligned to the right.
#[must_use]
pub fn render(header: &[&str], rows: &[Vec<String>]) -> String {
    let width = |i: usize| {
        rows.iter()
            .filter_map(|r| r.get(i))
            .map(|c| c.chars().count())
            .fold(header[i].chars().count(), usize::max)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let numeric = |i: usize| {
        rows.iter()
            .filter_map(|r| r.get(i))
            .all(|c| c.is_empty() || c == "-" || c.trim_end_matches(['%']).parse::<f64>().is_ok())
    };
    let right: Vec<bool> = (0..header.len()).map(numeric).collect();
    let mut out = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut text = String::new();
        for (i, cell) in cells.enumerate() {
            let w = widths[i];
            let _ = if right[i] { write!(text, "{cell:>w$}  ") } else { write!(text, "{cell:<w$}  ") };
        }
        out.push_str(text.trim_end());
        out.push('\n');
    };
    line(&mut header.iter().copied());
    for row in rows {
        line(&mut row.iter().map(String::as_str));
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn aligns_numbers_right_and_text_left() {
        let t =
            super::render(&["n", "name"], &[vec!["5".into(), "a".into()], vec!["12".into(), "bb".into()]]);
        assert_eq!(t, " n  name\n 5  a\n12  bb\n");
    }
}
