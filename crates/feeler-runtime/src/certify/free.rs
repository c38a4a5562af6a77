//! Certificates of two areas: two free-form edges, an edge and a free-form face, or two free-form faces.
//!
//! # Source
//! MATH §8; BREP (2.6).
//!
//! # Deviations
//! With a patch (an area of a face), the equations are not the gradient of the distance, whose derivative
//! is singular where the areas touch. They state that the connection of the point p on the patch with the
//! point q on the other area is normal to the patch, and that the normal of the patch is normal to the
//! other area. Subscripts denote derivatives by the parameters of the respective area:
//!
//! ```text
//! (q − p)·p_i = 0,   (p_u × p_v)·q_k = 0.
//! ```
//!
//! Their Jacobian is regular at distance 0 wherever the contact is not flat (MATH §2, the Schur
//! complement), so that cells need not shrink with the gap.

use crate::certify::leaf::{CellBounds, Leaf, is_outside};
use crate::certify::reduced::keep_minima;
use crate::certify::search::{
    Cell, CellResult, Minima, Model, System, contains_known, newton, resolve_by_newton,
};
use crate::query::{Candidate, Context};
use crate::solve::{Solved, free};
use feeler_geom::VectorBall;
use nalgebra::{SMatrix, SVector};

/// Search for the minima of two areas, in the frame of A. The unknowns are the unit-box parameters on A,
/// then those on B.
pub(super) struct Pair<'a, const N: usize> {
    ctx: &'a Context<'a>,
    a: Leaf<'a>,
    b: Leaf<'a>,
    /// Unit-box parameters (on A, then on B) of the minima that the solver or this search has found.
    known: Vec<SVector<f64, N>>,
    /// Upper bounds of the lengths (mm) in space of unit steps of the parameters over the cell that was
    /// evaluated last.
    lengths: SVector<f64, N>,
    /// Receives the minima that this search finds.
    found: &'a mut Solved,
}

/// One of the two areas in the equations over a cell.
#[derive(Clone, Copy)]
struct Side<'a> {
    /// Bounds of the area's points and derivatives over the cell.
    over: &'a CellBounds,
    /// Index of the area's first parameter among the unknowns of the equations.
    from: usize,
    /// Number of parameters of the area.
    dim: usize,
}

impl<'a, const N: usize> Pair<'a, N> {
    /// Creates the search for the minima of two areas. `known` are the parameters of the minima that the
    /// solver has found, on A and then on B, scaled to [0, 1] over each area. Minima that the search finds
    /// are added to `found`.
    pub(super) fn new(
        ctx: &'a Context<'a>,
        (a, b): (Leaf<'a>, Leaf<'a>),
        known: Vec<SVector<f64, N>>,
        found: &'a mut Solved,
    ) -> Self {
        Self { ctx, a, b, known, lengths: SVector::repeat(f64::INFINITY), found }
    }

    /// Whether distances and directions exclude a minimum in a cell with the radii `radius`. `a` and `b` are
    /// the bounds of the two areas over the cell.
    fn is_excluded(&self, a: &CellBounds, b: &CellBounds, radius: &[f64]) -> bool {
        let tol = &self.ctx.tol;
        let (delta, open) = (b.p - a.p, a.reach + b.reach);
        let length = delta.norm();
        if length - open > self.ctx.d_max + tol.tol || self.are_in_slabs(a, b, radius) {
            return true;
        }
        let sides = [(&self.a, a), (&self.b, b)];
        // The direction from A to B must be in both polars, if the areas are apart.
        if length - open > 2.0 * tol.tol {
            let (n, spread) = (delta / length, open / length);
            if sides.iter().zip([n, -n]).any(|((l, _), n)| is_outside(&l.cap, &n, spread, l.cap_slack)) {
                return true;
            }
        }
        // The direction opposite to the normal of a patch must be in the cone of the other area.
        let normals = sides.map(|(l, o)| l.is_patch().then(|| normal(o).times(l.outward)));
        for (n, other) in normals.iter().zip([&self.b, &self.a]) {
            let Some(n) = n.filter(|n| n.center.norm() > n.radius) else { continue };
            let size = n.center.norm();
            if is_outside(&other.cap, &(-n.center / size), n.radius / size, other.cap_slack) {
                return true;
            }
        }
        false
    }

