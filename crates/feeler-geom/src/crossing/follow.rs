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

use super::{Local, Patch, halves};
use crate::bezier::{BezierSurface, H4, Part};
use crate::chebyshev::{MAX_NODES, chebyshev, spread};
use crate::{P2, P3, Pose, Rect, Surface, SurfaceDerivs, V2, V3};
use arrayvec::ArrayVec;
use nalgebra::Matrix2;

/// Depths at which two patches do not count as crossing, and the width of their borders (all in mm).
#[derive(Clone, Copy, Debug)]
pub struct FollowLimits {
    /// Depth of a point of the first patch behind the second one up to which it only touches.
    pub shallow: f64,
    /// Depth beyond which points do not count, because all crossings are less deep; larger than `shallow`.
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
}

/// Maximum number of pairs of cells that are examined. With a larger value pairs of patches that cannot be
/// proved take longer; with a smaller one fewer pairs are proved that follow each other in other parameters.
const MAX_CELLS: u32 = 128;
/// Maximum number of pending pairs of cells; beyond it the proof is given up. A larger value needs more
/// stack, a smaller one ends proofs of uneven pairs.
const MAX_PENDING: usize = 64;
/// Minimum ratio of the distance of two points on the patches to that of their parameters (in mm), relative
/// to that at the middle. With a larger value cells are smaller; with a smaller one the common part of the
/// cells is widened more.
const MIN_STRETCH: f64 = 0.25;
/// Largest part of the map φ that mixes both parameters and is neglected. With a larger value more cells
/// are needed for maps that do mix them; with a smaller one, the cells of slightly rotated maps are not
/// restricted to their common part.
const MAX_MIXING: f64 = 1e-3;
/// Maximum change of the first derivatives, relative to them, that the map between two patches does not
/// explain: patches at a larger angle cross. With a larger value the proof is tried in vain; a smaller one
/// excludes patches that follow each other far apart.
const MAX_TILT: f64 = 0.5;
/// Minimum part of the clearance at the nodes that has to be proved for a cell. With a larger value more
/// cells are needed; with a smaller one the proof holds for smaller motions.
const MIN_PROVED: f64 = 0.1;
/// Maximum product of the curvature and of the distance of the points that are compared. With a larger
/// value the nearest point may not be unique; a smaller one refuses patches farther apart.
const MAX_BEND: f64 = 0.5;

/// Outcome for one pair of cells.
enum Outcome {
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

/// Bézier patch of a surface, continued beyond its borders.
struct Net<'a> {
    surface: &'a BezierSurface,
    patch: (usize, usize),
    /// Added to parameters, so that they are in the period of the surface.
    shift: V2,
    pose: Option<&'a Pose>,
    /// Whether all weights are equal.
    polynomial: bool,
}

/// Homogeneous point relative to an origin, and its first derivatives: vectors multiplied by the weight,
/// and weights.
struct Weighted {
    p: V3,
    w: f64,
    pu: V3,
    wu: f64,
    pv: V3,
    wv: f64,
}

impl<'a> Net<'a> {
    fn new(patch: &Patch<'a>) -> Option<Self> {
        let Surface::Bezier(surface) = patch.surface else { return None };
        let middle = patch.rect.center();
        let shift = surface.wrapped(middle) - middle;
        Some(Self { shift, ..Self::of(surface, surface.patch(middle), patch.pose) })
    }

    /// Patch `index` of a surface, with parameters in the domain of the surface.
    fn of(surface: &'a BezierSurface, index: (usize, usize), pose: Option<&'a Pose>) -> Self {
        let control = surface.patch_control(index);
        let w = control[0].w;
        let polynomial = control.iter().all(|h| (h.w - w).abs() <= 4.0 * f64::EPSILON * w);
        Self { surface, patch: index, shift: V2::zeros(), pose, polynomial }
    }

    /// Patch with the given sections of its parameters, and their rectangle in the parameters of the
    /// range that was divided into sections.
    fn of_part(surface: &'a BezierSurface, u: &Part, v: &Part) -> (Self, Rect) {
        let net = Self::of(surface, (u.piece, v.piece), None);
        let rect = Rect { u0: u.t0 + u.shift, u1: u.t1 + u.shift, v0: v.t0 + v.shift, v1: v.t1 + v.shift };
        (Self { shift: V2::new(-u.shift, -v.shift), ..net }, rect)
    }

