//! Conservative convex pieces of CAD solids, NURBS grains and triangle meshes.
//!
//! [`decompose()`] covers the surface of a body with convex polytopes. Each point of the surface is in one
//! of them, up to a stated allowance, so the smallest distance of two bodies' pieces is a lower bound of
//! the distance of their surfaces ([`distance_bound`]). Broad phases, planners and physics engines can use
//! the pieces without missing a contact. The pieces do not replace queries of the exact surfaces.
//!
//! Lengths are in millimetres. The derivation of the bound is in docs/MATH.md, §12.
//!
//! ```
//! use feeler_geom::{P3, Pose};
//! use feeler_pieces::{PiecesOptions, TriangleMesh, decompose, distance_bound};
//!
//! // An L-shaped prism; the same call takes hierarchies and NURBS grains.
//! let outline = [(0., 0.), (3., 0.), (3., 1.), (1., 1.), (1., 3.), (0., 3.)];
//! let points: Vec<P3> =
//!     [0., 2.].iter().flat_map(|z| outline.map(|(x, y)| P3::new(x, y, *z))).collect();
//! let mut triangles = vec![];
//! for [a, b, c] in [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]] {
//!     triangles.extend([[a, c, b], [a + 6, b + 6, c + 6]]);
//! }
//! for k in 0..6 {
//!     let next = (k + 1) % 6;
//!     triangles.extend([[k, next, next + 6], [k, next + 6, k + 6]]);
//! }
//! let mesh = TriangleMesh { points: &points, triangles: &triangles };
//! let pieces = decompose(&mesh, &PiecesOptions::with_convexity(0.01))?;
//! assert_eq!(pieces.len(), 2);
//!
//! // Another L in the angle between the legs, inside the convex hull of the first one.
//! let bound = distance_bound(&pieces, &pieces, &Pose::translation(1.5, 1.5, 0.0));
//! assert!((bound - 0.5).abs() < 1e-6);
//! # Ok::<(), feeler_pieces::PiecesError>(())
//! ```
//!
//! # Convexity
//!
//! The convexity of a piece ([`Piece::convexity`]) is the largest distance from a surface point inside its
//! hull to the boundary of the hull along the surface's outward normal. It is measured at samples of the
//! surface: at least three along each parameter of a cell and along each boundary piece, about 1/24 of the
//! solid's size apart, and the middle of each cell. Containment does not depend on samples.
//!
//! # Source
//! DIST §3.3.2, (3.10) to (3.12). The thesis decomposes triangle meshes by an external method. Here planes
//! divide the exact faces, and the pieces contain them.
//!
//! # Deviations
//! - (3.11) is a maximum, not the printed minimum.
//! - Points of all faces inside a hull count, not only those of its own part (see `measure.rs`).

mod bound;
mod cell;
mod cut;
mod decompose;
mod error;
mod measure;
mod merge;
mod mesh;
mod pieces;
mod polygon;
mod quality;
mod skin;

pub use bound::distance_bound;
pub use decompose::{Decompose, decompose};
pub use error::PiecesError;
pub use mesh::TriangleMesh;
pub use pieces::{Piece, Pieces, PiecesOptions};
pub use quality::{HullQuality, hull_quality};

/// The chapter on convex pieces, whose program is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/PIECES.md")]
struct Chapter;
