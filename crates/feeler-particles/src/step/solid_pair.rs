//! Pairs of particles at least one of which is a solid: all their contacts.

use super::contact_history::state_of;
use super::force::{PairContact, ParticleStates};
use super::pair_queries::PairQueries;
use super::shape::PosedShape;
use super::solid::{PosedSolid, effective_radius};
use crate::exact::{Batch, ProximityCache};
use crate::law::{Law, ShearState, radius_on_wall};
use feeler_geom::{P3, Pose, V3};
use feeler_runtime::{ContactFollower, FollowedContact, QueryError};

/// A pair of colliders at least one of which is a solid, with the contact history that persists from step to
/// step.
#[derive(Clone, Debug)]
pub(super) struct SolidPair {
    pub(super) colliders: (u32, u32),
    /// Tracked contacts if both colliders are solids; empty otherwise.
    pub(super) tracked: ContactFollower,
    /// Proximity cache of the sphere or grain, if one of the colliders is one.
    cache: ProximityCache,
    /// Shear states of the pair's contacts, each with the identity of its contact.
    pub(super) shear: Vec<(u64, ShearState)>,
    /// Forces (mN) on the first collider, one for each contact, with the points (mm, world) at which
    /// they act.
    pub(super) forces: Vec<(V3, P3)>,
    /// Scratch buffer for the shear states of the previous step.
    previous_shear: Vec<(u64, ShearState)>,
}

impl SolidPair {
    pub(super) fn new(colliders: (u32, u32)) -> Self {
        Self {
            colliders,
            tracked: ContactFollower::default(),
            cache: ProximityCache::default(),
            shear: Vec::new(),
            forces: Vec::new(),
            previous_shear: Vec::new(),
        }
    }

    /// Computes the contacts of the pair and their forces, and updates shear states over a step of
    /// `time` (s).
    pub(super) fn update(
        &mut self,
        states: &ParticleStates<'_>,
        law: &Law,
        queries: &mut PairQueries,
        time: f64,
    ) -> Result<(), QueryError> {
        let [a, b] = [self.colliders.0, self.colliders.1].map(|k| states.posed(k));
        let Self { colliders, tracked, cache, shear, forces, previous_shear } = self;
        std::mem::swap(shear, previous_shear);
        shear.clear();
        forces.clear();
        let mut add = |(id, contact): (u64, PairContact)| {
            let known = state_of(previous_shear, id);
            let mut state = known.unwrap_or_else(|| ShearState::new(contact.normal));
            forces.push((states.pair_force(law, *colliders, &contact, &mut state, time), contact.acts_at));
            shear.push((id, state));
        };
        match (&a, &b) {
            (PosedShape::Solid(x), PosedShape::Solid(y)) => {
                let [of_x, of_y] = [x, y].map(|solid| (solid.body(), &solid.pose));
                queries.track(tracked, [of_x, of_y])?;
                let of_spheres = x.equal_radius * y.equal_radius / (x.equal_radius + y.equal_radius);
                let overlapping = tracked.contacts().iter().filter(|c| c.distance < 0.0);
                overlapping.for_each(|c| add((c.id, pair_contact(c, &x.pose, &y.pose, of_spheres))));
            }
            (PosedShape::Solid(x), other) => contacts(x, other, cache, &mut queries.batch)?.for_each(add),
            (other, PosedShape::Solid(y)) => {
                let reversed = |(id, c): (u64, PairContact)| (id, PairContact { normal: -c.normal, ..c });
                contacts(y, other, cache, &mut queries.batch)?.map(reversed).for_each(add);
            }
            _ => {}
        }
        Ok(())
    }
}

/// Converts a tracked contact of the solids A and B with poses (world) to a contact of their colliders.
/// `of_spheres` is the effective radius (mm) of the contact of spheres of equal volume.
fn pair_contact(c: &FollowedContact, pose_a: &Pose, pose_b: &Pose, of_spheres: f64) -> PairContact {
    PairContact {
        overlap: -c.distance,
        normal: -(pose_a.rotation * c.normal),
        acts_at: nalgebra::center(&(pose_a * c.local_a), &(pose_b * c.local_b)),
        radius: effective_radius(c.curvatures, of_spheres),
    }
}

/// Computes the contacts of a solid with a sphere or a grain, each with its identity. Normals point from
/// the sphere or grain to the solid.
fn contacts<'t>(
    solid: &PosedSolid<'_>,
    other: &'t PosedShape<'_>,
    cache: &mut ProximityCache,
    batch: &'t mut Batch,
) -> Result<impl Iterator<Item = (u64, PairContact)> + 't, QueryError> {
    let wall = solid.as_wall();
    let found = match other {
        PosedShape::Sphere(sphere) => wall.sphere_contacts(sphere, cache, batch)?,
        PosedShape::Grain(grain) => wall.grain_contacts(&grain.placed, cache, batch)?,
        PosedShape::Solid(_) => &[],
    };
    Ok(found.iter().filter(|c| c.gap < 0.0).map(|c| {
        let radius = radius_on_wall(other.radius_at(&-c.normal), c.curvatures);
        let acts_at = c.point + c.normal * (0.5 * c.gap);
        (c.id, PairContact { overlap: -c.gap, normal: -c.normal, acts_at, radius })
    }))
}
