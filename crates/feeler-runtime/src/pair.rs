//! Two bodies and everything their queries reuse.

use crate::accept::dedupe::dedupe;
use crate::accept::filter::filter;
use crate::accept::identities::ContactIds;
use crate::accept::pressed;
use crate::api::contact::{Contact, ContactKind, FeatureRef, Stats};
use crate::api::error::QueryError;
use crate::api::options::QueryOptions;
use crate::api::tolerance::Tolerances;
use crate::api::verdict::{Status, Undecided, Verdict, Widened, Witness};
use crate::body::Body;
use crate::body::coordinates::{CoordinateRange, check_coordinates, coordinate_range, relative_pose};
use crate::body::ids::{AreaPair, FacePair};
use crate::certify::{BandScratch, OpenContact, certify, missed_contacts};
use crate::conformal;
use crate::cull::dilations::Dilations;
use crate::cull::front::brute::all_pairs;
use crate::cull::front::{self, Front};
use crate::cull::motion::MotionTracker;
use crate::cull::node_pair::CullContext;
use crate::diagnostics::{Clock, PhaseTimes, timed};
use crate::footpoint::trim::{place_on, place_on_face, with_source};
use crate::query::{Accepted, Context};
use crate::solve::{Solved, solve_all};
use crate::step_set::{
    LARGEST_DILATION, Sample, SampleScratch, Widening, add_samples, dilations, slid_past, widened,
};
use crate::verdict::{self, Finding};
use feeler_geom::{P2, P3, Pose, V3};
use feeler_hierarchy::Feature;
use std::sync::Arc;

/// Two bodies, the scratch of their queries and the last results. `Send`; make one a thread.
#[derive(Debug)]
pub struct ContactPair {
    a: Arc<Body>,
    b: Arc<Body>,
    contacts: Vec<Contact>,
    verdict: Verdict,
    /// Whether the last query has come to a verdict.
    has_verdict: bool,
    stats: Stats,
    times: PhaseTimes,
    tolerances: Tolerances,
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
    /// `tolerance` of the last query: what is known was found with it.
    known_for: Option<f64>,
    /// The last query that was worked out, while its results stand.
    answered: Option<Answered>,
    /// Whether the bodies of the last query are farther apart than its `d_max`, and so separated.
    is_beyond_reach: bool,
    /// The step to come, while a query for it is computed.
    step: Option<Widening>,
    /// Dilations by which pairs of the last step were culled.
    dilations: Option<Dilations>,
    samples: Vec<Sample>,
    sampling: SampleScratch,
}

/// Results of [`ContactPair::query_step`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepResults<'a> {
    pub bodies: [&'a Body; 2],
    pub contacts: &'a [Contact],
    /// Minima in the order of `contacts`, frame of A.
    pub kept: &'a [Accepted],
    pub samples: &'a [Sample],
}

/// A query, and what only its results know.
#[derive(Debug)]
struct Answered {
    pose_ab: Pose,
    /// With `parallel` off, which changes no bit.
    options: QueryOptions,
    step: Option<Widening>,
    finding: Finding,
    /// The poses that the results are told for.
    poses: [Pose; 2],
}

impl Answered {
    /// The context of the query, without culling.
    fn context<'a>(&self, [a, b]: [&'a Body; 2], tol: Tolerances) -> Context<'a> {
        Context {
            a,
            b,
            pose_ab: self.pose_ab,
            pose_ba: self.pose_ab.inverse(),
            tol,
            d_max: self.options.d_max,
            least: tol.least_distance(),
            quasi_angle: self.options.quasi_angle,
            cull: None,
        }
    }
}

/// Motion in one step, relative to the size of B, beyond which starting again at the roots is quicker.
const BIG_JUMP: f64 = 0.1;
/// Largest motion, relative to the tolerance, that counts as rounding of the poses.
const SAME_POSE: f64 = 0.1;
/// Summed motion, in sizes of B and in radians, after which summing starts again.
const LONG_WAY: f64 = 1e4;

