//! Particles that are prepared solids, compared with spheres, closed forms and conservation laws.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use feeler_geom::{P3, Pose, V3};
use feeler_grains::convex::Grain;
use feeler_grains::nurbs::NurbsGrain;
use feeler_import::MeshOptions;
use feeler_particles::{
    ExactWall, FacetWall, Law, Material, Particle, ParticleId, PlaneWall, SearchBounds, SearchCounts,
    Simulation, SimulationError, SimulationSettings, Wall, WallId,
};
use feeler_runtime::Body;
use nalgebra::UnitQuaternion;
use std::path::Path;
use std::sync::Arc;

const G: f64 = 9_810.0;
const LAW: Law = Law::Linear { normal: 2e3, shear: 1e3, restitution: 0.7, friction: 0.4 };
const DENSITY: f64 = 2_500.0;

fn id(particle: usize) -> ParticleId {
    ParticleId::new(particle)
}

fn wall_id(wall: usize) -> WallId {
    WallId::new(wall)
}

fn world(gravity: f64, law: Law) -> Simulation {
    Simulation::new(SimulationSettings { gravity: V3::z() * -gravity, between: Some(law) }).unwrap()
}

fn file(name: &str) -> Arc<Body> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data").join(name);
    let model = feeler_import::load(&path).unwrap().0;
    Arc::new(Body::from_model(&model, 0).unwrap())
}

fn body(grain: &NurbsGrain) -> Arc<Body> {
    let model = feeler_import::prepare_grain("grain", grain.surface()).unwrap();
    Arc::new(Body::from_model(&model, 0).unwrap())
}

/// A block with its top at z = 0.
fn block() -> Wall {
    let body = file("box.step");
    let bounds = *body.bounds();
    let mut wall: Wall = ExactWall::new(body).into();
    let middle = bounds.center();
    wall.set_pose(Pose::translation(-middle.x, -middle.y, -bounds.max.z)).unwrap();
    wall
}

/// A plate of 200 by 200 by 20 mm, made of triangles, with its top at z = 0.
fn plate() -> Wall {
    let corner = |k: u32| {
        let of = |bit: u32, low: f64, high: f64| if k & bit == 0 { low } else { high };
        P3::new(of(1, -100.0, 100.0), of(2, -100.0, 100.0), of(4, -20.0, 0.0))
    };
    let points: Vec<P3> = (0..8).map(corner).collect();
    let sides = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles: Vec<[u32; 3]> =
        sides.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
    let model = feeler_import::prepare_mesh("plate", &points, &triangles, MeshOptions::default()).unwrap();
    let counts = (model.solids.len(), model.solids[0].faces.len(), model.solids[0].edges.len());
    assert_eq!(counts, (1, 6, 12), "triangles of one plane are one face");
    ExactWall::new(Arc::new(Body::from_model(&model, 0).unwrap())).into()
}

fn plane() -> Wall {
    PlaneWall::new(P3::origin(), V3::z()).unwrap().into()
}

fn hertz() -> Law {
    let material = Material { young: 1e4, poisson: 0.3 };
    Law::hertz([material, material], 0.8, 0.3).unwrap()
}

