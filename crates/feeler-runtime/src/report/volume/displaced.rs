//! Volume of the common part of two solids, extrapolated from small displacements of B.
//!
//! The volume V(s) of A ∩ (B + s) is smooth between displacements at which features of the two boundaries
//! pass each other. Faces that coincide pass each other at s = 0: V has a kink there, and V(0) is the limit
//! of V from each side. Faces at a distance g from each other pass each other at a displacement of about g.
//! If this displacement is between 0 and the displacements from which V is extrapolated, the extrapolated
//! value belongs to the far side of the kink and is wrong by up to g times the common area of the faces.
//! Neither the residual of the polynomial nor the agreement of opposite displacements detects all such kinks:
//! those of opposite sides of a solid, or of both ends of a tilted face, cancel each other.
//!
//! The displacements are therefore as small as the crossing curves allow, and the stated error is the smaller
//! one of two values: a bound by the displacement and the areas of the solids, and an estimate by the
//! measured distances between faces.
//!
//! # Source
//! MATH §26.

use super::Measure;
use super::faces::BoundarySums;
use crate::api::tolerance::Tolerances;
use crate::api::verdict::{Overlap, OverlapMethod};
use crate::body::Body;
use crate::body::side::Which;
use crate::nearest::membership::RayScratch;
use crate::nearest::{NearScratch, signed_foot};
use crate::query::Context;
use feeler_geom::trim::Side;
use feeler_geom::{Aabb, P2, P3, Pose, Rect, Surface, V3};
use feeler_hierarchy::{AreaId, FaceId, Feature};
use nalgebra::{Matrix3, Translation3};
use rayon::prelude::*;

/// Directions (frame of A, not of unit length) of the displacements of B, which are parallel to no typical
/// face or edge. Successive lengths use them in turn. Their components are large enough that a displaced face
/// is outside the margin within which points count as on the boundary; smaller components make displacements
/// fail, and more directions are slower.
const DIRECTIONS: [[f64; 3]; 2] = [[0.5369, 0.3119, 0.7831], [-0.7129, 0.6037, 0.3569]];
/// Displacements from which a value is extrapolated, as multiples of the smallest one. With more of them,
/// rounding is amplified; with fewer, curved faces are less exact.
const MULTIPLES: [f64; 4] = [1.0, 2.0, 3.0, 4.0];
/// Length of the shortest displacement in units of the distance from a boundary within which points count as
/// on it (4 tolerances and the deviation of the edges). A larger value is less exact; with a smaller one,
/// displaced faces count as coincident.
const MIN_DISPLACEMENT: f64 = 4.0;
/// Factor between successive lengths of displacements, which are tried until the crossing curves are
/// complete. A larger value is less exact, a smaller one slower.
const GROWTH: f64 = 5.0;
/// Length of the longest displacement as a fraction of the diagonal of the overlap's box. A larger value is
/// less exact; with a smaller one, nearly tangent faces have no complete crossing curves at any displacement.
const MAX_DISPLACEMENT: f64 = 2e-4;
/// Maximum number of lengths at which opposite displacements both have complete crossing curves, and of which
/// the result with the smallest error is returned. A larger value is slower; with a smaller one, an
/// inaccurate first result is not improved.
const MAX_RESULTS: u32 = 3;
/// Ratio of the distance within which faces count as near each other to the length of the longest
/// displacement: faces farther apart do not pass each other, even with the margin of boundaries. A larger
/// value states larger errors; with a smaller one, kinks at the last displacement are missed.
const NEAR_FACES: f64 = 1.25;
/// Fraction of a displacement that is added to its component along the normal of faces, because the normals
/// of a curved or tilted face differ from that of a sample. A larger value states larger errors; with a
/// smaller one, kinks of curved faces are missed.
const CURVATURE: f64 = 1e-3;
/// Cosine of the largest angle between faces that count as near each other. Faces at larger angles cross each
/// other and have no common area. A larger value misses tilted faces; a smaller one states larger errors.
const NEAR_FACES_COS: f64 = 0.9;
/// Factor of the integral of the distances between near faces in the stated error, because the integral is a
/// sum over samples. A larger value states larger errors; a smaller one understates them.
const DISTANCE_FACTOR: f64 = 2.0;
/// Smallest and largest number of samples along each side of an area (rectangle of parameters) at which
/// distances between faces are measured. Larger values are slower; with smaller ones, narrow common areas of
/// faces are missed.
const SIDE_SAMPLES: [u32; 2] = [2, 8];
/// Number of samples on one solid below which areas have more than the smallest number of samples. A larger
/// value is slower; with a smaller one, common areas of faces are less exact.
const MAX_SAMPLES: usize = 8000;
/// Relative error of an extrapolated volume of solids whose trims deviate from their edges: five times the
/// largest that was measured (2e-10). A larger value hides small differences; with a smaller one, the stated
/// error is exceeded.
const TRIM_ERROR: f64 = 1e-9;

