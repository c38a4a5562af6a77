//! Exact walls: contacts of particles with a solid, without triangles.
//!
//! Queries are in the frame of the wall, so walls may move. The cached result of a particle's last query
//! gives a distance that the particle can move without touching the wall, or lists all places of the
//! wall's boundary (faces, edges, vertices or areas of them) near the particle.
//!
//! # Source
//! MATH §21.

mod batch;
mod cache;
mod error;
mod superellipsoid;

pub use batch::WallContacts;
pub use cache::ProximityCache;
pub use error::WallError;
pub use superellipsoid::SuperellipsoidParticle;

use crate::contact::WallContact;
use crate::sphere::Sphere;
pub(crate) use batch::Batch;
use feeler_geom::{P3, Pose, V3};
use feeler_grains::convex as grains;
use feeler_runtime::{Body, Boundary, PointMinima, PointPosition, QueryError};
use std::sync::Arc;
use superellipsoid::LocalSuperellipsoid;

/// A solid as a wall, in a pose that may change.
#[derive(Clone, Debug)]
pub struct ExactWall {
    boundary: Arc<Boundary>,
    pose: Pose,
}

impl ExactWall {
    /// Creates a wall from a prepared solid, in the identity pose.
    #[must_use]
    pub fn new(body: Arc<Body>) -> Self {
        Self { boundary: Arc::new(Boundary::new(body)), pose: Pose::identity() }
    }

    /// Returns the solid of the wall.
    #[must_use]
    pub fn body(&self) -> &Arc<Body> {
        self.boundary.body()
    }

    /// Pose of the wall: from its coordinates to the world.
    #[must_use]
    pub fn pose(&self) -> &Pose {
        &self.pose
    }

    /// Moves the wall. Caches of particles remain valid, because they are in the wall's frame.
    ///
    /// # Errors
    /// A number is not finite.
    pub fn set_pose(&mut self, pose: &Pose) -> Result<(), WallError> {
        let numbers = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
        if !numbers.copied().all(f64::is_finite) {
            return Err(WallError::Pose);
        }
        self.pose = *pose;
        Ok(())
    }

    /// Computes all contacts of spheres (world) whose gaps are at most `reach` (mm), and writes them to
    /// `out`. The contacts of each sphere are sorted by increasing gap.
    ///
    /// A sphere whose centre is inside the material has one contact, with the nearest point of the
    /// boundary at any depth. Its gap is below minus the radius. `caches` has one cache for each sphere,
    /// and is resized to the number of spheres. A cache is valid for this wall and any sphere, so
    /// another order of spheres only takes more time; another wall requires its own caches. Contacts
    /// have the same bits for any caches and any number of threads. The function does not allocate once
    /// `out` has grown.
    ///
    /// # Errors
    /// A number is not finite, a radius or the reach is negative, or [`WallError::Coordinates`].
    pub fn contacts(
        &self,
        spheres: &[Sphere],
        reach: f64,
        caches: &mut Vec<ProximityCache>,
        out: &mut WallContacts,
    ) -> Result<(), WallError> {
        self.contacts_with_grains(spheres, |_| None, reach, caches, out)
    }

