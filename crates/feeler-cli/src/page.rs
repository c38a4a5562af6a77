//! Self-contained pages with a table that can be sorted.

use anyhow::ensure;
use feeler_view::markup::escape;
use feeler_view::page;
use feeler_view::picture::Picture;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// JavaScript that sorts the table when a heading is clicked: numerically if both cells are numbers,
/// otherwise as text; empty cells stay at the bottom.
const SCRIPT: &str = "\
for(const [i,th] of document.querySelectorAll('table.sorts th').entries())th.onclick=()=>{
const body=document.querySelector('table.sorts tbody'),down=th.getAttribute('aria-sort')==='ascending';
for(const o of document.querySelectorAll('table.sorts th'))o.removeAttribute('aria-sort');
th.setAttribute('aria-sort',down?'descending':'ascending');
const text=r=>r.cells[i].textContent,value=r=>parseFloat(text(r));
const sign=down?-1:1,empty=t=>t===''||t==='-';
const order=(a,b)=>{const s=text(a),t=text(b),x=value(a),y=value(b);
return empty(s)-empty(t)||sign*(isNaN(x)||isNaN(y)?s.localeCompare(t):x-y)};
body.append(...[...body.rows].sort(order))}
";

/// Row of a table.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// CSS class: `new` for rows that need attention.
    pub(crate) class: &'static str,
    pub(crate) cells: Vec<Cell>,
    /// Index of the selection that the picture shows when the row is clicked
    /// ([`Drawing::show`](crate::drawing::Drawing::show)); `None` if a click has no effect.
    pub(crate) show: Option<usize>,
}

/// Cell of a table.
#[derive(Debug)]
pub(crate) struct Cell {
    /// CSS class: `n` for numbers, `path` for text that may be broken anywhere.
    pub(crate) class: &'static str,
    pub(crate) text: String,
}

impl Cell {
    pub(crate) fn new(class: &'static str, text: impl Into<String>) -> Self {
        Self { class, text: text.into() }
    }
}

/// Returns the HTML of a page with a title, a summary, a list of errors, a table (headings and rows) and
/// a picture.
pub(crate) fn report(
    title: &str,
    summary: &str,
    errors: &[String],
    (header, rows): (&[&str], &[Row]),
    picture: Option<&Picture>,
) -> anyhow::Result<String> {
    let mut body = String::new();
    // Writing to a string cannot fail.
    let _ = write!(body, "<h1>{}</h1>\n<p>{}</p>\n", escape(title), escape(summary));
    for what in errors {
        let _ = writeln!(body, "<p class=\"interfering\">{}</p>", escape(what));
    }
    body.push_str("<div class=\"wide\"><table class=\"sorts\">\n<thead><tr>");
    let class = |c: &str| if c.is_empty() { String::new() } else { format!(" class=\"{c}\"") };
    for (k, name) in header.iter().enumerate() {
        // Headings of numeric columns are aligned with the numbers.
        let of = rows.first().and_then(|r| r.cells.get(k)).filter(|c| c.class == "n").map_or("", |c| c.class);
        let _ = write!(body, "<th{}>{}</th>", class(of), escape(name));
    }
    body.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        let show = row.show.map_or_else(String::new, |k| format!(" data-show=\"{k}\""));
        let _ = write!(body, "<tr{}{show}>", class(row.class));
        for cell in &row.cells {
            let _ = write!(body, "<td{}>{}</td>", class(cell.class), escape(&cell.text));
        }
        body.push_str("</tr>\n");
    }
    body.push_str("</tbody></table></div>\n<script>\n");
    body.push_str(SCRIPT);
    body.push_str("</script>\n");
    Ok(page::page(title, &body, picture)?)
}

/// Checks that the folders of the output files exist; `None` stands for an output that is not wanted.
pub(crate) fn check_folders<'a>(files: impl IntoIterator<Item = &'a Option<PathBuf>>) -> anyhow::Result<()> {
    for file in files.into_iter().flatten() {
        let folder = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        ensure!(folder.is_dir(), "{}: the folder does not exist", file.display());
    }
    Ok(())
}