    /// Whether a slab farther apart than `d_max` separates the two areas over a cell: across the normal of a
    /// patch, or across the tangent of a curve towards the other area. Areas that follow each other are
    /// separated in cells longer than their distance.
    fn are_in_slabs(&self, a: &CellBounds, b: &CellBounds, radius: &[f64]) -> bool {
        let delta = b.p - a.p;
        let (of_a, of_b) = radius.split_at(self.a.dim());
        [(&self.a, a), (&self.b, b)].into_iter().any(|(area, over)| {
            let across = if area.is_patch() {
                normal(over).center
            } else {
                let t = over.first[0].center;
                delta * t.norm_squared() - t * delta.dot(&t)
            };
            across.try_normalize(0.0).is_some_and(|w| {
                let apart = delta.dot(&w).abs() - a.extent_along(&w, of_a) - b.extent_along(&w, of_b);
                apart > self.ctx.d_max + self.ctx.tol.tol
            })
        })
    }

    fn model(&self, a: &CellBounds, b: &CellBounds, radius: &SVector<f64, N>) -> Model<N> {
        let side_a = Side { over: a, from: 0, dim: self.a.dim() };
        let side_b = Side { over: b, from: self.a.dim(), dim: self.b.dim() };
        let eps = self.ctx.tol.eps;
        if self.a.is_patch() {
            with_patch(&side_a, &side_b, radius, eps)
        } else if self.b.is_patch() {
            with_patch(&side_b, &side_a, radius, eps)
        } else {
            of_curves(a, b, radius, eps)
        }
    }

    fn bounds_over(&self, cell: &Cell<N>, eps: f64) -> (CellBounds, CellBounds) {
        (self.a.over_cell(cell, 0, eps), self.b.over_cell(cell, self.a.dim(), eps))
    }

    fn lengths_of(&self, a: &CellBounds, b: &CellBounds) -> SVector<f64, N> {
        let n = self.a.dim();
        SVector::from_fn(|i, _| if i < n { a.first[i].norm() } else { b.first[i - n].norm() })
    }
}

/// Ball that contains the natural normals of a patch over a cell, not of unit length.
fn normal(over: &CellBounds) -> VectorBall {
    over.first[0].cross(&over.first[1])
}

