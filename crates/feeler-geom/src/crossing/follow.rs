//! Proof that a free-form patch does not cross another one that it follows closely.
//!
//! Two faces that fit into each other, as a cast part in its mould, have the same surface or nearly the
//! same one. With bounds of second derivatives only, contact and crossing differ in cells that are as
//! small as √(tolerance / curvature). Here the *difference* of the surfaces is bounded: with an affine map
//! φ from the parameters of the first patch to those of the second one,
//!
//! ```text
//! D(u) = S₁(u) − S₂(φ(u))
//! ```
//!
//! is a polynomial (after multiplication by the weights), and so is its product with the normal of S₂. Both
//! are bounded by their Chebyshev coefficients, however large the cell is. For one spline with inserted
//! knots, raised degree, reversed or exchanged parameters, D vanishes and one cell is enough; for other
//! pairs, cells are halved until φ is close to the map to the nearest points.
//!
//! # Source
//! MATH §15, *Patches that follow each other*.

mod map;

use super::{Local, Patch, halves};
use crate::chebyshev::{MAX_NODES, spread};
use crate::{P2, Rect, SurfaceDerivs, V2, V3};
use arrayvec::ArrayVec;
use map::{NodeScratch, at_nodes, difference_degrees, nodes_about, smallest_stretch};
use nalgebra::Matrix2;

pub(super) use map::{Map, Net};
pub use map::{ParameterMap, parameter_map};

/// Depths at which two patches do not count as crossing, and the width of their borders (all in mm). The
/// depth of a point of the first patch is its distance from the second patch, negative on the side of the
/// outward normal of the second patch (in front of it) and positive on the other side (behind it).
#[derive(Clone, Copy, Debug)]
pub struct FollowLimits {
    /// Depth up to which a point of the first patch does not count as crossing the second one. With a
    /// negative value, points closer in front of the second patch than its magnitude count, too.
    pub shallow: f64,
    /// Depth beyond which points do not count, because all crossings are less deep; larger than the
    /// magnitude of `shallow`.
    pub deep: f64,
    /// Distance beside the rectangle of the second patch within which its surface counts as the patch.
    pub beside: f64,
}

/// Buffers that [`clearance_of_following`] reuses.
#[derive(Clone, Debug, Default)]
pub struct FollowScratch {
    /// Values at the nodes: components of W D, then W D · N, W N · n, and W.
    values: [Vec<f64>; 6],
    coefficients: Vec<f64>,
    nodes: NodeScratch,
    /// Number of nodes that were evaluated for the current pair of patches.
    evaluated: usize,
}

impl FollowScratch {
    /// Number of nodes that the last call of [`clearance_of_following`] evaluated.
    #[must_use]
    pub fn num_evaluated(&self) -> usize {
        self.evaluated
    }
}

/// Maximum number of pairs of cells that are examined. With a larger value pairs of patches that cannot be
/// proved take longer; with a smaller one fewer pairs are proved that follow each other in other parameters.
const MAX_CELLS: u32 = 96;
/// Maximum number of nodes that are evaluated. With a larger value pairs of high degree that cannot be proved
/// take longer; with a smaller one fewer of them are proved in several cells.
const MAX_EVALUATIONS: usize = 40_000;
/// Maximum number of pending pairs of cells; beyond it the proof is given up. A larger value needs more
/// stack, a smaller one ends proofs of uneven pairs.
const MAX_PENDING: usize = 64;
/// Minimum ratio of the distance of two points on the patches to that of their parameters (in mm), relative
/// to that at the middle. With a larger value cells are smaller; with a smaller one the common part of the
/// cells is widened more.
const MIN_STRETCH: f64 = 0.25;
/// Maximum change of the first derivatives, relative to them, that the map between two patches does not
/// explain: patches at a larger angle cross. With a larger value the proof is tried in vain; a smaller one
/// excludes patches that follow each other far apart.
const MAX_TILT: f64 = 0.5;
/// Maximum sine of the angle between normals of a cell of the second patch. A larger value makes bounds of
/// their lengths loose, a smaller one takes more cells.
const MAX_TURN: f64 = 0.9;
/// Minimum part of the clearance at the nodes that has to be proved for a cell. With a larger value more
/// cells are needed; with a smaller one the proof holds for smaller motions.
const MIN_PROVED: f64 = 0.1;
/// Maximum product of the curvature and of the distance of the points that are compared. With a larger
/// value the nearest point may not be unique; a smaller one refuses patches farther apart.
const MAX_BEND: f64 = 0.4;

