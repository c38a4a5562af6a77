//! A wall of facets: its mesh, its motion and its active sides.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must take the cautious branch")]

use super::error::FacetError;
use super::mesh::{Mesh, NONE};
use super::tree::Tree;
use crate::rotation::advanced_pose;
use feeler_geom::{Aabb, P3, Pose, V3};
use serde::{Deserialize, Serialize};

/// Sides of a facet that have contacts. The normal, by the right-hand rule, points to the front.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ActiveSides {
    /// Shapes on either side of the facet have contacts.
    #[default]
    Both,
    /// Only shapes whose centre is in front of the facet's plane have contacts.
    Front,
    /// Only shapes whose centre is behind the facet's plane have contacts.
    Back,
    /// The facet has no contacts.
    None,
}

/// Resolution of the contacts of one shape with many facets into those of one surface.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Resolution {
    /// Among contacts linked through edges and vertices, the one with the largest overlap is active. A
    /// contact belongs to one facet: its shear state is lost as the shape moves to the next facet.
    #[default]
    Reduced,
    /// Like `Reduced`; in addition, facets hidden by others have no contacts, and a contact moves from facet
    /// to facet.
    Full {
        /// Maximum angle Θ (rad) between the normals of two facets from one of which a contact moves to
        /// the other.
        cutoff: f64,
    },
    /// Like `Full`; in addition, active contacts with facets of similar normals are combined into one.
    Proximity {
        /// Maximum angle Θ (rad) between the normals of two facets whose contacts are combined, or from
        /// one of which a contact moves to the other.
        cutoff: f64,
    },
}

impl Resolution {
    /// Cutoff angle Θ; `None` in reduced mode.
    pub(super) fn cutoff(self) -> Option<f64> {
        match self {
            Self::Reduced => None,
            Self::Full { cutoff } | Self::Proximity { cutoff } => Some(cutoff),
        }
    }
}

/// Prescribed motion of a wall, which does not react to forces.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum WallMotion {
    /// The wall is at rest.
    #[default]
    Still,
    /// The wall moves as a rigid body.
    Rigid {
        /// Velocity of the reference point (mm/s, world).
        velocity: V3,
        /// Angular velocity (rad/s, world).
        spin: V3,
        /// Reference point (world), which moves with `velocity`.
        center: P3,
    },
    /// Velocity of each vertex (mm/s, wall's coordinates), in the order of [`FacetWall::vertices`]. Facets
    /// must not intersect as they move, which is not checked.
    Vertices(Vec<V3>),
}

/// A wall of triangles, whose contacts are those of one surface.
///
/// The wall may be closed or open, with or without holes. Facets must not intersect each other except at
/// common edges and vertices. Vertices and facets are numbered by position, so that no result depends on
/// the order of the input.
#[derive(Clone, Debug)]
pub struct FacetWall {
    pub(super) mesh: Mesh,
    pub(super) tree: Tree,
    pub(super) sides: Vec<ActiveSides>,
    pub(super) resolution: Resolution,
    /// Pose that maps the wall's coordinates to the world.
    pose: Pose,
    motion: WallMotion,
    /// Number of times that the vertices or the active sides have changed; a change invalidates lists of
    /// near facets.
    pub(super) version: u64,
    /// Whether all facets are listed as near every shape, without the tree (tests only).
    #[cfg(test)]
    pub(crate) search_all: bool,
}

