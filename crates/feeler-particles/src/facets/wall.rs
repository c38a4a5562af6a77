//! A wall of facets: what it is made of, how it moves, which sides are active.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must take the cautious branch")]

use super::error::FacetError;
use super::mesh::{Mesh, NONE};
use super::tree::Tree;
use crate::rotation::moved_on;
use feeler_geom::{Aabb, P3, Pose, V3};

/// From which sides a facet is felt. The front is where its normal points, by the right-hand rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sides {
    /// From both.
    #[default]
    Both,
    /// By balls whose centre is in front of its plane.
    Front,
    /// By balls whose centre is behind its plane.
    Back,
    /// Not at all.
    None,
}

/// How the contacts of one ball with many facets are made those of one surface.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Resolution {
    /// Of contacts linked through edges and vertices the one with the largest overlap is active. A contact is
    /// that of one facet: what friction remembers is lost where the ball moves on to the next one.
    #[default]
    Reduced,
    /// Also, what is behind other facets of the wall is not felt, and a contact moves on from facet to facet.
    Full {
        /// Largest angle Θ (rad) between normals of facets that a contact moves on to.
        cutoff: f64,
    },
    /// Also, active contacts with facets that hardly differ in direction are one contact.
    Proximity {
        /// Largest angle Θ (rad) between normals of facets whose contacts are one, or that a contact moves on
        /// to.
        cutoff: f64,
    },
}

impl Resolution {
    /// Θ; none in reduced mode.
    pub(super) fn cutoff(self) -> Option<f64> {
        match self {
            Self::Reduced => None,
            Self::Full { cutoff } | Self::Proximity { cutoff } => Some(cutoff),
        }
    }
}

/// How a wall moves. It obeys no equations of motion.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum WallMotion {
    /// Not at all.
    #[default]
    Still,
    /// As a rigid body.
    Rigid {
        /// Velocity of the reference point (mm/s).
        velocity: V3,
        /// Angular velocity (rad/s).
        spin: V3,
        /// The reference point (world), which moves along with `velocity`.
        center: P3,
    },
    /// Each vertex with its own velocity (mm/s, in the wall's coordinates), in the order of
    /// [`FacetWall::vertices`]. Facets must not come to pass through one another, which is not checked.
    Vertices(Vec<V3>),
}

/// A wall of triangles, which balls meet as one surface.
///
/// It may be closed or open, with or without holes. Facets must not pass through one another. Vertices and
/// facets are numbered by where they are, so that no result depends on the order of the input.
#[derive(Clone, Debug)]
pub struct FacetWall {
    pub(super) mesh: Mesh,
    pub(super) tree: Tree,
    pub(super) sides: Vec<Sides>,
    pub(super) resolution: Resolution,
    /// From the wall's coordinates to the world's.
    pose: Pose,
    motion: WallMotion,
    /// How often its facets have changed.
    pub(super) version: u64,
    /// Whether all facets are looked at, without the tree.
    #[cfg(test)]
    pub(crate) search_all: bool,
}

impl FacetWall {
    /// A wall of triangles (mm), given by their corners' numbers among the points, in reduced mode, at rest.
    ///
    /// Equal points become one vertex: facets are neighbours where they share vertices. Facets with two equal
    /// corners, and repetitions of a facet, are left out.
    ///
    /// # Errors
    /// Points that are not finite, corners that are no points, facets without an area, neighbours
    /// that look to opposite sides.
    pub fn new(points: &[P3], triangles: &[[u32; 3]]) -> Result<Self, FacetError> {
        let mesh = Mesh::new(points, triangles)?;
        let tree = Tree::new(&mesh);
        let sides = vec![Sides::Both; mesh.facets.len()];
        let (pose, motion) = (Pose::identity(), WallMotion::Still);
        Ok(Self {
            mesh,
            tree,
            sides,
            resolution: Resolution::Reduced,
            pose,
            motion,
            version: 0,
            #[cfg(test)]
            search_all: false,
        })
    }

