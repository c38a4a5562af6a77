//! Surfaces in space.
//!
//! # Source
//! BREP §1.4.3, §2.1; parametrisations of ISO 10303-42, except for cones.
//!
//! # Deviations
//! The origin of a cone is its apex, and the cone opens along `+z`. Only the nappe `v ≥ 0` is used; the
//! apex is a vertex, not a point of the surface (MATH §3).

mod bounds;
mod invert;
mod line;
mod normals;

pub use line::line_in_slabs;

use crate::Rect;
use crate::SurfaceDerivs;
use std::f64::consts::{FRAC_PI_2, TAU};

use crate::bezier::BezierSurface;
use crate::frame::{complete_basis, unit};
use crate::{Aabb, Frame, P2, P3, PolyCone, Pose, RevolutionCone, V3, VectorBall, math};

/// A surface with parameters (u, v). Its *natural* normal is `∂u × ∂v`, normalised. In the formulas,
/// `o`, `x`, `y` and `z` are the origin (mm) and the axes of the surface's frame, and angles are in
/// radians.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Surface {
    /// `o + u x + v y`, natural normal `z`; `u`, `v` in mm.
    Plane {
        /// Origin `o` and axes of the plane's frame; `z` is normal to the plane.
        frame: Frame,
    },
    /// `o + r (cos u x + sin u y) + v z`, natural normal away from the axis.
    Cylinder {
        /// A point `o` of the axis, and axes; `z` is the axis of rotation.
        frame: Frame,
        /// Radius (mm), > 0.
        radius: f64,
    },
    /// `apex + v (tan φ (cos u x + sin u y) + z)`, `v ≥ 0` in mm along the axis, natural normal away from the
    /// axis.
    Cone {
        /// Apex, and axes; the cone opens along `+z`.
        frame: Frame,
        /// Half-angle φ (rad) in (0, π/2).
        half_angle: f64,
    },
    /// `o + r (cos v (cos u x + sin u y) + sin v z)`, longitude `u`, latitude `v` in [-π/2, π/2].
    Sphere {
        /// Centre `o` and axes; the poles are on `z`.
        frame: Frame,
        /// Radius (mm), > 0.
        radius: f64,
    },
    /// `o + (R + r cos v)(cos u x + sin u y) + r sin v z`.
    Torus {
        /// Centre `o` and axes; `z` is the axis of rotation.
        frame: Frame,
        /// Radius R (mm) of the centre circle, > 0. If it is less than `minor`, the surface is a spindle
        /// torus, whose faces use only one of its two sheets.
        major: f64,
        /// Radius r (mm) of the tube, > 0.
        minor: f64,
    },
    /// A grid of rational Bézier patches.
    Bezier(BezierSurface),
}

/// Principal curvatures at a point with respect to the *natural* normal. They are positive if the
/// surface bends away from the normal: a sphere with outward natural normal has +1/r twice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Principal {
    /// Smaller principal curvature (1/mm).
    pub k1: f64,
    /// Larger principal curvature (1/mm).
    pub k2: f64,
    /// Unit tangent direction in which the curvature is `k1`.
    pub dir1: V3,
    /// Unit tangent direction in which the curvature is `k2`.
    pub dir2: V3,
}

