//! The sequence of the stages of a query of two bodies, and the results and data that later queries reuse.

mod coarser;
pub(crate) mod derivatives;
mod nearest_range;
mod poses;
mod results;

pub use coarser::COARSER_TOLERANCES;
pub use nearest_range::NearestRange;

use crate::accept::dedupe::dedupe;
use crate::accept::filter::filter;
use crate::accept::identities::ContactIds;
use crate::accept::pressed;
use crate::api::contact::{Contact, ContactKind, Stats};
use crate::api::error::QueryError;
use crate::api::options::QueryOptions;
use crate::api::tolerance::Tolerances;
use crate::api::verdict::{Status, Verdict};
use crate::body::Body;
use crate::body::coordinates::{CoordinateRange, check_coordinates, coordinate_range, relative_pose};
use crate::body::ids::AreaPair;
use crate::certify::{BandScratch, Separation, certify, missed_contacts};
use crate::conformal::{self, Continuing, Sampling};
use crate::cull::front::brute::all_pairs;
use crate::cull::front::{self, Front};
use crate::cull::motion::{Motion, MotionTracker};
use crate::cull::node_pair::CullContext;
use crate::diagnostics::{Clock, PhaseTimes, timed};
use crate::query::{Accepted, Context, Waves};
use crate::solve::{Solved, solve_all};
use crate::step_set::{
    LARGEST_DILATION, Sample, SampleScratch, Widening, add_samples, dilations, slid_past, widened,
};
use crate::verdict::{self, Finding};
use feeler_geom::Pose;
pub(crate) use results::curvature;
use results::{build_verdict, report};
use std::sync::Arc;

/// Two bodies, the results of their last query, and the data that the next query reuses.
///
/// A pair is `Send` and `Sync`, but a query needs exclusive access: use one pair per thread and share the
/// bodies.
#[derive(Debug)]
pub struct ContactPair {
    a: Arc<Body>,
    b: Arc<Body>,
    state: QueryState,
}

/// Results of the last query, data for the next one, and scratch buffers.
#[derive(Debug)]
struct QueryState {
    contacts: Vec<Contact>,
    verdict: Verdict,
    /// Whether the last query computed `verdict`.
    has_verdict: bool,
    stats: Stats,
    times: PhaseTimes,
    tolerances: Tolerances,
    /// Pose of B in A's frame for which `kept` was computed.
    pose_ab: Pose,
    leaf_pairs: Vec<AreaPair>,
    front: Front,
    solved: Solved,
    accepted: Vec<Accepted>,
    kept: Vec<Accepted>,
    band: BandScratch,
    conformal: conformal::Scratch,
    decision: verdict::Scratch,
    pressed: pressed::Scratch,
    contact_ids: ContactIds,
    motion_tracker: MotionTracker,
    /// [`QueryOptions::tolerance`] (mm) with which `front` and `decision` were computed.
    tolerance_option: Option<f64>,
    /// The last query that was computed, as long as its results are valid.
    last_query: Option<LastQuery>,
    /// Whether the bodies of the last query are farther apart than its `d_max`, and so separated.
    is_beyond_reach: bool,
    /// Step of a simulator that the current query is for; `None` unless [`ContactPair::query_step`] runs.
    step: Option<Widening>,
    /// Whether the current query needs the smallest distance only, so that minima with larger distances
    /// and other members of conformal sets may be missing.
    only_nearest: bool,
    /// Context of the culling tests of the last [`ContactPair::query_step`].
    step_cull: Option<CullContext>,
    samples: Vec<Sample>,
    sampling: SampleScratch,
}

/// Results of [`ContactPair::query_step`], borrowed from the pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepResults<'a> {
    pub bodies: [&'a Body; 2],
    pub contacts: &'a [Contact],
    /// The minima of `contacts` in the same order, in the frame of A.
    pub kept: &'a [Accepted],
    pub samples: &'a [Sample],
    /// Whether corners or samples that the step needs may be missing because of limits on their numbers.
    pub is_limited: bool,
}

/// The last query, with the data that is needed to report its results again.
#[derive(Debug)]
struct LastQuery {
    pose_ab: Pose,
    /// Options with `parallel` set to `false`, because it does not affect results.
    options: QueryOptions,
    step: Option<Widening>,
    only_nearest: bool,
    finding: Finding,
    /// World poses of A and B for which the results are reported.
    poses: [Pose; 2],
}

impl LastQuery {
    /// Context of this last query, without its culling tests.
    fn context<'a>(&self, [a, b]: [&'a Body; 2], tol: Tolerances) -> Context<'a> {
        Context {
            a,
            b,
            pose_ab: self.pose_ab,
            pose_ba: self.pose_ab.inverse(),
            tol,
            d_max: self.options.d_max,
            least: tol.min_distance(),
            penetration: 0.0,
            quasi_angle: self.options.quasi_angle,
            waves: self.step.map_or(Waves::NONE, |step| step.waves(a.size().min(b.size()))),
            step: None,
            cull: None,
        }
    }
}

