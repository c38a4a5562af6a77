//! Worlds of rigid bodies, and time steps.

use crate::body::RigidBody;
use crate::cone::{self, Row, Unsolved};
use crate::coupling::Coupling;
use crate::error::DynamicsError;
use crate::id::RigidBodyId;
use feeler_geom::{P3, Pose, V3};
use feeler_runtime::{Contact, ContactKind, ContactTracker, StepBound, TrackedStatus, TrackerOptions};
use nalgebra::{DMatrix, DVector, Matrix3};

/// Parameters of the steps of a world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorldSettings {
    /// Acceleration (mm/s²) of all moving bodies by gravity.
    pub gravity: V3,
    /// Coefficient of friction of all contacts, at least 0.
    pub friction: f64,
    /// Largest depth (mm) of a contact that counts as open, above 0. The rounds of a step continue until
    /// no contact is deeper.
    pub tolerance: f64,
    /// Maximum number of rounds of a step, at least 1. In each round the velocities are solved once.
    pub rounds: u32,
    /// Distance (mm) within which contacts are found, in addition to the motion of a step; above 0.
    pub reach: f64,
}

impl Default for WorldSettings {
    /// Gravity on earth along −z, without friction.
    fn default() -> Self {
        Self { gravity: V3::new(0.0, 0.0, -9_810.0), friction: 0.0, tolerance: 1e-6, rounds: 4, reach: 0.05 }
    }
}

/// Report of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Number of rounds. For a step that was halved, it is the sum over all parts and over the attempts
    /// before they were halved.
    pub rounds: u32,
    /// Number of contacts (strict minima) at the end of the step whose gaps are within
    /// [`WorldSettings::reach`] or could be closed by a further step of equal duration at twice the
    /// closing speed.
    pub contacts: usize,
    /// Number of contacts that exert an impulse in the step, or in the last part of a step that was
    /// halved.
    pub loaded: usize,
    /// Smallest gap (mm) of the strict minima at the end of the step, or of any part of a step that was
    /// halved; infinite without a contact.
    pub smallest_gap: f64,
    /// Whether bodies interfere at the end of the step, or of any part of a step that was halved, although
    /// none of their contacts has a negative gap. The step has then been halved as often as possible.
    pub interferes: bool,
    /// Whether the constraints of the contacts contradict one another, so that no velocities keep all
    /// gaps open, or the solver did not converge. The step has then been halved as often as possible,
    /// and its unsolved parts have the velocities of their last round with a solution, or those of a
    /// motion without contacts.
    pub unsolved: bool,
}

/// Two bodies with the tracker of their contacts; body A is the first one.
#[derive(Debug)]
struct Pair {
    bodies: [RigidBodyId; 2],
    tracker: ContactTracker,
    /// Upper bound of the relative motion of the bodies in the current step.
    bound: StepBound,
}

/// A contact of two bodies of a [`World`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorldContact {
    /// Ids of the bodies A and B.
    pub bodies: [RigidBodyId; 2],
    /// The contact as its tracker reports it.
    pub contact: Contact,
}

/// Maximum number of times that a step is halved. With a larger value, unsolvable steps are slower; with
/// a smaller one, more steps end with interference or contradicting contacts.
const MAX_HALVINGS: u32 = 6;

/// Number of rounds of a step that compute the velocities closest to those of a motion without contacts.
/// Later rounds compute the velocities closest to those of the round before, which opens gaps at once
/// but neglects friction. With a larger value, narrow fits need more rounds; with a smaller one,
/// friction is less exact.
const SOLVED_FROM_START: u32 = 2;

/// Displacement (mm) by which the bound of a step's motion exceeds the motion without contacts. It is
/// also the gap below which samples of conformal sets are always constraints; samples with larger gaps
/// are constraints only if their closing speed is large enough. With a larger value, bodies at rest have
/// more contacts; with a smaller one, more steps are computed again.
const MIN_DISPLACEMENT: f64 = 1e-3;

/// Contact as a constraint on the velocities of the step; `pair` is the index of its two bodies among
/// the pairs of the world.
#[derive(Clone, Debug)]
struct Constraint {
    pair: usize,
    id: u64,
    points: [P3; 2],
    normal: V3,
    gap: f64,
    is_sample: bool,
    /// Velocities over the step that lead to the poses at which the contact was found; `None` if it was
    /// found at the start of the step.
    at: Option<DVector<f64>>,
}

