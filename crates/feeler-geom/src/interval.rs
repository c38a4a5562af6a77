//! Intervals rounded outward.
//!
//! Every operation returns an interval that contains all exact results for exact operands inside its
//! arguments. A bound is moved by one ulp after each rounded operation (two after sine and cosine, whose
//! library versions are good to one). Operations that are undefined somewhere on their arguments, and
//! NaN operands, return [`Interval::ENTIRE`].
//!
//! # Source
//! IEEE 1788 in its simplest form; used by the uniqueness certificates of MATH §8.

use crate::math;
use std::f64::consts::{FRAC_PI_2, PI, TAU};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A closed interval of real numbers, `lo ≤ hi`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    lo: f64,
    hi: f64,
}

impl Interval {
    /// All real numbers.
    pub const ENTIRE: Self = Self { lo: f64::NEG_INFINITY, hi: f64::INFINITY };
    /// The number zero.
    pub const ZERO: Self = Self { lo: 0.0, hi: 0.0 };
    /// The number one.
    pub const ONE: Self = Self { lo: 1.0, hi: 1.0 };

    /// The interval between two numbers in any order; [`Interval::ENTIRE`] if one of them is NaN.
    #[must_use]
    pub fn new(a: f64, b: f64) -> Self {
        if a <= b {
            Self { lo: a, hi: b }
        } else if b < a {
            Self { lo: b, hi: a }
        } else {
            Self::ENTIRE
        }
    }

    /// The interval of one exact number.
    #[must_use]
    pub fn point(x: f64) -> Self {
        Self::new(x, x)
    }

    /// All numbers within `radius` (≥ 0) of `x`, rounded outward.
    #[must_use]
    pub fn around(x: f64, radius: f64) -> Self {
        Self::outward(x - radius, x + radius)
    }

    /// Interval of two bounds that were computed with one rounding each: both are moved outward by one
    /// ulp.
    fn outward(lo: f64, hi: f64) -> Self {
        if lo <= hi { Self { lo: lo.next_down(), hi: hi.next_up() } } else { Self::ENTIRE }
    }

    /// Lower bound of the interval.
    #[must_use]
    pub fn lo(&self) -> f64 {
        self.lo
    }

    /// Upper bound of the interval.
    #[must_use]
    pub fn hi(&self) -> f64 {
        self.hi
    }

    /// Difference of the bounds, rounded up.
    #[must_use]
    pub fn width(&self) -> f64 {
        if self.lo < self.hi { (self.hi - self.lo).next_up() } else { 0.0 }
    }

    /// A number inside the interval, near its middle; 0 for [`Interval::ENTIRE`].
    #[must_use]
    pub fn mid(&self) -> f64 {
        if *self == Self::ENTIRE {
            0.0
        } else {
            (0.5 * self.lo.max(f64::MIN) + 0.5 * self.hi.min(f64::MAX)).clamp(self.lo, self.hi)
        }
    }

    /// Largest absolute value of a number in the interval.
    #[must_use]
    pub fn mag(&self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }

    /// Smallest absolute value of a number in the interval.
    #[must_use]
    pub fn mig(&self) -> f64 {
        if self.contains(0.0) { 0.0 } else { self.lo.abs().min(self.hi.abs()) }
    }

    /// Whether `x` is in the interval; its bounds belong to it.
    #[must_use]
    pub fn contains(&self, x: f64) -> bool {
        self.lo <= x && x <= self.hi
    }

    /// Whether all numbers of `other` are in this interval.
    #[must_use]
    pub fn contains_interval(&self, other: &Self) -> bool {
        self.lo <= other.lo && other.hi <= self.hi
    }

    /// Whether all numbers of `other` are strictly between the bounds, which is the condition of
    /// Krawczyk's test.
    #[must_use]
    pub fn contains_strictly(&self, other: &Self) -> bool {
        self.lo < other.lo && other.hi < self.hi
    }