/// Outcome for one pair of cells.
pub(super) enum Outcome {
    /// The cells do not cross until the patches have moved by this length (mm, positive).
    Clear(f64),
    /// The first cell is to be halved across u (if `true`) or v.
    CutFirst(bool),
    /// The second cell is to be halved.
    CutSecond(bool),
    /// The cells cross, or nearly so.
    Failed,
}

/// Returns a length (mm, positive) by which `second` may move before any point of `first` can lie between
/// the depths `shallow` and `deep` behind it. `None` if there is such a point, or if the proof fails.
/// Patches of canonical surfaces are not supported and give `None`.
#[must_use]
pub fn clearance_of_following(
    first: &Patch<'_>,
    second: &Patch<'_>,
    limits: &FollowLimits,
    scratch: &mut FollowScratch,
) -> Option<f64> {
    scratch.evaluated = 0;
    let (net_a, net_b) = (Net::new(first)?, Net::new(second)?);
    let normal = |patch: &Patch<'_>| {
        let (_, du, dv) = patch.first(patch.rect.center());
        du.cross(&dv).try_normalize(0.0)
    };
    if normal(first)?.cross(&normal(second)?).norm() > MAX_TILT {
        return None;
    }
    let mut pending: ArrayVec<(Rect, Rect), MAX_PENDING> = ArrayVec::new();
    pending.push((first.rect, second.rect));
    let mut clearance = f64::INFINITY;
    for _ in 0..MAX_CELLS {
        let Some((a, b)) = pending.pop() else { return Some(clearance) };
        if scratch.evaluated > MAX_EVALUATIONS {
            return None;
        }
        let pair = Pair { net_a: &net_a, net_b: &net_b, a, b, la: first.local(&a), lb: second.local(&b) };
        let cut = match pair.outcome(second, limits, scratch) {
            Outcome::Clear(length) => {
                clearance = clearance.min(length);
                continue;
            }
            Outcome::Failed => return None,
            Outcome::CutFirst(across_u) => halves(&a, across_u).map(|half| (half, b)),
            Outcome::CutSecond(across_u) => halves(&b, across_u).map(|half| (a, half)),
        };
        if pending.len() + 2 > MAX_PENDING {
            return None;
        }
        pending.extend(cut);
    }
    None
}

/// Rectangle of the first patch whose points can be near the second patch.
struct Common {
    /// Parameters of the first patch; without a common part, its side or corner nearest to the second cell.
    rect: Rect,
    /// Distance (mm) of the image of the rectangle from the second cell; 0 if they intersect.
    beyond: f64,
}

/// Cells of both patches, with bounds of their derivatives.
pub(super) struct Pair<'a> {
    pub net_a: &'a Net<'a>,
    pub net_b: &'a Net<'a>,
    pub a: Rect,
    pub b: Rect,
    pub la: Local,
    pub lb: Local,
}