impl ContactPair {
    /// A pair of bodies.
    #[must_use]
    pub fn new(a: Arc<Body>, b: Arc<Body>) -> Self {
        let tolerances = Tolerances::new(&a, &b, &Pose::identity(), None);
        let motion_tracker = MotionTracker::new(&a, &b);
        Self {
            a,
            b,
            contacts: Vec::new(),
            verdict: Verdict::new(),
            has_verdict: false,
            stats: Stats::default(),
            times: PhaseTimes::default(),
            tolerances,
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
            motion_tracker,
            known_for: None,
            answered: None,
            is_beyond_reach: false,
            step: None,
            samples: Vec::new(),
            dilations: None,
            sampling: SampleScratch::default(),
        }
    }

    /// Solid A.
    #[must_use]
    pub fn body_a(&self) -> &Arc<Body> {
        &self.a
    }

    /// Solid B.
    #[must_use]
    pub fn body_b(&self) -> &Arc<Body> {
        &self.b
    }

    /// All LMDs with distance ≤ `d_max`, sorted by distance, in world coordinates. The poses take each
    /// solid's own coordinates to the world.
    ///
    /// The set of minima depends on the arguments only, never on earlier queries, and their numbers on those
    /// by no more than rounding; [`Contact::id`] and [`Contact::age`] follow minima from query to query. The same
    /// queries give the same bits. With [`QueryOptions::penetration`] above 0 contacts of the last query may
    /// go on at negative distances, too.
    ///
    /// Where pairs of areas are passed over because of what earlier queries have found, nothing is there to
    /// be found; pairs that are looked at because they were near lately add nothing that is not one. A query
    /// with the options of the last one, whose bodies stand to each other as they did up to rounding, is not
    /// worked out again: its minima are the last ones, moved with A.
    ///
    /// Only the relative pose of the bodies counts, so an offset that both poses share cancels. World
    /// coordinates in the results are rounded as the poses are; [`Contact::local_a`] and [`Contact::local_b`] are
    /// not.
    ///
    /// # Errors
    /// [`QueryError`] if a pose is not finite, an option is out of range, or the bodies are so far apart that
    /// rounding exceeds a tenth of the tolerance. Bodies that are farther apart than a finite `d_max` are
    /// never refused for their distance: they have no minima and are separated. After an error the results
    /// are empty, and later queries are unaffected.
    pub fn query(
        &mut self,
        pose_a: &Pose,
        pose_b: &Pose,
        options: &QueryOptions,
    ) -> Result<&[Contact], QueryError> {
        let pose_ab = relative_pose(pose_a, pose_b).inspect_err(|_| self.clear_results())?;
        self.query_relative(pose_ab, [pose_a, pose_b], options)
    }

