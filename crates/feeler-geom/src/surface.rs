//! Surfaces in space.
//!
//! # Source
//! BREP §1.4.3, §2.1; parametrisations of ISO 10303-42 except the cone's.
//!
//! # Deviations
//! A cone has its apex as origin and opens along `+z`: only the nappe `v ≥ 0` is ever used, and the apex is a
//! vertex, not a surface point (MATH §3).

use crate::bezier::BezierSurface;
use crate::{Aabb, Frame, P2, P3, PolyCone, Pose, RevolutionCone, V3};

/// An axis-parallel rectangle of parameters `[u0, u1] × [v0, v1]`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Rect {
    /// Smallest u.
    pub u0: f64,
    /// Largest u.
    pub u1: f64,
    /// Smallest v.
    pub v0: f64,
    /// Largest v.
    pub v1: f64,
}

/// A surface; its *natural* normal is `∂u × ∂v`, normalised.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Surface {
    /// `o + u x + v y`, natural normal `z`; `u`, `v` in mm.
    Plane {
        /// Origin and axes.
        frame: Frame,
    },
    /// `o + r (cos u x + sin u y) + v z`, natural normal away from the axis.
    Cylinder {
        /// A point of the axis, and axes.
        frame: Frame,
        /// Radius, > 0.
        radius: f64,
    },
    /// `apex + v (tan φ (cos u x + sin u y) + z)`, `v ≥ 0` in mm along the axis, natural normal away from the axis.
    Cone {
        /// Apex, and axes; the cone opens along `+z`.
        frame: Frame,
        /// Half-angle φ in (0, π/2).
        half_angle: f64,
    },
    /// `o + r (cos v (cos u x + sin u y) + sin v z)`, longitude `u`, latitude `v` in [-π/2, π/2].
    Sphere {
        /// Centre and axes.
        frame: Frame,
        /// Radius, > 0.
        radius: f64,
    },
    /// `o + (R + r cos v)(cos u x + sin u y) + r sin v z`.
    Torus {
        /// Centre and axes.
        frame: Frame,
        /// Radius R of the centre circle, > 0. Less than `minor`: a spindle torus, whose faces use one of its two
        /// sheets only.
        major: f64,
        /// Radius r of the tube, > 0.
        minor: f64,
    },
    /// A grid of rational Bézier patches.
    Bezier(BezierSurface),
}

/// A surface point with its derivatives up to the second order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceDerivs {
    /// Point.
    pub p: P3,
    /// ∂/∂u.
    pub du: V3,
    /// ∂/∂v.
    pub dv: V3,
    /// ∂²/∂u².
    pub duu: V3,
    /// ∂²/∂u∂v.
    pub duv: V3,
    /// ∂²/∂v².
    pub dvv: V3,
}

/// Principal curvatures against the *natural* normal, positive where the surface bends away from it (a sphere
/// with its natural normal outward has +1/r twice).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Principal {
    /// Smaller curvature (1/mm).
    pub k1: f64,
    /// Larger curvature (1/mm).
    pub k2: f64,
    /// Unit direction of `k1`.
    pub dir1: V3,
    /// Unit direction of `k2`.
    pub dir2: V3,
}

impl Surface {
    /// Point at `(u, v)`.
    #[must_use]
    pub fn point(&self, uv: P2) -> P3 {
        self.derivs(uv).p
    }

    /// Point and derivatives up to the second order.
    #[must_use]
    pub fn derivs(&self, uv: P2) -> SurfaceDerivs {
        let _ = uv;
        todo!("helper: shapes")
    }

    /// Unit natural normal. At a pole or collapsed side of a patch: the limit from inside the domain; at a cone's
    /// apex: the normal of the ruling at `u`.
    #[must_use]
    pub fn normal(&self, uv: P2) -> V3 {
        let _ = uv;
        todo!("helper: shapes")
    }

    /// Principal curvatures and directions against the natural normal.
    #[must_use]
    pub fn principal(&self, uv: P2) -> Principal {
        let _ = uv;
        todo!("helper: shapes")
    }

    /// Period in u, if any.
    #[must_use]
    pub fn u_period(&self) -> Option<f64> {
        todo!("helper: shapes")
    }

    /// Period in v (torus, closed splines), if any.
    #[must_use]
    pub fn v_period(&self) -> Option<f64> {
        todo!("helper: shapes")
    }

    /// Largest sensible parameter rectangle: infinite sides for planes, cylinders and the cone's `v`, one period
    /// for periodic directions.
    #[must_use]
    pub fn natural_domain(&self) -> Rect {
        todo!("helper: shapes")
    }

    /// Whether this is not a Bézier grid.
    #[must_use]
    pub fn is_canonical(&self) -> bool {
        !matches!(self, Self::Bezier(_))
    }

    /// Parameters strictly inside the rectangle where patches meet: `(us, vs)`.
    #[must_use]
    pub fn breaks(&self, rect: &Rect) -> (Vec<f64>, Vec<f64>) {
        let _ = rect;
        todo!("helper: shapes")
    }

    /// Parameters of the surface point nearest to `p`. Canonical: closed form, `u` in [0, 2π), the nearest sheet
    /// of the used nappe. Bézier: global search over `within` (or the whole grid), then Newton to round-off,
    /// clamped to the domain; `hint` starts Newton directly and falls back to the search when that fails.
    #[must_use]
    pub fn invert(&self, p: &P3, hint: Option<P2>, within: Option<&Rect>) -> P2 {
        let _ = (p, hint, within);
        todo!("helper: shapes")
    }

    /// Conservative box around the patch over `rect`, tight to rounding for canonical surfaces.
    #[must_use]
    pub fn bounds(&self, rect: &Rect) -> Aabb {
        let _ = rect;
        todo!("helper: shapes")
    }

    /// Points whose convex hull contains the patch over `rect`; what oriented boxes are fitted to. For angular
    /// spans of at least 2π/3 in a direction, the circumscribed prism of that direction.
    #[must_use]
    pub fn hull_points(&self, rect: &Rect) -> Vec<P3> {
        let _ = rect;
        todo!("helper: shapes")
    }

    /// Conservative cone around all natural normals over `rect`; `None` when they do not fit a half-space or the
    /// patch is singular inside.
    #[must_use]
    pub fn normal_cone(&self, rect: &Rect) -> Option<RevolutionCone> {
        let _ = rect;
        todo!("helper: shapes")
    }

    /// Directions (not normalised) whose conical hull contains all natural normals over `rect` (BREP §3.3): the
    /// meridian and latitude constructions for canonical surfaces, control vectors of the scaled normal patch for
    /// Bézier. `None` as in [`Surface::normal_cone`].
    #[must_use]
    pub fn normal_generators(&self, rect: &Rect) -> Option<Vec<V3>> {
        let _ = rect;
        todo!("helper: shapes")
    }

    /// Conservative polyhedral cone around all natural normals over `rect`.
    #[must_use]
    pub fn normal_poly_cone(&self, rect: &Rect) -> Option<PolyCone> {
        PolyCone::hull(&self.normal_generators(rect)?)
    }

    /// The surface moved by a pose. The parametrisation stays.
    #[must_use]
    pub fn transformed(&self, pose: &Pose) -> Self {
        let _ = pose;
        todo!("helper: shapes")
    }
}
