//! Shapes of grains, with the quantities that every contact reuses.

use crate::GrainError;
use feeler_convex::{PolySuperellipsoid, Superellipsoid};
use feeler_geom::V3;

/// Poly-superellipsoid with a layer of constant thickness around it, in its own coordinates. With equal
/// semi-axes on both sides it is a superellipsoid.
///
/// # Source
/// POLY §3.5.1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grain {
    pub(super) shape: PolySuperellipsoid,
    pub(super) positive: V3,
    pub(super) negative: V3,
    /// Exponents of the norms whose value is the support function: 2/(2 − ε).
    pub(super) dual: [f64; 2],
    /// Exponents of the norms whose unit ball is the shape: 2/ε.
    pub(super) power: [f64; 2],
    /// Thickness of the layer (mm).
    pub(super) dilation: f64,
    /// Radius (mm) of a ball around the origin of the shape's coordinates that contains the shape,
    /// without the layer.
    pub(super) far: f64,
}

impl Grain {
    /// Creates a grain from the semi-axes on the positive and on the negative sides (mm), and the
    /// exponents ε₁ (around z) and ε₂ (along z): near 0 a box, 1 an ellipsoid, near 2 an octahedron.
    ///
    /// # Errors
    /// Returns an error if a semi-axis is not positive and finite, or if an exponent is outside [0.1,
    /// 1.9].
    pub fn new(positive: V3, negative: V3, exponents: [f64; 2]) -> Result<Self, GrainError> {
        for (i, e) in exponents.into_iter().enumerate() {
            if !(0.1..=1.9).contains(&e) {
                return Err(GrainError::Exponent { index: i + 1, value: e });
            }
        }
        let all = [positive, negative];
        for (side, signs) in all.iter().zip([["+x", "+y", "+z"], ["-x", "-y", "-z"]]) {
            for (value, axis) in side.iter().zip(signs) {
                if !(*value > 0.0 && value.is_finite()) {
                    return Err(GrainError::SemiAxis { axis, value: *value });
                }
            }
        }
        let shape = PolySuperellipsoid::new(positive, negative, exponents)?;
        let largest = positive.sup(&negative);
        // The shape lies in a box; with exponents of at least 1 it lies in a ball.
        let is_round = exponents.iter().all(|e| *e >= 1.0);
        let far = if is_round { largest.max() } else { largest.norm() };
        let dual = exponents.map(|e| 2.0 / (2.0 - e));
        let power = exponents.map(|e| 2.0 / e);
        Ok(Self { shape, positive, negative, dual, power, dilation: 0.0, far })
    }

    /// Creates a superellipsoid, which has equal semi-axes on both sides.
    ///
    /// # Errors
    /// Those of [`Grain::new`].
    pub fn superellipsoid(semi: V3, exponents: [f64; 2]) -> Result<Self, GrainError> {
        Self::new(semi, semi, exponents)
    }

    /// Returns the grain with an additional layer of a thickness (mm): all points within that distance
    /// of the grain.
    ///
    /// # Errors
    /// Returns an error if the thickness is negative or not finite.
    pub fn dilated(&self, thickness: f64) -> Result<Self, GrainError> {
        if thickness >= 0.0 && thickness.is_finite() {
            Ok(Self { dilation: self.dilation + thickness, ..*self })
        } else {
            Err(GrainError::LayerThickness(thickness))
        }
    }

    /// Shape without the layer.
    #[must_use]
    pub fn shape(&self) -> &PolySuperellipsoid {
        &self.shape
    }

    /// Thickness of the layer around the shape (mm).
    #[must_use]
    pub fn dilation(&self) -> f64 {
        self.dilation
    }

    /// Radius of a ball around the origin of the grain's coordinates that contains the grain (mm).
    #[must_use]
    pub fn radius(&self) -> f64 {
        self.far + self.dilation
    }

    /// Semi-axes (mm), along x, y and z, on the sides of the origin to which the direction `toward`
    /// points.
    #[inline]
    pub(super) fn semi(&self, toward: &V3) -> V3 {
        let side = |i: usize| if toward[i] < 0.0 { self.negative[i] } else { self.positive[i] };
        V3::new(side(0), side(1), side(2))
    }
}

impl TryFrom<PolySuperellipsoid> for Grain {
    type Error = GrainError;
    fn try_from(s: PolySuperellipsoid) -> Result<Self, GrainError> {
        Self::new(s.positive(), s.negative(), s.exponents())
    }
}

impl TryFrom<Superellipsoid> for Grain {
    type Error = GrainError;
    fn try_from(s: Superellipsoid) -> Result<Self, GrainError> {
        PolySuperellipsoid::from(s).try_into()
    }
}