    /// Like [`ContactPair::query`], for a relative pose that is known more precisely than the rounded poses
    /// in the world, which place the results.
    pub(crate) fn query_relative(
        &mut self,
        pose_ab: Pose,
        [pose_a, pose_b]: [&Pose; 2],
        options: &QueryOptions,
    ) -> Result<&[Contact], QueryError> {
        let checked = self.check(&pose_ab, options);
        let (range, options) = checked.inspect_err(|_| self.clear_results())?;
        if range == CoordinateRange::BeyondReach {
            self.find_nothing(&options);
            return Ok(&self.contacts);
        }
        let asked = QueryOptions { parallel: false, ..options };
        if let Some(last) = self.answered.take_if(|last| last.options == asked)
            && last.step == self.step
            && self.stands(&last, &pose_ab, [pose_a, pose_b])
        {
            self.repeat(last, pose_a, pose_b);
            return Ok(&self.contacts);
        }
        self.clear_results();
        let clock = Clock::start();
        if options.tolerance != std::mem::replace(&mut self.known_for, options.tolerance) {
            self.forget_places();
        }
        self.tolerances = Tolerances::new(&self.a, &self.b, &pose_ab, options.tolerance);
        let ctx = Context {
            a: &self.a,
            b: &self.b,
            pose_ab,
            pose_ba: pose_ab.inverse(),
            tol: self.tolerances,
            d_max: options.d_max,
            least: self.tolerances.least_distance_apart().min(-options.penetration),
            quasi_angle: options.quasi_angle,
            cull: (!options.diagnostics().brute_force).then(|| {
                let cull = CullContext::new(&pose_ab, &self.tolerances, &options);
                match &self.step {
                    Some(step) => {
                        let bend = self.a.max_bend().max(self.b.max_bend());
                        let dilations = dilations(step, bend, self.dilations);
                        self.dilations = Some(dilations);
                        cull.with_beside(step.displacement).with_dilations(dilations)
                    }
                    None => cull,
                }
            }),
        };
        let step = self.motion_tracker.advance(&pose_ab);
        let displacement = step.displacement;
        // Long displacements would swallow the small steps after them.
        let total = self.motion_tracker.total().of(0);
        let restart = step.displacement > BIG_JUMP * self.b.size()
            || total.displacement > LONG_WAY * self.b.size()
            || total.rotation > LONG_WAY;
        if restart {
            self.motion_tracker.restart();
        }
        if restart || !options.diagnostics().savings.coherence {
            self.front.clear();
            self.decision.clear();
        }
        let moved = self.motion_tracker.total();
        if let Some(cull) = &ctx.cull {
            let request = front::Request { a: &self.a, b: &self.b, pose_ab: &pose_ab, moved, cull };
            self.front.update(&request, &mut self.leaf_pairs, &mut self.stats);
        } else {
            all_pairs(&self.a, &self.b, options.quasi_angle > 0.0, &mut self.leaf_pairs, &mut self.stats);
        }
        // Whether minima are known before the verdict, which a pressed one makes superfluous.
        let minima_first = options.verdict_unless_pressed && ctx.presses();
        let decide = options.detect_interference && !minima_first;
        self.times.traversal = clock.elapsed();
        let (pairs, solved, stats) = (&mut self.leaf_pairs, &mut self.solved, &mut self.stats);
        let minima = || {
            solve_all(&ctx, pairs, &options, solved, stats);
            if options.certified {
                certify(&ctx, pairs, &options, solved, stats);
            }
        };
        let scratch = &mut self.decision;
        let moved = (!options.diagnostics().brute_force).then_some(moved);
        let decision = || if decide { verdict::decide(&ctx, moved, scratch) } else { Finding::Apart };
        let (((), solves), (mut finding, mut interference)) = if options.parallel {
            rayon::join(|| timed(minima), || timed(decision))
        } else {
            (timed(minima), timed(decision))
        };
        let clock = Clock::start();
        self.accepted.clear();
        self.accepted.extend(self.solved.candidates.iter().filter_map(|c| match &self.step {
            Some(step) => widened(&ctx, step, c),
            None => filter(&ctx, c),
        }));
        // Quasi-minima of a step are dilated and merged by the angle of the step, not by that of the search.
        let by_step = Context { quasi_angle: self.step.map_or(ctx.quasi_angle, |step| step.rotation), ..ctx };
        conformal::sample(&by_step, &self.solved, &options, &mut self.conformal, &mut self.accepted);
        self.accepted.extend_from_slice(&self.solved.orbits);
        let is_apart = decide && matches!(finding, Finding::Apart | Finding::Touch);
        pressed::retain(
            &ctx,
            is_apart,
            (&self.contact_ids, displacement),
            &mut self.pressed,
            &mut self.accepted,
        );
        let is_pressed = |x: &Accepted| {
            x.kind != ContactKind::Quasi && x.distance < options.dilation_a + options.dilation_b
        };
        let decide = options.detect_interference && !(minima_first && self.accepted.iter().any(is_pressed));
        if decide && minima_first {
            (finding, interference) = timed(|| verdict::decide(&ctx, moved, &mut self.decision));
        }
        if decide && finding == Finding::Touch {
            let witness = verdict::confirm_contacts(&ctx, &self.accepted, &mut self.decision);
            finding = witness.map_or(finding, Finding::Meet);
        }
        self.band.open.clear();
        if decide && finding == Finding::Apart && !self.accepted.iter().any(|x| touches(&ctx, x)) {
            let (solved, band) = (&mut self.solved, &mut self.band);
            if misses_contacts(&ctx, &self.leaf_pairs, &self.decision, solved, band, &mut self.accepted) {
                finding = Finding::Undecided;
            }
        }
        if options.load_bearing {
            conformal::keep_load_bearing(&ctx, &mut self.conformal, &mut self.accepted);
        }
        if let Some(step) = &self.step {
            for contact in &mut self.accepted {
                *contact = slid_past(&ctx, step, contact).unwrap_or(*contact);
            }
        }
        self.stats.effort.accepted = self.accepted.len() as u64;
        dedupe(&by_step, self.step.is_some(), &mut self.accepted, &mut self.kept);
        if let Some(step) = &self.step {
            add_samples(&ctx, step, &self.kept, &mut self.sampling, &mut self.samples);
        }
        self.contact_ids.advance(&self.kept, &ctx.pose_ba, displacement + 2.0 * ctx.tol.tol);
        report(&ctx, &self.kept, &self.contact_ids, pose_a, &options, &mut self.contacts);
        let filtering = clock.elapsed();
        let near = has_contact(&self.kept, &ctx.tol);
        self.times = PhaseTimes { solves, filtering, interference, ..self.times };
        self.has_verdict = decide;
        let open = (&self.decision, &self.band.open[..]);
        pronounce(&ctx, &finding, near, open, pose_a, &mut self.verdict);
        let diagnostics = options.diagnostics();
        if diagnostics.savings.coherence && !diagnostics.brute_force {
            let poses = [*pose_a, *pose_b];
            self.answered = Some(Answered { pose_ab, options: asked, step: self.step, finding, poses });
        }
        Ok(&self.contacts)
    }

