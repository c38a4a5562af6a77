//! Short translation that separates two interfering solids.
//!
//! Candidate directions come from the witness, the crossing faces and the shapes of the solids. A common
//! point excludes lengths in all directions: the solids still interfere while B's material point is inside A,
//! or A's is inside B, which the intersections of two rays with the boundaries show. The direction with the
//! shortest length that no known common point excludes is tried first, by a verdict at the translated pose,
//! which either separates the solids or finds another common point. A longer translation can make the solids
//! interfere again, like a pin that crosses the opposite wall of its bore. A translation is returned only if
//! the verdict at the translated pose excludes interference.

use crate::api::contact::FeatureRef;
use crate::api::error::QueryError;
use crate::api::options::QueryOptions;
use crate::api::verdict::{Status, Verdict};
use crate::body::coordinates::without_common_offset;
use crate::body::{Body, outward_normal};
use crate::nearest::{NearScratch, RayQuery, nearest};
use crate::pair::ContactPair;
use feeler_convex::{Moved, PenetrationRequest, penetration};
use feeler_geom::{P2, P3, Pose, V3};
use feeler_hierarchy::FaceId;
use nalgebra::Translation3;
use std::sync::Arc;

/// Maximum number of verdicts in one search. A larger value is slower; a smaller one gives longer
/// translations.
const MAX_DECISIONS: u32 = 200;
/// Number of verdicts that the search for a first direction leaves for the other directions and for the final
/// length. A larger value ends that search early between parts with many axes; a smaller one gives longer
/// translations there.
const RESERVED_DECISIONS: u32 = 60;
/// Number of verdicts as which an undecided one counts, because it takes much longer. With a larger value,
/// the search ends early beside coincident free-form faces; with a smaller one, it takes much longer there.
const UNDECIDED_COST: u32 = 20;
/// Angle (rad) below which two directions count as equal. A larger value tries fewer directions, a
/// smaller one needs more verdicts.
const SAME_DIRECTION_ANGLE: f64 = 1e-3;
/// Length at which another direction is tried, as a fraction of the shortest separating translation found
/// before. A smaller value ignores small improvements; a larger one needs more verdicts.
const IMPROVED_LENGTH: f64 = 0.98;
/// Relative accuracy of the lengths of translations: during the search, and in the result. A larger value
/// gives longer translations, a smaller one needs more verdicts.
const LENGTH_ACCURACY: [f64; 2] = [0.02, 1e-6];
/// First step in a direction from a length at which the solids interfere, as a fraction of that length; each
/// further one is twice as long. With a larger value, lengths are bisected more often; a smaller one needs
/// more verdicts in directions that do not separate the solids.
const FIRST_STEP: f64 = 0.01;
/// Angles (rad) by which the best direction is tilted at the end of the search. Larger and smaller tilts
/// rarely improve it.
const TILTS: [f64; 3] = [0.3, 0.1, 0.03];

impl ContactPair {
    /// Computes a short translation of B (mm, in world coordinates) that separates it from A. `None` if
    /// the solids do not interfere, if both are sheets, or if no tried translation separates them.
    ///
    /// # Guarantees
    /// The verdict at the translated pose is [`Status::Separated`] or [`Status::Touching`]. The length is
    /// an upper bound of the shortest separating translation, but is not proved to be the shortest;
    /// `inside_a + inside_b` of the [witness](crate::Witness) is a lower bound. Solids that overlap by less
    /// than the tolerance along a known chord count as interfering, so that the translation can be longer by
    /// about the tolerance divided by the sine of the angle between translation and surfaces. The search
    /// computes up to 200 verdicts, each of which takes the time of a query. The results of the last query of
    /// this pair do not change.
    ///
    /// # Errors
    /// Errors of [`ContactPair::query`].
    pub fn separating_translation(
        &self,
        pose_a: &Pose,
        pose_b: &Pose,
        options: &QueryOptions,
    ) -> Result<Option<V3>, QueryError> {
        let (a, b) = (self.body_a(), self.body_b());
        if a.is_sheet() && b.is_sheet() {
            return Ok(None);
        }
        let options = options.for_verdict();
        let pair = ContactPair::new(Arc::clone(a), Arc::clone(b));
        let [pose_a, pose_b] = without_common_offset(pose_a, pose_b)?;
        let mut test = SeparationTest {
            pair,
            pose_a,
            pose_b,
            options,
            left: MAX_DECISIONS,
            common: Vec::new(),
            rays: RayQuery::new(),
        };
        test.separates(&V3::zeros())?;
        match test.pair.verdict().cloned() {
            Some(verdict) if verdict.status == Status::Interfering => search(&mut test, &verdict),
            _ => Ok(None),
        }
    }
}

