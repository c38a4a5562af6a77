//! Plain text tables.

use crate::color;
use std::fmt::Write as _;

/// Width (characters) below which no column of text is narrowed. Lines exceed narrow terminals with a
/// larger value; names are hard to recognise with a smaller one.
const MIN_WIDTH: usize = 12;

/// Renders rows under a header as lines of text. Columns are padded to their widest cell, and columns of
/// numbers are aligned to the right. If stdout is a terminal, long texts are shortened until the lines
/// fit.
#[must_use]
pub fn render(header: &[&str], rows: &[Vec<String>]) -> String {
    let terminal = console::Term::stdout();
    let width = terminal.is_term().then(|| usize::from(terminal.size().1));
    render_within(header, rows, width)
}

/// Like [`render`], but shortens texts until lines have at most `max_width` characters; `None` for no
/// limit.
fn render_within(header: &[&str], rows: &[Vec<String>], max_width: Option<usize>) -> String {
    let width = |i: usize| {
        rows.iter()
            .filter_map(|r| r.get(i))
            .map(|c| c.chars().count())
            .fold(header[i].chars().count(), usize::max)
    };
    let mut widths: Vec<usize> = (0..header.len()).map(width).collect();
    let numeric = |i: usize| {
        rows.iter()
            .filter_map(|r| r.get(i))
            .all(|c| c.is_empty() || c == "-" || c.trim_end_matches(['%']).parse::<f64>().is_ok())
    };
    let right: Vec<bool> = (0..header.len()).map(numeric).collect();
    if let Some(max_width) = max_width {
        // Columns of numbers and of points are never shortened.
        let is_point = |c: &String| c.split_whitespace().all(|w| w.parse::<f64>().is_ok());
        let fixed: Vec<bool> = (0..header.len())
            .map(|i| right[i] || rows.iter().filter_map(|r| r.get(i)).all(is_point))
            .collect();
        narrow(&mut widths, &fixed, max_width);
    }
    let mut out = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = &str>, is_header: bool| {
        let mut text = String::new();
        let mut pad = 0;
        for (i, cell) in cells.enumerate() {
            let shown = shortened(cell, widths[i]);
            let blanks = widths[i] - shown.chars().count();
            let [before, after] = if right[i] { [blanks, 0] } else { [0, blanks] };
            let look = if is_header { color::heading(&shown) } else { color::painted(cell, &shown) };
            // Trailing blanks are omitted.
            let _ = write!(text, "{:pad$}{look}", "", pad = pad + before);
            pad = after + 2;
        }
        out.push_str(text.trim_end());
        out.push('\n');
    };
    line(&mut header.iter().copied(), true);
    for row in rows {
        line(&mut row.iter().map(String::as_str), false);
    }
    out
}

/// Reduces `widths`, the widths of the columns, widest columns first, until a line has at most
/// `max_width` characters or no column can be narrowed. Columns with `is_fixed` keep their widths.
fn narrow(widths: &mut [usize], is_fixed: &[bool], max_width: usize) {
    loop {
        let total: usize = widths.iter().map(|w| w + 2).sum::<usize>().saturating_sub(2);
        let text = (0..widths.len()).filter(|&i| !is_fixed[i] && widths[i] > MIN_WIDTH);
        let Some(widest) = text.max_by_key(|&i| widths[i]).filter(|_| total > max_width) else { return };
        let second = (0..widths.len()).filter(|&i| i != widest && !is_fixed[i]).map(|i| widths[i]).max();
        // The column is narrowed in one go to the width of the second widest one.
        let floor = second.unwrap_or(0).clamp(MIN_WIDTH, widths[widest] - 1);
        widths[widest] = floor.max(widths[widest].saturating_sub(total - max_width));
    }
}

/// Shortens a text to a maximum number of characters. The middle is removed, because both ends are more
/// informative.
fn shortened(text: &str, max_chars: usize) -> String {
    let n = text.chars().count();
    if n <= max_chars {
        return text.to_owned();
    }
    let head = (max_chars - 1) / 2;
    let tail = max_chars - 1 - head;
    text.chars().take(head).chain(std::iter::once('…')).chain(text.chars().skip(n - tail)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
        rows.iter().map(|r| r.iter().map(|c| (*c).to_owned()).collect()).collect()
    }

    #[test]
    fn aligns_numbers_right_and_text_left() {
        let t = render_within(&["n", "name"], &rows(&[&["5", "a"], &["12", "bb"]]), None);
        assert_eq!(t, " n  name\n 5  a\n12  bb\n");
    }

    #[test]
    fn long_texts_are_shortened() {
        let long = "assembly/left/bracket/bolt:1";
        let table = rows(&[&["1.25", long, "interfering"], &["30", "pin", "touching"]]);
        for max_width in [200, 47, 46, 40, 35, 30, 5] {
            let t = render_within(&["mm", "part", "status"], &table, Some(max_width));
            let widest = t.lines().map(|l| l.chars().count()).max().unwrap_or(0);
            let narrowest = 4 + 2 + MIN_WIDTH + 2 + "interfering".len();
            assert!(widest <= max_width.max(narrowest), "{max_width}: {widest}\n{t}");
            assert!(t.contains("interfering") && t.contains("1.25"), "{t}");
        }
        assert!(render_within(&["mm", "part", "status"], &table, Some(47)).contains(long));
        assert!(render_within(&["mm", "part", "status"], &table, Some(40)).contains("/bolt:1"));
        assert_eq!(shortened("abcdefgh", 5), "ab…gh");
        let points = rows(&[&["1.000000 2.000000 3.000000", "a long name that may go"]]);
        assert!(render_within(&["point", "name"], &points, Some(10)).contains("1.000000 2.000000 3.000000"));
    }
}
