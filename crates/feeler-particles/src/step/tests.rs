//! Motions compared with closed forms, DIST's benchmarks 4.3 and 4.5, a published impact, and saved states.

#![expect(
    clippy::float_cmp,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "results are compared to the bit; counts are small"
)]

use super::*;
use crate::ExactWall;
use crate::facets::{FacetWall, Resolution, WallMotion};
use crate::law::Material;
use feeler_geom::math;
use feeler_runtime::Body;
use nalgebra::Matrix3;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::f64::consts::PI;

const G: f64 = 9_810.0;

fn id(particle: usize) -> ParticleId {
    ParticleId::new(particle)
}

fn wall_id(wall: usize) -> WallId {
    WallId::new(wall)
}

fn settings(gravity: f64, between: Option<Law>) -> SimulationSettings {
    SimulationSettings { gravity: V3::new(0.0, 0.0, -gravity), between }
}

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::translation(x, y, z)
}

/// A square from the origin with 2 n² triangles.
fn square(n: u32, size: f64) -> (Vec<P3>, Vec<[u32; 3]>) {
    let step = size / f64::from(n);
    let points =
        (0..=n).flat_map(|i| (0..=n).map(move |j| P3::new(f64::from(i) * step, f64::from(j) * step, 0.0)));
    let at = |i: u32, j: u32| i * (n + 1) + j;
    let cells = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    let triangles = cells.flat_map(|(i, j)| {
        [[at(i, j), at(i + 1, j), at(i + 1, j + 1)], [at(i, j), at(i + 1, j + 1), at(i, j + 1)]]
    });
    (points.collect(), triangles.collect())
}

fn plane() -> Wall {
    PlaneWall::new(P3::origin(), V3::z()).unwrap().into()
}

/// Impact of a sphere of 1 mm on a wall at 600 mm/s, without gravity: its velocity afterwards, the duration
/// of the contact, and the maximum depth.
fn impact(wall: Wall, law: Law, step: f64) -> (V3, f64, f64) {
    let mut world = Simulation::new(settings(0.0, None)).unwrap();
    world.add_wall(wall, law).unwrap();
    world
        .add(Particle::sphere(1.0, 2600.0).unwrap(), &at(0.0, 0.0, 1.001), V3::z() * -600.0, V3::zeros())
        .unwrap();
    let (mut touching, mut deepest) = (0.0, 0.0_f64);
    loop {
        world.step(step).unwrap();
        let motion = world.motion(id(0)).unwrap();
        let depth = 1.0 - motion.center.z;
        deepest = deepest.max(depth);
        if world.load(id(0)).unwrap().force.norm() > 0.0 {
            touching += step;
        } else if touching > 0.0 {
            return (motion.velocity, touching, deepest);
        }
        assert!(world.time() < 1.0, "the sphere rebounds");
    }
}

#[test]
fn springs_and_dashpots_as_in_closed_form() {
    let mass = Particle::sphere(1.0, 2600.0).unwrap().mass();
    assert!((mass - 4.0 / 3.0 * PI * 2600e-9).abs() < 1e-20, "{mass}");
    for restitution in [1.0, 0.9, 0.5, 0.1] {
        let stiffness = 1e3;
        let law = Law::Linear { normal: stiffness, shear: 0.0, restitution, friction: 0.0 };
        let (after, touching, _) = impact(plane(), law, 1e-7);
        assert!((after.z / 600.0 - restitution).abs() < 2e-3, "{restitution}: {after}");
        let ln = math::ln(restitution);
        let ratio = -ln / (PI * PI + ln * ln).sqrt();
        let expected = PI / ((stiffness / mass).sqrt() * (1.0 - ratio * ratio).sqrt());
        assert!((touching / expected - 1.0).abs() < 2e-3, "{restitution}: {touching} {expected}");
    }
}

#[test]
fn hertz_as_in_closed_form() {
    let steel = Material { young: 2e6, poisson: 0.3 };
    let (mass, v) = (Particle::sphere(1.0, 2600.0).unwrap().mass(), 600.0);
    let modulus = 2e6 / (2.0 * (1.0 - 0.09));
    for restitution in [1.0, 0.5, 0.2] {
        let law = Law::hertz([steel, steel], restitution, 0.0).unwrap();
        let (after, touching, deepest) = impact(plane(), law, 2e-8);
        assert!((after.z / v - restitution).abs() < 2e-3, "{restitution}: {after}");
        if restitution == 1.0 {
            let depth = math::powf(15.0 * mass * v * v / (16.0 * modulus), 0.4);
            assert!((deepest / depth - 1.0).abs() < 1e-4, "{deepest} {depth}");
            // 2 ∫ dx / √(1 − x^(5/2)) over [0, 1].
            assert!((touching / (2.943_275 * depth / v) - 1.0).abs() < 2e-3, "{touching}");
        }
    }
}