/// Maximum difference of positions and velocities of two runs, one of spheres and one of solids that are
/// spheres in rotated coordinates. If `with_spheres`, some particles of the second run are spheres, too.
fn compared(law: Law, with_spheres: bool) -> f64 {
    let sphere = body(&NurbsGrain::sphere(1.5).unwrap());
    let mut worst = 0.0_f64;
    let mut worlds: Vec<Simulation> = (0..2)
        .map(|k| {
            let mut world = world(G, law);
            world.add_wall(block(), law).unwrap();
            for j in 0..5_u32 {
                let solid = k == 1 && !(with_spheres && j % 2 == 0);
                let particle = if solid {
                    Particle::solid(&sphere, DENSITY).unwrap()
                } else {
                    Particle::sphere(1.5, DENSITY).unwrap()
                };
                let turn = UnitQuaternion::from_euler_angles(0.3 * f64::from(j), 1.0, 0.7);
                let turn = if solid { turn } else { UnitQuaternion::identity() };
                let at = V3::new(0.9 * f64::from(j), 0.3 * f64::from(j), 1.6 + 3.1 * f64::from(j));
                let pose = Pose::from_parts(at.into(), turn);
                world.add(particle, &pose, V3::new(20.0, -10.0, -100.0), V3::new(1.0, 2.0, 3.0)).unwrap();
            }
            world
        })
        .collect();
    let mut met = 0;
    for _ in 0..3_000 {
        for world in &mut worlds {
            world.step(1e-5).unwrap();
        }
        met += worlds[1].pair_count() + worlds[1].wall_contact_count();
        for j in 0..5 {
            let [m, n] = [0, 1].map(|k| *worlds[k].motion(id(j)).unwrap());
            worst = worst.max((m.center - n.center).norm()).max(1e-3 * (m.velocity - n.velocity).norm());
        }
    }
    assert!(met > 500, "{met} contacts");
    worst
}

#[test]
fn a_solid_sphere_moves_like_a_sphere() {
    for law in [LAW, hertz()] {
        for with_spheres in [false, true] {
            let worst = compared(law, with_spheres);
            assert!(worst < 1e-9, "{law:?}, spheres among them: {with_spheres}: {worst:e}");
        }
    }
}

#[test]
fn a_solid_ellipsoid_moves_like_a_grain() {
    let semi = [2.0, 1.5, 1.2];
    let solid = body(&NurbsGrain::ellipsoid(semi).unwrap());
    let grain = Grain::superellipsoid(V3::from(semi), [1.0, 1.0]).unwrap();
    let mut worlds: Vec<Simulation> = (0..2)
        .map(|k| {
            let mut world = world(G, LAW);
            world.add_wall(block(), LAW).unwrap();
            for j in 0..4_u32 {
                let particle = if k == 1 {
                    Particle::solid(&solid, DENSITY).unwrap()
                } else {
                    Particle::grain(&grain, DENSITY).unwrap()
                };
                let turn = UnitQuaternion::from_euler_angles(0.3 * f64::from(j), 1.0, 0.7);
                let at = V3::new(0.7 * f64::from(j), 0.3 * f64::from(j), 2.1 + 3.3 * f64::from(j));
                let pose = Pose::from_parts(at.into(), turn);
                world.add(particle, &pose, V3::new(20.0, -10.0, -100.0), V3::new(1.0, 2.0, 3.0)).unwrap();
            }
            world
        })
        .collect();
    let (mut worst, mut met) = (0.0_f64, 0);
    for _ in 0..1_000 {
        worlds.iter_mut().for_each(|w| w.step(1e-5).unwrap());
        met += worlds[1].pair_count() + worlds[1].wall_contact_count();
        for j in 0..4 {
            let [m, n] = [0, 1].map(|k| *worlds[k].motion(id(j)).unwrap());
            worst = worst.max((m.center - n.center).norm());
        }
    }
    // Gaps of grains are accurate to 1e-9 of the size, and the motion amplifies the error.
    assert!(met > 60 && worst < 2e-8, "{met} {worst:e}");
}

