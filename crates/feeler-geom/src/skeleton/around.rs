//! A circle that encircles a line or another circle at a nearly constant distance, as the rims of a plug
//! do in a bore, or that lies far away from the axis of the line or circle. On each side of the other
//! skeleton the distance then has one minimum and one maximum, near the zeros of the first harmonic of
//! its derivative.
//!
//! Let `r` be the vector from the axis to the circle's point at θ, with `|r|` nearly constant, and `e`
//! the unit tangent there. Up to a constant factor the derivative of the distance is `F / |r|`, where
//!
//! ```text
//! line:    F = ± cos φ r·e - m |r| u·e,
//! circle:  F = (|r| ∓ R) D·e ± R (z·D + radius z·e_r) (z·e)
//! ```
//!
//! Here `u` and `m` are the line's direction and slope, `R` and `z` the other circle's radius and axis,
//! and `D` is the vector from its centre to this circle's. All terms but `|r|` are trigonometric
//! polynomials of low degree, so `F = A sin(θ - θ_0) + ρ(θ)` with small `ρ`. If `|ρ| ≤ s A`, all zeros
//! lie in the two arcs `|sin(θ - θ_0)| ≤ s`, and `F` has different signs at the ends of each arc. If also
//! `|ρ'| < √(1 - s²) A`, each arc contains exactly one zero. In all other cases the slower general
//! solver, by the roots of a trigonometric polynomial, is used.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must take the cautious branch")]

use super::simple::Guess;
use super::solve::{Job, Sample};
use crate::V3;
use crate::roots::TrigPoly;
use crate::unit_angle::UnitAngle;
use arrayvec::ArrayVec;

/// Maximum of `|ρ|`, the sum of the higher harmonics of `F` (see the module documentation), relative to
/// the amplitude of the first one. With a larger value zeros may be outside their arcs; with a smaller
/// one the general solver is used more often.
const MAX_REST: f64 = 0.25;
/// Maximum of `|ρ'|`, the derivative by θ of the sum of the higher harmonics of `F`, relative to the
/// amplitude of the first one. It is below √(1 - [`MAX_REST`]²) by a margin that Newton's iteration
/// needs. With a larger value an arc may contain two zeros; with a smaller one the general solver is used
/// more often.
const MAX_REST_RATE: f64 = 0.5;
/// Minimum amplitude of the first harmonic of `F / |r|` (for two circles relative to the sizes of the
/// primitives) at which rounding leaves most of the digits of its zeros. With a larger value the general
/// solver is used more often; with a smaller one zeros lose their digits.
pub(super) const MIN_HARMONIC: f64 = 1e-7;
/// Maximum number of Newton steps of [`polished`]. Each step squares the error, which is at most about
/// 0.25 rad at the start, so convergence needs fewer steps. With a smaller value the general solver is
/// used more often; a larger one has no effect.
const MAX_STEPS: usize = 8;
/// Maximum length (rad) of the final Newton step of an iteration that counts as converged up to
/// rounding. With a larger value solutions are inexact; with a smaller one rounding prevents
/// convergence.
const MAX_LAST_STEP: f64 = 1e-9;

pub(super) fn length([x, y]: [f64; 2]) -> f64 {
    (x * x + y * y).sqrt()
}

/// Returns the amplitude of the `k`-th harmonic of a trigonometric polynomial.
pub(super) fn amplitude(of: &TrigPoly, k: usize) -> f64 {
    length([of.cos[k], of.sin[k]])
}

/// Bounds of the distance `|r|` (mm) of the circle's points from the axis: the root of its mean square
/// (`mean`), a lower bound, and upper bounds of its deviation from the mean and of its derivative by the
/// angle.
pub(super) struct AxisDistance {
    pub mean: f64,
    pub min: f64,
    pub max_deviation: f64,
    pub max_rate: f64,
}

