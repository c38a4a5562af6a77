//! Superellipsoids and exact walls, compared with GJK on convex walls and with dense samples on others.
#![expect(clippy::print_stdout, reason = "the test reports what it compared")]

use feeler_convex::{
    Ball, Cuboid, Cylinder, DistanceOutcome, DistanceRequest, Moved, PenetrationRequest,
    Superellipsoid as Shape, Support, distance, penetration,
};
use feeler_geom::{P3, Pose, Surface, V3, math};
use feeler_particles::{ExactWall, SuperellipsoidParticle, WallContact, WallContacts, WallError};
use feeler_runtime::{Body, PointQuery};
use nalgebra::{Translation3, UnitQuaternion};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::path::Path;
use std::sync::Arc;

fn body(name: &str) -> Arc<Body> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data").join(name);
    let model = feeler_import::prepare_step(&file).expect("imports");
    Arc::new(Body::from_model(&model, 0).expect("well formed"))
}

fn unit(rng: &mut SmallRng) -> V3 {
    loop {
        let v = V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        if (0.01..1.0).contains(&v.norm()) {
            return v.normalize();
        }
    }
}

fn random(rng: &mut SmallRng, size: f64) -> SuperellipsoidParticle {
    SuperellipsoidParticle {
        center: P3::origin(),
        orientation: UnitQuaternion::from_scaled_axis(unit(rng) * rng.random_range(0.0..3.0)),
        semi: V3::from_fn(|_, _| size * rng.random_range(0.4..1.0)),
        exponents: [rng.random_range(0.4..1.6), rng.random_range(0.4..1.6)],
    }
}

fn contacts(wall: &ExactWall, particle: &SuperellipsoidParticle, reach: f64) -> Vec<WallContact> {
    let mut out = WallContacts::new();
    wall.superellipsoid_contacts(&[*particle], reach, &mut Vec::new(), &mut out).expect("finite");
    out.of(0).to_vec()
}

fn moved(particle: &SuperellipsoidParticle) -> Moved<Shape> {
    let shape = Shape::new(particle.semi, particle.exponents).expect("a shape");
    let pose = Pose::from_parts(Translation3::from(particle.center.coords), particle.orientation);
    Moved::new(shape, &pose).expect("finite")
}

/// Compares gaps and overlaps with a convex wall with GJK and the penetration depth of expanding polytopes.
fn beside_convex(wall: &ExactWall, shape: &impl Support, seed: u64) -> (usize, usize, f64) {
    let bounds = *wall.body().bounds();
    let size = wall.body().size();
    let mut rng = SmallRng::seed_from_u64(seed);
    let (mut apart, mut pressed, mut proven, mut worst) = (0, 0, 0, 0.0_f64);
    for _ in 0..400 {
        let mut particle = random(&mut rng, 0.08 * size);
        let region = bounds.inflated(0.1 * size);
        let d = region.max - region.min;
        particle.center = region.min + V3::from_fn(|i, _| d[i] * rng.random_range(0.0..1.0));
        let other = moved(&particle);
        let answer =
            distance(shape, &other, &DistanceRequest { rel_tol: 1e-12, ..DistanceRequest::default() });
        let reach = 0.1 * size;
        let found = contacts(wall, &particle, reach);
        let gap = found.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
        if answer.outcome == DistanceOutcome::Separated
            && answer.distance < 0.99 * reach
            && answer.distance > 1e-6 * size
        {
            apart += 1;
            let error = (gap - answer.distance).abs() / size;
            assert!(error < 1e-7, "{gap} instead of {}: {particle:?}, {found:?}", answer.distance);
            worst = worst.max(error);
            assert_eq!(found.len(), 1, "a convex wall has one contact: {particle:?} {found:?}");
        }
        if answer.outcome == DistanceOutcome::Overlapping {
            let request =
                PenetrationRequest { rel_tol: 1e-9, max_iterations: 20_000, ..PenetrationRequest::default() };
            let deep = penetration(shape, &other, &request);
            if deep.depth < 0.2 * particle.semi.min() {
                pressed += 1;
                // The bounds of expanding polytopes do not converge for round shapes.
                let slack = 1e-7 * size;
                let is_there =
                    found.iter().any(|c| deep.lower_bound - slack <= -c.gap && -c.gap <= deep.depth + slack);
                assert!(is_there, "{deep:?} is not among {found:?}: {particle:?}");
                proven += usize::from(deep.depth - deep.lower_bound <= slack);
            }
        }
    }
    assert!(apart > 50 && pressed > 5 && proven > 5, "{apart} {pressed} {proven}");
    (apart, pressed, worst)
}

