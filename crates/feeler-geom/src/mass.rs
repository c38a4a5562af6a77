//! Area, volume, first and second moments from trimmed patches, and inertia.
//!
//! By the divergence theorem, with `d = x - c` and any reference point `c`, a solid's volume is `⅓ ∮ d·n
//! dA`, its first moments `∫ d dV` are `¼ ∮ d (d·n) dA` (the divergence of `d dᵀ` is `4 d`) and its
//! second moments `∫ d dᵀ dV` are `⅕ ∮ d dᵀ (d·n) dA`; these forms are the same in every frame. Each face
//! contributes its part of these sums. Canonical surfaces are integrated along `u` in closed form and
//! along the boundary numerically (Green's theorem), Bézier grids cell by cell.
//!
//! A trimming curve follows its edge only within a tolerance. On canonical surfaces the slivers between
//! the two are added, so that a round hole has the exact area of its circle.
//!
//! # Source
//! MATH §17.

mod flux;

use std::ops::AddAssign;

pub use flux::{Flux, FluxForm, FluxSums, NUM_FLUX_SUMS};

use crate::trim::{TrimCells, TrimPiece};
use crate::{Curve, Frame, P2, P3, Rect, Surface, V3, math};
use nalgebra::Matrix3;

/// Contribution of a face to its solid's area, volume and moments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FaceIntegrals {
    /// Area of the face (mm²).
    pub area: f64,
    /// Contribution to the volume (mm³), which depends on the reference point; only the sum over a
    /// closed shell is meaningful.
    pub volume: f64,
    /// Contribution to the first moments `∫ (x - c) dV` (mm⁴), with c the reference point.
    pub moment: V3,
    /// Contribution to the second moments `∫ (x - c) (x - c)ᵀ dV` (mm⁵), with c the reference point.
    pub second: Matrix3<f64>,
}

impl AddAssign for FaceIntegrals {
    fn add_assign(&mut self, o: Self) {
        self.area += o.area;
        self.volume += o.volume;
        self.moment += o.moment;
        self.second += o.second;
    }
}

/// Centroid and inertia of a solid of density 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolidInertia {
    /// Centre of mass (mm), in the frame of the faces.
    pub centroid: P3,
    /// Inertia tensor (mm⁵) about the centroid: moments of inertia on the diagonal, negative products of
    /// inertia off it.
    pub tensor: Matrix3<f64>,
}

impl SolidInertia {
    /// Computes the inertia of a solid from the sums of the integrals of all its faces, which have the
    /// common reference point `reference`. The volume must not be zero.
    #[must_use]
    pub fn new(sums: &FaceIntegrals, reference: &P3) -> Self {
        let shift = sums.moment / sums.volume;
        let central = sums.second - shift * shift.transpose() * sums.volume;
        let tensor = Matrix3::from_diagonal_element(central.trace()) - central;
        // Copying the lower triangle makes the tensor exactly symmetric.
        let lower = tensor.lower_triangle();
        let tensor = lower + lower.transpose() - Matrix3::from_diagonal(&tensor.diagonal());
        Self { centroid: reference + shift, tensor }
    }
}

/// Relative accuracy of integrals over canonical surfaces. Their integrands are smooth, so the accuracy
/// costs little; a larger value is less exact, a smaller one takes more time.
const CANONICAL_REL_TOL: f64 = 1e-13;

/// Number of integrals of a face: area; flux `d·n`; flux times x, y, z; flux times xx, xy, xz, yy, yz,
/// zz. The coordinates x, y, z are relative to the reference point, along the axes of the surface's frame
/// for canonical surfaces and of the solid's frame for Bézier grids.
const NUM_SUMS: usize = 11;
type Sums = [f64; NUM_SUMS];

/// Curve of the edge that a trimming curve approximates, with the parameter range of the edge.
pub type EdgeCurve<'a> = (&'a Curve, (f64, f64));