/// Largest displacement of B relative to A between two queries, in sizes of B, after which the traversal
/// still starts from the last front. It affects speed only: a larger value updates fronts of which little
/// remains, a smaller one traverses from the roots although the front is nearly valid.
const MAX_FRONT_MOTION: f64 = 0.1;
/// Largest relative motion, as a multiple of the tolerance, that may count as rounding of the poses, so
/// that the last results are reused. A larger value ignores small motions; a smaller one recomputes the
/// results of bodies that move as one.
const MAX_REUSE_MOTION: f64 = 0.1;
/// Largest accumulated displacement of B relative to A, in sizes of B, and largest accumulated rotation
/// (rad) before the accumulation restarts at zero. A larger value loses small motions in rounding of the
/// sums; a smaller one causes more cold traversals.
const MAX_ACCUMULATED_MOTION: f64 = 1e4;

impl ContactPair {
    /// Creates a pair of bodies without results.
    #[must_use]
    pub fn new(a: Arc<Body>, b: Arc<Body>) -> Self {
        let state = QueryState::new(&a, &b);
        Self { a, b, state }
    }

    /// Body A.
    #[must_use]
    pub fn body_a(&self) -> &Arc<Body> {
        &self.a
    }

    /// Body B.
    #[must_use]
    pub fn body_b(&self) -> &Arc<Body> {
        &self.b
    }

    /// Computes all local minimal distances up to [`QueryOptions::d_max`], sorted by distance, and the
    /// verdict ([`ContactPair::verdict`]). The poses take each solid's own coordinates to the world;
    /// points of the contacts are in world coordinates (mm).
    ///
    /// # Guarantees
    /// The set of minima depends on the arguments only, and their values depend on earlier queries by no
    /// more than rounding. The exception is [`QueryOptions::penetration`] above 0: contacts of the last
    /// query may continue at negative distances. [`Contact::id`] and [`Contact::age`] track minima from
    /// query to query. The same sequence of queries gives bitwise the same results.
    ///
    /// A pair of areas that is skipped because of earlier queries cannot contain a minimum. A query with
    /// the options of the last one and, up to rounding, the same relative pose reports the last minima,
    /// moved with A.
    ///
    /// The computation uses the relative pose only, so an offset that both poses share cancels. World
    /// coordinates in the results have the rounding of the poses; [`Contact::local_a`] and
    /// [`Contact::local_b`] do not.
    ///
    /// # Errors
    /// [`QueryError`] if a pose is not finite, if an option is out of range, or if the bodies are so far
    /// apart that rounding exceeds a tenth of the tolerance. Bodies farther apart than a finite `d_max`
    /// are not an error: they have no minima and are separated. After an error the results are empty, and
    /// later queries are not affected.
    ///
    /// # Source
    /// BREP Figure 4.1; MATH §2.
    pub fn query(
        &mut self,
        pose_a: &Pose,
        pose_b: &Pose,
        options: &QueryOptions,
    ) -> Result<&[Contact], QueryError> {
        let pose_ab = relative_pose(pose_a, pose_b).inspect_err(|_| self.clear_results())?;
        self.query_relative(pose_ab, [pose_a, pose_b], options)
    }

    /// Computes the minima and the verdict like [`ContactPair::query`], but with the relative pose
    /// `pose_ab` given, because it has less rounding than one computed from the world poses `poses` of A
    /// and B. Those only transform the results to world coordinates.
    pub(crate) fn query_relative(
        &mut self,
        pose_ab: Pose,
        poses: [&Pose; 2],
        options: &QueryOptions,
    ) -> Result<&[Contact], QueryError> {
        let checked = self.check(&pose_ab, options);
        let (range, options) = checked.inspect_err(|_| self.clear_results())?;
        if range == CoordinateRange::BeyondReach {
            self.report_beyond_reach(&options);
            return Ok(&self.state.contacts);
        }
        let bodies = [self.a.as_ref(), self.b.as_ref()];
        if !self.state.reuse_results(bodies, &pose_ab, poses, &options) {
            self.state.compute(bodies, &pose_ab, poses, &options);
        }
        Ok(&self.state.contacts)
    }

