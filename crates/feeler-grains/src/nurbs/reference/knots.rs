//! Automatic knot positioning. A *knot* of NURBS is a sample point of a surface, not a knot of its
//! splines.
//!
//! # Source
//! NURBS §3.2.2, Algorithm 2 (AKP).
//!
//! # Deviations
//! As printed, the algorithm yields one knot: corners of a closed surface coincide, so that the length
//! is 0, and the condition with "and" stops there. Here arc lengths are sampled, both directions are
//! measured, and the worse one is split. A surface is split until length *and* angle are small, as the
//! text states.

use feeler_geom::bezier::BezierSurface;
use feeler_geom::{P2, P3, Rect, math};

/// Limits at which a part of a surface is not split further; it must satisfy both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnotOptions {
    /// Largest arc length (mm), `ε_d`, of a part of the surface along u and along v.
    pub distance: f64,
    /// Largest angle (rad), `ε_θ`, between the normals at one and two thirds of the middle line of a
    /// part, along u and along v.
    pub angle: f64,
}

/// Sample points of a surface, called knots in NURBS.
#[derive(Clone, Debug, PartialEq)]
pub struct Knots {
    /// Positions of the knots (mm).
    pub points: Vec<P3>,
    /// Number of evaluations of the surface.
    pub evaluations: u64,
}

/// Number of chords by which the length of an arc is measured.
const CHORDS: u32 = 8;
/// Number of lines along u, and along v, of a part of a surface whose arc lengths are measured.
const LINES: u32 = 3;
/// Maximum number of successive halvings of a part of a surface.
const MAX_DEPTH: u32 = 40;

/// Distributes knots on a closed surface: one at the centre, in the parameter plane, of each part that
/// satisfies `options`.
#[must_use]
pub fn knots(grid: &BezierSurface, options: &KnotOptions) -> Knots {
    let mut out = Knots { points: Vec::new(), evaluations: 0 };
    let mut open = vec![(grid.domain(), 0)];
    while let Some((rect, depth)) = open.pop() {
        let [of_u, of_v] =
            [true, false].map(|along_u| excess(grid, &rect, along_u, options, &mut out.evaluations));
        let (u, v) = (0.5 * (rect.u0 + rect.u1), 0.5 * (rect.v0 + rect.v1));
        if of_u.max(of_v) <= 1.0 || depth >= MAX_DEPTH {
            out.points.push(grid.derivs(P2::new(u, v)).p);
            out.evaluations += 1;
        } else if of_u >= of_v {
            open.extend([(Rect { u0: u, ..rect }, depth + 1), (Rect { u1: u, ..rect }, depth + 1)]);
        } else {
            open.extend([(Rect { v0: v, ..rect }, depth + 1), (Rect { v1: v, ..rect }, depth + 1)]);
        }
    }
    out
}

/// Ratio of the arc length of the part `r` of a surface to its limit in `options`, or of the angle
/// between normals to its limit, whichever is larger; along u if `along_u`, else along v. Adds the
/// number of evaluations of the surface to `evaluations`.
fn excess(
    grid: &BezierSurface,
    r: &Rect,
    along_u: bool,
    options: &KnotOptions,
    evaluations: &mut u64,
) -> f64 {
    let at = |along: f64, across: f64| {
        let (s, t) = if along_u { (along, across) } else { (across, along) };
        P2::new(r.u0 + s * r.width(), r.v0 + t * r.height())
    };
    let mut longest = 0.0_f64;
    for line in 0..LINES {
        let across = f64::from(line) / f64::from(LINES - 1);
        let point = |k: u32| grid.derivs(at(f64::from(k) / f64::from(CHORDS), across)).p;
        let points: Vec<P3> = (0..=CHORDS).map(point).collect();
        longest = longest.max(points.windows(2).map(|p| (p[1] - p[0]).norm()).sum());
    }
    let [a, b] = [1.0 / 3.0, 2.0 / 3.0].map(|s| grid.normal(at(s, 0.5)));
    *evaluations += u64::from(LINES * (CHORDS + 1)) + 2;
    let angle = math::atan2(a.cross(&b).norm(), a.dot(&b));
    (longest / options.distance).max(angle / options.angle)
}
