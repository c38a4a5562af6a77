//! The curves in which the boundaries of two interfering solids cross, and the pairs of faces that do.
//!
//! A curve of two faces begins and ends where an edge of one passes through the other one, or is closed. Both
//! are found as in the verdict, with the surfaces themselves instead of their levels ([`seeds`]); from there
//! the curve is followed ([`march`]).
//!
//! # Deviations
//! Faces that are nearly tangent have no sharp curve: such places are left out and named.

mod march;
mod seed;
mod seeds;

use super::context;
use crate::api::contact::FeatureRef;
use crate::api::error::QueryError;
use crate::api::options::QueryOptions;
use crate::api::verdict::{CrossingCurve, Crossings, LeftOut, Status};
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

/// Vertices that all curves together may have.
const MOST_POINTS: usize = 1_000_000;

impl ContactPair {
    /// All pairs of a face of A and one of B that cross, by their numbers; empty where the solids do not
    /// interfere, and where one holds the other one. Features with the parameters of a point where they do.
    ///
    /// What is in contact or in one place does not cross. A search that takes about as long as a few queries.
    ///
    /// # Errors
    /// As [`ContactPair::query`].
    pub fn crossing_faces(
        &self,
        pose_a: &Pose,
        pose_b: &Pose,
        options: &QueryOptions,
    ) -> Result<Vec<(FeatureRef, FeatureRef)>, QueryError> {
        let mut out = Vec::new();
        self.each_crossing(pose_a, pose_b, options, |ctx, faces, found| {
            let starts = found.seeds.iter().find_map(|seed| faces.starts(seed).first().map(|_| seed.p));
            out.extend(starts.map(|p| places(ctx, faces.numbers, &p)));
        })?;
        Ok(out)
    }

    /// The curves in which faces of the two solids cross, as polylines in world coordinates (mm), by the
    /// numbers of the faces: empty where the solids do not interfere.
    ///
    /// Vertices are on both surfaces to 1e-9 of the size or better, and no point of a curve is farther than
    /// `chord` (mm) from its polyline, as measured at three places of each side. Curves end at the trims of
    /// both faces; an edge that lies in the other face is met from one of its own. Places that could not be
    /// followed are in [`Crossings::left_out`].
    ///
    /// # Errors
    /// As [`ContactPair::query`], and [`QueryError::Chord`].
    pub fn crossing_curves(
        &self,
        pose_a: &Pose,
        pose_b: &Pose,
        options: &QueryOptions,
        chord: f64,
    ) -> Result<Crossings, QueryError> {
        if !(chord.is_finite() && chord > 0.0) {
            return Err(QueryError::Chord(chord));
        }
        let mut out = Crossings::default();
        let mut left = MOST_POINTS;
        self.each_crossing(pose_a, pose_b, options, |ctx, faces, found| {
            let mut traces: Vec<Trace> = Vec::new();
            let mut left_out: Vec<(P3, &'static str)> = Vec::new();
            let stops: Vec<P3> = found.seeds.iter().filter(|s| s.at_edge).map(|s| s.p).collect();
            for seed in &found.seeds {
                for start in faces.starts(seed) {
                    if traces.iter().any(|t| t.holds(faces, &start)) {
                        continue;
                    }
                    let (trace, ends) = faces.trace(&start, &stops, chord, &mut left);
                    let stuck = ends.iter().zip([trace.points.last(), trace.points.first()]);
                    left_out.extend(stuck.filter_map(|(end, p)| Some((*p?, end.reason()?))));
                    if trace.points.len() > 1 {
                        traces.push(trace);
                    }
                }
            }
            left_out.extend(found.unfinished.iter().map(|p| (*p, "the search is not finished")));
            left_out.extend(found.tangent.iter().map(|p| (*p, "the faces are tangent")));
            for trace in traces {
                let (feature_a, feature_b) =
                    places(ctx, faces.numbers, &trace.points[trace.points.len() / 2]);
                let points = trace.points.iter().map(|p| pose_a * p).collect();
                out.curves.push(CrossingCurve { feature_a, feature_b, closed: trace.closed, points });
            }
            out.left_out.extend(left_out.into_iter().map(|(p, why)| {
                let (feature_a, feature_b) = places(ctx, faces.numbers, &p);
                LeftOut { feature_a, feature_b, point: pose_a * p, why }
            }));
        })?;
        Ok(out)
    }

    /// Hands over each pair of faces that may cross, with the places where curves begin or that they run
    /// through.
    fn each_crossing(
        &self,
        pose_a: &Pose,
        pose_b: &Pose,
        options: &QueryOptions,
        mut each: impl FnMut(&Context<'_>, &Faces<'_>, &Seeds),
    ) -> Result<(), QueryError> {
        let Some(ctx) = context(self, (pose_a, pose_b), options)? else { return Ok(()) };
        let judging = options.for_verdict();
        let mut pair = ContactPair::new(Arc::clone(self.body_a()), Arc::clone(self.body_b()));
        pair.query(pose_a, pose_b, &judging)?;
        if pair.status() != Some(Status::Interfering) {
            return Ok(());
        }
        let mut motion_tracker = MotionTracker::new(ctx.a, ctx.b);
        motion_tracker.advance(&ctx.pose_ab);
        let mut scratch = verdict::Scratch::default();
        let areas = meeting_areas(&ctx, motion_tracker.total(), &mut scratch);
        let mut budget = seeds::BUDGET;
        let of = |&(i, j): &AreaPair| [ctx.a.face_of(i), ctx.b.face_of(j)];
        for group in areas.chunk_by(|x, y| of(x) == of(y)) {
            let faces = Faces::new(&ctx, of(&group[0]));
            let found = seeds::find(&faces, group, &mut budget);
            each(&ctx, &faces, &found);
        }
        Ok(())
    }
}

/// Both features at a point (frame of A).
fn places(ctx: &Context<'_>, [a, b]: FacePair, p: &P3) -> (FeatureRef, FeatureRef) {
    (place_on_face(ctx.a, a, p), place_on_face(ctx.b, b, &(ctx.pose_ba * p)))
}

impl End {
    /// Why a curve does not go on where neither it nor a face ends.
    fn reason(self) -> Option<&'static str> {
        match self {
            Self::Closed | Self::Trim => None,
            Self::Tangent => Some("the faces are tangent"),
            Self::Full => Some("the most vertices are reached"),
        }
    }
}
