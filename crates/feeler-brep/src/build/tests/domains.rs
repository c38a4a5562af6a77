//! Tests of the evidence that distinguishes the two domains of a face, and of the vector areas of faces
//! and of their edges.

use super::*;
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
        for f in &draft.faces {
            let d = domain::domain(f, &loops::host(&draft, f));
            let wrong = evidence::vector_area(&draft, f, &d, &tol);
            assert!(wrong.is_none(), "{}: {wrong:?}", source.name);
            // With the opposite normal and the same domain, the vector area changes its sign.
            let mut moved = f.clone();
            moved.outward = !moved.outward;
            let expected = evidence::vector_area(&draft, &moved, &d, &tol).is_some();
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
        let wrong = evidence::vector_area(&draft, f, &d, &tol).unwrap();
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