/// Linear model of the equations of a patch `p` and another area `q` (see the module documentation) over
/// a cell with the radii `radius`. Rows 0 and 1 are the products of the connection with the tangents of
/// `p`, the others those of the normal of `p` with the tangents of `q`. `eps` (mm) is the rounding of a
/// footpoint.
fn with_patch<const N: usize>(p: &Side<'_>, q: &Side<'_>, radius: &SVector<f64, N>, eps: f64) -> Model<N> {
    let (po, qo) = (p.over, q.over);
    let connection = VectorBall::new(qo.p - po.p, po.reach + qo.reach);
    let n = normal(po);
    // ∂N/∂j and ∂²N/∂j∂l.
    let n1: [VectorBall; 2] =
        [0, 1].map(|j| po.two(0, j).cross(&po.first[1]).plus(&po.first[0].cross(po.two(1, j))));
    let n2 = |j: usize, l: usize| {
        let outer = po.three(0, j, l).cross(&po.first[1]).plus(&po.first[0].cross(po.three(1, j, l)));
        outer.plus(&po.two(0, j).cross(po.two(1, l))).plus(&po.two(0, l).cross(po.two(1, j)))
    };
    let n2: [VectorBall; 3] = [n2(0, 0), n2(0, 1), n2(1, 1)];
    let (in_p, in_q) = (
        |m: usize| (p.from..p.from + 2).contains(&m).then(|| m - p.from),
        |m: usize| (q.from..q.from + q.dim).contains(&m).then(|| m - q.from),
    );
    let (size_p, size_q) = (po.first.map(|t| t.norm()), qo.first.map(|t| t.norm()));
    let long = size_p[0] + size_p[1];
    let entry = |row: usize, m: usize| -> f64 {
        match (row < 2, in_p(m), in_q(m)) {
            (true, Some(j), _) => {
                connection.center.dot(&po.two(row, j).center) - po.first[j].center.dot(&po.first[row].center)
            }
            (true, _, Some(k)) => qo.first[k].center.dot(&po.first[row].center),
            (false, Some(j), _) => n1[j].center.dot(&qo.first[row - 2].center),
            (false, _, Some(l)) => n.center.dot(&qo.two(row - 2, l).center),
            _ => 0.0,
        }
    };
    // Second derivatives of the equations.
    let second = |row: usize, m: usize, o: usize| -> f64 {
        match (in_p(m), in_p(o)) {
            (Some(j), Some(l)) if row < 2 => {
                let tangents = po.two(j, l).dot_bound(&po.first[row])
                    + po.first[j].dot_bound(po.two(row, l))
                    + po.first[l].dot_bound(po.two(row, j));
                tangents + connection.dot_bound(po.three(row, j, l))
            }
            (Some(j), Some(l)) => n2[j + l].dot_bound(&qo.first[row - 2]),
            (None, None) => {
                let (k, l) = (m - q.from, o - q.from);
                if row < 2 {
                    qo.two(k, l).dot_bound(&po.first[row])
                } else {
                    n.dot_bound(qo.three(row - 2, k, l))
                }
            }
            (Some(j), None) | (None, Some(j)) => {
                let k = if in_p(m).is_some() { o - q.from } else { m - q.from };
                if row < 2 {
                    qo.first[k].dot_bound(po.two(row, j))
                } else {
                    n1[j].dot_bound(qo.two(row - 2, k))
                }
            }
        }
    };
    let rounding = |row: usize, m: usize| -> f64 {
        match (row < 2, in_p(m), in_q(m)) {
            (true, Some(j), _) => size_p[row] + size_p[j] + connection.norm() + po.two(row, j).norm(),
            (true, _, Some(k)) => size_p[row] + size_q[k],
            (false, Some(j), _) => {
                let bends = po.two(0, j).norm() + po.two(1, j).norm();
                (bends + long) * size_q[row - 2] + n1[j].norm()
            }
            (false, _, Some(l)) => n.norm() + long * qo.two(row - 2, l).norm(),
            _ => 0.0,
        }
    };
    Model {
        value: SVector::from_fn(|row, _| {
            if row < 2 {
                connection.center.dot(&po.first[row].center)
            } else {
                n.center.dot(&qo.first[row - 2].center)
            }
        }),
        noise: SVector::from_fn(|row, _| {
            let size = if row < 2 {
                2.0 * size_p[row] + connection.norm()
            } else {
                n.norm() + 2.0 * long * size_q[row - 2]
            };
            2.0 * eps * size
        }),
        jacobian: SMatrix::from_fn(entry),
        spread: SMatrix::from_fn(|row, m| {
            let change: f64 = (0..N).map(|o| second(row, m, o) * radius[o]).sum();
            change * (1.0 + 1e-12) + 4.0 * eps * rounding(row, m)
        }),
        // The footpoint of a point on the other patch, or of a point of the curve on the patch.
        determined: Some(if q.dim == 2 { [q.from, q.from + 1] } else { [p.from, p.from + 1] }),
    }
}

