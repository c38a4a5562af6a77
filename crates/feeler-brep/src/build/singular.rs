//! Points at which a parametrisation collapses: poles, apices, spindle tips, sides of patches that are
//! points.

use std::f64::consts::{FRAC_PI_2, PI};

use feeler_geom::bezier::{BezierSurface, dehomogenized};
use feeler_geom::surface::has_hole;
use feeler_geom::{Aabb, P2, P3, Rect, Surface, V3, math};

/// A singular point of a surface: a side of the parameter rectangle that is one point in space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Singular {
    pub(super) point: P3,
    /// Whether the side is `v = value` with `u` free; otherwise it is `u = value`.
    pub(super) u_free: bool,
    pub(super) value: f64,
    /// Whether the side is at the lower end of the range of the parameter that is constant along it.
    pub(super) low: bool,
    /// Whether the surface has a single tangent plane at the point.
    pub(super) smooth: bool,
}

impl Singular {
    /// Returns the parameter of `uv` that varies along the side.
    pub(super) fn free(&self, uv: P2) -> f64 {
        if self.u_free { uv.x } else { uv.y }
    }

    /// Returns the parameter of `uv` that is constant along the side.
    pub(super) fn fixed(&self, uv: P2) -> f64 {
        if self.u_free { uv.y } else { uv.x }
    }

    /// Combines a free and a fixed parameter to (u, v).
    pub(super) fn uv(&self, free: f64, fixed: f64) -> P2 {
        if self.u_free { P2::new(free, fixed) } else { P2::new(fixed, free) }
    }

    /// Returns `uv` moved onto the side.
    pub(super) fn snapped(&self, uv: P2) -> P2 {
        self.uv(self.free(uv), self.value)
    }

    /// Returns the natural normal at the point for the value `free` of the free parameter, as the limit
    /// from inside the domain.
    pub(super) fn normal(&self, surface: &Surface, free: f64) -> V3 {
        // At the tip itself, rounding would select one of the sheets of a spindle torus.
        let inside = match surface {
            Surface::Torus { .. } if self.low => 1e-7,
            Surface::Torus { .. } => -1e-7,
            _ => 0.0,
        };
        surface.normal(self.uv(free, self.value + inside))
    }

    /// Returns the unit direction in which the surface leaves the point at the value `free` of the free
    /// parameter; `None` if no limit direction exists.
    pub(super) fn direction(&self, surface: &Surface, free: f64, rect: &Rect) -> Option<V3> {
        let d = surface.derivs(self.uv(free, self.value));
        let away = if self.u_free { d.dv } else { d.du };
        let away = if self.low { away } else { -away };
        let (lo, hi) = if self.u_free { (rect.v0, rect.v1) } else { (rect.u0, rect.u1) };
        let span = if (hi - lo).is_finite() { hi - lo } else { 1.0 };
        let step = if self.low { span } else { -span };
        // A patch whose first derivative vanishes at the side still has a limit direction.
        let chord = |h: f64| surface.point(self.uv(free, self.value + h * step)) - d.p;
        let far = chord(1e-2);
        let away = if away.norm() * span * 1e-2 > 1e-6 * far.norm() { away } else { chord(1e-5) };
        away.try_normalize(0.0)
    }
}

/// Returns the tube angle (rad) at which a spindle torus intersects its axis: the outer sheet is
/// `|v| < angle`. For a horn torus, whose hole is a point, it is π, and both tips coincide there.
/// Returns `None` for other surfaces.
pub(super) fn spindle_angle(surface: &Surface) -> Option<f64> {
    match surface {
        Surface::Torus { major, minor, .. } if !has_hole(*major, *minor) => {
            Some(math::acos((-major / minor).max(-1.0)))
        }
        _ => None,
    }
}

/// Returns all singular points of a surface. Sides shorter than a fraction of `size` (mm), the solid's
/// size, count as points.
pub(super) fn singular_points(surface: &Surface, size: f64) -> Vec<Singular> {
    let at = |uv: P2, low: bool, smooth: bool| Singular {
        point: surface.point(uv),
        u_free: true,
        value: uv.y,
        low,
        smooth,
    };
    match surface {
        Surface::Plane { .. } | Surface::Cylinder { .. } => vec![],
        Surface::Cone { .. } => vec![at(P2::new(0.0, 0.0), true, false)],
        Surface::Sphere { .. } => {
            vec![at(P2::new(0.0, -FRAC_PI_2), true, true), at(P2::new(0.0, FRAC_PI_2), false, true)]
        }
        // The end of the sheet at which a spindle tip lies depends on the sheet; see `inner_sheet`.
        Surface::Torus { .. } => spindle_angle(surface).map_or_else(Vec::new, |v| {
            vec![at(P2::new(0.0, -v), true, false), at(P2::new(0.0, v), false, false)]
        }),
        Surface::Bezier(b) => collapsed_sides(surface, b, size),
    }
}

/// Changes the parameters of the two singular points of a spindle torus from those of the outer sheet to
/// those at the ends of the inner sheet, `v` in `[angle, 2π - angle]`. The positions of these points in
/// space do not change, because both sheets share them.
pub(super) fn inner_sheet(points: &mut [Singular]) {
    for s in points {
        if s.low {
            s.value += 2.0 * PI;
        }
        s.low = !s.low;
    }
}

fn collapsed_sides(surface: &Surface, b: &BezierSurface, size: f64) -> Vec<Singular> {
    let rect = b.domain();
    let (n_u, n_v) = b.n_patches();
    let (rows, cols) = (b.u_degree as usize + 1, b.v_degree as usize + 1);
    let mut out = Vec::new();
    for (u_free, low) in [(true, true), (true, false), (false, true), (false, false)] {
        let mut bounds = Aabb::empty();
        if u_free {
            let (j, col) = if low { (0, 0) } else { (n_v - 1, cols - 1) };
            for i in 0..n_u {
                let c = b.patch_control((i, j));
                (0..rows).for_each(|a| bounds.insert(&dehomogenized(&c[a * cols + col])));
            }
        } else {
            let (i, row) = if low { (0, 0) } else { (n_u - 1, rows - 1) };
            for j in 0..n_v {
                let c = b.patch_control((i, j));
                (0..cols).for_each(|k| bounds.insert(&dehomogenized(&c[row * cols + k])));
            }
        }
        if bounds.diagonal() > 1e-8 * size {
            continue;
        }
        let value = match (u_free, low) {
            (true, true) => rect.v0,
            (true, false) => rect.v1,
            (false, true) => rect.u0,
            (false, false) => rect.u1,
        };
        let mut s = Singular { point: bounds.center(), u_free, value, low, smooth: false };
        let (lo, hi) = if u_free { (rect.u0, rect.u1) } else { (rect.v0, rect.v1) };
        let normal = |k: i32| surface.normal(s.uv(lo + (hi - lo) * f64::from(k) / 8.0, value));
        let first = normal(4);
        // The norms of the cross products are the sines of the angles to the normal in the middle of the
        // side.
        s.smooth = (0..=8).all(|k| normal(k).cross(&first).norm() < 1e-6 && normal(k).dot(&first) > 0.0);
        out.push(s);
    }
    out
}