    /// Computes the contacts that a step of a simulator may need: minima, quasi-minima, contacts of faces
    /// extended beyond their concave edges, and samples of nearly conformal pairs of features (module
    /// `step_set`). `options.quasi_angle` is ignored, because `step` determines the dilations of the polars.
    /// The verdict is not computed; [`ContactPair::decide`] computes it.
    pub(crate) fn query_step(
        &mut self,
        pose_a: &Pose,
        pose_b: &Pose,
        options: &QueryOptions,
        step: Widening,
    ) -> Result<StepResults<'_>, QueryError> {
        let options = QueryOptions { quasi_angle: LARGEST_DILATION, detect_interference: false, ..*options };
        self.state.step = Some(step);
        let found = self.query(pose_a, pose_b, &options).map(|_| ());
        self.state.step = None;
        found?;
        let bodies = [self.a.as_ref(), self.b.as_ref()];
        let QueryState { contacts, kept, samples, conformal, sampling, .. } = &self.state;
        let is_limited = conformal.is_limited || (!samples.is_empty() && sampling.known.is_limited);
        Ok(StepResults { bodies, contacts, kept, samples, is_limited })
    }

    /// Computes the smallest distance and the verdict like [`ContactPair::query`]. Minima with larger
    /// distances may be missing, and so may conformal sets, even at the smallest distance if another minimum
    /// has it.
    pub(crate) fn query_nearest(
        &mut self,
        pose_a: &Pose,
        pose_b: &Pose,
        options: &QueryOptions,
    ) -> Result<&[Contact], QueryError> {
        self.state.only_nearest = true;
        let found = self.query(pose_a, pose_b, options).map(|_| ());
        self.state.only_nearest = false;
        found?;
        Ok(&self.state.contacts)
    }

    /// Whether the contacts of the last query are all contacts at distances up to `tol` (mm) at the given
    /// poses of A and B with these options, and its verdict is that of these poses.
    pub(crate) fn has_contacts_at(&self, poses: [&Pose; 2], options: &QueryOptions, tol: f64) -> bool {
        self.state.has_verdict
            && self.state.last_query.as_ref().is_some_and(|last| {
                let QueryOptions { d_max, tolerance, penetration, conformal_spacing, .. } = last.options;
                let is_complete =
                    last.step.is_none() && !last.only_nearest && d_max >= tol && !last.options.certified;
                let is_plain =
                    penetration <= 0.0 && conformal_spacing.is_none() && !last.options.load_bearing;
                last.poses.each_ref() == poses && tolerance == options.tolerance && is_complete && is_plain
            })
    }

    /// Pair of the same bodies without results, which reuses the data of this pair's verdicts.
    pub(crate) fn with_data_of_verdicts(&self) -> Self {
        let mut pair = Self::new(Arc::clone(&self.a), Arc::clone(&self.b));
        let QueryState { decision, motion_tracker, tolerance_option, .. } = &self.state;
        pair.state.decision = decision.clone();
        pair.state.motion_tracker = motion_tracker.clone();
        pair.state.tolerance_option = *tolerance_option;
        pair
    }

    /// Checks the options, the minimum thicknesses of the bodies and the size of the coordinates. Returns
    /// whether the bodies are beyond reach of each other, and the options with a finite `d_max`.
    fn check(
        &self,
        pose_ab: &Pose,
        options: &QueryOptions,
    ) -> Result<(CoordinateRange, QueryOptions), QueryError> {
        options.check()?;
        self.check_thickness(options)?;
        Ok((coordinate_range(&self.a, &self.b, pose_ab, options)?, options.bounded()))
    }

    /// Stores the results for bodies that are farther apart than `d_max`: no minimum, and the verdict
    /// `Separated`.
    fn report_beyond_reach(&mut self, options: &QueryOptions) {
        self.clear_results();
        self.forget();
        let tolerances = Tolerances::new(&self.a, &self.b, &Pose::identity(), options.tolerance);
        self.state.tolerances = tolerances;
        self.state.has_verdict = options.detect_interference;
        self.state.is_beyond_reach = true;
    }

    /// Checks whether the rounding of numbers as large as `coordinates` (mm) is at most a tenth of the
    /// tolerance of `options`. It is for callers that compose the poses of a query from other poses: an
    /// offset that both bodies share cancels in the query, but not in products of poses.
    ///
    /// # Errors
    /// [`QueryError::CoordinatesTooLarge`].
    pub fn check_coordinates(&self, coordinates: f64, options: &QueryOptions) -> Result<(), QueryError> {
        check_coordinates(coordinates, self.a.size().max(self.b.size()), options.tolerance)
    }

    /// Removes the results of the last query, so that the next query cannot report them again.
    pub(crate) fn clear_results(&mut self) {
        self.state.clear_results();
    }

    /// Returns the verdict of the last query, and computes it first if
    /// [`QueryOptions::verdict_unless_pressed`] or [`QueryOptions::detect_interference`] skipped it. The
    /// contacts do not change. `None` before the first query and after an error.
    pub fn decide(&mut self) -> Option<&Verdict> {
        let bodies = [self.a.as_ref(), self.b.as_ref()];
        self.state.decide(bodies);
        self.verdict()
    }

    /// Counts another query at the same poses, which increases the ages of the contacts by 1.
    pub(crate) fn increase_ages(&mut self) {
        self.state.increase_ages();
    }

    /// Checks that [`QueryOptions::penetration`] and [`QueryOptions::tolerance`] are small compared with the
    /// minimum thicknesses of the bodies, so that the two sides of a thin wall are distinguished.
    fn check_thickness(&self, options: &QueryOptions) -> Result<(), QueryError> {
        let penetration = options.penetration;
        let [min_thickness_a, min_thickness_b] = [self.a.min_thickness(), self.b.min_thickness()];
        // The thickness of a sheet is 0, and so is an unknown one.
        let thicknesses = [min_thickness_a, min_thickness_b].into_iter().filter(|w| *w > 0.0);
        let thinnest = thicknesses.fold(f64::INFINITY, f64::min);
        if let Some(tolerance) = options.tolerance.filter(|t| 10.0 * t >= thinnest) {
            return Err(QueryError::ToleranceTooLarge { tolerance, min_thickness_a, min_thickness_b });
        }
        // Two sheets never have pressed contacts, so any depth is valid.
        let are_sheets = self.a.is_sheet() && self.b.is_sheet();
        if penetration > 0.0 && !are_sheets && 2.0 * penetration >= min_thickness_a + min_thickness_b {
            return Err(QueryError::PenetrationTooLarge { penetration, min_thickness_a, min_thickness_b });
        }
        Ok(())
    }

    /// Starts a new motion: clears the identities of contacts and the data that queries reuse. All
    /// contacts of the next query get age 0.
    pub fn forget(&mut self) {
        self.state.contact_ids.clear();
        self.state.forget_culling();
    }

    /// Starts a new motion after a jump of a body, like [`ContactPair::forget`], except that pairs of nodes
    /// whose margins exceed the jump remain culled.
    pub(crate) fn forget_motion(&mut self) {
        self.state.contact_ids.clear();
        self.state.forget_decision();
    }

    /// Runs `query`, which may compute new results, and then restores the data with which later queries
    /// continue earlier ones: identities of contacts, conformal sets and samples.
    pub(crate) fn without_continuing<T>(&mut self, query: impl FnOnce(&mut Self) -> T) -> T {
        let identities = self.state.contact_ids.clone();
        let (sets, samples) = (self.state.conformal.known.clone(), self.state.sampling.known.clone());
        let result = query(self);
        self.state.contact_ids = identities;
        (self.state.conformal.known, self.state.sampling.known) = (sets, samples);
        result
    }

    /// Returns a pair of the same bodies whose next query continues the identities of this pair's last query
    /// and continues the same conformal sets and samples of a step.
    pub(crate) fn continued(&self) -> Self {
        let mut pair = Self::new(self.a.clone(), self.b.clone());
        pair.state.contact_ids = self.state.contact_ids.clone();
        pair.state.conformal.known = self.state.conformal.known.clone();
        pair.state.sampling.known = self.state.sampling.known.clone();
        pair.state.motion_tracker = self.state.motion_tracker.clone();
        pair.state.tolerances = self.state.tolerances;
        pair
    }

    /// Contacts of the last query, sorted by ascending signed distance; empty before the first query and
    /// after an error.
    #[must_use]
    pub fn contacts(&self) -> &[Contact] {
        &self.state.contacts
    }

    /// Smallest signed distance (mm) of the contacts of the last query; `None` without a minimum within
    /// `d_max`. Quasi-minima do not count, because they are not minima.
    #[must_use]
    pub fn min_distance(&self) -> Option<f64> {
        self.state.contacts.iter().find(|l| l.kind != ContactKind::Quasi).map(|l| l.distance)
    }

    /// Relation of the solids in the last query. `None` before the first query, after an error, without
    /// [`QueryOptions::detect_interference`], and if [`QueryOptions::verdict_unless_pressed`] skipped the
    /// verdict.
    #[must_use]
    pub fn status(&self) -> Option<Status> {
        self.verdict().map(|v| v.status)
    }

    /// Relation of the solids in the last query, with its proof. `None` whenever [`ContactPair::status`]
    /// is `None`.
    #[must_use]
    pub fn verdict(&self) -> Option<&Verdict> {
        self.state.has_verdict.then_some(&self.state.verdict)
    }

    /// Counters of the last query.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.state.stats
    }

    /// Wall-clock times of the phases of the last query.
    #[cfg(feature = "diagnostics")]
    #[must_use]
    pub fn phase_times(&self) -> PhaseTimes {
        self.state.times
    }

    /// Largest distance (mm) of a corner of a conformal set of the last query from the nearest sample of
    /// the same set.
    ///
    /// It is 0 unless a set has more corners than the maximum number of samples (32 without
    /// [`QueryOptions::conformal_spacing`]). It is also 0 with [`QueryOptions::load_bearing`], which
    /// keeps few samples intentionally. Sets on splines do not count, because their corners are not
    /// computed.
    #[must_use]
    pub fn conformal_loss(&self) -> f64 {
        self.state.conformal.loss
    }

    /// Tolerances that the last query used (before the first query: those at coinciding frames).
    #[must_use]
    pub fn tolerances(&self) -> Tolerances {
        self.state.tolerances
    }
}