/// A box of 40 mm with 1,200 triangles, its floor at z = 0, with fronts inwards.
fn box_of_1200() -> FacetWall {
    let (face, triangles) = square(10, 40.0);
    let (mut points, mut facets) = (Vec::new(), Vec::new());
    for axis in 0..3 {
        for far in [false, true] {
            let from = points.len() as u32;
            points.extend(face.iter().map(|p| {
                let mut q = P3::origin();
                q[axis] = if far { 40.0 } else { 0.0 };
                q[(axis + 1) % 3] = p.x;
                q[(axis + 2) % 3] = p.y;
                q - V3::new(20.0, 20.0, 0.0)
            }));
            facets.extend(triangles.iter().map(|t| {
                let t = t.map(|k| k + from);
                if far { [t[0], t[2], t[1]] } else { t }
            }));
        }
    }
    let wall = FacetWall::new(&points, &facets).unwrap();
    assert_eq!((wall.facets(), wall.skipped()), (1200, 0));
    wall
}

/// Height (mm) of the first rebound of a sphere of 1 mm released 20 mm above the floor at (x, y), and
/// its speed (mm/s) just before the impact.
fn rebound(wall: Wall, x: f64, y: f64) -> (f64, f64) {
    let material = Material { young: 1e5, poisson: 0.3 };
    let mut world = Simulation::new(settings(G, None)).unwrap();
    world.add_wall(wall, Law::hertz([material, material], 0.5, 0.0).unwrap()).unwrap();
    world
        .add(Particle::sphere(1.0, 2600.0).unwrap(), &at(x, y, 20.0 - 1e-9), V3::zeros(), V3::zeros())
        .unwrap();
    let (mut struck, mut speed) = (false, 0.0);
    loop {
        world.step(1e-6).unwrap();
        let motion = world.motion(id(0)).unwrap();
        let touches = world.load(id(0)).unwrap().force.norm() > 0.0;
        if !touches && !struck {
            speed = -motion.velocity.z;
        }
        struck |= touches;
        if struck && !touches && motion.velocity.z <= 0.0 {
            assert!((motion.center.x - x).abs() < 1e-12 && (motion.center.y - y).abs() < 1e-12, "{motion:?}");
            return (motion.center.z, speed);
        }
    }
}

#[test]
fn a_box_of_triangles_and_an_exact_face_act_like_a_plane() {
    // Published: a box of 1,200 triangles, a sphere of 1 mm, E 1e8 Pa, restitution 0.5, first impact at
    // 0.610557 m/s.
    let (height, speed) = rebound(plane(), 0.0, 0.0);
    assert!((speed - 610.557).abs() < 0.02, "{speed}");
    // Half of the velocity gives a quarter of the height.
    assert!((height - 1.0 - 19.0 / 4.0).abs() < 0.03, "{height}");
    // The exact face of a block.
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/box.step");
    let body = Body::from_model(&feeler_import::prepare_step(&file).unwrap(), 0).unwrap();
    let mut exact = ExactWall::new(Arc::new(body));
    let top = exact.body().bounds().max.z;
    exact.set_pose(&Pose::translation(0.0, 0.0, -top)).unwrap();
    for (x, y) in [(0.0, 0.0), (3.0, 3.0), (0.7, -4.3)] {
        let (h, s) = rebound(exact.clone().into(), x, y);
        assert!((h - height).abs() < 1e-11 && (s - speed).abs() < 1e-9, "{x} {y}: {h} {s}");
    }
    let wall = box_of_1200();
    for resolution in
        [Resolution::Reduced, Resolution::Full { cutoff: 0.5 }, Resolution::Proximity { cutoff: 0.5 }]
    {
        let mut wall = wall.clone();
        wall.set_resolution(resolution).unwrap();
        // The sphere is above a vertex, an edge, a diagonal or a face.
        for (x, y) in [(0.0, 0.0), (2.0, 4.0), (3.0, 3.0), (0.7, -4.3)] {
            let (h, s) = rebound(wall.clone().into(), x, y);
            assert!(
                (h - height).abs() < 1e-11 && (s - speed).abs() < 1e-9,
                "{x} {y}: {h} {s}, {height} {speed}"
            );
        }
    }
}

#[test]
fn sliding_becomes_rolling_at_five_sevenths() {
    // A sphere thrown along the floor rolls after 2 v / (7 µ g), at 5/7 of its velocity.
    let (points, triangles) = square(40, 400.0);
    let mut wall = FacetWall::new(&points, &triangles).unwrap();
    wall.set_resolution(Resolution::Full { cutoff: 0.1 }).unwrap();
    let (friction, speed) = (0.3, 200.0);
    let law = Law::Linear { normal: 1e2, shear: 1e2, restitution: 0.5, friction };
    let particle = Particle::sphere(1.0, 2600.0).unwrap();
    let sag = particle.mass() * G / 1e2;
    let run = |wall: Wall| {
        let mut world = Simulation::new(settings(G, None)).unwrap();
        world.add_wall(wall, law).unwrap();
        let v = V3::new(speed, 0.3 * speed, 0.0);
        world.add(particle.clone(), &at(17.3, 111.1, 1.0 - sag), v, V3::zeros()).unwrap();
        let rolls = 2.0 * v.norm() / (7.0 * friction * G);
        for _ in 0..(1.5 * rolls / 1e-6) as u64 {
            world.step(1e-6).unwrap();
            let slid = 1.0 - friction * G * world.time() / v.norm();
            if world.time() < 0.98 * rolls {
                assert!(
                    (world.motion(id(0)).unwrap().velocity - v * slid).norm() < 1e-3 * speed,
                    "while it slides"
                );
            }
        }
        let motion = *world.motion(id(0)).unwrap();
        assert!((motion.velocity - v * (5.0 / 7.0)).norm() < 2e-3 * speed, "{motion:?}");
        let spin = world.spin(id(0)).unwrap();
        let rolling = V3::z().cross(&motion.velocity);
        assert!((spin - rolling).norm() < 2e-3 * speed, "{spin} {rolling}");
        assert!(
            (world.wall_load(wall_id(0)).unwrap().force.z + particle.mass() * G).abs()
                < 1e-3 * particle.mass() * G
        );
        motion
    };
    let (a, b) = (run(wall.into()), run(plane()));
    assert!((a.center - b.center).norm() < 1e-9 && (a.velocity - b.velocity).norm() < 1e-7, "{a:?} {b:?}");
}

