//! Lower bounds of the distance between two whole faces of revolution, planes or faces of threads, which
//! separate nested faces before the search for crossings.

pub(crate) mod apart;
mod coaxial;
pub(crate) mod helical;
pub(crate) mod ring;

use feeler_geom::Obb;
use feeler_geom::skeleton::Primitive;
use nalgebra::Vector2;
use ring::Ring;
use std::f64::consts::TAU;

/// A face that is canonical or follows a canonical face, represented by its primitive and its ranges.
/// Everything is in the frame of A.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RevolvedFace {
    pub primitive: Primitive,
    /// Largest distance (mm) of the face from the primitive's surface.
    pub off: f64,
    /// If the primitive is a line, the range of the face along it (mm from the origin of the line);
    /// otherwise unused.
    pub along: [f64; 2],
    /// If the primitive is a circle, the range of the face's meridian angles; otherwise unused.
    pub part: Part,
    /// For a planar face, the range of the distances of its points from one point of the plane; `None`
    /// if no such range is known, and for other faces.
    pub ring: Option<Ring>,
    /// Box that contains the face, in the frame of A.
    pub bounds: Obb,
}

/// Range of a torus face's meridian: its first angle and its size (rad). Angles are about the centre of
/// the tube, 0 where the tube is farthest from the axis, and increase towards positive heights.
pub(crate) type Part = [f64; 2];

/// Range of the whole meridian of a torus.
const WHOLE: Part = [0.0, TAU];

/// Distance from an axis and height along it (mm): a point of the half-plane in which profiles lie.
type ProfilePoint = Vector2<f64>;

/// Point of the segment from `a` to `b` nearest to `p`.
fn nearest_of([a, b]: &[ProfilePoint; 2], p: &ProfilePoint) -> ProfilePoint {
    let (d, x) = (b - a, p - a);
    let d_sq = d.norm_squared();
    let t = if d_sq > 0.0 { (x.dot(&d) / d_sq).clamp(0.0, 1.0) } else { 0.0 };
    a + d * t
}

/// Sign of the radii of the spheres of a primitive: 1 where the face is convex, −1 where it is concave.
/// A cone has the sign of its slope.
fn side_of(sigma: f64, slope: f64) -> f64 {
    let s = if slope == 0.0 { sigma } else { slope };
    if s < 0.0 { -1.0 } else { 1.0 }
}
