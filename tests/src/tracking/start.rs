//! Poses at which steps begin.

use super::project::{LinearGap, Twist, project};
use super::{Scene, direction, log_uniform};
use feeler_geom::{Pose, V3};
use feeler_runtime::{Contact, ContactPair, QueryOptions, Status};
use nalgebra::{Translation3, UnitQuaternion};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};

/// Construction of a start (a pose near contact) from a pose of its scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartKind {
    /// Random pose near the scene's pose, then pushed along a random twist.
    Generic,
    /// Orientation of the scene's pose, pushed along a random direction, so that faces stay flush.
    Flush,
    /// Orientation of the scene's pose, pushed along a coordinate axis of A only, so that parts stay
    /// coaxial.
    Coaxial,
    /// Scene's pose tilted by at most 0.01 rad and pushed along a random direction.
    Tilted,
}

/// Pose at which steps begin.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Pose of B in A's frame.
    pub pose: Pose,
    /// How the start was constructed.
    pub kind: StartKind,
}

/// Maximum number of attempts to construct a start.
const ATTEMPTS: usize = 12;
/// Range of the gaps (mm) at which pushes end; some pushes end at 0.
const GAPS: [f64; 2] = [1e-5, 5e-3];
/// Range of the rotations (rad) of tilted starts.
const TILTS: [f64; 2] = [1e-6, 1e-2];
/// Range of the lengths (mm) of one push.
const PUSHES: [f64; 2] = [0.01, 1.0];
/// Distance (mm) beyond the length of a push within which contacts restrict it.
const REACH: f64 = 0.1;
/// Maximum number of steps of an approach to contact.
const MAX_APPROACH: usize = 400;

/// Factor of each component of a twist: 1 or 0.
type Mask = Twist;

impl Scene {
    /// Start number `number`; `None` if the solids interfere at the end of every attempt.
    ///
    /// # Panics
    /// If a query fails.
    #[must_use]
    pub fn start(&self, seed: u64, number: u64) -> Option<Start> {
        let mut rng = SmallRng::seed_from_u64(self.key() ^ seed.wrapping_mul(0x9e37_79b9) ^ (number << 20));
        let kinds = [StartKind::Generic, StartKind::Flush, StartKind::Coaxial, StartKind::Tilted];
        let kind = kinds[(number % 4) as usize];
        (0..ATTEMPTS).find_map(|_| self.attempt(kind, &mut rng)).map(|pose| Start { pose, kind })
    }

    fn attempt(&self, kind: StartKind, rng: &mut SmallRng) -> Option<Pose> {
        let mut pair = ContactPair::new(self.a.clone(), self.b.clone());
        let base = if self.poses.is_empty() {
            self.approach(&mut pair, rng)?
        } else {
            self.poses[rng.random_range(0..self.poses.len())]
        };
        let lever = self.lever();
        let about_center = |pose: &Pose, t: V3, w: V3| {
            self.moved(pose, &Twist::new(t.x, t.y, t.z, w.x * lever, w.y * lever, w.z * lever))
        };
        let mut pose = match kind {
            StartKind::Flush | StartKind::Coaxial => base,
            StartKind::Generic => {
                let part = 1.0 / f64::from(1 << rng.random_range(0..5));
                let [t, w] = self.jitter.map(|size| direction(rng) * (size * part));
                about_center(&base, t, w)
            }
            StartKind::Tilted => {
                let turn = direction(rng) * log_uniform(rng, TILTS);
                about_center(&base, V3::zeros(), turn)
            }
        };
        if !is_free(&mut pair, &pose) {
            return None;
        }
        let mask = match kind {
            StartKind::Generic => Mask::repeat(1.0),
            StartKind::Flush | StartKind::Tilted => Mask::new(1.0, 1.0, 1.0, 0.0, 0.0, 0.0),
            StartKind::Coaxial => {
                let mut mask = Mask::zeros();
                mask[rng.random_range(0..3)] = 1.0;
                mask
            }
        };
        let gap = if rng.random_range(0..4) == 0 { 0.0 } else { log_uniform(rng, GAPS) };
        let turning = if kind == StartKind::Generic { rng.random_range(0.0..1.0) } else { 0.0 };
        let (v, w) = (direction(rng) * (1.0 - turning), direction(rng) * turning);
        let push = Twist::new(v.x, v.y, v.z, w.x, w.y, w.z).component_mul(&mask);
        let push = push.try_normalize(1e-9).unwrap_or(mask) * log_uniform(rng, PUSHES);
        // Steps without a push correct the gaps at the end.
        let count = rng.random_range(2..12);
        for k in 0..count + 2 {
            let push = if k < count { push } else { Twist::zeros() };
            pair.forget();
            let options = QueryOptions {
                quasi_angle: (2.0 * push.norm() / lever).min(0.5),
                ..self.contact_options(REACH + 1.5 * push.norm())
            };
            let contacts = pair.query(&Pose::identity(), &pose, &options).expect("valid");
            let gaps: Vec<LinearGap> = contacts.iter().map(|l| self.linear_gap(l, &pose, &mask)).collect();
            pose = self.moved(&pose, &project(&gaps, &push, gap).twist);
        }
        is_free(&mut pair, &pose).then_some(pose)
    }

    fn linear_gap(&self, l: &Contact, pose: &Pose, mask: &Mask) -> LinearGap {
        let n = l.normal;
        let m = (l.point_b - self.center(pose)).cross(&n) / self.lever();
        (l.distance, Twist::new(n.x, n.y, n.z, m.x, m.y, m.z).component_mul(mask))
    }

    /// Pose of B in a random orientation near contact, reached by advancing B repeatedly by its distance
    /// from A.
    fn approach(&self, pair: &mut ContactPair, rng: &mut SmallRng) -> Option<Pose> {
        let turn = UnitQuaternion::from_scaled_axis(direction(rng) * rng.random_range(0.0..3.0));
        let toward = direction(rng);
        let size = self.a.size() + self.b.size();
        let aim = self.a.bounds().min + (self.a.bounds().max - self.a.bounds().min) * 0.5;
        let aside = V3::from_fn(|_, _| rng.random_range(-0.2..0.2)) * self.a.size();
        let at = |s: f64| {
            let turned = Pose::from_parts(Translation3::identity(), turn);
            let shift = aim + aside + toward * s - self.center(&turned);
            Translation3::from(shift) * turned
        };
        let mut options = QueryOptions { detect_interference: false, ..QueryOptions::within(8.0 * size) };
        let mut s = -1.5 * size;
        for _ in 0..MAX_APPROACH {
            pair.query(&Pose::identity(), &at(s), &options).ok()?;
            let gap = pair.min_distance()?;
            if gap < 1e-3 {
                return Some(at(s));
            }
            s += 0.999 * gap;
            options.d_max = 2.0 * gap + 1e-6 * size;
            if s > 1.5 * size {
                return None;
            }
        }
        None
    }
}

/// Whether the solids do not interfere at a pose of B in A's frame.
pub(super) fn is_free(pair: &mut ContactPair, pose: &Pose) -> bool {
    matches!(status(pair, pose), Status::Separated | Status::Touching)
}

/// Status at a pose of B in A's frame.
pub(super) fn status(pair: &mut ContactPair, pose: &Pose) -> Status {
    pair.query(&Pose::identity(), pose, &QueryOptions::within(0.0)).expect("valid");
    pair.status().expect("detection of interference is enabled")
}
