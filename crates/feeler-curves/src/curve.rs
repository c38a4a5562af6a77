//! Deformable curves with a radius: construction, updates and evaluation.

use feeler_geom::{P3, V3};
use thiserror::Error;

use crate::piece::{At, MAX_CONTROL_POINTS, Piece, at};
use crate::tight::{TightBend, tight_bends};
use crate::tree::{CurveTree, Vertex};

/// Error of constructing or moving a curve.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum CurveError {
    /// The degree is not 1 to 5.
    #[error("the degree {0} is not supported: give pieces of degree 1 to 5")]
    Degree(usize),
    /// The number of control points does not fit the degree.
    #[error("{given} control points do not fit: {expected}")]
    Count {
        /// Number of points given.
        given: usize,
        /// Text that states the valid number of points.
        expected: String,
    },
    /// A coordinate of the control point, or of the other given point, with this index is not finite.
    #[error("point {0} has a coordinate that is not a finite number: give finite millimetres")]
    NotFinite(usize),
    /// The derivative with this index is not finite.
    #[error("the derivative at point {0} is not finite: give finite numbers")]
    Derivative(usize),
    /// The radius is negative or not finite.
    #[error("a radius of {0} is not valid: give a finite number that is not negative")]
    Radius(f64),
    /// A tolerance is negative or not finite.
    #[error("a tolerance of {0} is not valid: give a finite number of millimetres that is not negative")]
    Tolerance(f64),
    /// All control points of the piece with this index coincide.
    #[error("piece {0} has no length: leave it out, or move its control points apart")]
    NoLength(usize),
    /// The curve is so far from the origin of the world that the rounding of its points exceeds a tenth
    /// of the tolerance. The tolerance is 1e-7 of the size of the curve or of the object near it,
    /// whichever is larger. Only scenes return this error.
    #[error(
        "its points have coordinates of {coordinates:.3e} mm, and rounding allows at most {limit:.3e} mm; \
         move the scene closer to the origin"
    )]
    Coordinates {
        /// Largest coordinate, in magnitude, of the control points of the curve or, in a pair of curves,
        /// of the other one (mm).
        coordinates: f64,
        /// Largest coordinate that rounding allows (mm).
        limit: f64,
    },
    /// The curve would have this number of pieces, more than 2²⁰.
    #[error("{0} pieces are too many for one curve: at most 1048576 are supported")]
    TooMany(usize),
}

#[derive(Clone, Debug)]
pub(crate) enum Pieces {
    Cubic(CurveTree<4>),
    Quintic(CurveTree<6>),
}

/// Evaluates an expression for the tree of a curve's pieces, which are cubics or quintics:
/// `with_pieces!(pieces, s => expression)` matches `Pieces` and names the tree `s`. The expression is
/// compiled for both degrees.
macro_rules! with_pieces {
    ($pieces:expr, $s:ident => $body:expr) => {
        match $pieces {
            $crate::curve::Pieces::Cubic($s) => $body,
            $crate::curve::Pieces::Quintic($s) => $body,
        }
    };
}
pub(crate) use with_pieces;

/// A deformable curve: Bézier pieces that meet end to end, with a radius around them.
///
/// Its solid is the union of all balls of that radius around points of the curve: a tube with round
/// ends. Lengths are in mm. The parameter u runs from 0 to the number of pieces; each piece covers an
/// interval of length 1. A joint whose two directions differ by more than 1e-6 rad is a corner; corners
/// are detected again whenever the curve moves.
///
/// ```
/// use feeler_curves::{Curve, P3};
///
/// let points = [[0., 0., 0.], [1., 0., 0.], [2., 1., 0.], [3., 1., 0.]].map(P3::from);
/// let mut cable = Curve::new(3, &points, 0.2, false)?;
/// assert_eq!(cable.n_pieces(), 1);
/// let moved = points.map(|p| P3::new(p.x, p.y, 1.));
/// cable.update(&moved)?;
/// assert_eq!(cable.point(1.0), P3::new(3., 1., 1.));
/// # Ok::<(), feeler_curves::CurveError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Curve {
    degree: usize,
    radius: f64,
    points: Vec<P3>,
    pub(crate) pieces: Pieces,
}

