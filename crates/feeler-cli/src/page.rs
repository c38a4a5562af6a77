//! One page with a table that sorts itself, which needs nothing beside it.

use feeler_view::markup::escape;
use feeler_view::page;
use feeler_view::picture::Picture;
use std::fmt::Write as _;

/// A click on a heading sorts by it, by number where both cells are, by text else; empty cells stay below.
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

/// A row: its class, and its cells.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// `new` for what calls for somebody to look.
    pub(crate) class: &'static str,
    pub(crate) cells: Vec<Cell>,
    /// What it shows in the picture when it is clicked: an index of the picture's shows.
    pub(crate) show: Option<usize>,
}

/// A cell: its class (`n` for numbers, `path` for what may be broken anywhere), and its text.
#[derive(Debug)]
pub(crate) struct Cell {
    pub(crate) class: &'static str,
    pub(crate) text: String,
}

impl Cell {
    pub(crate) fn new(class: &'static str, text: impl Into<String>) -> Self {
        Self { class, text: text.into() }
    }
}

/// A page under a title: a picture, a summary, what went wrong as a whole, and the table.
pub(crate) fn report(
    title: &str,
    summary: &str,
    wrong: &[String],
    (header, rows): (&[&str], &[Row]),
    picture: Option<&Picture>,
) -> anyhow::Result<String> {
    let mut body = String::new();
    // Writing to a string cannot fail.
    let _ = write!(body, "<h1>{}</h1>\n<p>{}</p>\n", escape(title), escape(summary));
    for what in wrong {
        let _ = writeln!(body, "<p class=\"interfering\">{}</p>", escape(what));
    }
    body.push_str("<div class=\"wide\"><table class=\"sorts\">\n<thead><tr>");
    let class = |c: &str| if c.is_empty() { String::new() } else { format!(" class=\"{c}\"") };
    for (k, name) in header.iter().enumerate() {
        // Headings of numbers stand over them.
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
