//! Balls, capsules, boxes and quadrics. All except balls and capsules are centred at the origin of their
//! own frame and aligned with its axes. Use [`Moved`](super::Moved) to place them.
//!
//! # Source
//! DIST (2.5), (2.6).

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "NaN must take the conservative branch")]

use super::{ConvexShapeError, Support, SupportPoint, finite, lengths};
use feeler_geom::{P3, V3};

fn towards(x: f64, length: f64) -> f64 {
    if x < 0.0 { -length } else { length }
}

/// Returns the point (x, y) at distance `radius` from the z axis along the x and y components of
/// `direction`; an arbitrary one if both components are zero.
fn rim(direction: &V3, radius: f64) -> (f64, f64) {
    let size = direction.x.abs().max(direction.y.abs());
    if !(size > 0.0) {
        return (radius, 0.0);
    }
    // Scaled, because the squares of small components would underflow.
    let (x, y) = (direction.x / size, direction.y / size);
    let f = radius / (x * x + y * y).sqrt();
    (x * f, y * f)
}

/// A ball around a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    center: P3,
    radius: f64,
}

impl Ball {
    /// Creates a ball with the given radius (mm); a radius of zero gives a point.
    ///
    /// # Errors
    /// A number is not finite, or the radius is negative.
    pub fn new(center: P3, radius: f64) -> Result<Self, ConvexShapeError> {
        finite(center.coords.iter())?;
        lengths(&[radius])?;
        Ok(Self { center, radius })
    }
}

impl Support for Ball {
    fn support(&self, _direction: &V3) -> SupportPoint {
        SupportPoint::plain(self.center)
    }
    fn radius(&self) -> f64 {
        self.radius
    }
    fn numbered(&self, _index: u32) -> Option<P3> {
        Some(self.center)
    }
}

/// A capsule: all points within the radius of a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capsule {
    ends: [P3; 2],
    radius: f64,
}

impl Capsule {
    /// Creates a capsule from the end points of its segment and its radius (mm). The end points may
    /// coincide.
    ///
    /// # Errors
    /// A number is not finite, or the radius is negative.
    pub fn new(ends: [P3; 2], radius: f64) -> Result<Self, ConvexShapeError> {
        finite(ends.iter().flat_map(|p| p.coords.iter()))?;
        lengths(&[radius])?;
        Ok(Self { ends, radius })
    }
}

impl Support for Capsule {
    fn support(&self, direction: &V3) -> SupportPoint {
        super::points::farthest(&self.ends, direction)
    }
    fn radius(&self) -> f64 {
        self.radius
    }
    fn center(&self) -> P3 {
        nalgebra::center(&self.ends[0], &self.ends[1])
    }
    fn numbered(&self, index: u32) -> Option<P3> {
        self.ends.get(index as usize).copied()
    }
}

/// A box centred at the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cuboid {
    half: V3,
}

impl Cuboid {
    /// Creates a box from half its edge lengths (mm). Lengths of zero give a rectangle, a segment or a
    /// point.
    ///
    /// # Errors
    /// A length is negative or not finite.
    pub fn new(half: V3) -> Result<Self, ConvexShapeError> {
        lengths(half.as_slice())?;
        Ok(Self { half })
    }
}

impl Support for Cuboid {
    fn support(&self, d: &V3) -> SupportPoint {
        let negative = [d.x < 0.0, d.y < 0.0, d.z < 0.0];
        let index = u32::from(negative[0]) | u32::from(negative[1]) << 1 | u32::from(negative[2]) << 2;
        let h = self.half;
        SupportPoint { point: P3::new(towards(d.x, h.x), towards(d.y, h.y), towards(d.z, h.z)), index }
    }
    fn center(&self) -> P3 {
        P3::origin()
    }
    fn numbered(&self, index: u32) -> Option<P3> {
        let signs = V3::from_fn(|i, _| if index >> i & 1 == 1 { -1.0 } else { 1.0 });
        (index < 8).then(|| P3::from(self.half.component_mul(&signs)))
    }
}

/// An ellipsoid centred at the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ellipsoid {
    semi: V3,
}

impl Ellipsoid {
    /// Creates an ellipsoid from its semi-axes (mm). Lengths of zero give an elliptic disc, a segment or
    /// a point.
    ///
    /// # Errors
    /// A length is negative or not finite.
    pub fn new(semi: V3) -> Result<Self, ConvexShapeError> {
        lengths(semi.as_slice())?;
        Ok(Self { semi })
    }
}

impl Support for Ellipsoid {
    fn support(&self, direction: &V3) -> SupportPoint {
        let scaled = self.semi.component_mul(direction);
        let size = scaled.amax();
        if !(size > 0.0) {
            return SupportPoint::plain(P3::origin());
        }
        let unit = (scaled / size).normalize();
        SupportPoint::plain(P3::from(self.semi.component_mul(&unit)))
    }
    fn center(&self) -> P3 {
        P3::origin()
    }
}

/// A cylinder along z, centred at the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cylinder {
    radius: f64,
    half_height: f64,
}

impl Cylinder {
    /// Creates a cylinder from its radius and half its height (mm). Lengths of zero give a disc, a
    /// segment or a point.
    ///
    /// # Errors
    /// A length is negative or not finite.
    pub fn new(radius: f64, half_height: f64) -> Result<Self, ConvexShapeError> {
        lengths(&[radius, half_height])?;
        Ok(Self { radius, half_height })
    }
}

impl Support for Cylinder {
    fn support(&self, direction: &V3) -> SupportPoint {
        let (x, y) = rim(direction, self.radius);
        SupportPoint::plain(P3::new(x, y, towards(direction.z, self.half_height)))
    }
    fn center(&self) -> P3 {
        P3::origin()
    }
}

/// A cone along z with its apex at `half_height` and its base disc at `−half_height`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cone {
    radius: f64,
    half_height: f64,
}

impl Cone {
    /// Creates a cone from the radius of its base and half its height (mm). Lengths of zero give a disc,
    /// a segment or a point.
    ///
    /// # Errors
    /// A length is negative or not finite.
    pub fn new(radius: f64, half_height: f64) -> Result<Self, ConvexShapeError> {
        lengths(&[radius, half_height])?;
        Ok(Self { radius, half_height })
    }
}

impl Support for Cone {
    fn support(&self, direction: &V3) -> SupportPoint {
        let (x, y) = rim(direction, self.radius);
        let apex = direction.z * self.half_height;
        let base = direction.x * x + direction.y * y - apex;
        SupportPoint::plain(if apex >= base {
            P3::new(0.0, 0.0, self.half_height)
        } else {
            P3::new(x, y, -self.half_height)
        })
    }
    fn center(&self) -> P3 {
        P3::new(0.0, 0.0, -0.5 * self.half_height)
    }
}
