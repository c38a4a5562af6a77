//! Grains in simulations, compared with spheres, closed forms, samples and the expanding polytope.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use feeler_convex::{PenetrationOutcome, PenetrationRequest, Triangle, penetration};
use feeler_geom::{P3, Pose, V3, math};
use feeler_grains::convex::{Grain, Placed};
use feeler_particles::{
    ExactWall, FacetHistory, FacetWall, Law, Material, Particle, ParticleId, PlaneWall, Resolution,
    SearchBounds, SearchCounts, Simulation, SimulationSettings, Wall,
};
use nalgebra::UnitQuaternion;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::path::Path;
use std::sync::Arc;

const G: f64 = 9_810.0;
const LAW: Law = Law::Linear { normal: 2e3, shear: 1e3, restitution: 0.7, friction: 0.4 };

fn id(particle: usize) -> ParticleId {
    ParticleId::new(particle)
}

fn world(gravity: f64, between: Option<Law>) -> Simulation {
    Simulation::new(SimulationSettings { gravity: V3::z() * -gravity, between }).unwrap()
}

fn floor() -> Wall {
    PlaneWall::new(P3::origin(), V3::z()).unwrap().into()
}

fn facets(resolution: Resolution) -> Wall {
    let mut points = Vec::new();
    let mut triangles = Vec::new();
    for k in 0..13_u32 {
        for j in 0..13_u32 {
            points.push(P3::new(7.0 * f64::from(j) - 42.0, 7.0 * f64::from(k) - 42.0, 0.0));
            if j < 12 && k < 12 {
                let at = 13 * k + j;
                triangles.extend([[at, at + 1, at + 14], [at, at + 14, at + 13]]);
            }
        }
    }
    let mut wall = FacetWall::new(&points, &triangles).unwrap();
    wall.set_resolution(resolution).unwrap();
    wall.into()
}

/// A block with its top at z = 0.
fn block() -> Wall {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/box.step");
    let model = feeler_import::load(&file).unwrap().0;
    let body = Arc::new(feeler_runtime::Body::from_model(&model, 0).unwrap());
    let bounds = body.bounds();
    let mut wall: Wall = ExactWall::new(Arc::clone(&body)).into();
    let middle = (bounds.min.coords + bounds.max.coords) * 0.5;
    wall.set_pose(Pose::translation(-middle.x, -middle.y, -bounds.max.z)).unwrap();
    wall
}

fn turned(rng: &mut SmallRng) -> UnitQuaternion<f64> {
    let q = V3::from_fn(|_, _| rng.random_range(-3.0..3.0));
    UnitQuaternion::from_scaled_axis(q)
}

fn some_grain(rng: &mut SmallRng) -> Grain {
    let mut semi = || V3::from_fn(|_, _| rng.random_range(1.0..2.5));
    let (plus, minus) = (semi(), semi());
    Grain::new(plus, minus, [rng.random_range(0.6..1.4), rng.random_range(0.6..1.4)]).unwrap()
}

/// Gauge of the grain: 1 on its surface, and homogeneous of degree 1.
fn gauge(grain: &Grain, p: &V3) -> f64 {
    let shape = grain.shape();
    let u =
        V3::from_fn(|i, _| (p[i] / if p[i] < 0.0 { shape.negative()[i] } else { shape.positive()[i] }).abs());
    let [e1, e2] = shape.exponents();
    let around = math::powf(u.x, 2.0 / e1) + math::powf(u.y, 2.0 / e1);
    math::powf(math::powf(around, e1 / e2) + math::powf(u.z, 2.0 / e2), 0.5 * e2)
}

#[test]
fn overlap_with_a_plane_is_that_of_a_sampled_surface() {
    let mut rng = SmallRng::seed_from_u64(7);
    for _ in 0..20 {
        let (grain, turn) = (some_grain(&mut rng), turned(&mut rng));
        let lowest = |direction: V3, spread: f64, rng: &mut SmallRng, best: &mut (f64, V3)| {
            let d = direction + V3::from_fn(|_, _| rng.random_range(-spread..spread));
            let z = (turn * (d / gauge(&grain, &d))).z;
            if z < best.0 {
                *best = (z, d.normalize());
            }
        };
        let mut best = (f64::INFINITY, V3::z());
        for k in 0..60_000 {
            let (from, spread) = if k < 20_000 {
                (V3::zeros(), 1.0)
            } else {
                (best.1, math::powf(10.0, -f64::from(k - 20_000) / 8_000.0))
            };
            lowest(from, spread, &mut rng, &mut best);
        }
        let mut world = world(0.0, None);
        let law = Law::Linear { normal: 1e3, shear: 0.0, restitution: 1.0, friction: 0.0 };
        world.add_wall(floor(), law).unwrap();
        let height = -best.0 - 0.25;
        let pose = Pose::from_parts(V3::new(3.0, -2.0, height).into(), turn);
        world.add(Particle::grain(&grain, 2_500.0).unwrap(), &pose, V3::zeros(), V3::zeros()).unwrap();
        world.step(1e-9).unwrap();
        let overlap = world.load(id(0)).unwrap().force.z / 1e3;
        assert!((overlap - 0.25).abs() < 1e-7, "{overlap} {grain:?}");
    }
}

