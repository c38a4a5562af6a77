//! Prediction of gaps at the end of a step.

use super::ContactTracker;
use crate::api::contact::Contact;
use crate::body::Body;
use feeler_geom::{P3, Pose, Twist, V3};
use nalgebra::{Matrix3, Translation3};

/// Prediction of the gaps at the end of a step, for engines whose contacts exert forces in a step only
/// if they are closed at the beginning of the step.
#[derive(Clone, Debug, Default)]
pub struct GapPrediction {
    /// Constraints that the contacts of the last update put on the motion of B, in the order of the
    /// contacts.
    rows: Vec<Row>,
    loads: Loads,
    /// Predicted gaps (mm) of the contacts at the end of the step.
    gaps: Vec<f64>,
}

/// A relative displacement of B in one step, in A's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Displacement {
    /// Displacement (mm) of the movable solid's centre of mass, [`Mobility::center`].
    shift: V3,
    /// Rotation vector (rad).
    spin: V3,
}

/// Motion of B in a step that is limited by contacts.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ConstrainedMotion {
    /// Displacement of B in the whole step.
    moved: Displacement,
    /// Velocity of B at the end of the step, as its displacement in a whole step.
    velocity: Displacement,
}

/// Inverse mass and inertia of the lighter of two solids of equal density. The other solid counts as
/// fixed, because a movable one would soften impacts and so hide contacts.
#[derive(Clone, Copy, Debug)]
struct Mobility {
    /// Centre of mass of the movable solid in A's frame.
    center: P3,
    /// Inverse mass at unit density.
    inverse_mass: f64,
    /// Inverse of the movable solid's inertia about its centre of mass at unit density, in A's axes.
    inverse_inertia: Matrix3<f64>,
}

/// Constraint of a contact on a displacement of B: `normal · shift + lever · spin + gap ≥ 0` (mm).
#[derive(Clone, Copy, Debug)]
struct Row {
    normal: V3,
    lever: V3,
    gap: f64,
}

/// Impulses of the contacts in a prediction, and their effects on the gaps.
#[derive(Clone, Debug, Default)]
struct Loads {
    /// Impulse of each contact in that part of the step (see [`PARTS`]) that was solved last.
    part: Vec<f64>,
    /// For each contact, the length (mm) by which its own impulses increase its gap until the end of the
    /// step.
    opened: Vec<f64>,
}

/// Number of parts of a step, each with its own impacts. A larger value is slower; with a smaller one,
/// successive impacts count as simultaneous.
const PARTS: u32 = 8;
/// Duration of one part, as a fraction of the step: 1 / [`PARTS`].
const PART: f64 = 0.125;
/// Largest change of the displacement from step to step, as a fraction of the displacement, that is
/// extrapolated. An impact changes it by more. A larger value extrapolates impacts; with a smaller one,
/// bodies that start to fall close gaps by the displacement that gravity adds in a step.
const MAX_CHANGE: f64 = 0.25;
/// Maximum number of solutions of one step. Contacts that close in one solution count as closed from the
/// start of the step in the next solution. A larger value is slower; a smaller one misses impacts that
/// follow from others.
const MAX_ROUNDS: u32 = 4;
/// Maximum number of sweeps of the solver over the contacts. A larger value is slower; with a smaller one,
/// the constraints of contacts in sharp wedges are violated.
const MAX_SWEEPS: u32 = 256;
/// Largest change of a gap (mm, converted to a whole step) by one sweep over all contacts at which the
/// sweeps end. Predictions have errors of this size, and a smaller value is slower.
const SWEEP_CHANGE: f64 = 1e-6;
/// Upper bound (mm) of the displacement of a step at or below which impacts are not predicted, because
/// no gap closes by more than that. With a larger value, slow impacts close gaps by that displacement; a
/// smaller one is slower at rest.
const MIN_MOTION: f64 = 5e-4;

