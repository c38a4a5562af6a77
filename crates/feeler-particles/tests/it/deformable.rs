//! Deformable bodies against exact walls and particles, compared with closed forms, triangles and
//! conservation laws.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "figures of the checks, shown with --nocapture")]

use feeler_deformable::{
    Ball, Body as Member, BodyId, ContactSettings, DeformableBody, DeformableError, Material, Mesh,
    RigidBody, Simulation as Deformables, SmoothShape,
};
use feeler_geom::{P3, Pose, V3, math};
use feeler_grains::convex::Grain;
use feeler_particles::{
    CouplingError, DeformableCoupling, ExactShape, Law, Particle, ParticleId, Simulation, SimulationSettings,
    Sphere,
};
use feeler_runtime::Body;
use nalgebra::{Rotation3, UnitQuaternion};
use std::f64::consts::PI;
use std::path::Path;
use std::sync::Arc;

const G: f64 = 9_810.0;

fn file(name: &str) -> Arc<Body> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data").join(name);
    Arc::new(Body::from_model(&feeler_import::load(&path).unwrap().0, 0).unwrap())
}

fn wall(name: &str, pose: &Pose) -> RigidBody {
    ExactShape::new(file(name)).rigid_body(pose).unwrap()
}

fn turned(axis: V3, angle: f64) -> UnitQuaternion<f64> {
    UnitQuaternion::from_scaled_axis(axis * angle)
}

/// Flat plate with squares of 1 mm, with its top at z = 0 and its middle at the origin.
fn flat(skin: f64) -> DeformableBody {
    let mesh =
        Mesh::box_of_hexahedra(P3::new(-6.0, -6.0, -1.0), V3::new(12.0, 12.0, 1.0), [12, 12, 1]).unwrap();
    DeformableBody::new(&mesh, Material::new(1.0, 0.3, 1e-9).unwrap(), skin).unwrap()
}

/// Force of a fixed rigid body on the flat plate without any motion.
fn force_on_flat(rigid: RigidBody, skin: f64) -> Result<V3, DeformableError> {
    let mut simulation = Deformables::new(ContactSettings::new(1.0, 0.1))?;
    simulation.add(flat(skin))?;
    let id = simulation.add(rigid)?;
    simulation.step(1e-30)?;
    Ok(simulation.rigid(id).map_or(V3::zeros(), RigidBody::force))
}

/// Block of 6 x 6 x 3 mm that slides down an inclined plane: the velocities along and across the plane.
fn slide(plane: RigidBody, plane_skin: f64, turn: UnitQuaternion<f64>, is_first: bool, belt: V3) -> Vec<V3> {
    let skin = 0.1;
    let settings = ContactSettings { friction: 0.3, slip_speed: 2.0, ..ContactSettings::new(1.0, 0.5) };
    let mut simulation = Deformables::new(settings).unwrap();
    // The block starts at the overlap that carries its weight with nine nodes.
    let overlap = 1.1e-9 * 108.0 * (turn * V3::z()).z * G / 9.0;
    let corner = P3::new(-12.0, -3.0, skin + plane_skin - overlap);
    let mut mesh = Mesh::box_of_hexahedra(corner, V3::new(6.0, 6.0, 3.0), [2, 2, 1]).unwrap();
    mesh.nodes.iter_mut().for_each(|p| *p = turn * *p);
    let mut block = DeformableBody::new(&mesh, Material::new(5.0, 0.4, 1.1e-9).unwrap(), skin).unwrap();
    block.set_uniform_velocity(turn * belt).unwrap();
    let mut plane = plane;
    plane.prescribe(turn * belt, V3::zeros()).unwrap();
    let (block, plane): (Member, Member) = (block.into(), plane.into());
    let (first, second) = if is_first { (block, plane) } else { (plane, block) };
    let ids: [BodyId; 2] = [simulation.add(first).unwrap(), simulation.add(second).unwrap()];
    let block = if is_first { ids[0] } else { ids[1] };
    simulation.set_gravity(V3::z() * -G).unwrap();
    let step = 0.9 * simulation.stable_step(2);
    let mut out = Vec::new();
    while simulation.time() < 0.05 {
        simulation.step(step).unwrap();
        let body = simulation.deformable(block).unwrap();
        out.push(turn.inverse() * (body.momentum() / body.mass()) - belt);
    }
    out
}

