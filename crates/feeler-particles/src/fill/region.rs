//! Regions that spheres are placed in.

use super::FillError;
use crate::facets::FacetWall;
use crate::sphere::Sphere;
use feeler_geom::{Aabb, P3, V3, math};
use feeler_grains::Random;
use std::f64::consts::PI;

/// A region (mm, world) that spheres are placed in; they lie in it completely.
#[derive(Clone, Copy, Debug)]
pub enum FillRegion<'a> {
    /// A box, parallel to the axes, between two corners.
    Box {
        /// Corner with the smallest coordinates.
        min: P3,
        /// Corner with the largest coordinates.
        max: P3,
    },
    /// A cylinder with flat ends.
    Cylinder {
        /// Centre of one end face of the cylinder.
        from: P3,
        /// Centre of the other end face.
        to: P3,
        /// Radius of the cylinder (mm).
        radius: f64,
    },
    /// Volume that a closed wall of facets encloses in its present pose, between two heights along z (world).
    Inside {
        /// Closed wall around the volume.
        wall: &'a FacetWall,
        /// Smallest z (mm) of points of the spheres.
        above: f64,
        /// Largest z (mm) of points of the spheres.
        below: f64,
    },
}

impl FillRegion<'_> {
    /// Draws a random position for a sphere of a radius (mm). `None` if the sphere is not completely in
    /// the region there; the caller may try again with the next random numbers.
    pub fn place(&self, radius: f64, random: &mut Random) -> Option<Sphere> {
        let sphere = Sphere { center: self.random(radius, random)?, radius };
        self.contains(&sphere).then_some(sphere)
    }

    /// Checks that the region can be filled.
    ///
    /// # Errors
    /// The region is empty, infinite or not closed.
    pub fn check(&self) -> Result<(), FillError> {
        let wrong = |text: String| Err(FillError::Region(text));
        match self {
            Self::Box { min, max } => {
                if !(0..3).all(|k| min[k] < max[k] && (max[k] - min[k]).is_finite()) {
                    return wrong(
                        "a box needs two finite corners; every coordinate of the first must be less than \
                         that of the second"
                            .to_owned(),
                    );
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

    /// Draws a random position for the centre of a sphere of a radius (mm). At this position the sphere
    /// is in the region, or, for `Inside`, at least in the bounding box of the region. `None` if the
    /// sphere is larger than the region or that box.
    pub(super) fn random(&self, radius: f64, random: &mut Random) -> Option<P3> {
        match self {
            Self::Box { min, max } => within(&Aabb { min: *min, max: *max }, radius, random),
            Self::Cylinder { from, to, radius: across } => {
                let (length, free_radius) = ((to - from).norm(), across - radius);
                if length < 2.0 * radius || free_radius < 0.0 {
                    return None;
                }
                let axis = (to - from) / length;
                let u = axis.cross(&V3::ith(axis.iamin(), 1.0)).normalize();
                let v = axis.cross(&u);
                let (sin, cos) = math::sin_cos(random.between(0.0, 2.0 * PI));
                let off = free_radius * random.part().sqrt();
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

    /// Whether a sphere at a position drawn by [`random`](Self::random) is in the region.
    pub(super) fn contains(&self, sphere: &Sphere) -> bool {
        match self {
            Self::Box { .. } | Self::Cylinder { .. } => true,
            Self::Inside { wall, .. } => {
                !wall.reaches(&sphere.center, sphere.radius) && wall.encloses(&sphere.center)
            }
        }
    }
}

fn within(bounds: &Aabb, radius: f64, random: &mut Random) -> Option<P3> {
    let extent = bounds.max - bounds.min - V3::repeat(2.0 * radius);
    (extent.min() >= 0.0).then(|| {
        let parts = V3::new(random.part(), random.part(), random.part());
        bounds.min + V3::repeat(radius) + extent.component_mul(&parts)
    })
}
