//! Checks that curves, surfaces and vertices of every model agree in space, and with them units, senses
//! and parametrisations.

use std::fmt::Write as _;
use std::path::Path;

use feeler_brep::source::{EdgeSource, LoopSource, SolidSource};
use feeler_geom::{Curve, P3, Surface, math};

/// Models with gaps larger than [`TOL`], and the maximum gap (mm); other kernels confirm these gaps.
const LOOSE: [(&str, f64); 3] =
    [("frame-proe.step", 2.2e-2), ("nist-ctc-05-ap242.step", 2.2e-2), ("nist-ftc-07-ap242.step", 3.5e-2)];

/// Models that are invalid on purpose, with edges that are not used once in each direction.
const NOT_MANIFOLD: [&str; 3] = ["zero-area-face.step", "connector-eg2308-acis.step", "dangling-spur.step"];

/// Maximum distance (mm) between vertices, curves and surfaces of one file.
const TOL: f64 = 1e-2;

/// Larger of two numbers; NaN if either is NaN.
fn larger(a: f64, b: f64) -> f64 {
    if a >= b || a.is_nan() { a } else { b }
}

/// Returns the parameter of the point of a curve nearest to `p`.
fn parameter(curve: &Curve, p: &P3) -> f64 {
    match curve {
        Curve::Line { origin, dir } => (p - origin).dot(dir),
        Curve::Circle { .. } | Curve::Ellipse { .. } => curve.project(p, 0.0, std::f64::consts::TAU),
        Curve::Parabola { .. } | Curve::Hyperbola { .. } => curve.project(p, -50.0, 50.0),
        Curve::Bezier(s) => {
            let (t0, t1) = s.range();
            curve.project(p, t0, t1)
        }
    }
}

/// Returns the distance (mm) of the vertices from the edge's curve, and points along the edge.
fn walk(solid: &SolidSource, edge: &EdgeSource) -> (f64, Vec<P3>) {
    let (a, b) = (solid.vertices[edge.start as usize].point, solid.vertices[edge.end as usize].point);
    let (ta, tb) = (parameter(&edge.curve, &a), parameter(&edge.curve, &b));
    let off = larger((edge.curve.point(ta) - a).norm(), (edge.curve.point(tb) - b).norm());
    let (mut t0, mut t1) = if edge.same_sense { (ta, tb) } else { (tb, ta) };
    if let Some(period) = edge.curve.period() {
        t1 = math::wrap(t1, t0, period);
        if t1 - t0 < 1e-9 * period || edge.start == edge.end {
            t1 = t0 + period;
        }
    } else if edge.start == edge.end
        && let Curve::Bezier(s) = &edge.curve
    {
        (t0, t1) = s.range();
    }
    (off, (0..=8).map(|i| edge.curve.point(t0 + (t1 - t0) * f64::from(i) / 8.0)).collect())
}

#[test]
#[allow(clippy::print_stderr, clippy::float_cmp, reason = "the test prints a table for developers")]
fn edges_lie_on_their_surfaces() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/models");
    let Ok(entries) = std::fs::read_dir(&dir) else {
        eprintln!("no model collection beside the repository: nothing compared");
        return;
    };
    let mut paths: Vec<_> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    paths.sort();
    let mut table = String::new();
    let mut failures = Vec::new();
    for path in paths.iter().filter(|p| p.extension().is_some_and(|e| e == "step")) {
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        let Ok(import) = feeler_step::read_step(path) else { continue };
        let clock = std::time::Instant::now();
        let (mut at_vertex, mut at_face, mut odd) = (0.0_f64, 0.0_f64, Vec::new());
        for solid in &import.solids {
            let mut uses = vec![(0, 0); solid.edges.len()];
            for l in solid.faces.iter().flat_map(|f| &f.loops) {
                if let LoopSource::Edges(edges) = l {
                    for (e, forward) in edges {
                        let u = &mut uses[*e as usize];
                        *u = if *forward { (u.0 + 1, u.1) } else { (u.0, u.1 + 1) };
                    }
                }
            }
            if !NOT_MANIFOLD.contains(&file.as_str()) && uses.iter().any(|u| *u != (1, 1)) {
                failures.push(format!("{file}: solid #{} has an edge not used once each way", solid.id));
            }
            let walks: Vec<(f64, Vec<P3>)> = solid.edges.iter().map(|e| walk(solid, e)).collect();
            for (edge, (off, _)) in solid.edges.iter().zip(&walks) {
                at_vertex = larger(at_vertex, *off);
                if *off > TOL {
                    odd.push(format!("edge #{} vertices off {off:.2e}", edge.id));
                }
            }
            for face in &solid.faces {
                let uses = face.loops.iter().filter_map(|l| match l {
                    LoopSource::Edges(uses) => Some(uses),
                    LoopSource::Vertex(_) => None,
                });
                let mut off = 0.0_f64;
                let mut worst = 0;
                for (e, _) in uses.flatten() {
                    for p in &walks[*e as usize].1 {
                        let d = distance(&face.surface, p);
                        if larger(off, d) != off {
                            (off, worst) = (d, solid.edges[*e as usize].id);
                        }
                    }
                }
                at_face = larger(at_face, off);
                if off > TOL {
                    odd.push(format!("edge #{worst} off face #{} by {off:.2e}", face.id));
                }
            }
        }
        let allowed = LOOSE.iter().find(|l| l.0 == file).map_or(TOL, |l| l.1);
        let ms = clock.elapsed().as_secs_f64() * 1e3;
        writeln!(table, "{file:42} vertices {at_vertex:8.1e} faces {at_face:8.1e} ({ms:.0} ms)").unwrap();
        for o in odd.iter().take(6) {
            writeln!(table, "    {o} ({} in all)", odd.len()).unwrap();
        }
        if larger(larger(at_vertex, at_face), allowed) != allowed {
            failures.push(format!("{file}: vertices {at_vertex:.2e}, faces {at_face:.2e}"));
        }
    }
    eprintln!("{table}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn distance(surface: &Surface, p: &P3) -> f64 {
    (surface.point(surface.invert(p, None, None)) - p).norm()
}
