//! Short translation that separates two interfering solids.
//!
//! Candidate directions come from the witness, the crossing faces and the shapes of the solids. Verdicts
//! at translated poses decide which lengths separate the solids. A longer translation can make the solids
//! interfere again, like a pin that crosses the opposite wall of its bore. Short translations are
//! therefore tried before long ones, and a translation is returned only if the verdict at the translated
//! pose excludes interference.

use crate::api::contact::FeatureRef;
use crate::api::error::QueryError;
use crate::api::options::QueryOptions;
use crate::api::verdict::{Status, Verdict};
use crate::body::coordinates::without_common_offset;
use crate::body::{Body, outward_normal};
use crate::nearest::{NearScratch, nearest};
use crate::pair::ContactPair;
use arrayvec::ArrayVec;
use feeler_convex::{Moved, PenetrationRequest, penetration};
use feeler_geom::{P2, P3, Pose, V3};
use feeler_hierarchy::FaceId;
use nalgebra::Translation3;
use std::sync::Arc;

/// Maximum number of verdicts in one search. A larger value is slower; a smaller one gives longer
/// translations.
const MAX_DECISIONS: u32 = 200;
/// Number of verdicts as which an undecided one counts, because it takes much longer. With a larger value,
/// the search ends early beside coincident free-form faces; with a smaller one, it takes much longer there.
const UNDECIDED_COST: u32 = 20;
/// Number of witnesses that are tested at other translations. With a larger value, these tests take longer;
/// with a smaller one, more verdicts are computed.
const MAX_WITNESSES: usize = 8;
/// Number of directions that are tried at all lengths. The other directions are only tried at a length
/// shorter than the best translation. A larger value needs more verdicts; a smaller one can miss the
/// shortest direction.
const NUM_MAIN_DIRECTIONS: usize = 10;
/// Angle (rad) below which two directions count as equal. A larger value tries fewer directions, a
/// smaller one needs more verdicts.
const SAME_DIRECTION_ANGLE: f64 = 1e-3;
/// Length at which another direction is tried, as a fraction of the shortest separating translation found
/// before. A smaller value ignores small improvements; a larger one needs more verdicts.
const IMPROVED_LENGTH: f64 = 0.98;
/// Relative accuracy of the lengths of translations: during the search, and in the result. A larger value
/// gives longer translations, a smaller one needs more verdicts.
const LENGTH_ACCURACY: [f64; 2] = [0.02, 1e-6];
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
    /// `inside_a + inside_b` of the [witness](crate::Witness) is a lower bound. The search computes up to
    /// 200 verdicts, each of which takes the time of a query. The results of the last query of this pair
    /// do not change.
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
        let mut test =
            SeparationTest { pair, pose_a, pose_b, options, left: MAX_DECISIONS, witnesses: ArrayVec::new() };
        test.separates(&V3::zeros())?;
        match test.pair.verdict().cloned() {
            Some(verdict) if verdict.status == Status::Interfering => search(&mut test, &verdict),
            _ => Ok(None),
        }
    }
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
    /// Points (world) inside both solids at earlier translations, with these translations.
    witnesses: ArrayVec<(P3, V3), MAX_WITNESSES>,
}

impl SeparationTest {
    /// Whether the translation `t` (mm, world axes) of B separates it from A; `false` also if no verdicts
    /// remain.
    fn separates(&mut self, t: &V3) -> Result<bool, QueryError> {
        let pose_b = Translation3::from(*t) * self.pose_b;
        if self.left == 0 || self.has_known_witness(t, &pose_b)? {
            return Ok(false);
        }
        self.left -= 1;
        self.pair.query(&self.pose_a, &pose_b, &self.options)?;
        if self.pair.status() == Some(Status::Undecided) {
            self.left = self.left.saturating_sub(UNDECIDED_COST - 1);
        }
        if let Some(witness) = self.pair.verdict().and_then(|verdict| verdict.witness) {
            if self.witnesses.is_full() {
                self.witnesses.remove(0);
            }
            self.witnesses.push((witness.point, *t));
        }
        Ok(matches!(self.pair.status(), Some(Status::Separated | Status::Touching)))
    }

