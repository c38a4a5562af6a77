//! Polar of the tangent cone at a vertex, represented by constraints.
//!
//! Notation: `T` is the tangent cone of the material at the vertex, and `∂T` its boundary, with one
//! sector of directions for every passage of a loop through the vertex. `T* = {d : ⟨d, v⟩ ≤ 0 for all v
//! in T}`.
//!
//! # Source
//! BREP §1.3.1.3, MATH §7 "Vertex polar".
//!
//! # Deviations
//! `T* = (∂T)* \ T`. Proof: assume that a direction of `(∂T)*` outside `T` makes an acute angle with some
//! direction of `T`. A great arc of acute directions joins the two and leaves `T` through `∂T`, which is
//! a contradiction. `(∂T)*` lies wholly inside or wholly outside `T` unless it is a line (a flat vertex);
//! there the inward normal is added as one more constraint.
//!
//! If a surface is singular at the vertex, the sector is the set of its limit directions, sampled at
//! steps of at most [`MAX_DIRECTION_STEP`]. Compared with a cone of revolution, the sampled polar is too
//! large by less than `STEP² / 8` = 1.3e-3 rad; it is never too small.

use std::f64::consts::TAU;

use feeler_geom::{P3, V3, math};
use nalgebra::{Rotation3, Unit};

use super::draft::{Draft, Use};
use super::host::Host;
use super::singular::Singular;
use crate::solid::VertexPolar;

/// Maximum step between the directions that represent the tangent cone at a singular point (rad of the
/// parameter that varies there). A larger value gives larger polars, a smaller one more constraints.
const MAX_DIRECTION_STEP: f64 = 0.1;
/// Maximum angle (rad) between adjacent directions by which the sector of a face in its tangent plane is
/// represented. It must be below π/2, or polars are wrong; a smaller value gives more constraints.
const SECTOR_STEP: f64 = 1.4;
/// Maximum difference (rad) of a sector's angle from 0 or 2π at which the tangents do not distinguish an
/// empty from a full sector, so that nearby points of the two edges decide. With a smaller value empty
/// and full sectors are confused.
const CUSP: f64 = 1e-3;
/// Maximum angle (rad) by which a direction may violate the constraints of a polar without being excluded
/// from it. With a larger value, empty polars count as not empty and vertices without minima are kept; a
/// smaller one loses vertices of inexact files.
const NEARLY: f64 = 1e-5;

/// Part of the boundary `∂T` of the tangent cone: an arc of a great circle of directions, with the
/// outward normal of its face.
#[derive(Clone, Copy, Debug)]
struct Arc {
    from: V3,
    to: V3,
    normal: V3,
}

/// Boundary `∂T` of the tangent cone at one vertex.
#[derive(Clone, Debug, Default)]
pub(super) struct TangentCone {
    arcs: Vec<Arc>,
    /// Whether a face is singular at the vertex and has no tangent plane there (as at the apex of a
    /// cone).
    pub(super) sharp: bool,
    /// Whether some edge at the vertex is concave. This distinguishes a slit from a razor, whose tangent
    /// cones have the same boundary.
    pub(super) concave: bool,
}

/// Returns the unit tangent of the edge of `u` at one end of this use, pointing from that end into the
/// edge. The end is the start of the use if `at_start_of_use` is set, otherwise its end. `None` if the
/// curve has no tangent there.
pub(super) fn away(draft: &Draft, u: &Use, at_start_of_use: bool) -> Option<V3> {
    let e = &draft.edges[u.edge as usize];
    let at_t0 = at_start_of_use == u.forward;
    let t = if at_t0 { e.range.0 } else { e.range.1 };
    let tangent = e.curve.tangent(t)?;
    Some(if at_t0 { tangent } else { -tangent })
}

