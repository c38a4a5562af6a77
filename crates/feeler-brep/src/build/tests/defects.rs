//! Tests of defects that are repaired and of defects that are rejected.

use super::*;

#[test]
fn senses_are_honoured() {
    let source = fixtures::cylinder_halves(2.0, 5.0);
    let reference = built(&source);
    let mut turned = source.clone();
    for e in &mut turned.edges {
        // This is the same edge on the reversed curve.
        e.same_sense = false;
        match &mut e.curve {
            Curve::Line { dir, .. } => *dir = -*dir,
            Curve::Circle { frame, .. } => {
                (frame.y, frame.z) = (-frame.y, -frame.z);
            }
            _ => unreachable!("lines and circles only"),
        }
    }
    let solid = built(&turned);
    assert_close(solid.volume, reference.volume, "volume");
    assert_close(solid.area, reference.area, "area");
    for (e, edge) in solid.shell.edges.iter().zip(&solid.edges) {
        assert!(edge.range.0 < edge.range.1, "ranges increase");
        let ends = (e.curve.point(edge.range.0), e.curve.point(edge.range.1));
        assert!((ends.0 - solid.shell.vertices[e.vertices.0]).norm() < 1e-12, "starts at the first vertex");
        assert!((ends.1 - solid.shell.vertices[e.vertices.1]).norm() < 1e-12, "ends at the second vertex");
    }
}

#[test]
fn broken_solids_are_refused_with_all_their_problems() {
    let mut open = fixtures::block([0.0; 3], [1.0; 3]);
    open.faces.pop();
    let error = build_solid(&open, &BuildOptions::default()).unwrap_err();
    assert_eq!(error.problems.len(), 4, "{error}");
    assert!(error.problems.iter().all(|p| matches!(p, Problem::OpenShell { .. })), "{error}");

    let mut far = fixtures::block([0.0; 3], [1.0; 3]);
    far.vertices[0].point.x = 0.1;
    assert!(build_solid(&far, &BuildOptions::default()).is_err(), "a vertex is off its edges");
    far.vertices[0].point.x = f64::NAN;
    let error = build_solid(&far, &BuildOptions::default()).unwrap_err();
    assert_eq!(error.problems, vec![Problem::BadNumber { entity: far.vertices[0].id }]);

    let mut nowhere = fixtures::block([0.0; 3], [1.0; 3]);
    nowhere.faces[2].loops.push(LoopSource::Edges(vec![(99, true)]));
    let error = build_solid(&nowhere, &BuildOptions::default()).unwrap_err();
    assert_eq!(error.problems, vec![Problem::BadIndex { entity: nowhere.faces[2].id }]);

    let mut none = fixtures::sphere(1.0);
    none.faces.clear();
    let error = build_solid(&none, &BuildOptions::default()).unwrap_err();
    assert_eq!(error.problems, vec![Problem::NoFaces]);
}

#[test]
fn a_loop_that_runs_the_wrong_way_is_turned_round() {
    let mut source = fixtures::block_with_hole(3.0, 4.0, 1.0);
    let reference = built(&source);
    // The loop of the hole in the top.
    let LoopSource::Edges(walk) = &mut source.faces[5].loops[1] else { unreachable!("edges") };
    walk[0].1 = !walk[0].1;
    let solid = built(&source);
    assert_close(solid.volume, reference.volume, "volume");
    assert_eq!(solid.remarks.len(), 1, "{:?}", solid.remarks);
}

#[test]
fn a_solid_inside_out_is_turned_round() {
    for source in [
        fixtures::block([0.0; 3], [1.0; 3]),
        fixtures::half_cone(1.0, 2.0),
        fixtures::hollow_sphere(3.0, 1.0),
    ] {
        let reference = built(&source);
        let mut inverted = source.clone();
        for f in &mut inverted.faces {
            f.outward = !f.outward;
            for l in &mut f.loops {
                if let LoopSource::Edges(walk) = l {
                    walk.reverse();
                    walk.iter_mut().for_each(|u| u.1 = !u.1);
                }
            }
        }
        let solid = built(&inverted);
        assert_close(solid.volume, reference.volume, "volume");
        assert_eq!(statuses(&solid), statuses(&reference), "statuses");
        assert_eq!(vertex_kinds(&solid), vertex_kinds(&reference), "vertices");
        assert!(!solid.remarks.is_empty(), "the repair is reported");
    }
}

