//! Contact benchmarks of DIST 4.3, conservation laws and friction.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::scenarios::{bar_impact, one_element_duration, soft_steel};
use feeler_deformable::{
    Body, ContactSettings, DeformableBody, DeformableError, Material, Mesh, RigidBody, Simulation,
};
use feeler_geom::{P3, V3};
use rand::{Rng, SeedableRng, rngs::SmallRng};

#[test]
fn dist_4_3_1_falling_tetrahedron_returns_to_its_height_with_a_symmetric_reaction() {
    let bounce = crate::scenarios::bounce();
    assert!(bounce.height_error.abs() < 1e-3, "{bounce:?}");
    assert!(bounce.sideways < 1e-9, "{bounce:?}");
    let [early, late] = bounce.impulses;
    assert!(early > 0.0 && (early / late - 1.0).abs() < 0.02, "{bounce:?}");
}

#[test]
fn dist_4_3_2_sphere_against_an_inclined_face_turns_from_horizontal_to_vertical() {
    let stiff = crate::scenarios::deflected_sphere(2.1e5);
    assert!((stiff - V3::z()).norm() < 0.02, "stiff tetrahedron: {stiff}");
    let soft = crate::scenarios::deflected_sphere(210.0);
    assert!(soft.z > 0.8 && soft.norm() < 1.0 + 1e-9, "soft tetrahedron: {soft}");
    assert!((soft - V3::z()).norm() > (stiff - V3::z()).norm(), "deformation keeps some horizontal motion");
}

#[test]
fn dist_4_3_3_bars_of_80_elements_separate_at_the_time_of_the_wave_with_exchanged_velocities() {
    // Equal bars of length l stay in contact while the wave travels to the free end and back, 2 l/c. The
    // 0.0245 s of the reference are those of bars of 2 m.
    for (length, tolerance) in [(1000.0, 0.02), (2000.0, 0.02)] {
        let exact = 2.0 * length / soft_steel(0.0).bar_wave_speed();
        let impact = bar_impact([length; 2], [80; 2], 1e4, 2.0);
        assert!((impact.duration / exact - 1.0).abs() < tolerance, "{length}: {impact:?}, exact {exact}");
        assert!(impact.separations <= 3, "{length}: {impact:?}");
        assert!(impact.velocities[0].abs() < 5.0, "{length}: {impact:?}");
        assert!((impact.velocities[1] - 1000.0).abs() < 5.0, "{length}: {impact:?}");
        assert!(impact.energy_error < 1e-3, "{length}: {impact:?}");
    }
    assert!((4000.0 / soft_steel(0.0).bar_wave_speed() - 0.0245).abs() < 1e-4, "time of the reference");
    let stiff = bar_impact([1000.0; 2], [80; 2], 4e5, 2.0);
    assert!(stiff.separations > 10, "a large penalty makes the bars bounce: {stiff:?}");
    let unequal = bar_impact([1000.0, 2000.0], [80, 160], 1e4, 2.0);
    assert!((unequal.velocities[1] - 500.0).abs() < 10.0, "the momentum of the shorter bar: {unequal:?}");
}

#[test]
fn dist_4_3_3_penalty_of_single_hexahedra_determines_the_time_of_impact() {
    let mut times = Vec::new();
    for penalty in [80.0, 120.0, 240.0, 480.0, 960.0] {
        let impact = bar_impact([1000.0; 2], [1; 2], penalty, 20.0);
        let exact = one_element_duration(1000.0, penalty);
        assert!((impact.first_duration / exact - 1.0).abs() < 0.02, "{penalty}: {impact:?}, exact {exact}");
        times.push(impact.first_duration);
    }
    assert!(times.windows(2).all(|t| t[1] < t[0]), "{times:?}");
    assert!(times[0] > 0.0245 && times[4] < 0.0245, "a penalty gives the time of the reference: {times:?}");
}