#[test]
fn a_ring_rests_on_a_block_and_a_sphere_in_the_ring() {
    // The ring is concave: the sphere touches it along a circle from within, and the ring rests on a circle.
    let ring = body(&NurbsGrain::torus(3.0, 1.0).unwrap());
    let mut world = world(G, LAW);
    let floor = world.add_wall(block(), LAW).unwrap();
    let ring = Particle::solid(&ring, DENSITY).unwrap();
    let sphere = Particle::sphere(2.5, DENSITY).unwrap();
    let weight = (ring.mass() + sphere.mass()) * G;
    let tilted = UnitQuaternion::from_euler_angles(0.05, 0.02, 0.0);
    let ring = world
        .add(ring, &Pose::from_parts(V3::new(0.0, 0.0, 1.3).into(), tilted), V3::zeros(), V3::zeros())
        .unwrap();
    let sphere = world.add(sphere, &Pose::translation(0.02, 0.01, 3.7), V3::zeros(), V3::zeros()).unwrap();
    // A ring on a circle rattles from side to side, by millionths of its weight times its size; the mean
    // load is compared.
    let mut load = 0.0;
    for step in 0..30_000 {
        world.step(2e-5).unwrap();
        load += if step < 20_000 { 0.0 } else { 1e-4 * world.wall_load(floor).unwrap().force.z };
    }
    assert!((load + weight).abs() < 0.01 * weight, "{load} {weight}");
    assert!(world.kinetic_energy() < 1e-3, "{}", world.kinetic_energy());
    let [r, b] = [ring, sphere].map(|k| world.motion(k).unwrap().center);
    // The sphere of radius 2.5 rests on the tube, whose centre circle has radius 3, at a distance of 3.5.
    let height = (3.5_f64 * 3.5 - 9.0).sqrt();
    assert!((b.z - r.z - height).abs() < 0.02 && (r.z - 1.0).abs() < 0.02, "{r} {b}");
}

#[test]
fn a_flat_block_on_a_slope_is_held_by_friction_and_slides_without() {
    // On a slope of 10 degrees the block sticks with a coefficient of 0.4 and slides by g sin 10° t² / 2
    // with 0.
    let turn = UnitQuaternion::from_axis_angle(&V3::y_axis(), 10_f64.to_radians());
    let down = turn.inverse() * -V3::z();
    let cases = [(0.4, block()), (0.0, block()), (0.4, plane()), (0.0, plane())];
    for (friction, floor) in cases {
        let law = Law::Linear { normal: 1e6, shear: 5e5, restitution: 0.3, friction };
        let gravity = down * G;
        let mut world = Simulation::new(SimulationSettings { gravity, between: None }).unwrap();
        world.add_wall(floor, law).unwrap();
        let body = file("box.step");
        let bottom = body.bounds().min.z;
        let solid = Particle::solid(&body, DENSITY).unwrap();
        world.add(solid, &Pose::translation(0.5, 0.3, -bottom), V3::zeros(), V3::zeros()).unwrap();
        let begin = world.motion(id(0)).unwrap().center;
        (0..2_000).for_each(|_| world.step(2e-5).unwrap());
        let along = world.motion(id(0)).unwrap().center.x - begin.x;
        let free = 0.5 * down.x * G * 16e-4;
        if friction > 0.0 {
            // The block slides a little while it settles.
            assert!(along.abs() < 0.02 * free.abs(), "{along} {free}: held");
        } else {
            assert!((along - free).abs() < 0.05 * free.abs(), "{along} {free}: slides");
        }
    }
}