#[test]
fn blocks_slide_down_exact_planes_and_triangles_alike() {
    let (angle, skin) = (0.5, 0.1);
    let turn = turned(V3::y(), angle);
    // The block of 40 x 30 x 20 mm has its top in the plane.
    let pose = Pose::from_parts((turn * V3::z() * -10.0).into(), turn);
    let exact = || wall("box.step", &pose);
    let fixed = slide(exact(), 0.0, turn, true, V3::zeros());
    let bits = |v: &[V3]| v.iter().flat_map(|v| v.iter().map(|x| x.to_bits())).collect::<Vec<_>>();
    let swapped = slide(exact(), 0.0, turn, false, V3::zeros());
    assert_eq!(bits(&fixed), bits(&swapped), "the order of the bodies does not matter");
    assert_eq!(bits(&fixed), bits(&slide(exact(), 0.0, turn, true, V3::zeros())), "the same bits every time");
    let corners = [[-20.0, -15.0], [20.0, -15.0], [20.0, 15.0], [-20.0, 15.0]];
    let corners = corners.map(|[x, y]| turn * P3::new(x, y, 0.0)).to_vec();
    let triangles = RigidBody::new(corners, vec![[0, 1, 2], [0, 2, 3]], skin).unwrap();
    let triangles = slide(triangles, skin, turn, true, V3::zeros());
    let moving = slide(exact(), 0.0, turn, true, V3::new(150.0, -40.0, 0.0));
    let off = |other: &[V3]| fixed.iter().zip(other).fold(0.0_f64, |m, (a, b)| m.max((a - b).norm()));
    let expected = G * (math::sin(angle) - 0.3 * math::cos(angle)) * 0.05;
    let speed = fixed[fixed.len() - 1].x;
    println!(
        "speed {speed:.3} mm/s, closed form {expected:.3}; \
         triangles differ by {:.1e}, moving wall by {:.1e} mm/s",
        off(&triangles),
        off(&moving)
    );
    assert!((speed / expected - 1.0).abs() < 0.02, "{speed} {expected}");
    assert!(off(&triangles) < 2e-3 * speed, "triangles: {}", off(&triangles));
    assert!(off(&moving) < 1e-6 * speed, "moving wall: {}", off(&moving));
}

/// Cylinder of triangles around y, with `count` facets around.
fn cylinder(count: u32, radius: f64, axis_height: f64, turn: f64, skin: f64) -> RigidBody {
    let mut nodes = Vec::new();
    for y in [-20.0, 20.0] {
        for k in 0..count {
            let phi = 2.0 * PI * f64::from(k) / f64::from(count) + turn;
            nodes.push(P3::new(radius * math::cos(phi), y, axis_height + radius * math::sin(phi)));
        }
    }
    let facets = (0..count).flat_map(|k| {
        let (a, b) = (k, (k + 1) % count);
        [[a, a + count, b], [b, a + count, b + count]]
    });
    RigidBody::new(nodes, facets.collect(), skin).unwrap()
}

#[test]
fn cylinders_and_spheres_press_without_facet_noise() {
    let (skin, overlap) = (0.1, 0.04);
    // The cylinder of 10 mm lies along y on the plate: its axis is z of the solid.
    let across = turned(V3::x(), -0.5 * PI);
    let height = 10.0 + skin - overlap;
    let exact = |roll: f64| {
        let turn = turned(V3::y(), roll) * across;
        let pose = Pose::from_parts((V3::new(0.0, 0.0, height) + turn * V3::z() * -20.0).into(), turn);
        force_on_flat(wall("cylinder.step", &pose), skin).unwrap().z
    };
    let first = exact(0.0);
    let exact_noise = (1..8).map(|k| (exact(0.05 * f64::from(k)) / first - 1.0).abs()).fold(0.0, f64::max);
    let thin = 1e-3;
    let with_triangles = |count: u32| {
        let forces = (0..8).map(|k| {
            let turn = 2.0 * PI / f64::from(count) * f64::from(k) / 8.0;
            force_on_flat(cylinder(count, 10.0 - thin, height, turn, thin), skin).unwrap().z
        });
        let forces: Vec<f64> = forces.collect();
        let (low, high) = forces.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), f| (a.min(*f), b.max(*f)));
        (forces.iter().sum::<f64>() / 8.0, (high - low) / high)
    };
    let (coarse, coarse_noise) = with_triangles(48);
    println!(
        "cylinder: {first:.4} N with noise {exact_noise:.1e}; \
         48 facets around: {coarse:.4} N, noise {coarse_noise:.2}"
    );
    assert!(first > 0.0 && exact_noise < 1e-9, "{first} {exact_noise}");
    assert!(coarse_noise > 0.1, "triangles are noisy: {coarse_noise}");
    // Closed form: every row of 13 nodes along y has the overlap of its distance from the axis.
    let nodes: f64 = (-2_i32..=2)
        .map(|i| {
            let x = f64::from(i);
            let overlap = (skin - (math::hypot(x, height) - 10.0)).max(0.0);
            13.0 * overlap * height / math::hypot(x, height)
        })
        .sum();
    println!("closed form of the nodes alone {nodes:.4} N");
    assert!(first >= nodes * (1.0 - 1e-9) && first < 1.2 * nodes, "{first} {nodes}");
    // The sphere of the file has the forces of a ball at any position and rotation.
    for (x, y, roll) in [(0.0, 0.0, 0.0), (0.3, 0.4, 0.7), (-0.5, 0.2, 2.0)] {
        let pose = Pose::from_parts(V3::new(x, y, height).into(), turned(V3::new(1.0, 2.0, 0.3), roll));
        let file = force_on_flat(wall("sphere.step", &pose), skin).unwrap();
        let ball: Box<dyn SmoothShape> = Box::new(Ball { center: P3::origin(), radius: 10.0 });
        let ball = force_on_flat(RigidBody::smooth(vec![ball], &pose).unwrap(), skin).unwrap();
        assert!((file - ball).norm() < 1e-7 * ball.norm(), "{file} {ball}");
    }
}