    /// Intersection of both intervals; `None` if it is empty.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Option<Self> {
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        (lo <= hi).then_some(Self { lo, hi })
    }

    /// Smallest interval that contains both intervals.
    #[must_use]
    pub fn hull(&self, other: &Self) -> Self {
        Self { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// Interval of the squares; tighter than the product of the interval with itself.
    #[must_use]
    pub fn sqr(&self) -> Self {
        let (a, b) = (self.mig(), self.mag());
        Self { lo: (a * a).next_down().max(0.0), hi: (b * b).next_up() }
    }

    /// Interval of the square roots of the non-negative numbers; [`Interval::ENTIRE`] if all numbers are
    /// negative.
    #[must_use]
    pub fn sqrt(&self) -> Self {
        if self.hi < 0.0 {
            return Self::ENTIRE;
        }
        Self { lo: self.lo.max(0.0).sqrt().next_down().max(0.0), hi: self.hi.sqrt().next_up() }
    }

    /// Interval of the absolute values.
    #[must_use]
    pub fn abs(&self) -> Self {
        Self { lo: self.mig(), hi: self.mag() }
    }

    /// Interval of the sines of angles in radians.
    #[must_use]
    pub fn sin(&self) -> Self {
        // Extremes of the sine are at π/2 + k π, its maxima at even k.
        self.wave(math::sin, FRAC_PI_2)
    }

    /// Interval of the cosines of angles in radians.
    #[must_use]
    pub fn cos(&self) -> Self {
        self.wave(math::cos, 0.0)
    }

    /// Interval of the values of `f`, a cosine shifted so that its maxima are at `crest + 2πk`.
    fn wave(&self, f: impl Fn(f64) -> f64, crest: f64) -> Self {
        let whole = Self { lo: -1.0, hi: 1.0 };
        // Beyond 1e6 turns the position of the crests is accurate to 1e-9 only, and the library needs no
        // such angles.
        if !(self.mag() < 1e6 * TAU && self.width() < TAU) {
            return whole;
        }
        let (a, b) = (f(self.lo), f(self.hi));
        let two_ulps = |x: f64, towards: f64| {
            let step = 2.0 * f64::EPSILON;
            (x + towards * step).clamp(-1.0, 1.0)
        };
        // Whether some `phase + 2πk` is inside, allowing for the rounding of k π. A false positive only
        // widens the result.
        let passes = |phase: f64| {
            let slack = 4.0 * f64::EPSILON * (self.mag() + TAU);
            let k = ((self.lo - slack - phase) / TAU).ceil();
            [k - 1.0, k].iter().any(|k| {
                let x = phase + k * TAU;
                self.lo - slack <= x && x <= self.hi + slack
            })
        };
        Self {
            lo: if passes(crest + PI) { -1.0 } else { two_ulps(a.min(b), -1.0) },
            hi: if passes(crest) { 1.0 } else { two_ulps(a.max(b), 1.0) },
        }
    }
}

impl From<f64> for Interval {
    fn from(x: f64) -> Self {
        Self::point(x)
    }
}

impl Neg for Interval {
    type Output = Self;
    fn neg(self) -> Self {
        Self { lo: -self.hi, hi: -self.lo }
    }
}

impl Add for Interval {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self::outward(self.lo + o.lo, self.hi + o.hi)
    }
}

impl Sub for Interval {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self::outward(self.lo - o.hi, self.hi - o.lo)
    }
}

impl Mul for Interval {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        // An infinite bound means arbitrarily large finite numbers, and zero times each of them is zero.
        let product = |a: f64, b: f64| if a == 0.0 || b == 0.0 { 0.0 } else { a * b };
        let p =
            [product(self.lo, o.lo), product(self.lo, o.hi), product(self.hi, o.lo), product(self.hi, o.hi)];
        let lo = p.iter().fold(f64::INFINITY, |m: f64, x| m.min(*x));
        let hi = p.iter().fold(f64::NEG_INFINITY, |m: f64, x| m.max(*x));
        Self::outward(lo, hi)
    }
}

