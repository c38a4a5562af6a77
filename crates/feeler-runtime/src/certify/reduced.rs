//! Certificates of a canonical feature and a free-form area: one or two unknowns.
//!
//! # Source
//! MATH §8. With `F` the potential of the feature and `p(x)` the area, the equations are the gradient of
//! `f(x) = F(p(x))`. The change of the Hessian of `f` over a cell is bounded by third derivatives.
//! Subscripts denote derivatives by the parameters `x`, primes derivatives in space:
//!
//! ```text
//! f_ijk = F‴[p_i, p_j, p_k] + F″[p_ij, p_k] + F″[p_ik, p_j] + F″[p_jk, p_i] + F′ p_ijk.
//! ```

use crate::accept::filter::filter;
use crate::body::outward_normal;
use crate::body::side::Which;
use crate::body::tree::{Placed, TreeNode};
use crate::certify::leaf::{CellBounds, Leaf, is_outside};
use crate::certify::potential::{self, PotentialBounds};
use crate::certify::search::{
    Cell, CellResult, Minima, Model, System, contains_known, newton, resolve_by_newton,
};
use crate::query::Context;
use crate::solve::reduced::Reduced;
use crate::solve::{FreePoint, ReducedPair, Solved, candidate_of, curve};
use feeler_geom::obb::PoseMatrix;
use feeler_geom::skeleton::Primitive;
use feeler_geom::{Obb, P3, VectorBall};
use feeler_hierarchy::{AreaId, Feature};
use nalgebra::{SMatrix, SVector};
use smallvec::SmallVec;

/// Search for the minima of a free-form area and a canonical feature, in the frame of the area's body. The
/// unknowns are the unit-box parameters of the area.
pub(super) struct Pair<'a, const N: usize> {
    ctx: &'a Context<'a>,
    /// Body of the free-form area.
    free: Which,
    /// The free-form area.
    leaf: Leaf<'a>,
    /// The canonical feature, of the other body.
    feature: Feature,
    primitive: Primitive,
    objective: Reduced,
    /// Leaves of the canonical feature that may have a minimum with the area, moved to the frame of the
    /// area's body.
    partners: SmallVec<[TreeNode; 4]>,
    /// Unit-box parameters of the minima that the solver or this search has found.
    known: Vec<SVector<f64, N>>,
    /// Upper bounds of the lengths (mm) in space of unit steps of the parameters over the cell that was
    /// evaluated last.
    lengths: SVector<f64, N>,
    /// Receives the minima that this search finds.
    found: &'a mut Solved,
}

/// An area of a free-form feature, to be searched for minima with a canonical feature of the other body.
pub(super) struct Request<'a> {
    /// Body of the free-form area.
    pub free: Which,
    /// The free-form area.
    pub leaf: Leaf<'a>,
    /// The canonical feature, which belongs to the other body.
    pub feature: Feature,
    /// Areas of the canonical feature that may have a minimum with the free-form area.
    pub partners: &'a [AreaId],
}

impl<'a, const N: usize> Pair<'a, N> {
    /// Creates the search. `known` are the unit-box parameters of the minima that the solver has found;
    /// minima that the search finds are added to `found`. `None` if the feature is not canonical.
    pub(super) fn new(
        ctx: &'a Context<'a>,
        request: Request<'a>,
        known: Vec<SVector<f64, N>>,
        found: &'a mut Solved,
    ) -> Option<Self> {
        let Request { free, leaf, feature, partners } = request;
        let other = free.other();
        let body = ctx.body(other);
        let pose = ctx.pose_to_other(other);
        let primitive = body.data(feature).primitive?.transformed(pose);
        let pose = PoseMatrix::from(pose);
        let placed = |&area: &AreaId| body.tree()[body.leaf_of_area(area).index()].placed(&pose);
        Some(Self {
            ctx,
            free,
            leaf,
            feature,
            primitive,
            objective: Reduced::new(&primitive),
            partners: partners.iter().map(placed).collect(),
            known,
            lengths: SVector::repeat(f64::INFINITY),
            found,
        })
    }

    /// Whether the canonical feature is an edge or a vertex, to which no direction is defined at distance
    /// 0.
    fn is_thin(&self) -> bool {
        !matches!(self.feature, Feature::Face(_))
    }