#[test]
fn corners_and_edges_of_exact_blocks_press_on_the_inside_of_facets() {
    let (skin, overlap) = (0.1, 0.04);
    // A corner points down: the diagonal of the block of 40 x 30 x 20 mm is vertical.
    let corner = V3::new(20.0, 15.0, 10.0);
    let turn = UnitQuaternion::rotation_between(&corner, &-V3::z()).unwrap();
    for (x, y) in [(0.3, 0.6), (0.61, 0.33), (0.5, 0.5), (0.5, 0.0), (0.2, 0.9)] {
        let tip = V3::new(x, y, skin - overlap);
        let pose = Pose::from_parts((tip - turn * corner).into(), turn);
        let force = force_on_flat(wall("box.step", &pose), skin).unwrap();
        assert!((force.z / overlap - 1.0).abs() < 1e-6 && force.xy().norm() < 1e-6, "{x} {y}: {force}");
        // The same corner in the plate is an error that names both bodies.
        let deep = Pose::from_parts((tip - V3::z() * 0.06 - turn * corner).into(), turn);
        let error = force_on_flat(wall("box.step", &deep), skin).unwrap_err();
        assert_eq!(error, DeformableError::Crushed { pair: [0, 1] });
    }
    // An edge of 40 mm, which is horizontal, along x and at an angle to it.
    for angle in [0.0, 0.4] {
        let turn = turned(V3::z(), angle) * turned(V3::x(), 0.25 * PI);
        let down = turn.inverse() * -V3::z();
        let lowest = V3::new(0.0, 15.0 * down.y.signum(), 10.0 * down.z.signum());
        let pose = Pose::from_parts((V3::new(0.0, 0.3, skin - overlap) - turn * lowest).into(), turn);
        let force = force_on_flat(wall("box.step", &pose), skin).unwrap();
        let crossings = force.z / overlap;
        println!("edge at {angle}: {crossings:.3} contacts over 12 squares");
        assert!((12.0..60.0).contains(&crossings), "{angle}: {crossings}");
    }
}

/// Ring of hexahedra around z.
fn ring(count: u32, inner: f64, outer: f64, height: f64) -> Mesh {
    let mut mesh = Mesh::default();
    for radius in [inner, outer] {
        for z in [0.0, height] {
            for k in 0..count {
                let phi = 2.0 * PI * f64::from(k) / f64::from(count);
                mesh.nodes.push(P3::new(radius * math::cos(phi), radius * math::sin(phi), z));
            }
        }
    }
    for k in 0..count {
        let (a, b) = (k, (k + 1) % count);
        let [i0, i1, o0, o1] = [0, count, 2 * count, 3 * count];
        mesh.hexahedra.push([i0 + a, o0 + a, o0 + b, i0 + b, i1 + a, o1 + a, o1 + b, i1 + b]);
    }
    mesh
}

#[test]
fn pegs_in_exact_bores_have_the_same_force_at_every_angle() {
    let (skin, overlap, penalty) = (0.1, 0.03, 100.0);
    let force = |angle: f64| {
        let mesh = ring(24, 7.0, 10.0 - skin + overlap, 2.0);
        let mut simulation = Deformables::new(ContactSettings::new(penalty, 0.5)).unwrap();
        simulation
            .add(DeformableBody::new(&mesh, Material::new(5.0, 0.3, 1e-9).unwrap(), skin).unwrap())
            .unwrap();
        let pose = Pose::from_parts(V3::zeros().into(), turned(V3::z(), angle));
        let bore = simulation.add(wall("bore.step", &pose)).unwrap();
        simulation.step(1e-30).unwrap();
        let Member::Deformable(ring) = &simulation.bodies()[0] else { unreachable!() };
        let forces: Vec<f64> = ring.forces().iter().map(V3::norm).filter(|f| *f > 1e-9).collect();
        (forces, simulation.rigid(bore).unwrap().torque().norm())
    };
    let mut largest = 0.0_f64;
    for angle in [0.0, 0.01, 0.1, 0.123, 0.7, 1.0] {
        let (forces, torque) = force(angle);
        assert_eq!(forces.len(), 48, "all outer nodes are in contact, without other forces");
        let deviation = forces.iter().map(|f| (f / (penalty * overlap) - 1.0).abs()).fold(0.0, f64::max);
        largest = largest.max(deviation);
        assert!(torque < 1e-9, "{angle}: {torque}");
    }
    println!("largest deviation from k o at any angle: {largest:.1e}");
    assert!(largest < 1e-9, "{largest}");
}