    fn degrees(&self) -> [usize; 2] {
        [self.surface.u_degree as usize, self.surface.v_degree as usize]
    }

    fn derivs(&self, uv: P2) -> SurfaceDerivs {
        let d = self.surface.patch_derivs(self.patch, uv + self.shift);
        let Some(pose) = self.pose else { return d };
        SurfaceDerivs {
            p: pose * d.p,
            du: pose * d.du,
            dv: pose * d.dv,
            duu: pose * d.duu,
            duv: pose * d.duv,
            dvv: pose * d.dvv,
        }
    }

    fn weighted(&self, uv: P2, origin: &P3) -> Weighted {
        let [h, hu, hv, ..] = self.surface.patch_homogeneous(self.patch, uv + self.shift);
        let placed = |h: &H4| match self.pose {
            Some(pose) => pose.rotation * h.xyz() + (pose.translation.vector - origin.coords) * h.w,
            None => h.xyz() - origin.coords * h.w,
        };
        Weighted { p: placed(&h), w: h.w, pu: placed(&hu), wu: hu.w, pv: placed(&hv), wv: hv.w }
    }

    /// Parameters of a point near `start` whose normal passes through `p`, by Newton's method with steps of
    /// at most `reach`. `None` if it does not converge.
    fn foot(&self, p: &P3, start: P2, reach: [f64; 2]) -> Option<P2> {
        let mut uv = start;
        for _ in 0..16 {
            let d = self.derivs(uv);
            let off = d.p - p;
            let gradient = V2::new(off.dot(&d.du), off.dot(&d.dv));
            let metric =
                Matrix2::new(d.du.norm_squared(), d.du.dot(&d.dv), d.du.dot(&d.dv), d.dv.norm_squared());
            let bend = Matrix2::new(off.dot(&d.duu), off.dot(&d.duv), off.dot(&d.duv), off.dot(&d.dvv));
            let full = metric + bend;
            let convex = full.m11 > 0.0 && full.determinant() > 0.0;
            let step = (if convex { full } else { metric }).try_inverse()? * gradient;
            let step = V2::new(step.x.clamp(-reach[0], reach[0]), step.y.clamp(-reach[1], reach[1]));
            uv -= step;
            if step.x.abs() <= 1e-13 * reach[0] && step.y.abs() <= 1e-13 * reach[1] {
                return Some(uv);
            }
        }
        None
    }
}

/// Affine map from parameters of the first patch to those of the second one.
#[derive(Clone, Copy)]
struct Map {
    from: P2,
    to: P2,
    linear: Matrix2<f64>,
    /// Lengths (mm) of the first derivatives of the second patch at `to`.
    scale: [f64; 2],
}

impl Map {
    /// Linear approximation at `from` of the map to the nearest points, which takes `from` to `to`. `da` and
    /// `db` are the derivatives of the patches there. Parts that mix both parameters only slightly are set to
    /// zero.
    fn new(from: P2, to: P2, da: &SurfaceDerivs, db: &SurfaceDerivs) -> Option<Self> {
        let metric =
            Matrix2::new(db.du.norm_squared(), db.du.dot(&db.dv), db.du.dot(&db.dv), db.dv.norm_squared());
        let mixed = Matrix2::new(db.du.dot(&da.du), db.du.dot(&da.dv), db.dv.dot(&da.du), db.dv.dot(&da.dv));
        let mut linear = metric.try_inverse()? * mixed;
        let (la, scale) = ([da.du.norm(), da.dv.norm()], [db.du.norm(), db.dv.norm()]);
        let share = |i: usize, j: usize| (linear[(i, j)] * scale[i] / la[j]).abs();
        let (straight, crossed) = (share(0, 0).max(share(1, 1)), share(0, 1).max(share(1, 0)));
        if crossed <= MAX_MIXING * straight {
            (linear.m12, linear.m21) = (0.0, 0.0);
        } else if straight <= MAX_MIXING * crossed {
            (linear.m11, linear.m22) = (0.0, 0.0);
        }
        (linear.determinant() != 0.0).then_some(Self { from, to, linear, scale })
    }

    /// Degrees in u and v of the first patch of a polynomial of the given degrees in u and v of the
    /// second one.
    fn mapped(&self, of_b: [usize; 2]) -> [usize; 2] {
        if self.is_straight() {
            of_b
        } else if self.is_crossed() {
            [of_b[1], of_b[0]]
        } else {
            [of_b[0] + of_b[1]; 2]
        }
    }