    /// Whether distance, directions and positions exclude a minimum in a cell. `over` are the bounds of
    /// the area over the cell, `s` (mm) the signed distance of the cell's middle from the canonical
    /// feature, `near` the bounds of the potential over the cell, if they exist.
    fn is_excluded(&self, over: &CellBounds, s: f64, near: Option<&PotentialBounds>) -> bool {
        let (tol, reach) = (&self.ctx.tol, over.reach);
        if s - reach > self.ctx.d_max + tol.tol || s + reach < tol.min_distance() {
            return true;
        }
        let known = near.filter(|n| n.spread < 1.0 && (!self.is_thin() || s - reach > 2.0 * tol.tol));
        if let Some(n) = known {
            let towards = VectorBall::new(n.normal, n.spread);
            if self.leaf.is_patch() {
                let (x, r) = over.first[0].cross(&over.first[1]).dot(&towards);
                if x * self.leaf.outward > r {
                    return true;
                }
            }
            if is_outside(&self.leaf.cap, &-n.normal, n.spread, self.leaf.cap_slack) {
                return true;
            }
        }
        let near_enough = |node: &TreeNode| {
            let slack = f64::from(node.allowance.length) + 2.0 * tol.same;
            if distance_to(&node.obb, &over.p) > self.ctx.d_max + reach + slack {
                return false;
            }
            let Some(n) = known else { return true };
            let open = self.ctx.quasi_angle + f64::from(node.allowance.angle) + tol.critical;
            let foot = over.p - n.normal * s;
            distance_to(&node.obb, &foot) <= 2.0 * reach + (s.abs() + reach) * n.spread + slack
                && !is_outside(&node.cap, &n.normal, n.spread, open)
        };
        !self.partners.iter().any(near_enough)
    }

    fn model(&self, over: &CellBounds, near: &PotentialBounds, radius: &SVector<f64, N>) -> Model<N> {
        let eps = self.ctx.tol.eps;
        let gradient = VectorBall::new(near.gradient, near.second * over.reach);
        // F″ p_i.
        let turned: [VectorBall; 2] = over.first.map(|t| {
            let change = near.second * t.radius + near.third * over.reach * t.norm();
            VectorBall::new(near.hessian * t.center, change)
        });
        let first = |i: usize| &over.first[i];
        let third = |i: usize, j: usize, k: usize| {
            near.third * first(i).norm() * first(j).norm() * first(k).norm()
                + over.two(i, j).dot_bound(&turned[k])
                + over.two(i, k).dot_bound(&turned[j])
                + over.two(j, k).dot_bound(&turned[i])
                + gradient.dot_bound(over.three(i, j, k))
        };
        let size = gradient.norm();
        let rounding = |i: usize, j: usize| {
            near.second * (first(i).norm() + first(j).norm() + eps) * eps
                + near.third * eps * first(i).norm() * first(j).norm()
                + eps * over.two(i, j).norm()
                + size * eps
        };
        Model {
            value: SVector::from_fn(|i, _| near.gradient.dot(&first(i).center)),
            noise: SVector::from_fn(|i, _| 2.0 * eps * (near.second * first(i).norm() + size)),
            jacobian: SMatrix::from_fn(|i, j| {
                first(i).center.dot(&turned[j].center) + near.gradient.dot(&over.two(i, j).center)
            }),
            spread: SMatrix::from_fn(|i, j| {
                (0..N).map(|k| third(i, j, k) * radius[k]).sum::<f64>() * (1.0 + 1e-12) + 2.0 * rounding(i, j)
            }),
            determined: None,
        }
    }
}

/// Removes the candidates of `found` from the index `start` on that are not minima. Returns whether some
/// remain.
pub(super) fn keep_minima(ctx: &Context<'_>, found: &mut Solved, start: usize) -> bool {
    let mut k = start;
    while k < found.candidates.len() {
        let c = &found.candidates[k];
        let along = (c.p_b - c.p_a - c.n * c.distance).norm() <= ctx.tol.tol.max(1e-6 * c.distance.abs());
        if along && filter(ctx, c).is_some() {
            k += 1;
        } else {
            found.candidates.remove(k);
        }
    }
    k > start
}

/// Distance (mm) of a point from a box, 0 inside; both are in the same frame.
fn distance_to(obb: &Obb, p: &P3) -> f64 {
    let x = p - obb.center;
    let outside = |k: usize| (x.dot(&obb.axes[k]).abs() - obb.half[k]).max(0.0);
    feeler_geom::V3::new(outside(0), outside(1), outside(2)).norm()
}