#[test]
fn pegs_in_blind_bores_touch_the_wall_and_the_bottom() {
    let (skin, overlap, penalty) = (0.1, 0.03, 100.0);
    // The blind bore of 20 mm has its bottom at z = -10.
    let mut mesh = ring(24, 7.0, 10.0 - skin + overlap, 2.0);
    mesh.nodes.iter_mut().for_each(|p| p.z += -10.0 + skin - overlap);
    let mut simulation = Deformables::new(ContactSettings::new(penalty, 0.5)).unwrap();
    let material = Material::new(5.0, 0.3, 1e-9).unwrap();
    let id = simulation.add(DeformableBody::new(&mesh, material, skin).unwrap()).unwrap();
    let pose = Pose::from_parts(V3::zeros().into(), turned(V3::z(), 0.1));
    simulation.add(wall("blind-bore.step", &pose)).unwrap();
    simulation.step(1e-30).unwrap();
    let body = simulation.deformable(id).unwrap();
    for (p, force) in mesh.nodes.iter().zip(body.forces()) {
        let (is_outer, is_low) = (math::hypot(p.x, p.y) > 9.0, p.z < -9.0);
        let across = V3::new(p.x, p.y, 0.0).normalize() * if is_outer { -penalty * overlap } else { 0.0 };
        let expected = across + V3::z() * if is_low { penalty * overlap } else { 0.0 };
        assert!((force - expected).norm() < 1e-9, "{p}: {force} {expected}");
    }
}

#[test]
fn forces_of_free_form_walls_are_the_gradient_of_the_potential() {
    for (name, turn) in
        [("wave.step", V3::x() * PI), ("torus.step", V3::new(1.2, 0.3, 0.0)), ("loft.step", V3::zeros())]
    {
        let body = file(name);
        let turn = UnitQuaternion::from_scaled_axis(turn);
        let bounds = body.posed_bounds(&Pose::from_parts(V3::zeros().into(), turn));
        let skin = 0.2;
        let at = |by: V3| {
            let mut simulation = Deformables::new(ContactSettings::new(1.0, 0.1)).unwrap();
            simulation.add(flat(skin)).unwrap();
            let middle = bounds.center();
            let origin = V3::new(0.23 - middle.x, 0.41 - middle.y, skin - bounds.min.z) + by;
            let pose = Pose::from_parts(origin.into(), turn);
            let id = simulation.add(ExactShape::new(Arc::clone(&body)).rigid_body(&pose).unwrap()).unwrap();
            let result = simulation.step(1e-30);
            result.map(|()| {
                let count = simulation.search_counts().signed_distances;
                (simulation.energies().contact, simulation.rigid(id).unwrap().force(), count)
            })
        };
        // The bounds may be larger than the solid: lower it until it touches.
        let mut low = 0.0;
        while at(-V3::z() * low).unwrap().0 <= 0.0 {
            low += 0.02;
            assert!(low < 5.0, "{name} touches the plate");
        }
        let down = -V3::z() * (low + 0.02);
        let (energy, force, count) = at(down).unwrap();
        let h = 1e-5;
        let slope = V3::from_fn(|i, _| {
            let unit = V3::from_fn(|k, _| if i == k { h } else { 0.0 });
            -(at(down + unit).unwrap().0 - at(down - unit).unwrap().0) / (2.0 * h)
        });
        println!(
            "{name}: energy {energy:.2e} mJ, force {force:.6?} N, differences {slope:.6?}, {count} distances"
        );
        assert!((force - slope).norm() < 1e-5 * force.norm(), "{name}: {force} {slope}");
    }
}

fn particles(gravity: f64) -> Simulation {
    let between = Some(Law::Linear { normal: 2e3, shear: 1e3, restitution: 0.3, friction: 0.4 });
    Simulation::new(SimulationSettings { gravity: V3::z() * -gravity, between }).unwrap()
}

/// Mass (kg), velocity (mm/s) and kinetic energy (µJ) of a deformable body.
fn kinetic(simulation: &Deformables, id: BodyId) -> (f64, V3, f64) {
    let body = simulation.deformable(id).unwrap();
    (body.mass() * 1e3, body.momentum() / body.mass(), 1e3 * (body.kinetic_energy() + body.strain_energy()))
}

