//! Where a pair will be one step on: it goes on as it has moved, unless contacts hold it.

use crate::Body;
use feeler_geom::{P3, Pose, Twist, V3};
use nalgebra::{Isometry3, Matrix3, Translation3, UnitQuaternion};

/// A relative displacement of B in A's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Displacement {
    /// Of the point at the mobility's centre (mm).
    pub shift: V3,
    /// Rotation vector (rad).
    pub spin: V3,
}

/// What contacts leave of a displacement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Held {
    /// The displacement of the step.
    pub moved: Displacement,
    /// The velocities at its end, as the displacement of a whole step.
    pub velocity: Displacement,
}

/// How the lighter of two solids yields to pushes, for solids of one density. The other one is taken to be
/// fixed: what it yields would soften the blow, and so hide contacts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mobility {
    /// Centre of mass in A's frame.
    pub center: P3,
    /// 1 over mass.
    lightness: f64,
    /// Inverse of the inertia about the centre, in A's axes.
    softness: Matrix3<f64>,
}

/// A contact as a constraint on displacements: `normal · shift + lever · spin + gap ≥ 0`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub normal: V3,
    pub lever: V3,
    pub gap: f64,
}

/// What contacts carry in a prediction.
#[derive(Clone, Debug, Default)]
pub(super) struct Loads {
    /// In the last part.
    part: Vec<f64>,
    /// By how much (mm) each contact has kept its own gap open at the end of the step.
    pub opened: Vec<f64>,
}

/// Parts of a step.
const PARTS: u32 = 8;
/// The same as a part of the step.
const PART: f64 = 0.125;
/// Sweeps of the solver at most.
const SWEEPS: u32 = 256;
/// Change of a sweep (mm) that ends it. Predictions need no more: what they miss, the next step shows.
const CONVERGED: f64 = 1e-6;

impl Mobility {
    pub(super) fn new(a: &Body, b: &Body, pose_ab: &Pose) -> Self {
        let volume = |body: &Body| body.hierarchy().info.volume.abs();
        let is_b = volume(b) <= volume(a);
        let (body, pose) = if is_b { (b, *pose_ab) } else { (a, Pose::identity()) };
        let info = &body.hierarchy().info;
        let solid = info.inertia.and_then(|i| {
            let tensor = Matrix3::from_fn(|r, c| i.tensor[r][c]);
            Some((P3::from(i.centroid), 1.0 / info.volume, tensor.try_inverse()?))
        });
        // Sheets have no mass: that of a ball of their size.
        let bounds = body.bounds();
        let size = body.size().max(f64::MIN_POSITIVE);
        let ball = (bounds.center(), 1.0, Matrix3::identity() * (10.0 / (size * size)));
        let (center, lightness, softness) = solid.filter(|s| s.1.is_finite() && s.1 > 0.0).unwrap_or(ball);
        let axes = pose.rotation.to_rotation_matrix();
        Self {
            center: pose * center,
            lightness,
            softness: axes.matrix() * softness * axes.matrix().transpose(),
        }
    }