#[test]
fn two_free_solids_preserve_momentum() {
    for shape in [NurbsGrain::random(3, 2.0, 0.5).unwrap(), NurbsGrain::torus(2.0, 0.8).unwrap()] {
        let shape = body(&shape);
        let loss_free = Law::Linear { normal: 2e3, shear: 1e3, restitution: 1.0, friction: 0.0 };
        let mut world = world(0.0, loss_free);
        for (x, v) in [(0.0, 50.0), (6.5, -80.0)] {
            let turn = UnitQuaternion::from_euler_angles(x, 0.4, 0.3 * x);
            let pose = Pose::from_parts(V3::new(x, 0.1 * x, 0.0).into(), turn);
            let particle = Particle::solid(&shape, DENSITY).unwrap();
            world.add(particle, &pose, V3::x() * v, V3::new(3.0, 1.0, -2.0)).unwrap();
        }
        let sums = |world: &Simulation| {
            let mut sum = (V3::zeros(), V3::zeros());
            for k in 0..2 {
                let (m, mass) = (world.motion(id(k)).unwrap(), world.mass(id(k)).unwrap());
                sum.0 += m.velocity * mass;
                sum.1 += m.center.coords.cross(&(m.velocity * mass)) + m.momentum;
            }
            sum
        };
        let (before, energy) = (sums(&world), world.kinetic_energy());
        let mut met = 0;
        for _ in 0..5_000 {
            world.step(1e-5).unwrap();
            met += world.pair_count();
        }
        let after = sums(&world);
        assert!(met > 20 && world.pair_count() == 0, "they have collided and separated: {met}");
        assert!((after.0 - before.0).norm() < 1e-12 * energy.sqrt(), "momentum");
        assert!((after.1 - before.1).norm() < 1e-10 * energy.sqrt(), "angular momentum");
        assert!((world.kinetic_energy() - energy).abs() < 5e-3 * energy, "energy {}", world.kinetic_energy());
    }
}

/// Bumpy solids, rings and spheres above a block.
fn mixed(shapes: &[Arc<Body>; 2]) -> Simulation {
    let mut world = world(G, LAW);
    world.add_wall(block(), LAW).unwrap();
    let side = PlaneWall::new(P3::new(-4.0, 0.0, 0.0), V3::new(1.0, 0.1, 0.2)).unwrap();
    world.add_wall(side.into(), LAW).unwrap();
    for j in 0..12_u32 {
        let particle = match j % 3 {
            0 => Particle::sphere(1.2, DENSITY).unwrap(),
            k => Particle::solid(&shapes[k as usize - 1], DENSITY).unwrap(),
        };
        let turn = UnitQuaternion::from_euler_angles(0.3 * f64::from(j), 1.0, 0.7);
        let at =
            V3::new(2.2 * f64::from(j % 3) - 2.0, 2.0 * f64::from(j / 3 % 2), 2.2 + 3.7 * f64::from(j / 3));
        world.add(particle, &Pose::from_parts(at.into(), turn), V3::z() * -100.0, V3::zeros()).unwrap();
    }
    world
}

#[test]
fn results_have_the_same_bits_for_any_number_of_threads_and_after_a_saved_state() {
    let shapes = [NurbsGrain::random(3, 1.6, 0.5).unwrap(), NurbsGrain::torus(1.5, 0.5).unwrap()];
    let shapes = shapes.map(|s| body(&s));
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut world = mixed(&shapes);
            let mut met = 0;
            for _ in 0..1_500 {
                world.step(2e-5).unwrap();
                met += world.pair_count();
            }
            assert!(met > 50, "{met}");
            world.save()
        })
    };
    let state = on(1);
    assert!(state == on(3), "threads");
    let mut whole = mixed(&shapes);
    (0..900).for_each(|_| whole.step(2e-5).unwrap());
    let mut again = mixed(&shapes);
    again.restore(&whole.save()).unwrap();
    (0..600).for_each(|_| again.step(2e-5).unwrap());
    assert!(state == again.save(), "a continued run");
    // Damaged bytes are refused.
    let mut world = mixed(&shapes);
    for k in (0..state.len()).step_by(61) {
        let mut damaged = state.clone();
        damaged[k] ^= 0x41;
        assert!(world.restore(&damaged).is_err(), "damaged at {k}");
    }
}