impl Div for Interval {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        if o.contains(0.0) || o.mag() == f64::INFINITY {
            return Self::ENTIRE;
        }
        let q = [self.lo / o.lo, self.lo / o.hi, self.hi / o.lo, self.hi / o.hi];
        let lo = q.iter().fold(f64::INFINITY, |m: f64, x| m.min(*x));
        let hi = q.iter().fold(f64::NEG_INFINITY, |m: f64, x| m.max(*x));
        Self::outward(lo, hi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    fn random(rng: &mut SmallRng) -> Interval {
        let scale = [1e-8, 1.0, 7.0, 1e5][rng.random_range(0..4)];
        let x = scale * rng.random_range(-1.0..1.0);
        match rng.random_range(0..4) {
            0 => Interval::point(x),
            1 => Interval::around(x, 1e-15 * scale),
            2 => Interval::new(0.0, x),
            _ => Interval::new(x, scale * rng.random_range(-1.0..1.0)),
        }
    }

    fn inside(rng: &mut SmallRng, i: &Interval) -> f64 {
        match rng.random_range(0..4) {
            0 => i.lo(),
            1 => i.hi(),
            _ => (i.lo() + (i.hi() - i.lo()) * rng.random_range(0.0..=1.0)).clamp(i.lo(), i.hi()),
        }
    }

    /// Error-free transformations: the exact sum and product as unevaluated pairs.
    fn two_sum(a: f64, b: f64) -> (f64, f64) {
        let s = a + b;
        let t = s - a;
        (s, (a - (s - t)) + (b - t))
    }

    fn two_product(a: f64, b: f64) -> (f64, f64) {
        let p = a * b;
        (p, a.mul_add(b, -p))
    }

    /// Whether the exact number `x + error` is inside.
    #[expect(clippy::float_cmp, reason = "on the border the sign of the error decides")]
    fn holds(i: &Interval, (x, error): (f64, f64)) -> bool {
        (i.lo() < x || (i.lo() == x && error >= 0.0)) && (x < i.hi() || (i.hi() == x && error <= 0.0))
    }

    #[test]
    fn arithmetic_contains_exact_results() {
        let mut rng = SmallRng::seed_from_u64(21);
        for _ in 0..50_000 {
            let (i, j) = (random(&mut rng), random(&mut rng));
            let (x, y) = (inside(&mut rng, &i), inside(&mut rng, &j));
            assert!(holds(&(i + j), two_sum(x, y)), "{i:?} + {j:?}");
            assert!(holds(&(i - j), two_sum(x, -y)), "{i:?} - {j:?}");
            assert!(holds(&(i * j), two_product(x, y)), "{i:?} * {j:?}");
            assert!(holds(&i.sqr(), two_product(x, x)), "{i:?} squared");
            assert!((-i).contains(-x) && i.abs().contains(x.abs()), "{i:?}");
            assert!(i.mig() <= x.abs() && x.abs() <= i.mag() && i.contains(i.mid()), "{i:?}");
            if y != 0.0 {
                // y q = x − r exactly, so the exact quotient is q + r / y, and the sign of r / y
                // decides.
                let q = x / y;
                let r = -q.mul_add(y, -x);
                assert!(holds(&(i / j), (q, r * y.signum())), "{i:?} / {j:?}");
            }
            if x >= 0.0 {
                let s = x.sqrt();
                assert!(holds(&i.sqrt(), (s, -s.mul_add(s, -x))), "root of {i:?}");
            }
            assert!(i.hull(&j).contains_interval(&i) && i.hull(&j).contains(y), "hull");
            let meet = i.intersection(&j);
            assert!(meet.is_some_and(|m| m.contains(x)) == j.contains(x), "{i:?} {j:?}");
            assert!(i.width() >= i.hi() - i.lo(), "width");
        }
    }

    #[test]
    fn waves_contain_samples_and_find_their_crests() {
        let mut rng = SmallRng::seed_from_u64(22);
        for _ in 0..20_000 {
            let i = random(&mut rng);
            let (s, c) = (i.sin(), i.cos());
            assert!(-1.0 <= s.lo() && s.hi() <= 1.0, "range");
            for _ in 0..5 {
                let x = inside(&mut rng, &i);
                assert!(s.contains(math::sin(x)) && c.contains(math::cos(x)), "{i:?} at {x}");
            }
        }
        assert!(Interval::new(1.5, 1.6).sin().hi() >= 1.0, "crest");
        assert!(Interval::new(3.1, 3.2).cos().lo() <= -1.0, "trough");
        assert!(Interval::new(-0.1, 0.1).cos().hi() >= 1.0, "crest at 0");
        let tight = Interval::new(0.1, 0.2).sin();
        assert!(
            (tight.lo() - math::sin(0.1)).abs() < 1e-15 && (tight.hi() - math::sin(0.2)).abs() < 1e-15,
            "tight"
        );
        for k in -50..50 {
            let x = Interval::point(f64::from(k) * FRAC_PI_2);
            let (s, c) = (x.sin(), x.cos());
            assert!(s.width() < 1e-13 || s.width() < 2.1, "{s:?} {c:?}");
        }
    }

    #[test]
    fn undefined_operations_claim_nothing() {
        let zero = Interval::new(-1.0, 1.0);
        assert_eq!(Interval::ONE / zero, Interval::ENTIRE, "division by zero");
        assert_eq!(Interval::new(f64::NAN, 1.0), Interval::ENTIRE, "NaN");
        assert_eq!(Interval::new(-2.0, -1.0).sqrt(), Interval::ENTIRE, "root");
        assert_eq!(Interval::ENTIRE + Interval::ONE, Interval::ENTIRE, "infinite");
        assert!((Interval::ENTIRE * Interval::ZERO).contains(0.0), "zero times anything");
        assert_eq!(Interval::ENTIRE.sin(), Interval::new(-1.0, 1.0), "wave of everything");
        assert!(Interval::ENTIRE.contains(Interval::ENTIRE.mid()), "middle");
        assert!(Interval::new(0.0, 3.0).contains_strictly(&Interval::new(1.0, 2.0)), "strictly");
        assert!(!Interval::new(0.0, 3.0).contains_strictly(&Interval::new(0.0, 2.0)), "on the border");
    }
}
