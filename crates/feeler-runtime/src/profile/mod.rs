//! Faces with a closed form as wholes: bounds of the distance between two of them.

pub(crate) mod apart;
mod coaxial;
pub(crate) mod helical;
pub(crate) mod ring;

use feeler_geom::Obb;
use feeler_geom::skeleton::Primitive;
use nalgebra::Vector2;
use ring::Ring;
use std::f64::consts::TAU;

/// A face that is canonical or follows a canonical one, frame of A.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RevolvedFace {
    pub primitive: Primitive,
    /// How far (mm) the face may be off the primitive.
    pub off: f64,
    /// Of a line the range along it (mm from the origin) in which the face lies.
    pub along: [f64; 2],
    /// Of a circle the part of the meridian in which the face lies.
    pub part: Part,
    /// Of a plane, where the face lies about a point.
    pub ring: Option<Ring>,
    /// The face is in here.
    pub bounds: Obb,
}

/// A meridian's part: angles about the tube's centre from outside up, the first and how far from there.
pub(crate) type Part = [f64; 2];

/// All of a meridian.
const WHOLE: Part = [0.0, TAU];

/// Radius and height about an axis.
type Place = Vector2<f64>;

/// The place of a segment nearest to one.
fn nearest_of([a, b]: &[Place; 2], p: &Place) -> Place {
    let (d, x) = (b - a, p - a);
    let d_sq = d.norm_squared();
    let t = if d_sq > 0.0 { (x.dot(&d) / d_sq).clamp(0.0, 1.0) } else { 0.0 };
    a + d * t
}

fn side_of(sigma: f64, slope: f64) -> f64 {
    let s = if slope == 0.0 { sigma } else { slope };
    if s < 0.0 { -1.0 } else { 1.0 }
}