    /// Computes minima and, beside them, the quasi-minima, contacts of extended faces and samples that a
    /// step of a simulator may need. Ignores `options.quasi_angle`. Computes no verdict; [`ContactPair::decide`]
    /// does.
    pub(crate) fn query_step(
        &mut self,
        pose_a: &Pose,
        pose_b: &Pose,
        options: &QueryOptions,
        step: Widening,
    ) -> Result<StepResults<'_>, QueryError> {
        let options = QueryOptions { quasi_angle: LARGEST_DILATION, detect_interference: false, ..*options };
        self.step = Some(step);
        let found = self.query(pose_a, pose_b, &options).map(|_| ());
        self.step = None;
        found?;
        let bodies = [self.a.as_ref(), self.b.as_ref()];
        Ok(StepResults { bodies, contacts: &self.contacts, kept: &self.kept, samples: &self.samples })
    }

    /// Checks the options, the walls and the coordinates, and bounds `d_max`.
    fn check(
        &self,
        pose_ab: &Pose,
        options: &QueryOptions,
    ) -> Result<(CoordinateRange, QueryOptions), QueryError> {
        options.check()?;
        self.check_walls(options)?;
        Ok((coordinate_range(&self.a, &self.b, pose_ab, options)?, options.bounded()))
    }

    /// Results of bodies that are farther apart than `d_max`: no minimum, separated.
    fn find_nothing(&mut self, options: &QueryOptions) {
        self.clear_results();
        self.forget();
        self.tolerances = Tolerances::new(&self.a, &self.b, &Pose::identity(), options.tolerance);
        self.has_verdict = options.detect_interference;
        self.is_beyond_reach = true;
    }

    /// Checks whether rounding of coordinates (mm) is at most a tenth of the tolerance of these options. For
    /// callers that compose the poses of a query from others: an offset that both bodies share cancels in the
    /// query, but not in products of poses.
    ///
    /// # Errors
    /// [`QueryError::CoordinatesTooLarge`].
    pub fn check_coordinates(&self, coordinates: f64, options: &QueryOptions) -> Result<(), QueryError> {
        check_coordinates(coordinates, self.a.size().max(self.b.size()), options.tolerance)
    }

    pub(crate) fn clear_results(&mut self) {
        self.contacts.clear();
        self.samples.clear();
        self.stats = Stats::default();
        self.times = PhaseTimes::default();
        self.verdict.clear();
        self.has_verdict = false;
        self.conformal.loss = 0.0;
        self.answered = None;
        self.is_beyond_reach = false;
    }

    /// Whether the bodies stand to each other as they did, up to the rounding of poses.
    fn stands(&self, last: &Answered, pose_ab: &Pose, poses: [&Pose; 2]) -> bool {
        let moved = last.pose_ab.inv_mul(pose_ab);
        // Twice the sine of half the angle, for points up to the corner of B's box.
        let turned = 2.0 * moved.rotation.imag().norm() * 2.0 * self.b.reach();
        let from_origin = poses.iter().map(|p| p.translation.vector.norm()).sum::<f64>();
        let rounding = self.tolerances.eps + 8.0 * f64::EPSILON * from_origin;
        // A large offset of both bodies must not hide a motion.
        let tolerance = Tolerances::before_rounding(self.tolerances.size, last.options.tolerance);
        let rounding = rounding.min(SAME_POSE * tolerance);
        moved.translation.vector.norm() + turned <= rounding
    }

    /// Tells the last results once more, where A is now.
    fn repeat(&mut self, last: Answered, pose_a: &Pose, pose_b: &Pose) {
        let Stats { certified_pairs, undecided_pairs, .. } = self.stats;
        self.stats = Stats { certified_pairs, undecided_pairs, ..Stats::default() };
        self.times = PhaseTimes::default();
        if last.poses == [*pose_a, *pose_b] {
            self.answered = Some(last);
            self.hold();
            return;
        }
        self.contact_ids.hold();
        let ctx = last.context([&self.a, &self.b], self.tolerances);
        self.contacts.clear();
        report(&ctx, &self.kept, &self.contact_ids, pose_a, &last.options, &mut self.contacts);
        let near = has_contact(&self.kept, &ctx.tol);
        let open = (&self.decision, &self.band.open[..]);
        pronounce(&ctx, &last.finding, near, open, pose_a, &mut self.verdict);
        self.answered = Some(Answered { poses: [*pose_a, *pose_b], ..last });
    }

    /// The verdict of the last query, computed now where [`QueryOptions::verdict_unless_pressed`] or
    /// [`QueryOptions::detect_interference`] has left it out. The minima stay as they are. `None` before the
    /// first query and after an error.
    pub fn decide(&mut self) -> Option<&Verdict> {
        // The verdict was cleared, which is separated.
        self.has_verdict |= self.is_beyond_reach;
        if !self.has_verdict
            && let Some(last) = self.answered.take()
        {
            let ctx = last.context([&self.a, &self.b], self.tolerances);
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
                if misses_contacts(&ctx, &self.leaf_pairs, &self.decision, solved, band, &mut self.accepted) {
                    finding = Finding::Undecided;
                }
                near = !self.accepted.is_empty();
            }
            let open = (&self.decision, &self.band.open[..]);
            pronounce(&ctx, &finding, near, open, &last.poses[0], &mut self.verdict);
            self.has_verdict = true;
            self.answered = Some(Answered { finding, ..last });
        }
        self.verdict()
    }

    /// Another query in the same place.
    pub(crate) fn hold(&mut self) {
        self.contact_ids.hold();
        self.contacts.iter_mut().for_each(|l| l.age = l.age.saturating_add(1));
    }

    /// Whether contacts are told from the far sides of walls, by their depth and by the tolerance.
    fn check_walls(&self, options: &QueryOptions) -> Result<(), QueryError> {
        let penetration = options.penetration;
        let [wall_a, wall_b] = [self.a.min_thickness(), self.b.min_thickness()];
        // Of sheets and where it is not known the wall is 0.
        let thinnest = [wall_a, wall_b].into_iter().filter(|w| *w > 0.0).fold(f64::INFINITY, f64::min);
        if let Some(tolerance) = options.tolerance.filter(|t| 10.0 * t >= thinnest) {
            return Err(QueryError::Coarse { tolerance, wall_a, wall_b });
        }
        // Two sheets are never pressed, however deep.
        let are_sheets = self.a.is_sheet() && self.b.is_sheet();
        if penetration > 0.0 && !are_sheets && 2.0 * penetration >= wall_a + wall_b {
            return Err(QueryError::Walls { penetration, wall_a, wall_b });
        }
        Ok(())
    }

    /// Begins a new motion: what the next query finds is new.
    pub fn forget(&mut self) {
        self.contact_ids.clear();
        self.forget_places();
    }

    /// Drops what was found out where the bodies were.
    fn forget_places(&mut self) {
        self.front.clear();
        self.forget_answers();
    }

    /// Begins a new motion after a jump, as [`ContactPair::forget`] does. Pairs of nodes whose margins exceed
    /// the jump stay culled.
    pub(crate) fn forget_motion(&mut self) {
        self.contact_ids.clear();
        self.forget_answers();
    }

    /// Drops the verdict's memory and the last answer.
    fn forget_answers(&mut self) {
        self.decision.clear();
        self.answered = None;
    }

    /// A pair of the same bodies whose next query continues the identities of this one's last query.
    pub(crate) fn continued(&self) -> Self {
        let (contact_ids, motion_tracker) = (self.contact_ids.clone(), self.motion_tracker.clone());
        Self { contact_ids, motion_tracker, ..Self::new(self.a.clone(), self.b.clone()) }
    }

    /// The LMDs of the last query.
    #[must_use]
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// Smallest distance of the last query, `None` when nothing lay within `d_max`. Quasi-LMDs do not count:
    /// they are no minima.
    #[must_use]
    pub fn min_distance(&self) -> Option<f64> {
        self.contacts.iter().find(|l| l.kind != ContactKind::Quasi).map(|l| l.distance)
    }

    /// How the solids stood in the last query: `None` before the first one, after an error, without
    /// [`QueryOptions::detect_interference`], and where [`QueryOptions::verdict_unless_pressed`] has left the
    /// verdict out.
    #[must_use]
    pub fn status(&self) -> Option<Status> {
        self.verdict().map(|v| v.status)
    }

    /// How the solids stood in the last query, with what proves it; `None` where [`ContactPair::status`] is.
    #[must_use]
    pub fn verdict(&self) -> Option<&Verdict> {
        self.has_verdict.then_some(&self.verdict)
    }

    /// Counters of the last query.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// Where the time of the last query went.
    #[cfg(feature = "diagnostics")]
    #[must_use]
    pub fn phase_times(&self) -> PhaseTimes {
        self.times
    }

    /// How far (mm) samples of conformal sets of the last query may stay behind the hulls of their sets: no
    /// corner of a set is farther from one of its samples. 0 unless a set has more corners than samples are
    /// kept, which are 32 without [`QueryOptions::conformal_spacing`]; 0 with [`QueryOptions::load_bearing`],
    /// which keeps few on purpose. Sets of splines, whose corners are not
    /// known, do not count.
    #[must_use]
    pub fn conformal_loss(&self) -> f64 {
        self.conformal.loss
    }

    /// Tolerances of the last query.
    #[must_use]
    pub fn tolerances(&self) -> Tolerances {
        self.tolerances
    }
}