impl GapPrediction {
    /// Computes for each contact of the last update the gap (mm) at the end of the step as if that
    /// contact exerted no force, in the order of [`ContactTracker::contacts`].
    ///
    /// The gap is the smaller one of two predictions: the bodies continue with the displacement of the
    /// last step, or with its change added. `before` contains the poses of B in A's frame one and two
    /// steps earlier, if they are known; without the first one, the gaps of the last update are returned.
    /// If `is_free` is set, the bodies have no joints, and the prediction includes the rotations by
    /// impacts on the other contacts.
    pub fn gaps(&mut self, tracker: &ContactTracker, before: [Option<&Pose>; 2], is_free: bool) -> &[f64] {
        let [a, b] = tracker.bodies();
        self.gaps.clear();
        self.gaps.extend(tracker.contacts().iter().map(|c| c.gap));
        if let (Some(last), [Some(one), two]) = (&tracker.last, before) {
            let now = &last.pose_ab;
            let mobility = Mobility::new(a, b, now);
            let radius = a.size().min(b.size());
            let motion = mobility.between(one, now);
            let change = two.map(|two| motion.minus(&mobility.between(two, one)));
            // The acceleration of a falling body continues; that of an impact does not.
            let max_change = MAX_CHANGE * motion.reach(radius);
            let change = change.filter(|change| change.reach(radius) <= max_change);
            let faster = change.map(|change| motion.plus(&change));
            self.rows.clear();
            // Solvers correct penetrations slowly, so a negative gap counts as closed.
            let row = |c: &Contact| mobility.row(&c.local_normal, &(now * c.local_b), c.gap.max(0.0));
            self.rows.extend(tracker.contacts().iter().map(row));
            for free in std::iter::once(motion).chain(faster) {
                for ((gap, row), c) in self.gaps.iter_mut().zip(&self.rows).zip(tracker.contacts()) {
                    *gap = gap.min(c.gap + row.rate(&free));
                }
                // An open gap that closes is an impact, which rotates the bodies.
                let is_impact = self.rows.iter().any(|row| row.gap_after(&free) < 0.0);
                if is_free && is_impact && free.reach(radius) > MIN_MOTION {
                    self.solve(&mobility, &free);
                }
            }
        }
        &self.gaps
    }

    /// Lowers `gaps` to the gaps after the displacement `free`, limited by the contacts, if these are
    /// smaller. The gap of a contact is that without its own impulses. A contact that closes within the
    /// step acts from the start of the step, because the engine receives it as closed.
    fn solve(&mut self, mobility: &Mobility, free: &Displacement) {
        for _ in 0..MAX_ROUNDS {
            let motion = mobility.constrain(free, &self.rows, &mut self.loads);
            let mut has_closed = false;
            for ((gap, row), opened) in self.gaps.iter_mut().zip(&mut self.rows).zip(&self.loads.opened) {
                *gap = gap.min(row.gap_after(&motion.moved) - opened);
                if *gap < -MIN_MOTION && row.gap > 0.0 {
                    row.gap = 0.0;
                    has_closed = true;
                }
            }
            if !has_closed {
                break;
            }
        }
    }
}

impl Mobility {
    fn new(a: &Body, b: &Body, pose_ab: &Pose) -> Self {
        let volume = |body: &Body| body.hierarchy().info.volume.abs();
        let is_b = volume(b) <= volume(a);
        let (body, pose) = if is_b { (b, *pose_ab) } else { (a, Pose::identity()) };
        let info = &body.hierarchy().info;
        let solid = info.inertia.and_then(|i| {
            let tensor = Matrix3::from_fn(|r, c| i.tensor[r][c]);
            Some((P3::from(i.centroid), 1.0 / info.volume, tensor.try_inverse()?))
        });
        // A sheet has no mass, so a ball of its size replaces it.
        let bounds = body.bounds();
        let size = body.size().max(f64::MIN_POSITIVE);
        let ball = (bounds.center(), 1.0, Matrix3::identity() * (10.0 / (size * size)));
        let (center, inverse_mass, inverse_inertia) =
            solid.filter(|s| s.1.is_finite() && s.1 > 0.0).unwrap_or(ball);
        let axes = pose.rotation.to_rotation_matrix();
        Self {
            center: pose * center,
            inverse_mass,
            inverse_inertia: axes.matrix() * inverse_inertia * axes.matrix().transpose(),
        }
    }

