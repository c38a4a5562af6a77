//! Affine maps between the parameters of two patches, and splines that are one surface.

use crate::bezier::{BezierSurface, H4, Part};
use crate::chebyshev::{MAX_NODES, chebyshev, spread};
use crate::crossing::Patch;
use crate::{P2, P3, Pose, Rect, Surface, SurfaceDerivs, V2, V3};
use arrayvec::ArrayVec;
use nalgebra::Matrix2;

/// Largest part of the map φ that mixes both parameters and is neglected. With a larger value more cells
/// are needed for maps that do mix them; with a smaller one, the cells of slightly rotated maps are not
/// restricted to their common part.
const MAX_MIXING: f64 = 1e-3;
/// Bézier patch of a surface, continued beyond its borders.
pub(in crate::crossing) struct Net<'a> {
    pub surface: &'a BezierSurface,
    pub patch: (usize, usize),
    /// Added to parameters, so that they are in the period of the surface.
    shift: V2,
    pose: Option<&'a Pose>,
    /// Whether all weights are equal.
    pub polynomial: bool,
}

/// Chebyshev nodes of an interval.
pub(super) fn nodes_about(middle: f64, half: f64, n: usize) -> ArrayVec<f64, MAX_NODES> {
    chebyshev(n).nodes.iter().map(|x| middle + half * x).collect()
}

/// Buffers of the homogeneous points of both patches at nodes.
#[derive(Clone, Debug, Default)]
pub(in crate::crossing) struct NodeScratch {
    of_a: Vec<[H4; 3]>,
    of_b: Vec<[H4; 3]>,
}