impl TangentCone {
    /// Adds the sector of a face at the vertex between two consecutive uses of a loop: `arrive` ends at
    /// the vertex, `leave` starts there. `face` is the index of the face in the draft.
    pub(super) fn add_corner(
        &mut self,
        draft: &Draft,
        host: &Host<'_>,
        face: usize,
        arrive: &Use,
        leave: &Use,
    ) {
        let (Some(p), Some(q)) = (&arrive.pcurve, &leave.pcurve) else { return };
        let outward = draft.faces[face].outward;
        let tips = (p.singular[usize::from(arrive.forward)], q.singular[usize::from(!leave.forward)]);
        if let Some(i) = tips.0.or(tips.1) {
            let s = &host.singular[i];
            let inner = |u: &Use, at_start: bool| {
                // The free parameter at the vertex (a limit), and at a point slightly inside the edge.
                let c = u.pcurve.as_ref().map(|c| {
                    let at_t0 = at_start == u.forward;
                    let (t0, t1) = (c.joints[0], c.joints[c.joints.len() - 1]);
                    let (tip, t) = if at_t0 { (c.start(), 0.01) } else { (c.end(), 0.99) };
                    (s.free(tip), s.free(c.guess(t0 + (t1 - t0) * t)))
                });
                c.unwrap_or((0.0, 0.0))
            };
            let (arriving, leaving) = (inner(arrive, false), inner(leave, true));
            // With the material on the left, the side v = v0 runs to larger u, and u = u0 to smaller v.
            let along = (s.u_free == s.low) == outward;
            let (from, to) = if along { (arriving, leaving) } else { (leaving, arriving) };
            let extent = width(host, s, from, to, arrive.edge == leave.edge);
            self.add_limits(host, s, outward, from.0, extent);
            return;
        }
        let uv = if arrive.forward { p.end() } else { p.start() };
        let n = host.surface.normal(uv);
        let n = if outward { n } else { -n };
        let (Some(a), Some(b)) = (away(draft, leave, true), away(draft, arrive, false)) else { return };
        let mut angle = turn_about(&n, &a, &b);
        if arrive.edge == leave.edge && arrive.forward != leave.forward {
            // The sector at the tip of a dangling edge is the full circle.
            angle = TAU;
        } else if !(CUSP..=TAU - CUSP).contains(&angle) {
            angle = cusp(draft, &n, arrive, leave, angle);
        }
        self.add_sector(&n, a, b, angle);
    }

    /// Adds all directions of a face around a vertex that is a loop of its own. `p` is the position of
    /// the vertex; singular points of the surface within `tol` (mm) of it count as the vertex.
    pub(super) fn add_vertex_loop(&mut self, host: &Host<'_>, outward: bool, p: &P3, tol: f64) {
        // The two tips of a horn torus coincide in space.
        let mut is_singular = false;
        for s in host.singular.iter().filter(|s| (s.point - p).norm() <= tol) {
            let r = &host.natural;
            let (lo, hi) = if s.u_free { (r.u0, r.u1) } else { (r.v0, r.v1) };
            self.add_limits(host, s, outward, lo, hi - lo);
            is_singular = true;
        }
        if is_singular {
            return;
        }
        let n = host.surface.normal(host.invert_global(p));
        let n = if outward { n } else { -n };
        let (e, _) = basis(&n);
        self.add_sector(&n, e, e, TAU);
    }

    fn add_limits(&mut self, host: &Host<'_>, s: &Singular, outward: bool, from: f64, width: f64) {
        self.sharp |= !s.smooth;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let n = match if s.u_free { host.u_period } else { host.v_period } {
            // The directions are in one plane, like the sector of an ordinary point.
            _ if s.smooth => 8,
            Some(period) => (width / period * TAU / MAX_DIRECTION_STEP).ceil().clamp(1.0, 256.0) as u32,
            // The parameter of a patch is not an angle.
            None => 32,
        };
        let at = |x: f64| from + width * x / f64::from(n);
        let directions: Vec<Option<V3>> =
            (0..=n).map(|k| s.direction(host.surface, at(f64::from(k)), &host.natural)).collect();
        for (k, w) in (0..n).zip(directions.windows(2)) {
            let (Some(a), Some(b)) = (w[0], w[1]) else { continue };
            let normal = s.normal(host.surface, at(f64::from(k) + 0.5));
            self.arcs.push(Arc { from: a, to: b, normal: if outward { normal } else { -normal } });
        }
    }

