//! One page with a table that sorts itself, which needs nothing beside it.

use crate::markup::escape;
use std::fmt::Write as _;

const STYLE: &str = "\
:root{color-scheme:light dark;--line:#8884;--bad:#c33;--odd:#b60;--good:#283}
@media(prefers-color-scheme:dark){:root{--bad:#f77;--odd:#fb5;--good:#7c8}}
body{font:15px/1.45 system-ui,sans-serif;max-width:80em;margin:2em auto;padding:0 1em}
h1{font-size:1.5em}.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.25em .8em .25em 0;border-bottom:1px solid var(--line);vertical-align:top}
th{cursor:pointer;white-space:nowrap;user-select:none}th[aria-sort=ascending]:after{content:' ▲'}
th[aria-sort=descending]:after{content:' ▼'}
td.n{text-align:right;font-variant-numeric:tabular-nums}td.path{overflow-wrap:anywhere;min-width:9em}
tr.new td:first-child{color:var(--bad);font-weight:600}
.interfering{color:var(--bad)}.undecided,.failed{color:var(--odd)}.touching{color:var(--good)}
";

/// A click on a heading sorts by it, by number where both cells are, by text else; empty cells stay below.
const SCRIPT: &str = "\
for(const [i,th] of document.querySelectorAll('th').entries())th.onclick=()=>{
const body=document.querySelector('tbody'),down=th.getAttribute('aria-sort')==='ascending';
for(const o of document.querySelectorAll('th'))o.removeAttribute('aria-sort');
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

/// A page under a title: a summary, what went wrong as a whole, and the table.
pub(crate) fn page(title: &str, summary: &str, wrong: &[String], header: &[&str], rows: &[Row]) -> String {
    let mut page = String::from(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n",
    );
    let title = escape(title);
    // Writing to a string cannot fail.
    let _ = write!(page, "<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n");
    let _ = write!(page, "<h1>{title}</h1>\n<p>{}</p>\n", escape(summary));
    for what in wrong {
        let _ = writeln!(page, "<p class=\"interfering\">{}</p>", escape(what));
    }
    page.push_str("<div class=\"wide\"><table>\n<thead><tr>");
    for name in header {
        let _ = write!(page, "<th>{}</th>", escape(name));
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    let class = |c: &str| if c.is_empty() { String::new() } else { format!(" class=\"{c}\"") };
    for row in rows {
        let _ = write!(page, "<tr{}>", class(row.class));
        for cell in &row.cells {
            let _ = write!(page, "<td{}>{}</td>", class(cell.class), escape(&cell.text));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table></div>\n<script>\n");
    page.push_str(SCRIPT);
    page.push_str("</script>\n</body>\n</html>\n");
    page
}