impl Surface {
    /// Name of the surface type for reports.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Plane { .. } => "plane",
            Self::Cylinder { .. } => "cylinder",
            Self::Cone { .. } => "cone",
            Self::Sphere { .. } => "sphere",
            Self::Torus { .. } => "torus",
            Self::Bezier(_) => "bezier",
        }
    }

    /// Point at the parameters `(u, v)`.
    #[must_use]
    pub fn point(&self, uv: P2) -> P3 {
        self.first_derivs(uv).0
    }

    /// Point and first derivatives ∂/∂u and ∂/∂v at the parameters `(u, v)`, equal to those of
    /// [`Surface::derivs`] up to rounding.
    #[must_use]
    pub fn first_derivs(&self, uv: P2) -> (P3, V3, V3) {
        if let Self::Bezier(grid) = self {
            return grid.first_derivs(uv);
        }
        let d = self.derivs(uv);
        (d.p, d.du, d.dv)
    }

    /// Point and derivatives up to the second order at the parameters `(u, v)`.
    #[must_use]
    pub fn derivs(&self, uv: P2) -> SurfaceDerivs {
        let (u, v) = (uv.x, uv.y);
        match self {
            Self::Plane { frame } => SurfaceDerivs {
                p: frame.point(u, v, 0.0),
                du: frame.x,
                dv: frame.y,
                duu: V3::zeros(),
                duv: V3::zeros(),
                dvv: V3::zeros(),
            },
            Self::Cylinder { frame, radius: r } => {
                let (s, c) = math::sin_cos(u);
                let radial = frame.vector(r * c, r * s, 0.0);
                SurfaceDerivs {
                    p: frame.origin + radial + frame.z * v,
                    du: frame.vector(-r * s, r * c, 0.0),
                    dv: frame.z,
                    duu: -radial,
                    duv: V3::zeros(),
                    dvv: V3::zeros(),
                }
            }
            Self::Cone { frame, half_angle } => {
                let (s, c) = math::sin_cos(u);
                let k = math::tan(*half_angle);
                let dv = frame.vector(k * c, k * s, 1.0);
                let duv = frame.vector(-k * s, k * c, 0.0);
                SurfaceDerivs {
                    p: frame.origin + dv * v,
                    du: duv * v,
                    dv,
                    duu: frame.vector(-k * c * v, -k * s * v, 0.0),
                    duv,
                    dvv: V3::zeros(),
                }
            }
            Self::Sphere { frame, radius } => torus_derivs(frame, 0.0, *radius, u, v),
            Self::Torus { frame, major, minor } => torus_derivs(frame, *major, *minor, u, v),
            Self::Bezier(grid) => grid.derivs(uv),
        }
    }

    /// Balls that contain the third derivatives uuu, uuv, uvv and vvv over `rect`. They are those of the
    /// one Bézier patch that contains the centre of the rectangle, extrapolated beyond the sides of the
    /// patch. `None` for canonical surfaces.
    #[must_use]
    pub fn third_derivatives(&self, rect: &Rect) -> Option<[VectorBall; 4]> {
        match self {
            Self::Bezier(grid) => Some(grid.third_derivatives(rect)),
            _ => None,
        }
    }

    /// Unit natural normal at the parameters `(u, v)`. At a pole or collapsed side of a Bézier patch it
    /// is the limit from inside the domain; at the apex of a cone, the normal of the ruling at `u`.
    #[must_use]
    pub fn normal(&self, uv: P2) -> V3 {
        let (s, c) = math::sin_cos(uv.x);
        match self {
            Self::Plane { frame } => frame.z,
            Self::Cylinder { frame, .. } => frame.vector(c, s, 0.0),
            Self::Cone { frame, half_angle } => {
                let (sin_phi, cos_phi) = math::sin_cos(*half_angle);
                frame.vector(cos_phi * c, cos_phi * s, -sin_phi)
            }
            Self::Sphere { frame, .. } => {
                let (sv, cv) = math::sin_cos(uv.y);
                frame.vector(cv * c, cv * s, sv)
            }
            Self::Torus { frame, major, minor } => {
                let (sv, cv) = math::sin_cos(uv.y);
                let n = frame.vector(cv * c, cv * s, sv);
                // ∂u × ∂v is reversed on the inner sheet of a spindle torus.
                if major + minor * cv < 0.0 { -n } else { n }
            }
            Self::Bezier(grid) => grid.normal(uv),
        }
    }

    /// Unit natural normal at the surface point nearest to `p`, computed without parameters if there is
    /// a closed form. `hint` contains guessed parameters of that point, as for [`Surface::invert`].
    #[must_use]
    pub fn normal_beside(&self, p: &P3, hint: Option<P2>) -> V3 {
        normals::beside(self, p).unwrap_or_else(|| self.normal(self.invert(p, hint, None)))
    }

    /// Principal curvatures (1/mm) in increasing order, like [`Surface::principal`] but without
    /// directions.
    #[must_use]
    pub fn curvatures(&self, uv: P2) -> [f64; 2] {
        match (self, self.parameter_curvatures(uv.y)) {
            (_, Some([along_u, along_v])) if along_u <= along_v => [along_u, along_v],
            (_, Some([along_u, along_v])) => [along_v, along_u],
            (_, None) => {
                let p = self.principal(uv);
                [p.k1, p.k2]
            }
        }
    }

    /// Curvatures (1/mm) along u and v, which are the principal directions of canonical surfaces; `None`
    /// for free forms.
    fn parameter_curvatures(&self, v: f64) -> Option<[f64; 2]> {
        match self {
            Self::Plane { .. } => Some([0.0; 2]),
            Self::Cylinder { radius, .. } => Some([1.0 / radius, 0.0]),
            Self::Cone { half_angle, .. } => {
                let (sin, cos) = math::sin_cos(*half_angle);
                Some([cos / (v * sin / cos), 0.0])
            }
            Self::Sphere { radius, .. } => Some([1.0 / radius; 2]),
            Self::Torus { major, minor, .. } => {
                let cos = math::cos(v);
                let rho = major + minor * cos;
                let sign = if rho < 0.0 { -1.0 } else { 1.0 };
                Some([sign * cos / rho, sign / minor])
            }
            Self::Bezier(_) => None,
        }
    }

    /// Principal curvatures and directions with respect to the natural normal. At a singular point of a
    /// Bézier patch they are those of a point slightly inside the patch; at the apex of a cone one
    /// curvature is infinite.
    #[must_use]
    pub fn principal(&self, uv: P2) -> Principal {
        let (s, c) = math::sin_cos(uv.x);
        let around = |frame: &Frame| frame.vector(-s, c, 0.0);
        let meridian = |frame: &Frame| {
            let (sv, cv) = math::sin_cos(uv.y);
            frame.vector(-sv * c, -sv * s, cv)
        };
        let [dir_u, dir_v] = match self {
            Self::Plane { frame } => [frame.x, frame.y],
            Self::Cylinder { frame, .. } => [around(frame), frame.z],
            Self::Cone { frame, half_angle } => {
                let (sin, cos) = math::sin_cos(*half_angle);
                [around(frame), frame.vector(sin * c, sin * s, cos)]
            }
            Self::Sphere { frame, .. } | Self::Torus { frame, .. } => [around(frame), meridian(frame)],
            Self::Bezier(grid) => {
                let d = grid.regular_derivs(uv);
                // The normal must be that of the same point, because curvatures near a pole are
                // sensitive to it.
                return principal_of(&d, &unit(d.du.cross(&d.dv)).unwrap_or_else(|| self.normal(uv)));
            }
        };
        let [along_u, along_v] = self.parameter_curvatures(uv.y).unwrap_or_default();
        if along_u <= along_v {
            Principal { k1: along_u, k2: along_v, dir1: dir_u, dir2: dir_v }
        } else {
            Principal { k1: along_v, k2: along_u, dir1: dir_v, dir2: dir_u }
        }
    }

    /// Period of the parameter u; `None` if the surface is not closed in u.
    #[must_use]
    pub fn u_period(&self) -> Option<f64> {
        match self {
            Self::Plane { .. } => None,
            Self::Bezier(grid) => grid.u_periodic.then(|| grid.domain().width()),
            Self::Cylinder { .. } | Self::Cone { .. } | Self::Sphere { .. } | Self::Torus { .. } => Some(TAU),
        }
    }

    /// Period of the parameter v (tori, closed splines); `None` if the surface is not closed in v.
    #[must_use]
    pub fn v_period(&self) -> Option<f64> {
        match self {
            Self::Torus { .. } => Some(TAU),
            Self::Bezier(grid) => grid.v_periodic.then(|| grid.domain().height()),
            Self::Plane { .. } | Self::Cylinder { .. } | Self::Cone { .. } | Self::Sphere { .. } => None,
        }
    }

    /// Largest valid parameter rectangle. It is infinite for planes and in `v` for cylinders and cones
    /// (from 0 for cones), and covers one period of periodic parameters.
    #[must_use]
    pub fn natural_domain(&self) -> Rect {
        const INF: f64 = f64::INFINITY;
        let rect = |u0, u1, v0, v1| Rect { u0, u1, v0, v1 };
        match self {
            Self::Plane { .. } => rect(-INF, INF, -INF, INF),
            Self::Cylinder { .. } => rect(0.0, TAU, -INF, INF),
            Self::Cone { .. } => rect(0.0, TAU, 0.0, INF),
            Self::Sphere { .. } => rect(0.0, TAU, -FRAC_PI_2, FRAC_PI_2),
            Self::Torus { .. } => rect(0.0, TAU, 0.0, TAU),
            Self::Bezier(grid) => grid.domain(),
        }
    }

    /// Whether the surface is not a grid of Bézier patches.
    #[must_use]
    pub fn is_canonical(&self) -> bool {
        !matches!(self, Self::Bezier(_))
    }

    /// Parameters `(us, vs)` strictly inside the rectangle where Bézier patches join; empty for
    /// canonical surfaces.
    #[must_use]
    pub fn breaks(&self, rect: &Rect) -> (Vec<f64>, Vec<f64>) {
        let Self::Bezier(grid) = self else { return (Vec::new(), Vec::new()) };
        let inside = |breaks: &[f64], period, a, b| crate::bezier::breaks_inside(breaks, period, a, b);
        (
            inside(&grid.u_breaks, grid.u_periodic, rect.u0, rect.u1),
            inside(&grid.v_breaks, grid.v_periodic, rect.v0, rect.v1),
        )
    }

    /// Parameters of the surface point nearest to `p`.
    ///
    /// Canonical surfaces have a closed form; angles `u` are in [0, 2π). For a spindle torus, `v` is
    /// between −π and π on the outer sheet and between 0 and 2π on the inner one. The rectangle `within`
    /// selects the sheet; without it, or if it selects none, the nearer sheet is used. For Bézier grids,
    /// a global search over `within` (or the whole grid) is refined by Newton's method up to rounding
    /// and clamped to the domain. If a `hint` (guessed parameters) is given, Newton's method starts
    /// there. The global search follows only if that fails, or if it ends at a border or in another
    /// patch and not close to `p`.
    #[must_use]
    pub fn invert(&self, p: &P3, hint: Option<P2>, within: Option<&Rect>) -> P2 {
        invert::invert(self, p, hint, within)
    }

    /// Axis-aligned box that contains the surface over `rect`. It is tight up to rounding for canonical
    /// surfaces.
    #[must_use]
    pub fn bounds(&self, rect: &Rect) -> Aabb {
        bounds::bounds(self, rect)
    }

    /// Points whose convex hull contains the surface over the finite rectangle `rect`. Arcs are replaced
    /// by polygons around them. Oriented boxes are fitted to these points.
    #[must_use]
    pub fn hull_points(&self, rect: &Rect) -> Vec<P3> {
        bounds::hull_points(self, rect)
    }

    /// Cone that contains all natural normals over `rect`. `None` if they do not fit a half-space, or if
    /// the surface is singular inside the rectangle.
    #[must_use]
    pub fn normal_cone(&self, rect: &Rect) -> Option<RevolutionCone> {
        normals::normal_cone(self, rect)
    }

    /// Directions (not normalised) whose conical hull contains all natural normals over `rect` (BREP
    /// §3.3): constructed from meridians and latitudes for canonical surfaces, and from control vectors
    /// of the scaled normal patch for Bézier grids. `None` if the normals do not fit a half-space, or if
    /// the surface is singular inside the rectangle.
    #[must_use]
    pub fn normal_generators(&self, rect: &Rect) -> Option<Vec<V3>> {
        normals::normal_generators(self, rect)
    }

    /// Polyhedral cone that contains all natural normals over `rect`. `None` if the normals do not fit a
    /// half-space, or if the surface is singular inside the rectangle.
    #[must_use]
    pub fn normal_poly_cone(&self, rect: &Rect) -> Option<PolyCone> {
        PolyCone::hull(&self.normal_generators(rect)?)
    }

    /// The surface moved by a pose, with the same parametrisation.
    #[must_use]
    pub fn transformed(&self, pose: &Pose) -> Self {
        match self {
            Self::Plane { frame } => Self::Plane { frame: frame.transformed(pose) },
            Self::Cylinder { frame, radius } => {
                Self::Cylinder { frame: frame.transformed(pose), radius: *radius }
            }
            Self::Cone { frame, half_angle } => {
                Self::Cone { frame: frame.transformed(pose), half_angle: *half_angle }
            }
            Self::Sphere { frame, radius } => {
                Self::Sphere { frame: frame.transformed(pose), radius: *radius }
            }
            Self::Torus { frame, major, minor } => {
                Self::Torus { frame: frame.transformed(pose), major: *major, minor: *minor }
            }
            Self::Bezier(grid) => Self::Bezier(grid.transformed(pose)),
        }
    }

    /// The surface scaled about the origin by `f > 0` (a change of the length unit). Parameters that are
    /// lengths are scaled too; angles and spline parameters are kept.
    #[must_use]
    pub fn scaled(&self, f: f64) -> Self {
        let scale = |frame: &Frame| Frame { origin: frame.origin * f, ..*frame };
        match self {
            Self::Plane { frame } => Self::Plane { frame: scale(frame) },
            Self::Cylinder { frame, radius } => Self::Cylinder { frame: scale(frame), radius: radius * f },
            Self::Cone { frame, half_angle } => Self::Cone { frame: scale(frame), half_angle: *half_angle },
            Self::Sphere { frame, radius } => Self::Sphere { frame: scale(frame), radius: radius * f },
            Self::Torus { frame, major, minor } => {
                Self::Torus { frame: scale(frame), major: major * f, minor: minor * f }
            }
            Self::Bezier(grid) => Self::Bezier(grid.scaled(f)),
        }
    }

    /// First fundamental form `[e, f, g]`: `|du ∂u + dv ∂v|² = e du² + 2 f du dv + g dv²` (mm²).
    #[must_use]
    pub fn metric(&self, uv: P2) -> [f64; 3] {
        let d = self.derivs(uv);
        [d.du.norm_squared(), d.du.dot(&d.dv), d.dv.norm_squared()]
    }
}