impl<const N: usize> System<N> for Pair<'_, N> {
    fn evaluate(&mut self, cell: &Cell<N>) -> CellResult<N> {
        if self.leaf.is_trimmed_off(cell.middle.as_slice(), cell.radius.as_slice()) {
            return CellResult::Excluded;
        }
        let over = self.leaf.over_cell(cell, 0, self.ctx.tol.eps);
        self.lengths = SVector::from_fn(|i, _| over.first[i].norm());
        let s = potential::distance(&self.primitive, &over.p);
        let near = potential::bounds_near(&self.primitive, &over.p, over.reach);
        if self.is_excluded(&over, s, near.as_ref()) {
            return CellResult::Excluded;
        }
        let Some(near) = near else { return CellResult::Undetermined };
        let model = self.model(&over, &near, &cell.radius);
        if excludes_minimum(&model) { CellResult::Excluded } else { CellResult::Model(model) }
    }

    fn lengths(&self) -> SVector<f64, N> {
        self.lengths
    }

    fn is_known(&self, cell: &Cell<N>) -> bool {
        contains_known(cell, &self.known)
    }

    fn resolve(&mut self, cell: &Cell<N>) -> bool {
        resolve_by_newton(self, cell)
    }
}

impl<const N: usize> Minima<N> for Pair<'_, N> {
    fn same(&self) -> f64 {
        self.ctx.tol.same
    }

    fn known(&mut self) -> &mut Vec<SVector<f64, N>> {
        &mut self.known
    }

    fn polish(&self, x: &SVector<f64, N>, reach: &SVector<f64, N>) -> Option<SVector<f64, N>> {
        let still = SVector::<f64, N>::zeros();
        newton(x, reach, 1e-10, |y| {
            let over = self.leaf.over(y.as_slice(), still.as_slice(), 0.0);
            let near = potential::bounds_near(&self.primitive, &over.p, 0.0)?;
            Some(self.model(&over, &near, &still))
        })
    }

    fn report(&mut self, x: &SVector<f64, N>) -> bool {
        let start = self.found.candidates.len();
        let uv = self.leaf.uv(x.as_slice());
        let ctx = self.ctx;
        let pair = ReducedPair { canonical: self.feature, objective: &self.objective, free: self.free };
        match self.leaf.feature {
            Feature::Edge(e) => curve::report(ctx, &pair, e, uv.x, self.found),
            Feature::Face(f) => {
                let face = ctx.body(self.free).face(f);
                let p = face.surface.point(uv);
                if let Some(q) = self.objective.probe(&p) {
                    let n = -outward_normal(face, uv);
                    let distance = (p - q.foot).dot(&n);
                    if !(ctx.least <= distance && distance <= ctx.d_max) {
                        return false;
                    }
                    let point = FreePoint { feature: self.leaf.feature, uv, p, foot: q.foot, n };
                    self.found.candidates.push(candidate_of(ctx, &pair, &point, false));
                }
            }
            Feature::Vertex(_) => {}
        }
        keep_minima(ctx, self.found, start)
    }
}

/// Whether one direction has negative curvature at all points of a cell, so that the cell contains no
/// minimum. `m` is the model of the gradient over the cell.
fn excludes_minimum<const N: usize>(m: &Model<N>) -> bool {
    let bends_down = |v: &SVector<f64, N>| {
        let w = v.abs();
        v.dot(&(m.jacobian * v)) + w.dot(&(m.spread * w)) < 0.0
    };
    if (0..N).any(|i| m.jacobian[(i, i)] + m.spread[(i, i)] < 0.0) {
        return true;
    }
    if N != 2 {
        return false;
    }
    // Eigenvector of the smaller eigenvalue.
    let (a, b, d) = (m.jacobian[(0, 0)], m.jacobian[(0, 1)], m.jacobian[(1, 1)]);
    let smaller = 0.5 * (a + d) - feeler_geom::math::hypot(0.5 * (a - d), b);
    let mut v = SVector::<f64, N>::zeros();
    let (x, y) =
        if (a - smaller).abs() > (d - smaller).abs() { (-b, a - smaller) } else { (d - smaller, -b) };
    (v[0], v[1]) = (x, y);
    smaller < 0.0 && bends_down(&v)
}
