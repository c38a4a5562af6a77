//! Trimmed parameter domains: oriented boundary pieces, point classification, integration.
//!
//! A domain is the part of a parameter rectangle that lies to the left of its boundary pieces. Periodic
//! faces come in three forms: a seam edge used twice, loops that wind around without a seam, and no loop
//! at all. They are normalised to one form: seam pieces are *removed* in pairs, and the remaining pieces
//! are wrapped into one period. The orientation of the bounding pieces (material on the left) determines
//! whether a region is inside; nothing is counted from an assumed outside. Horizontal gaps (poles,
//! apices) need no closing pieces.
//!
//! # Source
//! BREP §2.4.1, §4.4.1 (after Schollmeyer et al.), MATH §6.
use crate::Rect;

mod cells;
mod classify;
mod coincide;
mod domain;
mod integrate;
mod piece;
mod sheet;
mod tree;

/// Trimmed domain in the parameter plane of a surface.
#[derive(Clone, Debug, PartialEq)]
pub struct TrimDomain {
    /// Parameter rectangle, one full period wide in periodic directions.
    pub rect: Rect,
    /// Largest valid parameter rectangle of the surface. A finite side (a pole, an apex, the side of a
    /// patch) may bound the domain without pieces; an infinite side never does.
    pub natural: Rect,
    /// Period in u.
    pub u_period: Option<f64>,
    /// Period in v.
    pub v_period: Option<f64>,
    /// Boundary pieces inside `rect`.
    pub pieces: Vec<TrimPiece>,
}

#[cfg(test)]
mod tests;

pub use cells::{Inconsistent, TrimCells};
pub use classify::Side;
pub use coincide::{AlongBoundary, MAX_CROSSINGS};
pub use integrate::gauss_legendre;
pub use piece::TrimPiece;
pub use sheet::on_inner_sheet;
