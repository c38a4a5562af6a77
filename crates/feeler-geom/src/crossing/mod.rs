//! Complete search for the crossings of a curve or a patch with a level of the distance from a surface,
//! by subdivision with proofs.
//!
//! Two boundaries cross if one of them passes through a *level* of the other: the surface of the other
//! boundary, moved into its material by a length. Surfaces that only touch, as a bolt and the hole that
//! it fills, do not reach each other's levels, so rounding does not create crossings.
//!
//! A cell of parameters is finished if
//! - values in its middle and bounds of the derivatives prove that it does not reach the level, or
//! - it cannot contain a closed curve of crossings, because the distance is monotone along one parameter
//!   (or no two normals are parallel); the crossings on its sides are then searched for, with one
//!   parameter less, or
//! - the whole cell is within a slack of the level; its middle then counts as a crossing.
//!
//! Otherwise it is cut in two. Thus at least one point of every crossing curve is found.
//!
//! | | of a closed form | patch |
//! |---|---|---|
//! | curve | [`curve_through_level`] | [`curve_through_patch`] |
//! | patch | [`patch_through_level`] | [`patch_through_patch`] |
//!
//! # Source
//! MATH §15, "How crossings are found". Loops of two patches: Sederberg, Christiansen and Katz,
//! *Improved test for closed loops in surface intersections*, 1989, with normals that are parallel in
//! either sense.

mod follow;
mod level;
mod one_surface;
mod patches;

#[cfg(test)]
mod tests;

pub use follow::{FollowLimits, FollowScratch, ParameterMap, clearance_of_following, parameter_map};
pub use level::{Level, curve_through_level, patch_through_level};
pub use one_surface::{
    MAX_FACE_CELLS, SurfaceBounds, distance_from_surface, distance_on_one_surface, is_clear_of_itself,
};
pub use patches::{Shifted, curve_through_patch, patch_through_patch};

use crate::{P2, P3, Pose, Rect, Surface, V3};

/// Outcome of a search for crossings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Search {
    /// The search is complete: all crossings were reported.
    Complete,
    /// The callback stopped the search by returning `true`.
    Stopped,
    /// The budget of cells was exhausted. In the cells that were not finished, no point is beyond the
    /// level, on its inner side, by more than this length (mm).
    BudgetExhausted(f64),
}

/// Curve over a range of its parameter, in the frame of the search.
#[derive(Clone, Copy, Debug)]
pub struct Arc<F> {
    /// Returns the point (mm) and the first derivative at a parameter.
    pub eval: F,
    /// Start and end of the parameter's range.
    pub range: [f64; 2],
    /// Upper bound of the length of the first derivative over the range.
    pub speed: f64,
    /// Upper bound of the length of the second derivative over the range.
    pub bend: f64,
}

/// Part of a surface over a rectangle of its parameters, with an outer side, placed in the frame of a search.
#[derive(Clone, Copy, Debug)]
pub struct Patch<'a> {
    /// Surface in its own frame. It is smooth over `rect`.
    pub surface: &'a Surface,
    /// Whether the outward normal is the natural normal `∂u × ∂v` of the surface; otherwise it is the
    /// opposite.
    pub outward: bool,
    /// Pose from the surface's own frame to the frame of the search; `None` if they coincide.
    pub pose: Option<&'a Pose>,
    /// Rectangle of the surface's parameters (u, v) that the patch covers.
    pub rect: Rect,
    /// Upper bounds of the lengths of the third derivatives uuu, uuv, uvv, vvv of the surface over `rect`.
    pub third: [f64; 4],
    /// Axis (unit, in the surface's own frame) and sine of the half-angle, below 90°, of a cone around all
    /// outward normals over `rect`. A sine of 1 means that no cone is known. The cone is needed near poles
    /// and collapsed sides, where the derivatives do not bound the normals.
    pub cone: (V3, f64),
}

/// Derivatives of a patch in the middle of a cell, with bounds of the derivatives over the whole cell.
#[derive(Clone, Copy, Debug)]
struct Local {
    p: P3,
    du: V3,
    dv: V3,
    duu: V3,
    duv: V3,
    dvv: V3,
    /// Upper bounds of the lengths of the first derivatives along u (`su`) and v (`sv`) over the cell.
    su: f64,
    sv: f64,
    /// Upper bounds of the lengths of the second derivatives uu, uv and vv over the cell.
    suu: f64,
    suv: f64,
    svv: f64,
    /// Upper bounds of the lengths of the third derivatives uuu, uuv, uvv, vvv over the patch.
    third: [f64; 4],
    hu: f64,
    hv: f64,
}

