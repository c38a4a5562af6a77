//! What particles are where they are: balls, grains of smooth shape, solids.

use super::Motion;
use super::grain::{Met, Smooth};
use super::solid::{MetSolid, Solid};
use feeler_geom::{P3, Pose, V3};
use feeler_grains::convex::{Contact, Grain, Placed, contact};
use nalgebra::{Translation3, UnitQuaternion};

/// The shape of a particle that is no ball.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shaped {
    Grain(Smooth),
    Solid(Solid),
}

/// A particle, or a sphere of one, in its place.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form<'g> {
    /// Centre and radius (mm).
    Ball(P3, f64),
    Grain(Met<'g>),
    Solid(MetSolid<'g>),
}

impl Shaped {
    /// In the place of the ball around it; none where that is at no finite place.
    pub(super) fn placed(&self, center: &P3, motion: &Motion) -> Option<Form<'_>> {
        match self {
            Self::Grain(smooth) => smooth.met(center, motion).map(Form::Grain),
            Self::Solid(solid) => Some(Form::Solid(solid.met(center, motion))),
        }
    }

    pub(super) fn is_solid(&self) -> bool {
        matches!(self, Self::Solid(_))
    }
}

/// The contact of two bodies that are balls or grains, or none where they are apart. `warm`: the normal of
/// the step before, from the second body to the first.
pub(super) fn touch(a: &Form<'_>, b: &Form<'_>, warm: Option<V3>) -> Option<Contact> {
    let (mut round_a, mut round_b) = (None, None);
    let (a, b) = (as_grain(a, &mut round_a)?, as_grain(b, &mut round_b)?);
    contact(&a, &b, 0.0, warm.map(|n| -n)).filter(|c| c.gap < 0.0)
}

/// A ball is a grain, too.
fn as_grain<'g>(body: &Form<'g>, round: &'g mut Option<Grain>) -> Option<Placed<'g>> {
    match body {
        Form::Grain(met) => Some(met.placed),
        Form::Solid(_) => None,
        Form::Ball(center, radius) => {
            let grain = Grain::superellipsoid(V3::repeat(*radius), [1.0, 1.0]).ok()?;
            let pose = Pose::from_parts(Translation3::from(center.coords), UnitQuaternion::identity());
            Placed::new(round.insert(grain), &pose).ok()
        }
    }
}

impl Form<'_> {
    /// Radius (mm) of the ball that it is like where its outward normal is `n`.
    pub(super) fn radius_at(&self, n: &V3) -> f64 {
        match self {
            Self::Ball(_, radius) => *radius,
            Self::Grain(met) => met.radius_at(n),
            Self::Solid(solid) => solid.equal,
        }
    }
}
