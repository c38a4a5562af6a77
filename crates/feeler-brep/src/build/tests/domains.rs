//! Tests of the evidence that distinguishes the two domains of a face, and of the vector areas of faces
//! and of their edges.

use super::*;
use feeler_geom::bezier::{BezierSpline, BezierSurface, homogeneous};
use feeler_geom::mass;

/// Returns the draft of a source with assembled loops, and its tolerances.
fn drafted(source: &SolidSource) -> (Draft, Tolerances) {
    let (options, mut report) = (BuildOptions::default(), Report::default());
    let mut draft = edges::draft(source, &BTreeSet::new(), &options, &mut report).unwrap();
    let tol = Tolerances::new(draft.size, source.uncertainty, &options);
    for f in &mut draft.faces {
        f.singular = singular::singular_points(&f.surface, draft.size);
    }
    loops::fit_all(&mut draft, &tol, &mut report);
    loops::assemble(&mut draft, &tol, &mut report);
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    (draft, tol)
}

#[test]
fn vector_areas_are_those_of_the_edges() {
    let all = [
        fixtures::block([0.0; 3], [1.0, 2.0, 3.0]),
        fixtures::block_with_hole(4.0, 3.0, 1.0),
        fixtures::cylinder(2.0, 5.0),
        fixtures::cylinder_without_seam(2.0, 5.0),
        fixtures::sphere_with_seam(2.0),
        fixtures::hemisphere(2.0),
        fixtures::torus_with_seams(3.0, 1.0),
        fixtures::half_cone(2.0, 3.0),
        fixtures::ball_wedge(2.0, 0.7),
        fixtures::stadium(4.0, 1.0, 2.0),
    ];
    for source in &all {
        let (draft, tol) = drafted(source);
        for (i, f) in draft.faces.iter().enumerate() {
            let d = domain::domain(f, &loops::host(&draft, f));
            let wrong = evidence::vector_area(&draft, (i, f), &d, &tol);
            assert!(wrong.is_none(), "{}: {wrong:?}", source.name);
            // With the opposite normal and the same domain, the vector area changes its sign.
            let mut moved = f.clone();
            moved.outward = !moved.outward;
            let expected = evidence::vector_area(&draft, (i, &moved), &d, &tol).is_some();
            let is_zero = mass::vector_area(&f.surface, &d.cells).0.norm() < 1e-6;
            assert_eq!(expected, !is_zero, "{}: the normal is turned", source.name);
        }
    }
}

#[test]
fn a_face_without_its_hole_has_another_vector_area() {
    let (draft, tol) = drafted(&fixtures::block_with_hole(4.0, 3.0, 1.0));
    let mut found = 0;
    for f in draft.faces.iter().filter(|f| f.loops.len() == 2 && matches!(f.surface, Surface::Plane { .. })) {
        let mut whole = f.clone();
        whole.loops.pop();
        let d = domain::domain(&whole, &loops::host(&draft, &whole));
        let wrong = evidence::vector_area(&draft, (0, f), &d, &tol).unwrap();
        assert_close(wrong.off, PI, "the hole");
        found += 1;
    }
    assert_eq!(found, 2);
}

#[test]
fn parts_of_a_domain_on_a_ball() {
    // Latitudes: a zone, two caps, and one cap.
    for (latitudes, parts) in
        [(&[(-0.5, true), (0.7, false)][..], 1), (&[(-0.5, false), (0.7, true)], 2), (&[(0.3, true)], 1)]
    {
        let mut b = SourceBuilder::new();
        let ball = Surface::Sphere { frame: Frame::identity(), radius: 2.0 };
        let rims: Vec<LoopSource> = latitudes
            .iter()
            .map(|(v, along)| {
                let (sin, cos) = math::sin_cos(*v);
                let corner = b.vertex(2.0 * cos, 0.0, 2.0 * sin);
                let frame = Frame { origin: P3::new(0.0, 0.0, 2.0 * sin), ..Frame::identity() };
                LoopSource::Edges(vec![(b.circle(frame, 2.0 * cos, corner), *along)])
            })
            .collect();
        b.face(ball, true, rims);
        let (draft, _) = drafted(&b.finish("zone"));
        let host = loops::host(&draft, &draft.faces[0]);
        let d = domain::domain(&draft.faces[0], &host);
        assert!(evidence::is_closed(&host) && d.is_consistent());
        assert_eq!(evidence::num_parts(&host, &d.cells), parts, "{latitudes:?}");
    }
}

