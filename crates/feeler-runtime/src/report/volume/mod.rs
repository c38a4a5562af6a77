//! Volume, centroid and box of the common part of two interfering solids.
//!
//! Three methods are tried in this order, and the first one whose check is passed gives the result:
//!
//! 1. [`faces`]: integrals over the parts of the faces of each solid that are inside the other one.
//! 2. [`displaced`]: the same integrals at small opposite displacements of B, extrapolated to no
//!    displacement. Faces that coincide or are tangent to each other do not coincide after the displacement.
//! 3. [`lines`]: lengths of parallel lines in the common part.
//!
//! # Source
//! MATH §26.

mod displaced;
mod faces;
mod lines;
mod path;
#[cfg(test)]
mod tests;

use super::context;
use crate::api::error::QueryError;
use crate::api::options::QueryOptions;
use crate::api::verdict::{Overlap, OverlapMethod, Status};
use crate::body::Body;
use crate::body::coordinates::without_common_offset;
use crate::nearest::membership::RayScratch;
use crate::nearest::{NearScratch, signed_foot};
use crate::pair::ContactPair;
use crate::query::Context;
use faces::{BoundarySums, boundary_sums};
use feeler_geom::{Aabb, P3, Pose, V3};
use lines::{LineSums, checked_line_sums, line_sums};
use std::sync::Arc;

/// Largest estimated error of a volume, relative to the volume, at which the result of a method is returned
/// without trying the next one: for integrals over faces, and for extrapolated ones. A larger value is less
/// exact, a smaller one slower.
const ACCURACY: [f64; 2] = [1e-6, 1e-6];
/// Maximum number of lines, for solids whose faces all have closed forms and for other solids. A larger value
/// is slower; a smaller one is less exact.
const MAX_LINES: [u32; 2] = [40_000, 4_000];
/// Relative error of a volume that lines do not improve, so that they are not tried. A larger value is less
/// exact; with a smaller one, lines take time without a better result.
const LINES_ACCURACY: f64 = 1e-5;
/// Number of points with which a volume is checked. More of them are slower; with fewer, a missing part of
/// the overlap is not noticed.
const CHECK_POINTS: u32 = 600;
/// Difference of a volume from that by points at which it is rejected, in standard deviations of random
/// points. A larger value accepts volumes that lack a part; a smaller one rejects correct ones.
const MAX_CHECK_DEVIATIONS: f64 = 4.0;
/// Relative excess of a volume over that of the smaller solid at which the volume is rejected, in addition to
/// its error. It exceeds the relative error of the volumes of spline solids (1e-8). A larger value accepts
/// wrong volumes; a smaller one rejects correct volumes of solids that contain each other.
const MAX_EXCESS: f64 = 1e-7;

/// Steps of the coordinates, modulo 1, between successive points of a sequence that fills a cube evenly:
/// powers of the inverse of the root of x⁴ = x + 1.
const POINT_STEPS: [f64; 3] = [0.819_172_513_396_164_4, 0.671_043_606_703_789_2, 0.549_700_477_901_970_2];
/// Diagonal of the overlap's box as a fraction of that of the region, below which the computation is repeated
/// in a smaller region. A larger value repeats more computations; with a smaller one, overlaps that are small
/// are less exact.
const MIN_FILLED: f64 = 0.3;
/// Maximum number of smaller regions in the search for the region of an overlap. More of them cost more; with
/// fewer, very small overlaps are not found by lines.
const MAX_ZOOMS: u32 = 12;
/// Width of the next region as a fraction of the current one if no line hits the overlap. A larger value is
/// slower; a smaller one can cut off a part of the overlap.
const ZOOM: f64 = 0.25;
impl ContactPair {
    /// Computes volume, centroid and box of the common part of the two solids. `None` unless the status at
    /// these poses is [`Status::Interfering`], and if a body is a sheet, which has no volume.
    ///
    /// The volume is a measure: the verdict decides whether the solids interfere. The computation takes
    /// longer than a query. The results of the last query of this pair do not change.
    ///
    /// # Guarantees
    /// [`Overlap::error`] is an estimate, not a bound; it includes steps and tilts of nearly coincident
    /// faces. [`Overlap::volume`] is at most the volume of the smaller solid. [`Overlap::method`] states
    /// how the volume was computed. The result does not depend on the number of threads.
    ///
    /// # Errors
    /// Errors of [`ContactPair::query`].
    ///
    /// # Source
    /// MATH §26.
    pub fn overlap(
        &self,
        pose_a: &Pose,
        pose_b: &Pose,
        options: &QueryOptions,
    ) -> Result<Option<Overlap>, QueryError> {
        let (a, b) = (self.body_a(), self.body_b());
        if a.is_sheet() || b.is_sheet() {
            return Ok(None);
        }
        let Some(ctx) = context(self, (pose_a, pose_b), options)? else { return Ok(None) };
        let mut pair = ContactPair::new(Arc::clone(a), Arc::clone(b));
        pair.query(pose_a, pose_b, &options.for_verdict())?;
        if pair.status() != Some(Status::Interfering) {
            return Ok(None);
        }
        let witness = pair.verdict().and_then(|v| v.witness).map(|w| w.point);
        let [near_a, near_b] = without_common_offset(pose_a, pose_b)?;
        let offset = pose_a.translation.vector - near_a.translation.vector;
        let region = common(&a.posed_bounds(&near_a), &b.posed_bounds(&near_b));
        let witness = witness.map_or_else(|| region.center(), |p| p - offset);
        let measure = Measure { ctx: &ctx, poses: [near_a, near_b], region, witness };
        let mut overlap = measure.run()?;
        overlap.centroid += offset;
        overlap.min += offset;
        overlap.max += offset;
        Ok(Some(overlap))
    }
}