/// Impact of a particle on a free block, 1000 mm/s: relative changes of momentum, angular momentum and
/// energy.
fn impact(particle: Particle, pose: &Pose) -> [f64; 3] {
    let mut deformables = Deformables::new(ContactSettings::new(200.0, 0.5)).unwrap();
    let mesh = Mesh::box_of_hexahedra(P3::new(-3.0, -3.0, -4.0), V3::new(6.0, 6.0, 4.0), [4, 4, 3]).unwrap();
    let material = Material::new(200.0, 0.3, 2e-9).unwrap();
    let block = deformables.add(DeformableBody::new(&mesh, material, 0.2).unwrap()).unwrap();
    let mut particles = particles(0.0);
    let id = particles.add(particle, pose, V3::new(100.0, 50.0, -1000.0), V3::new(20.0, 0.0, 30.0)).unwrap();
    let mut coupling = DeformableCoupling::new();
    coupling.add(&particles, id, &mut deformables).unwrap();
    let step = 0.2 * deformables.stable_step(3);
    let sums = |particles: &Simulation, deformables: &Deformables| {
        let motion = particles.motion(id).unwrap();
        let mass = particles.mass(id).unwrap();
        let (block_mass, velocity, energy) = kinetic(deformables, block);
        let momentum = motion.velocity * mass + velocity * block_mass;
        let of_block = deformables.deformable(block).unwrap().angular_momentum() * 1e3;
        let angular = motion.momentum + motion.center.coords.cross(&motion.velocity) * mass + of_block;
        (momentum, angular, particles.kinetic_energy() + energy)
    };
    let start = sums(&particles, &deformables);
    let (mut overlap, mut is_over) = (0.0_f64, false);
    while particles.time() < 4e-3 && !is_over {
        coupling.step(&mut particles, &mut deformables, step).unwrap();
        let now = deformables.max_overlap();
        overlap = overlap.max(now);
        is_over =
            overlap > 0.004 && now <= 0.0 && particles.motion(id).unwrap().center.z > pose.translation.z;
    }
    assert!(is_over, "the particle has left, largest overlap {overlap}");
    let end = sums(&particles, &deformables);
    let arm = start.0.norm() * 3.0;
    [(end.0 - start.0).norm() / start.0.norm(), (end.1 - start.1).norm() / arm, end.2 / start.2 - 1.0]
}

#[test]
fn bouncing_particles_keep_momentum_angular_momentum_and_energy() {
    let sphere = Particle::sphere(1.5, 2_000.0).unwrap();
    let again = || impact(Particle::sphere(1.5, 2_000.0).unwrap(), &Pose::translation(0.3, 0.2, 1.8));
    assert_eq!(again().map(f64::to_bits), again().map(f64::to_bits), "the same bits every time");
    let balls = [(0.0, 0.0, 1.0), (1.2, 0.3, 0.8), (-0.9, 0.7, 0.6)];
    let balls = balls.map(|(x, y, radius)| Sphere { center: P3::new(x, y, 0.0), radius });
    let clump = Particle::clump(&balls, 2_000.0).unwrap();
    let grain = Grain::superellipsoid(V3::new(1.5, 1.2, 1.0), [0.8, 0.9]).unwrap();
    let grain = Particle::grain(&grain, 2_000.0).unwrap();
    let solid = Particle::solid(&file("ball.step"), 2_000.0).unwrap();
    let turn = turned(V3::new(0.3, 0.2, 0.5), 1.0);
    for (name, particle, height) in
        [("sphere", sphere, 1.8), ("clump", clump, 2.2), ("grain", grain, 1.9), ("solid", solid, 3.4)]
    {
        let pose = Pose::from_parts(V3::new(0.3, 0.2, height).into(), turn);
        let [momentum, angular, energy] = impact(particle, &pose);
        println!("{name}: momentum {momentum:.1e}, angular momentum {angular:.1e}, energy {energy:.1e}");
        assert!(momentum < 1e-12, "{name}: momentum {momentum}");
        // The particle's position is half a step ahead of the block's.
        assert!(angular < 1e-9, "{name}: angular momentum {angular}");
        assert!(energy.abs() < 2e-3, "{name}: energy {energy}");
    }
}

/// Membrane of 20 x 20 x 0.5 mm whose rim is fixed, with its top at z = 0: the simulation and the fixed
/// nodes.
fn membrane() -> (Deformables, BodyId, Vec<usize>) {
    let settings = ContactSettings { friction: 0.4, slip_speed: 5.0, ..ContactSettings::new(5.0, 0.3) };
    let mut deformables = Deformables::new(settings).unwrap();
    let mesh =
        Mesh::box_of_hexahedra(P3::new(-10.0, -10.0, -0.5), V3::new(20.0, 20.0, 0.5), [10, 10, 1]).unwrap();
    let mut body = DeformableBody::new(&mesh, Material::new(0.05, 0.3, 2e-8).unwrap(), 0.2).unwrap();
    let is_rim = |p: &P3| p.x.abs() > 9.9 || p.y.abs() > 9.9;
    let rim: Vec<usize> = (0..mesh.nodes.len()).filter(|&k| is_rim(&mesh.nodes[k])).collect();
    for &node in &rim {
        (0..3).for_each(|axis| body.prescribe_velocity(node, axis, 0.0).unwrap());
    }
    body.set_damping(150.0).unwrap();
    let id = deformables.add(body).unwrap();
    (deformables, id, rim)
}