impl QueryState {
    fn new(a: &Body, b: &Body) -> Self {
        Self {
            contacts: Vec::new(),
            verdict: Verdict::new(),
            has_verdict: false,
            stats: Stats::default(),
            times: PhaseTimes::default(),
            tolerances: Tolerances::new(a, b, &Pose::identity(), None),
            pose_ab: Pose::identity(),
            leaf_pairs: Vec::new(),
            front: Front::default(),
            solved: Solved::default(),
            accepted: Vec::new(),
            kept: Vec::new(),
            band: BandScratch::default(),
            conformal: conformal::Scratch::default(),
            decision: verdict::Scratch::default(),
            pressed: pressed::Scratch::default(),
            contact_ids: ContactIds::default(),
            motion_tracker: MotionTracker::new(a, b),
            tolerance_option: None,
            last_query: None,
            is_beyond_reach: false,
            step: None,
            samples: Vec::new(),
            only_nearest: false,
            step_cull: None,
            sampling: SampleScratch::default(),
        }
    }

    fn clear_results(&mut self) {
        self.contacts.clear();
        self.samples.clear();
        self.stats = Stats::default();
        self.times = PhaseTimes::default();
        self.verdict.clear();
        self.has_verdict = false;
        (self.conformal.loss, self.conformal.is_limited) = (0.0, false);
        self.last_query = None;
        self.is_beyond_reach = false;
    }

