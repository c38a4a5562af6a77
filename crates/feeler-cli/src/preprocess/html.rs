//! The report of an import as a self-contained page.

use super::Summary;
use super::groups::{Group, Member};
use super::report::Report;
use crate::args::PreprocessArgs;
use crate::drawing::Drawing;
use feeler_geom::{Curve, Pose};
use feeler_hierarchy::{Face, Instance, Model, Options, Severity, file};
use feeler_import::{self as import, RefusedSolid};
use feeler_view::markup::escape;
use feeler_view::page;
use feeler_view::picture::{PictureMark, PictureScene, Tint, What};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// Returns the HTML of a page with a table of all inputs, a section for each input with remarks, and a
/// picture, in which the places of the remarks are marked. Inputs of which solids were left out are read
/// again with the options of `args`.
pub(super) fn page(reports: &[Report], summary: &Summary, args: &PreprocessArgs) -> anyhow::Result<String> {
    let mut drawing = Drawing::new(None, false);
    let models = models(reports, args, &mut drawing);
    let mut page = String::from("<h1>Import report</h1>\n");
    put(&mut page, format_args!("<div class=\"facts\">{}</div>", facts(summary)));
    put(&mut page, format_args!("<p class=\"small\">feeler {}. {}</p>", env!("CARGO_PKG_VERSION"), LEGEND));
    table(&mut page, reports, &models, &mut drawing);
    for (i, report) in reports.iter().enumerate().filter(|(_, r)| r.has_remarks()) {
        section(&mut page, (i, report), models.get(&i), &mut drawing);
    }
    Ok(page::page("Import report", &page, drawing.finished())?)
}

/// A drawn input: the index of its scene in the drawing, and the marks of the scene.
struct Drawn {
    scene: usize,
    /// Index of the mark of each remark that has a place, by the indices of its group and of the remark in
    /// the group.
    of_remarks: BTreeMap<(usize, usize), usize>,
    /// Solids that were refused.
    refused: Vec<RefusedSolid>,
    /// Index of the mark of each place of a refused solid, by the indices of the solid and of the place.
    of_refused: BTreeMap<(usize, usize), usize>,
}

/// Draws the prepared models and the edges of refused solids, inputs with remarks first, until the page has
/// its maximum number of models or triangles ([`Drawing::is_full`]). Returns the drawn inputs by their
/// indices in `reports`.
fn models(reports: &[Report], args: &PreprocessArgs, drawing: &mut Drawing) -> BTreeMap<usize, Drawn> {
    let is_drawn = |i: &usize| reports[*i].output.is_some() || reports[*i].severities.error > 0;
    let mut order: Vec<usize> = (0..reports.len()).filter(is_drawn).collect();
    order.sort_by_key(|i| !reports[*i].has_remarks());
    let mut out = BTreeMap::new();
    for i in order {
        if drawing.is_full() {
            break;
        }
        if let Some(drawn) = draw(&reports[i], args, drawing) {
            out.insert(i, drawn);
        }
    }
    out
}

/// Draws one input; `None` if nothing of it can be drawn.
fn draw(report: &Report, args: &PreprocessArgs, drawing: &mut Drawing) -> Option<Drawn> {
    // The file was written by this run. If it was deleted since, it is not drawn.
    let path = report.output.as_ref().map(Path::new);
    let model = path.and_then(|p| file::read_model(p).ok());
    let input = Path::new(&report.path);
    let bytes = (report.severities.error > 0).then(|| import::read(input).ok()).flatten();
    let refused = bytes.map_or_else(Vec::new, |bytes| {
        let options = Options { flatness: args.flatness };
        import::refused_solids(input, &bytes, &options, args.read.reading())
    });
    let mut parts = model.as_ref().map_or_else(Vec::new, |m| drawing.parts_of_model(m, Tint::Own));
    for solid in &refused {
        let name = format!("refused: #{} {}", solid.source, solid.name);
        let shape = drawing.wire(name.trim(), &solid.outline);
        // Names are paths of the tree of parts.
        let path = name.trim().replace('/', " ");
        let instances = solid.poses.iter().map(|pose| crate::drawing::still(&path, shape, *pose));
        parts.extend(instances);
    }
    if parts.is_empty() {
        return None;
    }
    let (mut marks, mut of_remarks, mut of_refused) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    // The places of refused solids are marked below.
    let is_marked = |group: &Group| refused.is_empty() || group.severity != Severity::Error;
    for (g, group) in report.warning_groups.iter().enumerate().filter(|(_, group)| is_marked(group)) {
        for (k, member) in group.first.iter().enumerate() {
            let is_alone = |model: &Model| refused.is_empty() && model.solids.len() == 1;
            let mark =
                model.as_ref().map(|model| mark(model, is_alone(model), member, class(group.severity)));
            if let Some(mark) = mark.filter(|m| !m.points.is_empty()) {
                of_remarks.insert((g, k), marks.len());
                marks.push(mark);
            }
        }
    }
    for (s, solid) in refused.iter().enumerate() {
        for (k, place) in solid.places.iter().enumerate().filter(|(_, p)| p.point.is_some()) {
            let points = || solid.poses.iter().flat_map(|pose| place.point.map(|p| pose * p));
            let lines = |pose: &Pose| place.lines.iter().map(|l| l.map(|p| pose * p)).collect::<Vec<_>>();
            of_refused.insert((s, k), marks.len());
            marks.push(PictureMark {
                class: "error",
                text: place.message.clone(),
                points: points().collect(),
                lines: solid.poses.iter().flat_map(lines).collect(),
                faces: Vec::new(),
            });
        }
    }
    let scene = PictureScene { name: report.path.clone(), parts, marks, ..PictureScene::default() };
    Some(Drawn { scene: drawing.add(scene), of_remarks, refused, of_refused })
}

