//! Exact walls: particles against a solid as it is, without triangles.
//!
//! Everything is asked in the frame of the wall, so walls may move. What was found last for a particle says
//! for how long it cannot be in contact, or which places of the wall alone it can be near.
//!
//! # Source
//! MATH §21.

mod batch;
mod error;
mod state;
mod superellipsoid;

pub use batch::WallContacts;
pub use error::WallError;
pub use state::ParticleState;
pub use superellipsoid::Superellipsoid;

use crate::WallContact;
pub(crate) use batch::Batch;
use feeler_geom::{P3, Pose, V3};
use feeler_grains::convex as grains;
use feeler_runtime::{Body, Boundary, PointMinima, QueryError, Standing};
use std::sync::Arc;
use superellipsoid::Placed;

/// A particle that is a ball.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    /// Centre (mm), in the world.
    pub center: P3,
    /// Radius (mm), not negative.
    pub radius: f64,
}

/// A solid that particles meet, in a pose that may change.
#[derive(Clone, Debug)]
pub struct ExactWall {
    boundary: Arc<Boundary>,
    pose: Pose,
}

impl ExactWall {
    /// A wall in the place of its own coordinates.
    #[must_use]
    pub fn new(body: Arc<Body>) -> Self {
        Self { boundary: Arc::new(Boundary::new(body)), pose: Pose::identity() }
    }

    /// The solid.
    #[must_use]
    pub fn body(&self) -> &Arc<Body> {
        self.boundary.body()
    }

    /// Where the wall is: from its coordinates to the world.
    #[must_use]
    pub fn pose(&self) -> &Pose {
        &self.pose
    }

    /// Moves the wall. What is known of particles stays good: their motion is measured in the wall's frame.
    ///
    /// # Errors
    /// Numbers that are not finite.
    pub fn set_pose(&mut self, pose: &Pose) -> Result<(), WallError> {
        let numbers = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
        if !numbers.copied().all(f64::is_finite) {
            return Err(WallError::Pose);
        }
        self.pose = *pose;
        Ok(())
    }

    /// All contacts of spheres with gaps of at most `reach` (mm), those of each particle by increasing gap.
    ///
    /// A centre inside the material has one contact, with the nearest place of the boundary, however deep
    /// it is: the shortest way out, with a gap below minus the radius. `states` is what was learnt about
    /// the places where particles were, a record each; it is made longer or shorter with the particles.
    /// What it says of this wall is true of any particle: another order costs time alone. Another wall
    /// needs its own. The contacts are the same, to the bit, for any states and any number of threads.
    /// Allocates nothing once `out` has grown.
    ///
    /// # Errors
    /// Numbers that are not finite, negative radii or reach; [`WallError::Coordinates`].
    pub fn contacts(
        &self,
        particles: &[Sphere],
        reach: f64,
        states: &mut Vec<ParticleState>,
        out: &mut WallContacts,
    ) -> Result<(), WallError> {
        self.contacts_of(particles, |_| None, reach, states, out)
    }

