use super::*;
use feeler_geom::P2;
use feeler_geom::trim::Side;
use feeler_hierarchy::Face;
use std::path::Path;

fn solids(name: &str) -> Vec<Hierarchy> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../data/{name}.step"));
    feeler_import::prepare_step(&file).unwrap().solids
}

/// Checks that each point of the mesh is a corner of a triangle, and lies on the face of that triangle:
/// on the face's surface, and inside its trims or at most `chord` (mm) outside them.
fn check_points(name: &str, solid: &Hierarchy, mesh: &Mesh, chord: f64) {
    let mut face_of: Vec<Option<u32>> = vec![None; mesh.points.len()];
    for (triangle, face) in mesh.triangles.iter().zip(&mesh.faces) {
        triangle.iter().for_each(|&i| face_of[i as usize] = Some(*face));
    }
    for (i, (point, face)) in mesh.points.iter().zip(&face_of).enumerate() {
        let face = face.unwrap_or_else(|| panic!("{name}: no triangle uses point {i} at {point}"));
        let off = distance_to_face(&solid.faces[face as usize], point, chord);
        assert!(off <= chord, "{name}: point {i} at {point} is {off} mm off face {face}");
    }
}

/// Distance (mm) of a point near a face from the face; infinite if the point is farther than `max_dist`
/// outside the trims.
fn distance_to_face(face: &Face, point: &P3, max_dist: f64) -> f64 {
    let uv = face.surface.invert(point, None, None);
    let off = (face.surface.point(uv) - point).norm();
    if face.trim.classify(uv) == Side::Inside {
        return off;
    }
    let d = face.surface.derivs(uv);
    let metric = [d.du.norm_squared(), d.du.dot(&d.dv), d.dv.norm_squared()];
    face.trim.nearest(uv, metric, max_dist).map_or(f64::INFINITY, |(.., outside)| off.max(outside))
}

/// Checks that area and volume of the mesh are close to those of the exact solid, that the mesh is
/// closed, and that triangles are on their surfaces.
fn check(name: &str, solid: &Hierarchy, chord: f64) {
    let coarse = mesh(solid, chord).unwrap();
    assert_eq!(coarse.crossings, 0, "{name}: trims cross");
    assert_eq!(coarse.open_sides(), 0, "{name}: holes");
    let n = coarse.points.len();
    assert!(
        coarse.normals.len() == n && coarse.welded.len() == n && coarse.faces.len() == coarse.triangles.len()
    );
    assert!(coarse.triangles.iter().flatten().all(|i| (*i as usize) < n), "{name}: index");
    let (area, volume) = (solid.info.area, solid.info.volume);
    // The volume between mesh and solid is at most that of a layer as thick as the error.
    let off = (coarse.volume() - volume).abs();
    assert!(off < chord * area, "{name}: volume {} of {volume}", coarse.volume());
    assert!((coarse.area() - area).abs() < 0.05 * area, "{name}: area {} of {area}", coarse.area());
    let fine = mesh(solid, 0.1 * chord).unwrap();
    let off = (fine.volume() - volume).abs();
    assert_eq!(fine.open_sides(), 0, "{name}: holes");
    assert!(off < 0.1 * chord * area, "{name}: volume {} of {volume}", fine.volume());
    assert!((fine.area() - area).abs() < 0.005 * area, "{name}: area {} of {area}", fine.area());
    assert!(coarse.deviation <= chord && fine.deviation <= 0.1 * chord, "{name}: {}", coarse.deviation);
    check_points(name, solid, &coarse, chord);
    check_points(name, solid, &fine, 0.1 * chord);
    for (t, f) in coarse.triangles.iter().zip(&coarse.faces) {
        let surface = &solid.faces[*f as usize].surface;
        let [a, b, c] = coarse.corners(*t);
        let middle = P3::from((a.coords + b.coords + c.coords) / 3.0);
        for p in [middle, nalgebra::center(&a, &b), nalgebra::center(&b, &c), nalgebra::center(&c, &a)] {
            let uv: P2 = surface.invert(&p, None, None);
            let off = (surface.point(uv) - p).norm();
            assert!(off <= chord + 1e-9, "{name}: {off} of {chord} off face {f}");
        }
    }
}

#[test]
fn meshes_are_closed_and_near_their_solids() {
    let names = [
        "box",
        "cylinder",
        "cone",
        "half-cone",
        "sphere",
        "sphere-without-edges",
        "torus",
        "bore",
        "loft",
        "swept",
        "wave",
        "void",
        "race",
        "spool",
        "bayonet-plug",
        "bayonet-socket",
        "perforated-plate",
        "torus-nurbs",
        "stepped-seat",
        "shaft",
        "shaft-nurbs",
        "inch-bracket",
        "plug",
        "socket",
    ];
    std::thread::scope(|scope| {
        for name in names {
            scope.spawn(move || solids(name).iter().for_each(|solid| check(name, solid, 0.05)));
        }
    });
}

/// Closed surfaces keep their shape and most of their volume at chord errors larger than the solid.
#[test]
fn large_chord_errors_leave_no_solid_empty() {
    for name in ["sphere", "sphere-without-edges", "torus", "torus-nurbs", "void", "cylinder"] {
        let solid = &solids(name)[0];
        for chord in [5.0, 20.0, 50.0, 1e6] {
            let coarse = mesh(solid, chord).unwrap();
            let share = coarse.volume() / solid.info.volume;
            assert!((0.2..1.3).contains(&share), "{name}, {chord}: {share} of the volume");
            assert_eq!(coarse.open_sides(), 0, "{name}, {chord}: holes");
        }
    }
}

#[test]
fn invalid_chord_errors_are_refused() {
    let solid = &solids("box")[0];
    for chord in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(mesh(solid, chord), Err(MeshError::Chord(_))));
    }
}

/// Trims of real files have rounding errors: their pieces meet only nearly, and straight ones bend.
#[test]
fn rounding_of_trims_leaves_no_holes() {
    let mut state = 7_u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u16::try_from(state >> 48).unwrap()) / 65_536.0 - 0.5
    };
    for name in ["cone", "stepped-cone", "plug", "socket", "cylinder", "bayonet-plug", "perforated-plate"] {
        for mut solid in solids(name) {
            for face in &mut solid.faces {
                let r = face.trim.rect;
                for piece in &mut face.trim.pieces {
                    let off = |p: &P2| {
                        P2::new(p.x + 4e-15 * r.width() * noise(), p.y + 4e-15 * r.height() * noise())
                    };
                    piece.control = piece.control.each_ref().map(off);
                }
            }
            let mesh = mesh(&solid, 0.05).unwrap();
            assert_eq!(mesh.open_sides(), 0, "{name}: holes");
            assert!(mesh.deviation <= 0.05, "{name}: off by {}", mesh.deviation);
        }
    }
}
