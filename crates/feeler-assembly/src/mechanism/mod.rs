//! Check of a mechanism: distances between its parts as it moves.

mod links;
mod moments;

pub use links::{MovingPart, assign_links};
pub use moments::Moment;

use crate::assembly::compose_poses;
use crate::contact_motion::{ContactMotion, MotionResult};
use crate::error::AssemblyError;
use crate::progress::Progress;
use crate::tolerance::ToleranceChoice;
use feeler_geom::P3;
use feeler_mechanism::loops::{LinkBall, LoopOptions, LoopReport};
use feeler_mechanism::{JointTrajectory, Mechanism};
use feeler_runtime::{
    ContactPair, NearestRange, Passage, PassageOptions, PassageOutcome, Path, PenetrationOptions,
    PenetrationOutcome, QueryError, QueryOptions, Status, time_of_contact,
};
use rayon::prelude::*;

/// Number of queries that the proof between the moments may need for each piece of a linkage's path, in
/// addition to the default of a motion. With a larger value undecided motions take longer; with a smaller one
/// motions of linkages, which have thousands of pieces, are undecided.
const QUERIES_PER_PIECE: u32 = 4;

/// Options of a mechanism check.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MechanismOptions {
    /// Largest distance (mm) that is measured.
    pub d_max: f64,
    /// Distance (mm) within which parts count as in contact in the proof between the steps. It does not
    /// affect the measurements at the steps.
    pub distance: f64,
    /// Whether to prove that pairs stay farther apart than `distance` between the steps; without effect
    /// on grids.
    pub proof: bool,
    /// Whether parts may touch: the proof between the steps excludes penetration instead of contact.
    /// `distance` is ignored then.
    pub allow_touching: bool,
    /// Maximum deviation (mm) of the points of all parts from the exact motion of closed loops; `None` for a
    /// millionth of the size of the loops.
    pub deviation: Option<f64>,
    /// Tolerance of all queries, at the moments and between them.
    pub tolerance: ToleranceChoice,
}

impl Default for MechanismOptions {
    fn default() -> Self {
        Self {
            d_max: 10.0,
            distance: 0.0,
            proof: true,
            allow_touching: false,
            deviation: None,
            tolerance: ToleranceChoice::Default,
        }
    }
}

/// Result for two parts at one moment, that is at one time of a motion or at one point of a grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepDistance {
    /// Relation of the parts; separated without a query if they are farther apart than `d_max`.
    pub status: Status,
    /// Smallest distance (mm) of a minimum; `None` if it is larger than `d_max`. If the parts interfere,
    /// other places of the parts may have a positive distance.
    pub distance: Option<f64>,
    /// Depth (mm) of an interference ([`Verdict::depth`](feeler_runtime::Verdict::depth)); `None` if the
    /// parts do not interfere.
    pub depth: Option<f64>,
    /// Footpoints of the nearest minimum (mm, world); `None` if no minimum within `d_max` exists.
    pub points: Option<[P3; 2]>,
}

impl StepDistance {
    /// Result for parts that are farther apart than `d_max`.
    const FAR: Self = Self { status: Status::Separated, distance: None, depth: None, points: None };

    /// Whether the parts interfere.
    #[must_use]
    pub fn interferes(&self) -> bool {
        self.status == Status::Interfering
    }
}

/// Result for two parts at all moments.
#[derive(Clone, Debug)]
pub struct MechanismPair {
    /// Indices of the two parts among the parts of the check.
    pub parts: [usize; 2],
    /// Result at each moment, in the order of [`MechanismReport::moments`].
    pub steps: Vec<StepDistance>,
    /// Result between the moments; `None` without [`MechanismOptions::proof`] and for grids.
    pub motion: Option<PairMotion>,
}

/// Result of the proof for two parts between the moments.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one value per pair of parts")]
pub enum PairMotion {
    /// First contact, or a proof that the parts stay apart.
    Passage(Passage),
    /// First penetration, or a proof that the parts do not penetrate; the result with
    /// [`MechanismOptions::allow_touching`].
    InContact(ContactMotion),
}

impl MechanismPair {
    /// Smallest distance (mm) over all moments at which the parts do not interfere, and the index of its
    /// moment; `None` if the parts are within `d_max` at none of them.
    #[must_use]
    pub fn smallest(&self) -> Option<(f64, usize)> {
        let free = self.steps.iter().enumerate().filter(|(_, s)| !s.interferes());
        let measured = free.filter_map(|(i, s)| Some((s.distance?, i)));
        measured.min_by(|x, y| x.0.total_cmp(&y.0))
    }