impl Pair<'_> {
    fn outcome(&self, second: &Patch<'_>, limits: &FollowLimits, scratch: &mut FollowScratch) -> Outcome {
        let (la, lb) = (&self.la, &self.lb);
        let Some(n) = lb.du.cross(&lb.dv).try_normalize(0.0) else { return Outcome::Failed };
        let gap = separation(la, lb, &n);
        if gap > 2.0 * limits.deep + limits.beside {
            return Outcome::Clear(gap - limits.deep - limits.beside);
        }
        // The larger cell is cut where no map is found.
        let cut_larger = self.cut(la.radius() > lb.radius());
        let Some(mut map) = self.first_map() else { return cut_larger };
        let sign = if second.outward { 1.0 } else { -1.0 };
        let (at_a, at_b) = (self.net_a.derivs(map.from), self.net_b.derivs(map.to));
        let Some(n) = at_b.du.cross(&at_b.dv).try_normalize(0.0) else { return Outcome::Failed };
        let height = (at_a.p - at_b.p).dot(&n) * sign;
        // The patches may be moved by half of their distance, or by as much as they may be pressed.
        let reach = limits.deep + limits.deep.max(0.5 * height.abs());
        let mut guess = 0.5 * reach;
        for _ in 0..2 {
            let widen = limits.beside + 4.0 * (reach + guess);
            let Some((better, common)) = self.common(map, widen) else { return cut_larger };
            map = better;
            let (bounds, difference) = match self.bounds(second, (&map, &common, limits.beside), scratch) {
                Ok(bounds) => bounds,
                Err(outcome) => return outcome,
            };
            let needed = difference.distance + reach + limits.beside;
            // Comparisons are such that values that are not numbers prove nothing.
            let is_wide_enough = bounds.stretch * (widen + common.beyond) > needed;
            if map.is_aligned() && !is_wide_enough {
                guess = 1.5 * difference.distance;
                continue;
            }
            if common.beyond > 0.0 {
                return Outcome::Clear(reach - limits.deep);
            }
            let is_flat = bounds.bend * (difference.distance + reach) <= MAX_BEND;
            if !is_flat {
                return cut_larger;
            }
            let oriented = |[low, high]: [f64; 2]| if sign > 0.0 { [low, high] } else { [-high, -low] };
            let clear = |[low, high]: [f64; 2], error: f64| {
                (low - error + limits.shallow).max(-high - error - limits.deep)
            };
            let error = bounds.bend * difference.distance * difference.distance;
            let proved = clear(oriented(difference.height), error);
            // Heights at the nodes are depths up to the same error.
            let is_hit = clear(oriented(difference.sampled), -error) <= 0.0;
            let possible = clear(oriented(difference.sampled), 0.0);
            return if is_hit {
                Outcome::Failed
            } else if proved > 0.0 && proved >= MIN_PROVED * possible {
                // Half of it allows for the change of the difference by the motion, which is squared in the
                // error.
                Outcome::Clear((0.5 * proved).min(reach - limits.deep))
            } else {
                Outcome::CutFirst(difference.across_u)
            };
        }
        cut_larger
    }

    /// Halves the first or the second cell across the parameter along which its first derivatives change
    /// more.
    fn cut(&self, first: bool) -> Outcome {
        let l = if first { &self.la } else { &self.lb };
        let (of_u, of_v) = ((l.suu * l.sv + l.su * l.suv) * l.hu, (l.suv * l.sv + l.su * l.svv) * l.hv);
        let across_u = l.across_u(of_u, of_v);
        if first { Outcome::CutFirst(across_u) } else { Outcome::CutSecond(across_u) }
    }

    /// Affine map through the middle of the second cell and its nearest point on the first one, as far as it
    /// is in the cell. `None` if no nearest point is found.
    fn first_map(&self) -> Option<Map> {
        let Self { net_a, net_b, a, b, la, lb } = self;
        let from = net_a.foot(&lb.p, a.center(), [la.hu, la.hv]).map_or_else(|| a.center(), |uv| a.clamp(uv));
        self.map(from, net_b.foot(&net_a.derivs(from).p, b.center(), [lb.hu, lb.hv])?)
    }

    fn map(&self, from: P2, to: P2) -> Option<Map> {
        Map::new(from, to, &self.net_a.derivs(from), &self.net_b.derivs(to))
    }

    /// Returns the part of the first cell that `map` takes to the second cell, widened by `widen` (mm), and
    /// the map about the middle of this part. The whole first cell is returned for maps that mix both
    /// parameters. `None` if no nearest point is found.
    fn common(&self, mut map: Map, widen: f64) -> Option<(Map, Common)> {
        let mut common = self.restricted(&map, widen);
        let from = common.rect.center();
        let reach = [self.lb.hu, self.lb.hv];
        let to = self.net_b.foot(&self.net_a.derivs(from).p, map.apply(from), reach)?;
        map = self.map(from, to)?;
        common = self.restricted(&map, widen);
        Some((map, common))
    }

    fn restricted(&self, map: &Map, widen: f64) -> Common {
        let Self { a, b, .. } = self;
        if !map.is_aligned() {
            return Common { rect: *a, beyond: 0.0 };
        }
        let [su, sv] = map.scale;
        let of_b = [(b.u0, b.u1, su, map.to.x), (b.v0, b.v1, sv, map.to.y)];
        let of_a = [(a.u0, a.u1, map.from.x), (a.v0, a.v1, map.from.y)];
        let mut beyond = 0.0_f64;
        let part = [0, 1].map(|i| {
            let k = if map.is_straight() { i } else { 1 - i };
            let slope = map.linear[(k, i)];
            let (low, high, scale, to) = of_b[k];
            let (start, end, from) = of_a[i];
            let back = |w: f64| from + (w - to) / slope;
            let (p, q) = (back(low - widen / scale), back(high + widen / scale));
            let (p, q) = (p.min(q), p.max(q));
            // Without a common part, it is the nearest end.
            beyond = beyond.max((start - q).max(p - end) * slope.abs() * scale);
            (p.max(start).min(end), q.min(end).max(start))
        });
        let rect = Rect { u0: part[0].0, u1: part[0].1, v0: part[1].0, v1: part[1].1 };
        Common { rect, beyond: beyond.max(0.0) }
    }
}

