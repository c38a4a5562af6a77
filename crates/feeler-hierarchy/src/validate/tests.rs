use super::*;
use crate::fixture;
use crate::id::{EdgeId, FaceId, VertexId};
use feeler_geom::P3;

fn refused(change: impl FnOnce(&mut Model), at: &str) {
    let mut model = fixture::model();
    change(&mut model);
    let error = check_well_formed(&model).expect_err(at);
    assert!(error.at.contains(at), "expected {at}, got {error}");
}

#[test]
fn the_fixture_is_well_formed() {
    check_well_formed(&fixture::model()).unwrap();
}

#[test]
fn indices_out_of_range_are_refused() {
    refused(|m| m.instances[2].solid = 2, "instance 2");
    refused(|m| m.components[1].parent = Some(1), "component 1");
    refused(|m| m.components[0].instances[0] = 3, "component 0");
    refused(|m| m.components[0].instances[0] = 2, "component 1");
    refused(|m| m.components[0].rotation[3] = 0.5, "component 0: rotation");
    refused(|m| m.solids[1].areas[3].feature = Feature::Face(FaceId(6)), "solid 1: area 3");
    refused(|m| m.solids[0].areas[3].feature = Feature::Edge(EdgeId(u32::MAX)), "solid 0: area 3");
    refused(|m| m.solids[0].areas[3].feature = Feature::Vertex(VertexId(1)), "area 3");
    refused(|m| m.solids[0].edges[2].sides[1].face = FaceId(6), "edge 2: side 1");
}

#[test]
fn numbers_out_of_range_are_refused() {
    let bad = [f64::NAN, f64::INFINITY, -f64::INFINITY, 1e31];
    for x in bad {
        refused(|m| m.options.flatness = x, "options");
        refused(|m| m.instances[0].translation[1] = x, "instance 0: translation");
        refused(|m| m.instances[0].rotation[1] = x, "instance 0: rotation");
        refused(|m| m.solids[0].info.volume = x, "solid 0: facts");
        refused(|m| m.solids[0].hull[3].y = x, "solid 0: hull");
        refused(|m| inertia(m).centroid[2] = x, "solid 0: inertia");
        refused(|m| inertia(m).tensor[2][1] = x, "solid 0: inertia");
        refused(|m| m.solids[0].vertices[0].point.y = x, "vertex 0: point");
        refused(|m| m.solids[0].vertices[0].constraints[1].z = x, "vertex 0: constraints");
        refused(|m| m.solids[0].areas[0].rect.u1 = x, "area 0");
        refused(|m| m.solids[0].nodes[0].obb.center = P3::new(x, 0.0, 0.0), "node 0: box centre");
        refused(|m| m.solids[0].nodes[3].obb.half.x = x, "node 3: box");
        refused(|m| m.solids[0].nodes[3].cone.axis.x = x, "node 3: cone axis");
        refused(|m| m.solids[0].nodes[3].cone.half_angle = x, "node 3: cone half-angle");
        refused(|m| m.solids[0].edges[1].spans[0].t1 = x, "edge 1: span 0");
        refused(|m| m.solids[0].edges[1].spans[0].deviation = x, "edge 1: span 0");
        refused(|m| m.solids[0].edges[1].sides[0].guide[1][2] = x, "edge 1: side 0");
        refused(|m| m.solids[0].faces[0].trim.rect.v1 = x, "face 0: trimmed domain");
        refused(|m| m.solids[0].faces[0].trim.pieces[0].deviation = x, "face 0: trimmed domain");
        refused(
            |m| {
                if let Some(trim) = &mut m.solids[0].faces[0].sources[1].1 {
                    trim.pieces[0].deviation = x;
                }
            },
            "face 0: source 1",
        );
    }
}

fn inertia(model: &mut Model) -> &mut Inertia {
    model.solids[0].info.inertia.as_mut().unwrap()
}

#[test]
fn impossible_facts_are_refused() {
    refused(|m| inertia(m).tensor[0][1] += 1.0, "solid 0: inertia");
    for x in [f64::NAN, -1.0, f64::NEG_INFINITY] {
        refused(|m| m.solids[1].info.min_thickness = x, "solid 1: min_thickness");
    }
    refused(|m| m.solids[1].hull.clear(), "solid 1: hull");
    let mut model = fixture::model();
    (model.solids[0].info.inertia, model.solids[0].info.min_thickness) = (None, f64::INFINITY);
    check_well_formed(&model).unwrap();
}

fn surface(model: &mut Model, i: usize) -> &mut Surface {
    &mut model.solids[0].faces[i].surface
}