/// Common point of the solids after a translation of B.
#[derive(Clone, Copy)]
struct CommonPoint {
    /// Point (world) inside both solids.
    point: P3,
    /// Translation (mm, world axes) of B.
    translation: V3,
}

/// Test whether translations of B separate the solids. An offset that both world poses share is removed
/// from `pose_a` and `pose_b`, because short translations would be lost in the rounding of a large offset.
struct SeparationTest {
    pair: ContactPair,
    pose_a: Pose,
    pose_b: Pose,
    options: QueryOptions,
    /// Number of verdicts that the search may still compute.
    left: u32,
    /// Common points found by verdicts.
    common: Vec<CommonPoint>,
    rays: RayQuery,
}

impl SeparationTest {
    /// Whether the translation `t` (mm, world axes) of B separates it from A, according to a verdict; `false`
    /// also if no verdicts remain.
    fn separates(&mut self, t: &V3) -> Result<bool, QueryError> {
        let pose_b = Translation3::from(*t) * self.pose_b;
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        self.pair.query(&self.pose_a, &pose_b, &self.options)?;
        if self.pair.status() == Some(Status::Undecided) {
            self.left = self.left.saturating_sub(UNDECIDED_COST - 1);
        }
        if let Some(witness) = self.pair.verdict().and_then(|verdict| verdict.witness) {
            self.common.push(CommonPoint { point: witness.point, translation: *t });
        }
        Ok(matches!(self.pair.status(), Some(Status::Separated | Status::Touching)))
    }

    /// Adds the ranges of lengths (mm) of translations in the unit direction `d` at which a common point
    /// shows that the solids interfere.
    fn exclude(&mut self, common: &CommonPoint, d: &V3, out: &mut Vec<[f64; 2]>) {
        let CommonPoint { point, translation } = common;
        let Self { pair, pose_a, pose_b, rays, .. } = self;
        // The material point of B passes through A, and B passes over the material point of A.
        let of_b = ranges_inside(rays, (pair.body_a(), pose_a), &(point - translation), d);
        let of_a = ranges_inside(rays, (pair.body_b(), pose_b), point, &-d);
        let known = translation.dot(d);
        if (translation - d * known).norm() <= 1e-9 * known {
            // Both points are on one line in the direction of the translation. The solids interfere until the
            // end of B's chord is past the end of A's.
            let end = |ranges: &[[f64; 2]]| {
                ranges.iter().find(|r| r[0] <= known && known <= r[1]).map_or(known, |r| r[1])
            };
            out.push([known, end(&of_b) + end(&of_a) - known]);
        }
        out.extend(of_a);
        out.extend(of_b);
    }
}

/// Ranges of the ray's parameter (mm) in which the ray from a point (world) in a unit direction is inside a
/// solid; empty for a sheet, and if the intersections of the ray cannot be computed.
fn ranges_inside(
    rays: &mut RayQuery,
    (body, pose): (&Body, &Pose),
    point: &P3,
    direction: &V3,
) -> Vec<[f64; 2]> {
    let mut ranges = Vec::new();
    if body.is_sheet() {
        return ranges;
    }
    let origin = pose.inverse_transform_point(point);
    let mut from = 0.0;
    let hits = rays.intersections(body, &origin, &pose.inverse_transform_vector(direction));
    for hit in hits.unwrap_or_default() {
        if hit.is_entering {
            from = hit.t;
        } else {
            ranges.push([from, hit.t]);
        }
    }
    ranges
}