    fn add_sector(&mut self, n: &V3, a: V3, b: V3, angle: f64) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 5")]
        let steps = (angle / SECTOR_STEP).floor() as u32 + 1;
        let axis = Unit::new_normalize(*n);
        let Some(start) = (a - n * a.dot(n)).try_normalize(1e-9) else { return };
        let mut from = a;
        for k in 1..=steps {
            let to = if k == steps {
                b
            } else {
                Rotation3::from_axis_angle(&axis, angle * f64::from(k) / f64::from(steps)) * start
            };
            self.arcs.push(Arc { from, to, normal: *n });
            from = to;
        }
    }

    /// Returns the distinct directions of `∂T`.
    fn directions(&self) -> Vec<V3> {
        let mut out: Vec<V3> = vec![];
        for d in self.arcs.iter().flat_map(|a| [a.from, a.to]) {
            if !out.iter().any(|o| (o - d).norm() <= 1e-12) {
                out.push(d);
            }
        }
        out
    }

    /// Returns whether the direction `d`, which makes no acute angle with `∂T`, points into the
    /// material, that is, whether its product with the outward normal at the nearest point of `∂T` is
    /// negative. At corners, the normal is the sum of those of the adjacent arcs. If the product is
    /// zero, the result is whether an edge at the vertex is concave.
    fn is_inward(&self, d: &V3) -> bool {
        let nearest: Vec<(f64, V3)> = self.arcs.iter().map(|a| (a.largest_cosine(d), a.normal)).collect();
        let best = nearest.iter().fold(f64::NEG_INFINITY, |m, x| m.max(x.0));
        let sum = nearest.iter().filter(|x| x.0 >= best - 1e-7).fold(V3::zeros(), |s, x| s + x.1);
        let height = sum.dot(d);
        if height.abs() <= 1e-6 { self.concave } else { height < 0.0 }
    }

    /// Computes the polar from the collected arcs.
    pub(super) fn polar(&self) -> VertexPolar {
        let directions = self.directions();
        if directions.is_empty() {
            return VertexPolar::Empty;
        }
        let exact = extreme_rays(&directions, 1e-9);
        let loose = extreme_rays(&directions, NEARLY);
        let rays = if exact.is_empty() { loose.clone() } else { exact.clone() };
        if let Some(inner) = planar_rays(&directions) {
            // The directions are in one plane without filling it (a needle or a blade). The polar also
            // contains the normals of the plane.
            let middle = inner.iter().fold(V3::zeros(), |s, r| s + r).try_normalize(1e-9).unwrap_or(inner[0]);
            return if self.is_inward(&middle) {
                VertexPolar::Empty
            } else {
                VertexPolar::Constraints(directions)
            };
        }
        // Tangent planes of a file agree to NEARLY at best, so a line within that tolerance is a flat
        // vertex.
        let flat = loose.iter().any(|r| r.dot(&loose[0]) < -1.0 + 1e-9);
        if flat {
            // In a line, the normal ray is kept, and the opposite one points into the material.
            let up = if self.is_inward(&loose[0]) { -loose[0] } else { loose[0] };
            if self.is_inward(&up) {
                return VertexPolar::Empty;
            }
            let mut constraints = directions;
            constraints.push(-up);
            return VertexPolar::Constraints(constraints);
        }
        let sum = rays.iter().fold(V3::zeros(), |s, r| s + r);
        if sum.try_normalize(1e-9).is_none_or(|m| self.is_inward(&m)) {
            return VertexPolar::Empty;
        }
        // A polar that is a ray or a blade needs constraints that do not touch it: the edge down from a
        // concave corner of a flat top excludes the downward normal. Noise turns one ray into several.
        if !spans_space(&exact) {
            return VertexPolar::Constraints(directions);
        }
        // Each facet of a polar with an interior contains two extreme rays.
        let touches = |d: &V3| exact.iter().filter(|r| r.dot(d) >= -1e-9).count() >= 2;
        VertexPolar::Constraints(directions.into_iter().filter(touches).collect())
    }
}

impl Arc {
    /// Returns the cosine of the angle between `d` and the nearest direction of the arc.
    fn largest_cosine(&self, d: &V3) -> f64 {
        let ends = d.dot(&self.from).max(d.dot(&self.to));
        let pole = self.from.cross(&self.to);
        // The projection of d to the arc's plane lies on the arc if it is between both ends.
        let foot = d - pole * (d.dot(&pole) / pole.norm_squared());
        let inside = pole.dot(&self.from.cross(&foot)) > 0.0 && pole.dot(&foot.cross(&self.to)) > 0.0;
        if inside { foot.norm().max(ends) } else { ends }
    }
}

/// Returns the unit directions along the edges of the polar `{d : ⟨d, v⟩ ≤ 0 for all v in directions}`,
/// that is those at which two constraints are equalities. Other constraints may be violated by at most
/// `tol` (rad).
fn extreme_rays(directions: &[V3], tol: f64) -> Vec<V3> {
    let mut rays: Vec<V3> = vec![];
    // A constraint that rejects one ray usually rejects the next one, too.
    let mut spoiler = 0;
    for (i, a) in directions.iter().enumerate() {
        for b in &directions[i + 1..] {
            let Some(axis) = a.cross(b).try_normalize(1e-7) else { continue };
            for ray in [axis, -axis] {
                let spoils = |d: &V3| d.dot(&ray) > tol;
                if directions.get(spoiler).is_some_and(spoils) {
                    continue;
                }
                if let Some(k) = directions.iter().position(spoils) {
                    spoiler = k;
                    continue;
                }
                if !rays.iter().any(|r| (r - ray).norm() <= 1e-9) {
                    rays.push(ray);
                }
            }
        }
    }
    rays
}