#[test]
fn dragged_ball_keeps_its_shear_force_in_full_mode() {
    // A rotated floor of 1, 2, 200 and 20,000 triangles.
    let pose = Pose::new(V3::new(3.0, -7.0, 11.0), V3::new(0.4, -0.8, 0.3));
    let law = Law::Linear { normal: 10.0, shear: 7.0, restitution: 1.0, friction: f64::INFINITY };
    let along = pose.rotation * V3::new(0.8, 0.6, 0.0);
    let run = |wall: FacetWall, resolution: Resolution| {
        let mut wall = wall;
        wall.set_resolution(resolution).unwrap();
        let mut world = Simulation::new(settings(0.0, None)).unwrap();
        world.add_wall(wall.into(), law).unwrap();
        let start = pose * at(1.03, 2.01, 0.9);
        let k = world.add(Particle::sphere(1.0, 2600.0).unwrap(), &start, along * 5.0, V3::zeros()).unwrap();
        world.set_driven(k, true);
        for _ in 0..1000 {
            world.step(1e-3).unwrap();
            assert_eq!(world.shear_states(k, 0, wall_id(0)).len(), 1, "one contact");
        }
        world.shear_states(k, 0, wall_id(0))[0].1.force
    };
    let wall = |n: u32| {
        let (points, triangles) = square(n, 10.0);
        let points: Vec<P3> = points.iter().map(|p| pose * p).collect();
        FacetWall::new(&points, &triangles).unwrap()
    };
    let corners =
        [P3::new(-20.0, -20.0, 0.0), P3::new(40.0, -20.0, 0.0), P3::new(0.0, 40.0, 0.0)].map(|p| pose * p);
    let single = run(FacetWall::new(&corners, &[[0, 1, 2]]).unwrap(), Resolution::Reduced);
    assert!((single + along * 35.0).norm() < 1e-11, "stiffness times displacement: {single}");
    for n in [1, 10, 100] {
        let force = run(wall(n), Resolution::Full { cutoff: 0.0 });
        assert!(
            (force - single).norm() < 1e-12 * single.norm(),
            "{n}: {}",
            (force - single).norm() / single.norm()
        );
        let force = run(wall(n), Resolution::Proximity { cutoff: 0.1 });
        assert!(
            (force - single).norm() < 1e-12 * single.norm(),
            "{n}: {}",
            (force - single).norm() / single.norm()
        );
        let lost = run(wall(n), Resolution::Reduced);
        // The path crosses the diagonal of the two triangles, too.
        assert!(
            lost.norm() < 0.9 * single.norm(),
            "{n}: reduced mode loses it, {}",
            lost.norm() / single.norm()
        );
    }
}

