//! Where balls may be.

use super::FillError;
use crate::exact::Sphere;
use crate::facets::FacetWall;
use feeler_geom::{Aabb, P3, V3, math};
use feeler_grains::Random;
use std::f64::consts::PI;

/// A region that balls are placed in, whole (mm, world).
#[derive(Clone, Copy, Debug)]
pub enum FillRegion<'a> {
    /// Between two corners.
    Box {
        /// Least coordinates.
        min: P3,
        /// Largest coordinates.
        max: P3,
    },
    /// A cylinder with flat ends.
    Cylinder {
        /// Middle of one end.
        from: P3,
        /// Middle of the other end.
        to: P3,
        /// Its radius.
        radius: f64,
    },
    /// What a closed wall of facets encloses, where it is now, between two heights.
    Inside {
        /// The wall.
        wall: &'a FacetWall,
        /// Least z of the balls.
        above: f64,
        /// Largest z of the balls.
        below: f64,
    },
}

impl FillRegion<'_> {
    /// A random place for a ball in the region, or none where it is not in the region there: ask again then.
    pub fn place(&self, radius: f64, random: &mut Random) -> Option<Sphere> {
        let ball = Sphere { center: self.random(radius, random)?, radius };
        self.holds(&ball).then_some(ball)
    }

    /// Whether it is a region at all.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Result<(), FillError> {
        let wrong = |text: String| Err(FillError::Region(text));
        match self {
            Self::Box { min, max } => {
                if !(0..3).all(|k| min[k] < max[k] && (max[k] - min[k]).is_finite()) {
                    return wrong("a box needs two corners, the least coordinates first".to_owned());
                }
            }
            Self::Cylinder { from, to, radius } => {
                let length = (to - from).norm();
                if !(length > 0.0 && length.is_finite() && *radius > 0.0 && radius.is_finite()) {
                    return wrong("a cylinder needs two different ends and a radius above 0".to_owned());
                }
            }
            Self::Inside { wall, above, below } => {
                let open = wall.open_sides();
                if open > 0 {
                    return wrong(format!(
                        "the wall is not closed: {open} sides of facets have no neighbour; give a box or a \
                         cylinder, or close it"
                    ));
                }
                if !(above < below) {
                    return wrong(format!("nothing is above {above} mm and below {below} mm"));
                }
            }
        }
        Ok(())
    }

    /// A random place for the centre of a ball in a box around the region, or none where the ball is too
    /// large.
    pub(super) fn random(&self, radius: f64, random: &mut Random) -> Option<P3> {
        match self {
            Self::Box { min, max } => within(&Aabb { min: *min, max: *max }, radius, random),
            Self::Cylinder { from, to, radius: across } => {
                let (length, room) = ((to - from).norm(), across - radius);
                if length < 2.0 * radius || room < 0.0 {
                    return None;
                }
                let axis = (to - from) / length;
                let u = axis.cross(&V3::ith(axis.iamin(), 1.0)).normalize();
                let v = axis.cross(&u);
                let (sin, cos) = math::sin_cos(random.between(0.0, 2.0 * PI));
                let off = room * random.part().sqrt();
                let along = random.between(radius, length - radius);
                Some(from + axis * along + (u * cos + v * sin) * off)
            }
            Self::Inside { wall, above, below } => {
                let mut bounds = wall.placed_bounds();
                (bounds.min.z, bounds.max.z) = (bounds.min.z.max(*above), bounds.max.z.min(*below));
                within(&bounds, radius, random)
            }
        }
    }

    /// Whether a ball at such a place is in the region.
    pub(super) fn holds(&self, ball: &Sphere) -> bool {
        match self {
            Self::Box { .. } | Self::Cylinder { .. } => true,
            Self::Inside { wall, .. } => {
                !wall.reaches(&ball.center, ball.radius) && wall.encloses(&ball.center)
            }
        }
    }
}

fn within(bounds: &Aabb, radius: f64, random: &mut Random) -> Option<P3> {
    let room = bounds.max - bounds.min - V3::repeat(2.0 * radius);
    (room.min() >= 0.0).then(|| {
        let parts = V3::new(random.part(), random.part(), random.part());
        bounds.min + V3::repeat(radius) + room.component_mul(&parts)
    })
}