/// A patch with `u` and `v` exchanged, each of them reversed if the flag is set.
fn rearranged(patch: &BezierSurface, exchanged: bool, reversed: [bool; 2]) -> BezierSurface {
    let mut p = patch.clone();
    let turn =
        |breaks: &[f64]| breaks.iter().rev().map(|b| breaks[0] + breaks[breaks.len() - 1] - b).collect();
    // Control points of patch (i, j) are stored together, those of one u after the other.
    let (nu, nv) = (p.u_breaks.len() - 1, p.v_breaks.len() - 1);
    let (du, dv) = (p.u_degree as usize + 1, p.v_degree as usize + 1);
    let at = |i: usize, j: usize, a: usize, b: usize| patch.control[((i * nv + j) * du + a) * dv + b];
    let mut control = Vec::new();
    let (mu, mv, eu, ev) = if exchanged { (nv, nu, dv, du) } else { (nu, nv, du, dv) };
    for i in 0..mu {
        for j in 0..mv {
            for a in 0..eu {
                for b in 0..ev {
                    let (i, a) = if reversed[0] { (mu - 1 - i, eu - 1 - a) } else { (i, a) };
                    let (j, b) = if reversed[1] { (mv - 1 - j, ev - 1 - b) } else { (j, b) };
                    control.push(if exchanged { at(j, i, b, a) } else { at(i, j, a, b) });
                }
            }
        }
    }
    if exchanged {
        std::mem::swap(&mut p.u_degree, &mut p.v_degree);
        std::mem::swap(&mut p.u_breaks, &mut p.v_breaks);
        std::mem::swap(&mut p.u_periodic, &mut p.v_periodic);
    }
    if reversed[0] {
        p.u_breaks = turn(&p.u_breaks);
    }
    if reversed[1] {
        p.v_breaks = turn(&p.v_breaks);
    }
    BezierSurface { control, ..p }
}

/// Caps of ellipsoids as patches of revolution, with the pole on each side of the patch, the rim on the
/// border of the patch or inside it, and the sense of the face and the direction of its loop right or wrong.
#[test]
fn domes_are_read_on_the_side_of_their_pole() {
    let half = 0.5_f64.sqrt();
    let (radius, height) = (2.0, 3.0);
    // A quarter of an ellipse, from the rim to the pole.
    let points = [([radius, 0.0], 1.0), ([radius, height], half), ([0.0, height], 1.0)];
    let profile = BezierSpline {
        degree: 2,
        breaks: vec![0.0, 1.0],
        control: points.iter().map(|(p, w)| homogeneous(&P3::new(p[0], 0.0, p[1]), *w)).collect(),
        periodic: false,
    };
    let patch = BezierSurface::revolution(&profile, &P3::origin(), &V3::z(), 0.0, TAU);
    for variant in 0..8_u32 {
        let bit = |k: u32| variant >> k & 1 == 1;
        let patch = rearranged(&patch, bit(0), [bit(1), bit(2)]);
        let surface = Surface::Bezier(patch.clone());
        let r = surface.natural_domain();
        // The natural normal at a point of the dome.
        let p = P2::new(0.5 * (r.u0 + r.u1) + 0.1, 0.5 * (r.v0 + r.v1) + 0.1);
        let is_outward = surface.normal(p).dot(&(surface.point(p) - P3::origin())) > 0.0;
        for z in [0.0, 0.7, 1.9] {
            let rim = radius * (1.0 - z * z / (height * height)).sqrt();
            for (sense, along) in [(true, true), (true, false), (false, true), (false, false)] {
                let mut b = SourceBuilder::new();
                let v = b.vertex(rim, 0.0, z);
                let frame = Frame { origin: P3::new(0.0, 0.0, z), ..Frame::identity() };
                let ring = b.circle(frame, rim, v);
                let loops = |forward: bool| vec![LoopSource::Edges(vec![(ring, forward)])];
                b.face(surface.clone(), is_outward == sense, loops(along));
                b.face(Surface::Plane { frame }, false, loops(false));
                let found = build_solid(&b.finish("dome"), &BuildOptions::default());
                // If the loops of both faces have one direction, either could be wrong: the solid is refused.
                if !along {
                    let problems = found.expect_err("one direction").problems;
                    assert!(matches!(problems[..], [Problem::SameDirection { .. }]), "{problems:?}");
                    continue;
                }
                let solid = found.unwrap_or_else(|e| panic!("{e}"));
                // The part of an ellipsoid above the height z.
                let volume = PI
                    * radius
                    * radius
                    * (height - z - (height * height * height - z * z * z) / (3.0 * height * height));
                let what =
                    format!("variant {variant}, z {z}, sense {sense}, along {along}: {:?}", solid.remarks);
                assert!((solid.volume - volume).abs() <= 1e-7 * volume, "{} {volume}, {what}", solid.volume);
            }
        }
    }
}

