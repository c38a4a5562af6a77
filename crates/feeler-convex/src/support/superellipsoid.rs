//! Superellipsoids centred at the origin, and poly-superellipsoids, which have different semi-axes on
//! the two sides of each coordinate plane.
//!
//! # Source
//! POLY §3.5.2, Eqs. (3.30), (3.31).
//!
//! # Deviations
//! MATH §13: in (3.31) y carries α₂^{ε₂/2}, and the formula for α₂ is given there. Support points are
//! computed by homogeneous powers of n scaled to 1, without the angles, so that no power overflows.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "NaN must take the conservative branch")]

use super::{ConvexShapeError, Support, SupportPoint, lengths};
use feeler_geom::math::powf;
use feeler_geom::{P3, V3};

/// A superellipsoid: (|x/a|^{2/ε₁} + |y/b|^{2/ε₁})^{ε₁/ε₂} + |z/c|^{2/ε₂} ≤ 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Superellipsoid {
    inner: PolySuperellipsoid,
}

impl Superellipsoid {
    /// Creates a superellipsoid from its semi-axes (mm) and the exponents ε₁ (around z) and ε₂ (along
    /// z), both in (0, 2]. Exponents near 0 give a box, 1 an ellipsoid, and 2 an octahedron.
    ///
    /// # Errors
    /// A length is negative or not finite, or an exponent is outside (0, 2].
    pub fn new(semi: V3, exponents: [f64; 2]) -> Result<Self, ConvexShapeError> {
        PolySuperellipsoid::new(semi, semi, exponents).map(|inner| Self { inner })
    }
}

impl From<Superellipsoid> for PolySuperellipsoid {
    fn from(s: Superellipsoid) -> Self {
        s.inner
    }
}

impl Support for Superellipsoid {
    fn support(&self, direction: &V3) -> SupportPoint {
        self.inner.support(direction)
    }
    fn center(&self) -> P3 {
        P3::origin()
    }
}

/// Eight octants of superellipsoids with common exponents, joined at the coordinate planes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolySuperellipsoid {
    positive: V3,
    negative: V3,
    exponents: [f64; 2],
}

impl PolySuperellipsoid {
    /// Creates a poly-superellipsoid from its semi-axes along the positive and the negative coordinate
    /// axes (mm) and the exponents ε₁ (around z) and ε₂ (along z), both in (0, 2].
    ///
    /// # Errors
    /// A length is negative or not finite, or an exponent is outside (0, 2].
    pub fn new(positive: V3, negative: V3, exponents: [f64; 2]) -> Result<Self, ConvexShapeError> {
        lengths(positive.as_slice())?;
        lengths(negative.as_slice())?;
        if exponents.iter().all(|e| 0.0 < *e && *e <= 2.0) {
            Ok(Self { positive, negative, exponents })
        } else {
            Err(ConvexShapeError::Exponent)
        }
    }

    /// Returns the semi-axes along the positive coordinate axes (mm).
    #[must_use]
    pub fn positive(&self) -> V3 {
        self.positive
    }

    /// Returns the semi-axes along the negative coordinate axes (mm), as positive lengths.
    #[must_use]
    pub fn negative(&self) -> V3 {
        self.negative
    }

    /// Returns the exponents ε₁ (around z) and ε₂ (along z).
    #[must_use]
    pub fn exponents(&self) -> [f64; 2] {
        self.exponents
    }
}

/// Returns the point (u, v) of |u|^{2/ε} + |v|^{2/ε} = 1 that is farthest along (a, b), both ≥ 0, and
/// the product ⟨(a, b), (u, v)⟩. The coordinates to the power 2/ε are cos² and sin² of an angle with
/// tan² = (b/a)^{2/(2−ε)}.
fn superellipse(a: f64, b: f64, e: f64) -> ([f64; 2], f64) {
    let swap = b > a;
    let (large, small) = if swap { (b, a) } else { (a, b) };
    if !(large > 0.0) {
        return ([1.0, 0.0], 0.0);
    }
    // At ε = 2 the sides are straight: the power is infinite, and r < 1 gives a corner.
    let r = small / large;
    let tan_sq = if e < 2.0 {
        powf(r, 2.0 / (2.0 - e))
    } else if r < 1.0 {
        0.0
    } else {
        1.0
    };
    let cos_sq = 1.0 / (1.0 + tan_sq);
    let (u, v) = (powf(cos_sq, 0.5 * e), powf(tan_sq * cos_sq, 0.5 * e));
    let along = large * u + small * v;
    (if swap { [v, u] } else { [u, v] }, along)
}

impl Support for PolySuperellipsoid {
    fn support(&self, direction: &V3) -> SupportPoint {
        let semi = V3::from_fn(|i, _| {
            let sign = if direction[i] < 0.0 { -1.0 } else { 1.0 };
            sign * if direction[i] < 0.0 { self.negative[i] } else { self.positive[i] }
        });
        // Direction in the frame of the unit superellipsoid: all components are ≥ 0, the largest is 1.
        let n = semi.component_mul(direction);
        let size = n.amax();
        if !(size > 0.0) {
            return SupportPoint::plain(P3::origin());
        }
        let n = n / size;
        // A section at constant z is a scaled superellipse, and the outline (length, z) is also a
        // superellipse.
        let ([x, y], around) = superellipse(n.x, n.y, self.exponents[0]);
        let ([r, z], _) = superellipse(around, n.z, self.exponents[1]);
        SupportPoint::plain(P3::new(semi.x * r * x, semi.y * r * y, semi.z * z))
    }
    fn center(&self) -> P3 {
        P3::from((self.positive - self.negative) * 0.5)
    }
}