#[test]
fn heaps_and_clumps_rest_on_membranes_with_their_weights_as_reaction() {
    let balls = [(0.0, 0.0, 1.0), (1.2, 0.3, 0.8), (-0.9, 0.7, 0.9)];
    let balls = balls.map(|(x, y, radius)| Sphere { center: P3::new(x, y, 0.0), radius });
    let clump = || Particle::clump(&balls, 7_800.0).unwrap();
    let sphere = || Particle::sphere(1.2, 7_800.0).unwrap();
    let heap: Vec<(Particle, V3)> = [(-1.25, -1.25), (1.25, -1.25), (-1.25, 1.25), (1.25, 1.25)]
        .iter()
        .map(|(x, y)| (sphere(), V3::new(*x, *y, 1.4)))
        .chain([(sphere(), V3::new(0.05, 0.02, 3.2))])
        .collect();
    for (name, list) in [("clump", vec![(clump(), V3::new(0.2, 0.1, 1.3))]), ("heap", heap)] {
        let (mut deformables, id, rim) = membrane();
        let mut particles = particles(G);
        let mut coupling = DeformableCoupling::new();
        let mut ids: Vec<ParticleId> = Vec::new();
        for (particle, at) in list {
            let pose = Pose::translation(at.x, at.y, at.z);
            let particle = particles.add(particle, &pose, V3::zeros(), V3::zeros()).unwrap();
            coupling.add(&particles, particle, &mut deformables).unwrap();
            ids.push(particle);
        }
        let weight = ids.iter().map(|id| particles.mass(*id).unwrap() * G * 1e-3).sum::<f64>();
        let step = 0.6 * deformables.stable_step(3);
        let (mut reaction, mut load, mut steps) = (0.0, 0.0, 0);
        while particles.time() < 0.4 {
            coupling.step(&mut particles, &mut deformables, step).unwrap();
            if particles.time() > 0.3 {
                let body = deformables.deformable(id).unwrap();
                reaction += rim.iter().map(|&n| body.reaction(n).unwrap().z).sum::<f64>();
                load += ids.iter().map(|id| coupling.load(*id).unwrap().force.z * 1e-3).sum::<f64>();
                steps += 1;
            }
        }
        let (reaction, load) = (reaction / f64::from(steps), load / f64::from(steps));
        let speed = ids.iter().map(|id| particles.motion(*id).unwrap().velocity.norm()).fold(0.0, f64::max);
        let sag =
            -deformables.deformable(id).unwrap().positions().iter().map(|p| p.z).fold(0.0, f64::min) - 0.5;
        println!(
            "{name}: weight {weight:.6} N, reaction {reaction:.6} N, load {load:.6} N, \
             speed {speed:.3} mm/s, sag {sag:.2} mm; {} distances in {} steps",
            deformables.search_counts().signed_distances,
            particles.step_count()
        );
        assert!(ids.iter().all(|id| particles.motion(*id).unwrap().center.z < 4.0), "{name} stays");
        assert!((load / weight - 1.0).abs() < 0.01, "{name}: {load} {weight}");
        assert!((reaction / weight - 1.0).abs() < 0.01, "{name}: {reaction} {weight}");
    }
}

#[test]
fn only_solids_that_are_declared_convex_are_searched_as_convex() {
    let mut unbounded = 0;
    for name in
        ["box.step", "bore.step", "blind-bore.step", "spool.step", "cone.step", "wave.step", "torus.step"]
    {
        let body = file(name);
        unbounded += i32::from(body.min_thickness() == f64::INFINITY);
        let shape = ExactShape::new(Arc::clone(&body));
        assert!(!shape.is_convex(), "{name}");
        let relative = shape.probe_spacing() / body.size();
        assert!((0.02 - 1e-12..0.1 + 1e-12).contains(&relative), "{name}: {relative}");
        assert!(shape.with_probe_spacing(f64::INFINITY).is_convex(), "{name} is declared convex");
    }
    assert!(unbounded > 0, "solids without a finite thickness");
}

