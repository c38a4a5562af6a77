//! Voronoi and Laguerre cells, and their fit to voxel images of polycrystals.
//!
//! [`tessellate`] computes the cells of sites in a box as convex polyhedra. [`VoxelImage`] reads images in
//! which each voxel has the label of its grain, and [`Fit`] finds the sites and weights whose cells represent
//! the grains. [`CellMesh`] removes short edges from the cells and writes them for `ParaView` and mesh
//! generators.
//!
//! ```
//! use feeler_geom::{P3, V3};
//! use feeler_tessellation::{
//!     Domain, Fit, FitOptions, Grains, Site, SiteIndex, VoxelImage,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // An image of two grains; the boundary is the plane x = 7.3.
//! let domain = Domain { lengths: V3::repeat(16.0), periodic: [false; 3] };
//! let site = |x: f64| Site { position: P3::new(x, 8.0, 8.0), weight: 0.0 };
//! let image = VoxelImage::of_tessellation(&SiteIndex::new(&domain, &[site(3.0), site(11.6)])?, [16; 3]);
//!
//! let grains = Grains::new(&image, [false; 3])?;
//! let mut fit = Fit::new(&grains, FitOptions::default())?;
//! while !fit.is_finished() {
//!     fit.advance()?;
//! }
//! let cells = fit.tessellation()?.cells;
//! let volume = cells[0].as_ref().map_or(0.0, |c| c.volume);
//! // The position of a plane parallel to the voxels is known to half a voxel.
//! assert!((volume / (16.0 * 16.0) - 7.3).abs() < 0.5);
//! # Ok(())
//! # }
//! ```
//!
//! Lengths are in the unit of the image, which is one voxel unless the file gives another one. Results do not
//! depend on the number of threads.

mod clip;
mod compare;
mod domain;
mod expansion;
mod fit;
mod grid;
mod image;
mod mesh;
mod output;
mod tessellation;

pub use compare::{FacetErrors, facet_errors, rand_index};
pub use domain::{Domain, Site};
pub use feeler_convex::SignedVolumes;
pub use fit::{
    CellDistance, CellKind, CheckpointError, CheckpointProblem, Fit, FitMethod, FitOptions, FitStage,
    FitState, Gjk,
};
pub use image::{
    ByteOrder, Grains, ImageError, ImageProblem, InterfacePoint, MAX_VOXELS, RawLayout, VoxelImage, VoxelType,
};
pub use mesh::{CellMesh, MAX_FACE_ANGLE, MeshEdge, MeshFace, Regularisation, ShiftedVertex};
pub use output::{CellValues, Polyhedra, PolyhedronFace};
pub use tessellation::{
    Cell, CellScratch, Face, Neighbour, SharedVertices, SiteIndex, Tessellation, TessellationError,
    tessellate,
};