#[test]
fn overlap_with_a_facet_is_that_of_the_expanding_polytope() {
    let mut rng = SmallRng::seed_from_u64(11);
    let (mut met, mut apart, mut beside, mut others) = (0, 0, 0, 0);
    for case in 0..6_000 {
        let grain = some_grain(&mut rng);
        let pose = Pose::from_parts(V3::from_fn(|_, _| rng.random_range(-0.5..0.5)).into(), turned(&mut rng));
        let placed = Placed::new(&grain, &pose).unwrap();
        // A triangle of random size with its base point just inside the surface.
        let n = (turned(&mut rng) * V3::z()).normalize();
        let (on, _) = placed.surface(&n);
        let size = math::powf(10.0, rng.random_range(-1.0..1.0));
        let tilt = turned(&mut rng);
        let base = on - n * rng.random_range(-0.05..0.1);
        let mut corner =
            || base + tilt * (V3::new(rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0), 0.0) * size);
        let corners = [corner(), corner(), corner()];
        let area = (corners[1] - corners[0]).cross(&(corners[2] - corners[0])).norm();
        if area < 1e-2 * size * size {
            continue;
        }
        let wall = FacetWall::new(&corners, &[[0, 1, 2]]).unwrap();
        let found = wall.grain_contacts(&mut FacetHistory::default(), &placed, grain.radius()).to_vec();
        let request = PenetrationRequest { rel_tol: 1e-9, ..PenetrationRequest::default() };
        let expected = penetration(&placed, &Triangle::new(corners).unwrap(), &request);
        if expected.outcome == PenetrationOutcome::Separated {
            assert!(found.is_empty(), "{case}: {found:?}");
            apart += 1;
            continue;
        }
        let front = wall.normal(0).unwrap().dot(&(placed.origin() - wall.corners(0).unwrap()[0]));
        let displacement = -expected.direction;
        // The shortest displacement from a facet deep inside may lead to its other side.
        let is_same_side = displacement.dot(&wall.normal(0).unwrap()) * front > 0.0;
        if expected.depth > 0.1 || expected.depth < 1e-6 || !is_same_side {
            continue;
        }
        let [found] = found[..] else { panic!("{case}: {} contacts, depth {}", found.len(), expected.depth) };
        let overlap = -found.contact.gap;
        met += 1;
        // The overlap is never below the minimum, and above it in few cases: small facets deep inside have
        // several local minima.
        let off = overlap - expected.depth;
        assert!(off > -1e-6, "{case}: {overlap}, not {}: {found:?}", expected.depth);
        if off > 1e-6 {
            others += 1;
            assert!(off < 0.1 * expected.depth, "{case}: {overlap}, not {}: {found:?}", expected.depth);
        }
        beside += u32::from(found.region != feeler_particles::FacetRegion::Face);
    }
    assert!(100 * others < met, "{others} of {met} overlaps are not the minimum");
    assert!(
        met > 500 && apart > 500 && beside > 200,
        "{met} in contact, {beside} of them at edges, {apart} apart"
    );
}

