//! What forces act in a contact: springs and dashpots, Hertz and Mindlin, Coulomb's friction.
//!
//! # Source
//! WALL names the linear model with a friction limit; DIST §4.3 a penalty without friction. Hertz
//! (1882) and Mindlin (1949) as they are usually discretised: Tsuji, Tanaka and Ishida, *Powder Technology*
//! 71 (1992), for the damping; Antypov and Elliott, *EPL* 94 (2011), for its relation to the coefficient of
//! restitution.
//!
//! # Deviations
//! - Where a Hertzian contact gets smaller its shear force shrinks with the shear stiffness: otherwise
//!   contacts that are loaded, sheared and unloaded would give off energy that nobody put in.
//! - The shear force turns with the normal by the smallest rotation that takes the old one to the new one,
//!   which keeps its length, and about the normal with the mean spin of the two bodies.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must take the cautious branch")]

use crate::rotation::{carried, rotation_by};
use feeler_geom::{V3, math};
use std::f64::consts::PI;

/// What a law takes for an elastic material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Young's modulus (kg/(mm·s²) = kPa).
    pub young: f64,
    /// Poisson's ratio.
    pub poisson: f64,
}

/// Forces of a contact by its overlap and the velocities there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Springs and dashpots.
    Linear {
        /// Normal stiffness (kg/s²).
        normal: f64,
        /// Shear stiffness (kg/s²).
        shear: f64,
        /// Coefficient of restitution of a head-on impact, above 0, 1 at most.
        restitution: f64,
        /// Coefficient of friction; may be infinite.
        friction: f64,
    },
    /// Hertz's normal force, Mindlin's shear force without slip inside the contact.
    Hertz {
        /// Effective modulus E* (kg/(mm·s²)).
        modulus: f64,
        /// Effective shear modulus G* (kg/(mm·s²)).
        shear: f64,
        /// Coefficient of restitution of a head-on impact, above 0, 1 at most.
        restitution: f64,
        /// Coefficient of friction; may be infinite.
        friction: f64,
    },
}

/// Why a law is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LawError(&'static str);

/// What a law needs to know of two bodies in contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Meeting {
    /// How far they are pressed into one another (mm).
    pub overlap: f64,
    /// Unit normal, from the other body to the one that the force is for.
    pub normal: V3,
    /// Velocity (mm/s) at the contact point against the other body.
    pub velocity: V3,
    /// Mean spin (rad/s) of the two about the normal.
    pub twist: f64,
    /// Effective radius R* (mm).
    pub radius: f64,
    /// Effective mass m* (kg).
    pub mass: f64,
}

/// What friction remembers of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShearState {
    /// Elastic shear force (mN) on the body that the normal points to.
    pub force: V3,
    /// Normal that it is perpendicular to.
    pub normal: V3,
    /// Shear stiffness (kg/s²) in the last step.
    pub stiffness: f64,
}

impl ShearState {
    /// That of a contact that has just come about.
    #[must_use]
    pub fn new(normal: V3) -> Self {
        Self { force: V3::zeros(), normal, stiffness: 0.0 }
    }

    /// Adds what another contact, which has become part of this one, remembers.
    pub fn add(&mut self, other: &Self) {
        self.force += carried(&other.force, &other.normal, &self.normal);
    }
}

impl Law {
    /// The penalty of DIST §4.3: a force of `factor` (kg/s²) times the overlap, without friction or loss.
    #[must_use]
    pub fn penalty(factor: f64) -> Self {
        Self::Linear { normal: factor, shear: 0.0, restitution: 1.0, friction: 0.0 }
    }

    /// Hertz and Mindlin between two materials.
    ///
    /// # Errors
    /// Materials or coefficients that are none.
    pub fn hertz(materials: [Material; 2], restitution: f64, friction: f64) -> Result<Self, LawError> {
        if materials.iter().any(|m| !(m.young > 0.0 && -1.0 < m.poisson && m.poisson <= 0.5)) {
            return Err(LawError(
                "Young's modulus must be above 0, Poisson's ratio above −1 and 0.5 at most",
            ));
        }
        let sum = |of: fn(&Material) -> f64| 1.0 / materials.iter().map(of).sum::<f64>();
        let modulus = sum(|m| (1.0 - m.poisson * m.poisson) / m.young);
        let shear = sum(|m| 2.0 * (2.0 - m.poisson) * (1.0 + m.poisson) / m.young);
        let law = Self::Hertz { modulus, shear, restitution, friction };
        law.check()?;
        Ok(law)
    }

