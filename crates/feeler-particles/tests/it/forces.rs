//! Forces of walls on spheres that an external program integrates: any order, saved states, all kinds of
//! walls.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use feeler_geom::{P3, Pose, V3, math};
use feeler_particles::{
    ExactWall, FacetWall, Law, PlaneWall, Resolution, RigidMotion, SphereArrays, WallForces, WallId,
};
use feeler_runtime::Body;
use std::path::Path;
use std::sync::Arc;

const LAW: Law = Law::Linear { normal: 1e3, shear: 5e2, restitution: 0.6, friction: 0.4 };
const STEP: f64 = 1e-5;

fn wall_id(wall: usize) -> WallId {
    WallId::new(wall)
}

fn solid(name: &str) -> ExactWall {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data").join(name);
    let options = feeler_hierarchy::Options { flatness: feeler_import::DEFAULT_FLATNESS };
    let model = feeler_import::prepare_step_with(&file, &options).unwrap();
    ExactWall::new(Arc::new(Body::from_model(&model, 0).unwrap()))
}

/// A floor of triangles at z = 0.
fn floor() -> FacetWall {
    let corners = [(-90.0, -90.0), (90.0, -90.0), (90.0, 90.0), (-90.0, 90.0)];
    let mut wall =
        FacetWall::new(&corners.map(|(x, y)| P3::new(x, y, 0.0)), &[[0, 1, 2], [0, 2, 3]]).unwrap();
    wall.set_resolution(Resolution::Full { cutoff: 0.5 }).unwrap();
    wall
}

/// A box of 40 × 30 × 20 mm with its top at z = 0.
fn block() -> ExactWall {
    let mut wall = solid("box.step");
    wall.set_pose(&Pose::translation(0.0, 0.0, -10.0)).unwrap();
    wall
}

/// Moving spheres, which the test integrates: a kick, then a drift.
#[derive(Clone)]
struct Crowd {
    centers: Vec<[f64; 3]>,
    velocities: Vec<[f64; 3]>,
    spins: Vec<[f64; 3]>,
    tags: Vec<i64>,
}

const RADIUS: f64 = 1.5;
const MASS: f64 = 3.5e-5;

impl Crowd {
    fn new(n: i32) -> Self {
        let (mut centers, mut velocities, mut spins) = (Vec::new(), Vec::new(), Vec::new());
        for k in 0..n {
            let t = f64::from(k);
            centers.push([
                17.0 * math::sin(1.3 * t),
                12.0 * math::cos(2.1 * t),
                1.45 + 0.1 * math::sin(0.7 * t),
            ]);
            velocities.push([60.0 * math::cos(0.3 * t), 40.0 * math::sin(0.9 * t), -80.0]);
            spins.push([20.0 * math::sin(t), 15.0, 10.0 * math::cos(t)]);
        }
        Self { centers, velocities, spins, tags: (0..i64::from(n)).map(|k| 3 * k + 1).collect() }
    }

    fn step(&mut self, walls: &mut WallForces) {
        let n = self.tags.len();
        let (radii, masses) = (vec![RADIUS; n], vec![MASS; n]);
        let spheres = SphereArrays {
            centers: &self.centers,
            velocities: &self.velocities,
            spins: &self.spins,
            radii: &radii,
            masses: &masses,
            tags: &self.tags,
        };
        let loads = walls.forces(&spheres, STEP).unwrap().to_vec();
        let inertia = 0.4 * MASS * RADIUS * RADIUS;
        for (k, load) in loads.iter().enumerate() {
            for i in 0..3 {
                self.velocities[k][i] += (load.force[i] / MASS - if i == 2 { 9_810.0 } else { 0.0 }) * STEP;
                self.spins[k][i] += load.moment[i] / inertia * STEP;
                self.centers[k][i] += self.velocities[k][i] * STEP;
            }
        }
    }

    fn reordered(&self, order: &[usize]) -> Self {
        let of = |v: &[[f64; 3]]| order.iter().map(|k| v[*k]).collect();
        Self {
            centers: of(&self.centers),
            velocities: of(&self.velocities),
            spins: of(&self.spins),
            tags: order.iter().map(|k| self.tags[*k]).collect(),
        }
    }

