//! Closed loops: values of the dependent joints of a linkage along a motion of its driven joints.
//!
//! [`Mechanism::solve`] closes the loops at the start of a motion, follows that branch of solutions, and
//! returns the motion of all joints, piecewise linear. At the ends of the pieces the loops are closed
//! up to rounding. In between no point deviates from the exact motion by more than
//! [`LoopOptions::deviation`]. docs/MATH.md, section 25, has the equations and bounds.

mod branches;
mod equations;
mod follow;
mod newton;

use crate::{JointTrajectory, Mechanism, MechanismError};
use equations::{Equations, source};
use feeler_geom::P3;
use follow::{Limits, MAX_PIECES};
use newton::{CLOSURE_TOLERANCE, Decomposition};

/// Default of [`LoopOptions::deviation`], as a fraction of the size of the loops. With a larger value motions
/// have fewer pieces, and proofs hold for a motion that deviates more; with a smaller one proofs take longer.
const DEFAULT_DEVIATION: f64 = 1e-6;

/// Maximum error of a closure of a given motion: the distance over the size of the loops, or an angle (rad).
/// With a larger value paths of open loops are accepted; a smaller one refuses rounded solutions.
const MAX_CLOSURE_ERROR: f64 = 1e-10;

/// Maximum error of a closure of a drawing with all joints at 0, from which the first values of a motion are
/// approached: the distance over the size of the loops, or an angle (rad). Rounded coordinates of drawings
/// are refused as a start with a smaller value; with a larger one an open drawing determines the branch.
const MAX_DRAWING_ERROR: f64 = 1e-4;

/// Distance of joint values (rad, mm) by which a position is varied to separate too few or too many driven
/// joints from a special position. Larger and smaller values find the same counts, unless the difference is
/// near rounding or the size of the loops.
const VARIATION: f64 = 0.01;

/// Maximum number of branches that a message lists. Messages are long with a larger value, and with a smaller
/// one the wanted branch may be absent.
const MAX_LISTED_BRANCHES: usize = 4;

/// Remedy for loops that rounded numbers of a file leave open.
const DIGITS_REMEDY: &str = "give points and axes with more digits (a ball joint needs no parallel axes)";

/// Ball of points that moves with a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkBall {
    /// Index of the link.
    pub link: usize,
    /// Centre in the frame of the link (mm).
    pub center: P3,
    /// Radius (mm).
    pub radius: f64,
}

/// Options of [`Mechanism::solve`].
#[derive(Clone, Debug, Default)]
pub struct LoopOptions {
    /// Maximum deviation (mm) of the points of `balls` from the exact motion; `None` for a millionth of the
    /// size of the loops. Infinity gives the fewest pieces that follow one branch.
    pub deviation: Option<f64>,
    /// Points whose deviation is limited, such as the bounding balls of the parts of each link. Without
    /// balls it is that of points of all links up to the size of the loops from the first closing point.
    pub balls: Vec<LinkBall>,
    /// Whether to search for the other branches at the start of the motion.
    pub branches: bool,
}

/// Motion of a mechanism whose loops are closed.
#[derive(Clone, Debug)]
pub struct LoopMotion {
    /// Values of all joints, those of dependent joints included.
    pub trajectory: JointTrajectory,
    /// Results for the loops; `None` for a mechanism without loops.
    pub report: Option<LoopReport>,
}

/// Results for the loops of a mechanism.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopReport {
    /// Size of the loops (mm): the largest distance between a closing point and another one or an axis of its
    /// loop at the start of the motion.
    pub size: f64,
    /// Indices of the dependent joints, whose values were computed.
    pub dependent: Vec<usize>,
    /// Number of pieces of the motion.
    pub pieces: usize,
    /// Largest error (mm) of all closures at the ends of all pieces: the distance of both sides, or their
    /// angle times the size of the loops.
    pub closure_error: f64,
    /// Upper bound (mm) of the deviation of all points of [`LoopOptions::balls`] from the exact motion.
    pub deviation: f64,
    /// Values of all joints at the start of the motion for each branch that was found, in increasing order of
    /// the values of the dependent joints; only the followed one without [`LoopOptions::branches`].
    pub branches: Vec<Vec<f64>>,
    /// Index of the branch that the motion follows.
    pub branch: usize,
}