impl Local {
    /// Upper bound of the distance (mm) between the patch and its linear approximation at the middle,
    /// over the cell.
    fn bulge(&self) -> f64 {
        0.5 * (self.suu * self.hu * self.hu
            + 2.0 * self.suv * self.hu * self.hv
            + self.svv * self.hv * self.hv)
    }

    /// Upper bound of the distance (mm) of the cell's points from its middle.
    fn radius(&self) -> f64 {
        let linear = self.du.norm() * self.hu + self.dv.norm() * self.hv + self.bulge();
        linear.min(self.su * self.hu + self.sv * self.hv)
    }

    /// Bounds of the components of the cell's points along a unit direction (mm), relative to the
    /// middle. They use the second derivatives in the middle with their signs and bounds of the third
    /// ones, so they distinguish bending away from a plane from bending towards it.
    fn range(&self, w: &V3) -> [f64; 2] {
        let (hu, hv) = (self.hu, self.hv);
        let [t0, t1, t2, t3] = self.third;
        let linear = self.du.dot(w).abs() * hu + self.dv.dot(w).abs() * hv;
        let mixed = self.duv.dot(w).abs() * hu * hv;
        let cubic = (t0 * hu * hu * hu + 3.0 * (t1 * hu + t2 * hv) * hu * hv + t3 * hv * hv * hv) / 6.0;
        let (uu, vv) = (0.5 * self.duu.dot(w) * hu * hu, 0.5 * self.dvv.dot(w) * hv * hv);
        let variation = linear + mixed + cubic;
        [uu.min(0.0) + vv.min(0.0) - variation, uu.max(0.0) + vv.max(0.0) + variation]
    }

    /// Whether to cut the cell across u, that is, to halve its range of u. `of_u` and `of_v` are the
    /// terms along u and v that prevent the cell from being finished; the larger one decides unless the
    /// cell is much longer than wide.
    fn across_u(&self, of_u: f64, of_v: f64) -> bool {
        let (u, v) = (self.su * self.hu, self.sv * self.hv);
        if u > MAX_ASPECT_RATIO * v || v > MAX_ASPECT_RATIO * u {
            u > v
        } else {
            of_u > of_v || (of_u >= of_v && u >= v)
        }
    }

    /// Returns the cross product of the first derivatives in the middle and an upper bound of the length
    /// of its change over the cell.
    fn normal(&self) -> (V3, f64) {
        let du = self.suu * self.hu + self.suv * self.hv;
        let dv = self.suv * self.hu + self.svv * self.hv;
        (self.du.cross(&self.dv), du * self.sv + self.su * dv)
    }
}