    /// Chooses how contacts are resolved.
    ///
    /// # Errors
    /// A cutoff angle that is negative or no number.
    pub fn set_resolution(&mut self, resolution: Resolution) -> Result<(), FacetError> {
        if resolution.cutoff().is_some_and(|angle| !(angle >= 0.0)) {
            return Err(FacetError::Setting("the cutoff angle must be 0 rad or more"));
        }
        self.resolution = resolution;
        Ok(())
    }

    /// How contacts are resolved.
    #[must_use]
    pub fn resolution(&self) -> Resolution {
        self.resolution
    }

    /// Chooses from which sides facets are felt; `choose` is told each facet's number and corners (wall's
    /// coordinates).
    ///
    /// A ball that comes over from an inactive side to an active one meets its full force at once.
    pub fn set_sides(&mut self, mut choose: impl FnMut(u32, [P3; 3]) -> Sides) {
        for k in 0..self.sides.len() {
            self.sides[k] = choose(super::mesh::id(k), self.mesh.corners(k));
        }
        self.version += 1;
    }

    /// Number of facets.
    #[must_use]
    pub fn facets(&self) -> usize {
        self.mesh.facets.len()
    }

    /// How many triangles of the input were left out: those with two equal corners, and repetitions.
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.mesh.facet_of.len() - self.mesh.facets.len()
    }

    /// The facet that a triangle of the input has become; none if it had two equal corners.
    #[must_use]
    pub fn facet_of(&self, triangle: usize) -> Option<u32> {
        self.mesh.facet_of.get(triangle).copied().filter(|k| *k != NONE)
    }

    /// The vertex that a point of the input has become.
    #[must_use]
    pub fn vertex_of(&self, point: usize) -> Option<u32> {
        self.mesh.vertex_of.get(point).copied()
    }

    /// The triangle of the input that a facet was, the first one of several.
    #[must_use]
    pub fn source(&self, facet: u32) -> Option<usize> {
        self.mesh.source.get(facet as usize).map(|k| *k as usize)
    }

    /// Corners of a facet (wall's coordinates).
    #[must_use]
    pub fn corners(&self, facet: u32) -> Option<[P3; 3]> {
        let is_there = (facet as usize) < self.mesh.facets.len();
        is_there.then(|| self.mesh.corners(facet as usize))
    }

    /// Unit normal of a facet (wall's coordinates).
    #[must_use]
    pub fn normal(&self, facet: u32) -> Option<V3> {
        self.mesh.normals.get(facet as usize).copied()
    }

    /// All vertices (wall's coordinates).
    #[must_use]
    pub fn vertices(&self) -> &[P3] {
        &self.mesh.vertices
    }

    /// Box around the wall (wall's coordinates).
    #[must_use]
    pub fn bounds(&self) -> Aabb {
        self.tree.bounds()
    }

    /// Where the wall is: from its coordinates to the world's.
    #[must_use]
    pub fn pose(&self) -> &Pose {
        &self.pose
    }

    /// Puts the wall somewhere else.
    pub fn set_pose(&mut self, pose: Pose) {
        self.pose = pose;
    }

    /// How it moves.
    #[must_use]
    pub fn motion(&self) -> &WallMotion {
        &self.motion
    }

    /// Chooses how it moves from now on.
    ///
    /// # Errors
    /// Velocities that are not finite, or not one for each vertex.
    pub fn set_motion(&mut self, motion: WallMotion) -> Result<(), FacetError> {
        let is_finite = |v: &V3| v.iter().all(|c| c.is_finite());
        let is_good = match &motion {
            WallMotion::Still => true,
            WallMotion::Rigid { velocity, spin, center } => {
                is_finite(velocity) && is_finite(spin) && is_finite(&center.coords)
            }
            WallMotion::Vertices(velocities) => {
                if velocities.len() != self.mesh.vertices.len() {
                    return Err(FacetError::Setting("a wall needs one velocity for each of its vertices"));
                }
                velocities.iter().all(is_finite)
            }
        };
        if !is_good {
            return Err(FacetError::Setting("velocities of walls must be finite"));
        }
        self.motion = motion;
        Ok(())
    }

    /// Gives each vertex the velocity (mm/s) that a field has there (all in the wall's coordinates).
    ///
    /// # Errors
    /// Velocities that are not finite.
    pub fn set_velocity_field(&mut self, field: impl FnMut(&P3) -> V3) -> Result<(), FacetError> {
        let velocities = self.mesh.vertices.iter().map(field).collect();
        self.set_motion(WallMotion::Vertices(velocities))
    }

    /// Moves on by a time (s).
    ///
    /// # Errors
    /// A facet that has lost its area; the wall is then as it was.
    pub fn advance(&mut self, time: f64) -> Result<(), FacetError> {
        match &mut self.motion {
            WallMotion::Still => {}
            WallMotion::Rigid { velocity, spin, center } => {
                self.pose = moved_on(&self.pose, velocity, spin, center, time);
            }
            WallMotion::Vertices(velocities) => {
                let before = self.mesh.vertices.clone();
                for (vertex, velocity) in self.mesh.vertices.iter_mut().zip(velocities.iter()) {
                    *vertex += *velocity * time;
                }
                if let Err(facet) = self.mesh.measure() {
                    self.mesh.vertices = before;
                    // It had an area before.
                    let _ = self.mesh.measure();
                    return Err(FacetError::Collapsed(self.mesh.source[facet] as usize));
                }
                self.tree.refit(&self.mesh);
                self.version += 1;
            }
        }
        Ok(())
    }

    /// Moves the vertices to where they were in a saved state.
    ///
    /// # Errors
    /// Not one place for each vertex, places that are not finite, or a facet without an area.
    pub(crate) fn set_vertices(&mut self, places: &[P3]) -> Result<(), FacetError> {
        if places.len() != self.mesh.vertices.len() || places.iter().any(|p| !p.iter().all(|c| c.is_finite()))
        {
            return Err(FacetError::Setting("the wall has other vertices than the saved one"));
        }
        let before = std::mem::replace(&mut self.mesh.vertices, places.to_vec());
        if let Err(facet) = self.mesh.measure() {
            self.mesh.vertices = before;
            let _ = self.mesh.measure();
            return Err(FacetError::Collapsed(self.mesh.source[facet] as usize));
        }
        self.tree.refit(&self.mesh);
        self.version += 1;
        Ok(())
    }

    /// The point about which moments on the wall are told (world): that of its rigid motion, or the origin of
    /// its coordinates.
    #[must_use]
    pub fn reference(&self) -> P3 {
        match &self.motion {
            WallMotion::Rigid { center, .. } => *center,
            _ => self.pose.translation.vector.into(),
        }
    }

    /// Velocity (mm/s, world) of a point of a facet (world), and the wall's angular velocity.
    #[must_use]
    pub fn velocity_at(&self, facet: u32, p: &P3) -> (V3, V3) {
        match &self.motion {
            WallMotion::Still => (V3::zeros(), V3::zeros()),
            WallMotion::Rigid { velocity, spin, center } => (velocity + spin.cross(&(p - center)), *spin),
            WallMotion::Vertices(velocities) => {
                let Some(facet_vertices) = self.mesh.facets.get(facet as usize) else {
                    return (V3::zeros(), V3::zeros());
                };
                let weights = self.weights(facet, &self.pose.inverse_transform_point(p));
                let local: V3 = (0..3).map(|k| velocities[facet_vertices[k] as usize] * weights[k]).sum();
                (self.pose.rotation * local, V3::zeros())
            }
        }
    }

    /// Barycentric coordinates of a point in the plane of a facet.
    fn weights(&self, facet: u32, p: &P3) -> [f64; 3] {
        let [a, b, c] = self.mesh.corners(facet as usize);
        let n = self.mesh.normals[facet as usize];
        let area = n.dot(&(b - a).cross(&(c - a)));
        let of = |u: &P3, v: &P3| n.dot(&(u - p).cross(&(v - p))) / area;
        [of(&b, &c), of(&c, &a), of(&a, &b)]
    }

    /// Whether a facet is felt by a ball at a signed distance from its plane.
    pub(super) fn is_felt(&self, facet: u32, signed: f64) -> bool {
        match self.sides[facet as usize] {
            Sides::Both => true,
            Sides::Front => signed >= 0.0,
            Sides::Back => signed <= 0.0,
            Sides::None => false,
        }
    }
}