/// Computes the integrals of a trimmed face. `outward` is whether the outward normal is `∂u × ∂v`.
/// `edge` returns the edge curve for a [`TrimPiece::edge`], or `None` if the piece belongs to no edge.
/// `reference` should be near the solid: far from it, the contributions of opposite faces cancel and
/// digits are lost. `rel_tol` is relative to the sums of the magnitudes of the contributions of the
/// face's parts; canonical surfaces are integrated to at least 1e-13. The integrals of an unbounded
/// domain are NaN.
#[must_use]
pub fn face_integrals<'a>(
    surface: &Surface,
    outward: bool,
    cells: &TrimCells,
    edge: &dyn Fn(u32) -> Option<EdgeCurve<'a>>,
    reference: &P3,
    rel_tol: f64,
) -> FaceIntegrals {
    let tol = rel_tol.min(CANONICAL_REL_TOL);
    let closed = |frame: &Frame, profile: &dyn Fn(f64) -> Profile| {
        let r = Revolution { profile, at: frame.local(reference) * -1.0, u0: cells.rect.u0 };
        let sums = cells.integrate(&|p| r.antiderivative(p), (&[], &[]), tol);
        (add(sums, slivers(surface, cells, edge, &|p| r.density(p))), *frame)
    };
    let (sums, frame) = match surface {
        Surface::Plane { frame } => {
            let plane = Plane::new(frame, &cells.rect, reference);
            let sums = cells.integrate_cubic(&|p| plane.antiderivative(p));
            (add(sums, slivers(surface, cells, edge, &|p| plane.density(p))), *frame)
        }
        Surface::Cylinder { .. } | Surface::Cone { .. } | Surface::Sphere { .. } | Surface::Torus { .. } => {
            match of_revolution(surface) {
                Some((frame, profile)) => closed(&frame, &*profile),
                None => ([f64::NAN; NUM_SUMS], Frame::identity()),
            }
        }
        Surface::Bezier(_) => (grid(surface, cells, reference, rel_tol), Frame::identity()),
    };
    let sign = if outward { 1.0 } else { -1.0 };
    let [area, flux, x, y, z, xx, xy, xz, yy, yz, zz] = sums;
    let second = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
    let axes = Matrix3::from_columns(&[frame.x, frame.y, frame.z]);
    FaceIntegrals {
        area,
        volume: sign * flux / 3.0,
        moment: axes * V3::new(x, y, z) * (0.25 * sign),
        second: axes * second * axes.transpose() * (0.2 * sign),
    }
}

/// Relative accuracy of the integrals of [`vector_area`]. A larger value hides wrong domains; a smaller
/// one takes more time.
const VECTOR_AREA_TOL: f64 = 1e-7;

/// Computes the vector area `∫ n dA` (mm²) of a trimmed face along its natural normal n, and its area
/// (mm²), from the trimmed domain `cells`. By Stokes's theorem the vector area also follows from the
/// face's edges alone. A comparison of both therefore detects a wrong domain or surface.
#[must_use]
pub fn vector_area(surface: &Surface, cells: &TrimCells) -> (V3, f64) {
    let u0 = cells.rect.u0;
    let closed = |frame: &Frame, profile: &dyn Fn(f64) -> Profile| {
        let antiderivative = |p: P2| {
            let m = profile(p.y);
            let [x, y, z] = flux::vector_area_of_arc(&m, u0, p.x);
            [x, y, z, m.a.abs() * math::hypot(m.da, m.db) * (p.x - u0)]
        };
        (cells.integrate(&antiderivative, (&[], &[]), VECTOR_AREA_TOL), *frame)
    };
    let ([x, y, z, area], frame) = match surface {
        Surface::Plane { frame } => {
            let [area] = cells.integrate_cubic(&|p| [p.x - u0]);
            ([0.0, 0.0, area, area], *frame)
        }
        Surface::Bezier(_) => {
            let (us, vs) = surface.breaks(&cells.rect);
            let density = |p: P2| {
                let (_, du, dv) = surface.first_derivs(p);
                let n = du.cross(&dv);
                [n.x, n.y, n.z, n.norm()]
            };
            let r = &cells.rect;
            let middle = density(P2::new(0.5 * (r.u0 + r.u1), 0.5 * (r.v0 + r.v1)));
            let floor = [VECTOR_AREA_TOL * middle[3] * (r.u1 - r.u0) * (r.v1 - r.v0); 4];
            (cells.integrate_density(&density, (&us, &vs), VECTOR_AREA_TOL, floor), Frame::identity())
        }
        Surface::Cylinder { .. } | Surface::Cone { .. } | Surface::Sphere { .. } | Surface::Torus { .. } => {
            match of_revolution(surface) {
                Some((frame, profile)) => closed(&frame, &*profile),
                None => ([f64::NAN; 4], Frame::identity()),
            }
        }
    };
    (frame.vector(x, y, z), area)
}

/// Meridian of a surface of revolution as a function of the parameter v.
type Meridian = Box<dyn Fn(f64) -> Profile>;