    /// Clears the pairs of nodes at which the last traversal stopped (the front), the data that verdicts
    /// reuse, and the last query.
    fn forget_culling(&mut self) {
        self.front.clear();
        self.conformal.known.clear();
        self.sampling.known.clear();
        self.forget_decision();
    }

    /// Clears the data that verdicts reuse, and the record of the last query, so that its results are not
    /// reported again.
    fn forget_decision(&mut self) {
        self.decision.clear();
        self.last_query = None;
    }

    fn increase_ages(&mut self) {
        self.contact_ids.hold();
        self.contacts.iter_mut().for_each(|l| l.age = l.age.saturating_add(1));
    }

    /// Reports the last results again if this query has the options, the step and, up to rounding, the
    /// relative pose of the last one. Returns whether it has; otherwise the last query is cleared.
    fn reuse_results(
        &mut self,
        bodies: [&Body; 2],
        pose_ab: &Pose,
        poses: [&Pose; 2],
        options: &QueryOptions,
    ) -> bool {
        let sequential = QueryOptions { parallel: false, ..*options };
        if let Some(last) = self.last_query.take_if(|last| last.options == sequential)
            && last.step == self.step
            && last.only_nearest == self.only_nearest
            && self.is_same_pose(bodies, &last, pose_ab, poses)
        {
            self.report_again(bodies, last, poses);
            return true;
        }
        false
    }

    /// Whether the relative pose `pose_ab` equals that of the last query up to rounding. The world poses
    /// `poses` of A and B determine this rounding.
    fn is_same_pose(&self, [_, b]: [&Body; 2], last: &LastQuery, pose_ab: &Pose, poses: [&Pose; 2]) -> bool {
        let moved = last.pose_ab.inv_mul(pose_ab);
        // Upper bound of the displacement of B's points by the rotation: 2 sin(angle / 2) times their
        // distance from B's origin, which the corners of B's box can exceed by up to a factor of 2.
        let turned = 2.0 * moved.rotation.imag().norm() * 2.0 * b.reach();
        let from_origin = poses.iter().map(|p| p.translation.vector.norm()).sum::<f64>();
        let rounding = self.tolerances.eps + 8.0 * f64::EPSILON * from_origin;
        // A large offset of both bodies must not hide a motion.
        let tolerance = Tolerances::before_rounding(self.tolerances.size, last.options.tolerance);
        let rounding = rounding.min(MAX_REUSE_MOTION * tolerance);
        moved.translation.vector.norm() + turned <= rounding
    }

    /// Reports the results of the query `last` for new world poses of A and B.
    fn report_again(&mut self, bodies: [&Body; 2], last: LastQuery, [pose_a, pose_b]: [&Pose; 2]) {
        let Stats { certified_pairs, undecided_pairs, .. } = self.stats;
        self.stats = Stats { certified_pairs, undecided_pairs, ..Stats::default() };
        self.times = PhaseTimes::default();
        if last.poses == [*pose_a, *pose_b] {
            self.last_query = Some(last);
            self.increase_ages();
            return;
        }
        self.contact_ids.hold();
        let ctx = last.context(bodies, self.tolerances);
        self.contacts.clear();
        report(&ctx, &self.kept, &self.contact_ids, pose_a, &last.options, &mut self.contacts);
        let near = has_contact(&self.kept, &ctx.tol);
        let open = (&self.decision, &self.band.open[..]);
        build_verdict(&ctx, &last.finding, near, open, pose_a, &mut self.verdict);
        self.last_query = Some(LastQuery { poses: [*pose_a, *pose_b], ..last });
    }

