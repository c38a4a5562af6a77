//! Bounds of the distance between two faces with closed forms, each as a whole.

pub(crate) mod apart;
mod coaxial;
pub(crate) mod helical;
pub(crate) mod ring;

use feeler_geom::Obb;
use feeler_geom::skeleton::Primitive;
use nalgebra::Vector2;
use ring::Ring;
use std::f64::consts::TAU;

/// A face that is canonical or follows a canonical face, frame of A.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RevolvedFace {
    pub primitive: Primitive,
    /// Largest distance (mm) of the face from the primitive.
    pub off: f64,
    /// For a line, the range along it (mm from the origin) of the face.
    pub along: [f64; 2],
    /// For a circle, the range of the meridian of the face.
    pub part: Part,
    /// For a plane, the range of distances of the face from a point.
    pub ring: Option<Ring>,
    /// Box that contains the face.
    pub bounds: Obb,
}

/// Range of a meridian: the first angle (rad) about the centre of the tube, from outside upwards, and the
/// size of the range (rad).
pub(crate) type Part = [f64; 2];

/// The whole meridian.
const WHOLE: Part = [0.0, TAU];

/// Radius and height (mm) about an axis.
type ProfilePoint = Vector2<f64>;

/// Point of a segment nearest to `p`.
fn nearest_of([a, b]: &[ProfilePoint; 2], p: &ProfilePoint) -> ProfilePoint {
    let (d, x) = (b - a, p - a);
    let d_sq = d.norm_squared();
    let t = if d_sq > 0.0 { (x.dot(&d) / d_sq).clamp(0.0, 1.0) } else { 0.0 };
    a + d * t
}

fn side_of(sigma: f64, slope: f64) -> f64 {
    let s = if slope == 0.0 { sigma } else { slope };
    if s < 0.0 { -1.0 } else { 1.0 }
}
