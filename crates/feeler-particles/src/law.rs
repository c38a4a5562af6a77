//! Laws of contact forces: springs and dashpots, Hertz and Mindlin, Coulomb's friction.
//!
//! # Source
//! WALL names the linear model with a friction limit; DIST §4.3 a penalty without friction. Hertz
//! (1882) and Mindlin (1949) as they are usually discretised: Tsuji, Tanaka and Ishida, *Powder Technology*
//! 71 (1992), for the damping; Antypov and Elliott, *EPL* 94 (2011), for its relation to the coefficient of
//! restitution.
//!
//! # Deviations
//! - If the area of a Hertzian contact shrinks, its shear force shrinks with the shear stiffness. Otherwise
//!   contacts that are loaded, sheared and unloaded would create energy.
//! - The shear force rotates with the normal by the smallest rotation from the old to the new normal, which
//!   preserves its length, and about the normal with the mean spin of the two bodies.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must take the cautious branch")]

use crate::rotation::{rotation_by, transported};
use feeler_geom::{V3, math};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Linearly elastic, isotropic material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Young's modulus (kg/(mm·s²) = kPa).
    pub young: f64,
    /// Poisson's ratio.
    pub poisson: f64,
}

/// Law of the force of a contact, as a function of its overlap and of the velocities of the two bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// A linear spring and a dashpot, for the normal and for the shear force.
    Linear {
        /// Stiffness of the spring along the normal (kg/s²).
        normal: f64,
        /// Stiffness of the spring of the shear force (kg/s²).
        shear: f64,
        /// Coefficient of restitution of a head-on impact, above 0 and at most 1.
        restitution: f64,
        /// Coefficient of friction; may be infinite.
        friction: f64,
    },
    /// Hertz's normal force, and Mindlin's shear force without slip inside the contact.
    Hertz {
        /// Effective modulus E* (kg/(mm·s²)).
        modulus: f64,
        /// Effective shear modulus G* (kg/(mm·s²)).
        shear: f64,
        /// Coefficient of restitution of a head-on impact, above 0 and at most 1.
        restitution: f64,
        /// Coefficient of friction; may be infinite.
        friction: f64,
    },
}

/// Invalid parameters of a contact law.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LawError(&'static str);

/// Kinematics of two bodies in contact, on which the force depends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactKinematics {
    /// Overlap of the two bodies along the normal (mm).
    pub overlap: f64,
    /// Unit normal, from the other body to the body that the force acts on.
    pub normal: V3,
    /// Velocity (mm/s), at the contact point, of the body that the force acts on, relative to the other
    /// body.
    pub velocity: V3,
    /// Component along the normal of the mean of the two bodies' angular velocities (rad/s). The shear
    /// force rotates with it.
    pub twist: f64,
    /// Effective radius R* (mm): 1/R* is the sum of the curvatures of the two bodies.
    pub radius: f64,
    /// Effective mass m* (kg): 1/m* is the sum of the inverse masses of the two bodies.
    pub mass: f64,
}

/// Shear state of a contact, which persists from step to step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShearState {
    /// Elastic shear force (mN) on the body to which the normal points, at the end of the last step.
    pub force: V3,
    /// Unit normal of the contact in the last step, perpendicular to the force.
    pub normal: V3,
    /// Shear stiffness (kg/s²) in the last step.
    pub stiffness: f64,
}

impl ShearState {
    /// Creates the state of a new contact with the unit normal `normal`, without a shear force.
    #[must_use]
    pub fn new(normal: V3) -> Self {
        Self { force: V3::zeros(), normal, stiffness: 0.0 }
    }

    /// Adds the shear force of another contact that has become part of this one. The force is first
    /// rotated by the smallest rotation that takes the normal of that contact to the normal of this one.
    pub fn add(&mut self, other: &Self) {
        self.force += transported(&other.force, &other.normal, &self.normal);
    }
}

impl Law {
    /// Creates the law of a linear spring (the penalty of DIST §4.3): a normal force (mN) of `factor`
    /// (kg/s²) times the overlap (mm), without friction or damping.
    #[must_use]
    pub fn penalty(factor: f64) -> Self {
        Self::Linear { normal: factor, shear: 0.0, restitution: 1.0, friction: 0.0 }
    }

    /// Creates the law of Hertz and Mindlin for contacts of two materials.
    ///
    /// # Errors
    /// A modulus or coefficient is out of range.
    pub fn hertz(materials: [Material; 2], restitution: f64, friction: f64) -> Result<Self, LawError> {
        if materials.iter().any(|m| !(m.young > 0.0 && -1.0 < m.poisson && m.poisson <= 0.5)) {
            return Err(LawError(
                "Young's modulus must be above 0, Poisson's ratio above −1 and at most 0.5",
            ));
        }
        let sum = |of: fn(&Material) -> f64| 1.0 / materials.iter().map(of).sum::<f64>();
        let modulus = sum(|m| (1.0 - m.poisson * m.poisson) / m.young);
        let shear = sum(|m| 2.0 * (2.0 - m.poisson) * (1.0 + m.poisson) / m.young);
        let law = Self::Hertz { modulus, shear, restitution, friction };
        law.check()?;
        Ok(law)
    }