    fn apply(&self, uv: P2) -> P2 {
        self.to + self.linear * (uv - self.from)
    }

    /// Smallest rectangle around the image of a rectangle.
    fn image(&self, rect: &Rect) -> Rect {
        let m = self.apply(rect.center());
        let (hu, hv) = (0.5 * rect.width(), 0.5 * rect.height());
        let l = &self.linear;
        let (wu, wv) = (l.m11.abs() * hu + l.m12.abs() * hv, l.m21.abs() * hu + l.m22.abs() * hv);
        Rect { u0: m.x - wu, u1: m.x + wu, v0: m.y - wv, v1: m.y + wv }
    }

    /// Whether u is mapped to u and v to v.
    fn is_straight(&self) -> bool {
        self.linear.m12 == 0.0 && self.linear.m21 == 0.0
    }

    /// Whether u is mapped to v and v to u.
    fn is_crossed(&self) -> bool {
        self.linear.m11 == 0.0 && self.linear.m22 == 0.0
    }

    /// Whether a rectangle is mapped to a rectangle.
    fn is_aligned(&self) -> bool {
        self.is_straight() || self.is_crossed()
    }
}

/// Smallest ratio of the length of an image to that of its vector.
fn smallest_stretch(m: &Matrix2<f64>) -> f64 {
    let (squares, area) = (m.norm_squared(), m.determinant().abs());
    let largest = (0.5 * (squares + (squares * squares - 4.0 * area * area).max(0.0).sqrt())).sqrt();
    area / largest
}

/// Rectangle of the first patch whose points can be near the second patch.
struct Common {
    rect: Rect,
    /// Distance (mm) of the image of the rectangle from the second cell; 0 if they intersect.
    beyond: f64,
}

/// Cells of both patches, with bounds of their derivatives.
struct Pair<'a> {
    net_a: &'a Net<'a>,
    net_b: &'a Net<'a>,
    a: Rect,
    b: Rect,
    la: Local,
    lb: Local,
}

