//! Recognition of grids that are planes, spheres, cylinders, cones or tori.

use nalgebra::Matrix3;

use super::fit::{Revolved, circle_through};
use super::{DEVIATION_MARGIN, Recognised, sample_parameters};
use crate::bezier::{BezierSurface, dehomogenized};
use crate::frame::unit;
use crate::surface::Principal;
use crate::{Aabb, Frame, P2, P3, Surface, V3, math};

/// Maximum relative difference of curvatures (and maximum 1 − cosine of normals) that count as equal
/// when a kind of surface is guessed. A larger value wastes fits; with a smaller one shapes are not
/// recognised.
const CURVATURE_TOL: f64 = 1e-3;

/// A point of a grid with its normal and curvatures.
struct Sample {
    p: P3,
    n: V3,
    k: Principal,
}

pub(super) fn recognised(grid: &BezierSurface, tol: f64) -> Option<Recognised<Surface>> {
    let r = grid.domain();
    let at = |s: f64, t: f64| P2::new(r.u0 + (r.u1 - r.u0) * s, r.v0 + (r.v1 - r.v0) * t);
    // The samples are not related by any symmetry of a canonical shape.
    let uvs = [(0.23, 0.31), (0.71, 0.22), (0.37, 0.83), (0.86, 0.64)].map(|(s, t)| at(s, t));
    let surface = |uv: P2| {
        let d = grid.derivs(uv);
        let n = unit(d.du.cross(&d.dv))?;
        Some(Sample { p: d.p, n, k: crate::surface::principal_of(&d, &n) })
    };
    let samples: Vec<Sample> = uvs.into_iter().map_while(surface).collect();
    let samples: [Sample; 4] = samples.try_into().ok()?;
    if let Some(plane) = plane(grid, &samples, tol) {
        return Some(plane);
    }
    let guess = guess(&samples)?;
    let mut points = Vec::with_capacity(49);
    for (i, j) in (0..7).flat_map(|i| (0..7).map(move |j| (i, j))) {
        points.push(grid.first_derivs(at((f64::from(i) + 0.4) / 7.0, (f64::from(j) + 0.6) / 7.0)).0);
    }
    let size = Aabb::of_points(points.iter()).diagonal();
    let (revolved, worst) = guess.fitted(&points, size);
    if worst * DEVIATION_MARGIN > tol || !revolved.is_local(&points, size, tol) {
        return None;
    }
    let deviation = measured(grid, &revolved, tol)?;
    let shape = finished(&revolved, grid, &points)?;
    // The normals at all samples must be on the same side of the shape.
    let sides: Vec<bool> =
        samples.iter().map(|s| shape.normal(shape.invert(&s.p, None, None)).dot(&s.n) > 0.0).collect();
    if sides.iter().any(|s| *s != sides[0]) {
        return None;
    }
    Some(Recognised { shape, same_normal: sides[0], deviation })
}

/// Recognises a plane: all control points, and therefore the whole grid, are within `tol` (mm) of it.
/// `None` if they are not, or if the grid is folded.
fn plane(grid: &BezierSurface, samples: &[Sample; 4], tol: f64) -> Option<Recognised<Surface>> {
    let n = samples[0].n;
    if samples.iter().any(|s| s.n.dot(&n) < 1.0 - CURVATURE_TOL) {
        return None;
    }
    // A plane through distant control points is more accurate than one from a single normal.
    let points: Vec<P3> = grid.control.iter().map(dehomogenized).collect();
    let far = |from: &dyn Fn(&P3) -> f64| points.iter().max_by(|a, b| from(a).total_cmp(&from(b))).copied();
    let a = samples[0].p;
    let b = far(&|p| (p - a).norm())?;
    let along = unit(b - a)?;
    let c = far(&|p| (p - a).cross(&along).norm())?;
    let normal = unit((b - a).cross(&(c - a)))?;
    let normal = if normal.dot(&n) < 0.0 { -normal } else { normal };
    let off = points.iter().fold(0.0, |m: f64, p| m.max((p - a).dot(&normal).abs()));
    if off.is_nan() || off > tol {
        return None;
    }
    // Move the plane to the middle of all control points.
    let heights = points.iter().map(|p| (p - a).dot(&normal));
    let (lo, hi) = heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), h| (lo.min(h), hi.max(h)));
    // x is along the grid, which is usually the direction of the edges of the face, so that rectangles
    // along x and y fit the face best.
    let x = unit(grid.first_derivs(grid.domain().center()).1).unwrap_or(along);
    let frame = Frame::from_z(a + normal * (0.5 * (lo + hi)), normal, Some(x))?;
    // A grid that folds has normals on both sides.
    let upright = samples.iter().all(|s| s.n.dot(&normal) > 0.0);
    upright.then_some(Recognised {
        shape: Surface::Plane { frame },
        same_normal: true,
        deviation: 0.5 * (hi - lo),
    })
}

