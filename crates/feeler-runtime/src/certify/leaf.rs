//! A free-form area for the certificates: its point and derivatives over a cell of parameters, as balls.
//!
//! # Source
//! Taylor's theorem with the bounds of third derivatives of `feeler_geom`.
//!
//! # Deviations
//! Outside its rectangle, an area is the continuation of its own piece or patch, although the solver's
//! evaluation switches to the next piece or patch there. Minima there belong to the next area.

use crate::body::Body;
use crate::body::samples::at;
use crate::body::side::Which;
use crate::certify::search::Cell;
use crate::query::Context;
use crate::solve::patch::border_margin;
use feeler_geom::bezier::{BezierSpline, BezierSurface};
use feeler_geom::cone::Cap;
use feeler_geom::trim::TrimCells;
use feeler_geom::{Curve, P2, P3, Pose, Rect, V2, V3, VectorBall};
use feeler_hierarchy::{AreaId, Feature};

/// Relative rounding of derivatives. A larger value leaves more cells undecided; with a smaller one,
/// rounding may invalidate proofs.
const DERIVATIVE_ROUNDING: f64 = 1e-13;

/// Geometry of an area.
#[derive(Clone, Copy)]
enum Shape<'a> {
    /// A curve other than a spline.
    Curve(&'a Curve),
    /// A spline, the index of its piece, and the shift from parameters of the area to the spline's range.
    Piece(&'a BezierSpline, usize, f64),
    /// A Bézier surface, the indices of its patch, and the shift from parameters of the area to the
    /// surface's range.
    Patch(&'a BezierSurface, (usize, usize), V2),
}

/// A free-form area. It is evaluated in the frame of its solid or, with `pose`, in the frame of the other
/// solid.
#[derive(Clone, Copy)]
pub(super) struct Leaf<'a> {
    pub feature: Feature,
    pub rect: &'a Rect,
    /// Cone around the directions in the polars of all points of the area, in the frame in which the area is
    /// evaluated.
    pub cap: Cap,
    /// Angle (rad) by which directions in the polars of the area may lie outside `cap`.
    pub cap_slack: f64,
    /// Distances outside the rectangle of the area up to which minima are searched for, along u and v,
    /// in unit-box parameters.
    pub border: [f64; 2],
    /// +1 if the outward normal is `∂u × ∂v`, −1 if it is the opposite; +1 for curves.
    pub outward: f64,
    trim: Option<&'a TrimCells>,
    shape: Shape<'a>,
    third: &'a [VectorBall; 4],
    /// Maps coordinates of the area's solid to the frame in which the area is evaluated; `None` if the
    /// frames coincide.
    pose: Option<Pose>,
}

/// Bounds of an area over a cell: each ball contains one derivative by the unit-box parameters at all
/// points of the cell, and its centre is the derivative at the middle. Second and third derivatives are
/// indexed by the number of derivatives by the second parameter.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellBounds {
    /// Point of the area at the middle of the cell, in the frame in which the area is evaluated.
    pub p: P3,
    /// Upper bound of the distance (mm) of points of the cell from `p`.
    pub reach: f64,
    /// Upper bound of the distance (mm) of points of the cell from its linear approximation at `p`.
    pub bent: f64,
    pub first: [VectorBall; 2],
    pub second: [VectorBall; 3],
    pub third: [VectorBall; 4],
}

impl CellBounds {
    /// Upper bound of the distances (mm) of points of the cell, whose radii are `radius`, from `p` along the
    /// unit vector `w`.
    pub(super) fn extent_along(&self, w: &V3, radius: &[f64]) -> f64 {
        radius.iter().zip(&self.first).map(|(r, first)| first.center.dot(w).abs() * r).sum::<f64>()
            + self.bent
    }

    /// Ball that contains the area's second derivatives by the parameters with the indices `i` and `j`
    /// over the cell.
    pub(super) fn two(&self, i: usize, j: usize) -> &VectorBall {
        &self.second[i + j]
    }