    /// Whether a point near a known witness is inside both solids after the translation `t` (mm) of B to
    /// `pose_b`. The point may move with A, with B, or by half of the translation.
    fn has_known_witness(&mut self, t: &V3, pose_b: &Pose) -> Result<bool, QueryError> {
        for (p, translation) in self.witnesses.iter().rev() {
            for share in [0.5, 0.0, 1.0] {
                let p = p + (t - translation) * share;
                if self.pair.is_inside_both(&p, [&self.pose_a, pose_b], &self.options)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// Shortest separating translation found in the search: unit direction and length (mm); `None` if none is
/// found.
type Best = Option<(V3, f64)>;

/// Searches for a short separating translation. `verdict` is that of the untranslated poses. `None` if no
/// tried translation separates the solids.
fn search(test: &mut SeparationTest, verdict: &Verdict) -> Result<Option<V3>, QueryError> {
    let min_length = verdict.witness.map_or(0.0, |w| w.depth());
    let min_length = min_length.max(test.pair.tolerances().tol);
    let (a, b) = (Arc::clone(test.pair.body_a()), Arc::clone(test.pair.body_b()));
    let translations = translations(test, verdict, (&a, &b));
    let mut best: Best = None;
    // The shortest translation of B past the hull of A separates the solids for certain.
    if let Some((d, length)) = translations.iter().min_by(|x, y| x.1.total_cmp(&y.1))
        && test.separates(&(d * *length))?
    {
        best = Some((*d, *length));
    }
    // Short lengths first, in the best directions.
    let mut length = 1.01 * min_length;
    let longest =
        best.map_or_else(|| translations.iter().fold(0.0, |l: f64, w| l.max(w.1)), |(_, length)| length);
    'lengths: while length < IMPROVED_LENGTH * longest && test.left > 0 {
        for (d, max_length) in translations.iter().take(NUM_MAIN_DIRECTIONS) {
            if length <= *max_length && test.separates(&(d * length))? {
                best =
                    Some(shortened(test, d, [(0.5 * length).max(min_length), length], LENGTH_ACCURACY[0])?);
                break 'lengths;
            }
        }
        length *= 2.0;
    }
    for (d, _) in &translations {
        improve(test, d, min_length, &mut best)?;
    }
    for tilt in TILTS {
        let Some((d, _)) = best else { break };
        let (e, g) = feeler_geom::frame::complete_basis(&d);
        for side in [e, -e, g, -g] {
            improve(test, &(d + side * tilt).normalize(), min_length, &mut best)?;
        }
    }
    let Some((d, length)) = best else { return Ok(None) };
    // The shortest length in this direction is between these two.
    let low = (length * (1.0 - 2.0 * LENGTH_ACCURACY[0])).max(min_length);
    let (d, length) = shortened(test, &d, [low, length], LENGTH_ACCURACY[1])?;
    Ok(Some(d * length))
}

/// Replaces `best` if a translation in the unit direction `d` that is shorter by the factor
/// [`IMPROVED_LENGTH`] separates the solids, and shortens it further by bisection. Lengths of at most
/// `min_length` (mm), a lower bound of all separating lengths, are not tried. Has no effect if `best` is
/// `None`.
fn improve(test: &mut SeparationTest, d: &V3, min_length: f64, best: &mut Best) -> Result<(), QueryError> {
    let Some((_, known)) = *best else { return Ok(()) };
    let shorter = IMPROVED_LENGTH * known;
    if shorter > min_length && test.separates(&(d * shorter))? {
        *best = Some(shortened(test, d, [min_length, shorter], LENGTH_ACCURACY[0])?);
    }
    Ok(())
}

/// Bisects the length (mm) of a translation in the unit direction `d` between `low`, which is too short,
/// and `high`, which separates the solids, until they differ by at most `accuracy` times `high` or no
/// verdicts remain. Returns the direction and the shortest length found that separates the solids.
fn shortened(
    test: &mut SeparationTest,
    d: &V3,
    [mut low, mut high]: [f64; 2],
    accuracy: f64,
) -> Result<(V3, f64), QueryError> {
    while high - low > accuracy * high && test.left > 0 {
        let middle = 0.5 * (low + high);
        if test.separates(&(d * middle))? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok((*d, high))
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
