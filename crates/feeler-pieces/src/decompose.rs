//! Decomposition of hierarchies, NURBS grains and triangle meshes.

use crate::cut::divided;
use crate::error::PiecesError;
use crate::measure::{Lengths, without_duplicates};
use crate::merge::merged;
use crate::mesh::{TriangleMesh, check_closed, welded};
use crate::pieces::{Piece, Pieces, PiecesOptions};
use crate::skin::{Patch, Scale, Skin};
use feeler_geom::{Aabb, P3, Surface};
use feeler_grains::nurbs::NurbsGrain;
use feeler_hierarchy::Hierarchy;

/// Distance of points that count as one and tolerance of cuts, relative to the size of the body. A larger
/// value loosens the allowance; with a smaller one rounding creates cells without width.
const CUT_TOL: f64 = 1e-10;

/// Distance by which the surface may exceed the hulls because of cuts and rounding, relative to the largest
/// coordinates and the size: points are merged and cut with the tolerance [`CUT_TOL`], some of them twice.
const ALLOWANCE: f64 = 1e-9;

/// A body whose surface can be decomposed into convex pieces.
pub trait Decompose {
    /// Decomposes the surface into pieces.
    ///
    /// # Errors
    /// The options are not valid, or the body has no surface or, for meshes, is not closed.
    fn decompose(&self, options: &PiecesOptions) -> Result<Pieces, PiecesError>;
}

/// Decomposes the surface of a body into convex pieces, which together contain it.
///
/// The result is deterministic.
///
/// # Errors
/// The options are not valid, or the body has no surface or, for meshes, is not closed.
pub fn decompose<B: Decompose + ?Sized>(body: &B, options: &PiecesOptions) -> Result<Pieces, PiecesError> {
    body.decompose(options)
}

impl Decompose for Hierarchy {
    fn decompose(&self, options: &PiecesOptions) -> Result<Pieces, PiecesError> {
        options.check()?;
        if self.faces.is_empty() {
            return Err(PiecesError::NoFaces);
        }
        let bounds = Aabb { min: P3::from(self.info.bbox_min), max: P3::from(self.info.bbox_max) };
        let scale = scale(&bounds, options);
        let mut skin = Skin::default();
        for (source, face) in (0..).zip(&self.faces) {
            let (rect, trim) = (face.trim.rect, Some(&face.trim));
            let patch = Patch { source, surface: &face.surface, outward: face.outward, rect, trim };
            skin.add(&patch, &scale)?;
        }
        let surfaces = self.faces.iter().map(|f| magnitude(&f.surface)).fold(0.0, f64::max);
        let allowance = deviation(self) + ALLOWANCE * (scale.size + surfaces);
        pieces(&skin, options, &scale, allowance)
    }
}

impl Decompose for NurbsGrain {
    fn decompose(&self, options: &PiecesOptions) -> Result<Pieces, PiecesError> {
        options.check()?;
        let surface = Surface::Bezier(self.grid().clone());
        let bounds = Aabb::of_points(&self.grid().points());
        let scale = scale(&bounds, options);
        let mut skin = Skin::default();
        let rect = self.grid().domain();
        skin.add(&Patch { source: 0, surface: &surface, outward: true, rect, trim: None }, &scale)?;
        pieces(&skin, options, &scale, ALLOWANCE * (scale.size + reach(&bounds)))
    }
}

impl Decompose for TriangleMesh<'_> {
    fn decompose(&self, options: &PiecesOptions) -> Result<Pieces, PiecesError> {
        options.check()?;
        let scale = scale_of(self.points, options);
        let skin = mesh_skin(self, &scale)?;
        let reach = reach(&Aabb::of_points(self.points));
        pieces(&skin, options, &scale, ALLOWANCE * (scale.size + reach))
    }
}

/// Cells and samples of a mesh.
pub(crate) fn mesh_skin(mesh: &TriangleMesh<'_>, scale: &Scale) -> Result<Skin<'static>, PiecesError> {
    let triangles = welded(mesh, scale.tol)?;
    check_closed(&triangles)?;
    let mut skin = Skin::default();
    for (source, triangle) in (0..).zip(&triangles) {
        skin.add_triangle(source, triangle.map(|i| mesh.points[i as usize]), scale);
    }
    Ok(skin)
}

/// Lengths by which a body with these points is divided.
pub(crate) fn scale_of(points: &[P3], options: &PiecesOptions) -> Scale {
    scale(&Aabb::of_points(points), options)
}

fn scale(bounds: &Aabb, options: &PiecesOptions) -> Scale {
    let size = bounds.diagonal();
    Scale { convexity: options.convexity, size, tol: CUT_TOL * size }
}

/// Divides a surface, merges neighbouring parts, and creates the pieces.
fn pieces(
    skin: &Skin<'_>,
    options: &PiecesOptions,
    scale: &Scale,
    allowance: f64,
) -> Result<Pieces, PiecesError> {
    let lengths = Lengths { convexity: options.convexity, tol: scale.tol };
    let groups = divided(skin, &lengths, options.max_pieces)?;
    let groups = merged(groups, &skin.samples, &lengths)?;
    let pieces = groups.iter().map(|group| {
        let sources = group.cells.iter().map(|cell| cell.source).collect();
        // Vertices of hulls that were merged several times may have moved by as many tolerances.
        let points = group.cells.iter().flat_map(|cell| cell.points.iter().copied()).collect();
        Piece::new(&without_duplicates(points, scale.tol), sources, group.hull.convexity)
    });
    Ok(Pieces::new(pieces.collect::<Result<_, _>>()?, allowance))
}

/// Largest distance (mm) by which edges and vertices of a solid deviate from its faces.
fn deviation(h: &Hierarchy) -> f64 {
    let trims = h.faces.iter().flat_map(|f| &f.trim.pieces).map(|p| p.deviation);
    let spans = h.edges.iter().flat_map(|e| &e.spans).map(|s| s.deviation);
    let edges = trims.chain(spans).fold(h.info.max_trim_deviation, f64::max);
    edges + h.vertices.iter().map(|v| v.deviation).fold(0.0, f64::max)
}

/// Largest length (mm) in the definition of a surface, to which its rounding is relative.
fn magnitude(surface: &Surface) -> f64 {
    match surface {
        Surface::Plane { frame } | Surface::Cone { frame, .. } => frame.origin.coords.amax(),
        Surface::Cylinder { frame, radius } | Surface::Sphere { frame, radius } => {
            frame.origin.coords.amax() + radius
        }
        Surface::Torus { frame, major, minor } => frame.origin.coords.amax() + major + minor,
        Surface::Bezier(grid) => reach(&Aabb::of_points(&grid.points())),
    }
}

/// Largest coordinate (mm) of a box.
fn reach(bounds: &Aabb) -> f64 {
    bounds.min.coords.amax().max(bounds.max.coords.amax())
}
