//! A short translation that parts two interfering solids.
//!
//! Candidates for its direction come from the place where the solids meet and from their form; how far to go
//! along each is asked of the verdict itself. Moving on may bring the solids into one another again, as a pin
//! that crosses the other wall of its bore: therefore short translations are tried before long ones, and what
//! is returned is only ever a translation that the verdict has accepted.

use crate::api::contact::FeatureRef;
use crate::api::error::QueryError;
use crate::api::options::QueryOptions;
use crate::api::verdict::{Status, Verdict};
use crate::body::coordinates::without_common_offset;
use crate::body::{Body, outward_normal};
use crate::nearest::{NearScratch, nearest};
use crate::pair::ContactPair;
use feeler_convex::{Moved, PenetrationRequest, penetration};
use feeler_geom::{P2, Pose, V3};
use feeler_hierarchy::FaceId;
use nalgebra::Translation3;
use std::sync::Arc;

/// Decisions that one search may take.
const DECISIONS: u32 = 200;
/// Directions that are tried at all lengths; the others only where they promise a shorter translation than
/// the one known.
const FIRST: usize = 10;
/// Directions closer than this (rad) are one.
const SAME_DIRECTION: f64 = 1e-3;
/// A direction is followed when it leads out by this part of the shortest translation known.
const SHORTER: f64 = 0.98;
/// A translation is known to this part of its length, the shortest one to the other.
const FINE: [f64; 2] = [0.02, 1e-6];
/// Angles (rad) by which the best direction is tilted in the end.
const TILTS: [f64; 3] = [0.3, 0.1, 0.03];

impl ContactPair {
    /// A vector (world, mm) by which B moved is [`Status::Separated`] from A or [`Status::Touching`] it: a
    /// verdict at the moved pose has said so. `None` where the solids do not interfere, and between two
    /// sheets.
    ///
    /// It is an upper bound of the way that parts the solids, short but not proven to be the shortest:
    /// `inside_a + inside_b` of the [witness](crate::Witness) is a lower bound. A search that takes up to 200
    /// decisions (each that of a query).
    ///
    /// # Errors
    /// As [`ContactPair::query`].
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
        let mut judge = Judge { pair, pose_a, pose_b, options, left: DECISIONS };
        judge.ask(&V3::zeros())?;
        match judge.pair.verdict().cloned() {
            Some(verdict) if verdict.status == Status::Interfering => search(&mut judge, &verdict),
            _ => Ok(None),
        }
    }
}

/// Decides about translations of B. The offset that both poses share is removed, because a large one would
/// round the translations away.
struct Judge {
    pair: ContactPair,
    pose_a: Pose,
    pose_b: Pose,
    options: QueryOptions,
    left: u32,
}

impl Judge {
    /// Whether B moved by `t` is out of A; `false` also when the budget is spent.
    fn ask(&mut self, t: &V3) -> Result<bool, QueryError> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        self.pair.query(&self.pose_a, &(Translation3::from(*t) * self.pose_b), &self.options)?;
        Ok(matches!(self.pair.status(), Some(Status::Separated | Status::Touching)))
    }
}

/// The shortest translation known: unit direction and length.
type Way = Option<(V3, f64)>;

fn search(judge: &mut Judge, verdict: &Verdict) -> Result<Option<V3>, QueryError> {
    let least = verdict.witness.map_or(0.0, |w| w.inside_a + w.inside_b);
    let least = least.max(judge.pair.tolerances().tol);
    let (a, b) = (Arc::clone(judge.pair.body_a()), Arc::clone(judge.pair.body_b()));
    let translations = translations(judge, verdict, (&a, &b));
    let mut best: Way = None;
    // The shortest translation past the other solid's hull is sure.
    if let Some((d, length)) = translations.iter().min_by(|x, y| x.1.total_cmp(&y.1))
        && judge.ask(&(d * *length))?
    {
        best = Some((*d, *length));
    }
    // Short lengths first, in the best directions.
    let mut length = 1.01 * least;
    let longest =
        best.map_or_else(|| translations.iter().fold(0.0, |l: f64, w| l.max(w.1)), |(_, known)| known);
    'lengths: while length < SHORTER * longest && judge.left > 0 {
        for (d, most) in translations.iter().take(FIRST) {
            if length <= *most && judge.ask(&(d * length))? {
                best = Some(shortened(judge, d, [(0.5 * length).max(least), length], FINE[0])?);
                break 'lengths;
            }
        }
        length *= 2.0;
    }
    for (d, _) in &translations {
        improve(judge, d, least, &mut best)?;
    }
    for tilt in TILTS {
        let Some((d, _)) = best else { break };
        let (e, g) = feeler_geom::frame::complete_basis(&d);
        for side in [e, -e, g, -g] {
            improve(judge, &(d + side * tilt).normalize(), least, &mut best)?;
        }
    }
    let Some((d, length)) = best else { return Ok(None) };
    // What the bound leaves of it.
    let (d, length) = shortened(judge, &d, [(length * (1.0 - 2.0 * FINE[0])).max(least), length], FINE[1])?;
    Ok(Some(d * length))
}

/// Takes a direction that leads out sooner.
fn improve(judge: &mut Judge, d: &V3, least: f64, best: &mut Way) -> Result<(), QueryError> {
    let Some((_, known)) = *best else { return Ok(()) };
    let shorter = SHORTER * known;
    if shorter > least && judge.ask(&(d * shorter))? {
        *best = Some(shortened(judge, d, [least, shorter], FINE[0])?);
    }
    Ok(())
}

/// A length between two, of which the larger one leads out, that leads out, too: by bisection.
fn shortened(
    judge: &mut Judge,
    d: &V3,
    [mut low, mut high]: [f64; 2],
    fine: f64,
) -> Result<(V3, f64), QueryError> {
    while high - low > fine * high && judge.left > 0 {
        let middle = 0.5 * (low + high);
        if judge.ask(&(d * middle))? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok((*d, high))
}

/// Unit directions (world), the most promising first, with the length (mm) that leads past the other solid's
/// hull in each.
fn translations(judge: &Judge, verdict: &Verdict, (a, b): (&Body, &Body)) -> Vec<(V3, f64)> {
    let (pose_a, pose_b) = (&judge.pose_a, &judge.pose_b);
    let tol = judge.pair.tolerances().tol;
    let mut out: Vec<(V3, f64)> = Vec::new();
    let mut offer = |d: V3| {
        let Some(d) = d.try_normalize(1e-9) else { return };
        if out.iter().any(|(e, _)| (e - d).norm() < SAME_DIRECTION) {
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
    // Through the nearest boundary points of the witness.
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
    // Out of the faces that cross.
    if let Some((face_a, face_b)) = &verdict.crossing {
        let normal = |body: &Body, pose: &Pose, f: &FeatureRef| {
            pose * outward_normal(body.face(FaceId(f.index)), P2::new(f.uv[0], f.uv[1]))
        };
        let (n_a, n_b) = (normal(a, pose_a, face_a), normal(b, pose_b, face_b));
        offer(n_a);
        offer(-n_b);
        offer(n_a - n_b);
    }
    // The shortest translation of the hulls.
    if let Some((hull_a, hull_b)) = a.hull().zip(b.hull())
        && let (Ok(x), Ok(y)) = (Moved::new(&**hull_a, pose_a), Moved::new(&**hull_b, pose_b))
    {
        let request =
            PenetrationRequest { rel_tol: 1e-2, max_iterations: 200, ..PenetrationRequest::default() };
        offer(penetration(&x, &y, &request).direction);
    }
    // Along common axes and normals of planes.
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