/// Searches for contacts that the solves have missed, between solids without a crossing and without a
/// contact, and adds them to `found`. Returns true if the search finds no contact but cannot exclude one;
/// [`BandScratch::open`] then lists the pairs that are not excluded.
fn misses_contacts(
    ctx: &Context<'_>,
    pairs: &[AreaPair],
    decision: &verdict::Scratch,
    solved: &mut Solved,
    band: &mut BandScratch,
    found: &mut Vec<Accepted>,
) -> bool {
    let (known, before) = (solved.candidates.len(), found.len());
    missed_contacts(ctx, pairs, |pair| decision.are_apart(ctx, *pair), solved, band);
    let missed = solved.candidates[known..].iter().filter_map(|c| filter(ctx, c));
    found.extend(missed.filter(|x| touches(ctx, x)));
    found.len() == before && !band.open.is_empty()
}

/// Whether one of the minima, sorted by distance, is a contact.
fn has_contact(kept: &[Accepted], tol: &Tolerances) -> bool {
    kept.iter().find(|k| k.kind != ContactKind::Quasi).is_some_and(|k| k.distance <= tol.tol)
}

/// Whether a minimum is a contact, and no quasi-minimum.
fn touches(ctx: &Context<'_>, x: &Accepted) -> bool {
    x.distance <= ctx.tol.tol && x.distance >= ctx.tol.least_distance() && x.kind != ContactKind::Quasi
}