    /// The displacement that took B from `before` to `now`.
    pub(super) fn between(&self, before: &Pose, now: &Pose) -> Displacement {
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

    /// B's pose after a displacement.
    pub(super) fn moved(&self, now: &Pose, d: &Displacement) -> Pose {
        let turn = Twist::rotation(&P3::origin(), d.spin).exp().rotation;
        let rotation = UnitQuaternion::new_normalize((turn * now.rotation).into_inner());
        let material = now.inverse_transform_point(&self.center);
        let origin = self.center + d.shift - rotation * material.coords;
        Isometry3::from_parts(Translation3::from(origin.coords), rotation)
    }

    /// The constraint of a contact that has this gap at a displacement: its point of B is then at `point`.
    pub(super) fn row(&self, normal: &V3, point: &P3, gap: f64, at: &Displacement) -> Row {
        let lever = (point - (self.center + at.shift)).cross(normal);
        Row { normal: *normal, lever, gap: gap - normal.dot(&at.shift) - lever.dot(&at.spin) }
    }

    /// Where the free displacement leads when contacts keep their gaps open, and what it is after that: blows
    /// come one after the other, and each changes what the next ones are.
    pub(super) fn held(&self, free: &Displacement, rows: &[Row], loads: &mut Loads) -> Held {
        let mut held = Held { moved: Displacement::zero(), velocity: *free };
        loads.opened.clear();
        loads.opened.resize(rows.len(), 0.0);
        for k in 0..PARTS {
            self.part(&mut held.velocity, &held.moved, rows, &mut loads.part);
            held.moved = held.moved.plus(&held.velocity.times(PART));
            // What a load makes of the velocity stays for the rest of the step.
            let rest = PART * f64::from(PARTS - k);
            for ((row, load), opened) in rows.iter().zip(&loads.part).zip(&mut loads.opened) {
                *opened += rest * load * self.yielding(row);
            }
        }
        held
    }

    /// By how much a load opens its own gap.
    fn yielding(&self, row: &Row) -> f64 {
        self.lightness + row.lever.dot(&(self.softness * row.lever))
    }

    /// Of all velocities that keep gaps open for a part of the step, those nearest in kinetic energy.
    fn part(&self, v: &mut Displacement, moved: &Displacement, rows: &[Row], loads: &mut Vec<f64>) {
        loads.clear();
        loads.resize(rows.len(), 0.0);
        for _ in 0..SWEEPS {
            let mut change = 0.0_f64;
            for (row, load) in rows.iter().zip(loads.iter_mut()) {
                let push = self.softness * row.lever;
                let yielding = self.yielding(row);
                let gap = row.gap_after(moved) / PART + row.rate(v);
                let more = (-gap / yielding).max(-*load);
                *load += more;
                v.shift += row.normal * (more * self.lightness);
                v.spin += push * more;
                change = change.max(more.abs() * yielding);
            }
            if change <= CONVERGED {
                break;
            }
        }
    }
}

impl Row {
    /// The gap (mm) after a displacement.
    pub(super) fn gap_after(&self, d: &Displacement) -> f64 {
        self.gap + self.rate(d)
    }

    /// What a displacement adds to the gap.
    fn rate(&self, d: &Displacement) -> f64 {
        self.normal.dot(&d.shift) + self.lever.dot(&d.spin)
    }
}

impl Displacement {
    /// None at all.
    pub(super) fn zero() -> Self {
        Self { shift: V3::zeros(), spin: V3::zeros() }
    }

    /// Sum of two displacements.
    pub(super) fn plus(&self, other: &Self) -> Self {
        Self { shift: self.shift + other.shift, spin: self.spin + other.spin }
    }

    fn times(&self, s: f64) -> Self {
        Self { shift: self.shift * s, spin: self.spin * s }
    }

    /// Difference of two displacements.
    pub(super) fn minus(&self, other: &Self) -> Self {
        Self { shift: self.shift - other.shift, spin: self.spin - other.spin }
    }