/// Direction in which translations of B are tried.
struct Direction {
    /// Unit direction (world).
    d: V3,
    /// Length (mm) of the translation that moves B past the hull of A.
    max_length: f64,
    /// Largest known length (mm) below `next` at which the solids interfere, or a lower bound of all
    /// separating lengths.
    low: f64,
    /// Next length (mm) that is tried.
    next: f64,
    /// Step (fraction of `low`) after the next verdict.
    step: f64,
    /// Number of common points whose ranges are in `excluded`.
    num_common: usize,
    /// Ranges of lengths (mm) at which the solids interfere.
    excluded: Vec<[f64; 2]>,
}

impl Direction {
    fn new(d: V3, max_length: f64, min_length: f64) -> Self {
        let next = (1.0 + FIRST_STEP) * min_length;
        Self { d, max_length, low: min_length, next, step: FIRST_STEP, num_common: 0, excluded: Vec::new() }
    }

    /// Largest length (mm) up to which known common points show that the solids interfere from `length` on;
    /// `None` if none shows it at `length`.
    fn excluded_to(&mut self, test: &mut SeparationTest, length: f64) -> Option<f64> {
        while let Some(common) = test.common.get(self.num_common).copied() {
            test.exclude(&common, &self.d, &mut self.excluded);
            self.num_common += 1;
        }
        let containing = self.excluded.iter().filter(|[from, to]| *from <= length && length < *to);
        containing.map(|r| r[1]).reduce(f64::max)
    }

    /// Moves `next` past the lengths that known common points exclude. Returns whether it moved.
    fn advance(&mut self, test: &mut SeparationTest) -> bool {
        let before = self.next;
        while let Some(to) = self.excluded_to(test, self.next) {
            self.low = to;
            self.next = (1.0 + FIRST_STEP) * to;
            self.step = FIRST_STEP;
        }
        self.next > before
    }

    /// Moves `next` past a length at which a verdict did not separate the solids. The steps double up to the
    /// length itself; an undecided verdict, which is expensive and finds no common point, takes the largest
    /// one.
    fn pass(&mut self, is_undecided: bool) {
        let step = if is_undecided { 1.0 } else { self.step };
        self.low = self.next;
        self.next *= 1.0 + step;
        self.step = (2.0 * step).min(1.0);
    }

    /// Whether the translation by `length` (mm) separates the solids; `false` also if no verdicts remain.
    fn separates(&mut self, test: &mut SeparationTest, length: f64) -> Result<bool, QueryError> {
        let is_open = test.left > 0 && self.excluded_to(test, length).is_none();
        Ok(is_open && test.separates(&(self.d * length))?)
    }

    /// Searches the length (mm) of a translation between `low`, which is too short, and `high`, which
    /// separates the solids, until they differ by at most `accuracy` times `high` or no verdicts remain.
    /// Returns the shortest length found that separates the solids. Steps begin at `low`, because common
    /// points make it accurate, and double up to half the range.
    fn shortened(
        &mut self,
        test: &mut SeparationTest,
        [mut low, mut high]: [f64; 2],
        accuracy: f64,
    ) -> Result<f64, QueryError> {
        let mut step = 0.5 * accuracy * high;
        while high - low > accuracy * high && test.left > 0 {
            let length = low + step.min(0.5 * (high - low));
            if self.separates(test, length)? {
                high = length;
            } else {
                low = self.excluded_to(test, length).unwrap_or(length).min(high);
                step *= 2.0;
            }
        }
        Ok(high)
    }

    /// Replaces `best` if a translation in this direction that is shorter by the factor [`IMPROVED_LENGTH`]
    /// separates the solids, and shortens it further. `min_length` (mm) is a lower bound of all separating
    /// lengths.
    fn improve(
        mut self,
        test: &mut SeparationTest,
        min_length: f64,
        best: &mut (V3, f64),
    ) -> Result<(), QueryError> {
        let shorter = IMPROVED_LENGTH * best.1;
        if shorter > min_length && self.separates(test, shorter)? {
            let low = if self.low < shorter { self.low } else { min_length };
            *best = (self.d, self.shortened(test, [low, shorter], LENGTH_ACCURACY[0])?);
        }
        Ok(())
    }
}

