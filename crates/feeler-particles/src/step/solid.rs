//! Particles that are prepared solids, also concave ones: contacts at each place where they touch.
//!
//! Contacts with other solids, with exact walls and with planes are followed from step to step and looked for
//! again after a stride ([`Following`]); those with balls and grains are those of an exact wall. A plane has
//! no end: a solid meets the [`Piece`] of it that it is above.
//!
//! # Source
//! The effective radius of Hertz's law is the geometric mean of the relative radii of curvature, kept within
//! a factor of [`ROUNDEST`] of that of balls of equal volume, as for grains.

use super::Motion;
use super::grain::ROUNDEST;
use super::plane::Piece;
use super::wall::{PlaneWall, RigidMotion, SolidWall, WallMeeting, moving};
use crate::contact::WallContact;
use crate::exact::{Batch, ExactWall, Sphere};
use feeler_geom::{P3, Pose, V3, math};
use feeler_runtime::{Body, ContactPair, FollowOptions, Following, QueryError};
use nalgebra::{Translation3, UnitQuaternion};
use std::f64::consts::PI;
use std::sync::Arc;

/// A solid as the shape of a particle.
#[derive(Clone, Debug)]
pub(super) struct Solid {
    /// In its own coordinates.
    wall: ExactWall,
    /// Middle of the ball around it (own coordinates).
    middle: V3,
    /// From its own coordinates to the axes of inertia.
    turn: UnitQuaternion<f64>,
    /// Radius (mm) of the ball of equal volume.
    equal: f64,
    /// What of a plane it meets.
    piece: Piece,
}

impl PartialEq for Solid {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.wall.body(), other.wall.body())
            && (self.middle, self.turn, self.equal) == (other.middle, other.turn, other.equal)
    }
}

/// A solid in its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct MetSolid<'s> {
    solid: &'s Solid,
    pub(super) pose: Pose,
    /// Radius (mm) of the ball of equal volume.
    pub(super) equal: f64,
}

impl Solid {
    /// `turn`: from its own coordinates to the axes of inertia; `volume` in mm³. None of a solid that is too
    /// small or too large for a plane.
    pub(super) fn new(
        body: &Arc<Body>,
        around: &Sphere,
        turn: &UnitQuaternion<f64>,
        volume: f64,
    ) -> Option<Self> {
        let equal = math::powf(0.75 * volume / PI, 1.0 / 3.0);
        let piece = Piece::under(around.radius)?;
        let wall = ExactWall::new(Arc::clone(body));
        Some(Self { wall, middle: around.center.coords, turn: *turn, equal, piece })
    }

    /// In the place of the ball around it.
    pub(super) fn met(&self, center: &P3, motion: &Motion) -> MetSolid<'_> {
        let rotation = motion.rotation * self.turn;
        let origin = center.coords - rotation * self.middle;
        MetSolid {
            solid: self,
            pose: Pose::from_parts(Translation3::from(origin), rotation),
            equal: self.equal,
        }
    }
}

/// What questions reuse: one a thread.
#[derive(Debug, Default)]
pub(super) struct Asker {
    pairs: Vec<ContactPair>,
    pub(super) batch: Batch,
}

/// Pairs of bodies that are kept: more kinds of solids than these are asked more slowly.
const KEPT: usize = 32;

impl Asker {
    /// Contacts of B with A, followed, or looked for where that does not go on.
    pub(super) fn follow(
        &mut self,
        following: &mut Following,
        [(a, pose_a), (b, pose_b)]: [(&Arc<Body>, &Pose); 2],
    ) -> Result<(), QueryError> {
        let options = options(a, b);
        if following.go_on(a, b, pose_a, pose_b, &options)? {
            return Ok(());
        }
        let is_it = |p: &ContactPair| Arc::ptr_eq(p.body_a(), a) && Arc::ptr_eq(p.body_b(), b);
        let known = self.pairs.iter().position(is_it).unwrap_or_else(|| {
            if self.pairs.len() == KEPT {
                self.pairs.remove(0);
            }
            self.pairs.push(ContactPair::new(Arc::clone(a), Arc::clone(b)));
            self.pairs.len() - 1
        });
        following.ask(&mut self.pairs[known], pose_a, pose_b, &options)
    }
}

/// How far solids of a size move between two askings, and how deep they may be pressed, as parts of the size
/// of the smaller one; and of both walls.
const STRIDE: f64 = 0.02;
const DEPTH: f64 = 0.05;
const WALLS: f64 = 0.4;

fn options(a: &Body, b: &Body) -> FollowOptions {
    let size = a.size().min(b.size());
    FollowOptions {
        reach: 0.0,
        penetration: (DEPTH * size).min(WALLS * (a.min_thickness() + b.min_thickness())),
        stride: STRIDE * size,
    }
}

/// Effective radius (mm) of a gap of these curvatures, beside that of balls of equal volume.
pub(super) fn effective_radius(curvatures: [f64; 2], of_balls: f64) -> f64 {
    let product = curvatures[0].max(0.0) * curvatures[1].max(0.0);
    (1.0 / product.sqrt()).clamp(of_balls / ROUNDEST, of_balls * ROUNDEST)
}

impl MetSolid<'_> {
    pub(super) fn body(&self) -> &Arc<Body> {
        self.solid.wall.body()
    }

    /// As something that balls and grains meet.
    pub(super) fn as_wall(&self) -> ExactWall {
        self.solid.wall.at(&self.pose)
    }

    /// Its contacts with an exact wall. `is_clear`: the ball around it has none.
    pub(super) fn wall_contacts(
        &self,
        wall: &SolidWall,
        is_clear: bool,
        following: &mut Following,
        asker: &mut Asker,
        out: &mut Vec<WallMeeting>,
    ) -> Result<(), QueryError> {
        if is_clear {
            following.forget();
            return Ok(());
        }
        self.met(wall.wall.body(), wall.wall.pose(), &wall.motion, following, asker, out)
    }

    /// Its contacts with a plane. `center`: of the ball around it, and its radius (mm).
    pub(super) fn plane_contacts(
        &self,
        wall: &PlaneWall,
        (center, radius): (&P3, f64),
        following: &mut Following,
        asker: &mut Asker,
        out: &mut Vec<WallMeeting>,
    ) -> Result<(), QueryError> {
        if wall.height(center) >= radius {
            following.forget();
            return Ok(());
        }
        let piece = &self.solid.piece;
        let pose = piece.placed(&wall.frame(), center);
        piece.carry(following, &pose.inv_mul(&self.pose));
        self.met(piece.body(), &pose, &wall.motion, following, asker, out)
    }

    fn met(
        &self,
        wall: &Arc<Body>,
        pose: &Pose,
        motion: &Option<RigidMotion>,
        following: &mut Following,
        asker: &mut Asker,
        out: &mut Vec<WallMeeting>,
    ) -> Result<(), QueryError> {
        asker.follow(following, [(wall, pose), (self.body(), &self.pose)])?;
        out.extend(following.contacts().iter().filter(|c| c.distance < 0.0).map(|c| {
            let (point, normal) = (pose * c.local_a, pose.rotation * c.normal);
            let at = nalgebra::center(&point, &(self.pose * c.local_b));
            let (velocity, spin) = moving(motion, &at);
            let contact =
                WallContact { id: c.id, point, normal, gap: c.distance, curvatures: c.curvatures };
            let radius = Some(effective_radius(c.curvatures, self.equal));
            WallMeeting { contact, at, velocity, spin, radius }
        }));
        Ok(())
    }
}