/// The apex of a cone that is bounded by its rim only, without a vertex at the apex, is a vertex of the
/// solid.
#[test]
fn tips_without_a_vertex_get_one() {
    let with = built(&fixtures::cone(2.0, 3.0));
    let mut source = fixtures::cone(2.0, 3.0);
    source.faces[0].loops.retain(|l| matches!(l, LoopSource::Edges(_)));
    let without = built(&source);
    assert_eq!(vertex_kinds(&with), vertex_kinds(&without));
    assert_close(without.volume, with.volume, "volume");
    let tips = without.shell.vertices.iter().filter(|p| (**p - P3::new(0.0, 0.0, 3.0)).norm() < 1e-9).count();
    assert_eq!(tips, 1, "{:?}", without.shell.vertices);
    let noted = without.remarks.iter().filter(|r| r.message.contains("tip has no vertex")).count();
    assert_eq!(noted, 1, "{:?}", without.remarks);
    // A pole does not get a vertex.
    assert_eq!(built(&fixtures::hemisphere(2.0)).vertices.len(), 1);
}

/// Distances of the vertices that are features from the apex of a cone of radius 2 and height 3, up to 0.1.
fn features_near_the_apex(solid: &Solid) -> Vec<f64> {
    let off = |p: &P3| (p - P3::new(0.0, 0.0, 3.0)).norm();
    let is_feature = |v: &VertexInfo| !v.smooth && v.polar != VertexPolar::Empty;
    let all = solid.shell.vertices.iter().zip(&solid.vertices);
    all.filter(|(p, v)| off(p) < 0.1 && is_feature(v)).map(|(p, _)| off(p)).collect()
}

/// The apex of a cone is one vertex at the tip, also if the vertex of the file is beside it.
#[test]
fn vertices_beside_a_tip_are_moved_to_it() {
    let sources = [
        ("rim and vertex", fixtures::cone(2.0, 3.0)),
        ("seam", fixtures::cone_with_seam(2.0, 3.0)),
        ("half", fixtures::half_cone(2.0, 3.0)),
    ];
    for (what, source) in &sources {
        let exact = built(source);
        assert_eq!(features_near_the_apex(&exact).len(), 1, "{what}");
        let size = 5.0;
        for share in [3e-8, 1e-7, 2e-7, 5e-7, 1e-6, 3e-6, 1e-5, 1e-4, 9e-4] {
            for dir in [V3::z(), -V3::z(), V3::new(0.6, 0.0, -0.8), V3::x()] {
                let mut source = source.clone();
                let apex = source.vertices.iter_mut().find(|v| v.point.z > 2.0).unwrap();
                apex.point += dir * (share * size);
                let what = format!("{what}, {share}, {dir:?}");
                let solid =
                    build_solid(&source, &BuildOptions::default()).unwrap_or_else(|e| panic!("{what}: {e}"));
                let found = features_near_the_apex(&solid);
                assert_eq!(found.len(), 1, "{what}: {:?}", solid.remarks);
                assert!(found[0] <= 2e-7 * size, "{what}: {found:?}");
                assert!((solid.volume / exact.volume - 1.0).abs() < 1e-7, "{what}: {}", solid.volume);
                let n = solid.remarks.iter().filter(|r| r.message.contains("to the tip of face")).count();
                assert_eq!(n, usize::from(found[0] < 1e-12), "{what}: {:?}", solid.remarks);
                let is_added = solid.remarks.iter().any(|r| r.message.contains("tip has no vertex"));
                assert!(!is_added, "{what}: {:?}", solid.remarks);
            }
        }
    }
}

