//! The report of an import as a self-contained page.

use super::Summary;
use super::groups::Group;
use super::report::Report;
use crate::drawing::Drawing;
use feeler_geom::Pose;
use feeler_hierarchy::{Severity, file};
use feeler_view::markup::escape;
use feeler_view::page;
use feeler_view::picture::{PictureScene, Tint, What};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// Returns the HTML of a page with a table of all inputs, a section for each input with remarks, and a
/// picture.
pub(super) fn page(reports: &[Report], summary: &Summary) -> anyhow::Result<String> {
    let mut drawing = Drawing::new(None, false);
    let models = models(reports, &mut drawing);
    let mut page = String::from("<h1>Import report</h1>\n");
    put(&mut page, format_args!("<div class=\"facts\">{}</div>", facts(summary)));
    put(&mut page, format_args!("<p class=\"small\">feeler {}. {}</p>", env!("CARGO_PKG_VERSION"), LEGEND));
    table(&mut page, reports, &models, &mut drawing);
    for (i, report) in reports.iter().enumerate().filter(|(_, r)| r.has_remarks()) {
        section(&mut page, (i, report), models.get(&i), &mut drawing);
    }
    Ok(page::page("Import report", &page, drawing.finished())?)
}

/// A drawn model: index of its scene in the drawing, and for each instance the entity number of its
/// solid and its pose.
struct Drawn {
    scene: usize,
    places: Vec<(u64, Pose)>,
}

/// Draws the prepared models, those with remarks first, until the page has its maximum number of models or
/// triangles ([`Drawing::is_full`]). Returns the drawn models by their indices in `reports`.
fn models(reports: &[Report], drawing: &mut Drawing) -> BTreeMap<usize, Drawn> {
    let mut order: Vec<usize> = (0..reports.len()).filter(|i| reports[*i].output.is_some()).collect();
    order.sort_by_key(|i| !reports[*i].has_remarks());
    let mut out = BTreeMap::new();
    for i in order {
        if drawing.is_full() {
            break;
        }
        // The file was written by this run. If it was deleted since, it is not drawn.
        let path = reports[i].output.as_ref().map(Path::new);
        let Some(model) = path.and_then(|p| file::read_model(p).ok()) else { continue };
        let parts = drawing.parts_of_model(&model, Tint::Own);
        let places = model.instances.iter().map(|n| (model.solids[n.solid as usize].info.source, n.pose()));
        let scene = PictureScene { name: reports[i].path.clone(), parts, ..PictureScene::default() };
        out.insert(i, Drawn { scene: drawing.add(scene), places: places.collect() });
    }
    out
}

/// Explanation of the tables.
const LEGEND: &str = "Lengths are in mm, locations in the coordinates of their solid. Notes have no effect \
                      on the shape; warnings report what was repaired, guessed or approximated.";

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
        (summary.failed, "failed or incomplete", "failed"),
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

/// Appends a table with a row for each input to `page`. Rows of drawn inputs show their model when they
/// are clicked.
fn table(page: &mut String, reports: &[Report], models: &BTreeMap<usize, Drawn>, drawing: &mut Drawing) {
    page.push_str("<div class=\"wide\"><table>\n<tr><th>file</th><th>result</th>");
    for name in
        ["solids", "instances", "faces", "area mm²", "volume mm³", "left out", "warnings", "notes", "s"]
    {
        let _ = write!(page, "<th class=\"n\">{name}</th>");
    }
    page.push_str("</tr>\n");
    for (i, r) in reports.iter().enumerate() {
        let path = escape(&r.path);
        let path = if r.has_remarks() { format!("<a href=\"#f{i}\">{path}</a>") } else { path };
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
        let show = models.get(&i).map(|m| drawing.show(m.scene, What::All));
        put(
            page,
            format_args!(
                "<tr{}><td class=\"path\">{path}</td><td class=\"{class}\">{result}</td>{numbers}</tr>",
                attribute(show)
            ),
        );
    }
    page.push_str("</table></div>\n");
}

/// HTML attribute of an element that shows a selection of the picture (by its index) when it is clicked;
/// empty for `None`.
fn attribute(show: Option<usize>) -> String {
    show.map_or_else(String::new, |k| format!(" data-show=\"{k}\""))
}

/// Appends the section of one input, with its groups of remarks, to `page`.
fn section(page: &mut String, (i, r): (usize, &Report), model: Option<&Drawn>, drawing: &mut Drawing) {
    let class = r.result();
    put(page, format_args!("<h2 id=\"f{i}\" class=\"{class}\">{}: {class}</h2>", escape(&r.path)));
    let hash = r.input_hash.as_deref().unwrap_or("unknown, because the file was not read");
    let shells = if r.options.open_shells { ", with open shells" } else { "" };
    let unit = r.options.unit.map_or_else(String::new, |mm| format!(", unit {mm} mm"));
    let output = r.output.as_deref().map_or_else(String::new, |o| format!("; written to {}", escape(o)));
    put(
        page,
        format_args!(
            "<p class=\"small\">hash {hash}; flatness {} rad{shells}{unit}{output}</p>",
            r.options.flatness
        ),
    );
    // If the input was prepared, its error only repeats what the groups contain.
    if let (Some(error), None) = (&r.error, &r.output) {
        put(page, format_args!("<p class=\"error\">{}</p>", escape(error)));
    }
    for group in &r.warning_groups {
        one_group(page, group, model, drawing);
    }
}

fn one_group(page: &mut String, group: &Group, model: Option<&Drawn>, drawing: &mut Drawing) {
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
            "<details class=\"group\">\n<summary><span class=\"{class}\">{what}</span> × {}: {}</summary>\n\
             <table>\n<tr><th>solid</th><th>entity</th><th>at (mm)</th><th>what</th></tr>",
            group.count,
            escape(&group.text)
        ),
    );
    for member in &group.first {
        let cells: String = member.columns().iter().map(|c| format!("<td>{}</td>", escape(c))).collect();
        let places = model.map(|m| (m.scene, member.places(&m.places)));
        let show = places.filter(|(_, p)| !p.is_empty()).map(|(s, p)| drawing.show(s, What::Places(p)));
        put(page, format_args!("<tr{}>{cells}</tr>", attribute(show)));
    }
    let more = group.count - group.first.len();
    if more > 0 {
        put(page, format_args!("<tr><td colspan=\"4\">and {more} more</td></tr>"));
    }
    page.push_str("</table></details>\n");
}