/// Returns the frame and the meridian of a canonical surface of revolution, or `None` for other
/// surfaces.
fn of_revolution(surface: &Surface) -> Option<(Frame, Meridian)> {
    Some(match *surface {
        Surface::Cylinder { frame, radius } => {
            (frame, Box::new(move |v| Profile { a: radius, da: 0.0, b: v, db: 1.0 }))
        }
        Surface::Cone { frame, half_angle } => {
            let slope = math::tan(half_angle);
            (frame, Box::new(move |v| Profile { a: v * slope, da: slope, b: v, db: 1.0 }))
        }
        Surface::Sphere { frame, radius } => (
            frame,
            Box::new(move |v| {
                let (s, co) = math::sin_cos(v);
                Profile { a: radius * co, da: -radius * s, b: radius * s, db: radius * co }
            }),
        ),
        Surface::Torus { frame, major, minor } => (
            frame,
            Box::new(move |v| {
                let (s, co) = math::sin_cos(v);
                Profile { a: major + minor * co, da: -minor * s, b: minor * s, db: minor * co }
            }),
        ),
        Surface::Plane { .. } | Surface::Bezier(_) => return None,
    })
}

fn add(mut a: Sums, b: Sums) -> Sums {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
    a
}

/// Returns the integrands of [`Sums`] at a point of a surface, per unit of area of the parameter plane:
/// `area` is `|∂u × ∂v|`, `flux` is `d · (∂u × ∂v)`, and `d` is the vector from the reference point to
/// the point.
fn products(area: f64, flux: f64, d: V3) -> Sums {
    let [x, y, z] = [d.x * flux, d.y * flux, d.z * flux];
    [area, flux, x, y, z, d.x * x, d.x * y, d.x * z, d.y * y, d.y * z, d.z * z]
}

/// Computes the integrals over the slivers between the trimming curves of a face and those of its edges
/// that are lines, circles or ellipses, to first order in their distance.
fn slivers<'a>(
    surface: &Surface,
    cells: &TrimCells,
    edge: &dyn Fn(u32) -> Option<EdgeCurve<'a>>,
    density: &dyn Fn(P2) -> Sums,
) -> Sums {
    let period = [surface.u_period(), surface.v_period()];
    let moved = |piece: &TrimPiece, p: P2| {
        let (curve, (t0, t1)) = edge(piece.edge)?;
        if !matches!(curve, Curve::Line { .. } | Curve::Circle { .. } | Curve::Ellipse { .. }) {
            return None;
        }
        let at = curve.point(curve.project(&surface.point(p), t0, t1));
        let q = surface.invert(&at, Some(p), Some(&cells.rect));
        let near = |d: f64, period: Option<f64>| period.map_or(d, |t| d - t * (d / t).round());
        Some(P2::new(p.x + near(q.x - p.x, period[0]), p.y + near(q.y - p.y, period[1])))
    };
    cells.integrate_slivers(density, &moved)
}

/// Integrands of a plane, on which `d·n` is constant and `d` linear.
struct Plane {
    /// Corner (u0, v0) of the parameter rectangle of the face. Coordinates relative to it keep their digits
    /// if the frame's origin is far away.
    corner: P2,
    /// Vector (mm) from the reference point of the integrals to the corner (u0, v0) of the parameter
    /// rectangle, along the axes of the plane's frame.
    at: V3,
}

impl Plane {
    fn new(frame: &Frame, rect: &Rect, c: &P3) -> Self {
        let corner = P2::new(rect.u0, rect.v0);
        let d = frame.point(corner.x, corner.y, 0.0) - c;
        Self { corner, at: V3::new(d.dot(&frame.x), d.dot(&frame.y), d.dot(&frame.z)) }
    }

    fn antiderivative(&self, p: P2) -> Sums {
        let (u, v) = (p.x - self.corner.x, p.y - self.corner.y);
        let (x0, y, h) = (self.at.x, self.at.y + v, self.at.z);
        let x = u * (x0 + 0.5 * u);
        let xx = u * (x0 * (x0 + u) + u * u / 3.0);
        [
            u,
            h * u,
            h * x,
            h * y * u,
            h * h * u,
            h * xx,
            h * y * x,
            h * h * x,
            h * y * y * u,
            h * h * y * u,
            h * h * h * u,
        ]
    }

    fn density(&self, p: P2) -> Sums {
        products(1.0, self.at.z, self.at + V3::new(p.x - self.corner.x, p.y - self.corner.y, 0.0))
    }
}

/// A point of a meridian at one `v`: distance `a` from the axis (mm), height `b` along it (mm), and
/// their derivatives by v.
struct Profile {
    a: f64,
    da: f64,
    b: f64,
    db: f64,
}

/// Integrands of a surface of revolution `o + a(v) (cos u x + sin u y) + b(v) z`, whose normal `∂u × ∂v`
/// is `a (b' (cos u x + sin u y) - a' z)`.
struct Revolution<'a> {
    profile: &'a dyn Fn(f64) -> Profile,
    /// Vector (mm) from the reference point of the integrals to the origin of the surface's frame, along
    /// the axes of that frame.
    at: V3,
    /// Value of `u` at which antiderivatives are zero.
    u0: f64,
}

