//! Tightness of the cones of the leaves of a hierarchy:
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin tightness -- FOLDER…
//! ```
//!
//! For each kind of area, the program prints the mean solid angle (msr) of the cone of revolution of the
//! leaf, of the cone over the hull of its generators, of the stored cone with at most four sides, and of
//! the hull of sampled normals, which is a lower bound. The normals of a plane and a cylinder have no
//! solid angle; that of their cones is the dilation. The last line is the area of the rectangles that
//! cover planar faces, relative to that of the faces; the box of a triangle has at least twice its area.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]
#![expect(clippy::cast_precision_loss, reason = "counts in a report")]

use feeler_benches::{prepare, step_files};
use feeler_geom::frame::complete_basis;
use feeler_geom::{P2, RevolutionCone, Surface, V3, math};
use feeler_hierarchy::{Area, Edge, Face, Feature, Hierarchy};
use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::path::Path;
use std::process::ExitCode;

/// Number of intervals of samples along each parameter. More samples give a closer lower bound.
const SAMPLES: u32 = 16;

#[derive(Default)]
struct Row {
    leaves: usize,
    /// Number of leaves whose directions are not bounded; they are excluded from the sums.
    unbounded: usize,
    revolution: f64,
    hull: f64,
    four: f64,
    exact: f64,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let files = step_files(args.iter().map(Path::new));
    if files.is_empty() {
        eprintln!("no STEP files were found in the given folders");
        return ExitCode::from(2);
    }
    let mut rows: BTreeMap<&'static str, Row> = BTreeMap::new();
    let mut planes = [0.0; 2];
    for file in &files {
        // The program `corpus` reports files that cannot be prepared.
        let Ok(model) = prepare(file) else { continue };
        for h in &model.solids {
            let mut cones = vec![RevolutionCone::all(); h.areas.len()];
            for n in &h.nodes {
                if let Some(a) = n.area() {
                    cones[a.index()] = n.cone;
                }
            }
            for face in h.faces.iter().filter(|f| matches!(f.surface, Surface::Plane { .. })) {
                planes[1] += flat_area(face);
            }
            for (area, cone) in h.areas.iter().zip(&cones) {
                if let Feature::Face(f) = area.feature
                    && let Surface::Plane { .. } = h.faces[f.index()].surface
                {
                    planes[0] += area.rect.width() * (area.rect.v1 - area.rect.v0);
                }
                measure(h, area, cone, &mut rows);
            }
        }
    }
    println!("kind        leaves unbounded  revolution  polyhedral  four sides     sampled  (mean msr)");
    for (kind, r) in &rows {
        let mean = |x: f64| 1e3 * x / (r.leaves - r.unbounded).max(1) as f64;
        println!(
            "{kind:10} {:7} {:9} {} {} {} {}",
            r.leaves,
            r.unbounded,
            shown(mean(r.revolution)),
            shown(mean(r.hull)),
            shown(mean(r.four)),
            shown(mean(r.exact))
        );
    }
    println!("rectangles of planar faces: {:.3} times the area of the faces", planes[0] / planes[1]);
    ExitCode::SUCCESS
}

/// Area (mm²) of a planar face, from polylines around it.
fn flat_area(face: &Face) -> f64 {
    let r = face.trim.rect;
    let lines = face.trim.polylines(1e-4 * (r.width() + r.v1 - r.v0));
    let cross = |w: &[P2]| w[0].x * w[1].y - w[1].x * w[0].y;
    0.5 * lines.iter().flat_map(|l| l.windows(2).map(cross)).sum::<f64>()
}

fn shown(x: f64) -> String {
    if x.is_nan() { format!("{:>11}", "-") } else { format!("{x:11.4}") }
}

