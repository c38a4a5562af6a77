//! Numbers and shapes: frames, intervals, balls of vectors, curves, surfaces, trimmed parameter domains,
//! oriented-sphere skeletons, differential geometry, boxes and direction cones.
//!
//! Lengths are in millimetres, angles in radians, and all numbers are `f64`. The crate depends on
//! nalgebra alone; it defines neither files nor solids.

pub mod frame;
pub mod math;
pub mod unit_angle;

pub mod aabb;
pub mod ball;
pub mod bezier;
mod binomial;
#[cfg(feature = "serde")]
pub mod bulk;
pub mod canonical;
mod chebyshev;
pub mod cone;
pub mod contact;
pub mod count;
pub mod crossing;
pub mod curve;
mod derivs;
pub mod extent;
pub mod helical;
pub mod interval;
pub mod mass;
pub mod nurbs;
pub mod obb;
mod ordered;
pub mod pose;
mod rect;
pub mod roots;
pub mod screw;
pub mod skeleton;
pub mod surface;
pub mod trim;

#[cfg(test)]
mod testing;

pub use aabb::Aabb;
pub use ball::VectorBall;
pub use cone::{PolyCone, RevolutionCone};
pub use curve::Curve;
pub use derivs::{CurveDerivs, SurfaceDerivs};
pub use extent::Extent;
pub use frame::Frame;
pub use obb::Obb;
pub use rect::Rect;
pub use screw::Twist;
pub use surface::Surface;

/// A point in space (mm).
pub type P3 = nalgebra::Point3<f64>;
/// A vector in space; mm if it is a displacement.
pub type V3 = nalgebra::Vector3<f64>;
/// A point (u, v) in the parameter plane of a surface.
pub type P2 = nalgebra::Point2<f64>;
/// A vector in the parameter plane of a surface.
pub type V2 = nalgebra::Vector2<f64>;
/// A rigid motion without reflection; `pose * p_local = p_world`.
pub type Pose = nalgebra::Isometry3<f64>;