/// Cube of hexahedra with edges of 1 mm, whose nodes are displaced at random by `shake`.
fn cube(rng: &mut SmallRng, corner: P3, divisions: u32, shake: f64) -> Mesh {
    let mut mesh = Mesh::box_of_hexahedra(corner, V3::repeat(1.0), [divisions; 3]).unwrap();
    mesh.nodes.iter_mut().for_each(|n| *n += V3::from_fn(|_, _| rng.random_range(-shake..=shake)));
    mesh
}

#[test]
fn forces_are_equal_and_opposite_and_the_gradient_of_the_potential() {
    let mut rng = SmallRng::seed_from_u64(1);
    let material = Material::new(1.0, 0.3, 1e-9).unwrap();
    let mut touching = 0;
    for _ in 0..60 {
        // Corners, edges and faces within the skins of one another; some edges are nearly parallel.
        let shift = V3::new(rng.random_range(-1.05..1.05), rng.random_range(-1.05..1.05), 1.05);
        let meshes = [cube(&mut rng, P3::origin(), 2, 0.03), cube(&mut rng, P3::from(shift), 1, 0.03)];
        let potential = |moved: Option<(usize, usize, V3)>| {
            let settings = ContactSettings { activation: 1.0, ..ContactSettings::new(1.0, 0.1) };
            let mut simulation = Simulation::new(settings).unwrap();
            let ids = [0, 1].map(|k| {
                let mut body = DeformableBody::new(&meshes[k], material, 0.15).unwrap();
                if let Some((_, node, by)) = moved.filter(|m| m.0 == k) {
                    body.set_position(node, meshes[k].nodes[node] + by).unwrap();
                }
                simulation.add(body).unwrap()
            });
            simulation.step(1e-30).map(|()| (simulation, ids))
        };
        let Ok((simulation, ids)) = potential(None) else { continue };
        if simulation.energies().contact <= 0.0 {
            continue;
        }
        touching += 1;
        let forces = ids.map(|id| simulation.deformable(id).unwrap().forces().to_vec());
        let sum = |k: usize| forces[k].iter().sum::<V3>();
        assert!((sum(0) + sum(1)).norm() < 1e-12, "equal and opposite: {} {}", sum(0), sum(1));
        let torque = (0..2).fold(V3::zeros(), |t, k| {
            forces[k].iter().zip(&meshes[k].nodes).fold(t, |t, (f, x)| t + x.coords.cross(f))
        });
        assert!(torque.norm() < 1e-12, "no resultant torque: {torque}");
        for (k, forces) in forces.iter().enumerate() {
            for (node, force) in forces.iter().enumerate().filter(|f| f.1.norm() > 0.0).take(4) {
                let axis = rng.random_range(0..3);
                let total = |h: f64| {
                    let by = V3::from_fn(|i, _| if i == axis { h } else { 0.0 });
                    let (s, _) = potential(Some((k, node, by))).unwrap();
                    s.energies().contact + s.energies().strain
                };
                let h = 1e-6;
                let slope = -(total(h) - total(-h)) / (2.0 * h);
                assert!((slope - force[axis]).abs() < 1e-5, "{k} {node}: {slope} {}", force[axis]);
            }
        }
    }
    assert!(touching > 20, "{touching} of 60 pairs touch");
}

