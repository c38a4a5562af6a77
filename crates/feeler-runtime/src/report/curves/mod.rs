//! Curves in which the boundaries of two interfering solids intersect, and the pairs of faces that intersect.
//!
//! A crossing curve of two faces is closed, or has ends at points where an edge of one face passes through
//! the other face. Points on curves of both kinds are found as in the verdict ([`seeds`]), but on the
//! surfaces themselves instead of levels inside the material. Each curve is traced from such a point
//! ([`march`]).
//!
//! # Deviations
//! Nearly tangent faces have no sharp curve, so such points are omitted and reported in
//! [`Crossings::left_out`].

pub(super) mod march;
mod seed;
mod seeds;

use super::context;
use crate::api::contact::FeatureRef;
use crate::api::error::QueryError;
use crate::api::options::QueryOptions;
use crate::api::verdict::{CrossingCurve, Crossings, MissingCurvePart, Status};
use crate::body::ids::{AreaPair, FacePair};
use crate::cull::motion::MotionTracker;
use crate::footpoint::trim::place_on_face;
use crate::pair::ContactPair;
use crate::query::Context;
use crate::verdict::{self, meeting_areas};
use feeler_geom::{P3, Pose};
use march::{End, Faces, Trace};
use seeds::Seeds;
use std::sync::Arc;

/// Maximum number of vertices of all curves of a pair of solids together. A larger value uses more
/// memory; with a smaller one, curves end early.
const MAX_VERTICES: usize = 1_000_000;
/// Accepted distance of a polyline from its curve, as a fraction of the longest step of the tracing, for
/// curves that are integrated. A larger value can lose a part of a curve outside the trims; a smaller one is
/// slower.
const STRIDE: f64 = 2e-3;

impl ContactPair {
    /// Computes all pairs of a face of A and a face of B that intersect, sorted by index, each with the
    /// parameters of a point of their intersection. Empty unless the status at these poses is
    /// [`Status::Interfering`]; also empty if one solid contains the other without crossing its boundary.
    ///
    /// Faces that only touch or coincide do not count. The search takes the time of a few queries. The
    /// results of the last query of this pair do not change.
    ///
    /// # Errors
    /// Errors of [`ContactPair::query`].
    pub fn crossing_faces(
        &self,
        pose_a: &Pose,
        pose_b: &Pose,
        options: &QueryOptions,
    ) -> Result<Vec<(FeatureRef, FeatureRef)>, QueryError> {
        let mut out = Vec::new();
        self.each_crossing(pose_a, pose_b, options, |ctx, faces, found| {
            let starts = found.seeds.iter().find_map(|seed| faces.starts(seed).first().map(|_| seed.p));
            out.extend(starts.map(|p| faces_at(ctx, faces.numbers, &p)));
        })?;
        Ok(out)
    }

    /// Computes the curves in which faces of the two solids intersect, as polylines in world coordinates
    /// (mm), sorted by the indices of the faces. Empty unless the status at these poses is
    /// [`Status::Interfering`].
    ///
    /// # Guarantees
    /// Vertices are on both surfaces up to 1e-9 of the size of the larger solid. Points of a curve are at
    /// most `chord` (mm) from its polyline, as measured at three points of each segment. Curves end at the
    /// trims of both faces. If an edge lies in a face of the other solid, the faces that the edge joins
    /// report its curve. Points where a curve could not be traced are in [`Crossings::left_out`].
    ///
    /// # Errors
    /// Errors of [`ContactPair::query`], and [`QueryError::ChordError`] if `chord` is not a finite length
    /// above 0.
    pub fn crossing_curves(
        &self,
        pose_a: &Pose,
        pose_b: &Pose,
        options: &QueryOptions,
        chord: f64,
    ) -> Result<Crossings, QueryError> {
        if !(chord.is_finite() && chord > 0.0) {
            return Err(QueryError::ChordError(chord));
        }
        let mut out = Crossings::default();
        let mut left = MAX_VERTICES;
        self.each_crossing(pose_a, pose_b, options, |ctx, faces, found| {
            let (traces, left_out) = trace_all(faces, found, chord, &mut left);
            for trace in traces {
                let (feature_a, feature_b) =
                    faces_at(ctx, faces.numbers, &trace.points[trace.points.len() / 2].p);
                let points = trace.points.iter().map(|at| pose_a * at.p).collect();
                out.curves.push(CrossingCurve { feature_a, feature_b, closed: trace.closed, points });
            }
            out.left_out.extend(left_out.into_iter().map(|(p, why)| {
                let (feature_a, feature_b) = faces_at(ctx, faces.numbers, &p);
                MissingCurvePart { feature_a, feature_b, point: pose_a * p, why }
            }));
        })?;
        Ok(out)
    }