/// Box of an overlap, enlarged by a tenth.
fn grown(overlap: &Overlap) -> Aabb {
    let found = Aabb { min: overlap.min, max: overlap.max };
    found.inflated(0.05 * found.diagonal())
}

/// Box that two boxes have in common.
fn common(a: &Aabb, b: &Aabb) -> Aabb {
    let pick = |f: fn(f64, f64) -> f64, p: &P3, q: &P3| P3::from(p.coords.zip_map(&q.coords, f));
    let min = pick(f64::max, &a.min, &b.min);
    Aabb { min, max: pick(f64::max, &pick(f64::min, &a.max, &b.max), &min) }
}

/// Two interfering solids at poses without a common offset.
struct Measure<'a> {
    ctx: &'a Context<'a>,
    poses: [Pose; 2],
    /// Box (world) around the overlap, which can be much larger.
    region: Aabb,
    /// A point (world) in the overlap.
    witness: P3,
}

impl Measure<'_> {
    /// Computes the overlap by the first method whose check is passed, or by the one with the smallest
    /// estimated error.
    fn run(&self) -> Result<Overlap, QueryError> {
        let mut best: Option<Overlap> = None;
        let mut region = self.region;
        for (is_displaced, accuracy) in [(false, ACCURACY[0]), (true, ACCURACY[1])] {
            // The error of an extrapolated volume is at least that of the volumes at the displacements.
            let max_error = best.map_or(f64::INFINITY, |b| b.error);
            let compute = |region: &Aabb| {
                let found =
                    if is_displaced { self.displaced(region, max_error) } else { self.by_faces(region) };
                found.and_then(|found| self.limited(found))
            };
            let Some(mut found) = compute(&region) else {
                region = self.zoomed()?;
                continue;
            };
            // A box that fits gives a smaller displacement and less rounding.
            let fitting = grown(&found);
            if fitting.diagonal() < MIN_FILLED * region.diagonal() {
                region = fitting;
                let Some(refined) = compute(&region) else { continue };
                found = refined;
            }
            if !(found.volume > 0.0 && self.agrees_with_points(&found)) {
                continue;
            }
            if found.error <= accuracy * found.volume {
                return Ok(found);
            }
            best = best.filter(|b| b.error <= found.error).or(Some(found));
        }
        if let Some(found) = best.filter(|b| b.error <= LINES_ACCURACY * b.volume) {
            return Ok(found);
        }
        let is_free = |body: &Body| body.hierarchy().faces.iter().any(|f| !f.surface.is_canonical());
        let max_lines = MAX_LINES[usize::from(is_free(self.ctx.a) || is_free(self.ctx.b))];
        let mut by_lines = self.by_lines(&self.zoomed()?, max_lines)?;
        by_lines.volume = by_lines.volume.min(self.smaller_volume());
        Ok(best.filter(|b| b.error <= by_lines.error).unwrap_or(by_lines))
    }

    /// Volume (mm³) of the smaller solid, an upper bound of the volume of the overlap.
    fn smaller_volume(&self) -> f64 {
        self.ctx.a.hierarchy().info.volume.min(self.ctx.b.hierarchy().info.volume)
    }

    /// Overlap whose volume is at most that of the smaller solid and whose box is in the boxes of both
    /// solids. `None` if the volume exceeds the limit by more than its error.
    fn limited(&self, found: Overlap) -> Option<Overlap> {
        let limit = self.smaller_volume();
        // NaN is not possible either.
        let is_possible = found.volume <= limit * (1.0 + MAX_EXCESS) + found.error;
        if !is_possible {
            return None;
        }
        let clamped = |p: &P3| P3::from(p.coords.sup(&self.region.min.coords).inf(&self.region.max.coords));
        let (min, max) = (clamped(&found.min), clamped(&found.max));
        Some(Overlap { volume: found.volume.min(limit), min, max, ..found })
    }

    /// Whether the share of points in the box of an overlap that are inside both solids agrees with the
    /// volume.
    fn agrees_with_points(&self, found: &Overlap) -> bool {
        let region = grown(found);
        let (mut near, mut rays) = (NearScratch::default(), RayScratch::default());
        let mut count = 0.0;
        let mut at = V3::repeat(0.5);
        for _ in 0..CHECK_POINTS {
            at = (at + V3::from(POINT_STEPS)).map(f64::fract);
            let p = region.min + (region.max - region.min).component_mul(&at);
            let mut is_inside = |(body, pose): (&Body, &Pose)| {
                let q = pose.inverse_transform_point(&p);
                signed_foot(body, &q, &self.ctx.tol, (&mut near, &mut rays))
                    .is_some_and(|x| x.signed_distance < 0.0)
            };
            count += if self.solids().into_iter().all(&mut is_inside) { 1.0 } else { 0.0 };
        }
        let whole = (region.max - region.min).product();
        let n = f64::from(CHECK_POINTS);
        let share = found.volume / whole;
        let deviation = (share * (1.0 - share).max(0.0) / n).sqrt() + 1.0 / n;
        (count / n - share).abs() <= MAX_CHECK_DEVIATIONS * deviation
    }

    /// Box around the ends of lines in the overlap, found by lines in smaller and smaller boxes.
    fn zoomed(&self) -> Result<Aabb, QueryError> {
        let mut region = self.region;
        for _ in 0..MAX_ZOOMS {
            let sums = line_sums(self.solids(), &region, 0)?;
            let mut found = sums.bounds;
            if found.is_empty() {
                // The overlap is between the lines, near the witness.
                let half = (region.max - region.min) * (0.5 * ZOOM);
                found = Aabb { min: self.witness - half, max: self.witness + half };
            } else {
                found.insert(&self.witness);
                // The spacing of the lines is about a fiftieth of the region.
                found = found.inflated(0.03 * region.diagonal());
            }
            let next = common(&found, &region);
            if next.diagonal() > MIN_FILLED * region.diagonal() {
                return Ok(next);
            }
            region = next;
        }
        Ok(region)
    }

    fn solids(&self) -> [(&Body, &Pose); 2] {
        [(self.ctx.a, &self.poses[0]), (self.ctx.b, &self.poses[1])]
    }

    fn by_lines(&self, region: &Aabb, max_lines: u32) -> Result<Overlap, QueryError> {
        let LineSums { volume, moment, bounds, error } = checked_line_sums(self.solids(), region, max_lines)?;
        let bounds = if bounds.is_empty() { *region } else { bounds };
        let centroid = region.center() + if volume > 0.0 { moment / volume } else { V3::zeros() };
        Ok(Overlap {
            volume,
            centroid,
            min: bounds.min,
            max: bounds.max,
            error,
            method: OverlapMethod::Lines,
        })
    }

    /// Overlap from integrals over faces; `None` if a part of the boundary is missing.
    fn by_faces(&self, region: &Aabb) -> Option<Overlap> {
        let sums = self.sums(self.ctx, region);
        sums.is_sound.then(|| self.overlap(&sums, region, OverlapMethod::Faces))
    }

    fn sums(&self, ctx: &Context<'_>, region: &Aabb) -> BoundarySums {
        let reference = self.poses[0].inverse_transform_point(&region.center());
        let axis = |k: usize| self.poses[0].rotation.inverse_transform_vector(&V3::ith(k, 1.0));
        boundary_sums(ctx, &reference, region.diagonal(), &[axis(0), axis(1), axis(2)])
    }

    fn overlap(&self, sums: &BoundarySums, region: &Aabb, method: OverlapMethod) -> Overlap {
        let centroid = region.center() + self.poses[0].rotation * (sums.moment / sums.volume);
        // Extremes are those of coordinates relative to the origin of A, along the axes of the world.
        let origin = self.poses[0].translation.vector;
        let [min, max] = sums.extremes.map(|x| P3::from(V3::from(x) + origin));
        Overlap { volume: sums.volume, centroid, min, max, error: sums.error, method }
    }
}