#[test]
fn bounds_of_distances_save_searches_and_change_no_byte() {
    let shapes = [NurbsGrain::random(3, 1.6, 0.5).unwrap(), NurbsGrain::torus(1.5, 0.5).unwrap()];
    let shapes = shapes.map(|s| body(&s));
    let run = |bounds: Option<SearchBounds>| {
        let mut world = world(G, LAW);
        world.add_wall(block(), LAW).unwrap();
        world.add_wall(plane(), LAW).unwrap();
        // The bounding spheres overlap soon, but no solids do so at the start: bounds of deep overlaps are
        // those of solids apart.
        for j in 0..8_u32 {
            let turn = UnitQuaternion::from_euler_angles(0.3 * f64::from(j), 1.0, 0.7);
            let at = V3::new(5.2 * f64::from(j % 2), 0.3 * f64::from(j), 3.0 + 5.2 * f64::from(j / 2));
            let solid = Particle::solid(&shapes[(j % 2) as usize], DENSITY).unwrap();
            let velocity =
                V3::new(if j % 2 == 0 { 150.0 } else { -150.0 }, 0.0, -60.0 * f64::from(j / 2 + 2));
            world.add(solid, &Pose::from_parts(at.into(), turn), velocity, V3::new(0.0, 3.0, 1.0)).unwrap();
        }
        bounds.iter().for_each(|b| world.measure_search(*b));
        for _ in 0..2_000 {
            world.step(1e-5).unwrap();
        }
        (world.save(), world.search_counts())
    };
    let plain = run(None);
    let [used, ignored] = [SearchBounds::Used, SearchBounds::Ignored].map(|bounds| run(Some(bounds)));
    assert!(plain.0 == used.0 && used.0 == ignored.0, "the same bytes");
    assert_eq!(used.1, ignored.1, "the same pairs; none that overlaps is excluded");
    let SearchCounts { excluded, tracked, searched, missed, .. } = used.1.unwrap();
    let is_saved = excluded > 5 * searched && tracked > 100 && searched > 20;
    assert!(is_saved && missed == 0, "{excluded} {tracked} {searched} {missed}");
}

#[test]
fn a_plane_acts_like_the_top_of_a_plate() {
    // Solids thrown along the floor roll, slide and rattle, while the patch of the plane below them
    // changes. The plate is 200 mm long and acts as another patch of the same plane.
    let shapes =
        [NurbsGrain::random(3, 1.6, 0.5).unwrap(), NurbsGrain::torus(1.5, 0.5).unwrap()].map(|s| body(&s));
    for shape in shapes.iter().chain([&file("box.step")]) {
        let is_smooth = shape.hierarchy().edges.is_empty();
        let bottom = shape.bounds().min.z;
        let mut worlds = [plate(), plane(), plane()].map(|floor| {
            let mut world = world(G, LAW);
            world.add_wall(floor, LAW).unwrap();
            world
        });
        // The grid of the third plane is shifted.
        let shifted = Pose::from_parts(V3::new(3.7, -11.9, 0.0).into(), UnitQuaternion::identity());
        worlds[2].wall_mut(wall_id(0)).unwrap().set_pose(shifted).unwrap();
        for world in &mut worlds {
            let pose = Pose::translation(0.3, 0.2, 0.1 - bottom);
            let solid = Particle::solid(shape, DENSITY).unwrap();
            world.add(solid, &pose, V3::new(300.0, 90.0, -50.0), V3::new(0.0, 2.0, 1.0)).unwrap();
        }
        let (mut worst, mut met, mut way) = (0.0_f64, 0, 0.0_f64);
        for _ in 0..4_000 {
            worlds.iter_mut().for_each(|w| w.step(1e-5).unwrap());
            met += worlds[1].wall_contact_count();
            let at = [0, 1, 2].map(|k| worlds[k].motion(id(0)).unwrap().center);
            worst = worst.max((at[2] - at[1]).norm());
            // The limit for flat contacts depends on the larger size, and the plate is large.
            worst = if is_smooth { worst.max((at[0] - at[1]).norm()) } else { worst };
            way = way.max(at[1].x);
        }
        assert!(met > 100 && way > 2.0, "{met} {way}");
        assert!(worst < 1e-8, "{worst:e}");
    }
}