    /// Displacement of B between two poses in A's frame.
    fn between(&self, before: &Pose, now: &Pose) -> Displacement {
        let material = now.inverse_transform_point(&self.center);
        Displacement {
            shift: self.center - before * material,
            spin: Twist::log(&Pose::from_parts(
                Translation3::identity(),
                now.rotation * before.rotation.inverse(),
            ))
            .w,
        }
    }

    /// Constraint of a contact with this normal and gap (mm); `point` is the footpoint on B in A's frame.
    fn row(&self, normal: &V3, point: &P3, gap: f64) -> Row {
        Row { normal: *normal, lever: (point - self.center).cross(normal), gap }
    }

    /// Limits the displacement `free` of a step so that the contacts' gaps stay non-negative. Impacts in
    /// different parts of the step are successive: each of them changes the velocity in the following
    /// parts. The impulses are stored in `loads`.
    fn constrain(&self, free: &Displacement, rows: &[Row], loads: &mut Loads) -> ConstrainedMotion {
        let mut motion = ConstrainedMotion { moved: Displacement::zero(), velocity: *free };
        loads.opened.clear();
        loads.opened.resize(rows.len(), 0.0);
        for k in 0..PARTS {
            self.solve_part(&mut motion.velocity, &motion.moved, rows, &mut loads.part);
            motion.moved = motion.moved.plus(&motion.velocity.times(PART));
            // An impulse changes the velocity for the rest of the step.
            let rest = PART * f64::from(PARTS - k);
            for ((row, load), opened) in rows.iter().zip(&loads.part).zip(&mut loads.opened) {
                *opened += rest * load * self.compliance(row);
            }
        }
        motion
    }

    /// Increase of a contact's own gap in a whole step (mm) by a unit impulse of this contact.
    fn compliance(&self, row: &Row) -> f64 {
        self.inverse_mass + row.lever.dot(&(self.inverse_inertia * row.lever))
    }

    /// Changes the velocity `v` by the impulses with which the gaps stay non-negative in one part of the
    /// step, by projected Gauss–Seidel sweeps. The result is the velocity nearest to the given one in
    /// terms of kinetic energy. `moved` is the displacement in the earlier parts; `loads` gets the
    /// impulses.
    fn solve_part(&self, v: &mut Displacement, moved: &Displacement, rows: &[Row], loads: &mut Vec<f64>) {
        loads.clear();
        loads.resize(rows.len(), 0.0);
        for _ in 0..MAX_SWEEPS {
            let mut change = 0.0_f64;
            for (row, load) in rows.iter().zip(loads.iter_mut()) {
                let push = self.inverse_inertia * row.lever;
                let compliance = self.compliance(row);
                let gap = row.gap_after(moved) / PART + row.rate(v);
                let more = (-gap / compliance).max(-*load);
                *load += more;
                v.shift += row.normal * (more * self.inverse_mass);
                v.spin += push * more;
                change = change.max(more.abs() * compliance);
            }
            if change <= SWEEP_CHANGE {
                break;
            }
        }
    }
}

impl Row {
    /// Gap (mm) of the contact after a displacement of B.
    fn gap_after(&self, d: &Displacement) -> f64 {
        self.gap + self.rate(d)
    }

    /// Change (mm) of the contact's gap by a displacement of B.
    fn rate(&self, d: &Displacement) -> f64 {
        self.normal.dot(&d.shift) + self.lever.dot(&d.spin)
    }
}

impl Displacement {
    /// Zero displacement.
    fn zero() -> Self {
        Self { shift: V3::zeros(), spin: V3::zeros() }
    }

    /// Componentwise sum.
    fn plus(&self, other: &Self) -> Self {
        Self { shift: self.shift + other.shift, spin: self.spin + other.spin }
    }

