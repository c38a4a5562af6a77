//! Bands of the sphere of directions: all directions between two angles from an axis.
//!
//! The normals of a surface of revolution rotate about its axis at constant angles to it. A cone of
//! revolution around the normals of a whole turn contains nearly all directions. The band contains far
//! fewer, and it is the narrower, the straighter the meridian.
//!
//! # Source
//! MATH §7 for the bounded directions; the inequalities are those of the spherical triangle.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must take the conservative branch")]

use super::PolyCone;
use super::revolution::angle;
use crate::frame::unit;
use crate::{V3, math};
use std::f64::consts::PI;

/// All directions at angles from `lo` to `hi` from `axis`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirectionBand {
    /// Unit axis of the band.
    pub axis: V3,
    /// Smallest angle (rad) of a direction from the axis.
    pub lo: f64,
    /// Largest angle (rad) of a direction from the axis, at most π.
    pub hi: f64,
    /// Sines of the angles `lo` and `hi`, the smallest and the largest angle from the axis.
    sines: [f64; 2],
    cosines: [f64; 2],
}

/// Angle (rad) by which every band is widened, far above the rounding of the angles involved. A larger
/// value loosens bands; with a smaller one normals could lie outside.
const ANGLE_SLACK: f64 = 1e-12;

/// Allowance for the rounding of cosines, and for directions that are slightly longer or shorter than 1,
/// because the callers' rotations are unit quaternions only up to rounding. A larger value culls less, a
/// smaller one could cull wrongly.
const COS_SLACK: f64 = 1e-9;

impl DirectionBand {
    /// Creates the band of all directions at angles from `lo` to `hi` (rad) from a unit axis.
    #[must_use]
    pub fn new(axis: V3, lo: f64, hi: f64) -> Self {
        let [(s0, c0), (s1, c1)] = [lo, hi].map(math::sin_cos);
        Self { axis, lo, hi, sines: [s0, s1], cosines: [c0, c1] }
    }

    /// Thinnest band about `axis` (of any length) that contains the cones; all directions if `axis` is
    /// zero or `cones` is empty.
    #[must_use]
    pub fn around<'a>(axis: &V3, cones: impl Iterator<Item = &'a PolyCone>) -> Self {
        let Some(axis) = unit(*axis) else { return Self::new(V3::z(), 0.0, PI) };
        let (mut lo, mut hi) = (PI, 0.0_f64);
        for cone in cones {
            let [a, b] = range(&axis, cone);
            (lo, hi) = (lo.min(a), hi.max(b));
        }
        if lo <= hi {
            Self::new(axis, (lo - ANGLE_SLACK).max(0.0), (hi + ANGLE_SLACK).min(PI))
        } else {
            Self::new(axis, 0.0, PI)
        }
    }

    /// Whether a unit direction is outside the band by more than an angle of `slack` (rad, ≥ 0). The
    /// result `true` is proven.
    #[must_use]
    pub fn excludes(&self, direction: &V3, slack: f64) -> bool {
        let cos = self.axis.dot(direction);
        // Bound of the difference between the cosine of `angle + slack` and the cosine of `angle`.
        let [at_lo, at_hi] = self.sines.map(|sine| slack * (sine + 0.5 * slack) + COS_SLACK);
        cos > self.cosines[0] + at_lo || cos < self.cosines[1] - at_hi
    }

    /// Angle (rad) by which one of two bands can be rotated before a direction of this band, widened by
    /// `slack[0]` (rad, ≥ 0), can be opposite to a direction of the other band, widened by `slack[1]`.
    /// The axis of the other band is given in the frame of this one. The result is negative if
    /// directions may already be opposite; a positive result is a proven lower bound.
    #[must_use]
    pub fn spare(&self, other: &Self, other_axis: &V3, slack: [f64; 2]) -> f64 {
        let between = angle(&self.axis, other_axis);
        let (a0, a1) = (self.lo - slack[0], self.hi + slack[0]);
        // Opposites of directions of the other band are at these angles from its axis.
        let (b0, b1) = (PI - other.hi - slack[1], PI - other.lo + slack[1]);
        // In a spherical triangle, no side is longer than the sum of the other two, and all three sum to
        // at most a full turn.
        let apart = (a0 - b1).max(b0 - a1) - between;
        let short = between - (a1 + b1);
        let round = (a0 + b0 + between) - 2.0 * PI;
        apart.max(short).max(round) - ANGLE_SLACK
    }
}

