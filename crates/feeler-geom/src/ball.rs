//! Balls of vectors, which enclose uncertain or varying vectors.
//!
//! Every operation returns a ball that contains all exact results for vectors in its arguments: radii
//! grow by a bound of the rounding error of the centre. For a single operation, balls are coarser than
//! an interval for each coordinate. However, they do not depend on the frame, and bounds of dot products
//! of nearly orthogonal vectors stay small.
//!
//! # Source
//! Midpoint-radius arithmetic; used by the uniqueness certificates of MATH §8.

use crate::V3;

/// All vectors within `radius` of `center`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VectorBall {
    /// Centre of the ball.
    pub center: V3,
    /// Radius of the ball, ≥ 0; infinite if it contains all vectors.
    pub radius: f64,
}

/// Bound of the relative rounding error of one operation on three coordinates. A larger value leaves
/// more certificates undecided; a smaller one makes them unsafe.
const ROUND: f64 = 8.0 * f64::EPSILON;

impl VectorBall {
    /// Creates a ball from its centre and its radius (≥ 0).
    #[must_use]
    pub fn new(center: V3, radius: f64) -> Self {
        Self { center, radius }
    }

    /// The ball of radius 0 about an exact vector.
    #[must_use]
    pub fn exact(v: V3) -> Self {
        Self { center: v, radius: 0.0 }
    }

    /// The ball of infinite radius, which contains every vector.
    #[must_use]
    pub fn everything() -> Self {
        Self { center: V3::zeros(), radius: f64::INFINITY }
    }

    /// Smallest ball that contains `vectors` and is centred in the middle of their bounding box, rounded
    /// outward; the ball of radius 0 about the zero vector if `vectors` is empty.
    #[must_use]
    pub fn around(vectors: &[V3]) -> Self {
        let Some(first) = vectors.first() else { return Self::exact(V3::zeros()) };
        let (lo, hi) = vectors.iter().fold((*first, *first), |(lo, hi), v| (lo.inf(v), hi.sup(v)));
        let center = (lo + hi) * 0.5;
        let radius = vectors.iter().fold(0.0, |m: f64, v| m.max((v - center).norm()));
        Self::rounded(center, radius, center.norm())
    }

    fn rounded(center: V3, radius: f64, magnitude: f64) -> Self {
        let radius = radius * (1.0 + ROUND) + ROUND * magnitude;
        if radius.is_finite() { Self { center, radius } } else { Self::everything() }
    }

    /// Upper bound of the length of a vector in the ball.
    #[must_use]
    pub fn norm(&self) -> f64 {
        (self.center.norm() + self.radius) * (1.0 + ROUND)
    }

    /// The ball with its radius enlarged by `by` (≥ 0).
    #[must_use]
    pub fn widened(&self, by: f64) -> Self {
        Self::rounded(self.center, self.radius + by, 0.0)
    }

    /// A ball that contains the sum of any vector of this ball and any vector of the other one.
    #[must_use]
    pub fn plus(&self, o: &Self) -> Self {
        let magnitude = self.center.norm() + o.center.norm();
        Self::rounded(self.center + o.center, self.radius + o.radius, magnitude)
    }

    /// A ball that contains the difference of any vector of this ball and any vector of the other one.
    #[must_use]
    pub fn minus(&self, o: &Self) -> Self {
        self.plus(&o.times(-1.0))
    }

    /// A ball that contains the vectors of this ball multiplied by `f`.
    #[must_use]
    pub fn times(&self, f: f64) -> Self {
        Self::rounded(self.center * f, self.radius * f.abs(), self.center.norm() * f.abs())
    }

    /// Middle and radius of an interval that contains the dot product of any vector of this ball and any
    /// vector of the other one.
    #[must_use]
    pub fn dot(&self, o: &Self) -> (f64, f64) {
        let (a, b) = (self.center.norm(), o.center.norm());
        let radius = a * o.radius + self.radius * b + self.radius * o.radius;
        let radius = radius * (1.0 + ROUND) + ROUND * a * b;
        (self.center.dot(&o.center), if radius.is_finite() { radius } else { f64::INFINITY })
    }

    /// Upper bound of the magnitude of the dot product of any vector of this ball and any vector of the
    /// other one.
    #[must_use]
    pub fn dot_bound(&self, o: &Self) -> f64 {
        let (middle, radius) = self.dot(o);
        middle.abs() + radius
    }

    /// A ball that contains the cross product of any vector of this ball and any vector of the other
    /// one.
    #[must_use]
    pub fn cross(&self, o: &Self) -> Self {
        let (a, b) = (self.center.norm(), o.center.norm());
        let radius = a * o.radius + self.radius * b + self.radius * o.radius;
        Self::rounded(self.center.cross(&o.center), radius, a * b)
    }

    /// Whether the vector `v` is in the ball.
    #[must_use]
    pub fn contains(&self, v: &V3) -> bool {
        (v - self.center).norm() <= self.radius
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{rng, unit};
    use rand::Rng;

    #[test]
    fn operations_enclose_exact_results() {
        let mut r = rng(91);
        for _ in 0..20_000 {
            let mut pair = || {
                let size = [1e-6, 1.0, 1e3][r.random_range(0..3)];
                let ball = VectorBall::new(unit(&mut r) * size, size * r.random_range(0.0..2.0));
                let inside = ball.center + unit(&mut r) * (ball.radius * r.random_range(0.0..1.0));
                (ball, inside)
            };
            let ((a, x), (b, y)) = (pair(), pair());
            let slack = |b: VectorBall| b.widened(1e-15 * (a.norm() + b.norm()));
            assert!(slack(a.plus(&b)).contains(&(x + y)), "sum of {a:?} and {b:?}");
            assert!(slack(a.minus(&b)).contains(&(x - y)), "difference of {a:?} and {b:?}");
            assert!(slack(a.times(-0.7)).contains(&(x * -0.7)), "multiple of {a:?}");
            assert!(a.cross(&b).widened(1e-15 * a.norm() * b.norm()).contains(&x.cross(&y)), "{a:?} × {b:?}");
            let (middle, radius) = a.dot(&b);
            assert!((x.dot(&y) - middle).abs() <= radius + 1e-15 * a.norm() * b.norm(), "{a:?} · {b:?}");
            assert!(x.dot(&y).abs() <= a.dot_bound(&b) && x.norm() <= a.norm(), "{a:?}");
        }
        assert!(
            !VectorBall::everything().cross(&VectorBall::exact(V3::zeros())).radius.is_nan(),
            "an unbounded operand gives NaN"
        );
    }

    #[test]
    fn a_ball_around_vectors_contains_them() {
        let mut r = rng(92);
        for n in 1..20 {
            let all: Vec<V3> = (0..n).map(|_| unit(&mut r) * r.random_range(0.1..5.0)).collect();
            let ball = VectorBall::around(&all);
            assert!(all.iter().all(|v| ball.contains(v)), "{all:?}");
        }
        assert!(VectorBall::around(&[]).radius < 1e-300, "the ball around no vectors is not a point");
    }
}