    /// Bits of all numbers by tag.
    fn bits(&self) -> Vec<(i64, Vec<u64>)> {
        let of = |k: usize| {
            let all = [&self.centers[k], &self.velocities[k], &self.spins[k]];
            (self.tags[k], all.iter().flat_map(|v| v.iter().map(|c| c.to_bits())).collect())
        };
        let mut rows: Vec<_> = (0..self.tags.len()).map(of).collect();
        rows.sort();
        rows
    }
}

fn both() -> WallForces {
    let mut walls = WallForces::new();
    walls.add(block().into(), LAW).unwrap();
    walls.add(floor().into(), LAW).unwrap();
    let plane = PlaneWall::new(P3::new(-17.5, 0.0, 0.0), V3::x()).unwrap();
    walls
        .add(
            plane.into(),
            Law::hertz([feeler_particles::Material { young: 1e4, poisson: 0.3 }; 2], 0.7, 0.2).unwrap(),
        )
        .unwrap();
    let motion = RigidMotion { velocity: V3::x() * 5.0, spin: V3::zeros(), center: P3::origin() };
    walls.wall_mut(wall_id(2)).unwrap().set_motion(Some(motion)).unwrap();
    walls
}

#[test]
fn order_threads_and_saved_states_change_no_bit() {
    let n = 600;
    let run = |threads: usize, shuffled: bool, interrupted: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (mut walls, mut crowd) = (both(), Crowd::new(n));
            for step in 0..80_usize {
                if shuffled && step % 7 == 3 {
                    let n = crowd.tags.len();
                    crowd = crowd.reordered(&(0..n).map(|k| (k * 7 + step) % n).collect::<Vec<_>>());
                }
                if step == 20 {
                    assert!(walls.contact_count() > 200, "{}", walls.contact_count());
                }
                if interrupted && step == 20 {
                    let saved = walls.save();
                    walls = both();
                    walls.restore(&saved).unwrap();
                    assert!(walls.save() == saved, "the same bytes again");
                }
                walls.advance(STEP).unwrap();
                crowd.step(&mut walls);
            }
            let sums: Vec<u64> = (0..3)
                .flat_map(|w| {
                    let load = walls.load(wall_id(w)).unwrap();
                    load.force.iter().chain(load.moment.iter()).map(|c| c.to_bits()).collect::<Vec<_>>()
                })
                .collect();
            (crowd.bits(), sums, walls.save())
        })
    };
    let first = run(1, false, false);
    assert!(run(3, false, false) == first, "threads");
    assert!(run(2, true, false) == first, "another order");
    assert!(run(2, true, true) == first, "stopped and continued");
}

#[test]
fn histories_of_missing_spheres_are_dropped() {
    let (mut walls, mut crowd) = (both(), Crowd::new(40));
    for _ in 0..50 {
        crowd.step(&mut walls);
    }
    let whole = walls.save().len();
    let mut half = crowd.reordered(&(0..20).collect::<Vec<_>>());
    half.step(&mut walls);
    assert!(walls.save().len() < whole * 2 / 3);
}

#[test]
fn an_exact_face_acts_like_a_plane() {
    let mut ends = Vec::new();
    for exact in [true, false] {
        let mut walls = WallForces::new();
        let plane = PlaneWall::new(P3::origin(), V3::z()).unwrap();
        walls.add(if exact { block().into() } else { plane.into() }, LAW).unwrap();
        let mut crowd = Crowd::new(1);
        crowd.spins[0][2] = 0.0;
        for _ in 0..2_000 {
            crowd.step(&mut walls);
        }
        ends.push(crowd);
    }
    for i in 0..3 {
        assert!((ends[0].centers[0][i] - ends[1].centers[0][i]).abs() < 1e-10, "{i}");
        assert!((ends[0].velocities[0][i] - ends[1].velocities[0][i]).abs() < 1e-8, "{i}");
    }
}