impl Revolution<'_> {
    /// Returns, for the circle of points (u, v) with the v of the meridian's point `m`, the height above
    /// the reference point (mm) and the coefficients `k`, `kc`, `ks` of the flux `d · (∂u × ∂v) = k + kc
    /// cos u + ks sin u`, with d the vector from the reference point.
    fn flux(&self, m: &Profile) -> (f64, f64, f64, f64) {
        let h = self.at.z + m.b;
        (h, m.a * (m.db * m.a - m.da * h), m.a * m.db * self.at.x, m.a * m.db * self.at.y)
    }

    fn antiderivative(&self, p: P2) -> Sums {
        let m = (self.profile)(p.y);
        let (h, k, kc, ks) = self.flux(&m);
        let ((s, c), (s0, c0)) = (math::sin_cos(p.x), math::sin_cos(self.u0));
        let du = p.x - self.u0;
        // Integrals of cos^i sin^j, named from the right: 1; c, s; cc, cs, ss; ccc, ccs, css, sss.
        let (i_c, i_s) = (s - s0, c0 - c);
        let half = 0.5 * (s * c - s0 * c0);
        let (i_cc, i_cs, i_ss) = (0.5 * du + half, 0.5 * (s * s - s0 * s0), 0.5 * du - half);
        let (sines, cosines) = ((s * s * s - s0 * s0 * s0) / 3.0, (c0 * c0 * c0 - c * c * c) / 3.0);
        let (i_ccc, i_ccs, i_css, i_sss) = (i_c - sines, cosines, sines, i_s - cosines);
        let f = k * du + kc * i_c + ks * i_s;
        let (f_c, f_s) = (k * i_c + kc * i_cc + ks * i_cs, k * i_s + kc * i_cs + ks * i_ss);
        let f_cc = k * i_cc + kc * i_ccc + ks * i_ccs;
        let f_cs = k * i_cs + kc * i_ccs + ks * i_css;
        let f_ss = k * i_ss + kc * i_css + ks * i_sss;
        let (a, ax, ay) = (m.a, self.at.x, self.at.y);
        let (x, y) = (ax * f + a * f_c, ay * f + a * f_s);
        let xx = ax * (ax * f + 2.0 * a * f_c) + a * a * f_cc;
        let xy = ax * (ay * f + a * f_s) + a * (ay * f_c + a * f_cs);
        let yy = ay * (ay * f + 2.0 * a * f_s) + a * a * f_ss;
        [self.area(&m) * du, f, x, y, h * f, xx, xy, h * x, yy, h * y, h * h * f]
    }

    fn density(&self, p: P2) -> Sums {
        let m = (self.profile)(p.y);
        let (h, k, kc, ks) = self.flux(&m);
        let (s, c) = math::sin_cos(p.x);
        products(self.area(&m), k + kc * c + ks * s, V3::new(self.at.x + m.a * c, self.at.y + m.a * s, h))
    }

    fn area(&self, m: &Profile) -> f64 {
        m.a.abs() * (m.da * m.da + m.db * m.db).sqrt()
    }
}

/// Computes the integrals of [`Sums`] over the domain `cells` of a free-form surface by quadrature. `c`
/// is the reference point, and `rel_tol` the accuracy relative to the sums of the magnitudes of all
/// contributions.
fn grid(surface: &Surface, cells: &TrimCells, c: &P3, rel_tol: f64) -> Sums {
    let (us, vs) = surface.breaks(&cells.rect);
    let f = |p: P2| {
        let (at, du, dv) = surface.first_derivs(p);
        let n = du.cross(&dv);
        let d = at - c;
        products(n.norm(), d.dot(&n), d)
    };
    // The flux of a plane through the reference point is round-off only, and so are some moments of a
    // symmetric patch. The scale of the terms that cancel gives an absolute tolerance.
    let r = cells.rect;
    let (mut density, mut reach) = (0.0_f64, 0.0_f64);
    for (i, j) in (0..5).flat_map(|i| (0..5).map(move |j| (i, j))) {
        let (p, du, dv) = surface.first_derivs(P2::new(
            r.u0 + (r.u1 - r.u0) * 0.25 * f64::from(i),
            r.v0 + (r.v1 - r.v0) * 0.25 * f64::from(j),
        ));
        density = density.max(du.cross(&dv).norm());
        reach = reach.max((p - c).norm());
    }
    let area = density * (r.u1 - r.u0) * (r.v1 - r.v0) * 1e-3 * rel_tol;
    let floor: Sums = std::array::from_fn(|k| match k {
        0 => area,
        1 => area * reach,
        2..5 => area * reach * reach,
        _ => area * reach * reach * reach,
    });
    cells.integrate_density(&f, (&us, &vs), rel_tol, floor)
}

#[cfg(test)]
mod tests;
