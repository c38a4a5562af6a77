//! Steps of contact trackers, and demands on the sets of contacts that they report.
//!
//! A step of a [`Scene`] begins at a pose in or near contact ([`Scene::start`]) and has a random free
//! twist. The set of a [`ContactTracker`](feeler_runtime::ContactTracker) restricts the twist
//! ([`project()`]): the actual motion is the nearest one that obeys the linear gaps of all active
//! contacts. Demands:
//!
//! - *sufficiency*: the depth at the end is at most 2ε + θd + ½θ²ρ, with the bound (θ, d) of the actual
//!   motion and the largest distance ρ of the corners of B's box from the centre of rotation;
//! - *mirror*: a motion whose straight path is free is shortened by at most ε;
//! - *agreement*: the strict contacts are those of a fresh query;
//! - *continuity* ([`continuity`]): gaps follow the motion, identities do not return.
//!
//! Steps are numbered; each depends only on its scene, the seed and its number.

pub mod continuity;
mod project;
mod start;
mod step;

pub use project::{LinearGap, Projection, Twist, project};
pub use start::{Start, StartKind};
pub use step::{Outcome, Tally};

use feeler_geom::{P3, Pose, V3, math};
use feeler_runtime::{Body, Contact, ContactKind, QueryOptions, TrackerOptions};
use nalgebra::{Translation3, UnitQuaternion};
use rand::Rng as _;
use rand::rngs::SmallRng;
use std::sync::Arc;

/// Two bodies, and poses near contact.
#[derive(Debug)]
pub struct Scene {
    /// Unique name of the scene.
    pub name: String,
    /// Fixed body.
    pub a: Arc<Body>,
    /// Moving body.
    pub b: Arc<Body>,
    /// Poses of B in A's frame near contact; if empty, B approaches in random orientations.
    pub poses: Vec<Pose>,
    /// Maximum random translation (mm) and rotation (rad) of generic starts.
    pub jitter: [f64; 2],
}

/// Number of steps that begin at one start.
pub const STEPS_PER_START: u64 = 3;
/// Range of translations (mm) of steps.
pub const TRANSLATIONS: [f64; 2] = [1e-3, 0.2];
/// Range of rotations (rad) of steps.
pub const ROTATIONS: [f64; 2] = [1e-5, 1e-2];
/// Translation (mm) and rotation (rad) below which both a step counts as small.
pub const SMALL: [f64; 2] = [0.02, 1e-3];
/// Maximum penetration depth (mm) that is measured, if the thickness of the bodies allows it.
const MEASURED_DEPTH: f64 = 0.5;

impl Scene {
    /// Options of the trackers.
    #[must_use]
    pub fn options(&self) -> TrackerOptions {
        TrackerOptions::default()
    }

    /// Number that distinguishes the scene in seeds: the FNV-1a hash of its name.
    fn key(&self) -> u64 {
        let mix = |h: u64, byte: u8| (h ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        self.name.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
    }

    /// Length (mm) by which rotations are scaled in twists: a radius of gyration.
    #[must_use]
    pub fn lever(&self) -> f64 {
        0.35 * self.b.size()
    }

    /// Centre of B's box in A's frame, for B at `pose`.
    #[must_use]
    pub fn center(&self, pose: &Pose) -> P3 {
        let bounds = self.b.bounds();
        pose * P3::from((bounds.min.coords + bounds.max.coords) * 0.5)
    }

    /// Pose of B after a twist about the centre of its box.
    #[must_use]
    pub fn moved(&self, pose: &Pose, twist: &Twist) -> Pose {
        let c = self.center(pose);
        let turn = UnitQuaternion::from_scaled_axis(V3::new(twist[3], twist[4], twist[5]) / self.lever());
        let shift = Translation3::from(V3::new(twist[0], twist[1], twist[2]));
        shift * Translation3::from(c.coords) * turn * Translation3::from(-c.coords) * pose
    }

    /// Maximum depth (mm) that is measured for these bodies.
    fn measured_depth(&self) -> f64 {
        MEASURED_DEPTH.min(0.4 * (self.a.min_thickness() + self.b.min_thickness())).max(0.0)
    }

    /// Options of queries for contacts only, including penetrating ones.
    fn contact_options(&self, d_max: f64) -> QueryOptions {
        QueryOptions {
            detect_interference: false,
            penetration: self.measured_depth(),
            ..QueryOptions::within(d_max)
        }
    }
}

/// Random unit vector.
fn direction(rng: &mut SmallRng) -> V3 {
    loop {
        let v = V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        if v.norm() > 0.1 && v.norm() < 1.0 {
            return v.normalize();
        }
    }
}

/// A random number with a uniform logarithm in a range.
fn log_uniform(rng: &mut SmallRng, [from, to]: [f64; 2]) -> f64 {
    from * math::exp(rng.random_range(0.0..1.0) * math::ln(to / from))
}

/// Describes a contact of a query: features, kind and distance.
fn named(l: &Contact) -> String {
    let of = |f: &feeler_runtime::FeatureRef| format!("{:?} {}", f.kind, f.index);
    format!("{} / {} {:?} {:+.6}", of(&l.feature_a), of(&l.feature_b), l.kind, l.distance)
}

/// Describes a contact of a tracker: features, kind and gap.
fn named_contact(c: &Contact) -> String {
    let [a, b] = c.features().map(|(kind, index)| format!("{kind:?} {index}"));
    format!("{a} / {b} {:?} {:+.6}", c.kind, c.gap)
}

/// Whether a contact is a decided minimum: neither a quasi-minimum nor undecided.
fn is_minimum(l: &Contact) -> bool {
    l.kind != ContactKind::Quasi && !l.undecided
}