/// Moments that a continuation passes through, for messages.
struct Progress {
    /// Start and end time (s) of the continuation; `None` for the approach from the drawing to the start.
    times: Option<[f64; 2]>,
    /// Start time (s) of the motion.
    first: f64,
}

impl Progress {
    /// Error for a loop whose equations contradict each other near a solution `values`.
    fn open(&self, equations: &Equations<'_>, values: &[f64], part: f64) -> MechanismError {
        open(equations, values, self.moment(part).0, DIGITS_REMEDY.to_owned())
    }

    /// Moment at the part `part` as text for a message, and its time (s) since the start of the motion.
    fn moment(&self, part: f64) -> (String, f64) {
        match self.times {
            Some([from, to]) => {
                let time = from + part * (to - from);
                (format!("at {time:.6} s"), time - self.first)
            }
            None => {
                let at = "between the drawn position and the start of the motion (`start` values of the \
                          dependent joints begin on another branch)";
                (at.to_owned(), 0.0)
            }
        }
    }

    fn dead_point(&self, equations: &Equations<'_>, values: &[f64], part: f64) -> MechanismError {
        let (at, time) = self.moment(part);
        let dependent: Vec<usize> = equations.unknowns.iter().map(|u| u.joint).collect();
        MechanismError::DeadPoint {
            at,
            time,
            driven: listed(equations.mechanism, &equations.driven_joints(), values),
            dependent: listed(equations.mechanism, &dependent, values),
        }
    }
}

impl JointTrajectory {
    /// Values of all joints at a time (s) since the start of the motion, which are those of the ends of the
    /// motion before and after it. Empty for a motion without times.
    #[must_use]
    pub fn values_at(&self, time: f64) -> Vec<f64> {
        let Some(first) = self.times.first() else { return vec![] };
        let time = first + time;
        let i = self.times.partition_point(|t| *t <= time);
        if i == 0 || i == self.times.len() {
            return self.values[i.saturating_sub(1)].clone();
        }
        let part = (time - self.times[i - 1]) / (self.times[i] - self.times[i - 1]);
        self.values[i - 1].iter().zip(&self.values[i]).map(|(a, b)| a + part * (b - a)).collect()
    }

    /// Motion with the same values at further times (s since the start of the motion), so that
    /// [`Mechanism::solve`] closes loops exactly at these times. Times outside the motion are omitted.
    #[must_use]
    pub fn with_times(&self, times: &[f64]) -> Self {
        let (Some(first), Some(last)) = (self.times.first(), self.times.last()) else { return self.clone() };
        // Times that differ by rounding are equal.
        let nearest = 1e-9 * (last - first);
        let is_apart = |t: &f64| self.times.iter().all(|other| (t - other).abs() > nearest);
        let mut all = self.times.clone();
        all.extend(times.iter().map(|t| first + t).filter(|t| t > first && t < last).filter(is_apart));
        all.sort_by(f64::total_cmp);
        all.dedup_by(|b, a| (*b - *a).abs() <= nearest);
        let values = all
            .iter()
            .map(|t| match self.times.iter().position(|other| other.total_cmp(t).is_eq()) {
                Some(i) => self.values[i].clone(),
                None => self.values_at(t - first),
            })
            .collect();
        Self { times: all, values, driven: self.driven.clone() }
    }
}