    /// Calls `each` once for every pair of faces, one of each solid, that can intersect, with the points
    /// that were found on the crossing curves of the two faces. `each` is not called if the solids do
    /// not interfere.
    fn each_crossing(
        &self,
        pose_a: &Pose,
        pose_b: &Pose,
        options: &QueryOptions,
        mut each: impl FnMut(&Context<'_>, &Faces<'_>, &Seeds),
    ) -> Result<(), QueryError> {
        let Some(ctx) = context(self, (pose_a, pose_b), options)? else { return Ok(()) };
        let verdict_options = options.for_verdict();
        let mut pair = ContactPair::new(Arc::clone(self.body_a()), Arc::clone(self.body_b()));
        pair.query(pose_a, pose_b, &verdict_options)?;
        if pair.status() != Some(Status::Interfering) {
            return Ok(());
        }
        each_pair_of_faces(&ctx, |faces, found| each(&ctx, &faces, found));
        Ok(())
    }
}

/// Calls `each` once for every pair of faces, one of each solid, that can intersect, with the points that
/// were found on the crossing curves of the two faces.
fn each_pair_of_faces<'a>(ctx: &'a Context<'a>, mut each: impl FnMut(Faces<'a>, &Seeds)) {
    let mut motion_tracker = MotionTracker::new(ctx.a, ctx.b);
    motion_tracker.advance(&ctx.pose_ab);
    let mut scratch = verdict::Scratch::default();
    let areas = meeting_areas(ctx, motion_tracker.total(), &mut scratch);
    let mut budget = seeds::TOTAL_BUDGET;
    let of = |&(i, j): &AreaPair| [ctx.a.face_of(i), ctx.b.face_of(j)];
    for group in areas.chunk_by(|x, y| of(x) == of(y)) {
        let faces = Faces::new(ctx, of(&group[0]));
        let found = seeds::find(&faces, group, &mut budget);
        each(faces, &found);
    }
}

/// Points (frame of A) near which parts of crossing curves are missing, each with the reason.
type MissingParts = Vec<(P3, &'static str)>;

/// Traces all crossing curves of two faces from the points `found` on them. `chord` (mm) is the accepted
/// distance of the curves from their polylines, and `left` the number of vertices that may still be added.
fn trace_all(faces: &Faces<'_>, found: &Seeds, chord: f64, left: &mut usize) -> (Vec<Trace>, MissingParts) {
    let mut traces: Vec<Trace> = Vec::new();
    let mut left_out = MissingParts::new();
    let stops: Vec<P3> = found.seeds.iter().filter(|s| s.at_edge).map(|s| s.p).collect();
    for seed in &found.seeds {
        for start in faces.starts(seed) {
            if traces.iter().any(|t| t.contains(faces, &start)) {
                continue;
            }
            let (trace, ends) = faces.trace(&start, &stops, chord, left);
            let stuck = ends.iter().zip([trace.points.last(), trace.points.first()]);
            left_out.extend(stuck.filter_map(|(end, at)| Some((at?.p, end.reason()?))));
            if trace.points.len() > 1 {
                traces.push(trace);
            }
        }
    }
    left_out.extend(found.unfinished.iter().map(|p| (*p, "the work limit of the search was reached")));
    left_out.extend(found.tangent.iter().map(|p| (*p, "the faces are tangent there, or nearly so")));
    (traces, left_out)
}

/// Crossing curves of two faces.
pub(super) struct FaceCurves<'a> {
    pub faces: Faces<'a>,
    pub traces: Vec<Trace>,
}

/// Traces the crossing curves of two solids, whatever their status. Returns the pairs of faces with at
/// least one curve, and whether no part of a curve is missing.
pub(super) fn face_curves<'a>(ctx: &'a Context<'a>) -> (Vec<FaceCurves<'a>>, bool) {
    let mut out = Vec::new();
    let (mut is_complete, mut left) = (true, MAX_VERTICES);
    each_pair_of_faces(ctx, |faces, found| {
        let (traces, left_out) = trace_all(&faces, found, STRIDE * faces.max_step, &mut left);
        is_complete &= left_out.is_empty();
        if !traces.is_empty() {
            out.push(FaceCurves { faces, traces });
        }
    });
    (out, is_complete)
}

/// Returns a face of A and a face of B with the parameters of their points nearest to `p` (frame of A).
fn faces_at(ctx: &Context<'_>, [a, b]: FacePair, p: &P3) -> (FeatureRef, FeatureRef) {
    (place_on_face(ctx.a, a, p), place_on_face(ctx.b, b, &(ctx.pose_ba * p)))
}

impl End {
    /// Reason why the tracing stopped within both faces; `None` if the curve is closed or ends at a trim.
    fn reason(self) -> Option<&'static str> {
        match self {
            Self::Closed | Self::Trim => None,
            Self::Tangent => Some("the faces are tangent there, or nearly so"),
            Self::Full => Some("the curves have the maximum of 10⁶ vertices; give a larger chord error"),
        }
    }
}