/// A sphere is dragged from the cylinder of the hopper's outlet over the edge onto its cone. The identity
/// of its contact changes there, and the shear force must continue.
#[test]
fn friction_continues_over_an_edge_of_an_exact_wall() {
    let mut walls = WallForces::new();
    let law = Law::Linear { normal: 1e3, shear: 5e2, restitution: 1.0, friction: f64::INFINITY };
    walls.add(solid("particles/hopper.step").into(), law).unwrap();
    let depth = 0.1;
    // The path around the edge at radius 10, z = 10: along the cylinder, in an arc, along the cone.
    let slope = V3::new(25.0, 0.0, 40.0).normalize();
    let away = |angle: f64| V3::new(-math::cos(angle), 0.0, math::sin(angle));
    let turned = math::atan2(25.0, 40.0);
    let (steps, step) = (400, 0.005);
    let edge = P3::new(10.0, 0.0, 10.0);
    let place = |s: f64| {
        let arc = (RADIUS - depth) * turned;
        if s < 0.0 {
            edge + V3::z() * s + away(0.0) * (RADIUS - depth)
        } else if s < arc {
            edge + away(s / (RADIUS - depth)) * (RADIUS - depth)
        } else {
            edge + slope * (s - arc) + away(turned) * (RADIUS - depth)
        }
    };
    let mut last = 0.0;
    for k in 0..steps {
        let s = step * (f64::from(k) - 100.0);
        let velocity = (place(s + 0.5 * step) - place(s - 0.5 * step)) / STEP;
        let spheres = SphereArrays {
            centers: &[place(s).into()],
            velocities: &[velocity.into()],
            spins: &[[0.0; 3]],
            radii: &[RADIUS],
            masses: &[1e-20],
            tags: &[1],
        };
        let load = walls.forces(&spheres, STEP).unwrap()[0];
        assert_eq!(walls.contact_count(), 1, "{s}");
        let normal = load.moment.cross(&load.force);
        assert!(normal.iter().all(|c| c.is_finite()));
        // The normal force is 1,000 kg/s² times 0.1 mm; the rest is the shear force.
        let shear = (load.force.norm_squared() - 1e4).max(0.0).sqrt();
        if k > 0 {
            assert!(shear > last, "the force at {s} mm decreases from {last} to {shear} mN");
        }
        last = shear;
    }
    // The force is 500 kg/s² times the path of the centre, also in the arc around the edge.
    assert!((last - 500.0 * step * f64::from(steps)).abs() < 0.02 * last, "{last}");
}

#[test]
fn invalid_input_is_refused() {
    let mut walls = both();
    let spheres = SphereArrays {
        centers: &[[0.0, 0.0, 1.0], [5.0, 0.0, 1.0]],
        velocities: &[[0.0; 3]; 2],
        spins: &[[0.0; 3]; 2],
        radii: &[1.5; 2],
        masses: &[MASS; 2],
        tags: &[4, 4],
    };
    let error_of = |walls: &mut WallForces, spheres: SphereArrays<'_>, time: f64| {
        walls.forces(&spheres, time).unwrap_err().to_string()
    };
    assert!(error_of(&mut walls, spheres, STEP).contains("tag 4"));
    assert!(error_of(&mut walls, SphereArrays { radii: &[1.5], ..spheres }, STEP).contains("same length"));
    assert!(error_of(&mut walls, SphereArrays { radii: &[1.5, -1.0], ..spheres }, STEP).contains("radii"));
    assert!(
        error_of(&mut walls, SphereArrays { masses: &[f64::NAN, 1.0], ..spheres }, STEP).contains("masses")
    );
    assert!(error_of(&mut walls, spheres, -1.0).contains("step"));
    let saved = walls.save();
    assert!(WallForces::new().restore(&saved).unwrap_err().to_string().contains("3 walls"));
    let mut walls = both();
    for n in 0..saved.len() {
        assert!(walls.restore(&saved[..n]).is_err(), "cut at {n}");
        let mut damaged = saved.clone();
        damaged[n] ^= 0x20;
        assert!(walls.restore(&damaged).is_err(), "damaged at {n}");
    }
    walls.restore(&saved).unwrap();
    assert!(walls.save() == saved, "a round trip");
}