/// Model of the gradient of half the squared distance of two edges over a cell with the radii `radius`.
/// `eps` (mm) is the rounding of a footpoint.
fn of_curves<const N: usize>(a: &CellBounds, b: &CellBounds, radius: &SVector<f64, N>, eps: f64) -> Model<N> {
    let connection = VectorBall::new(b.p - a.p, a.reach + b.reach);
    let (t, s) = (a.first[0], b.first[0]);
    let (k, l) = (a.second[0], b.second[0]);
    let center = |x: &VectorBall, y: &VectorBall| x.center.dot(&y.center);
    let second = |i: usize, j: usize, m: usize| match i + j + m {
        0 => 3.0 * t.dot_bound(&k) + connection.dot_bound(&a.third[0]),
        1 => k.dot_bound(&s),
        2 => t.dot_bound(&l),
        _ => 3.0 * s.dot_bound(&l) + connection.dot_bound(&b.third[0]),
    };
    let size = [t.norm(), s.norm()];
    let bend = [k.norm(), l.norm()];
    Model {
        value: SVector::from_fn(
            |i, _| if i == 0 { -center(&connection, &t) } else { center(&connection, &s) },
        ),
        noise: SVector::from_fn(|i, _| 2.0 * eps * (2.0 * size[i] + connection.norm())),
        jacobian: SMatrix::from_fn(|i, j| match i + j {
            0 => center(&t, &t) - center(&connection, &k),
            1 => -center(&t, &s),
            _ => center(&s, &s) + center(&connection, &l),
        }),
        spread: SMatrix::from_fn(|i, j| {
            let change: f64 = (0..N).map(|m| second(i, j, m) * radius[m]).sum();
            let rounding = size[i] + size[j] + if i == j { connection.norm() + bend[i] } else { 0.0 };
            change * (1.0 + 1e-12) + 4.0 * eps * rounding
        }),
        determined: None,
    }
}

impl<const N: usize> System<N> for Pair<'_, N> {
    fn evaluate(&mut self, cell: &Cell<N>) -> CellResult<N> {
        let split = self.a.dim();
        let (middle, radius) = (cell.middle.as_slice(), cell.radius.as_slice());
        if self.a.is_trimmed_off(&middle[..split], &radius[..split])
            || self.b.is_trimmed_off(&middle[split..], &radius[split..])
        {
            return CellResult::Excluded;
        }
        let (a, b) = self.bounds_over(cell, self.ctx.tol.eps);
        self.lengths = self.lengths_of(&a, &b);
        if self.is_excluded(&a, &b, radius) {
            return CellResult::Excluded;
        }
        let model = self.model(&a, &b, &cell.radius);
        let down = |i: usize| model.jacobian[(i, i)] + model.spread[(i, i)] < 0.0;
        // For two curves, the Jacobian is a Hessian.
        if !self.a.is_patch() && !self.b.is_patch() && (0..N).any(down) {
            return CellResult::Excluded;
        }
        CellResult::Model(model)
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
        newton(x, reach, 1e-9, |y| {
            let cell = Cell { middle: *y, radius: SVector::zeros(), unique: false };
            let (a, b) = self.bounds_over(&cell, 0.0);
            Some(self.model(&a, &b, &cell.radius))
        })
    }

    fn report(&mut self, x: &SVector<f64, N>) -> bool {
        let start = self.found.candidates.len();
        let ctx = self.ctx;
        let (xa, xb) = x.as_slice().split_at(self.a.dim());
        let still = [0.0; 2];
        let (p_a, p_b) =
            (self.a.over(xa, &still[..xa.len()], 0.0).p, self.b.over(xb, &still[..xb.len()], 0.0).p);
        let (uv_a, uv_b) = (self.a.uv(xa), self.b.uv(xb));
        let (fa, fb) = (self.a.feature, self.b.feature);
        for n in free::directions(ctx, (fa, uv_a), (fb, uv_b), &p_a, &p_b) {
            let distance = (p_b - p_a).dot(&n);
            if !(ctx.least <= distance && distance <= ctx.d_max) {
                continue;
            }
            self.found.candidates.push(Candidate {
                feature_a: fa,
                feature_b: fb,
                p_a,
                p_b,
                n,
                distance,
                hint_a: Some(uv_a),
                hint_b: Some(uv_b),
                undecided: false,
            });
        }
        keep_minima(ctx, self.found, start)
    }
}