    /// Whether its numbers make sense.
    ///
    /// # Errors
    /// Which does not.
    pub fn check(&self) -> Result<(), LawError> {
        let (Self::Linear { normal, shear, restitution, friction }
        | Self::Hertz { modulus: normal, shear, restitution, friction }) = *self;
        if !(normal > 0.0 && normal.is_finite() && shear >= 0.0 && shear.is_finite()) {
            return Err(LawError("stiffness must be finite and above 0, that in shear 0 at least"));
        }
        if !(0.0 < restitution && restitution <= 1.0) {
            return Err(LawError("the coefficient of restitution must be above 0 and 1 at most"));
        }
        if !(friction >= 0.0) {
            return Err(LawError("the coefficient of friction must be 0 at least"));
        }
        Ok(())
    }

    /// The force (mN) on the body that the normal points to, over a step of `time` (s), in which `state` goes
    /// on.
    pub fn force(&self, meeting: &Meeting, state: &mut ShearState, time: f64) -> V3 {
        let n = meeting.normal;
        let apart = meeting.velocity.dot(&n);
        let sliding = meeting.velocity - n * apart;
        let (elastic, damping, stiffness, shear_damping, friction) = self.coefficients(meeting);
        let pressing = elastic - damping * apart;
        let mut shear = carried(&state.force, &state.normal, &n);
        shear = rotation_by(&(n * (meeting.twist * time))) * shear;
        if matches!(self, Self::Hertz { .. }) && stiffness < state.stiffness {
            shear *= stiffness / state.stiffness;
        }
        shear -= sliding * (stiffness * time);
        // What rounding has put along the normal.
        shear -= n * shear.dot(&n);
        let mut total = shear - sliding * shear_damping;
        if friction.is_finite() {
            let most = friction * pressing.max(0.0);
            let (held, wanted) = (shear.norm(), total.norm());
            if held > most {
                shear *= most / held;
                // It slides: a dashpot beside it would exceed Coulomb's limit.
                total = shear;
            } else if wanted > most {
                total *= most / wanted;
            }
        }
        *state = ShearState { force: shear, normal: n, stiffness };
        n * pressing + total
    }

    /// Elastic normal force, damping of the normal velocity, shear stiffness, damping of sliding, friction.
    fn coefficients(&self, meeting: &Meeting) -> (f64, f64, f64, f64, f64) {
        let mass = meeting.mass;
        match *self {
            Self::Linear { normal, shear, restitution, friction } => {
                let twice = 2.0 * damping_ratio(restitution);
                let damping = twice * (mass * normal).sqrt();
                (normal * meeting.overlap, damping, shear, twice * (mass * shear).sqrt(), friction)
            }
            Self::Hertz { modulus, shear, restitution, friction } => {
                // Radius of the contact; stiffnesses are tangents of the force.
                let contact = (meeting.radius * meeting.overlap).sqrt();
                let (tangent, shear) = (2.0 * modulus * contact, 8.0 * shear * contact);
                let part = 2.0 * (5.0_f64 / 6.0).sqrt() * damping_ratio(restitution);
                let elastic = tangent * meeting.overlap * (2.0 / 3.0);
                (elastic, part * (tangent * mass).sqrt(), shear, part * (shear * mass).sqrt(), friction)
            }
        }
    }
}

/// Damping as a part of the critical one that gives a coefficient of restitution, exactly for both laws: a
/// contact ends where the overlap does, after it has pulled for a moment.
fn damping_ratio(restitution: f64) -> f64 {
    let ln = math::ln(restitution);
    -ln / (PI * PI + ln * ln).sqrt()
}

/// Effective radius (mm) of a ball on a wall of given principal curvatures (1/mm): the geometric mean of the
/// relative radii. Edges and vertices, whose curvature is infinite, count as flat, as in WALL.
pub(crate) fn radius_on(radius: f64, curvatures: [f64; 2]) -> f64 {
    let relative = curvatures.map(|k| {
        let k = if k.is_finite() { k } else { 0.0 };
        (1.0 / radius + k).max(LEAST / radius)
    });
    1.0 / (relative[0] * relative[1]).sqrt()
}

/// Relative curvature of a ball in a hollow that fits, as a part of the ball's.
const LEAST: f64 = 1e-3;
