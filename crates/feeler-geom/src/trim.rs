//! Trimmed parameter domains: oriented boundary pieces, point classification, integration.
//!
//! A domain is the part of a parameter rectangle that lies to the left of its boundary pieces. The three dialects
//! of periodic faces (a seam edge used twice, loops that wind around without a seam, no loop at all) have one
//! form here: seam pieces are *removed* in pairs, the remaining pieces are wrapped into one period, and whether a
//! region is inside is told by the orientation of the pieces that bound it (material on the left), never by
//! counting from an assumed outside. Horizontal gaps (poles, apices) need no closing pieces.
//!
//! # Source
//! BREP §2.4.1, §4.4.1 (after Schollmeyer et al.), MATH §6.

use crate::{P2, Rect};

/// One piece of a trimming curve: a cubic Bézier curve in the parameter plane, with the domain on its left when
/// walked from first to last control point (`u` to the right, `v` up).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TrimPiece {
    /// Control points.
    pub control: [P2; 4],
    /// Tag of the owner (an edge index), carried along by every cut.
    pub edge: u32,
    /// Largest measured distance in space (mm) between this piece, mapped to the surface, and its edge.
    pub deviation: f64,
}

/// A trimmed domain.
#[derive(Clone, Debug, PartialEq)]
pub struct TrimDomain {
    /// Parameter rectangle; one full period wide in periodic directions.
    pub rect: Rect,
    /// Period in u.
    pub u_period: Option<f64>,
    /// Period in v.
    pub v_period: Option<f64>,
    /// Boundary pieces inside `rect`.
    pub pieces: Vec<TrimPiece>,
}

/// Where a point is with respect to a trimmed domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Inside.
    Inside,
    /// Outside.
    Outside,
}

/// The classification structure of BREP §4.4.1: strips in v, cells in u.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TrimCells {
    /// The domain's rectangle.
    pub rect: Rect,
    /// Period in u.
    pub u_period: Option<f64>,
    /// Period in v.
    pub v_period: Option<f64>,
    /// All pieces, cut to be monotone in u and v.
    pub pieces: Vec<TrimPiece>,
    // helper: trim adds the strips and cells here
}

/// What is wrong with a set of boundary pieces.
#[derive(Clone, Debug, PartialEq)]
pub struct Inconsistent {
    /// A point of the region whose neighbours contradict each other.
    pub at: P2,
    /// Edges involved.
    pub edges: Vec<u32>,
}

impl TrimDomain {
    /// Builds a domain from raw oriented pieces in an *unwrapped* parameter plane (a loop may run over several
    /// periods): cuts pieces at period borders and wraps them into the rectangle that starts at `origin` in
    /// periodic directions. For non-periodic directions the rectangle is the bounding box of the pieces, or that
    /// of `natural` where there are none.
    #[must_use]
    pub fn new(
        pieces: &[TrimPiece],
        natural: Rect,
        u_period: Option<f64>,
        v_period: Option<f64>,
        origin: P2,
    ) -> Self {
        let _ = (pieces, natural, u_period, v_period, origin);
        todo!("helper: trim")
    }
}

impl TrimCells {
    /// Builds the cells. Contradicting orientations are returned beside the structure (the majority by length
    /// decides then), so that the caller can report them.
    #[must_use]
    pub fn build(domain: &TrimDomain) -> (Self, Vec<Inconsistent>) {
        let _ = domain;
        todo!("helper: trim")
    }

    /// Classifies a point (wrapped into the rectangle first). Two binary searches and at most a few bisections.
    #[must_use]
    pub fn classify(&self, uv: P2) -> Side {
        let _ = uv;
        todo!("helper: trim")
    }

    /// The nearest boundary point in the metric `e du² + 2 f du dv + g dv²` (first fundamental form at `uv`),
    /// when it is nearer than `max_dist` (mm): (index of the piece, boundary point unwrapped near `uv`, distance).
    #[must_use]
    pub fn nearest(&self, uv: P2, metric: [f64; 3], max_dist: f64) -> Option<(usize, P2, f64)> {
        let _ = (uv, metric, max_dist);
        todo!("helper: trim")
    }

    /// Whether the rectangle (unwrapped or not) may touch the domain: `false` only when it certainly lies wholly
    /// outside, decided by bounds of the pieces, not by samples.
    #[must_use]
    pub fn may_touch(&self, rect: &Rect) -> bool {
        let _ = rect;
        todo!("helper: trim")
    }

    /// ∬ f du dv over the domain for several integrands at once, given their antiderivatives in u:
    /// `antiderivative(u, v)[k] = ∫_{rect.u0}^{u} f_k(s, v) ds` with `u` in `[rect.u0, rect.u1]`. Gauss–Legendre
    /// along each piece, adaptive to `rel_tol`; `v_breaks` are parameters where the integrands are not smooth.
    #[must_use]
    pub fn integrate<const K: usize>(
        &self,
        antiderivative: &dyn Fn(P2) -> [f64; K],
        v_breaks: &[f64],
        rel_tol: f64,
    ) -> [f64; K] {
        let _ = (antiderivative, v_breaks, rel_tol);
        todo!("helper: trim")
    }
}
