//! A circle that goes round a line or another circle about evenly, as the rims of a plug do in a bore, or is
//! far beside it: each side of the other one then has one minimum and one maximum, near those of the
//! derivative's first harmonic.
//!
//! With `r` the vector from the axis to the circle's point at θ, `e` the unit tangent there and `|r|` nearly
//! constant, the derivative is `F / |r|` but for a constant factor, where
//!
//! ```text
//! line:    F = ± cos φ r·e - m |r| u·e,
//! circle:  F = (|r| ∓ R) D·e ± R (z·D + radius z·e_r) (z·e)
//! ```
//!
//! (`u`, `m` the line's direction and slope, `R`, `z` the other circle's radius and axis, `D` from its centre
//! to this one's). All but `|r|` are trigonometric polynomials of low degree: `F = A sin(θ - θ_0) + ρ(θ)`
//! with small `ρ`. Where `|ρ| ≤ s A` there are no zeros but in two arcs `|sin(θ - θ_0)| ≤ s`, at whose ends
//! `F` has different signs, and where `|ρ'| < √(1 - s²) A` too, there is one in each.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must take the cautious branch")]

use super::simple::Guess;
use super::solve::{Job, Sample};
use crate::V3;
use crate::roots::TrigPoly;
use crate::unit_angle::UnitAngle;
use arrayvec::ArrayVec;

/// Largest part of the first harmonic that the rest may be.
const REST: f64 = 0.25;
/// Largest part of the first harmonic that the derivative of the rest may be: less than √(1 - `REST`²) by
/// enough for Newton's iteration.
const REST_RATE: f64 = 0.5;
/// Smallest first harmonic of `F / |r|`, of a circle's over the sizes, that gives its zeros with most of
/// their digits.
pub(super) const LEAST: f64 = 1e-7;
/// Newton steps: the first ones square an error of at most `REST`.
const STEPS: usize = 8;
/// Last step (radians) of an iteration that has come to rounding.
const SETTLED: f64 = 1e-9;

pub(super) fn length([x, y]: [f64; 2]) -> f64 {
    (x * x + y * y).sqrt()
}

/// Amplitude of a harmonic.
pub(super) fn amplitude(of: &TrigPoly, k: usize) -> f64 {
    length([of.cos[k], of.sin[k]])
}

/// `|r|`: its middle, its smallest value, what it differs from the middle by, and its largest derivative.
pub(super) struct Swing {
    pub middle: f64,
    pub least: f64,
    pub off: f64,
    pub rate: f64,
}

impl Swing {
    /// From the constant part of the square and the amplitudes of its harmonics; `None` where it is not about
    /// even.
    pub(super) fn new(mean_sq: f64, [first, second]: [f64; 2]) -> Option<Self> {
        let least_sq = mean_sq - first - second;
        if !(least_sq > 0.5 * mean_sq) {
            return None;
        }
        let least = least_sq.sqrt();
        let (off, rate) = (0.5 * (first + second) / least, 0.5 * (first + 2.0 * second) / least);
        Some(Self { middle: mean_sq.sqrt(), least, off, rate })
    }
}

/// The first harmonic of `F` and bounds of the rest and of its derivative.
pub(super) struct Harmonic {
    pub cos: f64,
    pub sin: f64,
    pub rest: f64,
    pub rest_rate: f64,
}

impl Harmonic {
    /// One of its zeros, the other one being opposite, when those of `F` are near them.
    pub(super) fn zero(&self, floor: f64) -> Option<UnitAngle> {
        let size = length([self.cos, self.sin]);
        let rules = self.rest <= REST * size && self.rest_rate <= REST_RATE * size && size > floor;
        rules.then(|| UnitAngle { cos: self.sin / size, sin: -self.cos / size })
    }

    /// What the distance (of a line, by the way over the radius) or half its square (of a circle) changes by
    /// at most from a zero of the harmonic to that of `F`, over the radius.
    pub(super) fn change(&self, swing: &Swing) -> f64 {
        // 2 ρ over an arc of at most 1.1 REST.
        self.rest / swing.least
    }
}

/// Spheres and normals of pairs.
pub(super) type Found = ArrayVec<([Sample; 2], V3), 4>;

/// Whether a place is no farther from another one than a zero of `F` is from that of the harmonic.
pub(super) fn is_near(place: UnitAngle, other: UnitAngle) -> bool {
    place.chord(other) <= 1.1 * REST
}

pub(super) fn add(job: &mut Job<'_>, found: &Found, is_even: bool) {
    for ([a, b], n) in found {
        job.add_between(a, b, *n);
        if is_even {
            job.add_between(a, b, -n);
        }
    }
}

