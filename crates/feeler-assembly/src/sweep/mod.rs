//! Queries of two solids along a trajectory.

mod trajectory;

pub use trajectory::{JointMotion, Trajectory};

use crate::assembly::{AssemblyPart, compose_poses};
use crate::contact_motion::ContactMotion;
use crate::error::AssemblyError;
use feeler_geom::Pose;
use feeler_runtime::{
    Contact, ContactPair, Passage, PassageOptions, Path, QueryError, QueryOptions, Stats, Status, Verdict,
    time_of_contact,
};
use std::time::{Duration, Instant};

/// Result of a query at one step of a sweep.
#[derive(Clone, Debug)]
pub struct SweepStep {
    /// Motions of A and B from their poses in their models.
    pub poses: [Pose; 2],
    /// Minima of the distance within the `d_max` of the query options, nearest first.
    pub contacts: Vec<Contact>,
    /// Smallest distance (mm) of a minimum, quasi-minima excluded; `None` if there is no minimum within
    /// `d_max`.
    pub min_distance: Option<f64>,
    /// Verdict about the solids; `None` if the options exclude verdicts.
    pub verdict: Option<Verdict>,
    /// Tolerance (mm) of the verdict.
    pub tolerance: f64,
    /// `tolerance`, if it is coarser than the default one, which left the step undecided; else `None`. The
    /// minima are those of the query at the default tolerance.
    pub decided_at: Option<f64>,
    /// Counts of the work of the query.
    pub stats: Stats,
    /// Duration of the query of this step.
    pub duration: Duration,
}

impl SweepStep {
    /// Status of the verdict; `None` if the options exclude verdicts.
    #[must_use]
    pub fn status(&self) -> Option<Status> {
        self.verdict.as_ref().map(|v| v.status)
    }

    /// Depth (mm) of an interference ([`Verdict::depth`]); `None` if the solids do not interfere or the
    /// options exclude verdicts.
    #[must_use]
    pub fn depth(&self) -> Option<f64> {
        self.verdict.as_ref()?.depth(self.min_distance)
    }
}

/// Queries along a trajectory, as an iterator over the steps. Each query reuses the results of the previous
/// one. The iterator ends after the first error.
///
/// ```
/// use feeler_assembly::{AssemblyPart, JointMotion, Sweep, Trajectory};
/// use feeler_runtime::{PassageOutcome, QueryOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data");
/// let part = |name: &str| -> Result<AssemblyPart, Box<dyn std::error::Error>> {
///     Ok(AssemblyPart::from_instance(&feeler_import::prepare_step(format!("{data}/{name}.step"))?, 0)?)
/// };
/// let (socket, plug) = (part("socket")?, part("plug")?);
/// let joint = JointMotion { lengths: [20.0, 0.2], ..JointMotion::about_z() };
/// let trajectory = Trajectory::of_joint(&joint, 10)?;
/// let mut sweep = Sweep::new(&socket, &plug, &trajectory, QueryOptions::within(2.0))?;
/// let nearest = sweep.by_ref().map(|step| Ok(step?.min_distance.unwrap_or(f64::INFINITY)));
/// let nearest: Vec<f64> = nearest.collect::<Result<_, feeler_assembly::AssemblyError>>()?;
/// assert_eq!(nearest.len(), 11); // both ends included
/// assert_eq!(sweep.passage()?.outcome, PassageOutcome::Free); // proven between the steps, too
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Sweep<'a> {
    parts: [&'a AssemblyPart; 2],
    trajectory: &'a Trajectory,
    options: QueryOptions,
    is_cold: bool,
    pair: ContactPair,
    next: usize,
}

impl<'a> Sweep<'a> {
    /// Prepares the queries of two parts along a trajectory, whose motions move them from the poses in
    /// their models.
    ///
    /// # Errors
    /// The options are not valid.
    pub fn new(
        a: &'a AssemblyPart,
        b: &'a AssemblyPart,
        trajectory: &'a Trajectory,
        options: QueryOptions,
    ) -> Result<Self, AssemblyError> {
        options.check()?;
        let pair = ContactPair::new(a.body.clone(), b.body.clone());
        Ok(Self { parts: [a, b], trajectory, options, is_cold: false, pair, next: 0 })
    }