impl Curve {
    /// Creates a curve of pieces of one degree (1 to 5) from their control points. Neighbouring pieces
    /// share their end point, so n pieces have n · degree + 1 points, or n · degree if the last piece
    /// ends where the first one starts (`closed`).
    ///
    /// # Errors
    /// If the degree is not 1 to 5, the number of points does not fit the degree, a coordinate or the
    /// radius is not valid, or a piece has no length.
    pub fn new(degree: usize, points: &[P3], radius: f64, closed: bool) -> Result<Self, CurveError> {
        if !(1..MAX_CONTROL_POINTS).contains(&degree) {
            return Err(CurveError::Degree(degree));
        }
        if !(radius.is_finite() && radius >= 0.0) {
            return Err(CurveError::Radius(radius));
        }
        let n = points.len().saturating_sub(usize::from(!closed)) / degree;
        if n == 0 || points.len() != n * degree + usize::from(!closed) {
            let more = if closed { "" } else { " and one more" };
            let expected = format!("give {degree} for each piece{more}");
            return Err(CurveError::Count { given: points.len(), expected });
        }
        if n > 1 << 20 {
            return Err(CurveError::TooMany(n));
        }
        check(degree, points, closed)?;
        let pieces = if degree <= 3 {
            Pieces::Cubic(CurveTree::new(raised_pieces(degree, points, n), closed))
        } else {
            Pieces::Quintic(CurveTree::new(raised_pieces(degree, points, n), closed))
        };
        Ok(Self { degree, radius, points: points.to_vec(), pieces })
    }

    /// Creates a curve of cubics through points (mm) with given derivatives. The derivatives are with
    /// respect to the parameter, which grows by 1 from each point to the next one.
    ///
    /// # Errors
    /// Those of [`Curve::new`], and a number of derivatives that differs from the number of points.
    pub fn hermite(points: &[P3], derivatives: &[V3], radius: f64, closed: bool) -> Result<Self, CurveError> {
        let mut control = Vec::new();
        Self::hermite_points(points, derivatives, closed, &mut control)?;
        Self::new(3, &control, radius, closed)
    }

    /// Writes the control points of the curve that [`Curve::hermite`] would create to `out`. When its
    /// points or derivatives have changed, pass them to [`Curve::update`].
    ///
    /// # Errors
    /// If there are fewer than two points, the number of derivatives differs from that of the points, or
    /// a number is not finite.
    pub fn hermite_points(
        points: &[P3],
        derivatives: &[V3],
        closed: bool,
        out: &mut Vec<P3>,
    ) -> Result<(), CurveError> {
        if points.len() != derivatives.len() || points.len() < 2 {
            let given = derivatives.len();
            let expected =
                format!("give two points or more and as many derivatives as points ({given} given)");
            return Err(CurveError::Count { given: points.len(), expected });
        }
        if let Some(i) = points.iter().position(|p| !p.iter().all(|x| x.is_finite())) {
            return Err(CurveError::NotFinite(i));
        }
        if let Some(i) = derivatives.iter().position(|d| !d.iter().all(|x| x.is_finite())) {
            return Err(CurveError::Derivative(i));
        }
        out.clear();
        out.extend(hermite_points(points, derivatives, closed));
        Ok(())
    }

    /// Moves the curve to new control points; their number must not change. Does not allocate. If the
    /// points are refused, the curve stays unchanged.
    ///
    /// # Errors
    /// If the number of points differs, a coordinate is not finite, or a piece has no length.
    pub fn update(&mut self, points: &[P3]) -> Result<(), CurveError> {
        if points.len() != self.points.len() {
            let expected = format!("the number cannot change from {}", self.points.len());
            return Err(CurveError::Count { given: points.len(), expected });
        }
        check(self.degree, points, self.is_closed())?;
        self.points.copy_from_slice(points);
        let degree = self.degree;
        with_pieces!(&mut self.pieces, s => {
            for (i, piece) in s.pieces.iter_mut().enumerate() {
                *piece = raised(degree, points, i);
            }
            s.refit();
        });
        Ok(())
    }

    /// Changes the radius of the tube (mm).
    ///
    /// # Errors
    /// If the radius is negative or not finite.
    pub fn set_radius(&mut self, radius: f64) -> Result<(), CurveError> {
        if !(radius.is_finite() && radius >= 0.0) {
            return Err(CurveError::Radius(radius));
        }
        self.radius = radius;
        Ok(())
    }

