//! Boundaries beside curves, compared with brute-force distances and nearly coincident circles.

use super::{blob, brute_distance, circle, plane};
use crate::{P2, V2, math};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::f64::consts::FRAC_PI_2;

/// For curves that cross, touch and follow a random boundary, no part of a curve with a boundary point
/// beside it counts as free. Between nearly coincident circles of radius r, parts of length √(8 r gap)
/// count as free.
#[test]
fn boundaries_beside_curves() {
    let mut rng = SmallRng::seed_from_u64(46);
    let mut free = 0;
    for case in 0..60 {
        let raw = blob(&mut rng, (0.0, 0.0), 2.0, 7, 0);
        let cells = plane(&raw);
        let source = &raw[case % raw.len()];
        let beside = V2::new(rng.random_range(0.0..0.02), rng.random_range(0.0..0.02));
        // A piece of the boundary itself, slightly moved, and turned or scaled.
        let (scale, angle) = (rng.random_range(0.9..1.1), rng.random_range(-0.2..0.2));
        let (sin, cos) = math::sin_cos(if case % 3 == 0 { 0.0 } else { angle });
        let shift = V2::new(rng.random_range(-0.1..0.1), rng.random_range(-0.1..0.1));
        let curve = source
            .mapped(|p| P2::new(scale * (cos * p.x - sin * p.y), scale * (sin * p.x + cos * p.y)) + shift);
        for n in [1, 4, 16, 64] {
            for k in 0..n {
                let part = curve.part(f64::from(k) / f64::from(n), f64::from(k + 1) / f64::from(n));
                if cells.has_boundary_beside(&part, beside) {
                    continue;
                }
                free += 1;
                for i in 0..=20 {
                    let p = part.eval(f64::from(i) / 20.0);
                    let distance = brute_distance(&raw, p);
                    let min_beside = beside.x.min(beside.y);
                    assert!(
                        distance >= min_beside * (1.0 - 1e-9),
                        "{case}: {part:?} is {distance} from the boundary"
                    );
                }
            }
        }
    }
    assert!(free > 1_000, "{free}");
    let cells = plane(&circle(0.0, 0.0, 1.0, 0));
    for gap in [1e-2, 1e-4, 1e-6] {
        let inner = &circle(0.0, 0.0, 1.0 - gap, 0)[0];
        // A piece is a quarter of the circle.
        let length = 0.5 * (8.0_f64 * gap).sqrt() / FRAC_PI_2;
        let is_free = |from: f64| !cells.has_boundary_beside(&inner.part(from, from + length), V2::zeros());
        assert!((0..5).all(|k| is_free(0.1 + 0.1 * f64::from(k))), "{gap}");
    }
}