/// Number of line segments with which a marked edge is drawn. Long edges look angular with a smaller number;
/// pages are larger with a larger one.
const EDGE_PIECES: u32 = 24;

/// The mark of a remark: its place in all instances of its solid, and the faces or edges of its entity. A
/// remark that names no solid concerns the only solid of the file, if the file has only one (`is_alone`);
/// otherwise the mark is empty. A remark without a place gets a point of its face.
fn mark(model: &Model, is_alone: bool, member: &Member, class: &'static str) -> PictureMark {
    let of_solid = |n: &(usize, &Instance)| {
        let source = model.solids[n.1.solid as usize].info.source;
        member.solid().map_or(is_alone, |solid| solid == source)
    };
    let mut out = PictureMark { class, text: member.text().to_owned(), ..PictureMark::default() };
    for (part, instance) in model.instances.iter().enumerate().filter(of_solid) {
        let (solid, pose) = (&model.solids[instance.solid as usize], instance.pose());
        out.points.extend(member.place().map(|p| pose * p));
        let Some(entity) = member.entity() else { continue };
        let is_face = |f: &Face| f.sources.iter().any(|s| s.0 == entity);
        for (k, face) in solid.faces.iter().enumerate().filter(|(_, f)| is_face(f)) {
            out.faces.push([part, k]);
            let inside = face.trim.sample_inside(&face.trim.rect).filter(|_| member.place().is_none());
            out.points.extend(inside.map(|uv| pose * face.surface.point(uv)));
        }
        for edge in &solid.edges {
            for span in edge.spans.iter().filter(|s| s.source == entity) {
                let pieces = if matches!(edge.curve, Curve::Line { .. }) { 1 } else { EDGE_PIECES };
                let step = (span.t1 - span.t0) / f64::from(pieces);
                let at = |k: u32| pose * edge.curve.point(span.t0 + step * f64::from(k));
                out.lines.extend((0..pieces).map(|k| [at(k), at(k + 1)]));
            }
        }
    }
    out
}

fn class(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// Explanation of the tables.
const LEGEND: &str = "Lengths are in mm, locations in the coordinates of their solid. Notes have no effect \
                      on the shape; warnings report what was repaired, guessed or approximated. Places \
                      with a number in the picture are listed beside it; a click on one, or on a row below, \
                      shows it. Solids that were refused are drawn as the edges of the file.";

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
    for (g, group) in r.warning_groups.iter().enumerate() {
        one_group(page, (g, group), model, drawing);
    }
    if let Some(model) = model {
        for s in 0..model.refused.len() {
            refused(page, s, model, drawing);
        }
    }
}

/// Appends a table of the places at which the refused solid with the index `s` is faulty to `page`.
fn refused(page: &mut String, s: usize, model: &Drawn, drawing: &mut Drawing) {
    let solid = &model.refused[s];
    let name = format!("#{} {}", solid.source, solid.name);
    put(
        page,
        format_args!(
            "<details class=\"group\" open>\n\
             <summary><span class=\"error\">refused</span>: solid {}</summary>\n\
             <table>\n<tr><th>entity</th><th>at (mm)</th><th>what</th></tr>",
            escape(name.trim())
        ),
    );
    for (k, place) in solid.places.iter().enumerate() {
        let entity = place.entity.map_or_else(String::new, |e| format!("#{e}"));
        let at = place.point.map_or_else(String::new, |p| format!("{:.3}, {:.3}, {:.3}", p.x, p.y, p.z));
        let show = model.of_refused.get(&(s, k)).map(|m| drawing.show(model.scene, What::Mark(*m)));
        put(
            page,
            format_args!(
                "<tr{}><td>{entity}</td><td>{at}</td><td>{}</td></tr>",
                attribute(show),
                escape(&place.message)
            ),
        );
    }
    if solid.more > 0 {
        put(page, format_args!("<tr><td colspan=\"3\">and {} more</td></tr>", solid.more));
    }
    page.push_str("</table></details>\n");
}

fn one_group(page: &mut String, (g, group): (usize, &Group), model: Option<&Drawn>, drawing: &mut Drawing) {
    let class = class(group.severity);
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
    for (k, member) in group.first.iter().enumerate() {
        let cells: String = member.columns().iter().map(|c| format!("<td>{}</td>", escape(c))).collect();
        let marked = model.and_then(|m| Some((m.scene, *m.of_remarks.get(&(g, k))?)));
        let show = marked.map(|(scene, mark)| drawing.show(scene, What::Mark(mark)));
        put(page, format_args!("<tr{}>{cells}</tr>", attribute(show)));
    }
    let more = group.count - group.first.len();
    if more > 0 {
        put(page, format_args!("<tr><td colspan=\"4\">and {more} more</td></tr>"));
    }
    page.push_str("</table></details>\n");
}