/// Sample of the boundary of one solid that is near a face of the other solid.
struct NearSample {
    /// Distance (mm) from the boundary of the other solid.
    distance: f64,
    /// Area (mm²) that the sample represents.
    area: f64,
    /// Unit normal (frame of A).
    normal: V3,
}

impl NearSample {
    /// Whether a displacement by up to the largest multiple of `step` (frame of A) moves the two faces past
    /// each other, or nearly so.
    fn is_passed(&self, step: &V3) -> bool {
        let longest = MULTIPLES[MULTIPLES.len() - 1] * NEAR_FACES;
        self.distance <= longest * (self.normal.dot(step).abs() + CURVATURE * step.norm())
    }
}

/// Sums extrapolated from displacements in one direction.
struct OneSided {
    sums: BoundarySums,
    /// Volume (mm³) at the shortest displacement.
    first: f64,
    /// Largest error (mm³) of the volume at a displacement.
    error: f64,
}

impl Measure<'_> {
    /// Overlap extrapolated from displacements of B; `None` if a part of a boundary is missing at all
    /// displacements, or if the error is certain to exceed `max_error` (mm³).
    pub(super) fn displaced(&self, region: &Aabb, max_error: f64) -> Option<Overlap> {
        let (finest, margin) = self.finest();
        let shortest = MIN_DISPLACEMENT * margin;
        let longest = (MAX_DISPLACEMENT * region.diagonal()).max(shortest);
        let samples_of = |which| self.near_samples(which, region, longest, &finest);
        let (of_a, of_b) = rayon::join(|| samples_of(Which::A), || samples_of(Which::B));
        let samples = [of_a, of_b];
        let mut best: Option<Overlap> = None;
        let mut keep = |found: Overlap| {
            best = best.filter(|b| b.error <= found.error).or(Some(found));
            best.is_some_and(|b| b.error <= super::ACCURACY[1] * b.volume)
        };
        let mut results = 0;
        let mut length = shortest;
        for k in 0.. {
            let along = V3::from(DIRECTIONS[k % DIRECTIONS.len()]).normalize();
            // A larger tolerance saves time.
            let tol = finest.tol.max(self.ctx.tol.tol.min(finest.tol * length / shortest));
            let tol = Tolerances { tol, ..finest };
            if let Some((found, is_both)) =
                self.opposite(&tol, region, &(along * length), &samples, max_error)
            {
                if keep(found) {
                    break;
                }
                // Faces that the displacement moves past each other move as little as possible.
                let normal = main_normal(&samples, &(along * length)).filter(|_| length > shortest);
                let step = normal.map(|n| (along - n * n.dot(&along)) * length + n * shortest);
                let second = step.and_then(|step| self.opposite(&finest, region, &step, &samples, max_error));
                if second.is_some_and(|(found, _)| keep(found)) {
                    break;
                }
                results += u32::from(is_both);
            }
            if results >= MAX_RESULTS || length >= longest {
                break;
            }
            length = (length * GROWTH).min(longest);
        }
        best
    }

    /// Overlap extrapolated from displacements of B by multiples of `step` (frame of A) and of the opposite
    /// of it, and whether both have complete crossing curves. `None` if the former have not, or if the error
    /// is certain to exceed `max_error` (mm³).
    fn opposite(
        &self,
        tol: &Tolerances,
        region: &Aabb,
        step: &V3,
        samples: &[Vec<NearSample>; 2],
        max_error: f64,
    ) -> Option<(Overlap, bool)> {
        let ctx = Context { tol: *tol, ..*self.ctx };
        let side = |step: V3| self.one_sided(&ctx, region, &step, max_error);
        let (first, second) = rayon::join(|| side(*step), || side(-step));
        let mut sides = vec![first?];
        sides.extend(second);
        let sums = mean(&sides)?;
        let [a, b] = [self.ctx.a, self.ctx.b].map(Body::hierarchy);
        let off_first = sides.iter().map(|s| (s.first - sums.volume).abs()).fold(0.0, f64::max);
        let of_sums = sides.iter().map(|s| s.error).fold(0.0, f64::max);
        let bound = step.norm() * 0.5 * a.info.area.min(b.info.area) + off_first + of_sums;
        let of_distances = samples.iter().map(|s| integral_of_distances(s, step)).fold(0.0, f64::max);
        let estimate = match &sides[..] {
            [x, y] => (x.sums.volume - y.sums.volume).abs() + sums.error + of_distances,
            _ => f64::INFINITY,
        };
        // Errors of the trims are the same in all displacements.
        let has_trim_errors = [a, b].iter().any(|solid| solid.info.max_trim_deviation > 0.0);
        let of_trims = if has_trim_errors { TRIM_ERROR * sums.volume.abs() } else { 0.0 };
        let sums = BoundarySums { error: bound.min(estimate) + of_trims, ..sums };
        Some((self.overlap(&sums, region, OverlapMethod::Displaced), sides.len() == 2))
    }

    /// Smallest tolerances of the computation, and the distance (mm) from a boundary within which points then
    /// count as on it.
    fn finest(&self) -> (Tolerances, f64) {
        let tol = Tolerances { tol: self.ctx.tol.tol.min(self.ctx.tol.trim), ..self.ctx.tol };
        let deviation = self.ctx.a.deviation().max(self.ctx.b.deviation());
        (tol, super::faces::BOUNDARY_MARGIN * tol.tol + deviation)
    }

    /// Sums extrapolated from displacements of B by multiples of `step` (frame of A). `None` if a part of a
    /// boundary is missing at one of them, or if the error at the shortest one exceeds `max_error` (mm³).
    fn one_sided(&self, ctx: &Context<'_>, region: &Aabb, step: &V3, max_error: f64) -> Option<OneSided> {
        let sums_at = |k: &f64| {
            let pose_ab = Translation3::from(*step * *k) * ctx.pose_ab;
            let ctx = Context { pose_ab, pose_ba: pose_ab.inverse(), ..*ctx };
            Some(self.sums(&ctx, region)).filter(|sums| sums.is_sound)
        };
        // A displacement at which a part of a boundary is missing makes the others superfluous. It is mostly
        // the shortest one.
        let [shortest, longer @ ..] = &MULTIPLES;
        let first = sums_at(shortest).filter(|sums| sums.error <= max_error)?;
        let mut at = vec![first];
        at.extend(longer.par_iter().map(sums_at).collect::<Option<Vec<_>>>()?);
        // Values at 0 of the polynomials through the values at 1 to 3 and at 1 to 4.
        let at_zero = |value: &dyn Fn(&BoundarySums) -> f64| {
            let [x, y, z, w] = [0, 1, 2, 3].map(|k| value(&at[k]));
            [3.0 * (x - y) + z, 4.0 * (x + z) - 6.0 * y - w]
        };
        let [coarse, volume] = at_zero(&|s| s.volume);
        let moment = V3::from([0, 1, 2].map(|k| at_zero(&|s| s.moment[k])[1]));
        let extremes = [0, 1].map(|i| [0, 1, 2].map(|k| at_zero(&|s| s.extremes[i][k])[1]));
        let of_sums = at.iter().map(|s| s.error).fold(0.0, f64::max);
        let error = (volume - coarse).abs() + 15.0 * of_sums;
        let sums = BoundarySums { volume, moment, extremes, error, is_sound: true };
        Some(OneSided { sums, first: at[0].volume, error: of_sums })
    }

    /// Samples of the boundary of a solid near the overlap whose distance from a nearly parallel face of the
    /// other solid is at most that of faces that the displacements up to `longest` (mm) can move past each
    /// other.
    fn near_samples(&self, which: Which, region: &Aabb, longest: f64, tol: &Tolerances) -> Vec<NearSample> {
        let [own, other] = [which, which.other()].map(|w| self.solids()[w as usize]);
        let reach = NEAR_FACES * MULTIPLES[MULTIPLES.len() - 1] * longest;
        let region = region.inflated(reach);
        let local = region_in(own.1, &region);
        let to_other = other.1.inverse() * own.1;
        let mut scratch = (NearScratch::default(), RayScratch::default());
        let mut out = Vec::new();
        let areas: Vec<(FaceId, AreaId)> = (0..own.0.hierarchy().faces.len())
            .map(FaceId::new)
            .filter(|f| touches(&own.0.data(Feature::Face(*f)).bounds, &local))
            .flat_map(|f| own.0.areas_of(own.0.data(Feature::Face(f))).iter().map(move |a| (f, *a)))
            .collect();
        let [min, max] = SIDE_SAMPLES;
        let n = (min..=max).rev().find(|n| (n * n) as usize * areas.len() <= MAX_SAMPLES).unwrap_or(min);
        for (f, area) in areas {
            let face = own.0.face(f);
            let rect = rect_near(own.0, f, area, &local);
            if rect.is_empty() {
                continue;
            }
            let along = |i: u32| (f64::from(i) + 0.5) / f64::from(n);
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let uv = P2::new(rect.u0 + along(i) * rect.width(), rect.v0 + along(j) * rect.height());
                if face.trim.classify(uv) != Side::Inside {
                    continue;
                }
                let (p, du, dv) = face.surface.first_derivs(uv);
                if !region.contains(&(own.1 * p)) {
                    continue;
                }
                let across = du.cross(&dv);
                let Some(normal) = across.try_normalize(0.0) else { continue };
                let q = to_other * p;
                let Some(foot) = signed_foot(other.0, &q, tol, (&mut scratch.0, &mut scratch.1)) else {
                    continue;
                };
                let distance = foot.signed_distance.abs();
                if distance <= reach && (to_other * normal).dot(&foot.normal).abs() >= NEAR_FACES_COS {
                    let area = across.norm() * rect.width() * rect.height() / f64::from(n * n);
                    let normal = if which == Which::A { normal } else { self.ctx.pose_ab * normal };
                    out.push(NearSample { distance, area, normal });
                }
            }
        }
        out
    }
}