/// If the vertex beside a tip has an edge that does not pass through the tip, nothing is moved and no second
/// vertex is added; a remark states the distance.
#[test]
fn a_vertex_beside_a_tip_without_an_edge_through_it_stays() {
    for off in [1e-4, 1e-3] {
        let mut source = fixtures::cone_with_seam(2.0, 3.0);
        let [rim, apex] = [false, true]
            .map(|is_apex| source.vertices.iter().map(|v| v.point).find(|p| (p.z > 2.0) == is_apex).unwrap());
        let beside = apex - V3::new(0.0, 0.0, off);
        source.vertices.iter_mut().filter(|v| v.point.z > 2.0).for_each(|v| v.point = beside);
        let line = source.edges.iter_mut().find(|e| matches!(e.curve, Curve::Line { .. })).unwrap();
        let is_up = source.vertices[line.start as usize].point.z < 2.0;
        let (from, to) = if is_up { (rim, beside) } else { (beside, rim) };
        line.curve = Curve::Line { origin: from, dir: (to - from).normalize() };
        let solid = built(&source);
        let n = solid.shell.vertices.iter().filter(|p| p.z > 2.0).count();
        assert_eq!(n, 1, "{off}: {:?}", solid.remarks);
        let noted = solid.remarks.iter().filter(|r| r.message.contains("beside its tip")).count();
        assert_eq!(noted, 1, "{off}: {:?}", solid.remarks);
    }
}

/// Faces with one entity id are parts of one face of the source: a part that fits its edges only on the
/// other side is not reversed if another part is right.
#[test]
fn parts_of_a_face_are_reversed_only_together() {
    let arc = [([2.0, 0.0], 1.0), ([2.0, 3.0], 0.5_f64.sqrt()), ([0.0, 3.0], 1.0)];
    let profile = BezierSpline {
        degree: 2,
        breaks: vec![0.0, 1.0],
        control: arc.iter().map(|(p, w)| homogeneous(&P3::new(p[0], 0.0, p[1]), *w)).collect(),
        periodic: false,
    };
    let surface = Surface::Bezier(BezierSurface::revolution(&profile, &P3::origin(), &V3::z(), 0.0, TAU));
    let mid = P2::new(1.0, 0.5);
    let is_outward = surface.normal(mid).dot(&(surface.point(mid) - P3::origin())) > 0.0;
    let z = 0.7;
    let rim = 2.0 * (1.0 - z * z / 9.0_f64).sqrt();
    let mut b = SourceBuilder::new();
    let v = b.vertex(rim, 0.0, z);
    let frame = Frame { origin: P3::new(0.0, 0.0, z), ..Frame::identity() };
    let ring = b.circle(frame, rim, v);
    let loops = |forward: bool| vec![LoopSource::Edges(vec![(ring, forward)])];
    b.face(surface, !is_outward, loops(true));
    b.face(Surface::Plane { frame }, false, loops(false));
    let (mut draft, tol) = drafted(&b.finish("dome"));
    let d = domain::domain(&draft.faces[0], &loops::host(&draft, &draft.faces[0]));
    let wrong = [evidence::vector_area(&draft, (0, &draft.faces[0]), &d, &tol).expect("the wrong side")];
    let found = faces_on_the_other_side(&draft, &wrong, &tol);
    assert_eq!(found.iter().map(|f| f.0).collect::<Vec<_>>(), [draft.faces[0].id]);
    draft.faces[1].id = draft.faces[0].id;
    assert_eq!(faces_on_the_other_side(&draft, &wrong, &tol), []);
}