/// A tetrahedron with fronts outwards.
fn tetrahedron(corners: [P3; 4]) -> FacetWall {
    FacetWall::new(&corners, &[[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]).unwrap()
}

#[test]
fn dist_4_3_1_a_tetrahedron_bounces_back_on_another_one() {
    // Tip falls on tip for 0.9 s; after 1.8 s the tetrahedron is back at its start.
    let (sin, cos) = math::sin_cos(2.0 * PI / 3.0);
    let base = [
        V3::new(500.0, 0.0, 0.0),
        V3::new(500.0 * cos, 500.0 * sin, 0.0),
        V3::new(500.0 * cos, -500.0 * sin, 0.0),
    ];
    let wall = tetrahedron([base[0].into(), base[1].into(), base[2].into(), P3::new(0.0, 0.0, 700.0)]);
    let sphere = |c: V3| Sphere { center: c.into(), radius: 50.0 };
    let up = V3::z() * 700.0;
    let falling = Particle::clump(
        &[sphere(V3::zeros()), sphere(up + base[0]), sphere(up + base[1]), sphere(up + base[2])],
        7850.0,
    )
    .unwrap();
    // The contact must take less than 1e-3 of the duration.
    let stiffness = falling.mass() * 1e8;
    let fall = 0.5 * G * 0.9 * 0.9;
    let mut world = Simulation::new(settings(G, None)).unwrap();
    world.add_wall(wall.into(), Law::penalty(stiffness)).unwrap();
    let start = at(0.0, 0.0, 700.0 + 50.0 + fall);
    world.add(falling, &start, V3::zeros(), V3::zeros()).unwrap();
    let beginning = *world.motion(id(0)).unwrap();
    let step = 1e-6;
    let mut heights = Vec::new();
    let mut energies = Vec::new();
    let mut reaction = Vec::new();
    // Duration of the contact: half a period of the spring.
    let contact = PI / 1e4;
    let steps = ((1.8 + contact) / step).round() as u64;
    for k in 0..steps {
        world.step(step).unwrap();
        if k % 1000 == 999 || world.wall_load(wall_id(0)).unwrap().force.z != 0.0 {
            heights.push(world.motion(id(0)).unwrap().center.z);
            energies.push(world.kinetic_energy());
        }
        if world.wall_load(wall_id(0)).unwrap().force.z != 0.0 {
            reaction.push(-world.wall_load(wall_id(0)).unwrap().force.z);
        }
    }
    let end = *world.motion(id(0)).unwrap();
    assert!(
        (end.center - beginning.center).norm() < 1e-3 * fall,
        "{} of {fall}",
        (end.center - beginning.center).norm()
    );
    assert!(end.center.x.abs() + end.center.y.abs() < 1e-9, "vertical: {}", end.center);
    assert!(world.spin(id(0)).unwrap().norm() < 1e-9, "no rotation");
    // The reaction on the ground is symmetric in time.
    let n = reaction.len();
    let most = reaction.iter().copied().fold(0.0, f64::max);
    assert!(
        n > 100 && (0..n).all(|k| (reaction[k] - reaction[n - 1 - k]).abs() < 2e-2 * most),
        "{n} steps in contact"
    );
    assert!(
        energies.iter().all(|e| *e <= 1.001 * world.particles[0].mass * G * fall),
        "no energy is created"
    );
    assert!(heights.iter().all(|h| *h <= beginning.center.z * (1.0 + 1e-6)), "the start is not exceeded");
}

#[test]
fn dist_4_3_2_a_sphere_is_deflected_by_45_degrees_upwards() {
    // A sphere moves along −x to the face x + z = const. of a grounded tetrahedron.
    let wall = tetrahedron([
        P3::new(0.0, -900.0, 0.0),
        P3::new(1000.0, 0.0, 0.0),
        P3::new(0.0, 900.0, 0.0),
        P3::new(0.0, 0.0, 1000.0),
    ]);
    // The sphere strikes an inclined face off its centre, and the inclined edge between two faces.
    let slope = FacetWall::new(
        &[P3::new(1000.0, -900.0, 0.0), P3::new(1000.0, 900.0, 0.0), P3::new(0.0, 0.0, 1000.0)],
        &[[0, 1, 2]],
    )
    .unwrap();
    for (wall, name) in [(slope, "face"), (wall, "edge")] {
        let mut world = Simulation::new(settings(0.0, None)).unwrap();
        let sphere = Particle::sphere(100.0, 7850.0).unwrap();
        let stiffness = sphere.mass() * 1e8;
        world.add_wall(wall.into(), Law::penalty(stiffness)).unwrap();
        world.add(sphere, &at(1100.0, 0.0, 400.0), V3::x() * -1000.0, V3::zeros()).unwrap();
        for _ in 0..100_000 {
            world.step(1e-5).unwrap();
        }
        // A contact is detected late by a depth of up to v·Δt/2.
        let v = world.motion(id(0)).unwrap().velocity;
        assert!((v - V3::z() * 1000.0).norm() < 1.0, "{name}: {v}");
        assert!(v.y == 0.0, "{name}: not sideways");
    }
}

/// Duration (s) of the contact of two bars of a length (mm) that collide head-on, each of `n` elements,
/// with a penalty factor (Pa) on their ends. Also the velocities of the bars' centres after the impact,
/// as parts of the velocity of the first bar before it.
fn bars(n: usize, length: f64, factor: f64) -> (f64, [f64; 2]) {
    // 1 Pa is 1e-3 kg/(mm·s²); the cross-section is 1 m².
    let (young, density, section) = (2.1e8 * 1e-3, 7.85e3 * 1e-9, 1e6);
    let h = length / n as f64;
    let (mass, bond) = (density * section * h, young * section / h);
    let radius = 0.25 * h;
    // A factor in Pa acts over a metre.
    let mut world =
        Simulation::new(settings(0.0, Some(Law::penalty(factor * 1e-3 * section / 1e3)))).unwrap();
    let v = 100.0;
    let sphere = |m: f64| {
        let sphere = [Sphere { center: P3::origin(), radius }];
        Particle::with_inertia(&sphere, m, P3::origin(), Matrix3::identity() * m * radius * radius).unwrap()
    };
    for bar in 0..2 {
        for k in 0..=n {
            let m = if k == 0 || k == n { 0.5 * mass } else { mass };
            let x = if bar == 0 { -radius - length + h * k as f64 } else { radius + h * k as f64 };
            let velocity = V3::x() * if bar == 0 { v } else { 0.0 };
            world.add(sphere(m), &at(x, 0.0, 0.0), velocity, V3::zeros()).unwrap();
        }
    }
    let step = 0.02 * h / (young / density).sqrt();
    let (mut last, mut open) = (0.0, 0.0);
    while open < 0.01 {
        world
            .step_with(step, |motions, loads| {
                for bar in 0..2 {
                    for k in bar * (n + 1)..bar * (n + 1) + n {
                        let force = V3::x() * (bond * (motions[k + 1].center.x - motions[k].center.x - h));
                        loads[k].force += force;
                        loads[k + 1].force -= force;
                    }
                }
            })
            .unwrap();
        if world.pair_count() > 0 {
            (last, open) = (world.time(), 0.0);
        } else {
            open += step;
        }
    }
    let mean = |bar: usize| {
        (0..=n)
            .map(|k| {
                let k = k + bar * (n + 1);
                world.motions[k].velocity.x * world.particles[k].mass / (mass * n as f64 * v)
            })
            .sum()
    };
    (last, [mean(0), mean(1)])
}

#[test]
fn dist_4_3_3_two_bars_separate_after_0_0245_s() {
    // A wave takes 2 L/c through a bar and back, 0.0245 s for bars of 2 m (DIST: 1 m, and so 4 l/c).
    let c = (2.1e8_f64 / 7.85e3).sqrt();
    assert!((4.0 / c - 0.0245).abs() < 5e-5, "{}", 4.0 / c);
    let mut before = f64::INFINITY;
    for n in [10, 80] {
        let (time, [first, second]) = bars(n, 2e3, 4e10);
        let off = (time - 4.0 / c).abs() * c / 4.0;
        assert!(off < before && off < 0.03, "{n}: {time}");
        // The bars exchange their velocities.
        assert!(
            first < 0.02 && second > 0.98 && (first + second - 1.0).abs() < 1e-9,
            "{n}: {first} {second}"
        );
        before = off;
    }
    assert!(before < 0.01, "{before}");
    // Single elements, as in DIST, are calibrated by the penalty factor: softer contacts last longer.
    let times = [4e8, 2e8, 1e8, 8.5e7].map(|f| bars(1, 1e3, f).0);
    assert!(times.windows(2).all(|t| t[0] < t[1]), "{times:?}");
    assert!((times[3] - 0.0245).abs() < 5e-4, "{times:?}");
}

/// A block of eight spheres.
fn block(size: f64, radius: f64) -> Particle {
    let corner = |k: u32, bit: u32| if k >> bit & 1 == 1 { size } else { -size };
    let sphere = |k| Sphere { center: P3::new(corner(k, 0), 1.4 * corner(k, 1), 0.5 * corner(k, 2)), radius };
    Particle::clump(&(0..8).map(sphere).collect::<Vec<_>>(), 7850.0).unwrap()
}

/// A concave trough with a step, in triangles of 10 mm.
fn concave_wall() -> FacetWall {
    let (mut points, triangles) = square(12, 120.0);
    for p in &mut points {
        p.z = 0.004 * (p.x - 60.0) * (p.x - 60.0) + if p.y > 70.0 { 3.0 } else { 0.0 };
    }
    FacetWall::new(&points, &triangles).unwrap()
}

#[test]
fn dist_4_5_ironing_does_not_depend_on_the_search() {
    // A block that spins at 1 rad/s slides over a concave body. Energies and path are equal with the tree
    // and with a search of all facets.
    let run = |search_all: bool| {
        let mut wall = concave_wall();
        wall.set_resolution(Resolution::Full { cutoff: 0.8 }).unwrap();
        wall.search_all = search_all;
        let mut world = Simulation::new(settings(G, None)).unwrap();
        world
            .add_wall(wall.into(), Law::Linear { normal: 1e4, shear: 1e4, restitution: 0.2, friction: 0.2 })
            .unwrap();
        let start = at(20.0, 50.0, 13.0);
        world.add(block(5.0, 3.0), &start, V3::new(300.0, 150.0, 0.0), V3::z()).unwrap();
        let mut out = Vec::new();
        let mut in_contact = 0;
        for _ in 0..20_000 {
            world.step(1e-5).unwrap();
            in_contact += usize::from(world.load(id(0)).unwrap().force != V3::zeros());
            let motion = world.motion(id(0)).unwrap();
            out.extend([
                world.kinetic_energy().to_bits(),
                motion.center.x.to_bits(),
                motion.center.z.to_bits(),
            ]);
        }
        assert!(in_contact > 2_000, "{in_contact} steps in contact");
        (out, world.save())
    };
    assert!(run(false) == run(true), "the same bits");
}

#[test]
fn free_clumps_preserve_momentum_and_precess() {
    // The axis of a body of revolution precesses about the angular momentum at L/I₁.
    let sphere = |z: f64| Sphere { center: P3::new(0.0, 0.0, z), radius: 1.0 };
    let rod = Particle::clump(&[sphere(-2.0), sphere(0.0), sphere(2.0)], 1000.0).unwrap();
    let mut world = Simulation::new(settings(0.0, None)).unwrap();
    let spin = V3::new(3.0, 0.0, 40.0);
    world.add(rod.clone(), &Pose::identity(), V3::zeros(), spin).unwrap();
    // A clump without symmetry.
    let odd = Particle::clump(
        &[
            sphere(0.0),
            Sphere { center: P3::new(2.0, 0.3, 0.0), radius: 0.7 },
            Sphere { center: P3::new(0.1, 1.5, 0.4), radius: 1.2 },
        ],
        1000.0,
    )
    .unwrap();
    world.add(odd, &Pose::identity(), V3::zeros(), V3::new(0.3, 25.0, 0.2)).unwrap();
    let (momenta, energy) = ([0, 1].map(|k| world.motion(id(k)).unwrap().momentum), world.kinetic_energy());
    let spins = world.spin(id(0)).unwrap();
    assert!((spins - spin).norm() < 1e-12, "{spins}");
    let (time, mut most) = (1.0, 0.0_f64);
    for _ in 0..20_000 {
        world.step(time / 20_000.0).unwrap();
        most = most.max((world.kinetic_energy() / energy - 1.0).abs());
    }
    assert_eq!([0, 1].map(|k| world.motion(id(k)).unwrap().momentum), momenta, "to the bit");
    assert!(most < 1e-6, "energy: {most}");
    let moments = rod.moments();
    let rate = momenta[0].norm() / moments.x;
    let axis = nalgebra::Rotation3::from_scaled_axis(momenta[0].normalize() * rate * time) * V3::z();
    let found = world.pose(id(0)).unwrap().rotation * V3::z();
    assert!((found - axis).norm() < 1e-5, "{found} {axis}");
}

#[test]
fn inertia_of_clumps() {
    let sphere = Particle::sphere(2.0, 1000.0).unwrap();
    let mass = 4.0 / 3.0 * PI * 8e-6;
    assert!(
        (sphere.mass() - mass).abs() < 1e-18
            && (sphere.moments() - V3::repeat(0.4 * mass * 4.0)).norm() < 1e-15
    );
    // A dumb-bell along (1, 1, 0), off the origin.
    let sphere = |s: f64| Sphere { center: P3::new(5.0 + s, 3.0 + s, 1.0), radius: 2.0 };
    let bell = Particle::clump(&[sphere(-3.0), sphere(3.0)], 1000.0).unwrap();
    assert!((bell.axes.translation.vector - V3::new(5.0, 3.0, 1.0)).norm() < 1e-14, "{}", bell.axes);
    let mut moments: Vec<f64> = bell.moments().iter().copied().collect();
    moments.sort_by(f64::total_cmp);
    let (along, across) = (2.0 * 0.4 * mass * 4.0, 2.0 * mass * (0.4 * 4.0 + 18.0));
    assert!((moments[0] - along).abs() < 1e-15 && (moments[2] - across).abs() < 1e-15, "{moments:?}");
    // The spheres keep their positions.
    let mut world = Simulation::new(settings(0.0, None)).unwrap();
    world.add(bell, &at(1.0, 0.0, 0.0), V3::zeros(), V3::zeros()).unwrap();
    let center = world.colliders[1].center(world.motion(id(0)).unwrap());
    assert!((center - P3::new(9.0, 6.0, 1.0)).norm() < 1e-14, "{center}");
    assert!((world.pose(id(0)).unwrap().translation.vector - V3::x()).norm() < 1e-14);
    // Invalid particles are refused.
    let error_of = |p: Result<Particle, SimulationError>| p.unwrap_err().to_string();
    assert!(error_of(Particle::sphere(0.0, 1.0)).contains("radii"), "no radius");
    assert!(error_of(Particle::sphere(1.0, f64::NAN)).contains("density"), "no density");
    assert!(error_of(Particle::clump(&[], 1.0)).contains("at least one"), "nothing");
    let spheres = [Sphere { center: P3::origin(), radius: 1.0 }];
    let flat = Matrix3::from_diagonal(&V3::new(1.0, 1.0, 3.0));
    assert!(
        error_of(Particle::with_inertia(&spheres, 1.0, P3::origin(), flat)).contains("moments"),
        "no body"
    );
}

#[test]
fn a_turntable_carries_its_sphere() {
    // A driven sphere sticks by friction to a wall that rotates about z. Its shear force rotates with both.
    let (points, triangles) = square(8, 20.0);
    let mut wall = FacetWall::new(&points, &triangles).unwrap();
    wall.set_resolution(Resolution::Full { cutoff: 0.0 }).unwrap();
    let law = Law::Linear { normal: 10.0, shear: 10.0, restitution: 1.0, friction: f64::INFINITY };
    let mut world = Simulation::new(settings(0.0, None)).unwrap();
    world.add_wall(wall.into(), law).unwrap();
    let sphere = world
        .add(Particle::sphere(1.0, 2600.0).unwrap(), &at(10.0, 10.0, 0.9), V3::x(), V3::zeros())
        .unwrap();
    world.set_driven(sphere, true);
    // Build up a shear force.
    for _ in 0..100 {
        world.step(1e-3).unwrap();
    }
    let before = world.shear_states(sphere, 0, wall_id(0))[0].1.force;
    assert!((before + V3::x()).norm() < 1e-12, "{before}");
    // Rotate wall and sphere about the sphere.
    let spin = V3::z() * PI;
    let center = world.motion(sphere).unwrap().center;
    let moment = world.particles[sphere.index()].inertia.x;
    let motion = world.motion_mut(sphere).unwrap();
    (motion.velocity, motion.momentum) = (V3::zeros(), spin * moment);
    let Some(Wall::Facets(wall)) = world.wall_mut(wall_id(0)) else { unreachable!("it is of facets") };
    wall.set_motion(WallMotion::Rigid { velocity: V3::zeros(), spin, center }).unwrap();
    for _ in 0..500 {
        world.step(1e-3).unwrap();
    }
    let after = world.shear_states(sphere, 0, wall_id(0))[0].1.force;
    assert!((after + V3::y()).norm() < 1e-9, "a quarter turn: {after}");
    // The load on the wall is opposite, with a moment about its reference point.
    let (load, on_wall) = (world.load(sphere).unwrap(), world.wall_load(wall_id(0)).unwrap());
    assert!((load.force + on_wall.force).norm() < 1e-15 && load.force.norm() > 1.0);
    let arm = P3::new(center.x, center.y, -0.05) - center;
    assert!((on_wall.moment + arm.cross(&load.force)).norm() < 1e-12, "{}", on_wall.moment);
}

#[test]
fn energy_is_preserved_without_loss_and_friction() {
    // Spheres collide with each other and with a box of triangles. (In concave edges of less than a right
    // angle contacts end under load, as in WALL's Figure 6c: energy is not preserved there.)
    let mut world = Simulation::new(settings(G, Some(Law::penalty(1e3)))).unwrap();
    let mut wall = box_of_1200();
    wall.set_resolution(Resolution::Full { cutoff: 0.5 }).unwrap();
    world.add_wall(wall.into(), Law::penalty(1e3)).unwrap();
    let mut rng = SmallRng::seed_from_u64(6);
    for k in 0..9 {
        let start = at(-8.0 + 8.0 * f64::from(k % 3), -8.0 + 7.0 * f64::from(k / 3), 10.0 + f64::from(k));
        let v = V3::new(rng.random_range(-100.0..100.0), rng.random_range(-50.0..50.0), 0.0);
        world.add(Particle::sphere(3.0, 2600.0).unwrap(), &start, v, V3::zeros()).unwrap();
    }
    let energy = |world: &Simulation| {
        let potential = |k: usize| world.particles[k].mass * G * world.motions[k].center.z;
        world.kinetic_energy() + (0..9).map(potential).sum::<f64>()
    };
    let before = energy(&world);
    let (mut met, mut touching) = (0, 0);
    for _ in 0..30_000 {
        world.step(1e-5).unwrap();
        met += world.pair_count();
        touching += usize::from(world.wall_load(wall_id(0)).unwrap().force != V3::zeros());
    }
    assert!(met > 0 && touching > 500, "{met} {touching}");
    while world.pair_count() > 0 || world.wall_load(wall_id(0)).unwrap().force != V3::zeros() {
        world.step(1e-5).unwrap();
    }
    assert!((energy(&world) / before - 1.0).abs() < 1e-3, "{} {before}", energy(&world));
}

/// Spheres and clumps that fall on moving walls in a mode of resolution.
fn busy(resolution: Resolution, n: u32) -> Simulation {
    let law = Law::Linear { normal: 2e3, shear: 1e3, restitution: 0.6, friction: 0.4 };
    let mut world = Simulation::new(settings(G, Some(law))).unwrap();
    let mut wall = concave_wall();
    wall.set_resolution(resolution).unwrap();
    let (velocity, spin) = (V3::new(0.0, 30.0, 10.0), V3::new(0.0, 0.3, 0.1));
    wall.set_motion(WallMotion::Rigid { velocity, spin, center: P3::new(60.0, 60.0, 0.0) }).unwrap();
    world.add_wall(wall.into(), law).unwrap();
    let mut bending = concave_wall();
    bending.set_velocity_field(|p| V3::new(0.0, 0.0, 0.4 * (p.x - 60.0))).unwrap();
    bending.set_pose(at(0.0, 0.0, -3.0));
    let steel = Material { young: 1e6, poisson: 0.3 };
    world.add_wall(bending.into(), Law::hertz([steel, steel], 0.5, 0.3).unwrap()).unwrap();
    world.add_wall(plane(), law).unwrap();
    for k in 0..n {
        let (i, j, l) = (k % 8, k / 8 % 8, k / 64);
        let start = at(15.0 + 12.0 * f64::from(i), 15.0 + 12.0 * f64::from(j), 14.0 + 13.0 * f64::from(l));
        let particle = if k % 5 == 0 { block(2.0, 1.7) } else { Particle::sphere(4.0, 2600.0).unwrap() };
        let v = V3::new(f64::from(i) * 10.0, -30.0, -400.0);
        world.add(particle, &start, v, V3::new(1.0, f64::from(j), 0.0)).unwrap();
    }
    world
}

#[test]
fn a_continued_run_ends_with_the_same_bytes() {
    for resolution in
        [Resolution::Reduced, Resolution::Full { cutoff: 0.8 }, Resolution::Proximity { cutoff: 0.8 }]
    {
        let mut whole = busy(resolution, 64);
        let mut states = Vec::new();
        for k in 0..2_000 {
            if [317, 1203, 1711].contains(&k) {
                states.push((k, whole.save()));
            }
            whole.step(2e-5).unwrap();
        }
        assert!(whole.histories.iter().any(|m| m.walls.iter().any(|w| !w.shear.is_empty())), "contacts");
        let end = whole.save();
        for (k, state) in states {
            let mut again = busy(resolution, 64);
            again.restore(&state).unwrap();
            assert!(again.save() == state, "a round trip");
            for _ in k..2_000 {
                again.step(2e-5).unwrap();
            }
            assert!(again.save() == end, "{resolution:?}, stopped at {k}");
        }
    }
}

#[test]
fn warm_steps_allocate_nothing() {
    // Spheres and a clump slide over many facets in each mode. They do not touch each other, because the
    // broad phase allocates from time to time.
    for resolution in
        [Resolution::Reduced, Resolution::Full { cutoff: 0.8 }, Resolution::Proximity { cutoff: 0.8 }]
    {
        let law = Law::Linear { normal: 2e3, shear: 1e3, restitution: 0.3, friction: 0.4 };
        let mut world = Simulation::new(settings(G, None)).unwrap();
        let mut wall = concave_wall();
        wall.set_resolution(resolution).unwrap();
        world.add_wall(wall.into(), law).unwrap();
        for (x, speed) in [(30.0, 500.0), (42.0, -500.0), (80.0, 100.0)] {
            let sphere = Particle::sphere(5.0, 2600.0).unwrap();
            world.add(sphere, &at(x, 60.0, 8.0), V3::x() * speed, V3::zeros()).unwrap();
        }
        world.add(block(3.0, 2.0), &at(60.0, 40.0, 8.0), V3::y() * 100.0, V3::zeros()).unwrap();
        for _ in 0..20_000 {
            world.step(1e-5).unwrap();
        }
        let start = world.save();
        let steps = |world: &mut Simulation, n: u32| (0..n).for_each(|_| world.step(1e-5).unwrap());
        steps(&mut world, 5_200);
        // Repeat the steps with buffers that have grown.
        world.restore(&start).unwrap();
        steps(&mut world, 5_000);
        let counted = allocation_counter::measure(|| steps(&mut world, 200));
        assert_eq!(counted.count_total, 0, "{resolution:?}");
    }
}

#[test]
fn invalid_states_are_refused() {
    let mut world = busy(Resolution::Full { cutoff: 0.8 }, 10);
    for _ in 0..800 {
        world.step(2e-5).unwrap();
    }
    let state = world.save();
    let mut error_of = |bytes: &[u8]| world.restore(bytes).unwrap_err().to_string();
    assert!(error_of(b"feeler").contains("ends after 6 bytes"), "{}", error_of(b"feeler"));
    assert!(error_of(b"something else").contains("another kind of data"), "another file");
    let mut other = state.clone();
    other[7] = 9;
    assert!(error_of(&other).contains("version 9"), "{}", error_of(&other));
    other = state.clone();
    other.push(0);
    assert!(error_of(&other).contains("checksum"), "{}", error_of(&other));
    let few = busy(Resolution::Reduced, 9).save();
    assert!(error_of(&few).contains("9 particles, but 10 are present"), "{}", error_of(&few));
    // States that are cut anywhere or have any bit changed are refused, and change nothing.
    let mut rng = SmallRng::seed_from_u64(1);
    for _ in 0..300 {
        let cut = rng.random_range(0..state.len());
        assert!(matches!(world.restore(&state[..cut]), Err(SimulationError::State(_))), "cut at {cut}");
        let mut damaged = state.clone();
        let at = rng.random_range(0..state.len());
        damaged[at] ^= 1 << rng.random_range(0..8);
        assert!(matches!(world.restore(&damaged), Err(SimulationError::State(_))), "damaged at {at}");
    }
    assert!(world.save() == state, "the simulation is unchanged");
}

#[test]
fn results_have_the_same_bytes_for_any_number_of_threads() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut world = busy(Resolution::Full { cutoff: 0.8 }, 320);
            assert!(world.colliders.len() >= MIN_PARALLEL);
            for _ in 0..600 {
                world.step(2e-5).unwrap();
            }
            world.save()
        })
    };
    let one = run(1);
    assert!(run(2) == one && run(3) == one, "the same bytes");
}

