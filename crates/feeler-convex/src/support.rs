//! Support mappings.

use feeler_geom::{P3, V3};

/// A point of a shape that is farthest along some direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SupportPoint {
    /// The point (mm).
    pub point: P3,
    /// Which of the shape's points it is, for shapes that are hulls of numbered points; 0 for all others.
    pub index: u32,
}

/// A bounded, non-empty convex shape.
pub trait Support {
    /// A point of the shape that maximises ⟨point, direction⟩; `direction` is finite and need not be of unit length,
    /// any point will do where it is zero. The same direction always gives the same point.
    fn support(&self, direction: &V3) -> SupportPoint;
}

/// The convex hull of finite points.
#[derive(Clone, Copy, Debug)]
pub struct PointSet<'a> {
    points: &'a [P3],
}

impl<'a> PointSet<'a> {
    /// `None` when there is no point, more than `u32` can count, or one that is not finite.
    #[must_use]
    pub fn new(points: &'a [P3]) -> Option<Self> {
        let finite = points.iter().all(|p| p.coords.iter().all(|c| c.is_finite()));
        (!points.is_empty() && u32::try_from(points.len()).is_ok() && finite).then_some(Self { points })
    }
}

impl Support for PointSet<'_> {
    fn support(&self, direction: &V3) -> SupportPoint {
        let mut best = (f64::NEG_INFINITY, 0);
        for (i, p) in self.points.iter().enumerate() {
            let s = p.coords.dot(direction);
            if s > best.0 {
                best = (s, i);
            }
        }
        #[expect(clippy::cast_possible_truncation, reason = "checked when the set was made")]
        let index = best.1 as u32;
        SupportPoint { point: self.points[best.1], index }
    }
}
