//! Steps allocate no memory once the lists of contacts have their size.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use feeler_deformable::{
    Ball, ContactSettings, DeformableBody, HalfSpace, Material, Mesh, RigidBody, Simulation,
};
use feeler_geom::{P3, Pose, V3};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

#[test]
fn steady_steps_do_not_allocate() {
    let corners = [[-9.0, -9.0], [19.0, -9.0], [19.0, 19.0], [-9.0, 19.0]];
    let plate = corners.map(|[x, y]| P3::new(x, y, 0.0)).to_vec();
    check(RigidBody::new(plate, vec![[0, 1, 2], [0, 2, 3]], 0.1).unwrap());
    let pose = Pose::translation(0.0, 0.0, 0.1);
    check(RigidBody::smooth(vec![Box::new(HalfSpace)], &pose).unwrap());
    // A ball presses on the inside of facets, too.
    let center = P3::new(5.5, 4.7, 0.1 - 20.0);
    check(RigidBody::smooth(vec![Box::new(Ball { center, radius: 20.0 })], &Pose::identity()).unwrap());
}

/// Lets a cube rest on a fixed body and counts the allocations.
fn check(support: RigidBody) {
    let mut simulation = Simulation::new(ContactSettings::new(20.0, 0.05)).unwrap();
    let mesh = Mesh::box_of_hexahedra(P3::new(0.0, 0.0, 0.21), V3::repeat(10.0), [3, 3, 3]).unwrap();
    let mut cube = DeformableBody::new(&mesh, Material::new(5.0, 0.4, 1.1e-9).unwrap(), 0.1).unwrap();
    cube.set_damping(200.0).unwrap();
    simulation.add(cube).unwrap();
    simulation.add(support).unwrap();
    let far = Mesh::box_of_tetrahedra(P3::new(0.0, 0.0, 13.0), V3::repeat(2.0), [1; 3]).unwrap();
    simulation
        .add(DeformableBody::new(&far, Material::new(5.0, 0.4, 1.1e-9).unwrap(), 0.1).unwrap())
        .unwrap();
    simulation.set_gravity(V3::z() * -9810.0).unwrap();
    let step = 0.5 * simulation.stable_step(2);
    (0..4000).for_each(|_| simulation.step(step).unwrap());
    let counts = simulation.search_counts();
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let mut overlap = 0.0_f64;
    for _ in 0..1000 {
        simulation.step(step).unwrap();
        overlap = overlap.max(simulation.max_overlap());
    }
    assert_eq!(ALLOCATOR.peak_usage(), before, "bytes at the peak and before 1000 steps");
    let after = simulation.search_counts();
    let tests = after.feature_tests + after.signed_distances;
    assert!(overlap > 0.0 && tests > counts.feature_tests + counts.signed_distances, "in contact");
}
