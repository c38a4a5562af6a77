//! Curves for benchmarks of updates.

use std::f64::consts::TAU;

use feeler_geom::math::{sin, sin_cos};
use feeler_geom::{P3, V3};

use crate::curve::hermite_points;

/// Radius of the turns of a [`spring`] and of the loop of a [`looped_cable`] (mm).
pub const TURN_RADIUS: f64 = 10.0;

/// Number of pieces in the loop of a [`looped_cable`].
const LOOP: u32 = 8;

/// Control points of an open spring of three turns about z, in six cubics; `pitch` is the height of a
/// turn (mm).
///
/// Its pieces are half turns. The length of their derivatives makes them nearly round (within 0.18 mm of
/// the radius).
#[must_use]
pub fn spring(pitch: f64) -> Vec<P3> {
    let h = 0.5 * TAU;
    let (points, derivatives): (Vec<P3>, Vec<V3>) = (0..=6)
        .map(|i| {
            let angle = f64::from(i) * h;
            let (s, c) = sin_cos(angle);
            let (r, along) = (TURN_RADIUS, 4.0 * TURN_RADIUS);
            let point = P3::new(r * c, r * s, pitch * angle / TAU);
            (point, V3::new(-along * s, along * c, 0.5 * pitch))
        })
        .unzip();
    hermite_points(&points, &derivatives, false).collect()
}

/// Control points of a wavy cable of `n_pieces` (at least 10) cubics along x, with one loop in its
/// middle, in which the cable passes itself at a distance of 2.2 mm.
#[must_use]
pub fn looped_cable(n_pieces: u32) -> Vec<P3> {
    let h = TAU / f64::from(LOOP);
    let each = TURN_RADIUS * h;
    let first = n_pieces.saturating_sub(LOOP) / 2;
    let (points, derivatives): (Vec<P3>, Vec<V3>) = (0..=n_pieces)
        .map(|i| {
            let looped = i.saturating_sub(first).min(LOOP);
            let angle = f64::from(looped) * h;
            let x = each * (f64::from(i - looped) - f64::from(first));
            let (s, c) = sin_cos(angle);
            // The cable is straight next to the loop.
            let wave = 0.3 * x * x / (1.0 + x * x) * sin(0.7 * x);
            let (r, z) = (TURN_RADIUS, 2.2 * angle / TAU + wave);
            (P3::new(x + r * s, r - r * c, z), V3::new(each * c, each * s, 0.2))
        })
        .unzip();
    hermite_points(&points, &derivatives, false).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Curve, CurveOptions, CurvePair};
    use feeler_geom::math::sin_cos;

    #[test]
    fn steps_of_a_spring_allocate_nothing() {
        let frames: Vec<Vec<P3>> =
            (0..60).map(|k| spring(5.025 + 2.975 * sin_cos(TAU * f64::from(k) / 60.0).1)).collect();
        let mut curve = Curve::new(3, &frames[0], 1.0, false).unwrap();
        let mut pair = CurvePair::new();
        let options = CurveOptions { d_max: 2.0, ..CurveOptions::default() };
        let mut found = 0;
        let counts = [0, 1, 2].map(|_| {
            let counted = allocation_counter::measure(|| {
                for frame in &frames {
                    curve.update(frame).expect("an unchanged number of finite points");
                    found += pair.query_itself(&curve, &options).len();
                }
            });
            counted.count_total
        });
        assert!(counts[0] > 0 && found > 600, "{counts:?} allocations, {found} minima");
        assert_eq!(counts[1..], [0, 0], "allocations in warm steps");
    }

    #[test]
    fn visited_pairs_grow_like_the_pieces() {
        let sizes = [100, 1000, 10_000];
        let visits = sizes.map(|n| {
            let curve = Curve::new(3, &looped_cable(n), 1.0, false).unwrap();
            let mut pair = CurvePair::new();
            let options = CurveOptions { d_max: 0.5, ..CurveOptions::default() };
            let n_minima = pair.query_itself(&curve, &options).len();
            assert_eq!(n_minima, 2, "minima of the loop in {n} pieces");
            let stats = pair.stats();
            stats.n_nodes + stats.n_parts
        });
        // Ten times the pieces may cause 12.6 times the visits: an exponent of 1.1.
        for k in 1..sizes.len() {
            assert!(visits[k] as f64 <= 12.6 * visits[k - 1] as f64, "{visits:?} visits of {sizes:?} pieces");
        }
    }
}