    /// How far (mm) a point moves that is no farther than `radius` from the centre.
    pub(super) fn reach(&self, radius: f64) -> f64 {
        self.shift.norm() + self.spin.norm() * radius
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    /// A bar of mass 1 and length 20 along x, with its centre at the origin.
    fn bar() -> Mobility {
        let softness = Matrix3::from_diagonal(&V3::new(10.0, 12.0 / 400.0, 12.0 / 400.0));
        Mobility { center: P3::origin(), lightness: 1.0, softness }
    }

    fn energy(mobility: &Mobility, d: &Displacement) -> f64 {
        let inertia = mobility.softness.try_inverse().expect("a mass");
        0.5 * (d.shift.norm_squared() / mobility.lightness + d.spin.dot(&(inertia * d.spin)))
    }

    /// It falls flat and strikes with one end, 0.1 mm before the other: a bar that is struck at the end,
    /// whose centre goes on at 3/4 of its speed and whose other end at 3/2 of it.
    #[test]
    fn a_bar_struck_at_one_end_turns_down_the_other() {
        let bar = bar();
        let at = Displacement::zero();
        let free = Displacement { shift: V3::new(0.0, 0.0, -0.4), spin: V3::zeros() };
        let near = bar.row(&V3::z(), &P3::new(10.0, 0.0, 0.0), 0.0, &at);
        let mut loads = Loads::default();
        let held = bar.held(&free, &[near], &mut loads);
        // Without the contact the end would have gone on.
        assert!((near.gap_after(&held.moved) - loads.opened[0] + 0.4).abs() < 1e-6, "{loads:?}");
        assert!((held.velocity.shift.z + 0.3).abs() < 1e-6, "{held:?}");
        assert!((held.velocity.spin.y + 0.03).abs() < 1e-7, "{held:?}");
        assert!((held.moved.shift.z + 0.3).abs() < 1e-6, "{held:?}");
        // With the other end told, it stops.
        let far = bar.row(&V3::z(), &P3::new(-10.0, 0.0, 0.0), 0.1, &at);
        let held = bar.held(&free, &[near, far], &mut Loads::default());
        assert!(far.gap_after(&held.moved) > -1e-6 && near.gap_after(&held.moved) > -1e-6, "{held:?}");
        assert!(energy(&bar, &held.velocity) < 1e-3 * energy(&bar, &free), "{held:?}");
    }

    /// A row made at a displacement says what the true gap is there, and near it up to the square.
    #[test]
    fn rows_are_right_where_they_were_made() {
        let mut random = rand::rngs::SmallRng::seed_from_u64(5);
        let mut any = |size: f64| V3::from_fn(|_, _| random.random_range(-size..size));
        for _ in 0..200 {
            let now = Pose::new(any(10.0), any(3.0));
            let mobility = Mobility { center: P3::from(any(10.0)), ..bar() };
            let at = Displacement { shift: any(0.5), spin: any(0.02) };
            let (material, normal) = (P3::from(any(10.0)), any(1.0).normalize());
            let gap = |d: &Displacement| (mobility.moved(&now, d) * material).coords.dot(&normal);
            let point = mobility.moved(&now, &at) * material;
            let row = mobility.row(&normal, &point, gap(&at), &at);
            assert!((row.gap_after(&at) - gap(&at)).abs() < 1e-12);
            let beside = Displacement { shift: at.shift + any(1e-3), spin: at.spin + any(1e-4) };
            assert!((row.gap_after(&beside) - gap(&beside)).abs() < 1e-4);
            // And back from two poses.
            let then = mobility.moved(&now, &at);
            let same = Mobility { center: mobility.center + at.shift, ..mobility }.between(&now, &then);
            assert!((same.shift - at.shift).norm() < 1e-12 && (same.spin - at.spin).norm() < 1e-12);
        }
    }

    /// Whatever the contacts: nothing gains energy, and what is open stays open up to a twentieth of the
    /// displacement, where sharp wedges of many contacts hold it.
    #[test]
    fn contacts_take_energy_and_hold() {
        let mut random = rand::rngs::SmallRng::seed_from_u64(7);
        let mut loads = Loads::default();
        for case in 0..500 {
            let mut any = |size: f64| V3::from_fn(|_, _| random.random_range(-size..size));
            let bar = bar();
            let free = Displacement { shift: any(0.4), spin: any(0.04) };
            let rows: Vec<Row> = (0..case % 9)
                .map(|_| {
                    let gap = any(0.1).x.max(0.0);
                    bar.row(&any(1.0).normalize(), &P3::from(any(10.0)), gap, &Displacement::zero())
                })
                .collect();
            let held = bar.held(&free, &rows, &mut loads);
            assert!(energy(&bar, &held.velocity) <= energy(&bar, &free) * (1.0 + 1e-9), "{case}");
            let lowest = rows.iter().map(|r| r.gap_after(&held.moved)).fold(0.0, f64::min);
            let most = if rows.len() <= 2 { 1e-5 } else { 0.05 * free.reach(10.0) };
            assert!(lowest > -most, "{case}: {lowest}");
        }
    }
}
