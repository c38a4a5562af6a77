//! Parts of leaves of a curve's tree, which queries bisect as needed, and tests of pairs of parts.

use feeler_geom::V3;

use crate::piece::{Piece, halves, turning};
use crate::tree::{Between, Leaf};

/// Part of a leaf of a curve's tree, as made by bisections of the leaf: a Bézier piece with its interval
/// of the curve's parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<const N: usize> {
    pub control: Piece<N>,
    /// Parameter of the curve at the start of the part, and (`du`) its increase along the part.
    pub u: f64,
    pub du: f64,
    /// Upper bounds of the turning, the total angle (rad) by which the tangent rotates: over the part
    /// (`turning`), from the start of its leaf to the part (`lead`), and from the part to the end of its
    /// leaf (`rest`).
    turning: f64,
    lead: f64,
    rest: f64,
}

impl<const N: usize> Part<N> {
    pub(crate) fn of_leaf(leaf: &Leaf<N>) -> Self {
        let [u, end] = leaf.u;
        Self { control: leaf.control, u, du: end - u, turning: leaf.turning, lead: 0.0, rest: 0.0 }
    }

    /// Splits the part at the middle of its parameter range. The turning of the halves is computed only
    /// if `turns` is set, because it takes as long as everything else; otherwise it is set to zero.
    pub(crate) fn halves(&self, turns: bool) -> [Self; 2] {
        let [l, r] = halves(&self.control);
        let du = 0.5 * self.du;
        let (turning_l, turning_r) = if turns { (turning(&l), turning(&r)) } else { (0.0, 0.0) };
        [
            Self { control: l, du, turning: turning_l, rest: self.rest + turning_r, ..*self },
            Self { control: r, u: self.u + du, du, turning: turning_r, lead: self.lead + turning_l, ..*self },
        ]
    }

    /// Prepares two consecutive parts, the halves of one part, for a query between them: sets the
    /// turning of their leaf that lies between them (`rest` of `l`, `lead` of `r`) to zero.
    pub(crate) fn facing(l: &Self, r: &Self) -> (Self, Self) {
        (Self { rest: 0.0, ..*l }, Self { lead: 0.0, ..*r })
    }

    /// Length of the control polygon (mm), an upper bound of the length of the part.
    pub(crate) fn length(&self) -> f64 {
        (1..N).map(|i| (self.control[i] - self.control[i - 1]).norm()).sum()
    }

    /// Upper bound of the part's speed (mm per unit of the part's parameter): the length of the longest
    /// control point of its derivative.
    pub(crate) fn speed(&self) -> f64 {
        (N - 1) as f64 * (1..N).map(|i| (self.control[i] - self.control[i - 1]).norm()).fold(0.0, f64::max)
    }

    pub(crate) fn turning(&self) -> f64 {
        self.turning
    }

    /// Converts a parameter of the part, in [0, 1], to one of the curve.
    pub(crate) fn at(&self, x: f64) -> f64 {
        self.u + x * self.du
    }
}

/// Whether a curve turns too little from the start of `a` to the end of `b` to have a minimum between
/// the two parts. The path around a closed curve, from `b` to `a`, decides if it turns less. `between`
/// is the turning between the leaves of the two parts.
pub(crate) fn turn_too_little<const N: usize, const M: usize>(
    a: &Part<N>,
    b: &Part<M>,
    between: &Between,
) -> bool {
    let onward = a.turning + a.rest + between.onward + b.lead + b.turning;
    let around = b.turning + b.rest + between.around + a.lead + a.turning;
    onward.min(around) < std::f64::consts::PI
}

/// Whether the convex hulls of the control points of two pieces are farther apart than `reach` (mm) in
/// the direction between the middles of the pieces' chords.
pub(crate) fn are_apart<const N: usize, const M: usize>(a: &Piece<N>, b: &Piece<M>, reach: f64) -> bool {
    let n = (b[0] + b[M - 1]) - (a[0] + a[N - 1]);
    let far = a.iter().map(|p| n.dot(p)).fold(f64::NEG_INFINITY, f64::max);
    let near = b.iter().map(|p| n.dot(p)).fold(f64::INFINITY, f64::min);
    let gap = near - far;
    gap > 0.0 && gap * gap > reach * reach * n.norm_squared()
}

/// Whether a point is farther than `reach` (mm) from the convex hull of a piece's control points, in the
/// direction from the point to the middle of the piece's chord.
pub(crate) fn is_apart<const M: usize>(p: &V3, b: &Piece<M>, reach: f64) -> bool {
    let n = b[0] + b[M - 1] - p * 2.0;
    let near = b.iter().map(|q| n.dot(q)).fold(f64::INFINITY, f64::min) - n.dot(p);
    near > 0.0 && near * near > reach * reach * n.norm_squared()
}