/// Writes the verdict in world coordinates; `near`: the smallest distance is within the tolerance.
fn pronounce(
    ctx: &Context<'_>,
    finding: &Finding,
    near: bool,
    (decision, open_contacts): (&verdict::Scratch, &[OpenContact]),
    pose_a: &Pose,
    out: &mut Verdict,
) {
    out.clear();
    let faces_at = |p: &P3, faces: FacePair| {
        let [a, b] = faces;
        (place_on_face(ctx.a, a, p), place_on_face(ctx.b, b, &(ctx.pose_ba * p)))
    };
    out.status = match finding {
        Finding::Meet(_) => Status::Interfering,
        Finding::Undecided => Status::Undecided,
        Finding::Touch => Status::Touching,
        Finding::Apart if near => Status::Touching,
        Finding::Apart => Status::Separated,
    };
    if let Finding::Meet(witness) = finding {
        let [inside_a, inside_b] = witness.inside;
        out.witness = Some(Witness { point: pose_a * witness.p, inside_a, inside_b });
        out.crossing = witness.faces.map(|faces| faces_at(&witness.at, faces));
    } else {
        out.widened.extend(decision.widened().iter().map(|(p, by)| Widened { point: pose_a * p, by: *by }));
    }
    if *finding == Finding::Undecided {
        out.undecided.extend(decision.undecided().iter().map(|place| {
            let (feature_a, feature_b) = faces_at(&place.p, place.faces);
            Undecided { feature_a, feature_b, point: pose_a * place.p, depth_bound: place.depth }
        }));
        out.undecided.extend(open_contacts.iter().map(|open| {
            let [a, b] = open.features;
            Undecided {
                feature_a: place_on(ctx.a, a, &open.p),
                feature_b: place_on(ctx.b, b, &(ctx.pose_ba * open.p)),
                point: pose_a * open.p,
                depth_bound: 2.0 * ctx.tol.tol,
            }
        }));
    }
}