/// Maximum difference (see `apart`) between a run with grains that are spheres and a run with spheres,
/// and between the latter and a run whose spheres start higher by rounding. Hertz's law, whose stiffness
/// starts at 0, amplifies rounding.
fn compared_with_spheres(between: Law, walls: impl Fn() -> Vec<Wall>, law: Law, mixed: bool) -> [f64; 2] {
    let run = |are_grains: [bool; 2], lifted: f64| {
        let mut world = world(G, Some(between));
        for wall in walls() {
            world.add_wall(wall, law).unwrap();
        }
        for (k, is_grain) in are_grains.into_iter().enumerate() {
            let radius = 2.0 + 0.5 * k as f64;
            let grain = Grain::superellipsoid(V3::repeat(radius), [1.0, 1.0]).unwrap();
            let sphere = Particle::sphere(radius, 2_500.0).unwrap();
            let particle = if is_grain { Particle::grain(&grain, 2_500.0).unwrap() } else { sphere };
            let pose =
                Pose::translation(-1.3 + 5.2 * k as f64, 0.4 * k as f64, 2.05 + 0.7 * k as f64 + lifted);
            let velocity = V3::new(30.0 - 60.0 * k as f64, 12.0, -50.0);
            world.add(particle, &pose, velocity, V3::new(3.0, -20.0, 7.0 * k as f64)).unwrap();
        }
        let mut met = 0;
        let mut places = Vec::new();
        for _ in 0..4_000 {
            world.step(1e-5).unwrap();
            met += world.pair_count();
            places.extend((0..2).map(|k| *world.motion(id(k)).unwrap()));
        }
        let heights = [0, 1].map(|k| world.motion(id(k)).unwrap().center.z);
        assert!(met > 10 && heights[0] > 1.0 && heights[1] > 1.0, "{met} pairs, {heights:?}");
        places
    };
    let spheres = run([false, false], 0.0);
    let off =
        |other: &[feeler_particles::ParticleMotion]| spheres.iter().zip(other).map(apart).fold(0.0, f64::max);
    [off(&run([true, !mixed], 0.0)), off(&run([false, false], 1e-15))]
}

fn apart((a, b): (&feeler_particles::ParticleMotion, &feeler_particles::ParticleMotion)) -> f64 {
    // Lengths in mm, velocities relative to 100 mm/s, spins relative to 20 rad/s.
    let (v, l) = ((a.velocity - b.velocity).norm() / 100.0, (a.momentum - b.momentum).norm() / 2.6e-3);
    (a.center - b.center).norm().max(v).max(l)
}

#[test]
fn grains_that_are_balls_move_compared_with_spheres() {
    let steel = Material { young: 1e6, poisson: 0.3 };
    let hertz = Law::hertz([steel, steel], 0.6, 0.3).unwrap();
    let corner = || {
        let wall = PlaneWall::new(P3::new(-3.4, 0.0, 0.0), V3::new(1.0, 0.1, 0.2)).unwrap();
        vec![floor(), wall.into()]
    };
    for (what, [off, rounding]) in [
        ("exact, springs", compared_with_spheres(LAW, || vec![block()], LAW, true)),
        ("plane", compared_with_spheres(LAW, || vec![floor()], LAW, false)),
        ("planes, Hertz", compared_with_spheres(hertz, corner, hertz, false)),
        ("sphere and grain", compared_with_spheres(hertz, corner, LAW, true)),
        ("facets", compared_with_spheres(LAW, || vec![facets(Resolution::Reduced)], LAW, false)),
        ("full", compared_with_spheres(LAW, || vec![facets(Resolution::Full { cutoff: 0.5 })], hertz, true)),
        (
            "proximity",
            compared_with_spheres(LAW, || vec![facets(Resolution::Proximity { cutoff: 0.5 })], LAW, false),
        ),
        ("exact", compared_with_spheres(LAW, || vec![block()], hertz, false)),
    ] {
        assert!(off < f64::max(1e-9, 10.0 * rounding), "{what}: {off:e}, of rounding {rounding:e}");
    }
}

/// Grains move alike on flat walls of all kinds: triangles and exact faces are compared with a plane.
#[test]
fn flat_walls_of_all_kinds_are_alike() {
    let mut rng = SmallRng::seed_from_u64(19);
    for case in 0..6 {
        let (grain, turn) = (some_grain(&mut rng), turned(&mut rng));
        let run = |wall: Wall| {
            let mut world = world(G, None);
            world.add_wall(wall, LAW).unwrap();
            let pose = Pose::from_parts(V3::new(-1.3, 0.4, grain.radius() + 0.1).into(), turn);
            let spin = V3::new(9.0, -20.0, 4.0);
            world
                .add(Particle::grain(&grain, 2_500.0).unwrap(), &pose, V3::new(60.0, 40.0, -100.0), spin)
                .unwrap();
            let mut met = 0;
            let path: Vec<_> = (0..5_000)
                .map(|_| {
                    world.step(1e-5).unwrap();
                    met += world.wall_contact_count();
                    *world.motion(id(0)).unwrap()
                })
                .collect();
            assert!(met > 50, "{case}: {met} steps in contact");
            path
        };
        let known = run(floor());
        for (what, wall) in [
            ("full", facets(Resolution::Full { cutoff: 0.5 })),
            ("proximity", facets(Resolution::Proximity { cutoff: 0.5 })),
            ("exact", block()),
        ] {
            let off = known.iter().zip(&run(wall)).map(apart).fold(0.0, f64::max);
            assert!(off < 1e-8, "{case}, {what}: {off:e}");
        }
    }
}

