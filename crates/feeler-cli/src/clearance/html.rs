//! The answer as one page that sorts itself and needs nothing beside it.

use super::Checked;
use super::output::{detail, distance, finding, status, summary};
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
td.n{text-align:right;font-variant-numeric:tabular-nums}td.path{overflow-wrap:anywhere}
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

pub(super) fn page(checked: &Checked) -> String {
    let mut page = String::from(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Clearance</title>\n<style>\n",
    );
    page.push_str(STYLE);
    // Writing to a string cannot fail.
    let _ =
        write!(page, "</style>\n</head>\n<body>\n<h1>Clearance</h1>\n<p>{}</p>\n", escape(&summary(checked)));
    let mut left_out = String::new();
    for what in &checked.left_out {
        let _ = writeln!(left_out, "<p class=\"interfering\">not checked: {}</p>", escape(what));
    }
    let _ = write!(page, "{left_out}<div class=\"wide\"><table>\n<thead><tr>");
    for name in ["finding", "status", "distance mm", "depth mm", "A", "B", "what"] {
        let _ = write!(page, "<th>{name}</th>");
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for row in &checked.rows {
        let [a, b] = row.parts.map(|i| escape(&checked.parts[i].path));
        let class = if row.is_new_finding() { " class=\"new\"" } else { "" };
        let status = status(row);
        let depth = if row.depth() > 0.0 { format!("{:.6}", row.depth()) } else { "-".to_owned() };
        let _ = writeln!(
            page,
            "<tr{class}><td>{}</td><td class=\"{status}\">{status}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{depth}</td><td class=\"path\">{a}</td><td \
             class=\"path\">{b}</td><td>{}</td></tr>",
            escape(&finding(row)),
            distance(row),
            escape(&detail(row)),
        );
    }
    page.push_str("</tbody></table></div>\n<script>\n");
    page.push_str(SCRIPT);
    page.push_str("</script>\n</body>\n</html>\n");
    page
}