    /// Degree of the Bézier pieces, as given by the caller.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// Radius of the tube (mm).
    #[must_use]
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Whether the last piece ends where the first one starts.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        with_pieces!(&self.pieces, s => s.is_closed)
    }

    /// Number of pieces, which is also the largest value of the parameter u.
    #[must_use]
    pub fn n_pieces(&self) -> usize {
        with_pieces!(&self.pieces, s => s.pieces.len())
    }

    /// Control points as given by the caller.
    #[must_use]
    pub fn points(&self) -> &[P3] {
        &self.points
    }

    /// Point (mm) of the curve at the parameter `u`. Outside [0, number of pieces] the first or last
    /// piece is extrapolated.
    #[must_use]
    pub fn point(&self, u: f64) -> P3 {
        self.at(u).p.into()
    }

    /// First and second derivative of the point with respect to `u`. At a joint they are those of the
    /// piece that starts there.
    #[must_use]
    pub fn derivatives(&self, u: f64) -> [V3; 2] {
        let at = self.at(u);
        [at.d, at.dd]
    }

    /// Diagonal of the bounding box of the control points (mm). Relative tolerances refer to it.
    #[must_use]
    pub fn size(&self) -> f64 {
        with_pieces!(&self.pieces, s => s.nodes[0].bounds.diagonal())
    }

    /// Corners of the bounding box of the control points (mm): the smallest and the largest coordinates.
    /// The box contains the curve without its radius.
    #[must_use]
    pub fn bounds(&self) -> (P3, P3) {
        with_pieces!(&self.pieces, s => (s.nodes[0].bounds.min.into(), s.nodes[0].bounds.max.into()))
    }

    /// Writes all intervals on which radius times curvature is at least 1 to `out`. The tube overlaps
    /// itself there, although the distance of the curve from itself has no minimum. Every interval
    /// longer than 2⁻¹⁶ of a leaf of the curve's tree is found.
    pub fn tight_bends(&self, out: &mut Vec<TightBend>) {
        with_pieces!(&self.pieces, s => tight_bends(s, self.radius, out));
    }

    pub(crate) fn at(&self, u: f64) -> At {
        with_pieces!(&self.pieces, s => {
            let (k, t) = s.locate(u);
            at(&s.pieces[k], t)
        })
    }

    /// Position and derivatives at the joint with the parameter `joint`, of the piece before it and of
    /// the piece after it; `None` at free ends.
    pub(crate) fn at_joint(&self, joint: usize) -> Option<[At; 2]> {
        with_pieces!(&self.pieces, s => {
            let n = s.pieces.len();
            let before = if joint == 0 { s.is_closed.then(|| n - 1)? } else { joint - 1 };
            let after = if joint == n { s.is_closed.then_some(0)? } else { joint };
            Some([at(&s.pieces[before], 1.0), at(&s.pieces[after], 0.0)])
        })
    }

    pub(crate) fn vertices(&self) -> &[Vertex] {
        with_pieces!(&self.pieces, s => &s.vertices)
    }
}

fn check(degree: usize, points: &[P3], closed: bool) -> Result<(), CurveError> {
    if let Some(i) = points.iter().position(|p| !p.iter().all(|x| x.is_finite())) {
        return Err(CurveError::NotFinite(i));
    }
    let n = (points.len() - usize::from(!closed)) / degree;
    for i in 0..n {
        let control = (0..=degree).map(|j| wrapped(points, i * degree + j));
        let first = points[i * degree];
        if control.into_iter().all(|p| p == first) {
            return Err(CurveError::NoLength(i));
        }
    }
    Ok(())
}

/// Returns point `i`; the index after the last one refers to the first point.
fn wrapped(points: &[P3], i: usize) -> P3 {
    points[if i < points.len() { i } else { 0 }]
}

fn raised_pieces<const N: usize>(degree: usize, points: &[P3], n: usize) -> Vec<Piece<N>> {
    (0..n).map(|i| raised(degree, points, i)).collect()
}

/// Returns piece `i` with its degree raised to `N - 1`.
fn raised<const N: usize>(degree: usize, points: &[P3], i: usize) -> Piece<N> {
    let mut c = [V3::zeros(); N];
    for (j, c) in c.iter_mut().enumerate().take(degree + 1) {
        *c = wrapped(points, i * degree + j).coords;
    }
    for d in degree + 1..N {
        for j in (1..=d).rev() {
            let t = j as f64 / d as f64;
            c[j] = if j == d { c[j - 1] } else { c[j - 1] * t + c[j] * (1.0 - t) };
        }
    }
    c
}