    /// Largest depth (mm) over all moments, and the index of its moment; `None` if the parts interfere at no
    /// moment.
    #[must_use]
    pub fn deepest(&self) -> Option<(f64, usize)> {
        let depths = self.steps.iter().enumerate().filter_map(|(i, s)| Some((s.depth?, i)));
        depths.reduce(|x, y| if y.0 > x.0 { y } else { x })
    }

    /// Number of moments at which the parts have this status.
    #[must_use]
    pub fn count(&self, status: Status) -> usize {
        self.steps.iter().filter(|s| s.status == status).count()
    }

    /// Number of moments at which the parts interfere.
    #[must_use]
    pub fn interfering_steps(&self) -> usize {
        self.count(Status::Interfering)
    }

    /// Whether a proof shows that the parts stay farther apart than [`MechanismOptions::distance`]
    /// during the whole motion. `false` also if no proof was computed.
    #[must_use]
    pub fn is_proven_free(&self) -> bool {
        match &self.motion {
            // The motion before `left` was only sampled.
            Some(PairMotion::Passage(p)) => p.outcome == PassageOutcome::Free && p.left.is_none(),
            Some(PairMotion::InContact(m)) => m.result() == MotionResult::Free,
            None => false,
        }
    }

    /// Whether a proof shows that the motion is as the options demand: free, or with
    /// [`MechanismOptions::allow_touching`] free of penetration. `false` also if no proof was computed.
    #[must_use]
    pub fn is_proven_allowed(&self) -> bool {
        match &self.motion {
            Some(PairMotion::InContact(m)) => m.penetration.outcome == PenetrationOutcome::Free,
            _ => self.is_proven_free(),
        }
    }
}

/// Smallest distance over all measured pairs at one moment, and the pair that has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margin {
    /// Distance (mm); 0 if a pair interferes.
    pub distance: f64,
    /// Index of the nearest pair in [`MechanismReport::pairs`].
    pub pair: usize,
}

/// Result of a mechanism check.
#[derive(Clone, Debug)]
pub struct MechanismReport {
    /// Moments at which the pairs were measured, with the poses of all links.
    pub moments: Vec<Moment>,
    /// Results of the measured pairs of parts.
    pub pairs: Vec<MechanismPair>,
    /// Results for closed loops; `None` for a mechanism without loops.
    pub linkage: Option<LinkageReport>,
}

/// Results for the closed loops of a mechanism.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkageReport {
    /// Results of the solution.
    pub loops: LoopReport,
    /// Values of all joints (rad, mm) at each moment, those of dependent joints included, with the loops
    /// closed up to [`LoopReport::closure_error`].
    pub values: Vec<Vec<f64>>,
}

impl MechanismReport {
    /// Returns the smallest distance over all pairs for each moment; `None` for a moment at which no
    /// pair is within `d_max`.
    #[must_use]
    pub fn margins(&self) -> Vec<Option<Margin>> {
        let at = |i: usize| {
            let distance = |(pair, p): (usize, &MechanismPair)| {
                let step = &p.steps[i];
                let distance = if step.interferes() { Some(0.0) } else { step.distance.map(|d| d.max(0.0)) };
                distance.map(|distance| Margin { distance, pair })
            };
            self.pairs
                .iter()
                .enumerate()
                .filter_map(distance)
                .min_by(|x, y| x.distance.total_cmp(&y.distance))
        };
        (0..self.moments.len()).map(at).collect()
    }

    /// Whether any pair interferes at the moment with the index `moment` in
    /// [`MechanismReport::moments`].
    #[must_use]
    pub fn interferes(&self, moment: usize) -> bool {
        self.pairs.iter().any(|p| p.steps[moment].interferes())
    }
}

/// Parts of a mechanism and the pairs of them that move relative to each other.
#[derive(Clone, Debug)]
pub struct MechanismCheck<'a> {
    mechanism: &'a Mechanism,
    parts: &'a [MovingPart],
    pairs: Vec<[usize; 2]>,
    progress: Option<&'a Progress>,
}