/// A sheet without thickness through the origin, of two triangles.
fn sheet() -> Wall {
    let points =
        [(-50.0, -50.0), (50.0, -50.0), (50.0, 50.0), (-50.0, 50.0)].map(|(x, y)| P3::new(x, y, 0.0));
    let open = MeshOptions { open_shells: true, rounding: 0.0 };
    let model = feeler_import::prepare_mesh("sheet", &points, &[[0, 1, 2], [0, 2, 3]], open).unwrap();
    ExactWall::new(Arc::new(Body::from_model(&model, 0).unwrap())).into()
}

/// Maximum distance (mm) between the first particles of two simulations within a number of steps, and
/// the number of contacts with walls in the first simulation, summed over the steps.
fn apart(worlds: &mut [Simulation; 2], steps: u32) -> (f64, usize) {
    let (mut worst, mut met) = (0.0_f64, 0);
    for _ in 0..steps {
        worlds.iter_mut().for_each(|w| w.step(1e-5).unwrap());
        met += worlds[0].wall_contact_count();
        let at = [0, 1].map(|k| worlds[k].motion(id(0)).unwrap().center);
        worst = worst.max((at[0] - at[1]).norm());
    }
    (worst, met)
}

#[test]
fn a_sheet_acts_like_a_plane_from_both_sides() {
    let shapes = [
        Particle::solid(&body(&NurbsGrain::random(3, 1.6, 0.5).unwrap()), DENSITY).unwrap(),
        Particle::solid(&body(&NurbsGrain::torus(1.5, 0.5).unwrap()), DENSITY).unwrap(),
        Particle::sphere(1.5, DENSITY).unwrap(),
        Particle::grain(&Grain::superellipsoid(V3::new(2.0, 1.5, 1.2), [0.8, 1.0]).unwrap(), DENSITY)
            .unwrap(),
    ];
    for (k, shape) in shapes.iter().enumerate() {
        for side in [1.0, -1.0] {
            let below = PlaneWall::new(P3::origin(), V3::z() * side).unwrap().into();
            let mut worlds = [below, sheet()].map(|floor| {
                let mut world = world(G * side, LAW);
                world.add_wall(floor, LAW).unwrap();
                let pose = Pose::translation(0.3, 0.2, 2.7 * side);
                let velocity = V3::new(300.0, 90.0, -50.0 * side);
                world.add(shape.clone(), &pose, velocity, V3::new(0.0, 2.0, 1.0)).unwrap();
                world
            });
            let (worst, met) = apart(&mut worlds, 4_000);
            assert!(met > 40, "{k}: {met}");
            assert!(worst < 1e-8, "{k} {side}: {worst:e}");
        }
    }
}

#[test]
fn an_open_roof_acts_like_a_closed_one() {
    // A ridge of 100 degrees along y: solids that fall on it touch its faces and slide down.
    let (high, wide, long) = (10.0, 12.0, 30.0);
    let at = |y: f64| [(-wide, -high), (wide, -high), (0.0, 0.0)].map(|(x, z)| P3::new(x, y, z));
    let points = [at(-long), at(long)].concat();
    let slopes = [[0, 2, 5], [0, 5, 3], [2, 1, 4], [2, 4, 5]];
    let ends = [[0, 1, 2], [3, 5, 4], [0, 3, 4], [0, 4, 1]];
    let wall = |triangles: &[[u32; 3]], open_shells: bool| -> Wall {
        let model = feeler_import::prepare_mesh(
            "roof",
            &points,
            triangles,
            MeshOptions { open_shells, rounding: 0.0 },
        );
        ExactWall::new(Arc::new(Body::from_model(&model.unwrap(), 0).unwrap())).into()
    };
    let shapes = [NurbsGrain::random(3, 1.6, 0.5).unwrap(), NurbsGrain::torus(1.5, 0.5).unwrap()];
    for shape in shapes.map(|s| body(&s)).iter().chain([&file("box.step")]) {
        let mut worlds = [wall(&[slopes, ends].concat(), false), wall(&slopes, true)].map(|roof| {
            let mut world = world(G, LAW);
            world.add_wall(roof, LAW).unwrap();
            let turn = UnitQuaternion::from_euler_angles(0.3, 0.2, 0.7);
            let low = shape.posed_bounds(&Pose::from_parts(V3::zeros().into(), turn)).min.z;
            let pose = Pose::from_parts(V3::new(0.1, 0.2, 0.5 - low).into(), turn);
            world.add(Particle::solid(shape, DENSITY).unwrap(), &pose, V3::y() * 90.0, V3::zeros()).unwrap();
            world
        });
        let (worst, met) = apart(&mut worlds, 3_500);
        assert!(met > 20, "{met}");
        assert!(worst < 1e-8, "{worst:e}");
    }
}