#[test]
fn invalid_shapes_are_refused() {
    for x in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        for i in 1..5 {
            let spoil = |m: &mut Model| match surface(m, i) {
                Surface::Cylinder { radius, .. } | Surface::Sphere { radius, .. } => *radius = x,
                Surface::Cone { half_angle, .. } => *half_angle = x,
                Surface::Torus { minor, .. } => *minor = x,
                other => panic!("{other:?}"),
            };
            refused(spoil, &format!("face {i}: surface"));
        }
        for i in 1..5 {
            let spoil = |m: &mut Model| match &mut m.solids[0].edges[i].curve {
                Curve::Circle { radius, .. } => *radius = x,
                Curve::Ellipse { semi_y, .. } => *semi_y = x,
                Curve::Parabola { focal, .. } => *focal = x,
                Curve::Hyperbola { semi_imag, .. } => *semi_imag = x,
                other => panic!("{other:?}"),
            };
            refused(spoil, &format!("edge {i}: curve"));
        }
    }
    refused(
        |m| {
            if let Surface::Plane { frame } = surface(m, 0) {
                frame.x = -frame.x;
            }
        },
        "face 0: surface",
    );
    refused(
        |m| {
            if let Curve::Line { dir, .. } = &mut m.solids[0].edges[0].curve {
                *dir *= 2.0;
            }
        },
        "edge 0: curve",
    );
}

#[test]
fn splines_that_do_not_fit_are_refused() {
    let grid = |change: &dyn Fn(&mut BezierSurface)| {
        refused(
            |m| {
                if let Surface::Bezier(g) = surface(m, 5) {
                    change(g);
                }
            },
            "face 5: surface",
        );
    };
    grid(&|g| g.u_degree = 0);
    grid(&|g| g.v_degree = MAX_DEGREE + 1);
    grid(&|g| g.u_degree = u32::MAX);
    grid(&|g| g.u_breaks.truncate(1));
    grid(&|g| g.u_breaks.swap(0, 1));
    grid(&|g| g.v_breaks[1] = g.v_breaks[0]);
    grid(&|g| g.v_breaks[0] = f64::NAN);
    grid(&|g| g.control.truncate(7));
    grid(&|g| g.control[3].w = 0.0);
    grid(&|g| g.control[3].x = f64::NAN);
    let spline = |change: &dyn Fn(&mut BezierSpline)| {
        refused(
            |m| {
                if let Curve::Bezier(s) = &mut m.solids[0].edges[5].curve {
                    change(s);
                }
            },
            "edge 5: curve",
        );
    };
    spline(&|s| s.degree = 3);
    spline(&|s| s.breaks.clear());
    spline(&|s| s.control.clear());
    spline(&|s| s.control[0].w = -1.0);
}

#[test]
fn ranges_out_of_order_are_refused() {
    refused(|m| m.solids[0].edges[0].spans[0].t1 = 0.0, "edge 0: span 0");
    refused(|m| m.solids[0].edges[1].spans[0].t1 = 7.0, "edge 1: span 0");
    refused(|m| m.solids[0].edges[0].spans.clear(), "edge 0");
    refused(
        |m| {
            let e = &mut m.solids[0].edges[0];
            e.closed = true;
            e.spans.push(e.spans[0]);
        },
        "edge 0",
    );
    refused(|m| m.solids[0].edges[0].sides[0].guide.reverse(), "edge 0: side 0");
    refused(|m| m.solids[0].areas[0].rect.v0 = 2.0, "area 0");
    refused(|m| m.solids[0].areas[1].rect.u1 = 8.0, "area 1");
    // Wrapping a parameter of this magnitude would lose all its digits, and loops over periods would not
    // end.
    refused(
        |m| {
            let r = &mut m.solids[0].areas[1].rect;
            (r.u0, r.u1) = (1e20, 1e20);
        },
        "area 1",
    );
    refused(|m| m.solids[0].areas[1].cone.generators[0] *= 2.0, "area 1: cone");
}

#[test]
fn invalid_trees_are_refused() {
    let tree = |change: &dyn Fn(&mut Vec<Node>)| refused(|m| change(&mut m.solids[0].nodes), "tree");
    // The fixture's nodes: 0 → (1, 2), 1 leaf, 2 → (3, 4), …
    tree(&|n| n[0].link = 0);
    tree(&|n| n[2].link = 1);
    tree(&|n| n[2].link = 2);
    tree(&|n| n[2].link = 1000);
    tree(&|n| n[2].link = Node::LEAF - 1);
    tree(&|n| n[1].link = Node::LEAF | 1);
    tree(&|n| n[1].link = Node::LEAF | 1000);
    tree(&|n| n[1].link = u32::MAX);
    tree(&|n| n[1].types = 2);
    tree(&|n| n.truncate(n.len() - 2));
    tree(&|n| n.push(n[1]));
    tree(&|n| n.clear());
    refused(|m| m.solids[0].areas.truncate(3), "tree");
    refused(
        |m| {
            let area = m.solids[0].areas[0].clone();
            m.solids[0].areas.push(area);
        },
        "tree",
    );
    // The maximum number of levels, and one more.
    let deep = |n: usize| {
        let mut h = fixture::hierarchy();
        h.areas = vec![h.areas[0].clone(); n];
        h.nodes = fixture::chain(n);
        check_hierarchy(&h)
    };
    assert!(deep(MAX_DEPTH as usize).is_ok(), "{:?}", deep(MAX_DEPTH as usize));
    assert!(deep(MAX_DEPTH as usize + 1).is_err(), "too deep");
    let mut empty = fixture::hierarchy();
    empty.areas.clear();
    empty.nodes.clear();
    empty.hull.clear();
    assert!(check_hierarchy(&empty).is_ok(), "no areas, no nodes");
}