/// Returns whether three of the unit directions are clearly linearly independent.
fn spans_space(directions: &[V3]) -> bool {
    let Some(a) = directions.first() else { return false };
    let across = directions.iter().map(|b| a.cross(b)).max_by(|p, q| p.norm().total_cmp(&q.norm()));
    across.is_some_and(|n| directions.iter().any(|c| n.dot(c).abs() > 1e-3))
}

/// Returns the extreme rays of the polar of directions that lie in one plane, *within* that plane.
/// Returns `None` if they do not lie in one plane, or if their polar within it is empty.
fn planar_rays(directions: &[V3]) -> Option<Vec<V3>> {
    let first = directions.first()?;
    let normal = directions.iter().map(|d| first.cross(d)).max_by(|a, b| a.norm().total_cmp(&b.norm()))?;
    let Some(normal) = normal.try_normalize(1e-9) else {
        // All directions are on one line.
        let one_way = directions.iter().all(|d| d.dot(first) > 0.0);
        return Some(if one_way { vec![-first] } else { vec![basis(first).0] });
    };
    if directions.iter().any(|d| d.dot(&normal).abs() > 1e-9) {
        return None;
    }
    let mut rays = vec![];
    for d in directions {
        let across = normal.cross(d);
        rays.extend([across, -across].into_iter().filter(|r| directions.iter().all(|d| d.dot(r) <= 1e-9)));
    }
    (!rays.is_empty()).then_some(rays)
}

/// Returns the angle (rad) from `a` to `b` about the axis `n`, in `[0, 2π)`.
fn turn_about(n: &V3, a: &V3, b: &V3) -> f64 {
    let (a, b) = (a - n * a.dot(n), b - n * b.dot(n));
    math::turn(math::atan2(n.dot(&a.cross(&b)), a.dot(&b)))
}

/// Returns the length of the range of the free parameter at the singular point `s`, from the limit of
/// one pcurve to that of the next one. `from` and `to` contain the free parameters of the two pcurves:
/// at the vertex (a limit), and slightly inside. `same_edge`: whether both are uses of one edge.
fn width(host: &Host<'_>, s: &Singular, from: (f64, f64), to: (f64, f64), same_edge: bool) -> f64 {
    let Some(period) = (if s.u_free { host.u_period } else { host.v_period }) else {
        return (to.0 - from.0).abs();
    };
    let w = math::wrap(to.0 - from.0, 0.0, period);
    if w > 1e-6 * period && w < (1.0 - 1e-6) * period {
        return w;
    }
    if same_edge {
        return period;
    }
    let inside = math::wrap(to.1 - from.1, 0.0, period);
    if inside > 0.5 * period { period } else { 0.0 }
}

/// Decides between an empty and a full sector of two edges with (almost) the same tangent, from the
/// positions of points of both edges at equal distances from the vertex. `n` is the outward normal, and
/// `angle` (rad) the sector's angle from the tangents. Returns the corrected angle (rad).
fn cusp(draft: &Draft, n: &V3, arrive: &Use, leave: &Use, angle: f64) -> f64 {
    let point = |u: &Use, at_start: bool, r: f64| {
        let e = &draft.edges[u.edge as usize];
        let at_t0 = at_start == u.forward;
        let (from, to) = if at_t0 { e.range } else { (e.range.1, e.range.0) };
        let origin = e.curve.point(from);
        // The first parameter at that distance is found by bisection between the vertex and the middle
        // of the edge.
        let (mut a, mut b) = (0.0, 0.5);
        for _ in 0..50 {
            let m = 0.5 * (a + b);
            let near = (e.curve.point(from + (to - from) * m) - origin).norm() < r;
            if near { a = m } else { b = m }
        }
        e.curve.point(from + (to - from) * a) - origin
    };
    let reach = |u: &Use| {
        let e = &draft.edges[u.edge as usize];
        (e.curve.point(e.mid()) - e.curve.point(e.range.0)).norm()
    };
    let length = reach(arrive).min(reach(leave));
    for share in [1e-3, 1e-2, 0.1, 0.5] {
        let (a, b) = (point(leave, true, share * length), point(arrive, false, share * length));
        let turn = turn_about(n, &a, &b);
        let turn = if turn > std::f64::consts::PI { turn - TAU } else { turn };
        if turn.abs() > 1e-7 {
            let tiny = angle.min(TAU - angle);
            return if turn > 0.0 { tiny } else { TAU - tiny };
        }
    }
    angle
}

fn basis(n: &V3) -> (V3, V3) {
    let h = if n.x.abs() < 0.6 { V3::x() } else { V3::y() };
    let e = n.cross(&h).normalize();
    (e, n.cross(&e))
}
