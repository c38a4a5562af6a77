//! Solids made of triangles, against closed forms of polyhedra and distances of convex hulls.

use feeler_convex::{DistanceRequest, Polytope, distance};
use feeler_geom::{P3, Pose, V3};
use feeler_grains::mass::polyhedron;
use feeler_import::{MeshOptions, prepare_mesh};
use feeler_runtime::{Body, ContactPair, QueryOptions};
use nalgebra::Matrix3;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use std::sync::Arc;

/// The eight sides of an octahedron whose corners are +x, −x, +y, −y, +z, −z.
const SIDES: [[u32; 3]; 8] =
    [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]];

/// An octahedron with arms of different lengths, sheared and rotated: always convex.
fn corners(rng: &mut StdRng) -> Vec<P3> {
    let map = loop {
        let map = Matrix3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        if map.determinant() > 0.1 {
            break map;
        }
    };
    let shift = V3::from_fn(|_, _| rng.random_range(-3.0..3.0));
    let arm = |rng: &mut StdRng, axis: usize, sign: f64| {
        let mut v = V3::zeros();
        v[axis] = sign * rng.random_range(0.5..4.0);
        P3::from(map * v + shift)
    };
    (0..6).map(|k| arm(rng, k / 2, if k % 2 == 0 { 1.0 } else { -1.0 })).collect()
}

fn body(points: &[P3]) -> Arc<Body> {
    let model = prepare_mesh("octahedron", points, &SIDES, MeshOptions::default()).expect("a solid");
    Arc::new(Body::from_model(&model, 0).expect("a body"))
}

#[test]
fn polyhedra_have_the_mass_of_the_closed_form() {
    let mut rng = StdRng::seed_from_u64(27);
    for k in 0..200 {
        let points = corners(&mut rng);
        let (solid, known) = (body(&points), polyhedron(&points, &SIDES).expect("a polyhedron"));
        let info = &solid.hierarchy().info;
        let inertia = info.inertia.as_ref().expect("a closed solid");
        let tensor = Matrix3::from_fn(|i, j| inertia.tensor[i][j]);
        assert_eq!((solid.hierarchy().faces.len(), solid.hierarchy().edges.len()), (8, 12), "{k}");
        assert!((info.volume / known.volume - 1.0).abs() < 1e-10, "{k}: {} {}", info.volume, known.volume);
        assert!((P3::from(inertia.centroid) - known.centroid).norm() < 1e-9, "{k}");
        assert!(
            (tensor - known.tensor).amax() < 1e-9 * known.tensor.amax(),
            "{k}: {tensor} {}",
            known.tensor
        );
    }
}

#[test]
fn distances_of_polyhedra_are_those_of_their_hulls() {
    let mut rng = StdRng::seed_from_u64(28);
    let mut apart = 0;
    for k in 0..150 {
        let [a, b] = [corners(&mut rng), corners(&mut rng)];
        let mut pair = ContactPair::new(body(&a), body(&b));
        for _ in 0..4 {
            let shift = V3::from_fn(|_, _| rng.random_range(-9.0..9.0));
            let pose = Pose::new(shift, V3::from_fn(|_, _| rng.random_range(-3.0..3.0)));
            let moved: Vec<P3> = b.iter().map(|p| pose * p).collect();
            let hulls = [Polytope::new(&a).expect("a hull"), Polytope::new(&moved).expect("a hull")];
            let known = distance(&hulls[0], &hulls[1], &DistanceRequest::default()).distance;
            pair.query(&Pose::identity(), &pose, &QueryOptions::within(100.0)).expect("a query");
            let found = pair.contacts().iter().map(|l| l.distance).fold(f64::INFINITY, f64::min);
            if known > 1e-3 {
                apart += 1;
                assert!((found - known).abs() < 1e-9, "{k}: {found} {known}");
            }
        }
    }
    assert!(apart > 200, "{apart}");
}
