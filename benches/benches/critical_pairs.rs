//! Closed forms of pairs that are frequent in insertions: nearly coaxial round features.
#![expect(missing_docs, reason = "criterion's macros make items without docs")]

use criterion::{Criterion, criterion_group, criterion_main};
use feeler_geom::skeleton::{Primitive, critical_pairs};
use feeler_geom::{Frame, P3, Pose, V3};
use nalgebra::{Translation3, UnitQuaternion};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

/// Number of pairs.
const POSES: usize = 1000;
/// Tolerance (mm).
const TOL: f64 = 1e-7;
/// Extent (mm) of the pairs.
const EXTENT: f64 = 80.0;

/// A pose displaced by 0.05 to 0.3 mm and tilted by up to 3e-3 rad.
fn nearly_coaxial(rng: &mut SmallRng, height: f64) -> Pose {
    let mut direction = || V3::from_fn(|_, _| rng.random_range(-1.0..1.0)).normalize();
    let (u, axis) = (direction(), direction());
    let shift = V3::new(u.x, u.y, 0.0) * rng.random_range(0.05..0.3);
    let tilt = axis * rng.random_range(1e-4..3e-3);
    Pose::from_parts(Translation3::from(shift + V3::z() * height), UnitQuaternion::new(tilt))
}

fn ring(rng: &mut SmallRng, radius: f64) -> Primitive {
    let sigma = if rng.random_bool(0.6) { 0.0 } else { rng.random_range(-2.0..2.0) };
    Primitive::Circle { frame: Frame::identity(), radius, sigma }
}

fn cone_and_ring(rng: &mut SmallRng) -> (Primitive, Primitive) {
    let slope: f64 = rng.random_range(0.1..0.7) * [1.0, -1.0][rng.random_range(0..2)];
    let height = rng.random_range(5.0..60.0);
    let radius = height * slope.abs() / (1.0 - slope * slope).sqrt() + rng.random_range(-0.5..0.5);
    let cone = Primitive::Line { origin: P3::origin(), dir: V3::z(), sigma: 0.0, slope };
    (cone, ring(rng, radius.max(1.0)).transformed(&nearly_coaxial(rng, height)))
}

fn two_rings(rng: &mut SmallRng) -> (Primitive, Primitive) {
    let radius = rng.random_range(5.0..40.0);
    let other = radius + rng.random_range(-0.5..0.5);
    let height = rng.random_range(0.0..5.0);
    (ring(rng, radius), ring(rng, other).transformed(&nearly_coaxial(rng, height)))
}

/// Makes a random pair of features.
type Maker = fn(&mut SmallRng) -> (Primitive, Primitive);

fn closed_forms(c: &mut Criterion) {
    let makers: [(&str, Maker); 2] = [("cone and ring", cone_and_ring), ("two rings", two_rings)];
    for (name, make) in makers {
        let mut rng = SmallRng::seed_from_u64(5);
        let pairs: Vec<_> = (0..POSES)
            .map(|_| {
                let ((a, b), d_max) = (make(&mut rng), rng.random_range(0.2..0.6));
                (a, b, d_max)
            })
            .collect();
        let count = || -> usize {
            pairs.iter().map(|(a, b, d_max)| critical_pairs(a, b, *d_max, TOL, EXTENT).isolated.len()).sum()
        };
        assert!(count() > POSES / 4, "{name}: too few critical pairs for a timing");
        c.bench_function(&format!("critical pairs of {name}, {POSES} poses"), |bench| bench.iter(count));
    }
}

criterion_group!(benches, closed_forms);
criterion_main!(benches);