impl Principal {
    /// The principal curvatures and directions with respect to the opposite normal.
    #[must_use]
    pub fn flipped(&self) -> Self {
        Self { k1: -self.k2, k2: -self.k1, dir1: self.dir2, dir2: self.dir1 }
    }

    /// Whether the surface, at the point of these curvatures, bends away from the normal in every
    /// direction or is straight within `tol` (1/mm).
    #[must_use]
    pub fn is_convex(&self, tol: f64) -> bool {
        self.k1 >= -tol
    }

    /// Whether the surface, at the point of these curvatures, bends towards the normal in every direction
    /// or is straight within `tol` (1/mm).
    #[must_use]
    pub fn is_concave(&self, tol: f64) -> bool {
        self.k2 <= tol
    }

    /// Whether one principal curvature is below `-tol` and the other above `tol` (1/mm).
    #[must_use]
    pub fn is_saddle(&self, tol: f64) -> bool {
        self.k1 < -tol && self.k2 > tol
    }
}

/// Minimum radius of the hole of a torus, relative to the radius of its tube. The value is not 0 because
/// radii that are meant to be equal differ by rounding. With a larger value faces through tiny holes are
/// refused; with a smaller one tori whose hole is a point by design are refused.
const MIN_HOLE_RATIO: f64 = 1e-7;