/// Searches for a short separating translation. `verdict` is that of the untranslated poses. `None` if no
/// tried translation separates the solids.
fn search(test: &mut SeparationTest, verdict: &Verdict) -> Result<Option<V3>, QueryError> {
    let min_length = verdict.witness.map_or(0.0, |w| w.depth());
    let min_length = min_length.max(test.pair.tolerances().tol);
    let (a, b) = (Arc::clone(test.pair.body_a()), Arc::clone(test.pair.body_b()));
    let mut directions: Vec<Direction> = translations(test, verdict, (&a, &b))
        .into_iter()
        .map(|(d, length)| Direction::new(d, length, min_length))
        .collect();
    // The shortest translation of B past the hull of A separates the solids for certain.
    let past = directions.iter().min_by(|x, y| x.max_length.total_cmp(&y.max_length));
    let past = past.map(|x| (x.d, x.max_length));
    let mut best = match past {
        Some((d, length)) if test.separates(&(d * length))? => past,
        _ => None,
    };
    // The shortest length first, until one separates the solids.
    while let Some(k) =
        (0..directions.len()).min_by(|i, j| directions[*i].next.total_cmp(&directions[*j].next))
        && test.left > RESERVED_DECISIONS
    {
        let direction = &mut directions[k];
        let longest = best.map_or(direction.max_length, |(_, length)| IMPROVED_LENGTH * length);
        if direction.next > longest {
            if best.is_some() {
                break;
            }
            directions.remove(k);
        } else if direction.advance(test) {
            // Another direction may have a shorter length.
        } else if test.separates(&(direction.d * direction.next))? {
            let mut found = directions.remove(k);
            best = Some((found.d, found.shortened(test, [found.low, found.next], LENGTH_ACCURACY[0])?));
            break;
        } else {
            direction.pass(test.pair.status() == Some(Status::Undecided));
        }
    }
    let Some(mut best) = best else { return Ok(None) };
    for direction in directions {
        direction.improve(test, min_length, &mut best)?;
    }
    for tilt in TILTS {
        let d = best.0;
        let (e, g) = feeler_geom::frame::complete_basis(&d);
        for side in [e, -e, g, -g] {
            let tilted = (d + side * tilt).normalize();
            Direction::new(tilted, f64::INFINITY, min_length).improve(test, min_length, &mut best)?;
        }
    }
    // The shortest length in this direction is between these two.
    let (d, length) = best;
    let low = (length * (1.0 - 2.0 * LENGTH_ACCURACY[0])).max(min_length);
    let mut direction = Direction::new(d, length, min_length);
    Ok(Some(d * direction.shortened(test, [low, length], LENGTH_ACCURACY[1])?))
}