    /// Ball that contains the area's third derivatives by the parameters with the indices `i`, `j` and
    /// `k` over the cell.
    pub(super) fn three(&self, i: usize, j: usize, k: usize) -> &VectorBall {
        &self.third[i + j + k]
    }
}

impl<'a> Leaf<'a> {
    /// Area of the body `which`, evaluated in the frame to which `pose` maps coordinates of that body
    /// (`None` for its own frame).
    pub(super) fn new(ctx: &Context<'a>, which: Which, area: AreaId, pose: Option<Pose>) -> Self {
        let body: &'a Body = match which {
            Which::A => ctx.a,
            Which::B => ctx.b,
        };
        let data = body.area(area);
        let rect = &data.rect;
        let (shape, trim, outward) = match data.feature {
            Feature::Edge(e) => {
                let shape = match &body.edge(e).curve {
                    Curve::Bezier(spline) => {
                        let middle = 0.5 * (rect.u0 + rect.u1);
                        Shape::Piece(spline, spline.piece(middle), spline.wrapped(middle) - middle)
                    }
                    curve => Shape::Curve(curve),
                };
                (shape, None, 1.0)
            }
            Feature::Face(f) => {
                let face = body.face(f);
                let feeler_geom::Surface::Bezier(grid) = &face.surface else {
                    unreachable!("other surfaces are canonical")
                };
                let middle = rect.center();
                let inside = grid.wrapped(middle);
                let shape = Shape::Patch(grid, grid.patch(middle), inside - middle);
                (shape, Some(&face.trim), if face.outward { 1.0 } else { -1.0 })
            }
            Feature::Vertex(_) => unreachable!("a vertex is canonical"),
        };
        let node = &body.tree()[body.leaf_of_area(area).index()];
        let axis = pose.as_ref().map_or(node.cap.axis, |m| m * node.cap.axis);
        let border = border_margin(ctx, body.data(data.feature).deviation, &body.grid_of(area).lengths);
        Self {
            feature: data.feature,
            rect,
            cap: Cap { axis, ..node.cap },
            cap_slack: ctx.quasi_angle + f64::from(node.allowance.angle) + ctx.tol.critical,
            border,
            outward,
            trim,
            shape,
            third: body.third_derivatives_of(area),
            pose,
        }
    }

    pub(super) fn dim(&self) -> usize {
        match self.shape {
            Shape::Curve(_) | Shape::Piece(..) => 1,
            Shape::Patch(..) => 2,
        }
    }

    pub(super) fn is_patch(&self) -> bool {
        self.dim() == 2
    }

    /// Converts unit-box parameters of the area to parameters of its curve or surface.
    pub(super) fn uv(&self, x: &[f64]) -> P2 {
        match self.shape {
            Shape::Curve(_) | Shape::Piece(..) => P2::new(self.rect.u0 + x[0] * self.rect.width(), 0.0),
            Shape::Patch(..) => at(self.rect, x[0], x[1]),
        }
    }

    /// Converts parameters of the area's curve or surface to unit-box parameters.
    pub(super) fn unit(&self, uv: &P2) -> [f64; 2] {
        let u = (uv.x - self.rect.u0) / self.rect.width();
        [u, if self.is_patch() { (uv.y - self.rect.v0) / self.rect.height() } else { 0.0 }]
    }

    /// Whether the box with this middle and these radii (unit-box parameters) is certainly outside the
    /// trims of the face; `false` for edges.
    pub(super) fn is_trimmed_off(&self, middle: &[f64], radius: &[f64]) -> bool {
        let Some(trim) = self.trim else { return false };
        // A footpoint may be outside the trims by the width of the border in the middle of an area, too.
        let r = [radius[0] + 2.0 * self.border[0], radius[1] + 2.0 * self.border[1]];
        let (lo, hi) = (
            at(self.rect, middle[0] - r[0], middle[1] - r[1]),
            at(self.rect, middle[0] + r[0], middle[1] + r[1]),
        );
        !trim.may_touch(&Rect { u0: lo.x, u1: hi.x, v0: lo.y, v1: hi.y })
    }

    /// Bounds of the area over the box with this middle and these radii (unit-box parameters). `eps` (mm)
    /// is the rounding of a footpoint.
    pub(super) fn over(&self, middle: &[f64], radius: &[f64], eps: f64) -> CellBounds {
        let uv = self.uv(middle);
        let (wu, wv) = (self.rect.width(), self.rect.height());
        let zero = V3::zeros();
        let (mut p, mut first, mut second) = match self.shape {
            Shape::Curve(c) => {
                let d = c.derivs(uv.x);
                (d.p, [d.d1 * wu, zero], [d.d2 * (wu * wu), zero, zero])
            }
            Shape::Piece(s, piece, shift) => {
                let d = s.piece_derivs(piece, uv.x + shift);
                (d.p, [d.d1 * wu, zero], [d.d2 * (wu * wu), zero, zero])
            }
            Shape::Patch(s, patch, shift) => {
                let d = s.patch_derivs(patch, uv + shift);
                (d.p, [d.du * wu, d.dv * wv], [d.duu * (wu * wu), d.duv * (wu * wv), d.dvv * (wv * wv)])
            }
        };
        let mut third = *self.third;
        if let Some(m) = &self.pose {
            p = m * p;
            first.iter_mut().chain(&mut second).for_each(|v| *v = m * *v);
            third.iter_mut().for_each(|b| b.center = m * b.center);
        }
        let n = self.dim();
        let sum = |f: &dyn Fn(usize) -> f64| (0..n).map(|k| f(k) * radius[k]).sum::<f64>();
        let around =
            |v: V3, r: f64| VectorBall::new(v, r * (1.0 + 1e-12) + DERIVATIVE_ROUNDING * v.norm() + eps);
        let mut out = CellBounds {
            p,
            reach: 0.0,
            bent: 0.0,
            first: [VectorBall::exact(zero); 2],
            second: [VectorBall::exact(zero); 3],
            third: if n == 1 {
                [third[0], VectorBall::exact(zero), VectorBall::exact(zero), VectorBall::exact(zero)]
            } else {
                third
            },
        };
        // A curve has one second derivative.
        for (s, v) in second.iter().enumerate().take(2 * n - 1) {
            out.second[s] = around(*v, sum(&|k| out.third[s + k].norm()));
        }
        for (i, v) in first.iter().enumerate().take(n) {
            out.first[i] = around(*v, sum(&|k| out.second[i + k].norm()));
        }
        // First order by the tangents at the middle, the remainder by second derivatives.
        let bent = 0.5 * sum(&|i| sum(&|j| out.second[i + j].norm()));
        let straight = sum(&|i| first[i].norm());
        out.bent = bent * (1.0 + 1e-12) + DERIVATIVE_ROUNDING * straight + eps;
        out.reach = ((straight + bent).min(sum(&|i| out.first[i].norm()))) * (1.0 + 1e-12) + eps;
        out
    }

    /// Bounds of the area over a cell of a search, among whose parameters those of the area begin at the
    /// index `from`. `eps` (mm) is the rounding of a footpoint.
    pub(super) fn over_cell<const N: usize>(&self, cell: &Cell<N>, from: usize, eps: f64) -> CellBounds {
        let n = self.dim();
        self.over(&cell.middle.as_slice()[from..from + n], &cell.radius.as_slice()[from..from + n], eps)
    }
}

/// Whether all directions within an angle of the unit vector `n` are outside the cone `cap`, widened by
/// `slack` (rad). `spread` (at most 1) is the sine of that angle.
pub(super) fn is_outside(cap: &Cap, n: &V3, spread: f64, slack: f64) -> bool {
    use feeler_geom::math::{acos, asin};
    let half = feeler_geom::math::atan2(cap.sin, cap.cos);
    let angle = acos(n.dot(&cap.axis).clamp(-1.0, 1.0));
    angle > half + asin(spread.clamp(0.0, 1.0)) + slack + 1e-7
}