    /// Like [`contacts`](Self::contacts), but some of the spheres are the bounding spheres of grains.
    /// For an index at which `grain` returns a grain, the contacts of that grain are computed instead of
    /// those of the sphere.
    pub(crate) fn contacts_with_grains<'g>(
        &self,
        spheres: &[Sphere],
        grain: impl Fn(usize) -> Option<grains::Placed<'g>> + Sync,
        reach: f64,
        caches: &mut Vec<ProximityCache>,
        out: &mut WallContacts,
    ) -> Result<(), WallError> {
        check_reach(reach)?;
        let is_invalid =
            |s: &Sphere| !(s.radius >= 0.0 && s.radius.is_finite() && s.center.iter().all(|c| c.is_finite()));
        out.run(spheres, caches, |k, sphere, cache, batch| {
            if is_invalid(sphere) {
                return Err(());
            }
            match grain(k) {
                Some(grain) => {
                    self.find_local(&LocalSuperellipsoid::of_grain(&grain, &self.pose), reach, cache, batch)
                }
                None => self.find_sphere(sphere, reach, cache, batch),
            }
            .map_err(|_| ())
        })
        .map_err(|index| {
            let s = &spheres[index];
            let is_finite = s.center.iter().all(|c| c.is_finite());
            match self.boundary.can_reach(&self.local(&s.center), s.radius + reach) {
                _ if !is_finite => WallError::Position { index },
                Err(error) if !is_invalid(s) => WallError::Coordinates { index, error },
                _ => WallError::Radius { index, value: s.radius },
            }
        })
    }

    /// Like [`contacts`](Self::contacts), for superellipsoids. Gaps are along common normals, negative for
    /// overlaps.
    ///
    /// A contact with a face is reported only if the particle's centre is in front of the face there. A
    /// particle whose centre is inside the material has one contact, with the point of the boundary
    /// nearest to the centre.
    ///
    /// # Errors
    /// A number is not finite, semi-axes or exponents are out of range, the reach is negative, or
    /// [`WallError::Coordinates`].
    pub fn superellipsoid_contacts(
        &self,
        particles: &[SuperellipsoidParticle],
        reach: f64,
        caches: &mut Vec<ProximityCache>,
        out: &mut WallContacts,
    ) -> Result<(), WallError> {
        check_reach(reach)?;
        out.run(particles, caches, |_, particle, cache, batch| {
            particle.check(0).map_err(|_| ())?;
            let local = particle.local(&self.pose).ok_or(())?;
            self.find_local(&local, reach, cache, batch).map_err(|_| ())
        })
        .map_err(|index| {
            let particle = &particles[index];
            let Err(error) = particle.check(index) else {
                let local = particle.local(&self.pose);
                let refused = local
                    .and_then(|p| self.boundary.can_reach(p.center(), p.radius() + reach).err())
                    .map(|error| WallError::Coordinates { index, error });
                return refused.unwrap_or(WallError::Shape { index });
            };
            error
        })
    }

    /// Returns the boundary of the solid, which walls in different poses share.
    pub(crate) fn boundary(&self) -> Arc<Boundary> {
        Arc::clone(&self.boundary)
    }

    /// Returns a wall of the same solid in another pose.
    pub(crate) fn with_pose(&self, pose: &Pose) -> Self {
        Self { boundary: Arc::clone(&self.boundary), pose: *pose }
    }

    /// Computes the contacts of one sphere (world) whose gaps are at most 0, that is, where it touches
    /// or overlaps the wall. The sphere's centre must be finite.
    pub(crate) fn sphere_contacts<'b>(
        &self,
        sphere: &Sphere,
        cache: &mut ProximityCache,
        batch: &'b mut Batch,
    ) -> Result<&'b [WallContact], QueryError> {
        batch.contacts.clear();
        self.find_sphere(sphere, 0.0, cache, batch)?;
        Ok(&batch.contacts)
    }

    /// Computes the contacts of one grain (world) whose gaps are at most 0, that is, where it touches or
    /// overlaps the wall.
    pub(crate) fn grain_contacts<'b>(
        &self,
        grain: &grains::Placed<'_>,
        cache: &mut ProximityCache,
        batch: &'b mut Batch,
    ) -> Result<&'b [WallContact], QueryError> {
        batch.contacts.clear();
        self.find_local(&LocalSuperellipsoid::of_grain(grain, &self.pose), 0.0, cache, batch)?;
        Ok(&batch.contacts)
    }

    /// Finds the contacts of a superellipsoid or poly-superellipsoid, given in the frame of the wall,
    /// whose gaps are at most `reach` (mm). Transforms them to world coordinates and appends them to
    /// `batch.contacts`. `cache` is the particle's cache for this wall. Returns an error if
    /// [`Boundary::can_reach`] refuses the particle's coordinates.
    fn find_local(
        &self,
        local: &LocalSuperellipsoid,
        reach: f64,
        cache: &mut ProximityCache,
        batch: &mut Batch,
    ) -> Result<(), QueryError> {
        let near = local.radius() + reach;
        if cache.is_clear(local.center(), near) || !self.boundary.can_reach(local.center(), near)? {
            return Ok(());
        }
        let position = self.minima(local.center(), near, cache, batch);
        let into_world = |c: WallContact| WallContact {
            point: self.pose * c.point,
            normal: self.pose.rotation * c.normal,
            ..c
        };
        let Batch { query, places, contacts, shapes, .. } = batch;
        if position.is_inside {
            let out = query.minima().iter().map(|m| local.way_out(m)).filter(|c| c.gap <= reach);
            contacts.extend(out.map(into_world));
        } else if position.distance <= near {
            contacts.extend(local.contacts(&self.boundary, reach, places, shapes).map(into_world));
        }
        Ok(())
    }

    /// Transforms a point of the world into the frame of the wall. The wall's translation is subtracted
    /// first, so that an offset common to the point and the wall cancels.
    fn local(&self, p: &P3) -> P3 {
        self.pose.inverse_transform_point(p)
    }

    /// Finds the contacts of a sphere (world) whose gaps are at most `reach` (mm) and appends them, in
    /// world coordinates, to `batch.contacts`. `cache` is the sphere's cache for this wall. Returns an
    /// error if [`Boundary::can_reach`] refuses the sphere's coordinates.
    fn find_sphere(
        &self,
        sphere: &Sphere,
        reach: f64,
        cache: &mut ProximityCache,
        batch: &mut Batch,
    ) -> Result<(), QueryError> {
        let p = self.local(&sphere.center);
        let near = sphere.radius + reach;
        if cache.is_clear(&p, near) || !self.boundary.can_reach(&p, near)? {
            return Ok(());
        }
        self.minima(&p, near, cache, batch);
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

    /// Computes the local minima, up to `near` (mm), of the distance of the point `p` (wall's frame)
    /// from the boundary and stores them in `batch.query`. Returns the distance (mm) of `p` from the
    /// boundary and whether `p` is inside the wall's material. Uses the parts of the boundary that the
    /// cache lists, if it lists all that are near enough. Otherwise searches the boundary for near parts
    /// and stores their list in the cache.
    fn minima(&self, p: &P3, near: f64, cache: &mut ProximityCache, batch: &mut Batch) -> PointPosition {
        let boundary = &*self.boundary;
        let least = PointMinima::required_radius(boundary, near);
        let Batch { query, places, .. } = batch;
        let mut radius = cache.listed_radius(p);
        let is_known = radius >= least;
        if is_known {
            places.clear();
            places.extend(cache.places());
        } else {
            radius = least + LIST_MARGIN * near;
            query.places(boundary, p, radius, places);
        }
        let position = query.solve(boundary, p, near, radius, places);
        // The tolerance of the model is subtracted from the clearance.
        let clear = position.distance - PointMinima::required_radius(boundary, 0.0);
        if position.is_inside || position.distance <= near {
            if !is_known {
                cache.set(p, 0.0, radius, places);
            }
        } else if is_known {
            // The list is kept, because the particle may return.
            cache.set_clear(p, clear);
        } else {
            cache.set(p, clear, radius, places);
        }
        position
    }
}

fn check_reach(reach: f64) -> Result<(), WallError> {
    if reach.is_finite() && reach >= 0.0 { Ok(()) } else { Err(WallError::Reach { value: reach }) }
}

/// Additional distance up to which places are listed, as a multiple of the sum of the particle's radius
/// and the reach: the distance that the particle can move before the list is built anew. With a larger
/// value lists contain places that are not needed; with a smaller one they are built more often.
const LIST_MARGIN: f64 = 0.25;

/// Distance (mm) between two points given in the same frame.
pub(crate) fn distance(a: &P3, b: &[f64; 3]) -> f64 {
    V3::new(a.x - b[0], a.y - b[1], a.z - b[2]).norm()
}
