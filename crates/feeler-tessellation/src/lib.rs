//! Tessellations.

mod clip;
mod compare;
mod expansion;
mod fit;
mod grid;
mod image;
mod tessellation;

pub use compare::{FacetErrors, facet_errors, rand_index};
pub use fit::{
    CellDistance, CellKind, CheckpointError, CheckpointProblem, Fit, FitMethod, FitOptions, FitStage, FitState, Gjk,
};
pub use image::{
    ByteOrder, Grains, ImageError, ImageProblem, InterfacePoint, MAX_VOXELS, RawLayout, VoxelImage, VoxelType,
};
pub use tessellation::{
    Cell, CellScratch, Domain, Face, Neighbour, SharedVertices, Site, SiteIndex, Tessellation, TessellationError, tessellate,
};