#[test]
fn bounds_of_the_search_lose_no_contact_of_concave_solids() {
    let (mut touching, mut apart) = (0, 0);
    for name in ["blind-bore.step", "bore.step"] {
        let solid = file(name);
        let size = solid.size();
        let turn = turned(V3::x(), 0.5 * PI + 0.1);
        let bounds = solid.posed_bounds(&Pose::from_parts(V3::zeros().into(), turn));
        let (skin, edge) = (0.02 * size, 0.2 * size);
        let top = bounds.max.z + 1.2 * skin;
        let corner = P3::new(bounds.center().x - 0.3 * edge, bounds.center().y - 0.4 * edge, top);
        let mesh = Mesh::box_of_hexahedra(corner, V3::repeat(edge), [2; 3]).unwrap();
        let undeformed = DeformableBody::new(&mesh, Material::new(100.0, 0.3, 1e-9).unwrap(), skin).unwrap();
        let mut block = undeformed.clone();
        let speed = 50.0 * size;
        for (k, p) in mesh.nodes.iter().enumerate() {
            let spin = V3::new(30.0, 100.0, 20.0).cross(&(p - corner));
            block.set_velocity(k, spin - V3::z() * speed).unwrap();
        }
        let settings = ContactSettings::new(50.0, 0.01 * size);
        let mut simulation = Deformables::new(settings).unwrap();
        let block = simulation.add(block).unwrap();
        let exact = ExactShape::new(Arc::clone(&solid));
        let mut wall = exact.rigid_body(&Pose::from_parts(V3::zeros().into(), turn)).unwrap();
        wall.prescribe(V3::zeros(), V3::y() * 20.0).unwrap();
        let wall = simulation.add(wall).unwrap();
        simulation.set_gravity(-V3::z() * speed / 5e-3).unwrap();
        let step = (0.2 * simulation.stable_step(4)).min(0.03 * skin / speed);
        for k in 0..3000 {
            simulation.step(step).unwrap();
            let is_touching = simulation.max_overlap() > 0.0;
            if k % 50 != 0 && !(is_touching && k % 10 == 0) {
                continue;
            }
            let mut fresh = Deformables::new(settings).unwrap();
            let mut body = undeformed.clone();
            for (k, p) in simulation.deformable(block).unwrap().positions().iter().enumerate() {
                body.set_position(k, *p).unwrap();
            }
            fresh.add(body).unwrap();
            let at = simulation.rigid(wall).unwrap();
            let pose = Pose::from_parts(at.center().coords.into(), at.rotation());
            fresh.add(ExactShape::new(Arc::clone(&solid)).rigid_body(&pose).unwrap()).unwrap();
            fresh.step(1e-30).unwrap();
            let [a, b] = [&simulation, &fresh].map(|s| s.energies().contact);
            assert!((a - b).abs() <= 1e-9 * a.abs(), "{name}, step {k}: {a} {b}");
            let count = if is_touching { &mut touching } else { &mut apart };
            *count += 1;
        }
        println!("{name}: {touching} compared steps in contact, {apart} apart");
    }
    assert!(touching > 20 && apart > 5, "{touching} {apart}");
}

#[test]
fn light_particles_limit_the_stable_step() {
    let radius = 0.05;
    let setup = || {
        let (mut deformables, ..) = membrane();
        let before = deformables.stable_step(1);
        let mut particles = particles(0.0);
        // The ball overlaps the skin of 0.2 mm by 0.02 mm.
        let (particle, at) = (Particle::sphere(radius, 100.0).unwrap(), Pose::translation(0.3, 0.2, 0.23));
        let id = particles.add(particle, &at, V3::zeros(), V3::zeros()).unwrap();
        let mut coupling = DeformableCoupling::new();
        coupling.add(&particles, id, &mut deformables).unwrap();
        (deformables, particles, coupling, id, before)
    };
    let (mut deformables, mut particles, mut coupling, id, before) = setup();
    let mass = particles.mass(id).unwrap() * 1e-3;
    let moment = 0.4 * mass * radius * radius;
    // The penalty is 5 N/mm.
    let expected = 2.0 / (5.0 * 2.0 * (1.0 / mass + radius * radius / moment)).sqrt();
    let stable = deformables.stable_step(1);
    println!("stable step {stable:.2e} s, {before:.2e} s without the particle");
    assert!(stable < 0.1 * before && (stable / expected - 1.0).abs() < 1e-2, "{stable} {expected}");
    (0..10).for_each(|_| coupling.step(&mut particles, &mut deformables, 0.5 * stable).unwrap());
    let (mut deformables, mut particles, mut coupling, ..) = setup();
    let error = coupling.step(&mut particles, &mut deformables, 0.5 * before);
    assert!(
        matches!(error, Err(CouplingError::Deformable(DeformableError::UnstableStep { .. }))),
        "{error:?}"
    );
}

