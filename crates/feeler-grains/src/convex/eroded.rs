//! Grains from which the outermost layer is removed.

use super::placed::Placed;
use crate::GrainError;
use feeler_convex::{Support, SupportPoint};
use feeler_geom::{P3, V3};

/// Grain without its outermost layer of thickness δ (mm): the body of the support points S(n) − δ n, as
/// in POLY's Figure 3.20.
///
/// These points are support points of a body only if all radii of curvature are at least δ. If an
/// exponent is above 1, only the grain's layer can be removed, because tips and ridges of its shape have
/// a radius of 0. Dilated again by δ, the eroded grain is the grain itself.
#[derive(Clone, Copy, Debug)]
pub struct Eroded<'g> {
    placed: Placed<'g>,
    by: f64,
}

impl<'g> Eroded<'g> {
    /// Erodes a placed grain by a depth (mm).
    ///
    /// # Errors
    /// Returns an error if the depth is negative or not finite, or above
    /// [`Grain::min_curvature_radius`](super::Grain::min_curvature_radius), up to which the result is
    /// proven to be correct.
    pub fn new(placed: Placed<'g>, by: f64) -> Result<Self, GrainError> {
        if !(by >= 0.0 && by.is_finite()) {
            return Err(GrainError::ErosionDepth(by));
        }
        let proven = placed.grain.min_curvature_radius();
        if by > proven {
            return Err(GrainError::Erosion { requested: by, proven });
        }
        Ok(Self { placed, by })
    }
}

impl Support for Eroded<'_> {
    fn support(&self, direction: &V3) -> SupportPoint {
        let point = self.placed.support(direction).point;
        // Depth of the erosion of the shape under the layer (mm).
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
