//! Display meshes of solids as walls: read from STEP, meshed, welded, and touched by spheres.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use feeler_geom::{P3, V3};
use feeler_particles::{ActiveSides, FacetHistory, FacetRegion, FacetWall, Resolution};
use feeler_view::mesh::mesh;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::path::{Path, PathBuf};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data").join(name)
}

/// Wall of the display mesh of a solid, active on its outside, and the deviation (mm) of the mesh.
/// `chord` is the maximum deviation requested (mm).
fn wall(name: &str, chord: f64) -> (FacetWall, f64) {
    let model = feeler_import::prepare_step_with(
        &data(name),
        &feeler_hierarchy::Options { flatness: feeler_import::DEFAULT_FLATNESS },
    )
    .unwrap();
    let mesh = mesh(&model.solids[0], chord).unwrap();
    assert_eq!(mesh.open_sides(), 0, "{name}");
    let triangles: Vec<[u32; 3]> =
        mesh.triangles.iter().map(|t| t.map(|k| mesh.welded[k as usize])).collect();
    let mut wall = FacetWall::new(&mesh.points, &triangles).unwrap_or_else(|e| panic!("{name}: {e}"));
    wall.set_sides(|_, _| ActiveSides::Front);
    wall.set_resolution(Resolution::Full { cutoff: 0.5 }).unwrap();
    (wall, mesh.deviation)
}

#[test]
fn solids_of_all_kinds_are_walls() {
    for name in [
        "box.step",
        "bayonet-plug.step",
        "cone.step",
        "loft.step",
        "socket.step",
        "race.step",
        "perforated-plate.step",
    ] {
        let (wall, _) = wall(name, 0.05);
        // Spheres far larger than the facets, all around: contacts have negative gaps and unit normals.
        let bounds = wall.bounds();
        let mut rng = SmallRng::seed_from_u64(8);
        let mut history = FacetHistory::default();
        let mut met = 0;
        for _ in 0..300 {
            let part = |rng: &mut SmallRng| rng.random_range(-0.1..1.1);
            let size = bounds.max - bounds.min;
            let at = V3::new(part(&mut rng), part(&mut rng), part(&mut rng));
            let center = bounds.min + size.component_mul(&at);
            for c in wall.contacts(&mut history, &center, 0.1 * bounds.diagonal()) {
                assert!(c.contact.gap < 0.0 && (c.contact.normal.norm() - 1.0).abs() < 1e-12, "{name} {c:?}");
                met += 1;
            }
        }
        assert!(met > 50, "{name}: {met}");
    }
}

#[test]
fn the_gap_on_a_meshed_sphere_differs_by_the_deviation_of_the_mesh() {
    // The bounding box of data/sphere.step gives its centre and radius.
    let (wall, deviation) = wall("sphere.step", 0.01);
    let bounds = wall.bounds();
    let (center, radius) = (bounds.center(), 0.5 * (bounds.max.z - bounds.min.z));
    let mut rng = SmallRng::seed_from_u64(2);
    for _ in 0..2_000 {
        let direction = V3::from_fn(|_, _| rng.random_range(-1.0..1.0)).normalize();
        let position: P3 = center + direction * (radius + 0.9);
        let contacts = wall.contacts(&mut FacetHistory::default(), &position, 1.0 + deviation).to_vec();
        // A convex mesh has one contact, unless the normal is that of an edge up to rounding.
        assert_eq!(contacts.len(), 1, "{contacts:?}");
        let c = &contacts[0].contact;
        let off = c.gap + 0.1 + deviation;
        assert!((-1e-9..=2.0 * deviation + 1e-9).contains(&off), "{off} {deviation}");
        assert!(c.normal.dot(&direction) > 0.98, "{c:?}");
        if contacts[0].region == FacetRegion::Face {
            assert!(c.curvatures[0].abs() < 1e-300, "a facet is flat");
        }
    }
}