#[test]
fn a_rocking_ellipsoid_keeps_its_energy() {
    let semi = V3::new(3.0, 1.5, 1.0);
    let grain = Grain::superellipsoid(semi, [1.0, 1.0]).unwrap();
    let stiffness = 2e4;
    let law = Law::Linear { normal: stiffness, shear: 0.0, restitution: 1.0, friction: 0.0 };
    let run = |step: f64| {
        let mut world = world(G, None);
        world.add_wall(floor(), law).unwrap();
        let turn = UnitQuaternion::from_scaled_axis(V3::new(0.1, 0.5, 0.0));
        let particle = Particle::grain(&grain, 2_500.0).unwrap();
        let mass = particle.mass();
        let pose = Pose::from_parts(V3::new(0.0, 0.0, 1.7).into(), turn);
        world.add(particle, &pose, V3::zeros(), V3::new(0.0, 0.0, 5.0)).unwrap();
        let energy = |world: &Simulation| {
            let pose = world.pose(id(0)).unwrap();
            // The lowest point of an ellipsoid in closed form.
            let n = (pose.rotation.inverse() * V3::z()).component_mul(&semi);
            let overlap = (n.norm() - pose.translation.z).max(0.0);
            world.kinetic_energy() + mass * G * pose.translation.z + 0.5 * stiffness * overlap * overlap
        };
        let start = energy(&world);
        let (mut worst, mut tilts, mut before) = (0.0_f64, 0, 0.0);
        while world.time() < 0.4 {
            world.step(step).unwrap();
            worst = worst.max((energy(&world) - start).abs());
            let spin = world.spin(id(0)).unwrap().y;
            tilts += u32::from(spin * before < 0.0);
            before = spin;
        }
        assert!(tilts > 4, "{tilts}: it rocks");
        worst / (mass * G * semi.z)
    };
    let (coarse, fine) = (run(4e-6), run(2e-6));
    assert!(coarse < 1e-3 && fine < 0.5 * coarse, "{coarse:e} {fine:e}");
}

#[test]
fn forces_of_two_grains_on_each_other_are_opposite() {
    let mut rng = SmallRng::seed_from_u64(3);
    let mut met = 0;
    for case in 0..20 {
        let mut world = world(0.0, Some(LAW));
        for k in 0..2 {
            let pose = Pose::from_parts(V3::new(5.5 * f64::from(k), 0.3, 0.0).into(), turned(&mut rng));
            let grain = Particle::grain(&some_grain(&mut rng), 2_500.0).unwrap();
            let velocity = V3::new(400.0 - 800.0 * f64::from(k), 20.0, 5.0);
            world.add(grain, &pose, velocity, V3::from_fn(|_, _| rng.random_range(-50.0..50.0))).unwrap();
        }
        let sums = |world: &Simulation| {
            (0..2).fold((V3::zeros(), V3::zeros()), |(p, l), k| {
                let (m, mass) = (world.motion(id(k)).unwrap(), world.mass(id(k)).unwrap());
                (p + m.velocity * mass, l + m.momentum + m.center.coords.cross(&m.velocity) * mass)
            })
        };
        let (p, l) = sums(&world);
        for _ in 0..1_500 {
            world.step(1e-5).unwrap();
            if world.pair_count() > 0 {
                met += 1;
                let (a, b) = (world.load(id(0)).unwrap().force, world.load(id(1)).unwrap().force);
                assert!(a == -b && a.norm() > 0.0, "{case}: {a} {b}");
            }
        }
        let (q, m) = sums(&world);
        let size = world.mass(id(0)).unwrap() * 400.0;
        assert!((p - q).norm() < 1e-11 * size && (l - m).norm() < 1e-9 * size, "{case}: {} {}", p - q, l - m);
    }
    assert!(met > 500, "{met} steps in contact");
}