/// Lower bound of the distance (mm) of two cells along the direction that separates them most; negative if
/// none does. `n` is the normal in the middle of one of them, or zero.
pub(super) fn separation(la: &Local, lb: &Local, n: &V3) -> f64 {
    let apart = la.p - lb.p;
    let tangents = |l: &Local| {
        let t = l.du.try_normalize(0.0).unwrap_or_else(V3::zeros);
        [t, l.du.cross(&l.dv).cross(&t).try_normalize(0.0).unwrap_or_else(V3::zeros)]
    };
    let axes = tangents(la).into_iter().chain(tangents(lb)).chain([*n]).chain(apart.try_normalize(0.0));
    axes.map(|w| {
        let ([low_a, high_a], [low_b, high_b]) = (la.range(&w), lb.range(&w));
        let middle = apart.dot(&w);
        (middle + low_a - high_b).max(low_b - high_a - middle)
    })
    .fold(f64::NEG_INFINITY, f64::max)
}

/// Bounds of the first and second derivatives of two cells.
struct Bounds {
    /// Lower bound of the distance of two points of the cells, of which one is outside the common part, per
    /// distance of their parameters (mm), before the difference of corresponding points is subtracted.
    stretch: f64,
    /// Upper bound (1/mm) of the distance of two points of the second patch from their tangent planes, as
    /// twice the distance per square of the distance of the points.
    bend: f64,
}

/// Bounds of the difference of two patches over the common part of two cells.
pub(super) struct Difference {
    /// Largest distance (mm) of corresponding points.
    distance: f64,
    /// Range (mm) of the component of the difference along the natural normals of the second patch.
    pub height: [f64; 2],
    /// Smallest and largest height (mm) at the nodes.
    sampled: [f64; 2],
    /// Whether the difference varies more along u than along v.
    across_u: bool,
}