    fn times(&self, s: f64) -> Self {
        Self { shift: self.shift * s, spin: self.spin * s }
    }

    /// Componentwise difference.
    fn minus(&self, other: &Self) -> Self {
        Self { shift: self.shift - other.shift, spin: self.spin - other.spin }
    }

    /// Upper bound (mm) of this displacement for points within `radius` (mm) of the centre of mass,
    /// [`Mobility::center`].
    fn reach(&self, radius: f64) -> f64 {
        self.shift.norm() + self.spin.norm() * radius
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    /// A bar of mass 1 and length 20 along x, with its centre at the origin.
    fn bar() -> Mobility {
        let inverse_inertia = Matrix3::from_diagonal(&V3::new(10.0, 12.0 / 400.0, 12.0 / 400.0));
        Mobility { center: P3::origin(), inverse_mass: 1.0, inverse_inertia }
    }

    fn energy(mobility: &Mobility, d: &Displacement) -> f64 {
        let inertia = mobility.inverse_inertia.try_inverse().expect("a mass");
        0.5 * (d.shift.norm_squared() / mobility.inverse_mass + d.spin.dot(&(inertia * d.spin)))
    }

    /// The bar falls flat and hits with one end, 0.1 mm before the other end: its centre continues at 3/4
    /// of its speed and the other end at 3/2.
    #[test]
    fn an_impact_at_one_end_accelerates_the_other_end() {
        let bar = bar();
        let free = Displacement { shift: V3::new(0.0, 0.0, -0.4), spin: V3::zeros() };
        let near = bar.row(&V3::z(), &P3::new(10.0, 0.0, 0.0), 0.0);
        let mut loads = Loads::default();
        let motion = bar.constrain(&free, &[near], &mut loads);
        // Without the contact, the end would have continued.
        assert!((near.gap_after(&motion.moved) - loads.opened[0] + 0.4).abs() < 1e-6, "{loads:?}");
        assert!((motion.velocity.shift.z + 0.3).abs() < 1e-6, "{motion:?}");
        assert!((motion.velocity.spin.y + 0.03).abs() < 1e-7, "{motion:?}");
        assert!((motion.moved.shift.z + 0.3).abs() < 1e-6, "{motion:?}");
        // A contact at the other end stops the bar.
        let far = bar.row(&V3::z(), &P3::new(-10.0, 0.0, 0.0), 0.1);
        let motion = bar.constrain(&free, &[near, far], &mut Loads::default());
        assert!(far.gap_after(&motion.moved) > -1e-6 && near.gap_after(&motion.moved) > -1e-6, "{motion:?}");
        assert!(energy(&bar, &motion.velocity) < 1e-3 * energy(&bar, &free), "{motion:?}");
    }

    /// Contacts never add energy, and open gaps stay open, up to a twentieth of the displacement in sharp
    /// wedges of many contacts.
    #[test]
    fn contacts_do_not_add_energy_and_keep_gaps_open() {
        let mut random = rand::rngs::SmallRng::seed_from_u64(7);
        let mut loads = Loads::default();
        for case in 0..500 {
            let mut any = |size: f64| V3::from_fn(|_, _| random.random_range(-size..size));
            let bar = bar();
            let free = Displacement { shift: any(0.4), spin: any(0.04) };
            let rows: Vec<Row> = (0..case % 9)
                .map(|_| {
                    let gap = any(0.1).x.max(0.0);
                    bar.row(&any(1.0).normalize(), &P3::from(any(10.0)), gap)
                })
                .collect();
            let motion = bar.constrain(&free, &rows, &mut loads);
            assert!(energy(&bar, &motion.velocity) <= energy(&bar, &free) * (1.0 + 1e-9), "{case}");
            let lowest = rows.iter().map(|r| r.gap_after(&motion.moved)).fold(0.0, f64::min);
            let most = if rows.len() <= 2 { 1e-5 } else { 0.05 * free.reach(10.0) };
            assert!(lowest > -most, "{case}: {lowest}");
        }
    }
}
