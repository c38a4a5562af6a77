//! Three tests whether a direction between two pieces can be orthogonal to their tangents. Each test
//! rejects a pair only if no such direction exists.
//!
//! # Source
//! BREP §3.5.1 (cones of revolution) and §3.5.2 (polyhedral cones, Proposition 2, Algorithm 7, whose line 3
//! must read ⟨a₁, b₁⟩).
//! # Deviations
//! - The formula of §3.5.1.3 is missing: for balls around c and d of radii r and q the axis is
//!   (c − d)/|c − d|, the half angle asin((r + q)/|c − d|).
//! - Angles are compared by their sines and cosines.
//! - The products of a tangent h with all differences of points are not computed. Those of the extreme
//!   points along h determine all signs.

use feeler_geom::V3;
use feeler_geom::math::acos;

use crate::piece::{Piece, derivative, gradient};

/// Cone of revolution around the tangents of a piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct TangentCone {
    axis: V3,
    /// Cosine of the half angle; −1 for the cone of all directions.
    cos: f64,
}

impl TangentCone {
    /// Cone around the mean direction of the derivative's control points.
    pub(super) fn of<const N: usize>(a: &Piece<N>) -> Self {
        let h = derivative(a);
        let mut units = [V3::zeros(); N];
        let mut sum = V3::zeros();
        for (unit, h) in units.iter_mut().zip(&h[..N - 1]) {
            let length = h.norm();
            if length > 0.0 {
                *unit = h / length;
                sum += *unit;
            }
        }
        let length = sum.norm();
        if length <= 0.0 {
            return Self { axis: V3::x(), cos: -1.0 };
        }
        let axis = sum / length;
        // Control points of zero length have no direction and are skipped.
        let of = |u: &V3| if *u == V3::zeros() { 1.0 } else { axis.dot(u) };
        Self { axis, cos: units[..N - 1].iter().map(of).fold(1.0, f64::min) }
    }

    /// Half angle (rad) of the cone, between its axis and its boundary.
    pub(super) fn half_angle(&self) -> f64 {
        acos(self.cos)
    }
}

/// Bounding ball of a piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ball {
    center: V3,
    radius: f64,
}

impl Ball {
    /// Ball centred at the middle of the box of the control points.
    pub(super) fn of<const N: usize>(a: &Piece<N>) -> Self {
        let (min, max) = a.iter().fold((a[0], a[0]), |(min, max), p| (min.inf(p), max.sup(p)));
        let center = (min + max) * 0.5;
        let radius_sq = a.iter().map(|p| (p - center).norm_squared()).fold(0.0, f64::max);
        Self { center, radius: radius_sq.sqrt() }
    }
}

/// Tests by cones of revolution, (3.19) to (3.22), whether a direction between the balls of two pieces
/// can be orthogonal to the tangents of both.
pub(super) fn by_revolution(tangents: [&TangentCone; 2], balls: [&Ball; 2]) -> bool {
    let w = balls[0].center - balls[1].center;
    let (length, radius) = (w.norm(), balls[0].radius + balls[1].radius);
    if length <= radius {
        return true;
    }
    let sin = radius / length;
    let cos = (1.0 - sin * sin).sqrt();
    tangents.iter().all(|t| {
        // Compares the sum of both half angles with the deviation of the axes from a right angle.
        let sin_t = (1.0 - t.cos * t.cos).max(0.0).sqrt();
        let is_narrow = t.cos > 0.0 && cos * t.cos > sin * sin_t;
        !(is_narrow && t.axis.dot(&w).abs() > length * (sin * t.cos + cos * sin_t))
    })
}

/// Tests by polyhedral cones (Algorithm 7 for both tangent cones) whether a direction between two pieces
/// can be orthogonal to the tangents of both.
pub(super) fn by_polyhedra<const N: usize>(a: &Piece<N>, b: &Piece<N>) -> bool {
    is_orthogonal(a, b) && is_orthogonal(b, a)
}

fn is_orthogonal<const N: usize>(a: &Piece<N>, b: &Piece<N>) -> bool {
    let mut sign = 0.0;
    for i in 0..N - 1 {
        let h = a[i + 1] - a[i];
        let span = |c: &Piece<N>| {
            c.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), p| {
                let x = h.dot(&(p - a[0]));
                (x.min(lo), x.max(hi))
            })
        };
        let ((lo_a, hi_a), (lo_b, hi_b)) = (span(a), span(b));
        let of_this = if lo_a > hi_b {
            1.0
        } else if hi_a < lo_b {
            -1.0
        } else {
            return true;
        };
        if sign * of_this < 0.0 {
            return true;
        }
        sign = of_this;
    }
    false
}

/// Tests by the signs of the Bernstein coefficients of both derivatives of the squared distance whether
/// a direction between two pieces can be orthogonal to the tangents of both.
pub(super) fn by_signs<const N: usize>(a: &Piece<N>, b: &Piece<N>) -> bool {
    !gradient(a, b).has_sign() && !gradient(b, a).has_sign()
}