/// Whether a torus has a hole. Spindle tori and horn tori, whose hole is a point, have none. The outer
/// sheet of a torus without a hole ends at the axis, and its latitudes `v` (rad) are within
/// `±acos(-major / minor)`.
#[must_use]
pub fn has_hole(major: f64, minor: f64) -> bool {
    major > minor * (1.0 + MIN_HOLE_RATIO)
}

/// Computes the principal curvatures from derivatives of a surface and its unit natural normal `n`. They
/// are 0 where the parametrisation is singular.
pub(crate) fn principal_of(d: &SurfaceDerivs, n: &V3) -> Principal {
    // An orthonormal tangent basis with the larger derivative first keeps the change of basis well
    // conditioned.
    let e1 = if d.du.norm_squared() >= d.dv.norm_squared() { unit(d.du) } else { unit(d.dv) };
    let e1 = e1.unwrap_or_else(|| complete_basis(n).0);
    let e2 = n.cross(&e1);
    // du = a e1 + b e2, dv = c e1 + g e2; the shape operator is J⁻ᵀ (-II) J⁻¹ with J = [[a, c], [b, g]].
    let (a, b) = (d.du.dot(&e1), d.du.dot(&e2));
    let (c, g) = (d.dv.dot(&e1), d.dv.dot(&e2));
    let det = a * g - b * c;
    if det == 0.0 {
        // The parametrisation is singular, so curvatures are undefined.
        return Principal { k1: 0.0, k2: 0.0, dir1: e1, dir2: e2 };
    }
    let (l, m, q) = (-d.duu.dot(n), -d.duv.dot(n), -d.dvv.dot(n));
    // The columns of J⁻¹ are the parameter directions of e1 and e2.
    let (u1, v1) = (g / det, -b / det);
    let (u2, v2) = (-c / det, a / det);
    let s11 = l * u1 * u1 + 2.0 * m * u1 * v1 + q * v1 * v1;
    let s12 = l * u1 * u2 + m * (u1 * v2 + u2 * v1) + q * v1 * v2;
    let s22 = l * u2 * u2 + 2.0 * m * u2 * v2 + q * v2 * v2;
    let (mean, half_diff) = (0.5 * (s11 + s22), 0.5 * (s11 - s22));
    let radius = math::hypot(half_diff, s12);
    // The direction of the larger curvature is at half the angle of (half_diff, s12).
    let (sn, cs) = math::sin_cos(0.5 * math::atan2(s12, half_diff));
    Principal { k1: mean - radius, k2: mean + radius, dir1: e2 * cs - e1 * sn, dir2: e1 * cs + e2 * sn }
}

fn torus_derivs(frame: &Frame, major: f64, minor: f64, u: f64, v: f64) -> SurfaceDerivs {
    let (su, cu) = math::sin_cos(u);
    let (sv, cv) = math::sin_cos(v);
    let rho = major + minor * cv;
    SurfaceDerivs {
        p: frame.point(rho * cu, rho * su, minor * sv),
        du: frame.vector(-rho * su, rho * cu, 0.0),
        dv: frame.vector(-minor * sv * cu, -minor * sv * su, minor * cv),
        duu: frame.vector(-rho * cu, -rho * su, 0.0),
        duv: frame.vector(minor * sv * su, -minor * sv * cu, 0.0),
        dvv: frame.vector(-minor * cv * cu, -minor * cv * su, -minor * sv),
    }
}

#[cfg(test)]
mod tests;
