//! `feeler inspect`.

use crate::args::Inspect;
use crate::{Outcome, import, table, tree};
use feeler_hierarchy::{Hierarchy, Model};
use serde_json::{Value, json};
use std::io::Write;

const SURFACES: [&str; 6] = ["plane", "cylinder", "cone", "sphere", "torus", "bezier"];
const CURVES: [&str; 6] = ["line", "circle", "ellipse", "parabola", "hyperbola", "bezier"];
const STATUSES: [&str; 4] = ["convex", "concave", "g1", "mixed"];

pub(crate) fn run(args: &Inspect, out: &mut dyn Write) -> anyhow::Result<Outcome> {
    let (model, _) = import::load(&args.file)?;
    if args.json {
        serde_json::to_writer(&mut *out, &document(&model))?;
        writeln!(out)?;
        return Ok(Outcome::Done);
    }
    writeln!(
        out,
        "{}: {} distinct solids, {} instances, flatness {} rad, format version {}",
        model.input,
        model.solids.len(),
        model.instances.len(),
        model.options.flatness,
        feeler_hierarchy::file::FORMAT_VERSION
    )?;
    let rows: Vec<_> = model
        .instances
        .iter()
        .enumerate()
        .map(|(i, instance)| {
            let solid = &model.solids[instance.solid as usize];
            let s = &solid.info;
            vec![
                i.to_string(),
                instance.name.clone(),
                instance.solid.to_string(),
                format!("{:.6}", s.area),
                format!("{:.6}", s.volume),
                format!("{}", s.source_counts[0]),
                format!("{}", s.supermaximal[0]),
                format!("{}", s.source_counts[1]),
                format!("{}", s.supermaximal[1]),
                format!("{}", s.source_counts[2]),
                solid.areas.len().to_string(),
                depth(solid).to_string(),
                format!("{:.1e}", s.max_trim_deviation),
            ]
        })
        .collect();
    let header = [
        "#",
        "name",
        "solid",
        "area mm2",
        "volume mm3",
        "faces",
        "super",
        "edges",
        "super",
        "vertices",
        "leaves",
        "depth",
        "trim dev",
    ];
    write!(out, "{}", table::render(&header, &rows))?;
    // The table says all there is to say about a part.
    if model.components.len() > 1 {
        write!(
            out,
            "\nassembly, with the instances of each component in brackets and its place in its parent in mm:\n"
        )?;
        write!(out, "{}", tree::render(&model))?;
    }
    for w in &model.warnings {
        writeln!(out, "warning: {w}")?;
    }
    Ok(Outcome::Done)
}

/// The JSON document of INTERFACE.
fn document(model: &Model) -> Value {
    let mut component_of = vec![None; model.instances.len()];
    for (c, component) in model.components.iter().enumerate() {
        for i in &component.instances {
            component_of[*i as usize] = Some(c);
        }
    }
    let components: Vec<Value> = model
        .components
        .iter()
        .enumerate()
        .map(|(index, c)| {
            json!({
                "index": index,
                "name": c.name,
                "source": format!("#{}", c.source),
                "parent": c.parent,
                "pose": { "translation": c.translation, "rotation": c.rotation, "mirrored": c.mirrored },
                "instances": c.instances,
            })
        })
        .collect();
    let references: Vec<Value> = model
        .origin
        .references
        .iter()
        .map(|r| json!({ "path": r.path, "hash": r.hash.map(|h| format!("{h:016x}")) }))
        .collect();
    let solids: Vec<Value> = model
        .instances
        .iter()
        .enumerate()
        .map(|(index, instance)| {
            let h = &model.solids[instance.solid as usize];
            let s = &h.info;
            json!({
                "index": index,
                "name": instance.name,
                "solid": instance.solid,
                "source": format!("#{}", s.source),
                "instance_path": instance.path,
                "component": component_of[index],
                "pose": { "translation": instance.translation, "rotation": instance.rotation },
                "bbox_min": s.bbox_min, "bbox_max": s.bbox_max,
                "area": s.area, "volume": s.volume,
                "faces": s.source_counts[0], "supermaximal_faces": s.supermaximal[0],
                "edges": s.source_counts[1], "supermaximal_edges": s.supermaximal[1],
                "vertices": s.source_counts[2],
                "faces_by_type": named(&SURFACES, &s.faces_by_type),
                "edges_by_curve": named(&CURVES, &s.edges_by_curve),
                "edges_by_status": named(&STATUSES, &s.edges_by_status),
                "leaves": h.areas.len(), "nodes": h.nodes.len(), "depth": depth(h),
                "max_trim_deviation": s.max_trim_deviation,
                "bytes": feeler_hierarchy::file::encoded_size(h),
            })
        })
        .collect();
    json!({
        "format_version": feeler_hierarchy::file::FORMAT_VERSION,
        "unit": "mm",
        "input": model.input,
        "input_hash": format!("{:016x}", model.input_hash),
        "options": { "flatness": model.options.flatness },
        "program": model.origin.program,
        "references": references,
        "warnings": model.warnings,
        "left_out": model.origin.left_out,
        "components": components,
        "solids": solids,
    })
}

fn named(names: &[&str], counts: &[u32]) -> Value {
    names
        .iter()
        .zip(counts)
        .map(|(n, c)| ((*n).to_owned(), json!(c)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// Number of levels; a lone leaf has one.
fn depth(h: &Hierarchy) -> u32 {
    let mut deepest = 0;
    let mut stack = if h.nodes.is_empty() { vec![] } else { vec![(0u32, 1u32)] };
    while let Some((node, level)) = stack.pop() {
        deepest = deepest.max(level);
        if let Some(children) = h.nodes[node as usize].children() {
            stack.extend(children.map(|c| (c, level + 1)));
        }
    }
    deepest
}
