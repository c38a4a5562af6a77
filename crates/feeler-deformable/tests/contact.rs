//! Contact benchmarks of DIST 4.3, conservation laws and friction.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use feeler_deformable::{
    Body, BodyId, ContactSettings, DeformableBody, DeformableError, Material, Mesh, RigidBody, Simulation,
};
use feeler_geom::{P3, V3};
use nalgebra::Matrix2;
use rand::{Rng, SeedableRng, rngs::SmallRng};

/// Material of DIST 4.3 with Young's modulus 2.1e8 Pa, the value that its time of impact belongs to.
fn soft_steel(poisson: f64) -> Material {
    Material::new(210.0, poisson, 7.85e-9).unwrap()
}

fn tetrahedron(nodes: [[f64; 3]; 4]) -> Mesh {
    Mesh { nodes: nodes.map(P3::from).to_vec(), tetrahedra: vec![[0, 1, 2, 3]], hexahedra: Vec::new() }
}

/// Regular tetrahedron with edges of 1 mm, its base at z = 0 and its apex at height √(2/3), times `sign`.
fn regular(sign: f64, shift: f64) -> Mesh {
    let (third, height) = (0.75_f64.sqrt() / 3.0, (2.0_f64 / 3.0).sqrt());
    let [a, b, c] = [[-0.5, -third, 0.0], [0.5, -third, 0.0], [0.0, 2.0 * third, 0.0]];
    let mut mesh = tetrahedron([a, b, c, [0.0, 0.0, height]]);
    for node in &mut mesh.nodes {
        node.z = sign * node.z + shift;
    }
    if sign < 0.0 {
        mesh.tetrahedra[0].swap(0, 1);
    }
    mesh
}

#[test]
fn dist_4_3_1_falling_tetrahedron_returns_to_its_height_with_a_symmetric_reaction() {
    let height = (2.0_f64 / 3.0).sqrt();
    let (skin, gap) = (0.02, 0.4);
    // The apex of the upper tetrahedron falls on the apex of the lower one, whose base is supported.
    let mut lower = DeformableBody::new(&regular(1.0, 0.0), soft_steel(0.3), skin).unwrap();
    for k in 0..3 {
        lower.prescribe_velocity(k, 2, 0.0).unwrap();
    }
    let upper =
        DeformableBody::new(&regular(-1.0, gap + 2.0 * (height + skin)), soft_steel(0.3), skin).unwrap();
    let settings = ContactSettings { edge_contacts: false, ..ContactSettings::new(0.05, 0.02) };
    let mut simulation = Simulation::new(settings).unwrap();
    let lower = simulation.add(lower).unwrap();
    let upper = simulation.add(upper).unwrap();
    simulation.set_gravity(V3::new(0.0, 0.0, -9810.0)).unwrap();
    let step = 0.3 * simulation.stable_step(2);
    let weight = 9810.0 * simulation.deformable(lower).unwrap().mass();
    let reaction =
        |s: &Simulation| (0..3).map(|k| s.deformable(lower).unwrap().reaction(k).unwrap().z).sum::<f64>();
    let start = simulation.deformable(upper).unwrap().center_of_mass();
    let (mut contact, mut top) = (Vec::new(), Vec::new());
    let mut bounced = false;
    let fall = (2.0 * gap / 9810.0_f64).sqrt();
    while simulation.time() < 2.6 * fall {
        simulation.step(step).unwrap();
        let is_touching = simulation.max_overlap() > 0.0;
        bounced |= is_touching;
        if is_touching {
            contact.push((simulation.time(), reaction(&simulation) - weight));
        } else if bounced {
            top.push(simulation.deformable(upper).unwrap().center_of_mass());
        }
    }
    let highest = top.iter().map(|p| p.z).fold(f64::NEG_INFINITY, f64::max);
    assert!(((start.z - highest) / gap).abs() < 1e-3, "returned to {highest}, started at {}", start.z);
    let sideways = top.iter().map(|p| p.x.hypot_with(p.y)).fold(0.0, f64::max);
    assert!(sideways < 1e-9, "bounced sideways by {sideways}");
    // The first half of the impulse equals the second half about the middle of the contact.
    let middle = 0.5 * (contact[0].0 + contact[contact.len() - 1].0);
    let impulse = |early: bool| contact.iter().filter(|c| (c.0 < middle) == early).map(|c| c.1).sum::<f64>();
    let (early, late) = (impulse(true), impulse(false));
    assert!(early > 0.0 && (early / late - 1.0).abs() < 0.02, "impulses {early} and {late}");
}

/// Length of a horizontal vector.
trait HypotWith {
    fn hypot_with(self, other: f64) -> f64;
}
impl HypotWith for f64 {
    fn hypot_with(self, other: f64) -> f64 {
        feeler_geom::math::hypot(self, other)
    }
}