#[test]
fn free_exact_bodies_have_the_mass_of_the_solid_and_keep_the_energy() {
    let density = 1e-9;
    let mut deformables = Deformables::new(ContactSettings::new(50.0, 0.5)).unwrap();
    let mesh =
        Mesh::box_of_hexahedra(P3::new(-10.0, -10.0, -10.0), V3::new(20.0, 20.0, 10.0), [3, 3, 2]).unwrap();
    let mut block = DeformableBody::new(&mesh, Material::new(20.0, 0.3, 1e-9).unwrap(), 0.3).unwrap();
    block.set_uniform_velocity(V3::z() * 150.0).unwrap();
    deformables.add(block).unwrap();
    let turn = Rotation3::new(V3::new(0.5, 0.4, 0.1)).into();
    let pose = Pose::from_parts(V3::new(1.0, 2.0, 23.2).into(), turn);
    let free = ExactShape::new(file("box.step")).free_rigid_body(density, &pose).unwrap();
    assert!((free.mass().unwrap() / (density * 40.0 * 30.0 * 20.0) - 1.0).abs() < 1e-9, "mass");
    let id = deformables.add(free).unwrap();
    let sums = |s: &Deformables| {
        let momentum: V3 = s.bodies().iter().map(Member::momentum).sum();
        let angular: V3 = s.bodies().iter().map(Member::angular_momentum).sum();
        (momentum, angular, s.energies().total())
    };
    let start = sums(&deformables);
    let step = 0.2 * deformables.stable_step(3);
    let mut overlap = 0.0_f64;
    while deformables.time() < 0.03 {
        deformables.step(step).unwrap();
        overlap = overlap.max(deformables.max_overlap());
    }
    let end = sums(&deformables);
    println!(
        "overlap {overlap:.3} mm; momentum {:.1e}, angular momentum {:.1e}, energy {:.1e}; {} distances",
        (end.0 - start.0).norm() / start.0.norm(),
        (end.1 - start.1).norm() / (20.0 * start.0.norm()),
        end.2 / start.2 - 1.0,
        deformables.search_counts().signed_distances
    );
    assert!(overlap > 0.01, "the bodies collide: {overlap}");
    assert!(deformables.rigid(id).unwrap().angular_velocity().norm() > 1.0, "the solid turns");
    assert!((end.0 - start.0).norm() < 1e-12 * start.0.norm(), "momentum");
    assert!((end.1 - start.1).norm() < 1e-11 * 20.0 * start.0.norm(), "angular momentum");
    assert!((end.2 / start.2 - 1.0).abs() < 2e-3, "energy {} {}", start.2, end.2);
}

#[test]
fn steady_contact_with_exact_walls_does_not_allocate() {
    let mut simulation = Deformables::new(ContactSettings::new(20.0, 0.05)).unwrap();
    let mesh = Mesh::box_of_hexahedra(P3::new(-3.0, -3.0, 10.105), V3::repeat(6.0), [3, 3, 3]).unwrap();
    let mut cube = DeformableBody::new(&mesh, Material::new(5.0, 0.4, 1.1e-9).unwrap(), 0.1).unwrap();
    cube.set_damping(200.0).unwrap();
    simulation.add(cube).unwrap();
    simulation.add(wall("box.step", &Pose::identity())).unwrap();
    simulation.set_gravity(V3::z() * -G).unwrap();
    let step = 0.5 * simulation.stable_step(2);
    (0..4000).for_each(|_| simulation.step(step).unwrap());
    let mut overlap = 0.0_f64;
    let counted = allocation_counter::measure(|| {
        for _ in 0..500 {
            simulation.step(step).unwrap();
            overlap = overlap.max(simulation.max_overlap());
        }
    });
    assert!(overlap > 0.0, "in contact");
    assert_eq!(counted.count_total, 0, "allocations in 500 steps");
}

#[test]
fn invalid_couplings_are_errors() {
    let (mut deformables, ..) = membrane();
    let mut particles = particles(0.0);
    let id = particles
        .add(
            Particle::sphere(1.0, 1_000.0).unwrap(),
            &Pose::translation(0.0, 0.0, 5.0),
            V3::zeros(),
            V3::zeros(),
        )
        .unwrap();
    let mut coupling = DeformableCoupling::new();
    let missing = ParticleId::new(7);
    let refused = coupling.add(&particles, missing, &mut deformables);
    assert_eq!(refused, Err(CouplingError::Particle(missing)));
    let body = coupling.add(&particles, id, &mut deformables).unwrap();
    assert_eq!(coupling.body(id), Some(body));
    assert_eq!(coupling.add(&particles, id, &mut deformables), Err(CouplingError::Particle(id)));
    let error = coupling.step(&mut particles, &mut deformables, f64::NAN).unwrap_err();
    assert!(matches!(error, CouplingError::Particles(_)), "{error}");
    let error = coupling.step(&mut particles, &mut deformables, 1.0).unwrap_err();
    assert!(matches!(error, CouplingError::Deformable(DeformableError::UnstableStep { .. })), "{error}");
    particles.remove(id);
    let error = coupling.step(&mut particles, &mut deformables, 1e-6).unwrap_err();
    assert_eq!(error.to_string(), "particle 0: it does not exist, was removed, or is coupled already");
    assert_eq!(coupling.remove(id, &mut deformables), Ok(body));
    assert_eq!(coupling.body(id), None);
    assert_eq!(coupling.remove(id, &mut deformables), Err(CouplingError::Particle(id)));
    coupling.step(&mut particles, &mut deformables, 1e-6).unwrap();
}