impl Mechanism {
    /// Computes the values of the dependent joints along a motion: the joints on loops that are not in
    /// [`JointTrajectory::driven`]. Joints that are not on loops move as `motion` states. The motion
    /// is returned unchanged if the mechanism has no loops.
    ///
    /// The search at the start of the motion begins at [`Joint::start`](crate::Joint::start). If no joint
    /// has a start value and the loops are closed with all joints at 0, the branch of that position is
    /// followed to the start of the motion.
    ///
    /// # Errors
    /// Returns [`MechanismError::Open`] if the loops cannot be closed at the start of the motion,
    /// [`MechanismError::DeadPoint`] if the driven joints do not determine the motion,
    /// [`MechanismError::UnderDriven`] and [`MechanismError::OverDriven`] for a wrong number of driven
    /// joints, and [`MechanismError::Motion`] if start values, times or options are not valid.
    pub fn solve(
        &self,
        motion: &JointTrajectory,
        options: &LoopOptions,
    ) -> Result<LoopMotion, MechanismError> {
        self.check_starts(&motion.driven)?;
        if self.closures.is_empty() {
            return Ok(LoopMotion { trajectory: motion.clone(), report: None });
        }
        if options.deviation.is_some_and(|d| d.is_nan() || d <= 0.0) {
            let text = "`deviation` must be a length above 0 mm".to_owned();
            return Err(MechanismError::Motion(text));
        }
        let given: Vec<Vec<f64>> = motion.values.iter().map(|v| self.all_values(v)).collect();
        let is_finite = |k: &usize| given.iter().all(|v| v[*k].is_finite());
        if let Some(k) = (0..self.joints.len()).find(|k| !is_finite(k)) {
            let name = &self.joints[k].name;
            let text = format!("joint '{name}' has a value that is not a finite number; correct [motion]");
            return Err(MechanismError::Motion(text));
        }
        let (Some(first), Some(time)) = (given.first(), motion.times.first()) else {
            return Err(MechanismError::Motion("a motion needs values for at least one time".into()));
        };
        let (mut equations, mut now) = self.closed_start(&motion.driven, first, *time)?;
        equations.measure(&now);
        check_mobility(&equations, &now, *time)?;
        let mut branches = if options.branches { equations.branches(&now) } else { vec![now.clone()] };
        let branch = branches.iter().position(|b| equations.is_same(b, &now)).unwrap_or_else(|| {
            branches.push(now.clone());
            branches.len() - 1
        });
        let default_balls: Vec<LinkBall>;
        let balls = if options.balls.is_empty() {
            default_balls = self.default_balls(&now, equations.size);
            &default_balls
        } else {
            &options.balls
        };
        let deviation = options.deviation.unwrap_or(DEFAULT_DEVIATION * equations.size);
        let mut trajectory = JointTrajectory {
            times: vec![*time],
            values: vec![now.clone()],
            driven: (0..self.joints.len()).collect(),
        };
        let mut reached: f64 = 0.0;
        for (times, to) in motion.times.windows(2).zip(&given[1..]) {
            let progress = Progress { times: Some([times[0], times[1]]), first: *time };
            let limits =
                Limits { deviation, balls, pieces: MAX_PIECES.saturating_sub(trajectory.times.len()) };
            let followed = equations.follow(&now, to, &limits, &progress)?;
            reached = reached.max(followed.deviation);
            let at =
                |part: &f64| if *part < 1.0 { times[0] + part * (times[1] - times[0]) } else { times[1] };
            trajectory.times.extend(followed.parts.iter().map(at));
            trajectory.values.extend(followed.values);
            if let Some(last) = trajectory.values.last() {
                now.clone_from(last);
            }
        }
        let error = trajectory.values.iter().map(|v| equations.error(v)).fold(0.0, f64::max);
        let report = LoopReport {
            size: equations.size,
            dependent: equations.unknowns.iter().map(|u| u.joint).collect(),
            pieces: trajectory.times.len() - 1,
            closure_error: error * equations.size,
            deviation: reached,
            branches,
            branch,
        };
        Ok(LoopMotion { trajectory, report: Some(report) })
    }

    /// Checks that the loops are closed for the values of all joints (rad, mm) at all times (s).
    pub(crate) fn check_closed(&self, times: &[f64], values: &[Vec<f64>]) -> Result<(), MechanismError> {
        let Some(first) = values.first().filter(|_| !self.closures.is_empty()) else { return Ok(()) };
        let all: Vec<usize> = (0..self.joints.len()).collect();
        let equations = Equations::new(self, &all, first);
        match times.iter().zip(values).find(|(_, v)| equations.error(v) > MAX_CLOSURE_ERROR) {
            None => Ok(()),
            Some((time, values)) => {
                let remedy = "solve the loops before paths are computed".to_owned();
                Err(open(&equations, values, format!("at {time:.6} s"), remedy))
            }
        }
    }