#[test]
fn dist_4_3_2_sphere_against_an_inclined_face_turns_from_horizontal_to_vertical() {
    // The face x + y + z·√2 = const is inclined by 45°; the sphere approaches along the horizontal projection
    // of its normal.
    let mesh = tetrahedron([[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 8.0_f64.sqrt()]]);
    let horizontal = V3::new(-1.0, -1.0, 0.0).normalize();
    let normal = (V3::z() - horizontal).normalize();
    let run = |young: f64| {
        let mut body = DeformableBody::new(&mesh, Material::new(young, 0.3, 7.85e-9).unwrap(), 0.02).unwrap();
        (0..3).for_each(|k| (0..3).for_each(|axis| body.prescribe_velocity(k, axis, 0.0).unwrap()));
        let on_face = P3::new(1.2, 1.2, (4.0 - 2.4) / 2.0_f64.sqrt());
        let mut ball = RigidBody::sphere(on_face + normal * 0.55 - horizontal * 0.3, 0.5).unwrap();
        ball.set_free(7.85e-9).unwrap();
        ball.set_velocity(horizontal * 1000.0, V3::zeros()).unwrap();
        let mut simulation = Simulation::new(ContactSettings::new(50.0, 0.02)).unwrap();
        simulation.add(body).unwrap();
        let ball = simulation.add(ball).unwrap();
        let step = 0.3 * simulation.stable_step(2);
        while simulation.time() < 1.5e-3 {
            simulation.step(step).unwrap();
        }
        assert!(simulation.max_overlap() <= 0.0, "the sphere has left");
        simulation.rigid(ball).unwrap().velocity() / 1000.0
    };
    let stiff = run(2.1e5);
    assert!((stiff - V3::z()).norm() < 0.02, "stiff tetrahedron: {stiff}");
    let soft = run(210.0);
    assert!(soft.z > 0.8 && soft.norm() < 1.0 + 1e-9, "soft tetrahedron: {soft}");
    assert!((soft - V3::z()).norm() > (stiff - V3::z()).norm(), "deformation keeps some horizontal motion");
}

/// Outcome of the impact of two bars, the first one at 1000 mm/s.
#[derive(Debug)]
struct Impact {
    /// Time from the first to the last contact (s).
    duration: f64,
    /// Time from the first contact to the first separation (s).
    first_duration: f64,
    /// Number of times that the bars separated.
    separations: usize,
    /// Velocities of the centres of mass after the impact (mm/s).
    velocities: [f64; 2],
    /// Relative change of the total energy.
    energy_error: f64,
}

/// Impact of two bars of square section 100 mm × 100 mm, without Poisson's ratio.
fn bar_impact(lengths: [f64; 2], elements: [u32; 2], penalty: f64, skin: f64) -> Impact {
    let material = soft_steel(0.0);
    let settings = ContactSettings { edge_contacts: false, ..ContactSettings::new(penalty, 0.5 * skin) };
    let mut simulation = Simulation::new(settings).unwrap();
    let corner = [P3::new(-lengths[0] - 2.0 * skin - 1e-3, 0.0, 0.0), P3::origin()];
    let mut ids: Vec<BodyId> = Vec::new();
    for k in 0..2 {
        let size = V3::new(lengths[k], 100.0, 100.0);
        let mesh = Mesh::box_of_hexahedra(corner[k], size, [elements[k], 1, 1]).unwrap();
        let mut body = DeformableBody::new(&mesh, material, skin).unwrap();
        if k == 0 {
            body.set_uniform_velocity(V3::x() * 1000.0).unwrap();
        }
        ids.push(simulation.add(body).unwrap());
    }
    let step = 0.5 * simulation.stable_step(2);
    let end = 2.5 * 2.0 * lengths[0].max(lengths[1]) / material.bar_wave_speed();
    let start = simulation.energies().total();
    let (mut first, mut last, mut parted) = (f64::NAN, f64::NAN, f64::NAN);
    let (mut separations, mut was_touching) = (0, false);
    while simulation.time() < end {
        simulation.step(step).unwrap();
        let is_touching = simulation.max_overlap() > 0.0;
        if was_touching && !is_touching {
            separations += 1;
            parted = if separations == 1 { simulation.time() } else { parted };
        }
        if is_touching {
            first = if first.is_nan() { simulation.time() } else { first };
            last = simulation.time();
        }
        was_touching = is_touching;
    }
    let velocity = |id: BodyId| {
        let body = simulation.deformable(id).unwrap();
        body.momentum().x / body.mass()
    };
    Impact {
        duration: last - first,
        first_duration: parted - first,
        separations,
        velocities: [velocity(ids[0]), velocity(ids[1])],
        energy_error: (simulation.energies().total() / start - 1.0).abs(),
    }
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

/// Duration of the contact of two bars of one element each, from the modes of the symmetric half: two
/// lumped masses m/2 joined by the stiffness EA/l, one of them on a wall of twice the contact stiffness.
fn one_element_duration(length: f64, penalty: f64) -> f64 {
    let (area, half_mass) = (1e4, 0.5 * 7.85e-9 * 1e4 * length);
    let (bar, contact) = (210.0 * area / length, 8.0 * penalty);
    let eigen = (Matrix2::new(bar + 2.0 * contact, -bar, -bar, bar) / half_mass).symmetric_eigen();
    let overlap = |t: f64| {
        (0..2).fold(0.0, |sum, k| {
            let (omega, shape) = (eigen.eigenvalues[k].sqrt(), eigen.eigenvectors.column(k));
            sum + shape[0] * shape.sum() / omega * feeler_geom::math::sin(omega * t)
        })
    };
    let step = 1e-7;
    let mut t = step;
    while overlap(t) > 0.0 {
        t += step;
    }
    t
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
    let unstable = run(1e4, 20.0, 1e-3);
    assert!(
        matches!(unstable, Err(DeformableError::UnstableStep { .. } | DeformableError::TooFast { .. })),
        "step"
    );
}