/// Guesses a surface from the curvatures at the samples; `None` if they do not suggest a canonical
/// shape.
fn guess(s: &[Sample; 4]) -> Option<Revolved> {
    let all = |f: &dyn Fn(&Sample) -> bool| s.iter().all(f);
    let like = |a: f64, b: f64| (a - b).abs() <= CURVATURE_TOL * a.abs().max(b.abs());
    if s.iter().any(|s| !s.k.k1.is_finite() || !s.k.k2.is_finite()) {
        return None;
    }
    let largest = |s: &Sample| s.k.k1.abs().max(s.k.k2.abs());
    if !all(&|s| largest(s) > 0.0) {
        return None;
    }
    if all(&|x| like(x.k.k1, x.k.k2) && like(x.k.k1, s[0].k.k1)) {
        let k = s[0].k.k1;
        return Some(Revolved::Sphere { centre: s[0].p - s[0].n / k, radius: 1.0 / k.abs() });
    }
    if all(&|s| s.k.k1.abs().min(s.k.k2.abs()) <= CURVATURE_TOL * largest(s)) {
        let steep = |s: &Sample| if s.k.k1.abs() > s.k.k2.abs() { s.k.k1 } else { s.k.k2 };
        if all(&|x| like(steep(x), steep(&s[0]))) {
            let k = steep(&s[0]);
            let axis = if s[0].k.k1.abs() > s[0].k.k2.abs() { s[0].k.dir2 } else { s[0].k.dir1 };
            let frame = Frame::from_z(s[0].p - s[0].n / k, axis, None)?;
            return Some(Revolved::Cylinder { frame, radius: 1.0 / k.abs() });
        }
        return cone(s);
    }
    // One principal curvature of a torus is constant.
    for tube in [|s: &Sample| s.k.k1, |s: &Sample| s.k.k2] {
        let k = tube(&s[0]);
        if k != 0.0 && all(&|x| like(tube(x), k)) {
            let c = [0, 1, 2, 3].map(|i: usize| s[i].p - s[i].n / k);
            let circles = [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]].map(|t| t.map(|i: usize| c[i]));
            let spread = |t: &[P3; 3]| (t[1] - t[0]).cross(&(t[2] - t[0])).norm();
            let widest = circles.into_iter().max_by(|a, b| spread(a).total_cmp(&spread(b)))?;
            let Some((centre, axis)) = circle_through(widest) else { continue };
            let (major, minor) = ((widest[0] - centre).norm(), 1.0 / k.abs());
            return Some(Revolved::Torus { frame: Frame::from_z(centre, axis, None)?, major, minor });
        }
    }
    None
}

/// Guesses a cone from three tangent planes, which intersect in its apex and whose normals have equal
/// angles with its axis. `None` if the planes do not intersect in one point.
fn cone(s: &[Sample; 4]) -> Option<Revolved> {
    let triples = [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]];
    let axis_of = |t: &[usize; 3]| (s[t[1]].n - s[t[0]].n).cross(&(s[t[2]].n - s[t[0]].n));
    let t = triples.iter().max_by(|a, b| axis_of(a).norm().total_cmp(&axis_of(b).norm()))?;
    let mut axis = unit(axis_of(t))?;
    let rows = t.map(|i| s[i].n.transpose());
    let heights = V3::from(t.map(|i| s[i].n.dot(&s[i].p.coords)));
    let apex = P3::from(Matrix3::from_rows(&rows).try_inverse()? * heights);
    if (s[0].p - apex).dot(&axis) < 0.0 {
        axis = -axis;
    }
    let half_angle = math::asin(s[0].n.dot(&axis).abs().min(1.0));
    Some(Revolved::Cone { frame: Frame::from_z(apex, axis, None)?, half_angle })
}