    /// The same where some of the spheres only hold a grain, whose contacts are meant.
    pub(crate) fn contacts_of<'g>(
        &self,
        particles: &[Sphere],
        grain: impl Fn(usize) -> Option<grains::Placed<'g>> + Sync,
        reach: f64,
        states: &mut Vec<ParticleState>,
        out: &mut WallContacts,
    ) -> Result<(), WallError> {
        check_reach(reach)?;
        let wrong =
            |s: &Sphere| !(s.radius >= 0.0 && s.radius.is_finite() && s.center.iter().all(|c| c.is_finite()));
        out.run(particles, states, |k, sphere, state, batch| {
            if wrong(sphere) {
                return Err(());
            }
            match grain(k) {
                Some(grain) => self.of_placed(&Placed::of_grain(&grain, &self.pose), reach, state, batch),
                None => self.of_sphere(sphere, reach, state, batch),
            }
            .map_err(|_| ())
        })
        .map_err(|index| {
            let s = &particles[index];
            let is_finite = s.center.iter().all(|c| c.is_finite());
            match self.boundary.can_reach(&self.local(&s.center), s.radius + reach) {
                _ if !is_finite => WallError::Position { index },
                Err(error) if !wrong(s) => WallError::Coordinates { index, error },
                _ => WallError::Radius { index, value: s.radius },
            }
        })
    }

    /// The same of superellipsoids: gaps along common normals, negative when pressed in.
    ///
    /// A contact counts where the centre is in front of the wall there. A centre inside the material has one,
    /// along the shortest way out of its centre.
    ///
    /// # Errors
    /// Numbers that are not finite, semi-axes or exponents out of range, a negative reach;
    /// [`WallError::Coordinates`].
    pub fn superellipsoid_contacts(
        &self,
        particles: &[Superellipsoid],
        reach: f64,
        states: &mut Vec<ParticleState>,
        out: &mut WallContacts,
    ) -> Result<(), WallError> {
        check_reach(reach)?;
        out.run(particles, states, |_, particle, state, batch| {
            particle.check(0).map_err(|_| ())?;
            let placed = particle.placed(&self.pose).ok_or(())?;
            self.of_placed(&placed, reach, state, batch).map_err(|_| ())
        })
        .map_err(|index| {
            let particle = &particles[index];
            let Err(wrong) = particle.check(index) else {
                let placed = particle.placed(&self.pose);
                let refused = placed
                    .and_then(|p| self.boundary.can_reach(p.center(), p.radius() + reach).err())
                    .map(|error| WallError::Coordinates { index, error });
                return refused.unwrap_or(WallError::Shape { index });
            };
            wrong
        })
    }

    /// Here and now somewhere else.
    pub(crate) fn at(&self, pose: &Pose) -> Self {
        Self { boundary: Arc::clone(&self.boundary), pose: *pose }
    }

    /// Contacts of a ball with gaps of 0 at most, at finite places.
    pub(crate) fn of_ball<'b>(
        &self,
        ball: &Sphere,
        state: &mut ParticleState,
        batch: &'b mut Batch,
    ) -> Result<&'b [WallContact], QueryError> {
        batch.contacts.clear();
        self.of_sphere(ball, 0.0, state, batch)?;
        Ok(&batch.contacts)
    }

    /// Contacts of a grain with gaps of 0 at most.
    pub(crate) fn of_grain<'b>(
        &self,
        grain: &grains::Placed<'_>,
        state: &mut ParticleState,
        batch: &'b mut Batch,
    ) -> Result<&'b [WallContact], QueryError> {
        batch.contacts.clear();
        self.of_placed(&Placed::of_grain(grain, &self.pose), 0.0, state, batch)?;
        Ok(&batch.contacts)
    }

    fn of_placed(
        &self,
        placed: &Placed,
        reach: f64,
        state: &mut ParticleState,
        batch: &mut Batch,
    ) -> Result<(), QueryError> {
        let near = placed.radius() + reach;
        if state.is_clear(placed.center(), near) || !self.boundary.can_reach(placed.center(), near)? {
            return Ok(());
        }
        let standing = self.minima(placed.center(), near, state, batch);
        let into_world = |c: WallContact| WallContact {
            point: self.pose * c.point,
            normal: self.pose.rotation * c.normal,
            ..c
        };
        let Batch { query, places, contacts, shapes, .. } = batch;
        if standing.is_inside {
            let out = query.minima().iter().map(|m| placed.way_out(m)).filter(|c| c.gap <= reach);
            contacts.extend(out.map(into_world));
        } else if standing.distance <= near {
            contacts.extend(placed.contacts(&self.boundary, reach, places, shapes).map(into_world));
        }
        Ok(())
    }

    /// A point of the world in the frame of the wall. The wall's translation is subtracted first, so that a
    /// large offset of both cancels.
    fn local(&self, p: &P3) -> P3 {
        self.pose.inverse_transform_point(p)
    }

    fn of_sphere(
        &self,
        sphere: &Sphere,
        reach: f64,
        state: &mut ParticleState,
        batch: &mut Batch,
    ) -> Result<(), QueryError> {
        let p = self.local(&sphere.center);
        let near = sphere.radius + reach;
        if state.is_clear(&p, near) || !self.boundary.can_reach(&p, near)? {
            return Ok(());
        }
        self.minima(&p, near, state, batch);
        for m in batch.query.minima() {
            batch.contacts.push(WallContact {
                id: m.id,
                point: self.pose * m.point,
                normal: self.pose.rotation * m.normal,
                gap: m.distance - sphere.radius,
                curvatures: m.curvatures,
            });
        }
        Ok(())
    }

    /// The minima of a point of the wall's frame, asking only the places that its state lists where these are
    /// all.
    fn minima(&self, p: &P3, near: f64, state: &mut ParticleState, batch: &mut Batch) -> Standing {
        let boundary = &*self.boundary;
        let least = PointMinima::least_radius(boundary, near);
        let Batch { query, places, .. } = batch;
        let mut radius = state.known_radius(p);
        let is_known = radius >= least;
        if is_known {
            places.clear();
            places.extend(state.places());
        } else {
            radius = least + MARGIN * near;
            query.places(boundary, p, radius, places);
        }
        let standing = query.solve(boundary, p, near, radius, places);
        // What the model leaves open does not count as room.
        let clear = standing.distance - PointMinima::least_radius(boundary, 0.0);
        if standing.is_inside || standing.distance <= near {
            if !is_known {
                state.set(p, 0.0, radius, places);
            }
        } else if is_known {
            // The list stays: the particle is about to come back, or to leave for good.
            state.set_clear(p, clear);
        } else {
            state.set(p, clear, radius, places);
        }
        standing
    }
}

fn check_reach(reach: f64) -> Result<(), WallError> {
    if reach.is_finite() && reach >= 0.0 { Ok(()) } else { Err(WallError::Reach { value: reach }) }
}

/// Part of the radius (with the reach) by which places are listed farther away: how far a particle moves with
/// one list.
const MARGIN: f64 = 0.25;

/// The vector between two points of one frame.
pub(crate) fn apart(a: &P3, b: &[f64; 3]) -> f64 {
    V3::new(a.x - b[0], a.y - b[1], a.z - b[2]).norm()
}