/// Into world coordinates, with identities.
fn report(
    ctx: &Context<'_>,
    kept: &[Accepted],
    contact_ids: &ContactIds,
    pose_a: &Pose,
    options: &QueryOptions,
    out: &mut Vec<Contact>,
) {
    out.extend(kept.iter().enumerate().map(|(i, k)| {
        let identity = contact_ids.identity(i);
        let local_b = ctx.pose_ba * k.p_b;
        Contact {
            distance: k.distance,
            gap: k.distance - options.dilation_a - options.dilation_b,
            point_a: pose_a * k.p_a,
            point_b: pose_a * k.p_b,
            local_a: k.p_a,
            local_b,
            normal: pose_a * k.n,
            curvature_a: curvature(ctx.a, k.feature_a, &k.place_a, &k.n),
            curvature_b: curvature(ctx.b, k.feature_b, &k.place_b, &(ctx.pose_ba * -k.n)),
            kind: k.kind,
            id: identity.id,
            age: identity.age,
            feature_a: with_source(ctx.a, &k.place_a),
            feature_b: with_source(ctx.b, &k.place_b),
            undecided: k.undecided,
        }
    }));
}

/// Normal curvatures at a footpoint with the outward direction `n`, the solid's frame.
pub(crate) fn curvature(body: &Body, feature: Feature, place: &FeatureRef, n: &V3) -> [f64; 2] {
    let sorted = |x: f64, y: f64| if x <= y { [x, y] } else { [y, x] };
    match feature {
        Feature::Face(f) => {
            let face = body.face(f);
            let [k1, k2] = face.surface.curvatures(P2::new(place.uv[0], place.uv[1]));
            let sign = if face.outward { 1.0 } else { -1.0 };
            sorted(sign * k1, sign * k2)
        }
        Feature::Edge(e) => {
            let d = body.edge(e).curve.derivs(place.uv[0]);
            sorted(-n.dot(&d.d2) / d.d1.norm_squared(), f64::INFINITY)
        }
        Feature::Vertex(_) => [f64::INFINITY; 2],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bodies are shared among threads, pairs move between them.
    #[test]
    fn send_and_sync() {
        fn shared<T: Send + Sync>() {}
        fn sent<T: Send>() {}
        shared::<Body>();
        sent::<ContactPair>();
    }
}