impl<'a> MechanismCheck<'a> {
    /// Finds the pairs of parts to check: those on different links that move relative to each other,
    /// unless the pair of links is in `ignored` (indices of links). Links that share a joint are checked
    /// only if `neighbours` is set.
    ///
    /// # Errors
    /// No pair of parts is left to check.
    pub fn new(
        mechanism: &'a Mechanism,
        parts: &'a [MovingPart],
        ignored: &[[usize; 2]],
        neighbours: bool,
    ) -> Result<Self, AssemblyError> {
        let groups = mechanism.rigid_groups();
        let is_checked = |a: usize, b: usize| {
            groups[a] != groups[b]
                && (neighbours || !mechanism.are_neighbours(a, b))
                && !ignored.iter().any(|i| *i == [a, b] || *i == [b, a])
        };
        let all = (0..parts.len()).flat_map(|i| (i + 1..parts.len()).map(move |j| [i, j]));
        let pairs: Vec<_> = all.filter(|[i, j]| is_checked(parts[*i].link, parts[*j].link)).collect();
        if pairs.is_empty() {
            return Err(AssemblyError::NoMovingPairs);
        }
        Ok(Self { mechanism, parts, pairs, progress: None })
    }

    /// Makes the check count its work in `progress`: the measurements of all pairs at all moments, and one
    /// proof for each pair. If `progress` is stopped, the check returns [`AssemblyError::Stopped`].
    #[must_use]
    pub fn with_progress(mut self, progress: &'a Progress) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Pairs of parts that are checked, by their indices.
    #[must_use]
    pub fn pairs(&self) -> &[[usize; 2]] {
        &self.pairs
    }

    /// Measures all pairs at `steps` times (at least 2), evenly spaced over a motion, and with
    /// [`MechanismOptions::proof`] also between these times. Loops are closed: at these times exactly, and
    /// between them up to [`MechanismOptions::deviation`], for which the proof then holds.
    ///
    /// # Errors
    /// The motion is not valid, loops cannot be closed, or a query is not possible.
    pub fn along(
        &self,
        motion: &JointTrajectory,
        steps: u32,
        options: &MechanismOptions,
    ) -> Result<MechanismReport, AssemblyError> {
        let times = moments::times(motion, steps);
        let loop_options = LoopOptions { deviation: options.deviation, balls: self.balls(), branches: true };
        let given = if self.mechanism.closures.is_empty() { motion } else { &motion.with_times(&times) };
        let solved = self.mechanism.solve(given, &loop_options)?;
        let paths = self.mechanism.paths(&solved.trajectory)?;
        let linkage = solved.report.map(|loops| {
            let values = times.iter().map(|time| solved.trajectory.values_at(*time)).collect();
            LinkageReport { loops, values }
        });
        let moments = moments::over_time(&times, &paths);
        let report = self.measure(moments, options.proof.then_some(&paths), options)?;
        Ok(MechanismReport { linkage, ..report })
    }

    /// Balls around the parts of each link.
    fn balls(&self) -> Vec<LinkBall> {
        let ball = |part: &MovingPart| {
            let bounds = part.body.posed_bounds(&part.pose);
            let center = P3::from((bounds.min.coords + bounds.max.coords) * 0.5);
            LinkBall { link: part.link, center, radius: (bounds.max - center).norm() }
        };
        self.parts.iter().map(ball).collect()
    }

    /// Measures all pairs at all combinations of `values` (at least 2) evenly spaced values of each joint
    /// that has limits and does not mimic another one. Other joints stay at 0.
    ///
    /// # Errors
    /// The mechanism has closed loops, no joint has limits, there are more than a million combinations, or a
    /// query is not possible.
    pub fn over_grid(
        &self,
        values: u32,
        options: &MechanismOptions,
    ) -> Result<MechanismReport, AssemblyError> {
        self.measure(moments::over_grid(self.mechanism, values)?, None, options)
    }

    fn measure(
        &self,
        moments: Vec<Moment>,
        paths: Option<&Vec<Path>>,
        options: &MechanismOptions,
    ) -> Result<MechanismReport, AssemblyError> {
        if let Some(progress) = self.progress {
            progress.set_total(self.pairs.len() * (moments.len() + usize::from(paths.is_some())));
        }
        let one = |pair: &[usize; 2]| {
            let measured = self.measure_pair(*pair, &moments, paths, options).map_err(|error| {
                let [a, b] = pair.map(|i| &self.parts[i].name);
                AssemblyError::Query { subject: format!("{a} and {b}"), error }
            });
            measured?.ok_or(AssemblyError::Stopped)
        };
        let pairs = self.pairs.par_iter().map(one).collect::<Result<_, _>>()?;
        Ok(MechanismReport { moments, pairs, linkage: None })
    }

    /// Measures one pair; `None` if the check was stopped.
    fn measure_pair(
        &self,
        pair: [usize; 2],
        moments: &[Moment],
        paths: Option<&Vec<Path>>,
        options: &MechanismOptions,
    ) -> Result<Option<MechanismPair>, QueryError> {
        let is_stopped = || self.progress.is_some_and(Progress::is_stopped);
        let advance = || self.progress.iter().for_each(|progress| progress.advance(1));
        let [a, b] = pair.map(|i| &self.parts[i]);
        let mut contacts = ContactPair::new(a.body.clone(), b.body.clone());
        let tolerance = options.tolerance.of([&a.body, &b.body]);
        let query = QueryOptions { tolerance, ..QueryOptions::within(options.d_max) };
        let mut range = NearestRange::new();
        let mut steps = Vec::with_capacity(moments.len());
        for moment in moments {
            if is_stopped() {
                return Ok(None);
            }
            advance();
            let links = [(moment.links[a.link], a.pose), (moment.links[b.link], b.pose)];
            // Poses of links are products of poses, which are rounded if the whole mechanism is far from the
            // origin.
            let offset = links.map(|(link, _)| link.translation.vector.amax());
            contacts.check_coordinates(offset[0].min(offset[1]), &query)?;
            let [pose_a, pose_b] = compose_poses(&contacts, links, &query)?;
            let (box_a, box_b) = (a.body.posed_bounds(&pose_a), b.body.posed_bounds(&pose_b));
            let gap = (box_a.min - box_b.max).sup(&(box_b.min - box_a.max)).map(|x| x.max(0.0)).norm();
            if gap > options.d_max {
                steps.push(StepDistance::FAR);
                continue;
            }
            range.query(&mut contacts, &pose_a, &pose_b, &query)?;
            let distance = contacts.min_distance();
            let points = contacts.contacts().first().map(|c| [c.point_a, c.point_b]);
            let of_verdict = |pair: &ContactPair| {
                let verdict = pair.verdict();
                let status = verdict.map_or(Status::Undecided, |v| v.status);
                (status, verdict.and_then(|v| v.depth(distance)))
            };
            let (mut status, mut depth) = of_verdict(&contacts);
            if status == Status::Undecided && options.tolerance == ToleranceChoice::Default {
                // Another tolerance would discard the cached results of the pair.
                let mut coarser = ContactPair::new(a.body.clone(), b.body.clone());
                coarser.query_decided(&pose_a, &pose_b, &query)?;
                (status, depth) = of_verdict(&coarser);
            }
            steps.push(StepDistance { status, distance, depth, points });
        }
        let motion = match paths {
            Some(_) if is_stopped() => return Ok(None),
            Some(paths) => {
                let [path_a, path_b] = [a, b].map(|p| paths[p.link].starting(&p.pose));
                let pieces = match self.mechanism.closures.is_empty() {
                    true => 0,
                    false => path_a.num_pieces().max(path_b.num_pieces()),
                };
                let queries_of_pieces =
                    u32::try_from(pieces).unwrap_or(u32::MAX).saturating_mul(QUERIES_PER_PIECE);
                Some(if options.allow_touching {
                    let default = PenetrationOptions::default();
                    let max_queries = default.max_queries.saturating_add(queries_of_pieces);
                    let query = QueryOptions { tolerance, ..default.query };
                    let options = PenetrationOptions { query, max_queries, ..default };
                    let motion = ContactMotion::search_with(&mut contacts, &path_a, &path_b, &options)?;
                    PairMotion::InContact(motion)
                } else {
                    let default = PassageOptions::default();
                    let max_queries = default.max_queries.saturating_add(queries_of_pieces);
                    let query = QueryOptions { tolerance, ..default.query };
                    let options = PassageOptions { distance: options.distance, query, max_queries };
                    PairMotion::Passage(time_of_contact(&mut contacts, &path_a, &path_b, &options)?)
                })
            }
            None => None,
        };
        if motion.is_some() {
            advance();
        }
        Ok(Some(MechanismPair { parts: pair, steps, motion }))
    }
}