/// Returns the smallest and the largest angle (rad) between the unit vector `axis` and a direction of a
/// cone.
fn range(axis: &V3, cone: &PolyCone) -> [f64; 2] {
    let g = &cone.generators;
    if g.len() < 3 {
        return [0.0, PI];
    }
    let (mut lo, mut hi) = (PI, 0.0_f64);
    let mut take = |a: f64| (lo, hi) = (lo.min(a), hi.max(a));
    for i in 0..g.len() {
        let (p, q) = (&g[i], &g[(i + 1) % g.len()]);
        take(angle(axis, p));
        let Some(pole) = unit(p.cross(q)) else { return [0.0, PI] };
        // The point of the side's great circle nearest to the axis; its opposite is the farthest.
        let near = axis - pole * axis.dot(&pole);
        let on_side =
            |v: &V3| !(p.cross(v).dot(&pole) < -ANGLE_SLACK) && !(v.cross(q).dot(&pole) < -ANGLE_SLACK);
        if on_side(&near) {
            take(angle(axis, &near));
        }
        if on_side(&-near) {
            take(angle(axis, &-near));
        }
    }
    if cone.contains(axis, ANGLE_SLACK) {
        lo = 0.0;
    }
    if cone.contains(&-axis, ANGLE_SLACK) {
        hi = PI;
    }
    [lo, hi]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{rng, unit as random_unit};
    use rand::Rng;

    /// A direction at an angle from an axis.
    fn at(axis: &V3, angle: f64, turn: f64) -> V3 {
        let (x, y) = crate::frame::complete_basis(axis);
        let (s, c) = math::sin_cos(angle);
        let (st, ct) = math::sin_cos(turn);
        axis * c + (x * ct + y * st) * s
    }

    /// Directions of a cone are in its band, and the band is not much wider than necessary.
    #[test]
    fn contains_cones_tightly() {
        let mut r = rng(5);
        for k in 0..4000 {
            let axis = random_unit(&mut r);
            let middle = match k % 4 {
                0 => at(&axis, r.random_range(0.0..0.1), 1.0),
                1 => at(&axis, PI - r.random_range(0.0..0.1), 2.0),
                _ => random_unit(&mut r),
            };
            let size = [1e-3, 0.1, 0.6][r.random_range(0..3)];
            let dirs: Vec<V3> = (0..6).map(|_| middle + random_unit(&mut r) * size).collect();
            let Some(cone) = PolyCone::hull(&dirs) else { continue };
            let zone = DirectionBand::around(&axis, std::iter::once(&cone));
            let (mut lo, mut hi) = (PI, 0.0_f64);
            for _ in 0..400 {
                let v: V3 = cone.generators.iter().map(|g| g * math::powi(r.random_range(0.0..1.0), 3)).sum();
                let a = angle(&axis, &v);
                assert!(zone.lo <= a && a <= zone.hi, "{a} not in [{}, {}]", zone.lo, zone.hi);
                (lo, hi) = (lo.min(a), hi.max(a));
            }
            assert!(
                lo - zone.lo < 0.6 * size + 1e-5 && zone.hi - hi < 0.6 * size + 1e-5,
                "{zone:?}, {lo} {hi}"
            );
        }
    }

    /// Excluded directions are outside, and directions clearly outside are excluded.
    #[test]
    fn excludes_directions_outside() {
        let mut r = rng(7);
        let mut seen = [0, 0];
        for _ in 0..200_000 {
            let axis = random_unit(&mut r);
            let lo = [0.0, 1e-6, r.random_range(0.0..PI)][r.random_range(0..3)];
            let hi = [PI, PI - 1e-6, r.random_range(lo..=PI)][r.random_range(0..3)];
            let slack = [0.0, 1e-9, 1e-3, 0.3, 2.0][r.random_range(0..5)];
            let near = [lo - slack, hi + slack][r.random_range(0..2)];
            let off = [0.0, 1e-12, 1e-6, 1e-3, 1.0][r.random_range(0..5)] * r.random_range(-1.0..1.0);
            let length = 1.0 + [0.0, 1e-12, -1e-12, 1e-10, -1e-10][r.random_range(0..5)];
            let direction = at(&axis, (near + off).clamp(0.0, PI), r.random_range(0.0..6.0)) * length;
            let a = angle(&axis, &direction);
            let beyond = (lo - a).max(a - hi) - slack;
            if DirectionBand::new(axis, lo, hi).excludes(&direction, slack) {
                seen[0] += 1;
                assert!(beyond > -1e-14, "{beyond} beyond [{lo}, {hi}] + {slack}");
            } else {
                seen[1] += 1;
                // Near the poles cosines resolve little. For large slacks, which do not occur for
                // solids, bounds are loose.
                assert!(
                    slack > 0.01 || beyond < 1e-4 + 2.0 * slack,
                    "{beyond} beyond [{lo}, {hi}] + {slack}"
                );
            }
        }
        assert!(seen.iter().all(|n| *n > 10_000), "{seen:?}");
    }

    /// Separated bands contain no opposite directions, and other bands do.
    #[test]
    fn separates_bands() {
        let mut r = rng(6);
        let mut seen = [0, 0];
        for k in 0..4000 {
            let axis = random_unit(&mut r);
            let tilt = [0.0, 1e-3, 0.1, 1.5, PI - 1e-3, PI][r.random_range(0..6)];
            let other = at(&axis, tilt, r.random_range(0.0..6.0));
            let mut zone = |axis: V3| {
                let lo = r.random_range(0.0..PI);
                let width = [0.0, 1e-3, 0.3, 2.0][r.random_range(0..4)];
                DirectionBand::new(axis, lo, (lo + width).min(PI))
            };
            let (a, b) = (zone(axis), zone(other));
            let slack = if k % 2 == 0 { [0.0; 2] } else { [0.01, 0.02] };
            let spare = a.spare(&b, &other, slack);
            // Compare directions of the second band, all around its axis, with the first band.
            let mut nearest = f64::INFINITY;
            let (lo, hi) = ((b.lo - slack[1]).max(0.0), (b.hi + slack[1]).min(PI));
            for i in 0..=60 {
                for j in 0..60 {
                    let v = at(&other, lo + (hi - lo) * f64::from(i) / 60.0, f64::from(j) * PI / 30.0);
                    let from = angle(&axis, &-v);
                    nearest = nearest.min((a.lo - slack[0] - from).max(from - a.hi - slack[0]));
                }
            }
            if spare > 0.0 {
                seen[0] += 1;
                assert!(nearest >= spare - 1e-9, "{spare} {nearest}: {a:?} {b:?} {tilt}");
            } else {
                seen[1] += 1;
                assert!(nearest < 0.12, "{spare} {nearest}: {a:?} {b:?} {tilt}");
            }
        }
        assert!(seen[0] > 1000 && seen[1] > 500, "{seen:?}");
    }
}