    /// Checks that all joints with start values are dependent.
    fn check_starts(&self, driven: &[usize]) -> Result<(), MechanismError> {
        let equations = Equations::new(self, driven, &vec![0.0; self.joints.len()]);
        let is_wrong =
            |k: &usize| self.joints[*k].start.is_some() && equations.unknowns.iter().all(|u| u.joint != *k);
        match (0..self.joints.len()).find(is_wrong) {
            None => Ok(()),
            Some(k) => Err(MechanismError::Motion(format!(
                "joint '{}' has a `start` value, but it is not a dependent joint: remove `start`, because a \
                 joint with values in [motion], a joint that mimics another one and a joint outside all \
                 loops have no start value",
                self.joints[k].name
            ))),
        }
    }

    /// Balls of the size of the loops around the first closing point, one for each link.
    fn default_balls(&self, values: &[f64], size: f64) -> Vec<LinkBall> {
        let poses = self.poses(values);
        let Some(closure) = self.closures.first() else { return vec![] };
        let center = poses[closure.links[1]] * closure.point;
        let ball = |link: usize| LinkBall { link, center: poses[link].inverse() * center, radius: size };
        (0..self.links.len()).map(ball).collect()
    }

    /// Closes the loops at the first values of a motion, and returns the values of all joints there.
    fn closed_start(
        &self,
        driven: &[usize],
        first: &[f64],
        time: f64,
    ) -> Result<(Equations<'_>, Vec<f64>), MechanismError> {
        let zero = self.all_values(&vec![0.0; self.joints.len()]);
        let has_start = self.joints.iter().any(|j| j.start.is_some());
        if !has_start {
            let equations = Equations::new(self, driven, &zero);
            let drawn =
                (equations.error(&zero) <= MAX_DRAWING_ERROR).then(|| equations.correct(&zero)).flatten();
            if let Some(drawn) = drawn
                && !is_special(&equations, &drawn)
            {
                check_mobility(&equations, &drawn, time)?;
                let limits = Limits { deviation: f64::INFINITY, balls: &[], pieces: MAX_PIECES };
                let progress = Progress { times: None, first: time };
                let followed = equations.follow(&drawn, first, &limits, &progress)?;
                let last = followed.values.last().cloned().unwrap_or(drawn);
                return Ok((equations, last));
            }
        }
        let mut guess = first.to_vec();
        let equations = Equations::new(self, driven, &zero);
        for unknown in &equations.unknowns {
            guess[unknown.joint] = self.joints[unknown.joint].start.unwrap_or(0.0);
        }
        let guess = self.all_values(&guess);
        let equations = Equations::new(self, driven, &guess);
        let best = equations.assemble(&guess);
        if equations.error(&best) <= CLOSURE_TOLERANCE {
            return Ok((equations, best));
        }
        let at = format!("at {time:.6} s");
        let branches = equations.branches(&guess);
        if branches.is_empty() {
            check_counts(&equations, &varied(&equations, &best))?;
            let remedy = format!(
                "lengthen or move its links, start at other values of the driven joints, or {DIGITS_REMEDY}"
            );
            return Err(open(&equations, &best, at, remedy));
        }
        let dependent: Vec<usize> = equations.unknowns.iter().map(|u| u.joint).collect();
        let list = |branch: &Vec<f64>| listed(self, &dependent, branch);
        let lists: Vec<String> = branches.iter().take(MAX_LISTED_BRANCHES).map(list).collect();
        let remedy = format!(
            "give the dependent joints `start` values near one of the closed positions: {}",
            lists.join("; or ")
        );
        Err(open(&equations, &best, at, remedy))
    }
}

/// Error for a loop that does not close at the given values of all joints.
fn open(equations: &Equations<'_>, values: &[f64], at: String, remedy: String) -> MechanismError {
    let worst = equations.worst(values);
    let [distance, angle] = equations.gap(values, worst);
    let joint = equations.mechanism.closures[worst].name.clone();
    MechanismError::Open { joint, at, distance, angle: angle.to_degrees(), remedy }
}