/// Calls `visit` at all pairs of the nodes `us` and `vs` of the first patch, the second one varying fastest,
/// with the points of both patches relative to `origin`; that of the second patch is the image under `map`.
pub(super) fn at_nodes(
    [net_a, net_b]: [&Net<'_>; 2],
    map: &Map,
    [us, vs]: [&[f64]; 2],
    origin: &P3,
    scratch: &mut NodeScratch,
    visit: &mut impl FnMut(&Weighted, &Weighted),
) {
    let shifted = |x: &[f64], by: f64| x.iter().map(|x| x + by).collect::<ArrayVec<f64, MAX_NODES>>();
    let NodeScratch { of_a, of_b } = scratch;
    net_a.surface.patch_grid(net_a.patch, [&shifted(us, net_a.shift.x), &shifted(vs, net_a.shift.y)], of_a);
    // Images of lines of nodes are lines of constant parameters only if the map mixes none.
    let of_u = |k: usize| us.iter().map(move |u| map.apply(P2::new(*u, map.from.y))[k] + net_b.shift[k]);
    let of_v = |k: usize| vs.iter().map(move |v| map.apply(P2::new(map.from.x, *v))[k] + net_b.shift[k]);
    let nodes = |x: &mut dyn Iterator<Item = f64>| x.collect::<ArrayVec<f64, MAX_NODES>>();
    let [is_straight, is_crossed] = [map.is_straight(), map.is_crossed()];
    if is_straight {
        net_b.surface.patch_grid(net_b.patch, [&nodes(&mut of_u(0)), &nodes(&mut of_v(1))], of_b);
    } else if is_crossed {
        net_b.surface.patch_grid(net_b.patch, [&nodes(&mut of_v(0)), &nodes(&mut of_u(1))], of_b);
    }
    for (i, u) in us.iter().enumerate() {
        for (j, v) in vs.iter().enumerate() {
            let f = net_a.placed(of_a[i * vs.len() + j], origin);
            let g = if is_straight {
                net_b.placed(of_b[i * vs.len() + j], origin)
            } else if is_crossed {
                net_b.placed(of_b[j * us.len() + i], origin)
            } else {
                net_b.weighted(map.apply(P2::new(*u, *v)), origin)
            };
            visit(&f, &g);
        }
    }
}

/// Homogeneous point relative to an origin, and its first derivatives: vectors multiplied by the weight,
/// and weights.
pub(in crate::crossing) struct Weighted {
    pub p: V3,
    pub w: f64,
    pub pu: V3,
    pub wu: f64,
    pub pv: V3,
    pub wv: f64,
}

impl<'a> Net<'a> {
    pub(in crate::crossing) fn new(patch: &Patch<'a>) -> Option<Self> {
        let Surface::Bezier(surface) = patch.surface else { return None };
        let middle = patch.rect.center();
        let shift = surface.wrapped(middle) - middle;
        Some(Self { shift, ..Self::of(surface, surface.patch(middle), patch.pose) })
    }

    /// Patch `index` of a surface, with parameters in the domain of the surface.
    pub(in crate::crossing) fn of(
        surface: &'a BezierSurface,
        index: (usize, usize),
        pose: Option<&'a Pose>,
    ) -> Self {
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

    /// Whether the surface's patch at `uv` is this one, in the same period.
    pub(super) fn contains(&self, uv: P2) -> bool {
        let inside = self.surface.wrapped(uv);
        let size = self.surface.domain();
        let off = inside - (uv + self.shift);
        self.surface.patch(inside) == self.patch
            && off.x.abs() <= 0.5 * size.width()
            && off.y.abs() <= 0.5 * size.height()
    }

    pub(super) fn degrees(&self) -> [usize; 2] {
        [self.surface.u_degree as usize, self.surface.v_degree as usize]
    }

    pub(in crate::crossing) fn derivs(&self, uv: P2) -> SurfaceDerivs {
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
        self.placed([h, hu, hv], origin)
    }

    /// Homogeneous point and first derivatives relative to `origin`, in the frame of the pose.
    fn placed(&self, [h, hu, hv]: [H4; 3], origin: &P3) -> Weighted {
        let placed = |h: &H4| match self.pose {
            Some(pose) => pose.rotation * h.xyz() + (pose.translation.vector - origin.coords) * h.w,
            None => h.xyz() - origin.coords * h.w,
        };
        Weighted { p: placed(&h), w: h.w, pu: placed(&hu), wu: hu.w, pv: placed(&hv), wv: hv.w }
    }

    /// Parameters of a point near `start` whose normal passes through `p`, by Newton's method with steps of
    /// at most `reach`. `None` if it does not converge.
    pub(super) fn foot(&self, p: &P3, start: P2, reach: [f64; 2]) -> Option<P2> {
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
pub(in crate::crossing) struct Map {
    pub from: P2,
    pub to: P2,
    pub linear: Matrix2<f64>,
    /// Lengths (mm) of the first derivatives of the second patch at `to`.
    pub scale: [f64; 2],
}

impl Map {
    /// Linear approximation at `from` of the map to the nearest points, which takes `from` to `to`. `da` and
    /// `db` are the derivatives of the patches there. Parts that mix both parameters only slightly are set to
    /// zero.
    pub(in crate::crossing) fn new(from: P2, to: P2, da: &SurfaceDerivs, db: &SurfaceDerivs) -> Option<Self> {
        let mut map = Self::with_mixing(from, to, da, db)?;
        if map.mixing(da) <= MAX_MIXING {
            map.align(da);
        }
        (map.linear.determinant() != 0.0).then_some(map)
    }

    /// Map as [`Map::new`] without the smaller of its parts: the one that takes u to u and v to v, or the one
    /// that takes u to v and v to u. The second value is the [`Map::mixing`] of the complete map.
    pub(in crate::crossing) fn aligned(
        from: P2,
        to: P2,
        da: &SurfaceDerivs,
        db: &SurfaceDerivs,
    ) -> Option<(Self, f64)> {
        let mut map = Self::with_mixing(from, to, da, db)?;
        let mixing = map.mixing(da);
        map.align(da);
        (map.linear.determinant() != 0.0).then_some((map, mixing))
    }

    /// [`Map::new`] with all parts.
    fn with_mixing(from: P2, to: P2, da: &SurfaceDerivs, db: &SurfaceDerivs) -> Option<Self> {
        let metric =
            Matrix2::new(db.du.norm_squared(), db.du.dot(&db.dv), db.du.dot(&db.dv), db.dv.norm_squared());
        let mixed = Matrix2::new(db.du.dot(&da.du), db.du.dot(&da.dv), db.dv.dot(&da.du), db.dv.dot(&da.dv));
        let linear = metric.try_inverse()? * mixed;
        Some(Self { from, to, linear, scale: [db.du.norm(), db.dv.norm()] })
    }

    /// Lengths of the largest entries of the linear part on and off its diagonal, relative to those of the
    /// derivatives `da` of the first patch.
    fn shares(&self, da: &SurfaceDerivs) -> [f64; 2] {
        let la = [da.du.norm(), da.dv.norm()];
        let share = |i: usize, j: usize| (self.linear[(i, j)] * self.scale[i] / la[j]).abs();
        [share(0, 0).max(share(1, 1)), share(0, 1).max(share(1, 0))]
    }

    /// Ratio of the smaller to the larger one of the shares: 0 if the parameters are not mixed.
    fn mixing(&self, da: &SurfaceDerivs) -> f64 {
        let [straight, crossed] = self.shares(da);
        straight.min(crossed) / straight.max(crossed)
    }

    /// Sets the smaller part to zero.
    fn align(&mut self, da: &SurfaceDerivs) {
        let [straight, crossed] = self.shares(da);
        if straight >= crossed {
            (self.linear.m12, self.linear.m21) = (0.0, 0.0);
        } else {
            (self.linear.m11, self.linear.m22) = (0.0, 0.0);
        }
    }

    /// Degrees in u and v of the first patch of a polynomial of the given degrees in u and v of the
    /// second one.
    pub(super) fn mapped(&self, of_b: [usize; 2]) -> [usize; 2] {
        if self.is_straight() {
            of_b
        } else if self.is_crossed() {
            [of_b[1], of_b[0]]
        } else {
            [of_b[0] + of_b[1]; 2]
        }
    }

    pub(in crate::crossing) fn apply(&self, uv: P2) -> P2 {
        self.to + self.linear * (uv - self.from)
    }

    /// Smallest rectangle around the image of a rectangle.
    pub(in crate::crossing) fn image(&self, rect: &Rect) -> Rect {
        let m = self.apply(rect.center());
        let (hu, hv) = (0.5 * rect.width(), 0.5 * rect.height());
        let l = &self.linear;
        let (wu, wv) = (l.m11.abs() * hu + l.m12.abs() * hv, l.m21.abs() * hu + l.m22.abs() * hv);
        Rect { u0: m.x - wu, u1: m.x + wu, v0: m.y - wv, v1: m.y + wv }
    }

    /// Whether u is mapped to u and v to v.
    pub(in crate::crossing) fn is_straight(&self) -> bool {
        self.linear.m12 == 0.0 && self.linear.m21 == 0.0
    }

    /// Whether u is mapped to v and v to u.
    pub(super) fn is_crossed(&self) -> bool {
        self.linear.m11 == 0.0 && self.linear.m22 == 0.0
    }

    /// Whether a rectangle is mapped to a rectangle.
    pub(in crate::crossing) fn is_aligned(&self) -> bool {
        self.is_straight() || self.is_crossed()
    }
}

/// Smallest ratio of the length of an image to that of its vector.
pub(super) fn smallest_stretch(m: &Matrix2<f64>) -> f64 {
    let (squares, area) = (m.norm_squared(), m.determinant().abs());
    let largest = (0.5 * (squares + (squares * squares - 4.0 * area * area).max(0.0).sqrt())).sqrt();
    area / largest
}

/// Degrees of the difference of two patches in the parameters of the first one, multiplied by both weights;
/// `mapped` are the degrees of the second patch in these parameters.
pub(super) fn difference_degrees(net_a: &Net<'_>, net_b: &Net<'_>, mapped: [usize; 2]) -> [usize; 2] {
    let of_a = net_a.degrees();
    [0, 1].map(|i| {
        if net_a.polynomial && net_b.polynomial { of_a[i].max(mapped[i]) } else { of_a[i] + mapped[i] }
    })
}

/// Affine map between the parameters of two splines that are one surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParameterMap {
    /// Linear part.
    pub linear: Matrix2<f64>,
    /// Image of the origin.
    pub shift: V2,
}

/// Returns the affine map from the parameters of `a` to those of `b`. Both are splines in one frame, the
/// map takes rectangles to rectangles, and corresponding points of `a` over `rect` and of `b` over its
/// domain are at most `max_distance` (mm) apart. `at` is a common point. `None` if no map has
/// these properties.
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
    pub(in crate::crossing) fn distance(
        &self,
        net_a: &Net<'_>,
        net_b: &Net<'_>,
        image: &Rect,
    ) -> Option<f64> {
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
        let (us, vs) = (nodes_about(middle.x, hu, nu), nodes_about(middle.y, hv, nv));
        at_nodes([net_a, net_b], self, [&us, &vs], &origin, &mut NodeScratch::default(), &mut |f, g| {
            let difference = f.p * g.w - g.p * f.w;
            let row = [difference.x, difference.y, difference.z, f.w * g.w];
            for (list, value) in values.iter_mut().zip(row) {
                list.push(value);
            }
        });
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
