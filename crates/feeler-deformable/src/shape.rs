//! Smooth shapes: solids that are known by the signed distance of points.

use feeler_geom::{P3, V3};
use std::fmt::Debug;

/// Surface point of a smooth shape that is nearest to a given point, or nearer than all surface points around
/// it, in the frame of the shape.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SurfacePoint {
    /// Signed distance of the given point (mm), negative inside the shape.
    pub distance: f64,
    /// Gradient of the signed distance: the outward unit normal at the surface point. The surface point is
    /// the given point minus `distance` times this vector.
    pub normal: V3,
}

/// Solid without triangles, as the shape of a [`RigidBody`](crate::RigidBody): a CAD solid, a ball or a
/// half-space.
///
/// Points and normals are in the frame of the shape. Evaluations may reuse memory of earlier ones, but
/// results must not depend on it.
pub trait SmoothShape: Debug + Send + Sync {
    /// Computes the surface point nearest to `point`; `None` if the computation fails.
    fn nearest(&mut self, point: &P3) -> Option<SurfacePoint>;

    /// Appends all local minima of the distance of `point` from the surface that are at most `reach` (mm)
    /// away. A point in a concave corner has one on each of the faces around it. `nearest` is the result of
    /// [`SmoothShape::nearest`] for the point and at most `reach` away; shapes for which it is the only
    /// minimum need not implement this function. Returns `None` if the computation fails.
    fn minima(
        &mut self,
        point: &P3,
        reach: f64,
        nearest: SurfacePoint,
        out: &mut Vec<SurfacePoint>,
    ) -> Option<()> {
        let _ = (point, reach);
        out.push(nearest);
        Some(())
    }

    /// Whether the shape is convex. Edges and facets near convex shapes are not probed, and tangent planes
    /// exclude contacts with them. A shape that returns true without being convex loses contacts; a convex
    /// shape that returns false takes more evaluations.
    fn is_convex(&self) -> bool {
        false
    }

    /// Largest distance (mm) of the points at which edges and facets near a shape that is not convex are
    /// probed for minima between their nodes. With a larger value, narrower parts of the shape can press
    /// between the nodes of a facet undetected, and minima beside narrower gaps can be missed; a smaller
    /// value takes more evaluations. Infinite for shapes without such parts and gaps.
    fn probe_spacing(&self) -> f64 {
        f64::INFINITY
    }

    /// Radius (mm) of a ball around the origin of the frame that contains the shape; infinite for unbounded
    /// shapes. It affects the estimate of the stable step of a free body only.
    fn radius(&self) -> f64;

    /// Copies the shape.
    fn clone_box(&self) -> Box<dyn SmoothShape>;
}

impl Clone for Box<dyn SmoothShape> {
    fn clone(&self) -> Self {
        (**self).clone_box()
    }
}

/// Ball as a smooth shape. Several balls of one body form a clump.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    /// Centre (mm).
    pub center: P3,
    /// Radius (mm).
    pub radius: f64,
}

impl SmoothShape for Ball {
    fn nearest(&mut self, point: &P3) -> Option<SurfacePoint> {
        let arm = point - self.center;
        let length = arm.norm();
        let normal = if length > 0.0 { arm / length } else { V3::z() };
        Some(SurfacePoint { distance: length - self.radius, normal })
    }

    fn is_convex(&self) -> bool {
        true
    }

    fn radius(&self) -> f64 {
        self.center.coords.norm() + self.radius
    }

    fn clone_box(&self) -> Box<dyn SmoothShape> {
        Box::new(*self)
    }
}

/// Half-space z < 0 of its frame as a smooth shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HalfSpace;

impl SmoothShape for HalfSpace {
    fn nearest(&mut self, point: &P3) -> Option<SurfacePoint> {
        Some(SurfacePoint { distance: point.z, normal: V3::z() })
    }

    fn is_convex(&self) -> bool {
        true
    }

    fn radius(&self) -> f64 {
        f64::INFINITY
    }

    fn clone_box(&self) -> Box<dyn SmoothShape> {
        Box::new(*self)
    }
}
