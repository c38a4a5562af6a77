//! Trimmed parameter domains: oriented boundary pieces, point classification, integration.
//!
//! A domain is the part of a parameter rectangle that lies to the left of its boundary pieces. Periodic
//! faces come in three forms: a seam edge used twice, loops that wind around without a seam, and no loop
//! at all. They are normalised to one form: seam pieces are *removed* in pairs, and the remaining pieces
//! are wrapped into one period. The orientation of the bounding pieces (material on the left) determines
//! whether a region is inside; no point has to be assumed to be outside. Gaps along lines of constant v
//! (poles, apices) need no closing pieces.
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
    /// Base rectangle that contains the domain; it covers exactly one period of a periodic parameter.
    pub rect: Rect,
    /// Largest valid parameter rectangle of the surface. A finite side (a pole, an apex, the side of a
    /// patch) may bound the domain without pieces; an infinite side never does.
    pub natural: Rect,
    /// Period of the parameter u; `None` if u is not periodic.
    pub u_period: Option<f64>,
    /// Period of the parameter v; `None` if v is not periodic.
    pub v_period: Option<f64>,
    /// Boundary pieces, all inside `rect`, with the domain on their left.
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
