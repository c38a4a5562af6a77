//! Hulls of few points: support points by linear search.

use super::{ConvexShapeError, Support, SupportPoint, finite};
use feeler_geom::bezier::{BezierSpline, BezierSurface};
use feeler_geom::{P3, V3};

/// Returns the farthest of the points along a direction, with its index; the one with the smallest index
/// among equally far points. There must be at least one point.
#[inline]
pub(super) fn farthest(points: &[P3], direction: &V3) -> SupportPoint {
    let index = position_of_farthest(points, direction);
    #[expect(clippy::cast_possible_truncation, reason = "checked when the set was constructed")]
    SupportPoint { point: points[index], index: index as u32 }
}

/// Returns the index of the farthest point along a direction; the smallest one among equally far points.
#[inline]
pub(super) fn position_of_farthest(points: &[P3], direction: &V3) -> usize {
    let (x, y, z) = (direction.x, direction.y, direction.z);
    let mut best = f64::NEG_INFINITY;
    let mut index = 0;
    for (i, p) in points.iter().enumerate() {
        let h = p.x * x + p.y * y + p.z * z;
        // Branch-free selection by a mask, because the branch would be unpredictable.
        let higher = usize::from(h > best).wrapping_neg();
        best = if h > best { h } else { best };
        index = (i & higher) | (index & !higher);
    }
    index
}

pub(super) fn check_points(points: &[P3]) -> Result<(), ConvexShapeError> {
    if points.is_empty() {
        return Err(ConvexShapeError::Empty);
    }
    if u32::try_from(points.len()).is_err() {
        return Err(ConvexShapeError::TooManyPoints);
    }
    finite(points.iter().flat_map(|p| p.coords.iter()))
}

fn mean(points: &[P3]) -> P3 {
    #[expect(clippy::cast_precision_loss, reason = "the number of points is far below 2^53")]
    let share = 1.0 / points.len() as f64;
    P3::from(points.iter().fold(V3::zeros(), |sum, p| sum + p.coords * share))
}

/// Convex hull of borrowed points, which are numbered in their order.
#[derive(Clone, Copy, Debug)]
pub struct PointSet<'a> {
    points: &'a [P3],
}

impl<'a> PointSet<'a> {
    /// Creates the convex hull of points (mm).
    ///
    /// # Errors
    /// The list of points is empty or longer than `u32` can count, or a point is not finite.
    pub fn new(points: &'a [P3]) -> Result<Self, ConvexShapeError> {
        check_points(points)?;
        Ok(Self { points })
    }
}

impl Support for PointSet<'_> {
    fn support(&self, direction: &V3) -> SupportPoint {
        farthest(self.points, direction)
    }
    fn center(&self) -> P3 {
        mean(self.points)
    }
    fn numbered(&self, index: u32) -> Option<P3> {
        self.points.get(index as usize).copied()
    }
}

/// Convex hull of a fixed number of points, which may coincide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hull<const N: usize> {
    points: [P3; N],
}

/// A segment, given by its two end points.
pub type Segment = Hull<2>;
/// A triangle, given by its three corners.
pub type Triangle = Hull<3>;
/// A tetrahedron, given by its four vertices.
pub type Tetrahedron = Hull<4>;

impl<const N: usize> Hull<N> {
    /// Creates the convex hull of points (mm).
    ///
    /// # Errors
    /// `N` is 0, or a point is not finite.
    pub fn new(points: [P3; N]) -> Result<Self, ConvexShapeError> {
        check_points(&points)?;
        Ok(Self { points })
    }
}

impl<const N: usize> Support for Hull<N> {
    fn support(&self, direction: &V3) -> SupportPoint {
        farthest(&self.points, direction)
    }
    fn center(&self) -> P3 {
        mean(&self.points)
    }
    fn numbered(&self, index: u32) -> Option<P3> {
        self.points.get(index as usize).copied()
    }
}

/// Hull of the control points of a rational Bézier curve or patch, which contains the curve or patch.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlHull {
    points: Vec<P3>,
}

impl ControlHull {
    /// Creates the convex hull of the control points of a spline.
    ///
    /// # Errors
    /// The list of control points is empty, or one of them is not finite.
    pub fn of_curve(curve: &BezierSpline) -> Result<Self, ConvexShapeError> {
        Self::new(curve.points())
    }

    /// Creates the convex hull of the control points of all patches of a surface.
    ///
    /// # Errors
    /// The list of control points is empty, or one of them is not finite.
    pub fn of_surface(surface: &BezierSurface) -> Result<Self, ConvexShapeError> {
        Self::new(surface.points())
    }

    /// Creates the convex hull of control points given in homogeneous coordinates (w x, w y, w z, w).
    ///
    /// # Errors
    /// The list of control points is empty, one of them is not finite, or a weight is not positive.
    pub fn of_homogeneous(control: &[feeler_geom::bezier::H4]) -> Result<Self, ConvexShapeError> {
        finite(control.iter().flat_map(|h| h.iter()))?;
        if !control.iter().all(|h| h.w > 0.0) {
            return Err(ConvexShapeError::Weight);
        }
        Self::new(control.iter().map(feeler_geom::bezier::dehomogenized).collect())
    }

    fn new(points: Vec<P3>) -> Result<Self, ConvexShapeError> {
        check_points(&points)?;
        Ok(Self { points })
    }
}

impl Support for ControlHull {
    fn support(&self, direction: &V3) -> SupportPoint {
        farthest(&self.points, direction)
    }
    fn center(&self) -> P3 {
        mean(&self.points)
    }
    fn numbered(&self, index: u32) -> Option<P3> {
        self.points.get(index as usize).copied()
    }
}