/// Integral (mm³) of the distances between faces that displacements by multiples of `step` move past each
/// other, times a factor for the error of the samples.
fn integral_of_distances(samples: &[NearSample], step: &V3) -> f64 {
    let sum: f64 = samples.iter().filter(|s| s.is_passed(step)).map(|s| s.distance * s.area).sum();
    DISTANCE_FACTOR * sum
}

/// Main normal of the faces that displacements by multiples of `step` move past each other, weighted by their
/// distances and areas, in the direction of `step`; `None` without distances.
fn main_normal(samples: &[Vec<NearSample>; 2], step: &V3) -> Option<V3> {
    let mut sum = Matrix3::zeros();
    for s in samples.iter().flatten().filter(|s| s.is_passed(step)) {
        sum += s.normal * s.normal.transpose() * (s.distance * s.area);
    }
    let eigen = sum.symmetric_eigen();
    let k = eigen.eigenvalues.imax();
    let n: V3 = eigen.eigenvectors.column(k).into_owned();
    let n = n.try_normalize(0.0).filter(|n| n.iter().all(|x| x.is_finite()))?;
    (eigen.eigenvalues[k] > 0.0).then_some(if n.dot(step) < 0.0 { -n } else { n })
}

/// Mean of the sums of one or two sides; `None` without sides. Its error is the largest one of the sides.
fn mean(sides: &[OneSided]) -> Option<BoundarySums> {
    let (first, last) = (&sides.first()?.sums, &sides.last()?.sums);
    let half = |x: f64, y: f64| 0.5 * (x + y);
    Some(BoundarySums {
        volume: half(first.volume, last.volume),
        moment: (first.moment + last.moment) * 0.5,
        extremes: [0, 1].map(|i| [0, 1, 2].map(|k| half(first.extremes[i][k], last.extremes[i][k]))),
        error: first.error.max(last.error),
        is_sound: true,
    })
}