/// Contacts of all pairs of bodies at given poses.
#[derive(Debug)]
struct Found {
    /// Constraints of the contacts.
    constraints: Vec<Constraint>,
    /// Smallest gap (mm) of the contacts that are strict minima; infinite without one.
    smallest_gap: f64,
    /// Whether any two bodies interfere although none of their contacts has a negative gap.
    is_hidden: bool,
}

/// Rigid bodies with their motions and contacts.
#[derive(Debug, Default)]
pub struct World {
    bodies: Vec<RigidBody>,
    pairs: Vec<Pair>,
    /// Couplings between bodies and their targets.
    pub couplings: Vec<Coupling>,
    /// Parameters of the steps.
    pub settings: WorldSettings,
    contacts: Vec<WorldContact>,
    /// Clock (s) that measures the time of contact detection.
    pub clock: Option<fn() -> f64>,
    query_time: f64,
}

impl World {
    /// Creates a world without bodies.
    #[must_use]
    pub fn new(settings: WorldSettings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Adds a body. Contacts are tracked for its pairs with all other bodies, unless both bodies are
    /// fixed.
    pub fn add(&mut self, body: RigidBody) -> RigidBodyId {
        let id = RigidBodyId(self.bodies.len());
        for (k, other) in self.bodies.iter().enumerate() {
            if other.moves() || body.moves() {
                let (a, b) = (other.body.clone(), body.body.clone());
                let tracker = ContactTracker::new(a, b, TrackerOptions::default());
                self.pairs.push(Pair { bodies: [RigidBodyId(k), id], tracker, bound: StepBound::default() });
            }
        }
        self.bodies.push(body);
        id
    }

    /// Returns the body with an id.
    #[must_use]
    pub fn body(&self, id: RigidBodyId) -> &RigidBody {
        &self.bodies[id.0]
    }

    /// Returns the body with an id, to set its pose and velocities.
    pub fn body_mut(&mut self, id: RigidBodyId) -> &mut RigidBody {
        &mut self.bodies[id.0]
    }

    /// Contacts at the end of the last step: a set that suffices for a further step with the same bounds
    /// of the motion.
    #[must_use]
    pub fn contacts(&self) -> &[WorldContact] {
        &self.contacts
    }

    /// Time (s) spent on contact detection in all steps, measured by [`World::clock`]; 0 without a
    /// clock.
    #[must_use]
    pub fn query_time(&self) -> f64 {
        self.query_time
    }

    /// Sum of the kinetic and potential energy (µJ) of all moving bodies; the potential is 0 at the
    /// origin of the world.
    #[must_use]
    pub fn energy(&self) -> f64 {
        let one = |b: &RigidBody| {
            b.kinetic_energy() - b.mass().map_or(0.0, |m| m * self.settings.gravity.dot(&b.center().coords))
        };
        self.bodies.iter().map(one).sum()
    }

    /// Advances the world by a time (s).
    ///
    /// The first round computes the velocities from the gaps at the start of the step, linearised. If
    /// the resulting motion exceeds the bound for which these contacts suffice, the contacts for a
    /// larger bound are computed. Gaps at the end of the step differ from the linearised ones by terms
    /// of second order. Therefore the contacts at the end are computed and the velocities are solved
    /// again, in up to [`WorldSettings::rounds`] rounds. If bodies interfere at the end without a
    /// contact, or contacts contradict one another, the step is halved.
    ///
    /// # Errors
    /// [`DynamicsError`] for invalid settings, steps and poses. The world is then unchanged or, if the
    /// step was halved, in the state after the last part without an error.
    pub fn step(&mut self, time: f64) -> Result<StepReport, DynamicsError> {
        self.check(time)?;
        self.advance(time, MAX_HALVINGS)
    }

    fn advance(&mut self, time: f64, halvings: u32) -> Result<StepReport, DynamicsError> {
        let (report, v) = self.attempt(time)?;
        if halvings > 0 && (report.interferes || report.unsolved) {
            let first = self.advance(0.5 * time, halvings - 1)?;
            let second = self.advance(0.5 * time, halvings - 1)?;
            return Ok(StepReport {
                rounds: report.rounds + first.rounds + second.rounds,
                smallest_gap: first.smallest_gap.min(second.smallest_gap),
                interferes: first.interferes || second.interferes,
                unsolved: first.unsolved || second.unsolved,
                ..second
            });
        }
        self.accept(&v, time);
        Ok(report)
    }

    /// Computes the velocities of all moving bodies over a step of `time` (s), and the report of the
    /// step. The bodies do not move.
    fn attempt(&mut self, time: f64) -> Result<(StepReport, DVector<f64>), DynamicsError> {
        let start: Vec<Pose> = self.bodies.iter().map(|b| b.pose).collect();
        let (mass, force) = self.free_motion(time);
        let mut v = mass.clone().cholesky().map_or_else(|| force.clone(), |c| c.solve(&force));
        self.bound_motions(&start, &self.poses_after(&v, time));
        let mut report = StepReport::default();
        let mut constraints = self.constraints(&start, None)?.constraints;
        let before = self.current_velocities();
        constraints.retain(|c| self.may_close(c, time, &before) || self.may_close(c, time, &v));
        let mut sliding: Vec<f64> = vec![0.0; constraints.len()];
        let mut impulses: Vec<f64> = Vec::new();
        for round in 1..=self.settings.rounds {
            report.rounds = round;
            // The least change of the velocities without contacts only halves the penetration of narrow
            // fits from round to round. The least change of the last velocities that opens the gaps
            // removes the penetration at once.
            let is_repair = round > SOLVED_FROM_START;
            let row = |(c, s): (&Constraint, &f64)| {
                if is_repair { self.row(c, time, None) } else { self.row(c, time, Some(*s)) }
            };
            let rows: Vec<Row> = constraints.iter().zip(&sliding).map(row).collect();
            let from = if is_repair { &mass * &v } else { force.clone() };
            match cone::solve(&mass, &from, &rows) {
                Ok((solved, found)) => {
                    v = solved;
                    if !is_repair {
                        impulses = found;
                    }
                }
                Err(Unsolved::Contradiction | Unsolved::NotConverged) => {
                    report.unsolved = true;
                    break;
                }
            }
            let end = self.poses_after(&v, time);
            if round < self.settings.rounds && self.widen_bounds(&start, &end) {
                // The contacts of the start do not suffice for this motion.
                let wider = self.constraints(&start, None)?.constraints;
                let slid = rows.iter().map(|r| r.sliding(&v)).collect();
                (constraints, sliding) = renewed(constraints, slid, wider);
                continue;
            }
            let mut found = self.constraints(&end, Some(&v))?;
            found.constraints.retain(|c| self.may_close(c, time, &v));
            report.interferes = found.is_hidden;
            report.contacts = found.constraints.len();
            report.smallest_gap = found.smallest_gap;
            let slid: Vec<f64> =
                if is_repair { sliding.clone() } else { rows.iter().map(|r| r.sliding(&v)).collect() };
            let settled =
                slid.iter().zip(&sliding).all(|(a, b)| (a - b).abs() * time <= self.settings.tolerance);
            let is_open = report.smallest_gap >= -self.settings.tolerance;
            if report.interferes || (is_open && (settled || is_repair)) {
                break;
            }
            (constraints, sliding) = renewed(constraints, slid, found.constraints);
        }
        report.loaded = impulses.iter().filter(|i| **i > 0.0).count();
        Ok((report, v))
    }

    fn check(&self, time: f64) -> Result<(), DynamicsError> {
        let s = &self.settings;
        if !(time.is_finite() && time > 0.0) {
            return Err(DynamicsError::Step(time));
        }
        let is_length = |x: f64| x.is_finite() && x > 0.0;
        let is_thickness = |x: f64| x.is_finite() && x >= 0.0;
        if let Some(k) = self.bodies.iter().position(|b| !is_thickness(b.dilation)) {
            return Err(DynamicsError::Dilation { body: RigidBodyId(k), dilation: self.bodies[k].dilation });
        }
        match () {
            () if !s.gravity.iter().all(|x| x.is_finite()) => {
                Err(DynamicsError::Setting("gravity is not finite"))
            }
            () if !(s.friction.is_finite() && s.friction >= 0.0) => {
                Err(DynamicsError::Setting("the coefficient of friction is negative or not finite"))
            }
            () if !is_length(s.tolerance) => {
                Err(DynamicsError::Setting("the tolerance is not finite and above 0 mm"))
            }
            () if !is_length(s.reach) => {
                Err(DynamicsError::Setting("the reach is not finite and above 0 mm"))
            }
            () if s.rounds == 0 => Err(DynamicsError::Setting("rounds is 0; give at least 1")),
            () => Ok(()),
        }
    }

    /// Returns the mass matrix and the momentum of a step of `time` (s) without contacts. The solution v
    /// of `mass · v = force` contains the velocities at the end of the step, six for each moving body.
    /// Springs and dampers are evaluated at the end of the step, that is implicitly.
    fn free_motion(&self, time: f64) -> (DMatrix<f64>, DVector<f64>) {
        let velocity_indices = self.velocity_indices();
        let n = 6 * velocity_indices.iter().flatten().count();
        let (mut mass, mut force) = (DMatrix::zeros(n, n), DVector::zeros(n));
        for (b, place) in self.bodies.iter().zip(&velocity_indices) {
            let (Some(i), Some(m)) = (*place, &b.mass) else { continue };
            let inertia = b.world_inertia();
            mass.fixed_view_mut::<3, 3>(i, i).copy_from(&(Matrix3::identity() * m.mass));
            mass.fixed_view_mut::<3, 3>(i + 3, i + 3).copy_from(&inertia);
            let momentum = m.mass * (b.velocity + self.settings.gravity * time);
            let turning = inertia * b.spin;
            force.fixed_rows_mut::<3>(i).copy_from(&momentum);
            force.fixed_rows_mut::<3>(i + 3).copy_from(&(turning - b.spin.cross(&turning) * time));
        }
        for c in &self.couplings {
            let b = &self.bodies[c.body.0];
            let (Some(i), Some(m)) = (velocity_indices[c.body.0], &b.mass) else { continue };
            let away = (c.target * m.center) - b.center();
            let turned = (c.target.rotation * b.pose.rotation.inverse()).scaled_axis();
            let (implicit_mass, implicit_inertia) = (
                time * c.damping + time * time * c.stiffness,
                time * c.turning_damping + time * time * c.turning_stiffness,
            );
            for k in 0..3 {
                mass[(i + k, i + k)] += implicit_mass;
                mass[(i + 3 + k, i + 3 + k)] += implicit_inertia;
                force[i + k] += time * (c.stiffness * away[k] + c.damping * c.velocity[k])
                    + time * time * c.stiffness * c.velocity[k];
                force[i + 3 + k] += time * c.turning_stiffness * turned[k];
            }
        }
        (mass, force)
    }

    /// Index of the first of the six velocities of each body in vectors of velocities; `None` for fixed
    /// bodies.
    fn velocity_indices(&self) -> Vec<Option<usize>> {
        let mut next = 0;
        let place = |b: &RigidBody| {
            b.moves().then(|| {
                next += 6;
                next - 6
            })
        };
        self.bodies.iter().map(place).collect()
    }

    fn velocities(&self, v: &DVector<f64>) -> Vec<[V3; 2]> {
        let of = |p: &Option<usize>| {
            p.map_or([V3::zeros(); 2], |i| {
                [v.fixed_rows::<3>(i).into_owned(), v.fixed_rows::<3>(i + 3).into_owned()]
            })
        };
        self.velocity_indices().iter().map(of).collect()
    }

    /// Present velocities of all moving bodies, six for each: the velocity of the centre of mass, then
    /// the angular velocity.
    fn current_velocities(&self) -> DVector<f64> {
        let moving = self.bodies.iter().filter(|b| b.moves());
        let all: Vec<f64> = moving.flat_map(|b| b.velocity.iter().chain(b.spin.iter()).copied()).collect();
        DVector::from_vec(all)
    }

    /// Whether a contact becomes a constraint: its gap may decrease to [`WorldSettings::reach`], for a
    /// sample to [`MIN_DISPLACEMENT`], within a step of `time` (s) at twice the closing speed that
    /// follows from the velocities `v`. Other contacts that close are found at the end of the step.
    fn may_close(&self, c: &Constraint, time: f64, v: &DVector<f64>) -> bool {
        let closing = -self.row(c, time, None).normal.dot(v);
        // A sample matters only if it closes, because the minimum beside it is a constraint.
        let reach = if c.is_sample { MIN_DISPLACEMENT } else { self.settings.reach };
        c.gap <= reach + 2.0 * time * closing.max(0.0)
    }

    /// Sets the motion bound of each pair of bodies to that of the motion from the poses `start` to
    /// `end`, which is the step's motion without contacts, enlarged by [`MIN_DISPLACEMENT`].
    fn bound_motions(&mut self, start: &[Pose], end: &[Pose]) {
        for pair in &mut self.pairs {
            let made = relative_motion(pair, start, end);
            let [a, b] = pair.tracker.bodies();
            let arm = 0.5 * a.size().min(b.size());
            let displacement = made.displacement + MIN_DISPLACEMENT;
            let rotation = made.rotation + MIN_DISPLACEMENT / arm;
            pair.bound = StepBound { rotation, displacement }.rounded_up();
        }
    }

    /// Widens the motion bounds of the pairs of bodies whose motion from the poses `start` to `end`
    /// exceeds them. Returns whether a bound has changed.
    fn widen_bounds(&mut self, start: &[Pose], end: &[Pose]) -> bool {
        let mut is_wider = false;
        for pair in &mut self.pairs {
            let made = relative_motion(pair, start, end);
            if !pair.bound.contains(&made) {
                pair.bound = pair.bound.max(&made.rounded_up());
                is_wider = true;
            }
        }
        is_wider
    }

    fn poses_after(&self, v: &DVector<f64>, time: f64) -> Vec<Pose> {
        self.bodies.iter().zip(self.velocities(v)).map(|(b, [v, w])| b.moved(&v, &w, time)).collect()
    }

    /// Computes the contacts of all bodies at `poses` that suffice for motions within the bounds of
    /// their pairs, and stores them as [`World::contacts`]. `at` are the velocities that lead to these
    /// poses; if it is given, only strict minima become constraints. `None` at the start of the step.
    fn constraints(&mut self, poses: &[Pose], at: Option<&DVector<f64>>) -> Result<Found, DynamicsError> {
        let mut found = Found { constraints: Vec::new(), smallest_gap: f64::INFINITY, is_hidden: false };
        self.contacts.clear();
        let begin = self.clock.map(|clock| clock());
        for (k, pair) in self.pairs.iter_mut().enumerate() {
            let [a, b] = pair.bodies.map(|id| (&self.bodies[id.0].body, &poses[id.0]));
            let dilations = pair.bodies.map(|id| self.bodies[id.0].dilation);
            let reach = self.settings.reach;
            // Largest distance of contacts between the solids without their layers.
            let d_max = reach.max(pair.bound.displacement) + dilations[0] + dilations[1];
            let [box_a, box_b] = [a, b].map(|(body, pose)| body.posed_bounds(pose));
            let apart = (box_a.min - box_b.max).sup(&(box_b.min - box_a.max)).max();
            if apart > d_max {
                pair.tracker.clear();
                continue;
            }
            let named = |error| DynamicsError::Query { pair: pair.bodies, error };
            let options = TrackerOptions { reach, dilations, ..TrackerOptions::default() };
            pair.tracker.set_options(options);
            // Rounding of world coordinates moves the contacts.
            let offset = a.1.translation.vector.amax().max(b.1.translation.vector.amax());
            pair.tracker.check_coordinates(offset).map_err(named)?;
            pair.tracker.update(a.1, b.1, pair.bound).map_err(named)?;
            found.is_hidden |= pair.tracker.status() == TrackedStatus::Interfering;
            for c in pair.tracker.contacts() {
                self.contacts.push(WorldContact { bodies: pair.bodies, contact: *c });
                // Other contacts at the end belong to the next step.
                if c.kind.is_minimum() {
                    found.smallest_gap = found.smallest_gap.min(c.gap);
                } else if at.is_some() {
                    continue;
                }
                found.constraints.push(Constraint {
                    pair: k,
                    id: c.id,
                    points: [c.point_a + c.normal * dilations[0], c.point_b - c.normal * dilations[1]],
                    normal: c.normal,
                    gap: c.gap,
                    is_sample: c.kind == ContactKind::Sample,
                    at: at.cloned(),
                });
            }
        }
        if let (Some(clock), Some(begin)) = (self.clock, begin) {
            self.query_time += clock() - begin;
        }
        Ok(found)
    }

    /// Constraint on the velocities that the gap of a contact is not negative at the end of a step of
    /// `time` (s). It includes friction if `sliding` is given: the sliding speed times the coefficient
    /// of friction in the previous round, which compensates the opening of the gap by the cone of
    /// friction.
    fn row(&self, c: &Constraint, time: f64, sliding: Option<f64>) -> Row {
        let velocity_indices = self.velocity_indices();
        let n = 6 * velocity_indices.iter().flatten().count();
        let line = |direction: &V3| {
            let mut line = DVector::zeros(n);
            let bodies = self.pairs[c.pair].bodies;
            for (side, sign) in [(0, -1.0), (1, 1.0)] {
                let Some(i) = velocity_indices[bodies[side].0] else { continue };
                // Lever arm from the centre of mass to the footpoint, for the pose at which the
                // footpoints were found.
                let body = &self.bodies[bodies[side].0];
                let moved = c.at.as_ref().map_or(V3::zeros(), |v| v.fixed_rows::<3>(i).into_owned() * time);
                let arm = c.points[side] - (body.center() + moved);
                line.fixed_rows_mut::<3>(i).copy_from(&(direction * sign));
                line.fixed_rows_mut::<3>(i + 3).copy_from(&(arm.cross(direction) * sign));
            }
            line
        };
        let normal = line(&c.normal);
        let gap = c.gap / time - c.at.as_ref().map_or(0.0, |v| normal.dot(v)) + sliding.unwrap_or(0.0);
        let mu = self.settings.friction;
        let tangents = (mu > 0.0 && sliding.is_some()).then(|| {
            let other = if c.normal.x.abs() < c.normal.y.abs() { V3::x() } else { V3::y() };
            let s = c.normal.cross(&other).normalize();
            let t = c.normal.cross(&s);
            [line(&s) * mu, line(&t) * mu]
        });
        Row { normal, gap, tangents }
    }

    fn accept(&mut self, v: &DVector<f64>, time: f64) {
        let poses = self.poses_after(v, time);
        let velocities = self.velocities(v);
        for ((body, pose), [velocity, spin]) in self.bodies.iter_mut().zip(poses).zip(velocities) {
            if body.moves() {
                (body.pose, body.velocity, body.spin) = (pose, velocity, spin);
            }
        }
    }
}

/// Bounds of the motion of a pair's second body relative to the first one, as all bodies move from the
/// poses `start` to `end`.
fn relative_motion(pair: &Pair, start: &[Pose], end: &[Pose]) -> StepBound {
    let [a, b] = pair.bodies.map(|id| id.0);
    let bodies = pair.tracker.bodies().map(|body| body.as_ref());
    StepBound::of_motion(bodies, &start[a].inv_mul(&start[b]), &end[a].inv_mul(&end[b]))
}

/// Constraints of the next round and their sliding speeds: the constraints `found` at the end of the
/// step, and the earlier ones that are missing among them. Such a contact may be out of reach only
/// because its constraint has kept it open.
fn renewed(earlier: Vec<Constraint>, slid: Vec<f64>, found: Vec<Constraint>) -> (Vec<Constraint>, Vec<f64>) {
    let mut sliding: Vec<f64> = found
        .iter()
        .map(|c| {
            let same = earlier.iter().position(|e| (e.pair, e.id) == (c.pair, c.id));
            same.map_or(0.0, |k| slid[k])
        })
        .collect();
    let mut all = found;
    let fresh = all.len();
    for (c, s) in earlier.into_iter().zip(slid) {
        if !all[..fresh].iter().any(|f| (f.pair, f.id) == (c.pair, c.id)) {
            all.push(c);
            sliding.push(s);
        }
    }
    (all, sliding)
}