impl FacetWall {
    /// Creates a wall at rest, in reduced mode, from triangles, each given by the indices of its corners
    /// in `points` (mm).
    ///
    /// Equal points become one vertex: facets are neighbours if they share vertices. Facets with two equal
    /// corners and repeated facets are skipped.
    ///
    /// # Errors
    /// A point is not finite, a corner is not among the points, a facet has no area, or neighbours have
    /// opposite orientations.
    pub fn new(points: &[P3], triangles: &[[u32; 3]]) -> Result<Self, FacetError> {
        let mesh = Mesh::new(points, triangles)?;
        let tree = Tree::new(&mesh);
        let sides = vec![ActiveSides::Both; mesh.facets.len()];
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

    /// Sets the mode in which contacts with several facets are resolved.
    ///
    /// # Errors
    /// The cutoff angle is negative or not a number.
    pub fn set_resolution(&mut self, resolution: Resolution) -> Result<(), FacetError> {
        if resolution.cutoff().is_some_and(|angle| !(angle >= 0.0)) {
            return Err(FacetError::Setting("the cutoff angle must be 0 rad or more"));
        }
        self.resolution = resolution;
        Ok(())
    }

    /// Mode in which contacts with several facets are resolved.
    #[must_use]
    pub fn resolution(&self) -> Resolution {
        self.resolution
    }

    /// Sets the active sides of facets; `choose` receives each facet's number and corners (wall's
    /// coordinates).
    ///
    /// A shape whose centre passes from an inactive side to an active one receives the full force at once.
    pub fn set_sides(&mut self, mut choose: impl FnMut(u32, [P3; 3]) -> ActiveSides) {
        for k in 0..self.sides.len() {
            self.sides[k] = choose(super::mesh::id(k), self.mesh.corners(k));
        }
        self.version += 1;
    }

    /// Number of facets of the wall.
    #[must_use]
    pub fn facets(&self) -> usize {
        self.mesh.facets.len()
    }

    /// Number of skipped triangles of the input: those with two equal corners, and repeated ones.
    #[must_use]
    pub fn skipped(&self) -> usize {
        self.mesh.facet_of.len() - self.mesh.facets.len()
    }

    /// Number of the facet that a triangle of the input became; `None` if the triangle had two equal
    /// corners, or if no such triangle exists.
    #[must_use]
    pub fn facet_of(&self, triangle: usize) -> Option<u32> {
        self.mesh.facet_of.get(triangle).copied().filter(|k| *k != NONE)
    }

    /// Number of the vertex that a point of the input became; `None` if no such point exists.
    #[must_use]
    pub fn vertex_of(&self, point: usize) -> Option<u32> {
        self.mesh.vertex_of.get(point).copied()
    }

    /// Index of the first triangle of the input that became the facet; `None` if no such facet exists.
    #[must_use]
    pub fn source(&self, facet: u32) -> Option<usize> {
        self.mesh.source.get(facet as usize).map(|k| *k as usize)
    }

    /// Corners of a facet (wall's coordinates); `None` if no such facet exists.
    #[must_use]
    pub fn corners(&self, facet: u32) -> Option<[P3; 3]> {
        let is_there = (facet as usize) < self.mesh.facets.len();
        is_there.then(|| self.mesh.corners(facet as usize))
    }

    /// Unit normal of a facet (wall's coordinates), which points to its front; `None` if no such facet
    /// exists.
    #[must_use]
    pub fn normal(&self, facet: u32) -> Option<V3> {
        self.mesh.normals.get(facet as usize).copied()
    }

    /// Positions of all vertices (wall's coordinates), by number.
    #[must_use]
    pub fn vertices(&self) -> &[P3] {
        &self.mesh.vertices
    }

    /// Bounding box of the wall (wall's coordinates).
    #[must_use]
    pub fn bounds(&self) -> Aabb {
        self.tree.bounds()
    }

    /// Pose of the wall, which maps its coordinates to the world.
    #[must_use]
    pub fn pose(&self) -> &Pose {
        &self.pose
    }

    /// Sets the pose of the wall. The change is not a motion: contacts receive no velocity from it.
    pub fn set_pose(&mut self, pose: Pose) {
        self.pose = pose;
    }

    /// Prescribed motion of the wall.
    #[must_use]
    pub fn motion(&self) -> &WallMotion {
        &self.motion
    }

    /// Sets the motion that later calls of [`advance`](Self::advance) make.
    ///
    /// # Errors
    /// A velocity is not finite, or the number of velocities is not that of the vertices.
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

    /// Sets the velocity of each vertex (mm/s) to the value of `field` at the vertex. Velocities and
    /// positions are in the wall's coordinates.
    ///
    /// # Errors
    /// A velocity is not finite.
    pub fn set_velocity_field(&mut self, field: impl FnMut(&P3) -> V3) -> Result<(), FacetError> {
        let velocities = self.mesh.vertices.iter().map(field).collect();
        self.set_motion(WallMotion::Vertices(velocities))
    }

    /// Moves the wall by its motion over a time (s).
    ///
    /// # Errors
    /// A facet has lost its area; the wall is then unchanged.
    pub fn advance(&mut self, time: f64) -> Result<(), FacetError> {
        match &mut self.motion {
            WallMotion::Still => {}
            WallMotion::Rigid { velocity, spin, center } => {
                self.pose = advanced_pose(&self.pose, velocity, spin, center, time);
            }
            WallMotion::Vertices(velocities) => {
                let before = self.mesh.vertices.clone();
                for (vertex, velocity) in self.mesh.vertices.iter_mut().zip(velocities.iter()) {
                    *vertex += *velocity * time;
                }
                if let Err(facet) = self.mesh.measure() {
                    self.mesh.vertices = before;
                    // This cannot fail: each facet had an area before.
                    let _ = self.mesh.measure();
                    return Err(FacetError::Collapsed(self.mesh.source[facet] as usize));
                }
                self.tree.refit(&self.mesh);
                self.version += 1;
            }
        }
        Ok(())
    }

    /// Sets the positions of the vertices to those of a saved state.
    ///
    /// # Errors
    /// The number of positions is not that of the vertices, a position is not finite, or a facet has no
    /// area.
    pub(crate) fn set_vertices(&mut self, positions: &[P3]) -> Result<(), FacetError> {
        let are_finite = positions.iter().all(|p| p.iter().all(|c| c.is_finite()));
        if positions.len() != self.mesh.vertices.len() || !are_finite {
            return Err(FacetError::Setting("the wall has other vertices than the saved one"));
        }
        let before = std::mem::replace(&mut self.mesh.vertices, positions.to_vec());
        if let Err(facet) = self.mesh.measure() {
            self.mesh.vertices = before;
            let _ = self.mesh.measure();
            return Err(FacetError::Collapsed(self.mesh.source[facet] as usize));
        }
        self.tree.refit(&self.mesh);
        self.version += 1;
        Ok(())
    }

    /// Reference point (world) of the moments on the wall: the centre of its rigid motion, or, without
    /// one, the origin of the wall's coordinates.
    #[must_use]
    pub fn reference(&self) -> P3 {
        match &self.motion {
            WallMotion::Rigid { center, .. } => *center,
            _ => self.pose.translation.vector.into(),
        }
    }

    /// Velocity (mm/s, world) of the point `p` (world) of a facet, and the angular velocity (rad/s,
    /// world) of the wall there.
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

    /// Barycentric coordinates of the point `p` (wall's coordinates), projected to the plane of a facet.
    fn weights(&self, facet: u32, p: &P3) -> [f64; 3] {
        let [a, b, c] = self.mesh.corners(facet as usize);
        let n = self.mesh.normals[facet as usize];
        let area = n.dot(&(b - a).cross(&(c - a)));
        let of = |u: &P3, v: &P3| n.dot(&(u - p).cross(&(v - p))) / area;
        [of(&b, &c), of(&c, &a), of(&a, &b)]
    }

    /// Whether a facet has contacts with a shape whose centre is at the signed distance `signed` (mm)
    /// from its plane.
    pub(super) fn is_active(&self, facet: u32, signed: f64) -> bool {
        match self.sides[facet as usize] {
            ActiveSides::Both => true,
            ActiveSides::Front => signed >= 0.0,
            ActiveSides::Back => signed <= 0.0,
            ActiveSides::None => false,
        }
    }
}
