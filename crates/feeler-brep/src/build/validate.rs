//! Checks of all numbers, so that no later step has to validate them.

use feeler_geom::bezier::{BezierSpline, BezierSurface, H4, MAX_DEGREE};
use feeler_geom::{Curve, Frame, P3, Surface, V3};

/// Maximum magnitude of coordinates (mm; a million kilometres). Larger coordinates are rejected because
/// their squares would lose the digits of all others. A smaller value rejects models far from the
/// origin.
const MAX_COORDINATE: f64 = 1e12;
/// Maximum deviation of the length of an axis from 1, and of the cross product of two axes of a frame
/// from the third one. A larger value accepts skewed axes, a smaller one rejects files with rounded
/// numbers.
const ORTHONORMAL: f64 = 1e-6;

pub(super) fn is_good_point(p: &P3) -> bool {
    p.coords.iter().all(|c| c.abs() <= MAX_COORDINATE)
}

fn is_good_length(x: f64) -> bool {
    0.0 < x && x <= MAX_COORDINATE
}

fn is_unit(v: &V3) -> bool {
    (v.norm() - 1.0).abs() <= ORTHONORMAL
}

fn is_good_frame(f: &Frame) -> bool {
    let right = |a: &V3, b: &V3, c: &V3| (a.cross(b) - c).norm() <= ORTHONORMAL;
    is_good_point(&f.origin)
        && [f.x, f.y, f.z].iter().all(is_unit)
        && right(&f.x, &f.y, &f.z)
        && right(&f.y, &f.z, &f.x)
}

/// Returns whether the breaks of a spline are finite and increase strictly.
fn are_good_breaks(breaks: &[f64]) -> bool {
    breaks.len() >= 2
        && breaks.iter().all(|b| b.abs() <= MAX_COORDINATE)
        && breaks.windows(2).all(|w| w[0] < w[1] && (w[1] - w[0]).is_normal())
}

fn is_good_control(h: &H4) -> bool {
    1e-12 < h.w && h.w < 1e12 && h.xyz().iter().all(|c| c.abs() <= MAX_COORDINATE * h.w)
}

fn is_good_degree(d: u32) -> bool {
    (1..=MAX_DEGREE).contains(&d)
}

fn is_good_spline(b: &BezierSpline) -> bool {
    is_good_degree(b.degree)
        && are_good_breaks(&b.breaks)
        && b.control.len() == (b.breaks.len() - 1) * (b.degree as usize + 1)
        && b.control.iter().all(is_good_control)
}

fn is_good_grid(b: &BezierSurface) -> bool {
    is_good_degree(b.u_degree)
        && is_good_degree(b.v_degree)
        && are_good_breaks(&b.u_breaks)
        && are_good_breaks(&b.v_breaks)
        && b.control.len()
            == (b.u_breaks.len() - 1)
                * (b.v_breaks.len() - 1)
                * (b.u_degree as usize + 1)
                * (b.v_degree as usize + 1)
        && b.control.iter().all(is_good_control)
}

/// Returns whether all numbers of a curve are finite and within the allowed ranges, for example a
/// positive radius.
pub(super) fn is_good_curve(c: &Curve) -> bool {
    match c {
        Curve::Line { origin, dir } => is_good_point(origin) && is_unit(dir),
        Curve::Circle { frame, radius: r } | Curve::Parabola { frame, focal: r } => {
            is_good_frame(frame) && is_good_length(*r)
        }
        Curve::Ellipse { frame, semi_x: a, semi_y: b }
        | Curve::Hyperbola { frame, semi: a, semi_imag: b } => {
            is_good_frame(frame) && is_good_length(*a) && is_good_length(*b)
        }
        Curve::Bezier(b) => is_good_spline(b),
    }
}

/// Returns whether all numbers of a surface are finite and within the allowed ranges, for example a
/// positive radius.
pub(super) fn is_good_surface(s: &Surface) -> bool {
    match s {
        Surface::Plane { frame } => is_good_frame(frame),
        Surface::Cylinder { frame, radius } | Surface::Sphere { frame, radius } => {
            is_good_frame(frame) && is_good_length(*radius)
        }
        Surface::Cone { frame, half_angle } => {
            is_good_frame(frame) && 1e-9 < *half_angle && *half_angle < std::f64::consts::FRAC_PI_2 - 1e-9
        }
        Surface::Torus { frame, major, minor } => {
            is_good_frame(frame) && is_good_length(*major) && is_good_length(*minor)
        }
        Surface::Bezier(b) => is_good_grid(b),
    }
}
