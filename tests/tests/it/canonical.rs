//! Canonical shapes that are written as B-splines have the same hierarchy as their analytic twins.

use std::collections::BTreeMap;

use feeler_geom::{Curve, Pose};
use feeler_runtime::{ContactKind, QueryOptions};
use feeler_tests::{Part, model, query, random_pose};

const TWINS: [&str; 6] = ["box", "cylinder", "cone", "sphere", "torus", "shaft"];

/// Numbers of faces by type, and of edges by curve and status.
fn counts(part: &Part) -> BTreeMap<String, usize> {
    let s = &part.solid;
    let mut out = BTreeMap::new();
    for f in &s.shell.faces {
        let kind = f.surface.type_name();
        *out.entry(kind.to_owned()).or_default() += 1;
    }
    for (e, info) in s.shell.edges.iter().zip(&s.edges) {
        let kind = match e.curve {
            Curve::Line { .. } => "line",
            Curve::Circle { .. } => "circle",
            Curve::Ellipse { .. } => "ellipse",
            Curve::Parabola { .. } => "parabola",
            Curve::Hyperbola { .. } => "hyperbola",
            Curve::Bezier(_) => "spline",
        };
        *out.entry(format!("{kind} {:?}", info.status)).or_default() += 1;
    }
    out
}

#[test]
fn splines_have_the_hierarchy_of_their_canonical_shape() {
    for name in TWINS {
        let (twin, nurbs) = (model(name), model(&format!("{name}-nurbs")));
        assert_eq!(counts(&twin), counts(&nurbs), "{name}");
        let sizes = |p: &Part| {
            let h = p.body.hierarchy();
            [h.faces.len(), h.edges.len(), h.vertices.len(), h.areas.len(), h.nodes.len()]
        };
        assert_eq!(sizes(&twin), sizes(&nurbs), "{name}");
        let (a, b) = (&twin.body.hierarchy().info, &nurbs.body.hierarchy().info);
        assert_eq!(a.supermaximal, b.supermaximal, "{name}");
        assert_eq!(a.source_counts, b.source_counts, "{name}");
        let size = twin.solid.bounds.diagonal();
        assert!((twin.solid.area / nurbs.solid.area - 1.0).abs() < 1e-9, "{name}");
        assert!((twin.solid.volume / nurbs.solid.volume - 1.0).abs() < 1e-9, "{name}");
        for f in &nurbs.solid.faces {
            assert!(f.surface_deviation <= 1e-12 * size, "{name} #{}: {:e}", f.source, f.surface_deviation);
        }
        for e in &nurbs.solid.edges {
            assert!(e.curve_deviation <= 1e-12 * size, "{name} #{}: {:e}", e.source, e.curve_deviation);
        }
    }
}

#[test]
fn splines_have_the_minima_of_their_canonical_shape() {
    let partner = model("box");
    let mut n = 0;
    for name in TWINS {
        let (twin, nurbs) = (model(name), model(&format!("{name}-nurbs")));
        let size = twin.solid.bounds.diagonal();
        for seed in 0..12 {
            let pose = random_pose(seed, &Pose::translation(45.0, 10.0, 5.0), 8.0, 3.0);
            let options = QueryOptions::within(30.0);
            let [x, y] = [&twin, &nurbs].map(|p| query(&partner, p, &Pose::identity(), &pose, &options));
            assert_eq!(x.status(), y.status(), "{name} {seed}");
            let strict = |p: &feeler_runtime::ContactPair| {
                p.contacts().iter().filter(|l| l.kind == ContactKind::Strict).copied().collect::<Vec<_>>()
            };
            let (x, y) = (strict(&x), strict(&y));
            assert_eq!(x.len(), y.len(), "{name} {seed}");
            for l in &x {
                let off = y.iter().map(|o| {
                    let points = (o.point_a - l.point_a).norm().max((o.point_b - l.point_b).norm());
                    points.max((o.distance - l.distance).abs())
                });
                let off = off.fold(f64::INFINITY, f64::min);
                assert!(off <= 1e-9 * size, "{name} {seed}: no minimum within {off:e} mm of {l:?}");
                n += 1;
            }
        }
    }
    assert!(n > 60, "only {n} minima compared");
}