#[test]
fn colliding_bodies_keep_momentum_angular_momentum_and_energy() {
    let mut rng = SmallRng::seed_from_u64(2);
    let material = Material::new(500.0, 0.3, 1e-9).unwrap();
    let settings = ContactSettings::new(100.0, 0.05);
    let mut simulation = Simulation::new(settings).unwrap();
    let mesh = cube(&mut rng, P3::origin(), 2, 0.02);
    let mut first = DeformableBody::new(&mesh, material, 0.05).unwrap();
    first.set_uniform_velocity(V3::new(0.0, 0.0, 8000.0)).unwrap();
    simulation.add(first).unwrap();
    let tetrahedra = Mesh::box_of_tetrahedra(P3::new(0.4, 0.3, 1.2), V3::repeat(1.0), [2; 3]).unwrap();
    simulation.add(DeformableBody::new(&tetrahedra, material, 0.05).unwrap()).unwrap();
    let mut ball = RigidBody::sphere(P3::new(-0.3, 0.2, 1.6), 0.4).unwrap();
    ball.set_free(1e-9).unwrap();
    simulation.add(ball).unwrap();
    let sums = |s: &Simulation| {
        let momentum: V3 = s.bodies().iter().map(Body::momentum).sum();
        let angular: V3 = s.bodies().iter().map(Body::angular_momentum).sum();
        (momentum, angular, s.energies().total())
    };
    let start = sums(&simulation);
    let step = 0.2 * simulation.stable_step(4);
    let mut overlap = 0.0_f64;
    while simulation.time() < 3e-4 {
        simulation.step(step).unwrap();
        overlap = overlap.max(simulation.max_overlap());
    }
    let end = sums(&simulation);
    assert!(overlap > 0.002, "the bodies collide: {overlap}");
    assert!(simulation.bodies().iter().all(|b| b.momentum().norm() > 0.05 * start.0.norm()), "all move");
    assert!((end.0 - start.0).norm() < 1e-12 * start.0.norm(), "momentum {} {}", start.0, end.0);
    assert!((end.1 - start.1).norm() < 1e-11 * start.0.norm(), "angular momentum {} {}", start.1, end.1);
    assert!((end.2 / start.2 - 1.0).abs() < 2e-3, "energy {} {}", start.2, end.2);
}

#[test]
fn prescribed_plate_compresses_a_cube_with_the_force_of_the_law() {
    let skin = 0.05;
    let mut simulation = Simulation::new(ContactSettings::new(500.0, 0.05)).unwrap();
    let mesh = Mesh::box_of_hexahedra(P3::new(0.0, 0.0, 2.0 * skin), V3::repeat(10.0), [1; 3]).unwrap();
    let mut cube = DeformableBody::new(&mesh, Material::new(5.0, 0.0, 1.1e-9).unwrap(), skin).unwrap();
    cube.set_damping(2000.0).unwrap();
    let lower = simulation.add(plate(1, 20.0, skin)).unwrap();
    let cube = simulation.add(cube).unwrap();
    let mesh =
        Mesh::box_of_hexahedra(P3::new(-5.0, -5.0, 10.0 + 4.0 * skin), V3::repeat(20.0), [1; 3]).unwrap();
    let facets = DeformableBody::new(&mesh, soft_steel(0.3), skin).unwrap().facets().to_vec();
    let mut upper = RigidBody::new(mesh.nodes, facets, skin).unwrap();
    upper.prescribe(V3::z() * -10.0, V3::zeros()).unwrap();
    let upper = simulation.add(upper).unwrap();
    let step = 0.5 * simulation.stable_step(2);
    while simulation.time() < 0.03 {
        simulation.step(step).unwrap();
    }
    simulation.change_rigid(upper, |b| b.prescribe(V3::zeros(), V3::zeros())).unwrap();
    while simulation.time() < 0.05 {
        simulation.step(step).unwrap();
    }
    let x = simulation.deformable(cube).unwrap().positions();
    let stretch = (x[4].z - x[0].z) / 10.0;
    let expected = -100.0 * 0.5 * 5.0 * (stretch * stretch * stretch - stretch);
    assert!((0.96..0.98).contains(&stretch), "{stretch}");
    let [lower, upper] = [lower, upper].map(|id| simulation.rigid(id).unwrap().force());
    assert!((upper.z / expected - 1.0).abs() < 1e-3, "{} N, expected {expected} N", upper.z);
    assert!((lower.z / expected + 1.0).abs() < 1e-3, "{} N, expected {expected} N", lower.z);
    assert!(upper.xy().norm() + lower.xy().norm() < 1e-9, "no horizontal forces: {lower} {upper}");
}