impl AxisDistance {
    /// Computes the bounds from the constant part of `|r|²` and the amplitudes of its first and second
    /// harmonic. Returns `None` if `|r|` varies too much over the circle.
    pub(super) fn new(mean_sq: f64, [first, second]: [f64; 2]) -> Option<Self> {
        let min_sq = mean_sq - first - second;
        if !(min_sq > 0.5 * mean_sq) {
            return None;
        }
        let min = min_sq.sqrt();
        let (max_deviation, max_rate) = (0.5 * (first + second) / min, 0.5 * (first + 2.0 * second) / min);
        Some(Self { mean: mean_sq.sqrt(), min, max_deviation, max_rate })
    }
}

/// First harmonic of the function `F` of the module documentation, whose zeros are the critical pairs,
/// with upper bounds of the sum of the higher harmonics (`rest`) and of the derivative of that sum
/// (`rest_rate`).
pub(super) struct Harmonic {
    pub cos: f64,
    pub sin: f64,
    pub rest: f64,
    pub rest_rate: f64,
}

impl Harmonic {
    /// Returns one zero of the first harmonic; the other one is opposite. Returns `None` unless the
    /// bounds prove that `F` has exactly one zero near each zero of the harmonic, and the harmonic's
    /// amplitude exceeds `floor`.
    pub(super) fn zero(&self, floor: f64) -> Option<UnitAngle> {
        let size = length([self.cos, self.sin]);
        let is_dominant =
            self.rest <= MAX_REST * size && self.rest_rate <= MAX_REST_RATE * size && size > floor;
        is_dominant.then(|| UnitAngle { cos: self.sin / size, sin: -self.cos / size })
    }

    /// Upper bound of the difference between the distances at a zero of the harmonic and at the nearby
    /// zero of `F`, divided by the circle's radius. If the other skeleton is a circle, the result bounds
    /// the difference of half the squared distances instead.
    pub(super) fn max_change(&self, axis_distance: &AxisDistance) -> f64 {
        // The derivative is at most 2 ρ over an arc of at most 1.1 MAX_REST.
        self.rest / axis_distance.min
    }
}

/// Critical pairs found: for each pair the spheres of A's and B's skeletons and their common unit
/// normal.
pub(super) type Found = ArrayVec<([Sample; 2], V3), 4>;

/// Whether the angle `position`, a zero of the function `F` of the module documentation, is as close to
/// `other`, the zero of its first harmonic, as [`Harmonic::zero`] guarantees.
pub(super) fn is_near_harmonic_zero(position: UnitAngle, other: UnitAngle) -> bool {
    position.chord(other) <= 1.1 * MAX_REST
}

pub(super) fn add(job: &mut Job<'_>, found: &Found, is_even: bool) {
    for ([a, b], n) in found {
        job.add_between(a, b, *n);
        if is_even {
            job.add_between(a, b, -n);
        }
    }
}

/// Refines a guess by Newton's iteration up to rounding. Returns `None` if the iteration does not
/// converge.
pub(super) fn polished<G: Guess>(mut guess: G) -> Option<G> {
    let mut last = f64::INFINITY;
    for _ in 0..MAX_STEPS {
        let state = guess.state()?;
        // At rounding level the step no longer gets shorter.
        if !(state.size < 0.5 * last) {
            return (last <= MAX_LAST_STEP).then_some(guess);
        }
        last = state.size;
        guess = guess.stepped(&state);
        if last <= f64::EPSILON {
            return Some(guess);
        }
    }
    (last <= MAX_LAST_STEP).then_some(guess)
}

#[cfg(test)]
mod tests {
    use super::super::circle_circle::{self, Circle};
    use super::super::line_circle::{self, Forms, Poses};
    use super::super::solve::{on_nappe, sample};
    use super::super::{Criticals, Primitive, critical_pairs_between};
    use super::*;
    use crate::testing::{frame, rng, unit};
    use crate::{Frame, P3, math};
    use rand::Rng;
    use rand::rngs::SmallRng;
    use std::f64::consts::TAU;

    /// Number of angles at which functions are sampled for extrema.
    const SAMPLES: u32 = 2000;