#[test]
fn faces_that_run_against_their_neighbours_are_turned_round() {
    // One side of a block has the opposite outward normal, and loops that agree with it.
    let mut source = fixtures::block([0.0; 3], [1.0, 2.0, 3.0]);
    let f = &mut source.faces[2];
    f.outward = !f.outward;
    for l in &mut f.loops {
        let LoopSource::Edges(walk) = l else { unreachable!("edges") };
        walk.reverse();
        walk.iter_mut().for_each(|u| u.1 = !u.1);
    }
    let solid = built(&source);
    assert_close(solid.volume, 6.0, "volume");
    assert_eq!(solid.remarks.len(), 1, "{:?}", solid.remarks);

    // Only the normal of a side is wrong.
    let mut source = fixtures::cylinder_halves(2.0, 5.0);
    source.faces[1].outward = false;
    let solid = built(&source);
    assert_close(solid.volume, 20.0 * PI, "volume");
    assert_eq!(solid.remarks.len(), 1, "{:?}", solid.remarks);
}

#[test]
fn senses_that_do_not_connect_come_from_the_vertices() {
    let mut source = fixtures::block([0.0; 3], [1.0, 2.0, 3.0]);
    for f in &mut source.faces {
        let LoopSource::Edges(walk) = &mut f.loops[0] else { unreachable!("edges") };
        walk.iter_mut().for_each(|u| u.1 = true);
    }
    let solid = built(&source);
    assert_close(solid.volume, 6.0, "volume");
    assert_close(solid.area, 22.0, "area");
}

#[test]
fn edges_that_exist_twice_are_joined() {
    // Every face of a block has edges of its own.
    let mut source = fixtures::block([0.0; 3], [1.0, 2.0, 3.0]);
    let mut used = vec![false; source.edges.len()];
    let mut edges = source.edges.clone();
    for f in &mut source.faces {
        let LoopSource::Edges(walk) = &mut f.loops[0] else { unreachable!("edges") };
        for u in walk {
            if std::mem::replace(&mut used[u.0 as usize], true) {
                let mut copy = edges[u.0 as usize].clone();
                copy.id += 1000;
                u.0 = feeler_geom::count::index(edges.len());
                edges.push(copy);
            }
        }
    }
    source.edges = edges;
    let solid = built(&source);
    assert_close(solid.volume, 6.0, "volume");
    assert_eq!(solid.edges.len(), 12, "each edge once");
}

#[test]
fn flat_faces_and_dead_ends_are_left_out() {
    let mut source = fixtures::block([0.0; 3], [1.0, 2.0, 3.0]);
    // There is a sliver between an edge and its copy, and a dangling edge at a corner.
    let id = 1000;
    let LoopSource::Edges(walk) = source.faces[0].loops[0].clone() else { unreachable!("edges") };
    let (e, along) = walk[0];
    let copy = crate::source::EdgeSource { id, ..source.edges[e as usize].clone() };
    let copy_index = feeler_geom::count::index(source.edges.len());
    source.edges.push(copy);
    let LoopSource::Edges(first) = &mut source.faces[0].loops[0] else { unreachable!("edges") };
    first[0].0 = copy_index;
    let mut flat = source.faces[0].clone();
    flat.id = id + 1;
    flat.loops = vec![LoopSource::Edges(vec![(e, along), (copy_index, !along)])];
    source.faces.push(flat);
    let corner = source.edges[e as usize].start;
    source.vertices.push(crate::source::VertexSource { id: id + 2, point: P3::new(0.1, 0.0, 0.0) });
    let spur = crate::source::EdgeSource {
        id: id + 3,
        curve: Curve::Line { origin: P3::origin(), dir: V3::x() },
        range: None,
        start: corner,
        end: feeler_geom::count::index(source.vertices.len() - 1),
        same_sense: true,
    };
    source.vertices[corner as usize].point = P3::origin();
    source.edges.push(spur);
    let spur = feeler_geom::count::index(source.edges.len() - 1);
    let LoopSource::Edges(walk) = &mut source.faces[1].loops[0] else { unreachable!("edges") };
    walk.insert(0, (spur, true));
    let solid = built(&source);
    assert_close(solid.volume, 6.0, "volume");
    assert_eq!(solid.edges.len(), 12, "no more edges than a block has");
    assert_eq!(solid.shell.faces.len(), 6, "no more faces than a block has");
    assert_eq!(solid.remarks.len(), 2, "{:?}", solid.remarks);
}
