//! Quality of given convex hulls, such as those of another program, as an approximation of a mesh.

use crate::decompose::{mesh_skin, scale_of};
use crate::error::PiecesError;
use crate::measure::{Lengths, measured_points};
use crate::mesh::TriangleMesh;
use crate::pieces::PiecesOptions;
use feeler_convex::{DistanceRequest, Hull, Polytope, distance};
use feeler_geom::P3;

/// Quality of convex hulls as an approximation of a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HullQuality {
    /// Largest convexity of a hull (mm), as in [`Piece::convexity`](crate::Piece::convexity).
    pub convexity: f64,
    /// Largest distance (mm) of a sample of the mesh from the nearest hull. Distances of the hulls can exceed
    /// those of the surface by it.
    pub uncovered: f64,
}

/// Measures hulls, given by their points (mm), by the samples of a mesh that
/// [`decompose`](crate::decompose()) uses as well. Samples less than a fiftieth of `options.convexity`
/// inside a hull do not count.
///
/// # Errors
/// The options are not valid, the mesh is not closed, or a hull has no points or a point that is not
/// finite.
pub fn hull_quality(
    mesh: &TriangleMesh<'_>,
    hulls: &[Vec<P3>],
    options: &PiecesOptions,
) -> Result<HullQuality, PiecesError> {
    options.check()?;
    let scale = scale_of(mesh.points, options);
    let skin = mesh_skin(mesh, &scale)?;
    let lengths = Lengths { convexity: options.convexity, tol: scale.tol };
    let all: Vec<u32> = (0..).zip(&skin.samples).map(|(i, _)| i).collect();
    let mut convexity = 0.0_f64;
    let mut polytopes = Vec::with_capacity(hulls.len());
    for points in hulls {
        let hull = measured_points(points.clone(), &skin.samples, &all, &lengths, f64::INFINITY)?;
        convexity = convexity.max(hull.convexity);
        polytopes.push(Polytope::new(points)?);
    }
    let mut uncovered = 0.0_f64;
    for sample in &skin.samples {
        let point = Hull::new([sample.point])?;
        let request = DistanceRequest::default();
        let nearest = polytopes.iter().map(|hull| distance(hull, &point, &request).distance);
        uncovered = uncovered.max(nearest.fold(f64::INFINITY, f64::min));
    }
    Ok(HullQuality { convexity, uncovered })
}