/// Box with facets as a rigid body.
fn rigid_box(corner: P3, size: V3, skin: f64) -> RigidBody {
    let mesh = Mesh::box_of_hexahedra(corner, size, [1, 1, 1]).unwrap();
    let facets = DeformableBody::new(&mesh, soft_steel(0.3), skin).unwrap().facets().to_vec();
    RigidBody::new(mesh.nodes, facets, skin).unwrap()
}

/// Plate at z = 0 of n × n squares, each split into two triangles.
fn plate(n: u32, half: f64, skin: f64) -> RigidBody {
    let at = |i: u32| half * (2.0 * f64::from(i) / f64::from(n) - 1.0);
    let nodes = (0..=n).flat_map(|j| (0..=n).map(move |i| P3::new(at(i), at(j), 0.0))).collect();
    let facets = (0..n).flat_map(|j| (0..n).map(move |i| i + (n + 1) * j)).flat_map(|k| {
        let [a, b, c, d] = [k, k + 1, k + n + 2, k + n + 1];
        [[a, b, c], [a, c, d]]
    });
    RigidBody::new(nodes, facets.collect(), skin).unwrap()
}

#[test]
fn sliding_block_stops_after_the_distance_of_coulombs_law_without_bumps() {
    let (density, g, friction, skin) = (1e-6, 9810.0, 0.3, 0.1);
    let settings = ContactSettings { friction, slip_speed: 0.5, ..ContactSettings::new(100.0, 0.05) };
    let mut simulation = Simulation::new(settings).unwrap();
    simulation.add(plate(7, 40.0, skin)).unwrap();
    // The block starts at the overlap that carries its weight with four corners.
    let overlap = density * 4.0 * g / (4.0 * 100.0);
    let mut block = rigid_box(P3::new(-20.0, -1.0, 2.0 * skin - overlap), V3::new(2.0, 2.0, 1.0), skin);
    block.set_free(density).unwrap();
    block.set_velocity(V3::x() * 250.0, V3::zeros()).unwrap();
    let block = simulation.add(block).unwrap();
    simulation.set_gravity(V3::z() * -g).unwrap();
    let start = simulation.rigid(block).unwrap().center();
    let mut heights = [f64::INFINITY, f64::NEG_INFINITY];
    while simulation.time() < 0.12 {
        simulation.step(2e-6).unwrap();
        let z = simulation.rigid(block).unwrap().center().z;
        heights = [heights[0].min(z), heights[1].max(z)];
    }
    let distance = simulation.rigid(block).unwrap().center().x - start.x;
    let expected = 250.0 * 250.0 / (2.0 * friction * g);
    assert!((distance / expected - 1.0).abs() < 0.01, "{distance} mm, expected {expected} mm");
    assert!(heights[1] - heights[0] < 0.2 * overlap, "bumps: {heights:?} with overlap {overlap}");
    let speed = simulation.rigid(block).unwrap().velocity().norm();
    assert!(speed < 0.5, "the block stands: {speed} mm/s");
}

#[test]
fn free_rigid_body_keeps_its_energy_and_angular_momentum() {
    let mut body = rigid_box(P3::origin(), V3::new(3.0, 2.0, 1.0), 0.1);
    body.set_free(1e-6).unwrap();
    assert!((body.mass().unwrap() / 6e-6 - 1.0).abs() < 1e-12, "mass");
    body.set_velocity(V3::new(1.0, 2.0, 3.0), V3::new(0.1, 10.0, 0.1)).unwrap();
    let energy = 0.5 * 6e-6 * 14.0 + 0.5 * (6e-6 / 12.0) * (0.01 * 5.0 + 100.0 * 10.0 + 0.01 * 13.0);
    assert!((body.kinetic_energy() / energy - 1.0).abs() < 1e-12, "energy");
    let angular = body.angular_momentum();
    let mut simulation = Simulation::new(ContactSettings::new(1.0, 1.0)).unwrap();
    let id = simulation.add(body).unwrap();
    let mut tilt = 1.0_f64;
    for _ in 0..20_000 {
        simulation.step(1e-3).unwrap();
        tilt = tilt.min((simulation.rigid(id).unwrap().rotation() * V3::y()).y);
    }
    let body = simulation.rigid(id).unwrap();
    assert!((body.angular_momentum() - angular).norm() < 1e-9 * angular.norm(), "angular momentum");
    assert!((body.kinetic_energy() / energy - 1.0).abs() < 1e-3, "energy {}", body.kinetic_energy() / energy);
    assert!(tilt < 0.0, "the rotation about the middle axis is not stable");
}