/// Box in the frame of a solid around a box (world).
fn region_in(pose: &Pose, region: &Aabb) -> Aabb {
    let mut out = Aabb::empty();
    corners(region).iter().for_each(|p| out.insert(&pose.inverse_transform_point(p)));
    out
}

fn corners(bounds: &Aabb) -> [P3; 8] {
    let pick = |k: usize, high: bool| if high { bounds.max[k] } else { bounds.min[k] };
    [0, 1, 2, 3, 4, 5, 6, 7].map(|i| P3::new(pick(0, i & 1 > 0), pick(1, i & 2 > 0), pick(2, i & 4 > 0)))
}

fn touches(a: &Aabb, b: &Aabb) -> bool {
    (0..3).all(|k| a.min[k] <= b.max[k] && b.min[k] <= a.max[k])
}

/// Rectangle of parameters of an area; on planes, the part of it near the box `local` (frame of the solid).
fn rect_near(own: &Body, f: FaceId, area: AreaId, local: &Aabb) -> Rect {
    let rect = own.area(area).rect;
    let Surface::Plane { frame } = &own.face(f).surface else { return rect };
    let mut around = Aabb::empty();
    corners(local).iter().for_each(|p| around.insert(&P3::from(frame.local(p))));
    let [u, v] = [0, 1].map(|k| [around.min[k], around.max[k]]);
    rect.intersection(&Rect { u0: u[0], u1: u[1], v0: v[0], v1: v[1] })
}