    /// Makes the sweep discard all cached results before each step, so that every query is cold.
    #[must_use]
    pub fn cold(mut self) -> Self {
        self.is_cold = true;
        self
    }

    /// Proves that the solids do not touch along the whole trajectory, also between the steps, or
    /// computes the time of first contact. Successive poses are joined by screw motions; the unit of
    /// time is that of [`Trajectory::paths`].
    ///
    /// # Errors
    /// The poses do not form a path, or a query is not possible.
    pub fn passage(&self) -> Result<Passage, AssemblyError> {
        let (mut pair, [path_a, path_b]) = self.pair_and_paths()?;
        let query = QueryOptions { penetration: 0.0, ..self.options };
        let options = PassageOptions { query, ..PassageOptions::default() };
        Ok(time_of_contact(&mut pair, &path_a, &path_b, &options)?)
    }

    /// Proves that the solids penetrate nowhere along the whole trajectory, also between the steps, or
    /// computes the time of the first penetration. Contact is allowed. Poses and times as in
    /// [`Self::passage`].
    ///
    /// # Errors
    /// The poses do not form a path, or a query is not possible.
    pub fn contact_motion(&self) -> Result<ContactMotion, AssemblyError> {
        let (mut pair, [path_a, path_b]) = self.pair_and_paths()?;
        Ok(ContactMotion::search(&mut pair, &path_a, &path_b, &self.options)?)
    }

    /// A pair without cached results, and the paths of both solids.
    fn pair_and_paths(&self) -> Result<(ContactPair, [Path; 2]), AssemblyError> {
        let [a, b] = self.parts;
        let [path_a, path_b] = self.trajectory.paths()?;
        let paths = [path_a.starting(&a.pose), path_b.starting(&b.pose)];
        Ok((ContactPair::new(a.body.clone(), b.body.clone()), paths))
    }

    fn step(&mut self, poses: [Pose; 2]) -> Result<SweepStep, QueryError> {
        let [a, b] = self.parts;
        if self.is_cold {
            self.pair = ContactPair::new(a.body.clone(), b.body.clone());
        }
        let [motion_a, motion_b] = poses;
        let placed = [(motion_a, a.pose), (motion_b, b.pose)];
        let [pose_a, pose_b] = compose_poses(&self.pair, placed, &self.options)?;
        let clock = Instant::now();
        self.pair.query(&pose_a, &pose_b, &self.options)?;
        let duration = clock.elapsed();
        // Another tolerance would discard the cached results of the pair.
        let (mut verdict, mut tolerance) = (self.pair.verdict().cloned(), self.pair.tolerances().tol);
        let mut decided_at = None;
        if self.options.tolerance.is_none() && self.pair.status() == Some(Status::Undecided) {
            let mut coarser = ContactPair::new(a.body.clone(), b.body.clone());
            decided_at = coarser.query_decided(&pose_a, &pose_b, &self.options)?;
            if let Some(at) = decided_at {
                (verdict, tolerance) = (coarser.verdict().cloned(), at);
            }
        }
        Ok(SweepStep {
            poses,
            contacts: self.pair.contacts().to_vec(),
            min_distance: self.pair.min_distance(),
            verdict,
            tolerance,
            decided_at,
            stats: self.pair.stats(),
            duration,
        })
    }
}

impl Iterator for Sweep<'_> {
    type Item = Result<SweepStep, AssemblyError>;

    fn next(&mut self) -> Option<Self::Item> {
        let k = self.next;
        let poses = self.trajectory.poses(k)?;
        self.next += 1;
        let step = self.step(poses);
        if step.is_err() {
            self.next = self.trajectory.len();
        }
        Some(step.map_err(|error| AssemblyError::Query { subject: format!("step {k}"), error }))
    }
}