/// Returns the control points of cubics through points with given derivatives.
pub(crate) fn hermite_points(points: &[P3], derivatives: &[V3], closed: bool) -> impl Iterator<Item = P3> {
    let n = points.len();
    let handles = move |i: usize| {
        let j = (i + 1) % n;
        [points[i] + derivatives[i] / 3.0, points[j] - derivatives[j] / 3.0]
    };
    (0..n).flat_map(move |i| {
        let next = (closed || i + 1 < n).then(|| handles(i));
        std::iter::once(points[i]).chain(next.into_iter().flatten())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CurveLocation, CurveOptions, CurvePair};

    #[test]
    fn open_curves_of_degree_1_have_one_piece_less_than_points() {
        let points = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]].map(P3::from);
        let [segment, angle] = [2, 3].map(|n| Curve::new(1, &points[..n], 0.0, false).expect("degree 1"));
        assert_eq!((segment.n_pieces(), angle.n_pieces()), (1, 2), "number of pieces");
        assert_eq!(
            Curve::new(1, &points, 0.0, true).expect("a triangle").n_pieces(),
            3,
            "pieces of a closed curve"
        );
        for n in 0..2 {
            let refused = Curve::new(1, &points[..n], 0.0, false);
            assert!(matches!(refused, Err(CurveError::Count { .. })), "{n} points: {refused:?}");
        }
    }

    #[test]
    fn nodes_with_derivatives_move_a_curve() {
        let nodes = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]].map(P3::from);
        let slopes = [V3::x(), V3::new(0.5, 0.5, 0.0), V3::y()];
        let mut control = Vec::new();
        for closed in [false, true] {
            let mut curve = Curve::hermite(&nodes, &slopes, 0.1, closed).expect("a curve");
            let moved = nodes.map(|p| p + V3::z());
            Curve::hermite_points(&moved, &slopes, closed, &mut control).expect("finite nodes");
            curve.update(&control).expect("an unchanged number of points");
            for (i, p) in moved.iter().enumerate() {
                assert!((curve.point(i as f64) - p).norm() < 1e-14, "the curve misses node {i}");
                assert!(
                    (curve.derivatives(i as f64)[0] - slopes[i]).norm() < 1e-14,
                    "derivative at node {i}"
                );
            }
        }
        let refused = Curve::hermite_points(&nodes, &[V3::repeat(f64::NAN); 3], false, &mut control);
        assert_eq!(refused, Err(CurveError::Derivative(0)));
        let refused = Curve::hermite_points(&nodes, &slopes[..2], false, &mut control);
        assert!(matches!(refused, Err(CurveError::Count { given: 3, .. })), "{refused:?}");
    }

    #[test]
    fn ends_that_coincide_are_reported_as_ends() {
        let a = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]].map(P3::from);
        let b = [[1.0, 0.0, 0.0], [2.0, 1.0, 0.0]].map(P3::from);
        let [a, b] = [a, b].map(|p| Curve::new(1, &p, 0.0, false).expect("segments"));
        let mut pair = CurvePair::new();
        let found = pair.query(&a, &b, &CurveOptions::default());
        let places: Vec<_> = found.iter().map(|m| (m.u, m.places)).collect();
        assert_eq!(places, [([1.0, 0.0], [CurveLocation::End; 2])], "one minimum between two ends");
    }

    #[test]
    fn raised_pieces_are_the_same_curve() {
        let points: Vec<P3> = (0..6)
            .map(|k| P3::new(0.3 * f64::from(k * k * k % 5), f64::from(k * k % 7), f64::from(k)))
            .collect();
        for degree in 1..=5 {
            let curve = Curve::new(degree, &points[..=degree], 0.0, false).expect("one piece");
            for k in 0..=10 {
                let t = f64::from(k) / 10.0;
                let mut c = points[..=degree].to_vec();
                while c.len() > 1 {
                    c = c.windows(2).map(|w| w[0] + (w[1] - w[0]) * t).collect();
                }
                let off = (curve.point(t) - c[0]).norm();
                assert!(off < 1e-14 * 10.0, "degree {degree} at {t}: off by {off:e}");
            }
        }
    }
}