/// Returns candidate unit directions (world), the most promising first, each with the length (mm) of the
/// translation that moves B past the hull of A.
fn translations(test: &SeparationTest, verdict: &Verdict, (a, b): (&Body, &Body)) -> Vec<(V3, f64)> {
    let (pose_a, pose_b) = (&test.pose_a, &test.pose_b);
    let tol = test.pair.tolerances().tol;
    let mut out: Vec<(V3, f64)> = Vec::new();
    let mut offer = |d: V3| {
        let Some(d) = d.try_normalize(1e-9) else { return };
        if out.iter().any(|(e, _)| (e - d).norm() < SAME_DIRECTION_ANGLE) {
            return;
        }
        let top = |body: &Body, pose: &Pose, d: &V3| {
            let hull = body.hull().into_iter().flat_map(|hull| hull.vertices());
            let along = hull.map(|p| d.dot(&(pose * p).coords));
            along.fold(f64::NEG_INFINITY, f64::max) + body.deviation()
        };
        let length = top(a, pose_a, &d) + top(b, pose_b, &-d) + 4.0 * tol;
        if length > 0.0 {
            out.push((d, length));
        }
    };
    // Directions through the boundary points nearest to the witness.
    if let Some(witness) = &verdict.witness {
        let mut near = NearScratch::default();
        let mut away = |body: &Body, pose: &Pose| {
            let p = pose.inverse_transform_point(&witness.point);
            nearest(body, &p, f64::INFINITY, &mut near).map_or_else(V3::zeros, |n| pose * (p - n.foot))
        };
        let (from_a, from_b) = (away(a, pose_a), away(b, pose_b));
        let unit = |v: V3| v.try_normalize(0.0).unwrap_or_else(V3::zeros);
        offer(unit(from_b) - unit(from_a));
        offer(-from_a);
        offer(from_b);
    }
    // Normals of the faces that intersect.
    if let Some((face_a, face_b)) = &verdict.crossing {
        let normal = |body: &Body, pose: &Pose, f: &FeatureRef| {
            pose * outward_normal(body.face(FaceId(f.index)), P2::new(f.uv[0], f.uv[1]))
        };
        let (n_a, n_b) = (normal(a, pose_a, face_a), normal(b, pose_b, face_b));
        offer(n_a);
        offer(-n_b);
        offer(n_a - n_b);
    }
    // Penetration direction of the hulls.
    if let Some((hull_a, hull_b)) = a.hull().zip(b.hull())
        && let (Ok(x), Ok(y)) = (Moved::new(&**hull_a, pose_a), Moved::new(&**hull_b, pose_b))
    {
        let request =
            PenetrationRequest { rel_tol: 1e-2, max_iterations: 200, ..PenetrationRequest::default() };
        offer(penetration(&x, &y, &request).direction);
    }
    // Axes of features and normals of planes of both bodies, then the coordinate axes.
    for (body, pose) in [(a, pose_a), (b, pose_b)] {
        for axis in body.axes() {
            offer(pose * axis.direction);
            offer(pose * -axis.direction);
        }
    }
    for k in 0..3 {
        let mut d = V3::zeros();
        d[k] = 1.0;
        offer(d);
        offer(-d);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_brep::build::{BuildOptions, build_solid};
    use feeler_brep::fixtures;

    /// Two bars of 4 mm × 2 mm × 2 mm along x and y, of which B covers 1 mm of A's end: the ranges of
    /// lengths that a common point excludes end where the moving bar leaves the other one.
    #[test]
    fn common_points_exclude_lengths() {
        let body = |size: [f64; 3]| {
            let source = fixtures::block(size.map(|x| -0.5 * x), size.map(|x| 0.5 * x));
            let solid = build_solid(&source, &BuildOptions::default()).unwrap();
            let options = feeler_hierarchy::Options { flatness: 0.5 };
            Arc::new(Body::new(feeler_prepare::prepare_solid(&solid, &options).unwrap()).unwrap())
        };
        let mut test = SeparationTest {
            pair: ContactPair::new(body([4.0, 2.0, 2.0]), body([2.0, 4.0, 2.0])),
            pose_a: Pose::identity(),
            pose_b: Pose::translation(2.0, 0.0, 0.0),
            options: QueryOptions::within(0.0).for_verdict(),
            left: MAX_DECISIONS,
            common: Vec::new(),
            rays: RayQuery::new(),
        };
        let common = CommonPoint { point: P3::new(1.6, 0.2, -0.3), translation: V3::zeros() };
        let ends = |test: &mut SeparationTest, common: &CommonPoint, d: V3| {
            let mut ranges = Vec::new();
            test.exclude(common, &d, &mut ranges);
            ranges.iter().map(|r| r[1]).collect::<Vec<_>>()
        };
        let close = |found: &[f64], expected: &[f64]| {
            assert_eq!(found.len(), expected.len(), "{found:?}");
            assert!(found.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-12), "{found:?} {expected:?}");
        };
        // The whole common chord; B's chord behind the point; A's chord before it.
        close(&ends(&mut test, &common, V3::x()), &[1.0, 0.6, 0.4]);
        close(&ends(&mut test, &common, V3::y()), &[3.0, 2.2, 0.8]);
        // The point was found after another translation of B, so that only its own chords are known.
        let moved = CommonPoint { point: common.point, translation: V3::new(0.0, 0.5, 0.0) };
        close(&ends(&mut test, &moved, V3::x()), &[0.6, 0.4]);
        // 0.7 mm along the same direction: B's material point was at x = 1.1.
        let further = CommonPoint { point: P3::new(1.8, 0.2, -0.3), translation: V3::new(0.7, 0.0, 0.0) };
        close(&ends(&mut test, &further, V3::x()), &[1.0, 0.8, 0.9]);
        let mut direction = Direction::new(V3::x(), 4.0, 0.1);
        test.common.push(common);
        assert!(direction.advance(&mut test), "the start is excluded");
        assert!((direction.low - 1.0).abs() < 1e-12 && (direction.next - 1.01).abs() < 1e-12);
    }
}