    /// Computes the results of a query for the relative pose `pose_ab` and the world poses of A and B.
    fn compute(&mut self, bodies: [&Body; 2], pose_ab: &Pose, poses: [&Pose; 2], options: &QueryOptions) {
        self.clear_results();
        let clock = Clock::start();
        if options.tolerance != std::mem::replace(&mut self.tolerance_option, options.tolerance) {
            self.forget_culling();
        }
        self.pose_ab = *pose_ab;
        let ctx = self.context(bodies, pose_ab, options);
        let moved = self.advance_motion(&ctx, options);
        // A pressed contact makes the verdict superfluous, so the minima are computed first.
        let minima_first = options.verdict_unless_pressed && ctx.presses();
        let decide = options.detect_interference && !minima_first;
        let setup = clock.elapsed();
        let (mut finding, times) = self.solve_and_decide(&ctx, options, decide);
        let mut interference = times.interference;
        let clock = Clock::start();
        // Quasi-minima of a step are dilated and merged by the angle of the step, not by that of the search.
        let by_step = Context { quasi_angle: self.step.map_or(ctx.quasi_angle, |step| step.rotation), ..ctx };
        let is_apart = decide && matches!(finding, Finding::Apart | Finding::Touch);
        self.accept_minima(&ctx, &by_step, options, is_apart, moved.displacement);
        let is_pressed = |x: &Accepted| {
            x.kind != ContactKind::Quasi && x.distance < options.dilation_a + options.dilation_b
        };
        let decide = options.detect_interference && !(minima_first && self.accepted.iter().any(is_pressed));
        if decide && minima_first {
            let moved = (!options.diagnostics().brute_force).then_some(self.motion_tracker.total());
            (finding, interference) = timed(|| verdict::decide(&ctx, moved, &mut self.decision));
        }
        self.band.open.clear();
        if decide {
            finding = self.confirm_finding(&ctx, finding);
        }
        self.keep_contacts(&ctx, &by_step, options, &moved);
        let [pose_a, pose_b] = poses;
        report(&ctx, &self.kept, &self.contact_ids, pose_a, options, &mut self.contacts);
        let filtering = clock.elapsed();
        let near = has_contact(&self.kept, &ctx.tol);
        self.times = PhaseTimes { traversal: setup + times.traversal, filtering, interference, ..times };
        self.has_verdict = decide;
        let open = (&self.decision, &self.band.open[..]);
        build_verdict(&ctx, &finding, near, open, pose_a, &mut self.verdict);
        let diagnostics = options.diagnostics();
        if diagnostics.savings.front && !diagnostics.brute_force {
            let options = QueryOptions { parallel: false, ..*options };
            let poses = [*pose_a, *pose_b];
            let Self { step, only_nearest, .. } = *self;
            self.last_query =
                Some(LastQuery { pose_ab: *pose_ab, options, step, only_nearest, finding, poses });
        }
    }