/// Names and values of joints for a message.
fn listed(mechanism: &Mechanism, joints: &[usize], values: &[f64]) -> String {
    let one = |&k: &usize| {
        let joint = &mechanism.joints[k];
        let (unit, one) = joint.kind.unit();
        format!("{} = {:.6} {unit}", joint.name, values[k] / one)
    };
    if joints.is_empty() {
        "(none)".to_owned()
    } else {
        joints.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

fn names(mechanism: &Mechanism, joints: &[usize]) -> String {
    let names: Vec<String> = joints.iter().map(|k| format!("'{}'", mechanism.joints[*k].name)).collect();
    names.join(", ")
}

/// Derivatives by the unknowns at the given values; `None` without unknowns.
fn decomposition(equations: &Equations<'_>, values: &[f64]) -> Option<Decomposition> {
    let at = equations.position(values);
    Decomposition::new(equations.jacobian(&equations.sensitivities(&at)))
}

/// Whether the unknowns are not determined at the given values, although they are nearby.
fn is_special(equations: &Equations<'_>, values: &[f64]) -> bool {
    let rank = |values: &[f64]| decomposition(equations, values).map_or(0, |d| d.rank());
    rank(values) < equations.unknowns.len() && rank(&varied(equations, values)) == equations.unknowns.len()
}

/// Values near `values` that are not a special position of the joints. The loops may be open there.
fn varied(equations: &Equations<'_>, values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    for (i, k) in equations.loop_joints().into_iter().enumerate() {
        let k = source(equations.mechanism, k).0;
        // Multiples of an irrational number: sums of different joints differ.
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let factor = 1.0 + (0.754_877_666_246_692_8 * (i + 1) as f64).fract();
        let (_, unit) = equations.mechanism.joints[k].kind.unit();
        let length = if unit < 1.0 { VARIATION } else { VARIATION * equations.size };
        values[k] += factor * length;
    }
    equations.mechanism.all_values(&values)
}

/// Checks that the driven joints determine the motion at closed loops.
fn check_mobility(equations: &Equations<'_>, values: &[f64], time: f64) -> Result<(), MechanismError> {
    if is_special(equations, values) {
        let progress = Progress { times: Some([time, time]), first: time };
        return Err(progress.dead_point(equations, values, 0.0));
    }
    check_counts(equations, values)
}

/// Checks the number of driven joints by the ranks of the equations at the given values.
fn check_counts(equations: &Equations<'_>, values: &[f64]) -> Result<(), MechanismError> {
    let at = equations.position(values);
    let sensitivities = equations.sensitivities(&at);
    let count = equations.unknowns.len();
    let of_unknowns = Decomposition::new(equations.jacobian(&sensitivities));
    let rank = of_unknowns.as_ref().map_or(0, Decomposition::rank);
    if let Some(d) = of_unknowns.as_ref().filter(|_| rank < count) {
        let freedom = d.freedom();
        let free = equations.unknowns.iter().zip(&freedom).filter(|(_, f)| **f > 1e-6);
        let joints: Vec<usize> = free.map(|(u, _)| u.joint).collect();
        let joints = names(equations.mechanism, &joints);
        return Err(MechanismError::UnderDriven { missing: count - rank, joints });
    }
    // Driven joints whose motion the dependent joints cannot follow.
    let driven = equations.with_unknowns(&equations.driven_joints());
    let outside: Vec<_> = {
        let columns = driven.jacobian(&sensitivities);
        let outside = |c: usize| {
            let column = columns.column(c).clone_owned();
            of_unknowns.as_ref().map_or_else(|| column.clone(), |d| d.outside(&column))
        };
        (0..columns.ncols()).map(outside).collect()
    };
    let scale = outside.iter().map(|c| c.norm()).fold(0.0, f64::max);
    if outside.is_empty() || scale <= 1e-6 {
        return Ok(());
    }
    let excess = Decomposition::new(nalgebra::DMatrix::from_columns(&outside)).map_or(0, |d| d.rank());
    let driven = driven.unknowns.iter().zip(&outside).filter(|(_, c)| c.norm() > 1e-6);
    let driven: Vec<usize> = driven.map(|(u, _)| u.joint).collect();
    Err(MechanismError::OverDriven { excess, joints: names(equations.mechanism, &driven) })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "test code")]
mod tests;
