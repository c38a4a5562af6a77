//! `feeler inspect`: the contents of a file.

use crate::args::InspectArgs;
use crate::mass::{self, Mass};
use crate::{CommandOutcome, table, tree};
use feeler_geom::{Aabb, P3};
use feeler_hierarchy::{Hierarchy, Instance, Model, NodeId, placed_box};
use feeler_import as import;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;

const SURFACES: [&str; 6] = ["plane", "cylinder", "cone", "sphere", "torus", "bezier"];
const CURVES: [&str; 6] = ["line", "circle", "ellipse", "parabola", "hyperbola", "bezier"];
const STATUSES: [&str; 4] = ["convex", "concave", "g1", "mixed"];

pub(crate) fn run(args: &InspectArgs, out: &mut dyn Write) -> anyhow::Result<CommandOutcome> {
    let (model, _) = import::load_with(&args.file, args.read.reading())?;
    let densities = mass::densities(&model, &args.file, &args.density)?;
    let boxes = boxes(&model);
    if args.json {
        serde_json::to_writer(&mut *out, &document(&model, &boxes, &densities))?;
        writeln!(out)?;
        return Ok(CommandOutcome::Done);
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
                if s.min_thickness.is_finite() { format!("{:.6}", s.min_thickness) } else { "-".to_owned() },
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
        "min thickness mm",
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
    write!(out, "\nboxes in mm, as placed:\n{}", table::render(&BOX_HEADER, &box_rows(&model, &boxes)))?;
    write_masses(&model, &densities, !args.density.is_empty(), out)?;
    // The tree of a single component shows nothing that the tables do not show.
    if model.components.len() > 1 {
        write!(
            out,
            "\nassembly, with the instances of each component in brackets and its pose in its parent in mm:\n"
        )?;
        write!(out, "{}", tree::render(&model))?;
    }
    for w in &model.remarks {
        writeln!(out, "warning: {w}")?;
    }
    Ok(CommandOutcome::Done)
}

/// Columns of the table of boxes.
const BOX_HEADER: [&str; 8] = ["#", "name", "min x", "min y", "min z", "max x", "max y", "max z"];

/// Columns of the table of centroids and inertia.
const MASS_HEADER: [&str; 11] = ["#", "name", "x", "y", "z", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz"];

/// Axis-aligned bounding boxes of all instances (mm, coordinates of the model). The box is computed once
/// for the instances of a solid with equal rotations.
fn boxes(model: &Model) -> Vec<Aabb> {
    let mut known: BTreeMap<(u32, [u64; 4]), (Aabb, [f64; 3])> = BTreeMap::new();
    let mut out = Vec::with_capacity(model.instances.len());
    for i in &model.instances {
        let key = (i.solid, i.rotation.map(f64::to_bits));
        let (at, t) = known
            .entry(key)
            .or_insert_with(|| (placed_box(&model.solids[i.solid as usize], &mass::pose(i)), i.translation));
        let mut moved = *at;
        for (k, (now, then)) in i.translation.iter().zip(t.iter()).enumerate() {
            let by = now - then;
            // The box of the first instance is exact; boxes translated from it are enlarged by the
            // rounding.
            let reach = if by.abs() > 0.0 { by.abs() + at.min[k].abs() + at.max[k].abs() } else { 0.0 };
            let slack = 4.0 * f64::EPSILON * reach;
            (moved.min[k], moved.max[k]) = (at.min[k] + by - slack, at.max[k] + by + slack);
        }
        out.push(moved);
    }
    out
}

fn box_rows(model: &Model, boxes: &[Aabb]) -> Vec<Vec<String>> {
    let row = |(k, b): (usize, &Aabb)| {
        let mut row = vec![k.to_string(), model.instances[k].name.clone()];
        row.extend(b.min.iter().chain(b.max.iter()).map(|x| format!("{x:.6}")));
        row
    };
    boxes.iter().enumerate().map(row).collect()
}

/// Writes the centroids and inertia tensors of all instances at density 1. If densities are `given`,
/// also writes masses and inertia at `densities` (kg/mm³, one for each instance).
fn write_masses(
    model: &Model,
    densities: &[Option<f64>],
    given: bool,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let cells = |m: Option<&Mass>, n: usize| -> Vec<String> {
        let Some(m) = m else { return vec!["-".to_owned(); n] };
        let t = &m.tensor;
        let tensor =
            [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)].map(|(r, c)| format!("{:.6e}", t[(r, c)]));
        m.centroid.iter().map(|x| format!("{x:.6}")).chain(tensor).collect()
    };
    let rows = |of: &dyn Fn(usize) -> Option<Mass>, extra: bool| -> Vec<Vec<String>> {
        let row = |(k, i): (usize, &Instance)| {
            let m = of(k);
            let mut row = vec![k.to_string(), i.name.clone()];
            if extra {
                row.push(m.map_or("-".to_owned(), |m| format!("{:.6e}", m.mass)));
            }
            row.extend(cells(m.as_ref(), 9));
            row
        };
        model.instances.iter().enumerate().map(row).collect()
    };
    let own = |k: usize| mass::own(model, &model.instances[k]);
    writeln!(out, "\ncentroid in mm and inertia about it in mm5 at density 1, in the axes of the part:")?;
    write!(out, "{}", table::render(&MASS_HEADER, &rows(&own, false)))?;
    if given {
        let heavy = |k: usize| Some(own(k)?.at_density(densities[k]?));
        let header: Vec<&str> =
            ["#", "name", "mass kg"].into_iter().chain(MASS_HEADER[2..].iter().copied()).collect();
        writeln!(
            out,
            "\nmass in kg, centroid in mm and inertia about it in kg mm2, in the axes of the part:"
        )?;
        write!(out, "{}", table::render(&header, &rows(&heavy, true)))?;
    }
    let mut line = |what: &str, unit: [&str; 2], m: Option<Mass>| match m {
        Some(m) => writeln!(
            out,
            "{what}: {:.6e} {}, {} (centroid in mm; Ixx Iyy Izz Ixy Ixz Iyz in {})",
            m.mass,
            unit[0],
            cells(Some(&m), 9).join(" "),
            unit[1]
        ),
        None => Ok(()),
    };
    if model.instances.len() > 1 {
        let ones = vec![Some(1.0); model.instances.len()];
        line("\nall instances as placed, at density 1", ["mm3", "mm5"], mass::all(model, &ones))?;
        if given && missing(model, densities).is_empty() {
            line("all instances as placed", ["kg", "kg mm2"], mass::all(model, densities))?;
        }
    }
    let without = missing(model, densities);
    if given && !without.is_empty() {
        writeln!(
            out,
            "the total mass is not computed, because the solids with the numbers {without:?} have no \
             density; add --density NUMBER=KG_M3 for each, or --density '*=KG_M3' for all of them"
        )?;
    }
    let sheets: Vec<usize> = (0..model.instances.len()).filter(|k| own(*k).is_none()).collect();
    if !sheets.is_empty() {
        writeln!(out, "solids {sheets:?} are open surfaces, which have no volume, centroid and inertia")?;
    }
    Ok(())
}

/// Numbers of the instances that have a volume, but no density, counted from 0.
fn missing(model: &Model, densities: &[Option<f64>]) -> Vec<usize> {
    let has_volume = |k: &usize| mass::own(model, &model.instances[*k]).is_some();
    (0..model.instances.len()).filter(|k| densities[*k].is_none()).filter(has_volume).collect()
}

/// JSON document of the command, as specified in docs/INTERFACE.md, "inspect".
fn document(model: &Model, boxes: &[Aabb], densities: &[Option<f64>]) -> Value {
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
            let mut solid = json!({
                "index": index,
                "name": instance.name,
                "solid": instance.solid,
                "source": format!("#{}", s.source),
                "instance_path": instance.path,
                "component": component_of[index],
                "pose": { "translation": instance.translation, "rotation": instance.rotation },
                "bbox_min": s.bbox_min, "bbox_max": s.bbox_max,
                "placed_min": boxes[index].min.coords.as_slice(),
                "placed_max": boxes[index].max.coords.as_slice(),
                "area": s.area, "volume": s.volume,
                "min_thickness": s.min_thickness.is_finite().then_some(s.min_thickness),
                "centroid": s.inertia.map(|i| i.centroid), "inertia": s.inertia.map(|i| i.tensor),
                "faces": s.source_counts[0], "supermaximal_faces": s.supermaximal[0],
                "edges": s.source_counts[1], "supermaximal_edges": s.supermaximal[1],
                "vertices": s.source_counts[2],
                "faces_by_type": named(&SURFACES, &s.faces_by_type),
                "edges_by_curve": named(&CURVES, &s.edges_by_curve),
                "edges_by_status": named(&STATUSES, &s.edges_by_status),
                "leaves": h.areas.len(), "nodes": h.nodes.len(), "depth": depth(h),
                "max_trim_deviation": s.max_trim_deviation,
                "bytes": feeler_hierarchy::file::encoded_size(h),
            });
            if let (Some(density), Some(m)) = (densities[index], mass::own(model, instance)) {
                let m = m.at_density(density);
                solid["mass_kg"] = json!(m.mass);
                solid["inertia_kg_mm2"] = json!(m.rows());
            }
            solid
        })
        .collect();
    let ones = vec![Some(1.0); model.instances.len()];
    let mut together = match mass::all(model, &ones) {
        Some(m) => json!({ "volume": m.mass, "centroid": m.centroid.coords.as_slice(), "inertia": m.rows() }),
        None => json!({ "volume": 0.0, "centroid": null, "inertia": null }),
    };
    let around = boxes.iter().fold(Aabb::empty(), |a, b| a.union(b));
    let corner = |p: P3| (!around.is_empty()).then(|| [p.x, p.y, p.z]);
    together["bbox_min"] = json!(corner(around.min));
    together["bbox_max"] = json!(corner(around.max));
    if densities.iter().any(Option::is_some) {
        let m = mass::all(model, densities).filter(|_| missing(model, densities).is_empty());
        together["mass_kg"] = json!(m.map(|m| m.mass));
        together["mass_centroid"] = json!(m.map(|m| [m.centroid.x, m.centroid.y, m.centroid.z]));
        together["inertia_kg_mm2"] = json!(m.map(|m| m.rows()));
    }
    json!({
        "format_version": feeler_hierarchy::file::FORMAT_VERSION,
        "unit": "mm",
        "input": model.input,
        "input_hash": format!("{:016x}", model.input_hash),
        "options": { "flatness": model.options.flatness },
        "program": model.origin.program,
        "references": references,
        "warnings": model.remarks.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "left_out": model.left_out(),
        "components": components,
        "solids": solids,
        "together": together,
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

/// Number of levels of the tree of a hierarchy; a tree with a single leaf has one level.
fn depth(h: &Hierarchy) -> u32 {
    let mut deepest = 0;
    let mut stack = if h.nodes.is_empty() { vec![] } else { vec![(NodeId(0), 1)] };
    while let Some((node, level)) = stack.pop() {
        deepest = deepest.max(level);
        if let Some(children) = h.nodes[node.index()].children() {
            stack.extend(children.map(|c| (c, level + 1)));
        }
    }
    deepest
}