impl Pair<'_> {
    fn outcome(&self, second: &Patch<'_>, limits: &FollowLimits, scratch: &mut FollowScratch) -> Outcome {
        let (la, lb) = (&self.la, &self.lb);
        let Some(n) = lb.du.cross(&lb.dv).try_normalize(0.0) else { return Outcome::Failed };
        let gap = self.gap(&n);
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
            let (bounds, difference) = match self.bounds(second, &map, &common, scratch) {
                Ok(bounds) => bounds,
                Err(outcome) => return outcome,
            };
            let beside = widen - limits.beside + common.beyond;
            if map.is_aligned() && bounds.stretch * beside <= difference.distance + reach {
                guess = 1.5 * difference.distance;
                continue;
            }
            if common.beyond > 0.0 {
                return Outcome::Clear(reach - limits.deep);
            }
            if bounds.bend * (difference.distance + reach) > MAX_BEND {
                return cut_larger;
            }
            let oriented = |[low, high]: [f64; 2]| if sign > 0.0 { [low, high] } else { [-high, -low] };
            let clear = |[low, high]: [f64; 2], error: f64| {
                (low - error + limits.shallow).max(-high - error - limits.deep)
            };
            let error = 2.0 * bounds.bend * difference.distance * difference.distance;
            let proved = clear(oriented(difference.height), error);
            let possible = clear(oriented(difference.sampled), 0.0);
            return if possible <= 0.0 {
                Outcome::Failed
            } else if proved >= MIN_PROVED * possible {
                // The factor allows for the change of the nearest point.
                Outcome::Clear((0.9 * proved).min(reach - limits.deep))
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

    /// Lower bound of the distance (mm) of the cells along the direction that separates them most; negative
    /// if none does. `n` is the normal in the middle of the second cell.
    fn gap(&self, n: &V3) -> f64 {
        let (la, lb) = (&self.la, &self.lb);
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
struct Difference {
    /// Largest distance (mm) of corresponding points.
    distance: f64,
    /// Range (mm) of the component of the difference along the natural normals of the second patch.
    height: [f64; 2],
    /// Smallest and largest height (mm) at the nodes.
    sampled: [f64; 2],
    /// Whether the difference varies more along u than along v.
    across_u: bool,
}

impl Pair<'_> {
    fn bounds(
        &self,
        second: &Patch<'_>,
        map: &Map,
        common: &Common,
        scratch: &mut FollowScratch,
    ) -> Result<(Bounds, Difference), Outcome> {
        let (da, db) = (self.net_a.derivs(map.from), self.net_b.derivs(map.to));
        let (sa, sb) = ([da.du.norm(), da.dv.norm()], map.scale);
        let n = db.du.cross(&db.dv).try_normalize(0.0).ok_or(Outcome::Failed)?;
        // Everything below is per mm along both parameters in the middle of the map.
        let cosine = (db.du.dot(&db.dv) / (sb[0] * sb[1])).abs();
        let least = (1.0 - cosine).sqrt();
        let image = map.image(&common.rect);
        let hull = Rect {
            u0: self.b.u0.min(image.u0),
            u1: self.b.u1.max(image.u1),
            v0: self.b.v0.min(image.v0),
            v1: self.b.v1.max(image.v1),
        };
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
        // What the linear map does not explain of the first derivatives of the first patch.
        let [mu, mv] = [map.linear.column(0), map.linear.column(1)];
        let residual = V2::new(
            (da.du - db.du * mu[0] - db.dv * mu[1]).norm() / sa[0],
            (da.dv - db.du * mv[0] - db.dv * mv[1]).norm() / sa[1],
        )
        .norm();
        let scaled = Matrix2::from_fn(|i, j| map.linear[(i, j)] * sb[i] / sa[j]);
        let back = 1.0 / smallest_stretch(&scaled);
        if residual * back > MAX_TILT * least {
            return Err(Outcome::Failed);
        }
        let stretch = least - turn_b - (turn_a + residual) * back;
        if stretch < MIN_STRETCH * least {
            return Err(self.cut(turn_a * back > turn_b));
        }
        let second_derivative = {
            let (uu, uv, vv) = (lb.suu / (sb[0] * sb[0]), lb.suv / (sb[0] * sb[1]), lb.svv / (sb[1] * sb[1]));
            (uu * uu + 2.0 * uv * uv + vv * vv).sqrt()
        };
        let smallest = least - turn_b;
        let cos_turn = {
            let sine = turn_b / smallest;
            if sine > 0.9 {
                return Err(self.cut(false));
            }
            (1.0 - sine * sine).sqrt()
        };
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
    fn difference(
        &self,
        map: &Map,
        rect: &Rect,
        n: &V3,
        cos_turn: f64,
        scratch: &mut FollowScratch,
    ) -> Result<Difference, Outcome> {
        let (nu, nv) = self.nodes(map, rect).ok_or(Outcome::Failed)?;
        let origin = self.net_a.derivs(map.from).p;
        let FollowScratch { values, coefficients } = scratch;
        values.iter_mut().for_each(Vec::clear);
        let mut sampled = [f64::INFINITY, f64::NEG_INFINITY];
        let (middle, hu, hv) = (rect.center(), 0.5 * rect.width(), 0.5 * rect.height());
        for x in &chebyshev(nu).nodes {
            for y in &chebyshev(nv).nodes {
                let uv = P2::new(middle.x + hu * x, middle.y + hv * y);
                let (f, g) = (self.net_a.weighted(uv, &origin), self.net_b.weighted(map.apply(uv), &origin));
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
            }
        }
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
        let patch = net_a.surface.patch_rect(net_a.patch);
        let thickness = [rect.width() / patch.width(), rect.height() / patch.height()];
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

/// Degrees of the difference of two patches in the parameters of the first one, multiplied by both weights;
/// `mapped` are the degrees of the second patch in these parameters.
fn difference_degrees(net_a: &Net<'_>, net_b: &Net<'_>, mapped: [usize; 2]) -> [usize; 2] {
    let of_a = net_a.degrees();
    [0, 1].map(|i| {
        if net_a.polynomial && net_b.polynomial { of_a[i].max(mapped[i]) } else { of_a[i] + mapped[i] }
    })
}

/// Maximum part of a patch's width, times the degree of the difference, at which a cell is a strip over
/// which the difference is quadratic. The error is 1/24 of the third power, relative to the patch. With
/// a larger value it would be noticeable; with a smaller one cells that only share a border take longer.
const MAX_STRIP: f64 = 1e-3;
/// Part of a patch's width, times its degree, by which bounds of third derivatives over the patch are
/// extended beyond it. With a larger value the factor would have to be larger; with a smaller one bounds
/// are computed anew for each cell at a border.
const MAX_EXTENSION: f64 = 0.05;
/// Factor of such an extension: (1 + 2 δ)^(4 n) for an extension by δ of a patch of degree n, with
/// `MAX_EXTENSION` = δ n. A larger value makes bounds looser, with a smaller one they do not hold.
const EXTENSION_FACTOR: f64 = 1.5;

/// Affine map between the parameters of two splines that are one surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParameterMap {
    /// Linear part.
    pub linear: Matrix2<f64>,
    /// Image of the origin.
    pub shift: V2,
}

/// Returns the affine map from the parameters of `a` to those of `b`, if both are splines in one frame, the
/// map has the form (u, v) → (α u + β, γ v + δ) or (α v + β, γ u + δ), and corresponding points of `a` over
/// `rect` and of `b` over its domain are nowhere farther apart than `max_distance` (mm). `at` is a common
/// point.
#[must_use]
pub fn parameter_map(
    a: &Surface,
    b: &Surface,
    (at, rect): (&P3, &Rect),
    max_distance: f64,
) -> Option<ParameterMap> {
    let (Surface::Bezier(surface_a), Surface::Bezier(surface_b)) = (a, b) else { return None };
    let (from, to) = (a.invert(at, None, Some(rect)), b.invert(at, None, None));
    let (da, db) = (a.derivs(from), b.derivs(to));
    let map = Map::new(from, to, &da, &db)?;
    if !map.is_aligned() {
        return None;
    }
    let domain = surface_b.domain();
    let cell = |net_a: &Net<'_>, rect: Rect| {
        let mut image = map.image(&rect);
        if !surface_b.u_periodic {
            (image.u0, image.u1) = (image.u0.max(domain.u0), image.u1.min(domain.u1));
        }
        if !surface_b.v_periodic {
            (image.v0, image.v1) = (image.v0.max(domain.v0), image.v1.min(domain.v1));
        }
        if image.u0 >= image.u1 || image.v0 >= image.v1 {
            return true;
        }
        let (us, vs) = surface_b.parts(&image);
        us.iter().all(|u| {
            vs.iter().all(|v| {
                let (net_b, part) = Net::of_part(surface_b, u, v);
                map.distance(net_a, &net_b, &part).is_some_and(|distance| distance <= max_distance)
            })
        })
    };
    let (us, vs) = surface_a.parts(rect);
    let same = us.iter().all(|u| {
        vs.iter().all(|v| {
            let (net_a, part) = Net::of_part(surface_a, u, v);
            cell(&net_a, part)
        })
    });
    same.then(|| ParameterMap { linear: map.linear, shift: map.apply(P2::origin()).coords })
}

impl Map {
    /// Largest distance (mm) of corresponding points whose parameters on the second patch are in `image`.
    /// `None` if the degrees are too high.
    fn distance(&self, net_a: &Net<'_>, net_b: &Net<'_>, image: &Rect) -> Option<f64> {
        let [nu, nv] = difference_degrees(net_a, net_b, self.mapped(net_b.degrees())).map(|n| n + 1);
        if nu > MAX_NODES || nv > MAX_NODES {
            return None;
        }
        let back = self.linear.try_inverse()?;
        let middle = self.from + back * (image.center() - self.to);
        let origin = net_a.derivs(middle).p;
        let (hu, hv) = if self.is_straight() {
            (0.5 * image.width() * back.m11, 0.5 * image.height() * back.m22)
        } else {
            (0.5 * image.height() * back.m12, 0.5 * image.width() * back.m21)
        };
        let mut values: [Vec<f64>; 4] = std::array::from_fn(|_| Vec::with_capacity(nu * nv));
        for x in &chebyshev(nu).nodes {
            for y in &chebyshev(nv).nodes {
                let uv = P2::new(middle.x + hu * x, middle.y + hv * y);
                let (f, g) = (net_a.weighted(uv, &origin), net_b.weighted(self.apply(uv), &origin));
                let difference = f.p * g.w - g.p * f.w;
                let row = [difference.x, difference.y, difference.z, f.w * g.w];
                for (list, value) in values.iter_mut().zip(row) {
                    list.push(value);
                }
            }
        }
        let mut buffer = Vec::new();
        let mut bounds = values.iter().map(|list| spread(list, (nu, nv), &mut buffer));
        let mut next = || bounds.next().unwrap_or((f64::INFINITY, 0.0));
        let size = V3::from_fn(|_, _| {
            let (constant, others) = next();
            constant.abs() + others
        });
        let (weight, others) = next();
        (weight > others).then(|| size.norm() / (weight - others))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::rng;
    use rand::Rng as _;
    use rand::rngs::SmallRng;

    const TOL: f64 = 1e-6;
    const LIMITS: FollowLimits = FollowLimits { shallow: 1.9 * TOL, deep: 3.0 * TOL, beside: 4.0 * TOL };

    /// Heights above the (x, y) plane: z = Σ c_ij x^i y^j, i, j ≤ 3.
    struct Graph([[f64; 4]; 4]);

    impl Graph {
        fn random(r: &mut SmallRng) -> Self {
            let scale = [1.0, 0.3, 0.02, 2e-3, 1e-4, 1e-5, 1e-6];
            Self(std::array::from_fn(|i| std::array::from_fn(|j| r.random_range(-1.0..1.0) * scale[i + j])))
        }

        fn at(&self, x: f64, y: f64) -> f64 {
            let row = |c: &[f64; 4]| c.iter().rev().fold(0.0, |s, c| s * y + c);
            self.0.iter().rev().fold(0.0, |s, c| s * x + row(c))
        }
    }

    /// Bézier surface of degrees `n` over `rect` with the points that `f` returns, by interpolation.
    fn bezier(n: [usize; 2], rect: Rect, f: impl Fn(f64, f64) -> V3) -> Surface {
        let matrix = |n: usize| {
            nalgebra::DMatrix::from_fn(n + 1, n + 1, |k, i| {
                let s = k as f64 / n as f64;
                let binomial = (0..i).fold(1.0, |b, j| b * (n - j) as f64 / (j + 1) as f64);
                binomial * s.powi(i32::try_from(i).unwrap()) * (1.0 - s).powi(i32::try_from(n - i).unwrap())
            })
            .try_inverse()
            .unwrap()
        };
        let (mu, mv) = (matrix(n[0]), matrix(n[1]));
        let mut control = Vec::new();
        for i in 0..=n[0] {
            for j in 0..=n[1] {
                let mut p = V3::zeros();
                for k in 0..=n[0] {
                    for l in 0..=n[1] {
                        let u = rect.u0 + rect.width() * k as f64 / n[0] as f64;
                        let v = rect.v0 + rect.height() * l as f64 / n[1] as f64;
                        p += f(u, v) * (mu[(i, k)] * mv[(j, l)]);
                    }
                }
                control.push(H4::new(p.x, p.y, p.z, 1.0));
            }
        }
        Surface::Bezier(BezierSurface {
            u_degree: u32::try_from(n[0]).unwrap(),
            v_degree: u32::try_from(n[1]).unwrap(),
            u_breaks: vec![rect.u0, rect.u1],
            v_breaks: vec![rect.v0, rect.v1],
            control,
            u_periodic: false,
            v_periodic: false,
        })
    }

    fn patch(surface: &Surface, rect: Rect) -> Patch<'_> {
        let third = surface.third_derivatives(&rect).unwrap().map(|ball| ball.norm());
        Patch { surface, outward: true, pose: None, rect, third, cone: (V3::zeros(), 1.0) }
    }

    fn rect(u0: f64, u1: f64, v0: f64, v1: f64) -> Rect {
        Rect { u0, u1, v0, v1 }
    }

    fn clearance(a: &Patch<'_>, b: &Patch<'_>) -> Option<f64> {
        clearance_of_following(a, b, &LIMITS, &mut FollowScratch::default())
    }

    /// One polynomial surface in two parametrisations: reversed, exchanged, of higher degree, shifted,
    /// over another part that overlaps, contains, is contained or only shares a border; and with a
    /// parameter that is not affine. Moved by less than the limit it is clear, by more it is not, and
    /// far behind it is again.
    #[test]
    fn same_surface_in_other_parameters() {
        let mut r = rng(7);
        for k in 0..40 {
            let graph = Graph::random(&mut r);
            let whole = rect(-2.0, 2.0, -2.0, 2.0);
            let a = bezier([3, 3], whole, |u, v| V3::new(u, v, graph.at(u, v)));
            let pose = Pose::new(V3::new(30.0, -4.0, 11.0), V3::new(0.3, 1.0, -2.0));
            // Heights are measured along the normals, which are tilted by up to about 30 degrees.
            let shifts = [
                (0.0, true),
                (1e-6, true),
                (-1e-6, true),
                (-1.8e-6, true),
                (-2.3e-6, false),
                (-4e-6, true),
                (1e-3, true),
            ];
            for (shift, expected) in shifts {
                let z = |x: f64, y: f64| V3::new(x, y, graph.at(x, y) - shift);
                let bend = |s: f64| s + 0.02 * (1.0 - s * s);
                let others = [
                    (bezier([3, 3], whole, |u, v| z(-u, v)), true),
                    (bezier([3, 3], whole, |u, v| z(v, u)), true),
                    (bezier([5, 4], whole, |u, v| z(u, v)), true),
                    (bezier([3, 3], whole, |u, v| z(0.5 * u - 0.7, v + 0.2)), true),
                    (bezier([3, 3], whole, |u, v| z(u + 4.0, v)), false),
                    (bezier([6, 6], whole, |u, v| z(0.8 * u + 0.6 * v, 0.8 * v - 0.6 * u)), true),
                    (bezier([6, 3], whole, |u, v| z(bend(u), v)), true),
                    (bezier([6, 6], whole, |u, v| z(bend(u), bend(v))), true),
                ];
                for (i, (b, overlap)) in others.iter().enumerate() {
                    let natural = b.normal(P2::new(0.0, 0.0)).z > 0.0;
                    let placed = b.transformed(&pose.inverse());
                    let b = Patch { outward: natural, pose: Some(&pose), ..patch(&placed, whole) };
                    let got = clearance(&patch(&a, whole), &b);
                    let clear = expected || !overlap;
                    assert_eq!(got.is_some(), clear, "{k} {i} {shift}: {got:?}");
                    if shift == 0.0 && *overlap {
                        let got = got.unwrap();
                        assert!((1.5e-7..=1.9e-6).contains(&got), "{k} {i}: {got}");
                    }
                }
            }
        }
    }

    /// Patches with bumps of any size on one of two surfaces that follow each other: if they are clear, no
    /// sampled point of the first one is at a depth between the limits, even after the second one has moved
    /// by the clearance.
    #[test]
    fn clear_patches_have_no_point_between_the_limits() {
        let mut r = rng(8);
        let (mut clear, mut crossing) = (0, 0);
        for k in 0..400 {
            let graph = Graph::random(&mut r);
            let bump = Graph::random(&mut r);
            let size = 10.0_f64.powf(r.random_range(-7.0..-1.0)) * r.random_range(-1.0..1.0);
            let lift = size * r.random_range(-3.0..3.0);
            let (c, s) = if r.random_bool(0.5) { (1.0, 0.0) } else { (0.8, r.random_range(-0.6..0.6)) };
            let at = |u: f64, v: f64| (c * u + s * v + 0.1 * s, c * v - s * u);
            let whole = rect(-2.0, 2.0, -2.0, 2.0);
            let a = bezier([3, 3], whole, |u, v| V3::new(u, v, graph.at(u, v)));
            let b = bezier([6, 6], whole, |u, v| {
                let (x, y) = at(u, v);
                V3::new(x, y, graph.at(x, y) + lift + size * bump.at(x, y))
            });
            let part = rect(r.random_range(-2.0..0.0), 2.0, -2.0, r.random_range(0.0..2.0));
            let Some(clearance) = clearance(&patch(&a, part), &patch(&b, whole)) else {
                crossing += 1;
                continue;
            };
            clear += 1;
            let direction = crate::testing::unit(&mut r) * clearance;
            for moved in [V3::zeros(), direction] {
                for _ in 0..200 {
                    // A point of A at a height above its nearest point on B.
                    let uv = P2::new(r.random_range(part.u0..part.u1), r.random_range(part.v0..part.v1));
                    let p = a.point(uv) - moved;
                    let of_b = patch(&b, whole);
                    let Some(foot) = Net::new(&of_b).unwrap().foot(&p, uv, [1.0; 2]) else { continue };
                    let off = p - b.point(foot);
                    let n = b.normal(foot);
                    if whole.contains(foot) && off.cross(&n).norm() <= 1e-9 {
                        let depth = -off.dot(&n);
                        let between = LIMITS.shallow < depth && depth < LIMITS.deep;
                        assert!(!between, "{k}: depth {depth:e}, clearance {clearance:e}, moved {moved}");
                    }
                }
            }
        }
        assert!(clear > 200 && crossing > 40, "{clear} {crossing}");
    }
}
