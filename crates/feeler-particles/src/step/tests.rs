//! Motions against closed forms, DIST's benchmarks 4.3 and 4.5, a published impact, saved states.

#![expect(
    clippy::float_cmp,
    clippy::cast_possible_truncation,
    reason = "equal to the bit is what is asked; small counts"
)]

use super::*;
use crate::facets::{FacetWall, Resolution, WallMotion};
use crate::law::Material;
use feeler_geom::math;
use nalgebra::Matrix3;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::f64::consts::PI;

const G: f64 = 9_810.0;

fn settings(gravity: f64, particles: Option<Law>) -> Settings {
    Settings { gravity: V3::new(0.0, 0.0, -gravity), particles }
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
    Wall::Plane(PlaneWall::new(P3::origin(), V3::z()).unwrap())
}

/// A ball of 1 mm that strikes a wall at 600 mm/s, without gravity; its velocity afterwards, how long it touched, how deep.
fn impact(wall: Wall, law: Law, step: f64) -> (V3, f64, f64) {
    let mut world = Simulation::new(settings(0.0, None)).unwrap();
    world.add_wall(wall, law).unwrap();
    world
        .add(Particle::sphere(1.0, 2600.0).unwrap(), &at(0.0, 0.0, 1.001), V3::z() * -600.0, V3::zeros())
        .unwrap();
    let (mut touching, mut deepest) = (0.0, 0.0_f64);
    loop {
        world.step(step).unwrap();
        let motion = world.motion(0).unwrap();
        let depth = 1.0 - motion.center.z;
        deepest = deepest.max(depth);
        if world.load(0).unwrap().force.norm() > 0.0 {
            touching += step;
        } else if touching > 0.0 {
            return (motion.velocity, touching, deepest);
        }
        assert!(world.time() < 1.0, "it comes back");
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

/// A box of 40 mm with 1,200 triangles, the floor in z = 0, fronts inwards.
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
    assert_eq!((wall.facets(), wall.left_out()), (1200, 0));
    wall
}

/// Height of the first rebound of a ball of 1 mm let go 20 mm above the floor, and its velocity just before the impact.
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
        let motion = world.motion(0).unwrap();
        let touches = world.load(0).unwrap().force.norm() > 0.0;
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
fn box_of_triangles_throws_back_as_a_plane_does() {
    // Published: a box against 1,200 triangles, ball of 1 mm, E 1e8 Pa, restitution 0.5, first impact at 0.610557 m/s.
    let (height, speed) = rebound(plane(), 0.0, 0.0);
    assert!((speed - 610.557).abs() < 0.02, "{speed}");
    // Half the velocity, a quarter of the height.
    assert!((height - 1.0 - 19.0 / 4.0).abs() < 0.03, "{height}");
    let wall = box_of_1200();
    for resolution in
        [Resolution::Reduced, Resolution::Full { cutoff: 0.5 }, Resolution::Proximity { cutoff: 0.5 }]
    {
        let mut wall = wall.clone();
        wall.set_resolution(resolution).unwrap();
        // Above a vertex, an edge, a diagonal, a face.
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
    // A ball thrown along the floor: it rolls from 2 v / (7 µ g) on, at 5/7 of its velocity.
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
                    (world.motion(0).unwrap().velocity - v * slid).norm() < 1e-3 * speed,
                    "while it slides"
                );
            }
        }
        let motion = *world.motion(0).unwrap();
        assert!((motion.velocity - v * (5.0 / 7.0)).norm() < 2e-3 * speed, "{motion:?}");
        let spin = world.spin(0).unwrap();
        let rolling = V3::z().cross(&motion.velocity);
        assert!((spin - rolling).norm() < 2e-3 * speed, "{spin} {rolling}");
        assert!(
            (world.wall_load(0).unwrap().force.z + particle.mass() * G).abs() < 1e-3 * particle.mass() * G
        );
        motion
    };
    let (a, b) = (run(wall.into()), run(plane()));
    assert!((a.center - b.center).norm() < 1e-9 && (a.velocity - b.velocity).norm() < 1e-7, "{a:?} {b:?}");
}

#[test]
fn dragged_ball_keeps_its_shear_force_in_full_mode() {
    // A turned and tilted floor: 1, 2, 200 and 20,000 triangles.
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
            assert_eq!(world.shear(k, 0, 0).len(), 1, "one contact");
        }
        world.shear(k, 0, 0)[0].1.force
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
        // The way leads over the diagonal of the two triangles too.
        assert!(
            lost.norm() < 0.9 * single.norm(),
            "{n}: reduced mode loses it, {}",
            lost.norm() / single.norm()
        );
    }
}

