//! Grains made thinner.

use super::placed::Placed;
use crate::GrainError;
use feeler_convex::{Support, SupportPoint};
use feeler_geom::{P3, V3};

/// What a grain leaves when a layer (mm) is taken off all around: S(n) − δ n. POLY's Figure 3.20.
///
/// That is a support function only where all radii of curvature are above δ; for exponents above 1 it never
/// is, as tips and ridges have none. Dilated again by δ it is the grain itself.
#[derive(Clone, Copy, Debug)]
pub struct Eroded<'g> {
    placed: Placed<'g>,
    by: f64,
}

impl<'g> Eroded<'g> {
    /// # Errors
    /// A depth that is negative or not finite, or above [`Grain::least_radius`](super::Grain::least_radius),
    /// up to which the result is known to be right.
    pub fn new(placed: Placed<'g>, by: f64) -> Result<Self, GrainError> {
        if !(by >= 0.0 && by.is_finite()) {
            return Err(GrainError::Depth(by));
        }
        let proven = placed.grain.least_radius();
        if by > proven {
            return Err(GrainError::Erosion { asked: by, proven });
        }
        Ok(Self { placed, by })
    }
}

impl Support for Eroded<'_> {
    fn support(&self, direction: &V3) -> SupportPoint {
        let point = self.placed.support(direction).point;
        // What is taken off beyond the layer.
        let deeper = (self.by - self.placed.grain.dilation).max(0.0);
        let inward = direction.try_normalize(0.0).map_or_else(V3::zeros, |n| n * deeper);
        SupportPoint::plain(point - inward)
    }
    fn radius(&self) -> f64 {
        (self.placed.grain.dilation - self.by).max(0.0)
    }
    fn center(&self) -> P3 {
        self.placed.center()
    }
}