#[test]
fn crossing_edges_repel_one_another() {
    // Two wedges cross at right angles; no corner is near a facet.
    let wedge = |along: V3, up: f64, z: f64| {
        let across = V3::z().cross(&along);
        let top = P3::new(0.0, 0.0, z);
        let down = V3::z() * -up;
        let nodes = [top - along * 3.0, top + along * 3.0];
        let base = [-1.0, 1.0].into_iter().flat_map(|s| nodes.iter().map(move |n| n + down + across * s));
        let nodes: Vec<P3> = nodes.iter().copied().chain(base).collect();
        let mut mesh =
            Mesh { nodes, tetrahedra: vec![[0, 2, 4, 3], [0, 3, 4, 5], [0, 3, 5, 1]], ..Mesh::default() };
        if up < 0.0 {
            mesh.tetrahedra.iter_mut().for_each(|t| t.swap(0, 1));
        }
        DeformableBody::new(&mesh, Material::new(1e4, 0.3, 1e-9).unwrap(), 0.1).unwrap()
    };
    let run = |edge_contacts: bool| {
        let settings = ContactSettings { edge_contacts, ..ContactSettings::new(20.0, 0.1) };
        let mut simulation = Simulation::new(settings).unwrap();
        let lower = simulation.add(wedge(V3::x(), 1.0, 0.0)).unwrap();
        let mut upper = wedge(V3::y(), -1.0, 0.25);
        upper.set_uniform_velocity(V3::z() * -500.0).unwrap();
        let upper = simulation.add(upper).unwrap();
        let step = 0.5 * simulation.stable_step(2);
        while simulation.time() < 1e-3 {
            simulation.step(step).unwrap();
        }
        [lower, upper].map(|id| simulation.deformable(id).unwrap().momentum().z)
    };
    let [lower, upper] = run(true);
    assert!(lower < 0.9 * (lower + upper) && lower < 0.0, "the lower wedge is hit: {lower} {upper}");
    let [lower, _] = run(false);
    assert!(lower.abs() < 1e-15, "without contact of edges the wedges pass: {lower}");
}

#[test]
fn runs_that_the_skins_cannot_carry_are_refused() {
    let run = |penalty: f64, speed: f64, step: f64| {
        let mut simulation = Simulation::new(ContactSettings::new(penalty, 0.05)).unwrap();
        simulation.add(plate(2, 5.0, 0.1)).unwrap();
        let mut ball = RigidBody::sphere(P3::new(0.3, 0.2, 0.65), 0.5).unwrap();
        ball.set_free(1e-6).unwrap();
        ball.set_velocity(V3::z() * -speed, V3::zeros()).unwrap();
        simulation.add(ball).unwrap();
        (0..2000).try_for_each(|_| simulation.step(step))
    };
    assert_eq!(run(10.0, 20.0, 1e-5), Ok(()), "a bounce");
    assert!(matches!(run(1e-3, 200.0, 1e-5), Err(DeformableError::Crushed { pair: [0, 1] })), "crushed");
    assert!(matches!(run(10.0, 1e5, 1e-5), Err(DeformableError::TooFast { pair: [0, 1] })), "too fast");
    let unstable = run(1e4, 20.0, 1e-4);
    assert!(matches!(unstable, Err(DeformableError::UnstableStep { .. })), "step: {unstable:?}");
    assert_eq!(run(1e4, 20.0, 1e-6), Ok(()), "a smaller step");
}