impl Patch<'_> {
    /// Returns the patch restricted to another rectangle inside its own.
    #[must_use]
    pub fn over(self, rect: Rect) -> Self {
        Self { rect, ..self }
    }

    /// Upper bounds of the lengths of the derivatives u, v, uu, uv, vv over the patch's rectangle.
    #[must_use]
    pub fn derivative_bounds(&self) -> [f64; 5] {
        let Local { su, sv, suu, suv, svv, .. } = self.local(&self.rect);
        [su, sv, suu, suv, svv]
    }

    /// Returns the part of the patch's rectangle that is farther than `width` (mm) from its sides, by upper
    /// bounds of lengths along parameter lines; the middle, where the rectangle is narrower. A line of
    /// constant v and one of constant u, each at most `width` long, lead into it from any point of the patch.
    #[must_use]
    pub fn within(&self, width: f64) -> Rect {
        let [su, sv, ..] = self.derivative_bounds();
        let Rect { u0, u1, v0, v1 } = self.rect;
        let inner = |low: f64, high: f64, speed: f64| {
            let (middle, step) = (0.5 * (low + high), width / speed);
            // Also without a bound of the speed, and for a side that is one point.
            if step > 0.0 { ((low + step).min(middle), (high - step).max(middle)) } else { (low, high) }
        };
        let ((u0, u1), (v0, v1)) = (inner(u0, u1, su), inner(v0, v1, sv));
        Rect { u0, u1, v0, v1 }
    }

    /// Returns the point and the first derivatives at parameters, in the frame of the search.
    fn first(&self, uv: P2) -> (P3, V3, V3) {
        let (p, du, dv) = self.surface.first_derivs(uv);
        match self.pose {
            Some(pose) => (pose * p, pose * du, pose * dv),
            None => (p, du, dv),
        }
    }

    fn local(&self, rect: &Rect) -> Local {
        let m = rect.center();
        let (hu, hv) = (0.5 * rect.width(), 0.5 * rect.height());
        let d = self.surface.derivs(m);
        let [t0, t1, t2, t3] = self.third;
        let suu = d.duu.norm() + t0 * hu + t1 * hv;
        let suv = d.duv.norm() + t1 * hu + t2 * hv;
        let svv = d.dvv.norm() + t2 * hu + t3 * hv;
        let su = d.du.norm() + suu * hu + suv * hv;
        let sv = d.dv.norm() + suv * hu + svv * hv;
        let placed = |v: V3| self.pose.map_or(v, |pose| pose * v);
        let p = self.pose.map_or(d.p, |pose| pose * d.p);
        Local {
            p,
            du: placed(d.du),
            dv: placed(d.dv),
            duu: placed(d.duu),
            duv: placed(d.duv),
            dvv: placed(d.dvv),
            su,
            sv,
            suu,
            suv,
            svv,
            third: self.third,
            hu,
            hv,
        }
    }

    /// Returns the sides of a cell at its smallest u and at its smallest v, each with its parameter
    /// range and upper bounds of its first and second derivative. The other two sides belong to the
    /// adjacent cells.
    fn sides(&self, rect: &Rect, local: &Local) -> [(Side, [f64; 2], f64, f64); 2] {
        let Rect { u0, u1, v0, v1 } = *rect;
        [(Side::AtU(u0), [v0, v1], local.sv, local.svv), (Side::AtV(v0), [u0, u1], local.su, local.suu)]
    }

    fn eval_side(&self, side: Side, s: f64) -> (P3, V3) {
        let (p, du, dv) = self.first(side.at(s));
        (p, if matches!(side, Side::AtU(_)) { dv } else { du })
    }
}

/// Maximum ratio of length to width of a cell; longer cells are cut across their length. The value
/// trades slim cells against needless cuts: both larger and smaller values lead to more cells.
const MAX_ASPECT_RATIO: f64 = 64.0;

/// Parameter line of a patch, of constant u or v.
#[derive(Clone, Copy, Debug)]
enum Side {
    AtU(f64),
    AtV(f64),
}

impl Side {
    fn at(self, s: f64) -> P2 {
        match self {
            Self::AtU(u) => P2::new(u, s),
            Self::AtV(v) => P2::new(s, v),
        }
    }
}

/// Returns the two halves of a rectangle, whose range of u (if `across_u`) or v is halved.
fn halves(rect: &Rect, across_u: bool) -> [Rect; 2] {
    let m = rect.center();
    if across_u {
        [Rect { u1: m.x, ..*rect }, Rect { u0: m.x, ..*rect }]
    } else {
        [Rect { v1: m.y, ..*rect }, Rect { v0: m.y, ..*rect }]
    }
}

/// Upper bounds of the lengths of the third derivatives uuu, uuv, uvv, vvv of a canonical surface over a
/// rectangle. The result is zero for a Bézier grid, for which it is not a bound.
#[must_use]
pub fn third_of_closed_form(surface: &Surface, rect: &Rect) -> [f64; 4] {
    match *surface {
        Surface::Plane { .. } | Surface::Bezier(_) => [0.0; 4],
        Surface::Cylinder { radius, .. } => [radius, 0.0, 0.0, 0.0],
        Surface::Cone { half_angle, .. } => {
            let k = crate::math::tan(half_angle);
            [k * rect.v0.abs().max(rect.v1.abs()), k, 0.0, 0.0]
        }
        Surface::Sphere { radius, .. } => [radius; 4],
        Surface::Torus { major, minor, .. } => [major + minor, minor, minor, minor],
    }
}