#[test]
fn gaps_of_convex_walls_are_those_of_gjk() {
    let frame_of = |b: &Body| Pose::from(Translation3::from(b.bounds().center().coords));
    let block = ExactWall::new(body("box.step"));
    let half = (block.body().bounds().max - block.body().bounds().min) * 0.5;
    let shape = Moved::new(Cuboid::new(half).expect("finite"), &frame_of(block.body())).expect("finite");
    println!("box {:?}", beside_convex(&block, &shape, 1));
    let ball = ExactWall::new(body("sphere.step"));
    let radius = 0.5 * (ball.body().bounds().max.x - ball.body().bounds().min.x);
    let shape = Ball::new(ball.body().bounds().center(), radius).expect("finite");
    println!("ball {:?}", beside_convex(&ball, &shape, 2));
    let pin = ExactWall::new(body("cylinder.step"));
    let h = pin.body().hierarchy();
    let (frame, radius) = h
        .faces
        .iter()
        .find_map(|f| match f.surface {
            Surface::Cylinder { frame, radius } => Some((frame, radius)),
            _ => None,
        })
        .expect("a cylinder");
    let turn = UnitQuaternion::rotation_between(&V3::z(), &frame.z).expect("not opposite");
    let bounds = pin.body().bounds();
    let height = (bounds.max - bounds.min).dot(&frame.z.abs());
    let pose = Pose::from_parts(Translation3::from(bounds.center().coords), turn);
    let shape = Moved::new(Cylinder::new(radius, 0.5 * height).expect("finite"), &pose).expect("finite");
    println!("cylinder {:?}", beside_convex(&pin, &shape, 3));
}

/// No sampled point of the particle is nearer than the minimum gap, and some are almost as near.
#[test]
fn least_gaps_are_those_of_dense_samples() {
    for (name, seed) in [("blind-bore.step", 4), ("torus-nurbs.step", 5), ("bayonet-socket.step", 6)] {
        let wall = ExactWall::new(body(name));
        let bounds = *wall.body().bounds();
        let size = wall.body().size();
        let mut rng = SmallRng::seed_from_u64(seed);
        let mut query = PointQuery::new();
        let (mut compared, mut several) = (0, 0);
        for _ in 0..500 {
            let mut particle = random(&mut rng, 0.04 * size);
            let d = bounds.max - bounds.min;
            particle.center = bounds.min + V3::from_fn(|i, _| d[i] * rng.random_range(-0.05..1.05));
            if query.contains(wall.body(), &particle.center, 1e-6) != Ok(Some(false)) {
                continue;
            }
            let other = moved(&particle);
            let reach = 0.05 * size;
            let (mut least, n) = (f64::INFINITY, 60);
            let mut is_pressed = false;
            for i in 0..=n {
                for k in 0..2 * n {
                    let (v, u) = (
                        std::f64::consts::PI * (f64::from(i) / f64::from(n) - 0.5),
                        std::f64::consts::PI * f64::from(k) / f64::from(n),
                    );
                    let ((sv, cv), (su, cu)) = (math::sin_cos(v), math::sin_cos(u));
                    let m = V3::new(cv * cu, cv * su, sv);
                    let x = other.support(&m).point;
                    if let Some(found) = query.nearest(wall.body(), &x, least).expect("near") {
                        least = found.distance;
                    }
                    if (i + k) % 7 == 0 {
                        is_pressed |= query.contains(wall.body(), &x, 1e-6) == Ok(Some(true));
                    }
                }
            }
            if is_pressed || least > 0.9 * reach {
                continue;
            }
            let found = contacts(&wall, &particle, reach);
            let gap = found.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
            compared += 1;
            several += usize::from(found.len() > 1);
            // An overlap may be less than the distance of the samples.
            let is_grazing = found.iter().any(|c| c.gap < 0.0 && c.gap > -0.01 * size);
            assert!(
                is_grazing || gap <= least + 1e-9 * size && least - gap <= 0.01 * size,
                "{name}: {gap} beside {least}: {particle:?}, {found:?}"
            );
        }
        println!("{name}: {compared} compared, {several} with several contacts");
        assert!(compared > 15, "{name}: {compared}");
    }
}

/// A long ellipsoid across a bore touches it at both ends.
#[test]
fn several_in_a_bore() {
    let wall = ExactWall::new(body("blind-bore.step"));
    let bore = wall.body().hierarchy().faces.iter().find_map(|f| match f.surface {
        Surface::Cylinder { frame, radius } if !f.outward => Some((frame, radius, f.trim.rect)),
        _ => None,
    });
    let (frame, radius, rect) = bore.expect("a bore");
    let across = UnitQuaternion::rotation_between(&V3::x(), &frame.x)
        .unwrap_or_else(|| UnitQuaternion::from_scaled_axis(V3::z() * std::f64::consts::PI));
    let particle = SuperellipsoidParticle {
        center: frame.point(0.01 * radius, 0.0, 0.5 * (rect.v0 + rect.v1)),
        orientation: across,
        semi: V3::new(0.9, 0.2, 0.2) * radius,
        exponents: [1.0, 1.0],
    };
    let found = contacts(&wall, &particle, 0.2 * radius);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!((found[0].gap - 0.09 * radius).abs() < 1e-9 * radius, "{found:?}");
    assert!((found[1].gap - 0.11 * radius).abs() < 1e-9 * radius, "{found:?}");
    let flat = SuperellipsoidParticle { semi: V3::new(1.0, 0.0, 1.0), ..particle };
    let mut out = WallContacts::new();
    let answer = wall.superellipsoid_contacts(&[particle, flat], 0.0, &mut Vec::new(), &mut out);
    assert_eq!(answer, Err(WallError::Shape { index: 1 }));
}