impl Pair<'_> {
    /// Bounds over the common part of the cells; `beside` (mm) is the width of the border of the second cell.
    fn bounds(
        &self,
        second: &Patch<'_>,
        (map, common, beside): (&Map, &Common, f64),
        scratch: &mut FollowScratch,
    ) -> Result<(Bounds, Difference), Outcome> {
        let (da, db) = (self.net_a.derivs(map.from), self.net_b.derivs(map.to));
        let (sa, sb) = ([da.du.norm(), da.dv.norm()], map.scale);
        let n = db.du.cross(&db.dv).try_normalize(0.0).ok_or(Outcome::Failed)?;
        // Derivatives are with respect to lengths (mm) along both parameters at the middle of the map.
        let cosine = (db.du.dot(&db.dv) / (sb[0] * sb[1])).abs();
        let least = (1.0 - cosine).max(0.0).sqrt();
        let image = map.image(&common.rect);
        let [beside_u, beside_v] = sb.map(|scale| beside / scale);
        let hull = Rect {
            u0: (self.b.u0 - beside_u).min(image.u0).min(map.to.x),
            u1: (self.b.u1 + beside_u).max(image.u1).max(map.to.x),
            v0: (self.b.v0 - beside_v).min(image.v0).min(map.to.y),
            v1: (self.b.v1 + beside_v).max(image.v1).max(map.to.y),
        };
        // Bounds about the middle of the rectangle are those of the patch there.
        if !self.net_b.contains(hull.center()) {
            return Err(self.cut(true));
        }
        let lb = self.bounds_over(second, &hull);
        // Change of the first derivatives, averaged over the way from any point of a part to any point of the
        // whole. It is at most the mean of the changes at both ends, because its bound is convex.
        let change = |d: &SurfaceDerivs, third: [f64; 4], [part, whole]: [&Rect; 2], at: P2| {
            let (uu, uv, vv) = (d.duu.norm(), d.duv.norm(), d.dvv.norm());
            let (su, sv) = (d.du.norm(), d.dv.norm());
            let [t0, t1, t2, t3] = third.map(|t| 0.5 * t);
            let to = |rect: &Rect| {
                let middle = rect.center();
                let hu = 0.5 * rect.width() + (at.x - middle.x).abs();
                let hv = 0.5 * rect.height() + (at.y - middle.y).abs();
                V2::new(
                    (uu * hu + uv * hv + t0 * hu * hu + 2.0 * t1 * hu * hv + t2 * hv * hv) / su,
                    (uv * hu + vv * hv + t1 * hu * hu + 2.0 * t2 * hu * hv + t3 * hv * hv) / sv,
                )
                .norm()
            };
            0.5 * (to(part) + to(whole))
        };
        let turn_b = change(&db, lb.third, [&image, &hull], map.to);
        let turn_a = change(&da, self.la.third, [&common.rect, &self.a], map.from);
        // Difference of the first derivatives from those that the linear map implies.
        let [mu, mv] = [map.linear.column(0), map.linear.column(1)];
        let residual = V2::new(
            (da.du - db.du * mu[0] - db.dv * mu[1]).norm() / sa[0],
            (da.dv - db.du * mv[0] - db.dv * mv[1]).norm() / sa[1],
        )
        .norm();
        let scaled = Matrix2::from_fn(|i, j| map.linear[(i, j)] * sb[i] / sa[j]);
        let back = 1.0 / smallest_stretch(&scaled);
        let is_parallel = residual * back <= MAX_TILT * least;
        if !is_parallel {
            return Err(Outcome::Failed);
        }
        let stretch = least - turn_b - (turn_a + residual) * back;
        let is_regular = stretch >= MIN_STRETCH * least;
        if !is_regular {
            return Err(self.cut(turn_a * back > turn_b));
        }
        let second_derivative = {
            let (uu, uv, vv) = (lb.suu / (sb[0] * sb[0]), lb.suv / (sb[0] * sb[1]), lb.svv / (sb[1] * sb[1]));
            (uu * uu + 2.0 * uv * uv + vv * vv).sqrt()
        };
        let smallest = least - turn_b;
        let sine = turn_b / smallest;
        let is_flat = sine <= MAX_TURN;
        if !is_flat {
            return Err(self.cut(false));
        }
        let cos_turn = (1.0 - sine * sine).sqrt();
        let difference = self.difference(map, &common.rect, &n, cos_turn, scratch)?;
        Ok((Bounds { stretch, bend: second_derivative / (smallest * smallest) }, difference))
    }

    /// Bounds of the derivatives of the second patch over a rectangle that contains its cell and may extend
    /// beyond the patch.
    fn bounds_over(&self, second: &Patch<'_>, hull: &Rect) -> Local {
        let Rect { u0, u1, v0, v1 } = second.rect;
        let (wu, wv) = (second.rect.width(), second.rect.height());
        let outside = ((u0 - hull.u0).max(hull.u1 - u1) / wu).max((v0 - hull.v0).max(hull.v1 - v1) / wv);
        let degree = f64::from(self.net_b.surface.u_degree + self.net_b.surface.v_degree);
        let third = if outside <= 0.0 {
            second.third
        } else if outside * degree <= MAX_EXTENSION {
            second.third.map(|t| t * EXTENSION_FACTOR)
        } else {
            self.net_b.surface.third_derivatives(hull).map(|ball| ball.norm())
        };
        Patch { third, ..*second }.local(hull)
    }

    /// Bounds of the difference over a rectangle of the first patch. `n` is a normal of the second patch, and
    /// `cos_turn` the smallest cosine of its angle with the others.
    pub(super) fn difference(
        &self,
        map: &Map,
        rect: &Rect,
        n: &V3,
        cos_turn: f64,
        scratch: &mut FollowScratch,
    ) -> Result<Difference, Outcome> {
        let (nu, nv) = self.nodes(map, rect).ok_or(Outcome::Failed)?;
        let origin = self.net_a.derivs(map.from).p;
        let FollowScratch { values, coefficients, nodes, evaluated } = scratch;
        *evaluated += nu * nv;
        values.iter_mut().for_each(Vec::clear);
        let mut sampled = [f64::INFINITY, f64::NEG_INFINITY];
        let middle = rect.center();
        let us = nodes_about(middle.x, 0.5 * rect.width(), nu);
        let vs = nodes_about(middle.y, 0.5 * rect.height(), nv);
        at_nodes([self.net_a, self.net_b], map, [&us, &vs], &origin, nodes, &mut |f, g| {
            let difference = f.p * g.w - g.p * f.w;
            let normal = g.pu.cross(&g.pv) * g.w - g.p.cross(&g.pv) * g.wu - g.pu.cross(&g.p) * g.wv;
            let weight = f.w * g.w;
            let height = difference.dot(&normal);
            let exact = height / (weight * normal.norm());
            sampled = [sampled[0].min(exact), sampled[1].max(exact)];
            let row = [difference.x, difference.y, difference.z, height, weight * normal.dot(n), weight];
            for (list, value) in values.iter_mut().zip(row) {
                list.push(value);
            }
        });
        let mut bounds = |k: usize| spread(&values[k], (nu, nv), coefficients);
        let (weight, weight_spread) = bounds(5);
        let (size, size_spread) = bounds(4);
        let (lightest, smallest) = (weight - weight_spread, size - size_spread);
        // Also for values that are not numbers.
        if !(lightest > 0.0 && smallest > 0.0) {
            return Err(self.cut(true));
        }
        let component = |(constant, others): (f64, f64)| constant.abs() + others;
        let distance = V3::from([0, 1, 2].map(|k| component(bounds(k)))).norm() / lightest;
        let (height, height_spread) = bounds(3);
        let largest = (size + size_spread) / cos_turn;
        // Quotient by the length of the normal, which is between both bounds.
        let low = height - height_spread;
        let high = height + height_spread;
        let low = if low < 0.0 { low / smallest } else { low / largest };
        let high = if high > 0.0 { high / smallest } else { high / largest };
        let at = |i: usize, j: usize| V3::from([0, 1, 2].map(|k| values[k][i * nv + j]));
        let (i, j) = (nu / 2, nv / 2);
        let across_u = at(0, j).norm().max(at(nu - 1, j).norm()) > at(i, 0).norm().max(at(i, nv - 1).norm());
        Ok(Difference { distance, height: [low, high], sampled, across_u })
    }

    /// Numbers of nodes that determine the product of the difference with the normal over a rectangle of the
    /// first patch; `None` if there are too many. Three nodes are enough across a thin strip.
    fn nodes(&self, map: &Map, rect: &Rect) -> Option<(usize, usize)> {
        let (net_a, net_b) = (self.net_a, self.net_b);
        let share = |net: &Net<'_>, rect: &Rect| {
            let patch = net.surface.patch_rect(net.patch);
            [rect.width() / patch.width(), rect.height() / patch.height()]
        };
        let (own, [of_u, of_v]) = (share(net_a, rect), share(net_b, &map.image(rect)));
        let mapped_to = if map.is_straight() {
            [of_u, of_v]
        } else if map.is_crossed() {
            [of_v, of_u]
        } else {
            [of_u.max(of_v); 2]
        };
        let thickness = [own[0].max(mapped_to[0]), own[1].max(mapped_to[1])];
        let mapped = map.mapped(net_b.degrees());
        let difference = difference_degrees(net_a, net_b, mapped);
        let [nu, nv] = [0, 1].map(|i| {
            let normal = if net_b.polynomial { 2 * mapped[i] - 1 } else { 3 * mapped[i] - 1 };
            let n = difference[i] + normal + 1;
            if thickness[i] * n as f64 <= MAX_STRIP { 3 } else { n }
        });
        (nu <= MAX_NODES && nv <= MAX_NODES).then_some((nu, nv))
    }
}

/// Maximum part of a patch's width, times the number of nodes across, of a strip over which the difference
/// is quadratic up to 1e-9 of the patch (1e-6 for degrees of 20 and more). With a larger value the error
/// would be noticeable; with a smaller one cells that only share a border take longer.
const MAX_STRIP: f64 = 1e-3;
/// Part of a patch's width, times its degree, by which bounds of third derivatives over the patch are
/// extended beyond it. With a larger value the factor would have to be larger; with a smaller one bounds
/// are computed anew for each cell at a border.
const MAX_EXTENSION: f64 = 0.05;
/// Factor of such an extension: at least (1 + 2 δ)^n for an extension by δ of a polynomial patch of degree
/// n, with `MAX_EXTENSION` = δ n; for weights that vary by orders of magnitude it is not proved. A larger
/// value makes bounds looser, with a smaller one they do not hold.
const EXTENSION_FACTOR: f64 = 1.5;

#[cfg(test)]
pub(super) mod tests;