    /// Angles and values of the extrema of a function on the circle, from parabolas through three
    /// neighbouring samples.
    fn extrema(f: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        let at = |k: u32| TAU * f64::from(k) / f64::from(SAMPLES);
        let values: Vec<f64> = (0..SAMPLES).map(|k| f(at(k))).collect();
        let n = SAMPLES as usize;
        (0..n)
            .filter_map(|k| {
                let [a, b, c] = [values[(k + n - 1) % n], values[k], values[(k + 1) % n]];
                let is_extremum = (a > b && c >= b) || (a < b && c <= b);
                let shift = 0.5 * (a - c) / (a - 2.0 * b + c);
                let theta = at(u32::try_from(k).expect("a few thousand")) + shift * TAU / f64::from(SAMPLES);
                is_extremum.then_some((theta, b - 0.25 * (a - c) * shift))
            })
            .collect()
    }

    /// Returns a frame near `f`: moved along the axis, with the given eccentricity and tilt.
    fn beside(f: &Frame, e: f64, tilt: f64, r: &mut SmallRng) -> Frame {
        let along = f.z * r.random_range(-3.0..3.0);
        Frame::from_z(f.origin + along + unit(r) * e, f.z + unit(r) * tilt, None).expect("an axis")
    }

    fn compare(mut expected: Vec<f64>, a: &Primitive, b: &Primitive, range: [f64; 2]) {
        let found = critical_pairs_between(a, b, range, 1e-9, 10.0);
        let inside = |d: &f64| range[0] + 1e-6 < *d && *d < range[1] - 1e-6;
        expected.retain(inside);
        expected.sort_by(f64::total_cmp);
        let found: Vec<f64> = found.isolated.iter().map(|c| c.distance).filter(inside).collect();
        assert_eq!(found.len(), expected.len(), "{found:?} {expected:?} {a:?} {b:?}");
        for (x, y) in found.iter().zip(&expected) {
            assert!((x - y).abs() < 1e-7, "{found:?} {expected:?} {a:?} {b:?}");
        }
    }

    /// Returns a narrow random range, or one that contains every distance.
    fn range(r: &mut SmallRng) -> [f64; 2] {
        let lo = r.random_range(-12.0..12.0);
        [[-1e3, 1e3], [lo, lo + r.random_range(0.0..2.0)]][r.random_range(0..2)]
    }

    /// A circle around a line, nearly coaxial with it, has critical pairs at the distances that sampling
    /// finds, on both sides of the axis and within any range of distances.
    #[test]
    fn extrema_about_lines() {
        let mut r = rng(71);
        let mut solved = 0;
        for _ in 0..1500 {
            let f = frame(&mut r);
            let slope = [0.0, -0.6, 0.05, 0.4][r.random_range(0..4)];
            let (sigma, tube) = (r.random_range(-3.0..3.0), r.random_range(-1.0..1.0));
            let e = [1e-3, 0.03, 0.3, 1.0][r.random_range(0..4)];
            let tilt = [0.0, 1e-3, 0.03, 0.3][r.random_range(0..4)];
            let (g, radius) = (beside(&f, e, tilt, &mut r), r.random_range(0.5..5.0));
            let a = Primitive::Line { origin: f.origin, dir: f.z, sigma, slope };
            let b = Primitive::Circle { frame: g, radius, sigma: tube };
            let range = range(&mut r);
            let mut out = Criticals::default();
            let mut job = Job::new(&a, &b, range, 1e-9, 10.0, &mut out);
            let poses = Poses::new(&f.origin, &f.z, slope, g, radius);
            if line_circle::solve_encircling(&mut job, &poses, &Forms::new(&poses)).is_none() {
                continue;
            }
            solved += 1;
            let cos = (1.0 - slope * slope).sqrt();
            let axis_coordinates = |theta: f64| {
                let (sin, cos) = math::sin_cos(theta);
                let x = g.point(radius * cos, radius * sin, 0.0) - f.origin;
                let along = x.dot(&f.z);
                ((x - f.z * along).norm(), along)
            };
            let mut expected = Vec::new();
            for side in [1.0, -1.0] {
                let value = |theta: f64| {
                    let (dist, along) = axis_coordinates(theta);
                    side * cos * dist - slope * along
                };
                for (theta, value) in extrema(value) {
                    let (dist, along) = axis_coordinates(theta);
                    if on_nappe(&sample(&a, along + slope * side * dist / cos), 0.0) {
                        expected.push(value - sigma - tube);
                    }
                }
            }
            compare(expected, &a, &b, range);
        }
        assert!(solved > 600, "{solved}");
    }

