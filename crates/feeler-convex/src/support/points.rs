//! Hulls of few points: every point is looked at.

use super::{ShapeError, Support, SupportPoint, finite};
use feeler_geom::bezier::{BezierSpline, BezierSurface};
use feeler_geom::{P3, V3};

/// The farthest of numbered points along a direction; the first of equals.
#[inline]
pub(super) fn farthest(points: &[P3], direction: &V3) -> SupportPoint {
    let mut records = Records::new();
    let height = |p: &P3| p.x * direction.x + p.y * direction.y + p.z * direction.z;
    let (fours, rest) = points.as_chunks::<4>();
    for four in fours {
        records.update([height(&four[0]), height(&four[1]), height(&four[2]), height(&four[3])]);
    }
    let mut last = [f64::NEG_INFINITY; 4];
    for (h, p) in last.iter_mut().zip(rest) {
        *h = height(p);
    }
    records.update(last);
    let index = records.first();
    #[expect(clippy::cast_possible_truncation, reason = "checked when the set was made")]
    SupportPoint { point: points[index], index: index as u32 }
}

/// Four records side by side, so that no comparison waits for the last. Selected, not branched on: which point is a
/// record is close to random. Positions are doubles, so that one mask selects height and position.
struct Records {
    best: [f64; 4],
    at: [f64; 4],
    now: [f64; 4],
}

impl Records {
    #[inline(always)]
    const fn new() -> Self {
        Self { best: [f64::NEG_INFINITY; 4], at: [0.0; 4], now: [0.0, 1.0, 2.0, 3.0] }
    }

    #[inline(always)]
    fn update(&mut self, heights: [f64; 4]) {
        for (k, h) in heights.iter().enumerate() {
            let better = *h > self.best[k];
            self.best[k] = if better { *h } else { self.best[k] };
            self.at[k] = if better { self.now[k] } else { self.at[k] };
            self.now[k] += 4.0;
        }
    }

    /// The position of the first of the highest.
    #[inline(always)]
    fn first(&self) -> usize {
        let larger = |a: f64, b: f64| if a > b { a } else { b };
        let smaller = |a: f64, b: f64| if a < b { a } else { b };
        let [a, b, c, d] = self.best;
        let top = larger(larger(a, c), larger(b, d));
        let mut at = self.at;
        for (at, best) in at.iter_mut().zip(self.best) {
            *at = if best >= top { *at } else { f64::INFINITY };
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a position")]
        let index = smaller(smaller(at[0], at[2]), smaller(at[1], at[3])) as u32;
        index as usize
    }
}

/// Points in fours, coordinate by coordinate: four heights at a time.
#[derive(Clone, Debug)]
pub(super) struct Fours {
    blocks: Vec<[[f64; 4]; 3]>,
}

impl Fours {
    /// Of at least one point; the last fills up the last four.
    pub(super) fn new(points: &[P3]) -> Self {
        let block =
            |four: &[P3]| [0, 1, 2].map(|c| [0, 1, 2, 3].map(|k: usize| four[k.min(four.len() - 1)][c]));
        Self { blocks: points.chunks(4).map(block).collect() }
    }

    /// The position of the farthest along a direction; the first of equals.
    #[inline(always)]
    pub(super) fn farthest(&self, d: &V3) -> usize {
        let mut records = Records::new();
        for [x, y, z] in &self.blocks {
            let mut heights = [0.0; 4];
            for (k, h) in heights.iter_mut().enumerate() {
                *h = x[k] * d.x + y[k] * d.y + z[k] * d.z;
            }
            records.update(heights);
        }
        records.first()
    }
}

pub(super) fn check_points(points: &[P3]) -> Result<(), ShapeError> {
    if points.is_empty() {
        return Err(ShapeError::Empty);
    }
    if u32::try_from(points.len()).is_err() {
        return Err(ShapeError::TooManyPoints);
    }
    finite(points.iter().flat_map(|p| p.coords.iter()))
}

fn mean(points: &[P3]) -> P3 {
    #[expect(clippy::cast_precision_loss, reason = "a number of points")]
    let share = 1.0 / points.len() as f64;
    P3::from(points.iter().fold(V3::zeros(), |sum, p| sum + p.coords * share))
}

/// The convex hull of borrowed points.
#[derive(Clone, Copy, Debug)]
pub struct PointSet<'a> {
    points: &'a [P3],
}

impl<'a> PointSet<'a> {
    /// # Errors
    /// No point, more than `u32` can count, or one that is not finite.
    pub fn new(points: &'a [P3]) -> Result<Self, ShapeError> {
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

/// The convex hull of a fixed number of points, which may coincide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hull<const N: usize> {
    points: [P3; N],
}

/// A segment.
pub type Segment = Hull<2>;
/// A triangle.
pub type Triangle = Hull<3>;
/// A tetrahedron.
pub type Tetrahedron = Hull<4>;

impl<const N: usize> Hull<N> {
    /// # Errors
    /// No point, or one that is not finite.
    pub fn new(points: [P3; N]) -> Result<Self, ShapeError> {
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

/// The hull of the control points of a rational Bézier curve or patch: it holds the curve or patch.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlHull {
    points: Vec<P3>,
}

impl ControlHull {
    /// # Errors
    /// No point or one that is not finite.
    pub fn of_curve(curve: &BezierSpline) -> Result<Self, ShapeError> {
        Self::new(curve.points())
    }

    /// # Errors
    /// No point or one that is not finite.
    pub fn of_surface(surface: &BezierSurface) -> Result<Self, ShapeError> {
        Self::new(surface.points())
    }

    /// Of homogeneous control points, (w x, w y, w z, w).
    ///
    /// # Errors
    /// No point, one that is not finite, or a weight that is not positive.
    pub fn of_homogeneous(control: &[feeler_geom::bezier::H4]) -> Result<Self, ShapeError> {
        finite(control.iter().flat_map(|h| h.iter()))?;
        if !control.iter().all(|h| h.w > 0.0) {
            return Err(ShapeError::Weight);
        }
        Self::new(control.iter().map(feeler_geom::bezier::dehomogenized).collect())
    }

    fn new(points: Vec<P3>) -> Result<Self, ShapeError> {
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
