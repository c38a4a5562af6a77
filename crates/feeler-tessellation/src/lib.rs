//! Tessellations.

mod clip;
mod expansion;
mod grid;
mod tessellation;

pub use tessellation::{
    Cell, CellScratch, Domain, Face, Neighbour, SharedVertices, Site, SiteIndex, Tessellation, TessellationError, tessellate,
};
