//! The report of an import as one page that needs nothing beside it.

use super::Summary;
use super::groups::Group;
use super::report::Report;
use crate::markup::escape;
use feeler_hierarchy::Severity;
use std::fmt::Write as _;

const STYLE: &str = "\
:root{color-scheme:light dark;--line:#8884;--bad:#c33;--odd:#b60;--good:#283}
@media(prefers-color-scheme:dark){:root{--bad:#f77;--odd:#fb5;--good:#7c8}}
body{font:15px/1.45 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em}
h1{font-size:1.5em}h2{font-size:1.1em;margin:1.8em 0 .4em;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%}
.wide{overflow-x:auto}
th,td{text-align:left;padding:.25em .7em .25em 0;border-bottom:1px solid var(--line);vertical-align:top}
th{font-weight:600}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
td.path{overflow-wrap:anywhere;min-width:14em}
.failed,.partly,.error{color:var(--bad)}.warning{color:var(--odd)}.ok,.unchanged{color:var(--good)}
.facts{display:flex;flex-wrap:wrap;gap:.6em 2em;margin:1em 0}.facts b{font-size:1.3em}
summary{cursor:pointer;padding:.2em 0}
details table{margin:.3em 0 .8em 1em;width:calc(100% - 1em);font-size:.92em}
.small{opacity:.75;font-size:.9em;overflow-wrap:anywhere}
";

/// The page.
pub(super) fn page(reports: &[Report], summary: &Summary) -> String {
    let mut page = String::from(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Import report</title>\n<style>\n",
    );
    page.push_str(STYLE);
    page.push_str("</style>\n</head>\n<body>\n<h1>Import report</h1>\n");
    put(&mut page, format_args!("<div class=\"facts\">{}</div>", facts(summary)));
    put(&mut page, format_args!("<p class=\"small\">feeler {}. {}</p>", env!("CARGO_PKG_VERSION"), LEGEND));
    table(&mut page, reports);
    for (i, report) in reports.iter().enumerate().filter(|(_, r)| r.has_something_to_say()) {
        section(&mut page, i, report);
    }
    page.push_str("</body>\n</html>\n");
    page
}

const LEGEND: &str = "Lengths in mm, places in the coordinates of the solid that they are on. Notes are odd \
    and without \
                      effect on the shape; warnings tell what was repaired, guessed or approximated.";

fn put(page: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = page.write_fmt(line);
    page.push('\n');
}

fn facts(summary: &Summary) -> String {
    let s = summary.severities;
    let facts = [
        (summary.inputs, "files", ""),
        (summary.prepared, "prepared", "ok"),
        (summary.unchanged, "up to date", "ok"),
        (summary.failed, "failed or not whole", "failed"),
        (s.error, "left out", "error"),
        (s.warning, "warnings", "warning"),
        (s.note, "notes", ""),
    ];
    let fact = |(n, what, class): (usize, &str, &str)| {
        let class = if n == 0 { "" } else { class };
        format!("<span class=\"{class}\"><b>{n}</b> {what}</span>")
    };
    facts.map(fact).concat()
}

/// A line for each input.
fn table(page: &mut String, reports: &[Report]) {
    page.push_str("<div class=\"wide\"><table>\n<tr><th>file</th><th>result</th>");
    for name in
        ["solids", "instances", "faces", "area mm²", "volume mm³", "left out", "warnings", "notes", "s"]
    {
        let _ = write!(page, "<th class=\"n\">{name}</th>");
    }
    page.push_str("</tr>\n");
    for (i, r) in reports.iter().enumerate() {
        let path = escape(&r.path);
        let path = if r.has_something_to_say() { format!("<a href=\"#f{i}\">{path}</a>") } else { path };
        let size = |x: Option<f64>| x.map_or_else(|| "–".to_owned(), |x| format!("{x:.6e}"));
        let numbers = [
            r.solids.to_string(),
            r.instances.to_string(),
            r.faces.to_string(),
            size(r.area),
            size(r.volume),
            r.severities.error.to_string(),
            r.severities.warning.to_string(),
            r.severities.note.to_string(),
            format!("{:.2}", r.wall_s),
        ];
        let numbers: String = numbers.iter().map(|n| format!("<td class=\"n\">{n}</td>")).collect();
        let (class, result) = (r.result(), r.result());
        put(
            page,
            format_args!(
                "<tr><td class=\"path\">{path}</td><td class=\"{class}\">{result}</td>{numbers}</tr>"
            ),
        );
    }
    page.push_str("</table></div>\n");
}

/// What there is to say about one input.
fn section(page: &mut String, i: usize, r: &Report) {
    let class = r.result();
    put(page, format_args!("<h2 id=\"f{i}\" class=\"{class}\">{}: {class}</h2>", escape(&r.path)));
    let hash = r.input_hash.as_deref().unwrap_or("unknown, it was not read");
    let shells = if r.options.open_shells { ", with open shells" } else { "" };
    let unit = r.options.unit.map_or_else(String::new, |mm| format!(", {mm} mm in a unit"));
    let output = r.output.as_deref().map_or_else(String::new, |o| format!("; written to {}", escape(o)));
    put(
        page,
        format_args!(
            "<p class=\"small\">hash {hash}; flatness {} rad{shells}{unit}{output}</p>",
            r.options.flatness
        ),
    );
    // What was left out of an input that was prepared stands in the groups.
    if let (Some(error), None) = (&r.error, &r.output) {
        put(page, format_args!("<p class=\"error\">{}</p>", escape(error)));
    }
    for group in &r.warning_groups {
        one_group(page, group);
    }
}

fn one_group(page: &mut String, group: &Group) {
    let class = match group.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let what = match group.severity {
        Severity::Error => "left out",
        _ => class,
    };
    put(
        page,
        format_args!(
            "<details><summary><span class=\"{class}\">{what}</span> × {}: {}</summary>\n<table>\n\
             <tr><th>solid</th><th>entity</th><th>at (mm)</th><th>what</th></tr>",
            group.count,
            escape(&group.text)
        ),
    );
    for member in &group.first {
        let cells: String = member.columns().iter().map(|c| format!("<td>{}</td>", escape(c))).collect();
        put(page, format_args!("<tr>{cells}</tr>"));
    }
    let more = group.count - group.first.len();
    if more > 0 {
        put(page, format_args!("<tr><td colspan=\"4\">and {more} more</td></tr>"));
    }
    page.push_str("</table></details>\n");
}