    /// Checks that the parameters of the law are in range.
    ///
    /// # Errors
    /// A parameter is out of range.
    pub fn check(&self) -> Result<(), LawError> {
        let (Self::Linear { normal, shear, restitution, friction }
        | Self::Hertz { modulus: normal, shear, restitution, friction }) = *self;
        if !(normal > 0.0 && normal.is_finite() && shear >= 0.0 && shear.is_finite()) {
            return Err(LawError(
                "the normal stiffness (or modulus) must be finite and above 0, the shear stiffness (or \
                 modulus) finite and at least 0",
            ));
        }
        if !(0.0 < restitution && restitution <= 1.0) {
            return Err(LawError("the coefficient of restitution must be above 0 and at most 1"));
        }
        if !(friction >= 0.0) {
            return Err(LawError("the coefficient of friction must be at least 0"));
        }
        Ok(())
    }

    /// Computes the force (mN), normal and shear together, on the body to which the normal points, and
    /// updates `state` over a step of `time` (s).
    pub fn force(&self, contact: &ContactKinematics, state: &mut ShearState, time: f64) -> V3 {
        let n = contact.normal;
        let separating = contact.velocity.dot(&n);
        let sliding = contact.velocity - n * separating;
        let (elastic, damping, stiffness, shear_damping, friction) = self.coefficients(contact);
        let pressing = elastic - damping * separating;
        let mut shear = transported(&state.force, &state.normal, &n);
        shear = rotation_by(&(n * (contact.twist * time))) * shear;
        if matches!(self, Self::Hertz { .. }) && stiffness < state.stiffness {
            shear *= stiffness / state.stiffness;
        }
        shear -= sliding * (stiffness * time);
        // Remove the component along the normal that rounding has added.
        shear -= n * shear.dot(&n);
        let mut total = shear - sliding * shear_damping;
        if friction.is_finite() {
            let limit = friction * pressing.max(0.0);
            let (elastic_shear, total_shear) = (shear.norm(), total.norm());
            if elastic_shear > limit {
                shear *= limit / elastic_shear;
                // The contact slides: an additional dashpot would exceed Coulomb's limit.
                total = shear;
            } else if total_shear > limit {
                total *= limit / total_shear;
            }
        }
        *state = ShearState { force: shear, normal: n, stiffness };
        n * pressing + total
    }

    /// Returns the elastic normal force (mN), the normal damping (kg/s), the shear stiffness (kg/s²),
    /// the shear damping (kg/s) and the coefficient of friction of a contact, in this order.
    fn coefficients(&self, contact: &ContactKinematics) -> (f64, f64, f64, f64, f64) {
        let mass = contact.mass;
        match *self {
            Self::Linear { normal, shear, restitution, friction } => {
                let twice = 2.0 * damping_ratio(restitution);
                let damping = twice * (mass * normal).sqrt();
                (normal * contact.overlap, damping, shear, twice * (mass * shear).sqrt(), friction)
            }
            Self::Hertz { modulus, shear, restitution, friction } => {
                // Stiffnesses are tangents of the force.
                let contact_radius = (contact.radius * contact.overlap).sqrt();
                let (tangent, shear) = (2.0 * modulus * contact_radius, 8.0 * shear * contact_radius);
                let part = 2.0 * (5.0_f64 / 6.0).sqrt() * damping_ratio(restitution);
                let elastic = tangent * contact.overlap * (2.0 / 3.0);
                (elastic, part * (tangent * mass).sqrt(), shear, part * (shear * mass).sqrt(), friction)
            }
        }
    }
}

/// Damping ratio of the dashpot with which a head-on impact has the coefficient of restitution
/// `restitution`. It is exact for both laws, because a contact ends when the overlap ends, although the
/// force pulls for a moment before that.
fn damping_ratio(restitution: f64) -> f64 {
    let ln = math::ln(restitution);
    -ln / (PI * PI + ln * ln).sqrt()
}

/// Effective radius (mm) of the contact of a sphere with a radius (mm) and a wall with principal
/// curvatures k (1/mm, positive where the wall is convex): the geometric mean of `1 / (1 / radius + k)`
/// for both k. Infinite curvatures, at edges and vertices, count as 0, as in *Faceted Walls in PFC*
/// (WALL).
pub(crate) fn radius_on_wall(radius: f64, curvatures: [f64; 2]) -> f64 {
    let relative = curvatures.map(|k| {
        let k = if k.is_finite() { k } else { 0.0 };
        (1.0 / radius + k).max(MIN_RELATIVE_CURVATURE / radius)
    });
    1.0 / (relative[0] * relative[1]).sqrt()
}

/// Minimum of the sum of the curvatures of a sphere and of a hollow wall, divided by the sphere's
/// curvature. At 0 the effective radius would be infinite; a larger value makes spheres in fitting
/// hollows softer.
const MIN_RELATIVE_CURVATURE: f64 = 1e-3;
