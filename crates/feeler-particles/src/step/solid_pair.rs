//! Two particles of which one at least is a solid: all places where they touch.

use super::bodies::{Bodies, Touch};
use super::form::Form;
use super::grain::Met;
use super::solid::{Asker, MetSolid, effective_radius};
use crate::exact::{Batch, ParticleState, Sphere};
use crate::law::{Law, ShearState, radius_on};
use feeler_geom::{P3, Pose, V3};
use feeler_runtime::{FollowedContact, Following, QueryError};

/// What lasts of the contacts of two particles of which one at least is a solid.
#[derive(Clone, Debug)]
pub(super) struct SolidPair {
    pub(super) spheres: (u32, u32),
    /// Of two solids.
    pub(super) following: Following,
    /// Of a solid and a ball or grain: for speed.
    near: ParticleState,
    pub(super) shear: Vec<(u64, ShearState)>,
    /// Forces on the first one, and where.
    pub(super) acts: Vec<(V3, P3)>,
    /// Storage.
    before: Vec<(u64, ShearState)>,
}

impl SolidPair {
    pub(super) fn new(spheres: (u32, u32)) -> Self {
        Self {
            spheres,
            following: Following::default(),
            near: ParticleState::default(),
            shear: Vec::new(),
            acts: Vec::new(),
            before: Vec::new(),
        }
    }

    /// Finds the contacts and their forces.
    pub(super) fn act(
        &mut self,
        bodies: &Bodies<'_>,
        law: &Law,
        asker: &mut Asker,
        time: f64,
    ) -> Result<(), QueryError> {
        let [a, b] = [self.spheres.0, self.spheres.1].map(|k| bodies.form(k));
        let Self { spheres, following, near, shear, acts, before } = self;
        std::mem::swap(shear, before);
        shear.clear();
        acts.clear();
        let mut one = |(id, touch): (u64, Touch)| {
            let known = before.iter().find(|(known, _)| *known == id).map(|(_, state)| *state);
            let mut state = known.unwrap_or_else(|| ShearState::new(touch.normal));
            acts.push((bodies.force(law, *spheres, &touch, &mut state, time), touch.at));
            shear.push((id, state));
        };
        match (&a, &b) {
            (Form::Solid(x), Form::Solid(y)) => {
                let [of_x, of_y] = [x, y].map(|m| (m.body(), &m.pose));
                asker.follow(following, [of_x, of_y])?;
                let of_balls = x.equal * y.equal / (x.equal + y.equal);
                let told = following.contacts().iter().filter(|c| c.distance < 0.0);
                told.for_each(|c| one((c.id, between(c, &x.pose, &y.pose, of_balls))));
            }
            (Form::Solid(x), other) => touches(x, other, near, &mut asker.batch)?.for_each(one),
            (other, Form::Solid(y)) => {
                let turned = |(id, t): (u64, Touch)| (id, Touch { normal: -t.normal, ..t });
                touches(y, other, near, &mut asker.batch)?.map(turned).for_each(one);
            }
            _ => {}
        }
        Ok(())
    }
}

/// A followed contact; the normal points to the first solid.
fn between(c: &FollowedContact, pose_a: &Pose, pose_b: &Pose, of_balls: f64) -> Touch {
    Touch {
        overlap: -c.distance,
        normal: -(pose_a.rotation * c.normal),
        at: nalgebra::center(&(pose_a * c.local_a), &(pose_b * c.local_b)),
        radius: effective_radius(c.curvatures, of_balls),
    }
}

/// Where a solid touches a ball or a grain, told with the number of the place; normals point to the solid.
fn touches<'t>(
    solid: &MetSolid<'_>,
    other: &'t Form<'_>,
    state: &mut ParticleState,
    batch: &'t mut Batch,
) -> Result<impl Iterator<Item = (u64, Touch)> + 't, QueryError> {
    let wall = solid.as_wall();
    let found = match other {
        Form::Ball(center, radius) => {
            wall.of_ball(&Sphere { center: *center, radius: *radius }, state, batch)?
        }
        Form::Grain(Met { placed, .. }) => wall.of_grain(placed, state, batch)?,
        Form::Solid(_) => &[],
    };
    Ok(found.iter().filter(|c| c.gap < 0.0).map(|c| {
        let radius = radius_on(other.radius_at(&-c.normal), c.curvatures);
        let at = c.point + c.normal * (0.5 * c.gap);
        (c.id, Touch { overlap: -c.gap, normal: -c.normal, at, radius })
    }))
}
