//! Queries of many points and rays, distributed among threads.
//!
//! The result of each item depends on that item only, so results do not depend on the number of threads.

use super::point_query::PointQuery;
use super::ray::{RayIntersection, RayQuery};
use super::signed::BoundaryPoint;
use crate::api::error::{BatchError, QueryError};
use crate::body::Body;
use feeler_geom::{P3, V3};
use rayon::prelude::*;

/// Number of items that one thread computes in sequence. A larger value distributes few items unevenly; a
/// smaller one allocates scratch memory more often.
const CHUNK: usize = 256;

/// Intersections of many rays with the boundary of a solid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RayIntersections {
    /// Index of the first intersection of each ray, and the number of all intersections at the end: those
    /// of ray `i` are `intersections[offsets[i]..offsets[i + 1]]`.
    pub offsets: Vec<usize>,
    /// Intersections, ray by ray, by increasing parameter.
    pub intersections: Vec<RayIntersection>,
}

impl Body {
    /// Signed distances (mm) of points from the boundary, negative inside, in parallel. Points are in the
    /// frame of the body. The distances of a body without faces are infinite.
    ///
    /// # Errors
    /// [`BatchError`] with the first point that is not finite or too far away
    /// ([`QueryError::CoordinatesTooLarge`]).
    pub fn signed_distances(&self, points: &[P3]) -> Result<Vec<f64>, BatchError> {
        self.at_points(points, |query, p| {
            Ok(query.signed(self, p)?.map_or(f64::INFINITY, |x| x.signed_distance))
        })
    }

    /// Whether points (in the frame of the body) are inside the solid, in parallel: whether their signed
    /// distances are negative.
    ///
    /// # Errors
    /// Errors of [`Body::signed_distances`].
    pub fn contains_points(&self, points: &[P3]) -> Result<Vec<bool>, BatchError> {
        let bounds = self.bounds().inflated(self.deviation());
        self.at_points(points, |query, p| {
            let is_near = bounds.contains(p) || !p.iter().all(|x| x.is_finite());
            Ok(is_near && query.signed(self, p)?.is_some_and(|x| x.signed_distance < 0.0))
        })
    }

    /// Boundary points nearest to given points (in the frame of the body), in parallel. The list is empty
    /// for a body without faces.
    ///
    /// # Errors
    /// Errors of [`Body::signed_distances`].
    pub fn nearest_points(&self, points: &[P3]) -> Result<Vec<BoundaryPoint>, BatchError> {
        let found = self.at_points(points, |query, p| query.signed(self, p))?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Intersections of the rays `origin + t · direction`, t ≥ 0, with the boundary, in parallel. Rays are
    /// pairs of an origin and a direction of any length above 0, in the frame of the body. [`RayQuery`]
    /// states what is guaranteed.
    ///
    /// # Errors
    /// [`BatchError`] with the first ray that [`RayQuery::intersections`] rejects.
    pub fn ray_intersections(&self, rays: &[(P3, V3)]) -> Result<RayIntersections, BatchError> {
        let of_chunk = |(k, chunk): (usize, &[(P3, V3)])| {
            let mut query = RayQuery::new();
            let (mut counts, mut all) = (Vec::with_capacity(chunk.len()), Vec::new());
            for (i, (origin, direction)) in chunk.iter().enumerate() {
                let found = query.intersections(self, origin, direction);
                let found = found.map_err(|error| at_index("ray", k * CHUNK + i, error))?;
                counts.push(found.len());
                all.extend_from_slice(found);
            }
            Ok((counts, all))
        };
        let chunks: Vec<Result<_, BatchError>> = rays.par_chunks(CHUNK).enumerate().map(of_chunk).collect();
        let mut out = RayIntersections { offsets: vec![0], intersections: Vec::new() };
        let mut total = 0;
        for chunk in chunks {
            let (counts, all) = chunk?;
            out.offsets.extend(counts.iter().map(|count| {
                total += count;
                total
            }));
            out.intersections.extend(all);
        }
        Ok(out)
    }

    /// Results of a query of each point, in parallel.
    fn at_points<T: Send>(
        &self,
        points: &[P3],
        result: impl Fn(&mut PointQuery, &P3) -> Result<T, QueryError> + Sync,
    ) -> Result<Vec<T>, BatchError> {
        let of_chunk = |(k, chunk): (usize, &[P3])| {
            let mut query = PointQuery::new();
            let numbered = chunk.iter().enumerate();
            numbered
                .map(|(i, p)| result(&mut query, p).map_err(|error| at_index("point", k * CHUNK + i, error)))
                .collect::<Result<Vec<T>, BatchError>>()
        };
        let chunks: Vec<Result<Vec<T>, BatchError>> =
            points.par_chunks(CHUNK).enumerate().map(of_chunk).collect();
        let mut out = Vec::with_capacity(points.len());
        for chunk in chunks {
            out.extend(chunk?);
        }
        Ok(out)
    }
}

fn at_index(item: &'static str, index: usize, error: QueryError) -> BatchError {
    BatchError { item, index, error }
}
