//! Distances from points to cells.

use feeler_convex::{
    DistanceOutcome, DistanceRequest, Hull, PointSet, SignedVolumes, Start, SubAlgorithm, distance_with,
};
use feeler_geom::{P3, V3};

/// Computes the distance from a point to the convex hull of the vertices of a cell.
pub trait CellDistance: Sync {
    /// Returns the distance and the nearest point of the hull; `None` if the computation fails. `direction`
    /// points from the cell towards the point, roughly.
    fn nearest(&self, vertices: &[P3], point: &P3, direction: &V3) -> Option<(f64, P3)>;
}

/// GJK of feeler-convex with a sub-algorithm.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gjk<S = SignedVolumes>(pub S);

impl<S: SubAlgorithm + Sync> CellDistance for Gjk<S> {
    fn nearest(&self, vertices: &[P3], point: &P3, direction: &V3) -> Option<(f64, P3)> {
        let cell = PointSet::new(vertices).ok()?;
        let point = Hull::new([*point]).ok()?;
        let request = DistanceRequest { start: Start::Direction(*direction), ..DistanceRequest::default() };
        let found = distance_with(&cell, &point, &request, &self.0);
        (found.outcome != DistanceOutcome::Invalid).then_some((found.distance, found.witness.point_a))
    }
}