    /// Context of a query, with the dilations of its step.
    fn context<'a>(&mut self, [a, b]: [&'a Body; 2], pose_ab: &Pose, options: &QueryOptions) -> Context<'a> {
        self.tolerances = Tolerances::new(a, b, pose_ab, options.tolerance);
        Context {
            a,
            b,
            pose_ab: *pose_ab,
            pose_ba: pose_ab.inverse(),
            tol: self.tolerances,
            d_max: options.d_max,
            least: self.tolerances.min_distance_apart().min(-options.penetration),
            penetration: options.penetration,
            quasi_angle: options.quasi_angle,
            waves: self.step.map_or(Waves::NONE, |step| step.waves(a.size().min(b.size()))),
            step: self.step.map(|step| step.bounds()),
            cull: (!options.diagnostics().brute_force).then(|| {
                let cull = CullContext::new(pose_ab, &self.tolerances, options);
                match &self.step {
                    Some(step) => {
                        let bend = a.max_bend().max(b.max_bend());
                        let before = self.step_cull.as_ref();
                        let dilations = dilations(step, bend, before.map(|cull| *cull.dilations()));
                        let cull = cull.with_beside(step.displacement, before);
                        *self.step_cull.insert(cull.with_dilations(dilations))
                    }
                    None => cull,
                }
            }),
        }
    }

    /// Accumulates the motion of B relative to A since the last query, and clears the reused data after a
    /// large motion. Returns the motion since the last query.
    fn advance_motion(&mut self, ctx: &Context<'_>, options: &QueryOptions) -> Motion {
        let step = self.motion_tracker.advance(&ctx.pose_ab);
        // Small steps would be lost in rounding of a large sum.
        let total = self.motion_tracker.total().of(0);
        let restart = step.displacement > MAX_FRONT_MOTION * ctx.b.size()
            || total.displacement > MAX_ACCUMULATED_MOTION * ctx.b.size()
            || total.rotation > MAX_ACCUMULATED_MOTION;
        if restart {
            self.motion_tracker.restart();
        }
        if restart || !options.diagnostics().savings.front {
            self.front.clear();
            self.decision.clear();
        }
        step
    }

    /// Finds the pairs of leaves that can contain a minimum, computes the critical pairs of their features,
    /// and, if `decide` is set, searches for evidence of interference. If the options request it, the
    /// search runs in parallel to the rest. Returns the finding of the search (`Apart` without `decide`) and
    /// the times of the three stages.
    fn solve_and_decide(
        &mut self,
        ctx: &Context<'_>,
        options: &QueryOptions,
        decide: bool,
    ) -> (Finding, PhaseTimes) {
        let Self { front, leaf_pairs, solved, stats, decision, motion_tracker, .. } = self;
        let moved = motion_tracker.total();
        let mut minima = || {
            let clock = Clock::start();
            if let Some(cull) = &ctx.cull {
                let request = front::Request { a: ctx.a, b: ctx.b, pose_ab: &ctx.pose_ab, moved, cull };
                front.update(&request, leaf_pairs, stats);
            } else {
                all_pairs(ctx.a, ctx.b, options.quasi_angle > 0.0, leaf_pairs, stats);
            }
            let traversal = clock.elapsed();
            let clock = Clock::start();
            solve_all(ctx, leaf_pairs, options, solved, stats);
            if options.certified {
                certify(ctx, leaf_pairs, options, solved, stats);
            }
            (traversal, clock.elapsed())
        };
        let of_pair = (!options.diagnostics().brute_force).then_some(moved);
        let search = || if decide { verdict::decide(ctx, of_pair, decision) } else { Finding::Apart };
        let ((traversal, solves), (finding, interference)) =
            if options.parallel { rayon::join(minima, || timed(search)) } else { (minima(), timed(search)) };
        (finding, PhaseTimes { traversal, solves, interference, ..PhaseTimes::default() })
    }

    /// Stores the critical pairs that are minima in `accepted`, adds samples of conformal sets, and removes
    /// minima at negative distances that are not confirmed as pressed contacts.
    ///
    /// `by_step` is `ctx` with the angle of the step as quasi-angle. `is_apart`: the verdict has found no
    /// interference. `displacement` (mm): motion of B relative to A since the last query.
    fn accept_minima(
        &mut self,
        ctx: &Context<'_>,
        by_step: &Context<'_>,
        options: &QueryOptions,
        is_apart: bool,
        displacement: f64,
    ) {
        self.accepted.clear();
        // Contacts that continue at negative distances may be farther than the nearest one before.
        let only_nearest = self.only_nearest && !ctx.presses();
        if only_nearest {
            self.accept_nearest(ctx);
        } else {
            self.accepted.extend(self.solved.candidates.iter().filter_map(|c| match &self.step {
                Some(step) => widened(ctx, step, c),
                None => filter(ctx, c),
            }));
        }
        let sampling = match &self.step {
            Some(step) => Sampling::Continuing(Continuing::in_step(step.gap_error, displacement)),
            None if only_nearest => Sampling::Nearest,
            None => Sampling::All,
        };
        conformal::sample(by_step, &self.solved, options, &sampling, &mut self.conformal, &mut self.accepted);
        self.accepted.extend_from_slice(&self.solved.orbits);
        pressed::retain(
            ctx,
            is_apart,
            (&self.contact_ids, displacement),
            &mut self.pressed,
            &mut self.accepted,
        );
    }

    /// Stores the critical pairs that are minima in `accepted`, in the order of their distances, up to the
    /// first one that is neither in contact nor a quasi-minimum, and beyond it as far as another minimum may
    /// replace it: next to a set, and within the deviations of the features.
    fn accept_nearest(&mut self, ctx: &Context<'_>) {
        let Self { solved, accepted, .. } = self;
        solved.candidates.sort_unstable_by(|c, d| c.distance.total_cmp(&d.distance));
        let mut last = f64::INFINITY;
        for candidate in &solved.candidates {
            if candidate.distance > last {
                break;
            }
            let Some(minimum) = filter(ctx, candidate) else { continue };
            accepted.push(minimum);
            if minimum.kind != ContactKind::Quasi && minimum.distance > ctx.tol.tol {
                let deviation = minimum.slack_a + minimum.slack_b + ctx.tol.same;
                last = last.min(minimum.distance + 2.0 * deviation + conformal::largest_change(&ctx.tol));
            }
        }
    }

    /// Checks the finding of the verdict against the minima. Touching solids interfere if a witness is found
    /// near a minimum. If there is neither evidence of touching nor a contact, contacts that the solves have
    /// missed are searched for. Returns the resulting finding.
    fn confirm_finding(&mut self, ctx: &Context<'_>, mut finding: Finding) -> Finding {
        if finding == Finding::Touch {
            let witness = verdict::confirm_contacts(ctx, &self.accepted, &mut self.decision);
            finding = witness.map_or(finding, Finding::Meet);
        }
        if finding == Finding::Apart && !self.accepted.iter().any(|x| touches(ctx, x)) {
            let (solved, band) = (&mut self.solved, &mut self.band);
            if misses_contacts(ctx, &self.leaf_pairs, &mut self.decision, solved, band, &mut self.accepted) {
                finding = Finding::Undecided;
            }
        }
        finding
    }

    /// Merges duplicates of the accepted minima into `kept`, adds the samples of a step, and assigns
    /// identities. `by_step` is `ctx` with the angle of the step as quasi-angle; `moved` is the motion of B
    /// relative to A since the last query.
    fn keep_contacts(
        &mut self,
        ctx: &Context<'_>,
        by_step: &Context<'_>,
        options: &QueryOptions,
        moved: &Motion,
    ) {
        if options.load_bearing {
            conformal::keep_load_bearing(ctx, &mut self.conformal, &mut self.accepted);
        }
        if let Some(step) = &self.step {
            for contact in &mut self.accepted {
                *contact = slid_past(ctx, step, contact).unwrap_or(*contact);
            }
        }
        self.stats.effort.accepted = self.accepted.len() as u64;
        dedupe(by_step, self.step.is_some(), &mut self.accepted, &mut self.kept);
        if let Some(step) = &self.step {
            add_samples(ctx, step, moved, &self.kept, &mut self.sampling, &mut self.samples);
        }
        let displacement = moved.displacement + 2.0 * ctx.tol.tol;
        let searched = self.step.map_or(0.0, |step| conformal::MAX_SET_MOTION * step.gap_error);
        self.contact_ids.advance(&self.kept, &ctx.pose_ba, (displacement, searched));
    }

    /// Computes and stores the verdict at the poses of the last query if that query skipped it.
    fn decide(&mut self, bodies: [&Body; 2]) {
        // Bodies beyond reach have a cleared verdict, which is separated.
        self.has_verdict |= self.is_beyond_reach;
        if !self.has_verdict
            && let Some(last) = self.last_query.take()
        {
            let ctx = last.context(bodies, self.tolerances);
            let moved = self.motion_tracker.total();
            self.band.open.clear();
            self.accepted.clear();
            let mut finding = verdict::decide(&ctx, Some(moved), &mut self.decision);
            if finding == Finding::Touch {
                let witness = verdict::confirm_contacts(&ctx, &self.kept, &mut self.decision);
                finding = witness.map_or(finding, Finding::Meet);
            }
            let mut near = has_contact(&self.kept, &ctx.tol);
            if finding == Finding::Apart && !near {
                let (solved, band) = (&mut self.solved, &mut self.band);
                if misses_contacts(
                    &ctx,
                    &self.leaf_pairs,
                    &mut self.decision,
                    solved,
                    band,
                    &mut self.accepted,
                ) {
                    finding = Finding::Undecided;
                }
                near = !self.accepted.is_empty();
            }
            let open = (&self.decision, &self.band.open[..]);
            build_verdict(&ctx, &finding, near, open, &last.poses[0], &mut self.verdict);
            self.has_verdict = true;
            self.last_query = Some(LastQuery { finding, ..last });
        }
    }
}