#[test]
fn a_tilted_box_is_pressed_into_a_plane_by_its_lowest_corner() {
    let body = file("box.step");
    let bounds = *body.bounds();
    let solid = Particle::solid(&body, DENSITY).unwrap();
    let axes = *solid.axes();
    let mut world = world(0.0, LAW);
    // A plane in general position.
    let (origin, normal) = (P3::new(40.0, -70.0, 90.0), V3::new(0.3, -0.5, 0.8).normalize());
    world.add_wall(PlaneWall::new(origin, normal).unwrap().into(), LAW).unwrap();
    world.add(solid, &Pose::identity(), V3::zeros(), V3::zeros()).unwrap();
    let upright = UnitQuaternion::rotation_between(&V3::z(), &normal).unwrap();
    for k in 0..300 {
        let f = f64::from(k);
        let tilt = UnitQuaternion::from_euler_angles(0.01 + 0.021 * f, 0.02 + 0.013 * f, 0.007 * f);
        let turned = Pose::from_parts(V3::zeros().into(), upright * tilt);
        let corner = |j: u32| {
            let of = |bit: u32, axis: usize| if j & bit == 0 { bounds.min[axis] } else { bounds.max[axis] };
            turned * P3::new(of(1, 0), of(2, 1), of(4, 2))
        };
        let lowest = (0..8).map(|j| normal.dot(&corner(j).coords)).fold(f64::INFINITY, f64::min);
        let depth = 1e-4 * (1.0 + f);
        let beside = normal.cross(&V3::x()) * (1.7 * f);
        let at = origin.coords + beside - normal * (lowest + depth);
        let pose = Pose::from_parts(at.into(), turned.rotation);
        let placed = pose * axes;
        let center = placed.translation.vector.into();
        world.set_motion(id(0), center, placed.rotation, V3::zeros(), V3::zeros()).unwrap();
        let force = world.contact_loads(0.0).unwrap()[0].force;
        // The force is that of a spring of 2,000 mN/mm without a damper.
        assert!((force - normal * (2e3 * depth)).norm() < 1e-9, "{k}: {force} {depth}");
    }
}

#[test]
fn triangles_are_refused_and_solids_of_them_are_not() {
    let sphere = body(&NurbsGrain::sphere(1.5).unwrap());
    let points = [(-9.0, -9.0), (9.0, -9.0), (0.0, 9.0)].map(|(x, y)| P3::new(x, y, 0.0));
    let facets = || Wall::from(FacetWall::new(&points, &[[0, 1, 2]]).unwrap());
    let solid = || Particle::solid(&sphere, DENSITY).unwrap();
    let mut first = world(G, LAW);
    first.add_wall(facets(), LAW).unwrap();
    let refused = first.add(solid(), &Pose::identity(), V3::zeros(), V3::zeros()).unwrap_err();
    assert!(matches!(refused, SimulationError::Particle(why) if why.contains("ExactWall")), "{refused}");
    let mut second = world(G, LAW);
    second.add(solid(), &Pose::identity(), V3::zeros(), V3::zeros()).unwrap();
    assert!(second.add_wall(facets(), LAW).is_err());
    assert!(Particle::solid(&sphere, 0.0).is_err());
}