    /// Two circles around nearly the same axis have critical pairs at the distances that sampling finds,
    /// within any range of distances.
    #[test]
    fn extrema_about_circles() {
        let mut r = rng(72);
        let mut solved = 0;
        for _ in 0..1500 {
            let f = frame(&mut r);
            let sigmas = [r.random_range(-1.0..1.0), r.random_range(-1.0..1.0)];
            let e = [1e-3, 0.03, 0.3][r.random_range(0..3)];
            let tilt = [0.0, 1e-3, 0.03, 0.3][r.random_range(0..4)];
            let g = beside(&f, e, tilt, &mut r);
            let radii = [r.random_range(2.0..5.0), r.random_range(0.5..2.0)];
            let a = Primitive::Circle { frame: f, radius: radii[0], sigma: sigmas[0] };
            let b = Primitive::Circle { frame: g, radius: radii[1], sigma: sigmas[1] };
            let range = range(&mut r);
            let mut out = Criticals::default();
            let mut job = Job::new(&a, &b, range, 1e-9, 10.0, &mut out);
            let circles = [Circle { frame: f, radius: radii[0] }, Circle { frame: g, radius: radii[1] }];
            if circle_circle::solve_encircling(&mut job, &circles[0], &circles[1]).is_none() {
                continue;
            }
            solved += 1;
            let mut expected = Vec::new();
            for side in [1.0, -1.0] {
                let value = |phi: f64| {
                    let (sin, cos) = math::sin_cos(phi);
                    let p: P3 = g.point(radii[1] * cos, radii[1] * sin, 0.0);
                    let q = f.local(&p);
                    math::hypot(math::hypot(q.x, q.y) - side * radii[0], q.z)
                };
                for (_, h) in extrema(value) {
                    expected.extend([h - sigmas[0] - sigmas[1], -h - sigmas[0] - sigmas[1]]);
                }
            }
            compare(expected, &a, &b, range);
        }
        assert!(solved > 500, "{solved}");
    }

    /// Poses that are coaxial to rounding, far apart or crosswise are rejected.
    #[test]
    fn uneven_poses_are_rejected() {
        let f = Frame::identity();
        let check = |e: f64, tilt: f64, radius: f64| {
            let g = Frame::from_z(P3::new(e, 0.0, 0.5), V3::new(0.0, tilt, 1.0), None).expect("an axis");
            let a = Primitive::Line { origin: f.origin, dir: f.z, sigma: 1.0, slope: 0.0 };
            let b = Primitive::Circle { frame: g, radius, sigma: 0.0 };
            let mut out = Criticals::default();
            let mut job = Job::new(&a, &b, [-10.0, 10.0], 1e-9, 10.0, &mut out);
            let poses = Poses::new(&f.origin, &f.z, 0.0, g, radius);
            line_circle::solve_encircling(&mut job, &poses, &Forms::new(&poses)).is_some()
        };
        assert!(check(0.1, 1e-3, 2.0), "a rim in a bore");
        assert!(!check(0.0, 0.0, 2.0), "coaxial");
        assert!(!check(1e-12, 0.0, 2.0), "coaxial to rounding");
        assert!(!check(1e-6, 0.1, 2.0), "an ellipse, with four extrema");
        assert!(!check(1.9, 0.0, 2.0), "nearly through the axis");
        assert!(!check(5.0, 0.0, 2.0), "beside it");
    }
}