#[test]
fn invalid_laws_walls_and_steps_are_refused() {
    let law = Law::Linear { normal: 0.0, shear: 0.0, restitution: 1.0, friction: 0.0 };
    assert!(
        matches!(Simulation::new(settings(0.0, Some(law))), Err(SimulationError::Law { .. })),
        "no stiffness"
    );
    let mut world = Simulation::new(settings(0.0, None)).unwrap();
    let law = Law::Linear { normal: 1.0, shear: 0.0, restitution: 0.0, friction: 0.0 };
    assert!(world.add_wall(plane(), law).unwrap_err().to_string().contains("restitution"), "no restitution");
    assert!(matches!(world.step(f64::NAN), Err(SimulationError::Step(_))), "no time");
    let far = at(0.0, 0.0, 0.0);
    world.add(Particle::sphere(1.0, 1.0).unwrap(), &far, V3::z() * 1e99, V3::zeros()).unwrap();
    assert!(matches!(world.step(100.0), Err(SimulationError::Lost(lost)) if lost == id(0)), "gone");
    let nan = V3::new(f64::NAN, 0.0, 0.0);
    assert!(world.add(Particle::sphere(1.0, 1.0).unwrap(), &far, nan, V3::zeros()).is_err(), "no velocity");
    let bad = Material { young: -1.0, poisson: 0.3 };
    assert!(Law::hertz([bad, bad], 0.5, 0.5).is_err(), "no material");
    assert!(PlaneWall::new(P3::origin(), V3::zeros()).is_err(), "no direction");
}