/// Searches for contacts that the solves have missed, between solids without a crossing and without a
/// contact, and adds them to `found`. Returns `true` if the search finds no contact but cannot exclude
/// one; [`BandScratch::open`] then lists the pairs of features whose contact is not excluded.
fn misses_contacts(
    ctx: &Context<'_>,
    pairs: &[AreaPair],
    decision: &mut verdict::Scratch,
    solved: &mut Solved,
    band: &mut BandScratch,
    found: &mut Vec<Accepted>,
) -> bool {
    let (known, before) = (solved.candidates.len(), found.len());
    let mut apart = |pair: AreaPair, proof| match proof {
        Separation::Known => decision.are_apart(ctx, pair),
        Separation::ByDifference => decision.follow_apart(ctx, pair),
        Separation::ByLevel => verdict::is_in_front(ctx, pair),
    };
    missed_contacts(ctx, pairs, &mut apart, solved, band);
    let missed = solved.candidates[known..].iter().filter_map(|c| filter(ctx, c));
    found.extend(missed.filter(|x| touches(ctx, x)));
    found.len() == before && !band.open.is_empty()
}

/// Whether the smallest distance of the minima `kept`, which are sorted by distance, is at most the
/// tolerance [`Tolerances::tol`]. Quasi-minima are ignored.
fn has_contact(kept: &[Accepted], tol: &Tolerances) -> bool {
    kept.iter().find(|k| k.kind != ContactKind::Quasi).is_some_and(|k| k.distance <= tol.tol)
}

/// Whether the solids touch at a minimum: it is not a quasi-minimum, and its signed distance is at most the
/// tolerance and at least -2 tolerances ([`Tolerances::min_distance`](crate::Tolerances::min_distance)).
fn touches(ctx: &Context<'_>, x: &Accepted) -> bool {
    x.distance <= ctx.tol.tol && x.distance >= ctx.tol.min_distance() && x.kind != ContactKind::Quasi
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bodies can be shared among threads, and pairs can move between threads.
    #[test]
    fn send_and_sync() {
        fn shared<T: Send + Sync>() {}
        fn sent<T: Send>() {}
        shared::<Body>();
        sent::<ContactPair>();
    }
}