/// Spheres and grains above a floor of facets, a block and a plane.
fn busy(n: u32) -> Simulation {
    let mut rng = SmallRng::seed_from_u64(5);
    let mut world = world(G, Some(LAW));
    world.add_wall(facets(Resolution::Full { cutoff: 0.5 }), LAW).unwrap();
    let mut block = block();
    block.set_pose(*block.pose() * Pose::translation(0.0, 0.0, 3.0)).unwrap();
    world.add_wall(block, LAW).unwrap();
    world.add_wall(PlaneWall::new(P3::new(-14.0, 0.0, 0.0), V3::x()).unwrap().into(), LAW).unwrap();
    for k in 0..n {
        let (i, j, l) = (k % 6, k / 6 % 6, k / 36);
        let start = V3::new(f64::from(i), f64::from(j), f64::from(l)) * 5.2 + V3::new(-12.0, -12.0, 6.5);
        let pose = Pose::from_parts(start.into(), turned(&mut rng));
        let particle = match k % 3 {
            0 => Particle::sphere(2.0, 2_600.0),
            _ => Particle::grain(&some_grain(&mut rng), 2_600.0),
        };
        world.add(particle.unwrap(), &pose, V3::new(20.0, 0.0, -300.0), V3::new(1.0, 9.0, 0.0)).unwrap();
    }
    world
}

#[test]
fn a_continued_run_ends_with_the_same_bytes() {
    let mut whole = busy(40);
    let mut states = Vec::new();
    let (mut pairs, mut beside) = (0, 0);
    for k in 0..1_200 {
        if [517, 903].contains(&k) {
            states.push((k, whole.save()));
        }
        whole.step(2e-5).unwrap();
        pairs += whole.pair_count();
        beside += whole.wall_contact_count();
    }
    let end = whole.save();
    assert!(pairs > 100 && beside > 1_000, "{pairs} {beside}");
    for (k, state) in states {
        let mut again = busy(40);
        again.restore(&state).unwrap();
        assert!(again.save() == state, "as it was saved");
        for _ in k..1_200 {
            again.step(2e-5).unwrap();
        }
        assert!(again.save() == end, "stopped at {k}");
    }
}

#[test]
fn bounds_of_distances_save_searches_and_change_no_byte() {
    let run = |bounds: Option<SearchBounds>| {
        let mut world = busy(120);
        bounds.iter().for_each(|b| world.measure_search(*b));
        for k in 0..1_500 {
            world.step(2e-5).unwrap();
            // Bounds must not survive jumps and changes of the set of particles, which clear all of them.
            if k == 600 {
                let other = world.motion(id(8)).unwrap().center;
                world.motion_mut(id(7)).unwrap().center = other + V3::new(0.4, 0.0, 0.0);
            }
            if k == 700 {
                world.remove(id(11));
            }
            if k == 800 {
                let grain = Grain::superellipsoid(V3::new(2.5, 1.0, 1.0), [1.0, 1.0]).unwrap();
                let at = Pose::translation(0.0, 0.0, 12.0);
                world
                    .add(Particle::grain(&grain, 2_600.0).unwrap(), &at, V3::z() * -500.0, V3::zeros())
                    .unwrap();
            }
        }
        (world.save(), world.search_counts())
    };
    let plain = run(None);
    assert!(plain.1.is_none(), "counts are requested");
    let [used, ignored] = [SearchBounds::Used, SearchBounds::Ignored].map(|bounds| run(Some(bounds)));
    assert!(plain.0 == used.0 && used.0 == ignored.0, "the same bytes");
    assert_eq!(used.1, ignored.1, "the same pairs; none that overlaps is excluded");
    let SearchCounts { excluded, searched, missed, .. } = used.1.unwrap();
    assert!(excluded > 2 * searched && searched > 1_000 && missed == 0, "{excluded} {searched} {missed}");
}

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut world = busy(300);
            for _ in 0..500 {
                world.step(2e-5).unwrap();
            }
            world.save()
        })
    };
    let one = run(1);
    assert!(run(3) == one, "the same bytes");
}

#[test]
fn grains_without_a_mass_are_refused() {
    let grain = Grain::superellipsoid(V3::repeat(1.0), [1.0, 1.0]).unwrap();
    assert!(Particle::grain(&grain, 0.0).unwrap_err().to_string().contains("density"));
    let layered = grain.dilated(0.1).unwrap();
    assert!(Particle::grain(&layered, 1.0).unwrap_err().to_string().contains("layer"));
    let sphere = Particle::grain(&grain, 2_500.0).unwrap();
    let known = Particle::sphere(1.0, 2_500.0).unwrap();
    assert!((sphere.mass() - known.mass()).abs() < 1e-14 * known.mass());
    assert!((sphere.moments() - known.moments()).norm() < 1e-13 * known.moments().norm());
}