/// Largest distance (mm) of the patches from the shape, multiplied by
/// [`DEVIATION_MARGIN`]; `None` if the product exceeds `tol` (mm).
fn measured(grid: &BezierSurface, shape: &Revolved, tol: f64) -> Option<f64> {
    let (n_u, n_v) = grid.n_patches();
    let mut worst = 0.0_f64;
    for patch in (0..n_u).flat_map(|i| (0..n_v).map(move |j| (i, j))) {
        let r = grid.patch_rect(patch);
        for (s, t) in sample_parameters(grid.u_degree)
            .flat_map(|s| sample_parameters(grid.v_degree).map(move |t| (s, t)))
        {
            let p = grid.first_derivs(P2::new(r.u0 + (r.u1 - r.u0) * s, r.v0 + (r.v1 - r.v0) * t)).0;
            let off = shape.distance(&p).abs() * DEVIATION_MARGIN;
            if off.is_nan() || off > tol {
                return None;
            }
            worst = worst.max(off);
        }
    }
    Some(worst)
}

/// Converts a fitted shape to a surface whose frame has an x axis that points towards one of `points`;
/// `None` if the parameters of the shape are not valid.
fn finished(shape: &Revolved, grid: &BezierSurface, points: &[P3]) -> Option<Surface> {
    let aligned =
        |frame: &Frame, towards: &P3| Frame::from_z(frame.origin, frame.z, Some(towards - frame.origin));
    let p = points.first()?;
    match shape {
        Revolved::Sphere { centre, radius } => {
            // Put a pole at the pole of the grid, if it has one.
            let z = pole(grid).map_or_else(V3::z, |p| p - centre);
            let frame = Frame::from_z(*centre, z, Some(points[points.len() / 2] - centre))?;
            (*radius > 0.0).then_some(Surface::Sphere { frame, radius: *radius })
        }
        Revolved::Cylinder { frame, radius } => {
            let frame = aligned(frame, p)?;
            (*radius > 0.0).then_some(Surface::Cylinder { frame, radius: *radius })
        }
        Revolved::Cone { frame, half_angle } => {
            let frame = aligned(frame, p)?;
            let one_nappe = points.iter().all(|p| (p - frame.origin).dot(&frame.z) > 0.0);
            let proper = *half_angle > 1e-9 && *half_angle < std::f64::consts::FRAC_PI_2 - 1e-9;
            (one_nappe && proper).then_some(Surface::Cone { frame, half_angle: *half_angle })
        }
        Revolved::Torus { frame, major, minor } => {
            let frame = aligned(frame, p)?;
            // The distance does not distinguish the two sheets of a torus whose tube reaches its axis,
            // so such a torus is rejected.
            let proper = *minor > 0.0 && *major > *minor * (1.0 + 1e-6);
            proper.then_some(Surface::Torus { frame, major: *major, minor: *minor })
        }
    }
}

/// Point to which a side of the grid is collapsed; `None` if no side is collapsed.
fn pole(grid: &BezierSurface) -> Option<P3> {
    let r = grid.domain();
    let c = r.center();
    let point = |u: f64, v: f64| grid.first_derivs(P2::new(u, v)).0;
    let sides = [
        [point(r.u0, r.v1), point(c.x, r.v1)],
        [point(r.u0, r.v0), point(c.x, r.v0)],
        [point(r.u1, r.v0), point(r.u1, c.y)],
        [point(r.u0, r.v0), point(r.u0, c.y)],
    ];
    let size = (point(r.u0, r.v0) - point(c.x, c.y)).norm();
    sides.into_iter().find(|[a, b]| (a - b).norm() <= 1e-9 * size).map(|s| s[0])
}