/// Newton's iteration to rounding.
pub(super) fn polished<G: Guess>(mut guess: G) -> Option<G> {
    let mut last = f64::INFINITY;
    for _ in 0..STEPS {
        let state = guess.state()?;
        // Rounding stops it from getting shorter.
        if !(state.size < 0.5 * last) {
            return (last <= SETTLED).then_some(guess);
        }
        last = state.size;
        guess = guess.stepped(&state);
        if last <= f64::EPSILON {
            return Some(guess);
        }
    }
    (last <= SETTLED).then_some(guess)
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

    /// Angles between which extrema are looked for.
    const SAMPLES: u32 = 2000;

    /// Values of a function where it is least or greatest on the circle: parabolas through three neighbours.
    fn extrema(f: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        let at = |k: u32| TAU * f64::from(k) / f64::from(SAMPLES);
        let values: Vec<f64> = (0..SAMPLES).map(|k| f(at(k))).collect();
        let n = SAMPLES as usize;
        (0..n)
            .filter_map(|k| {
                let [a, b, c] = [values[(k + n - 1) % n], values[k], values[(k + 1) % n]];
                let is_one = (a > b && c >= b) || (a < b && c <= b);
                let shift = 0.5 * (a - c) / (a - 2.0 * b + c);
                let theta = at(u32::try_from(k).expect("a few thousand")) + shift * TAU / f64::from(SAMPLES);
                is_one.then_some((theta, b - 0.25 * (a - c) * shift))
            })
            .collect()
    }

    /// A frame near `f`: moved along its axis, and by the given eccentricity and tilt.
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

    /// Narrow ranges about nothing, and one that holds everything.
    fn range(r: &mut SmallRng) -> [f64; 2] {
        let lo = r.random_range(-12.0..12.0);
        [[-1e3, 1e3], [lo, lo + r.random_range(0.0..2.0)]][r.random_range(0..2)]
    }

    /// Circles about lines have the extrema that samples show, on both sides, whatever the range.
    #[test]
    fn extrema_about_lines() {
        let mut r = rng(71);
        let mut answered = 0;
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
            if line_circle::around(&mut job, &poses, &Forms::new(&poses)).is_none() {
                continue;
            }
            answered += 1;
            let cos = (1.0 - slope * slope).sqrt();
            let seen = |theta: f64| {
                let (sin, cos) = math::sin_cos(theta);
                let x = g.point(radius * cos, radius * sin, 0.0) - f.origin;
                let along = x.dot(&f.z);
                ((x - f.z * along).norm(), along)
            };
            let mut expected = Vec::new();
            for side in [1.0, -1.0] {
                let value = |theta: f64| {
                    let (dist, along) = seen(theta);
                    side * cos * dist - slope * along
                };
                for (theta, value) in extrema(value) {
                    let (dist, along) = seen(theta);
                    if on_nappe(&sample(&a, along + slope * side * dist / cos), 0.0) {
                        expected.push(value - sigma - tube);
                    }
                }
            }
            compare(expected, &a, &b, range);
        }
        assert!(answered > 600, "{answered}");
    }

    /// The same about other circles.
    #[test]
    fn extrema_about_circles() {
        let mut r = rng(72);
        let mut answered = 0;
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
            if circle_circle::around(&mut job, &circles[0], &circles[1]).is_none() {
                continue;
            }
            answered += 1;
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
        assert!(answered > 500, "{answered}");
    }

    /// Coaxial to rounding, far apart and across, it does not answer.
    #[test]
    fn what_is_not_even_is_left_to_others() {
        let f = Frame::identity();
        let check = |e: f64, tilt: f64, radius: f64| {
            let g = Frame::from_z(P3::new(e, 0.0, 0.5), V3::new(0.0, tilt, 1.0), None).expect("an axis");
            let a = Primitive::Line { origin: f.origin, dir: f.z, sigma: 1.0, slope: 0.0 };
            let b = Primitive::Circle { frame: g, radius, sigma: 0.0 };
            let mut out = Criticals::default();
            let mut job = Job::new(&a, &b, [-10.0, 10.0], 1e-9, 10.0, &mut out);
            let poses = Poses::new(&f.origin, &f.z, 0.0, g, radius);
            line_circle::around(&mut job, &poses, &Forms::new(&poses)).is_some()
        };
        assert!(check(0.1, 1e-3, 2.0), "a rim in a bore");
        assert!(!check(0.0, 0.0, 2.0), "coaxial");
        assert!(!check(1e-12, 0.0, 2.0), "coaxial to rounding");
        assert!(!check(1e-6, 0.1, 2.0), "an ellipse, with four extrema");
        assert!(!check(1.9, 0.0, 2.0), "nearly through the axis");
        assert!(!check(5.0, 0.0, 2.0), "beside it");
    }
}