/// A tetrahedron, fronts outwards.
fn tetrahedron(corners: [P3; 4]) -> FacetWall {
    FacetWall::new(&corners, &[[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]).unwrap()
}

#[test]
fn dist_4_3_1_a_tetrahedron_bounces_back_on_another_one() {
    // Tip on tip, after a fall of 0.9 s; at 1.8 s it is where it was.
    let (sin, cos) = math::sin_cos(2.0 * PI / 3.0);
    let base = [
        V3::new(500.0, 0.0, 0.0),
        V3::new(500.0 * cos, 500.0 * sin, 0.0),
        V3::new(500.0 * cos, -500.0 * sin, 0.0),
    ];
    let wall = tetrahedron([base[0].into(), base[1].into(), base[2].into(), P3::new(0.0, 0.0, 700.0)]);
    let pebble = |c: V3| Pebble { center: c.into(), radius: 50.0 };
    let up = V3::z() * 700.0;
    let falling = Particle::clump(
        &[pebble(V3::zeros()), pebble(up + base[0]), pebble(up + base[1]), pebble(up + base[2])],
        7850.0,
    )
    .unwrap();
    // The contact must take less than 1e-3 of the time.
    let stiffness = falling.mass() * 1e8;
    let fall = 0.5 * G * 0.9 * 0.9;
    let mut world = Simulation::new(settings(G, None)).unwrap();
    world.add_wall(wall.into(), Law::penalty(stiffness)).unwrap();
    let start = at(0.0, 0.0, 700.0 + 50.0 + fall);
    world.add(falling, &start, V3::zeros(), V3::zeros()).unwrap();
    let beginning = *world.motion(0).unwrap();
    let step = 1e-6;
    let mut heights = Vec::new();
    let mut energies = Vec::new();
    let mut reaction = Vec::new();
    // A contact of half a period of the spring.
    let contact = PI / 1e4;
    let steps = ((1.8 + contact) / step).round() as u64;
    for k in 0..steps {
        world.step(step).unwrap();
        if k % 1000 == 999 || world.wall_load(0).unwrap().force.z != 0.0 {
            heights.push(world.motion(0).unwrap().center.z);
            energies.push(world.kinetic_energy());
        }
        if world.wall_load(0).unwrap().force.z != 0.0 {
            reaction.push(-world.wall_load(0).unwrap().force.z);
        }
    }
    let end = *world.motion(0).unwrap();
    assert!(
        (end.center - beginning.center).norm() < 1e-3 * fall,
        "{} of {fall}",
        (end.center - beginning.center).norm()
    );
    assert!(end.center.x.abs() + end.center.y.abs() < 1e-9, "vertical: {}", end.center);
    assert!(world.spin(0).unwrap().norm() < 1e-9, "it does not turn");
    // The reaction on the ground is symmetric in time.
    let n = reaction.len();
    let most = reaction.iter().copied().fold(0.0, f64::max);
    assert!(
        n > 100 && (0..n).all(|k| (reaction[k] - reaction[n - 1 - k]).abs() < 2e-2 * most),
        "{n} steps in contact"
    );
    assert!(energies.iter().all(|e| *e <= 1.001 * world.particles[0].mass * G * fall), "no energy comes in");
    assert!(heights.iter().all(|h| *h <= beginning.center.z * (1.0 + 1e-6)), "nor does it fly higher");
}

#[test]
fn dist_4_3_2_a_sphere_is_deflected_by_45_degrees_upwards() {
    // The face x + z = const. of a grounded tetrahedron, a sphere that comes along −x.
    let wall = tetrahedron([
        P3::new(0.0, -900.0, 0.0),
        P3::new(1000.0, 0.0, 0.0),
        P3::new(0.0, 900.0, 0.0),
        P3::new(0.0, 0.0, 1000.0),
    ]);
    // Both the face (struck by a ball off its middle) and its edges are inclined; the ball aims at the edge between the two.
    let slope = FacetWall::new(
        &[P3::new(1000.0, -900.0, 0.0), P3::new(1000.0, 900.0, 0.0), P3::new(0.0, 0.0, 1000.0)],
        &[[0, 1, 2]],
    )
    .unwrap();
    for (wall, name) in [(slope, "face"), (wall, "edge")] {
        let mut world = Simulation::new(settings(0.0, None)).unwrap();
        let ball = Particle::sphere(100.0, 7850.0).unwrap();
        let stiffness = ball.mass() * 1e8;
        world.add_wall(wall.into(), Law::penalty(stiffness)).unwrap();
        world.add(ball, &at(1100.0, 0.0, 400.0), V3::x() * -1000.0, V3::zeros()).unwrap();
        for _ in 0..100_000 {
            world.step(1e-5).unwrap();
        }
        // A contact is seen with a depth of up to v·Δt/2 late.
        let v = world.motion(0).unwrap().velocity;
        assert!((v - V3::z() * 1000.0).norm() < 1.0, "{name}: {v}");
        assert!(v.y == 0.0, "{name}: not sideways");
    }
}

/// How long two bars of `length` (mm) touch that strike head-on, each of `n` elements, with a penalty factor (Pa) on their
/// ends; and the velocities of their centres afterwards, as parts of the first one's before.
fn bars(n: usize, length: f64, factor: f64) -> (f64, [f64; 2]) {
    // Pa are 1e-3 kg/(mm·s²); 1 m² of cross-section.
    let (young, density, section) = (2.1e8 * 1e-3, 7.85e3 * 1e-9, 1e6);
    let h = length / n as f64;
    let (mass, bond) = (density * section * h, young * section / h);
    let radius = 0.25 * h;
    // A factor of Pa acts over a metre.
    let mut world =
        Simulation::new(settings(0.0, Some(Law::penalty(factor * 1e-3 * section / 1e3)))).unwrap();
    let v = 100.0;
    let sphere = |m: f64| {
        let pebble = [Pebble { center: P3::origin(), radius }];
        Particle::with_inertia(&pebble, m, P3::origin(), Matrix3::identity() * m * radius * radius).unwrap()
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
        if world.pairs() > 0 {
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
fn dist_4_3_3_two_bars_part_after_0_0245_s() {
    for f in [1e8, 1.2e8, 1.4e8, 1.6e8, 1.8e8, 2e8, 2.5e8] {
        println!("{f:e} {:?}", bars(1, 1e3, f));
    }
    for n in [10, 20, 40, 80] {
        println!("{n} {:?}", bars(n, 2e3, 4e10));
    }
}