fn measure(h: &Hierarchy, area: &Area, cone: &RevolutionCone, rows: &mut BTreeMap<&'static str, Row>) {
    let (kind, generators, sampled) = match area.feature {
        Feature::Face(f) => {
            let face = &h.faces[f.index()];
            (face.surface.type_name(), face.surface.normal_generators(&area.rect), normals(face, area))
        }
        Feature::Edge(e) => {
            let edge = &h.edges[e.index()];
            let straight = matches!(edge.curve, feeler_geom::Curve::Line { .. });
            (if straight { "line" } else { "curve" }, None, edge_normals(h, edge, area))
        }
        Feature::Vertex(_) => ("vertex", None, vec![]),
    };
    let row = rows.entry(kind).or_default();
    row.leaves += 1;
    if area.cone.is_all() {
        row.unbounded += 1;
        return;
    }
    row.revolution += TAU * (1.0 - math::cos(cone.half_angle));
    row.four += area.cone.solid_angle();
    row.hull += generators.map_or(f64::NAN, |g| hull_angle(&g, &cone.axis));
    row.exact += if sampled.is_empty() { f64::NAN } else { hull_angle(&sampled, &cone.axis) };
}

fn steps(a: f64, b: f64) -> impl Iterator<Item = f64> {
    (0..=SAMPLES).map(move |k| a + (b - a) * (f64::from(k) / f64::from(SAMPLES)))
}

fn normals(face: &Face, area: &Area) -> Vec<V3> {
    let r = area.rect;
    let at = |uv: P2| if face.outward { face.surface.normal(uv) } else { -face.surface.normal(uv) };
    steps(r.u0, r.u1).flat_map(|u| steps(r.v0, r.v1).map(move |v| P2::new(u, v))).map(at).collect()
}

/// Outward normals of the two faces at points along an area of an edge.
fn edge_normals(h: &Hierarchy, edge: &Edge, area: &Area) -> Vec<V3> {
    let mut out = Vec::new();
    for t in steps(area.rect.u0, area.rect.u1) {
        let p = edge.curve.point(t);
        for side in &edge.sides {
            let face = &h.faces[side.face.index()];
            let k = side.guide.partition_point(|g| g[0] <= t).min(side.guide.len().saturating_sub(1));
            let hint = side.guide.get(k).map(|g| P2::new(g[1], g[2]));
            let n = face.surface.normal(face.surface.invert(&p, hint, None));
            out.push(if face.outward { n } else { -n });
        }
    }
    out
}

/// Solid angle (sr) of the conical hull of directions that lie in the half-space about `axis` or its
/// opposite.
fn hull_angle(directions: &[V3], axis: &V3) -> f64 {
    let sum: V3 = directions.iter().map(|d| d.normalize()).sum();
    let axis = if sum.dot(axis) < 0.0 { -axis } else { *axis };
    let (x, y) = complete_basis(&axis);
    let mut points: Vec<[f64; 2]> =
        directions.iter().map(|d| [d.dot(&x) / d.dot(&axis), d.dot(&y) / d.dot(&axis)]).collect();
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let turn =
        |a: [f64; 2], b: [f64; 2], c: [f64; 2]| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    let chain = |points: &mut dyn Iterator<Item = [f64; 2]>| {
        let mut out: Vec<[f64; 2]> = Vec::new();
        for p in points {
            while out.len() > 1 && turn(out[out.len() - 2], out[out.len() - 1], p) <= 0.0 {
                out.pop();
            }
            out.push(p);
        }
        out.pop();
        out
    };
    let mut hull = chain(&mut points.iter().copied());
    hull.extend(chain(&mut points.iter().rev().copied()));
    let g: Vec<V3> = hull.iter().map(|q| (axis + x * q[0] + y * q[1]).normalize()).collect();
    let triangle = |a: &V3, b: &V3, c: &V3| {
        2.0 * math::atan2(a.dot(&b.cross(c)).abs(), 1.0 + a.dot(b) + b.dot(c) + c.dot(a))
    };
    (1..g.len().saturating_sub(1)).map(|i| triangle(&g[0], &g[i], &g[i + 1])).sum()
}
