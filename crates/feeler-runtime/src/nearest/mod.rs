//! Distance of a point from the boundary of a solid, whether the point is inside the solid, and
//! intersections of rays with the boundary.
//!
//! # Source
//! MATH §15 (the distances of a witness).

mod batch;
pub(crate) mod membership;
mod point_query;
mod ray;
mod signed;

pub use batch::RayIntersections;
pub use point_query::{NearestPoint, PointQuery};
pub use ray::{RayIntersection, RayQuery};
pub use signed::BoundaryPoint;
pub(crate) use signed::signed_foot;

use crate::body::edge_arcs::{EdgeArc, SAMPLES};
use crate::body::samples::at;
use crate::body::{Body, outward_normal};
use arrayvec::ArrayVec;
use feeler_geom::skeleton::signed_distance_value;
use feeler_geom::surface::has_hole;
use feeler_geom::trim::Side;
use feeler_geom::{P2, P3, Rect, Surface, V3};
use feeler_hierarchy::{AreaId, FaceId, Feature, NodeId};
use nalgebra::Matrix3;

/// Boundary point nearest to a given point, in the frame of the solid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearest {
    /// Distance (mm) from the given point, never negative.
    pub distance: f64,
    /// Boundary point nearest to the given point.
    pub foot: P3,
    /// Outward unit normal at `foot`; `None` if `foot` is on an edge or a vertex.
    pub normal: Option<V3>,
    /// Face that contains `foot`, in its interior or on its border.
    pub face: FaceId,
}

/// Memory that searches for nearest points reuse.
#[derive(Clone, Debug, Default)]
pub(crate) struct NearScratch {
    stack: Vec<(f64, NodeId)>,
}

/// Initial capacity for pending nodes of a traversal; each level of the tree adds one. A larger value
/// uses more memory; a smaller one allocates more often.
const STACK_CAPACITY: usize = 64;

/// Boundary point nearest to `p` (frame of the solid); `None` if the boundary is farther than `limit`
/// (mm).
///
/// The result is exact up to rounding on surfaces with a closed form, where the nearest point is the
/// footpoint on the surface or lies on a trim. Free-form areas are so flat that the footpoint found on
/// an area is the nearest point of the area.
pub(crate) fn nearest(body: &Body, p: &P3, limit: f64, scratch: &mut NearScratch) -> Option<Nearest> {
    let faces = body.faces();
    let bound = |i: NodeId| {
        let node = &faces[i.index()];
        let by_box = node.obb.distance_to(p);
        let by_surface = node.face().and_then(|face| {
            let (primitive, off) = body.sphere_envelope(face.into())?;
            Some(signed_distance_value(primitive, p)?.abs() - off)
        });
        by_surface.map_or(by_box, |d| d.max(by_box))
    };
    let mut best: Option<Nearest> = None;
    let mut min_distance = limit;
    let NearScratch { stack } = scratch;
    stack.clear();
    stack.reserve(STACK_CAPACITY);
    stack.extend((!faces.is_empty()).then(|| (bound(NodeId(0)), NodeId(0))));
    while let Some((d, i)) = stack.pop() {
        if d >= min_distance {
            continue;
        }
        let node = &faces[i.index()];
        if let Some([x, y]) = node.children() {
            let (x, y) = ((bound(x), x), (bound(y), y));
            // The nearer child is visited first.
            stack.extend(if x.0 < y.0 { [y, x] } else { [x, y] });
        } else if let Some(found) = node.area().and_then(|area| nearest_on_area(body, area, p, min_distance))
        {
            min_distance = found.distance;
            best = Some(found);
        }
    }
    best
}

/// Point of one area nearest to `p`, if it is within `limit` (mm): the footpoint if that is inside the
/// trims, otherwise the nearest point of the trims near the area, or a tip of the surface. `None` if it
/// is farther away, or if the area is not one of a face.
fn nearest_on_area(body: &Body, area: AreaId, p: &P3, limit: f64) -> Option<Nearest> {
    let data = body.area(area);
    let Feature::Face(f) = data.feature else { return None };
    let face = body.face(f);
    let uv = foot_on_area(body, area, &face.surface, p);
    let foot = face.surface.point(uv);
    let distance = (foot - p).norm();
    let mut best: Option<Nearest> = None;
    if face.trim.classify(uv) == Side::Inside {
        let normal = Some(outward_normal(face, uv));
        return (distance < limit).then_some(Nearest { distance, foot, normal, face: f });
    }
    let mut min_distance = limit;
    // A tip of a surface can be the nearest point although the connection is not normal to the surface
    // there.
    for foot in tips(&face.surface) {
        let distance = (foot - p).norm();
        if distance < min_distance
            && body.node(body.leaf_of_area(area)).obb.contains(&foot, 1e-9 * body.size())
        {
            min_distance = distance;
            best = Some(Nearest { distance, foot, normal: None, face: f });
        }
    }
    for ball in body.edge_arcs().of_area(area) {
        if (ball.center - p).norm() - ball.radius < min_distance {
            let arc = &body.edge_arcs().list[ball.arc as usize];
            let foot = nearest_on_arc(body, arc, p);
            let distance = (foot - p).norm();
            if distance < min_distance {
                min_distance = distance;
                best = Some(Nearest { distance, foot, normal: None, face: f });
            }
        }
    }
    best
}

/// Parameters of the point of an area nearest to `p`, trims ignored. On a surface with a closed form,
/// the nearest point of the whole surface is returned.
fn foot_on_area(body: &Body, area: AreaId, surface: &Surface, p: &P3) -> P2 {
    let rect = &body.area(area).rect;
    if surface.is_canonical() {
        return surface.invert(p, None, Some(rect));
    }
    let foot = body.grid_of(area).foot(p);
    descend(surface, rect, at(rect, foot.params[0], foot.params[1]), p)
}

/// Parameters of the point of a face's surface nearest to `p`, trims ignored. A surface with a closed
/// form is searched as a whole, a free-form surface only in the areas of the face.
pub(crate) fn foot_on_face(body: &Body, f: FaceId, p: &P3) -> P2 {
    let face = body.face(f);
    if face.surface.is_canonical() {
        return face.surface.invert(p, None, Some(&face.trim.rect));
    }
    foot_on_face_within(body, f, p, f64::INFINITY).unwrap_or_else(|| face.trim.rect.center())
}

/// Parameters of the point of a free-form face's surface, in the areas of the face, nearest to `p`, trims
/// ignored. `None` if the boxes of all areas are farther than `reach` (mm) from `p`, so that no point of the
/// face is within `reach`; the returned point may be farther.
pub(crate) fn foot_on_face_within(body: &Body, f: FaceId, p: &P3, reach: f64) -> Option<P2> {
    let surface = &body.face(f).surface;
    let areas = body.areas_of(body.data(Feature::Face(f)));
    let to_box = |area: AreaId| body.node(body.leaf_of_area(area)).obb.distance_to(p);
    // The area with the nearest box most often has the nearest point, which excludes the others.
    let boxes = areas.iter().map(|area| (to_box(*area), *area)).filter(|(distance, _)| *distance <= reach);
    let (_, first) = boxes.clone().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let foot = |area: AreaId| {
        let uv = foot_on_area(body, area, surface, p);
        ((surface.point(uv) - p).norm(), uv)
    };
    let mut best = foot(first);
    for (_, area) in boxes.filter(|(_, area)| *area != first) {
        if to_box(area) < best.0 {
            let other = foot(area);
            if other.0 < best.0 {
                best = other;
            }
        }
    }
    Some(best.1)
}

/// Number of directions from a pole in which a smaller distance is searched. A larger value is slower; with a
/// smaller one, Newton's method starts farther from the minimum.
const POLE_DIRECTIONS: usize = 9;
/// Largest ratio of the lengths of a side and of the lines across it for which the side counts as a single
/// point. With a larger value, short sides are searched in vain; a smaller one misses poles that have
/// rounding errors.
const POLE_RATIO: f64 = 1e-9;

/// Parameters in `rect` of the smallest distance from `p`. Areas are so flat that a start at the nearest grid
/// point leads to the nearest point, unless Newton's method ends at a pole, where the parameter along the
/// side has no effect.
fn descend(surface: &Surface, rect: &Rect, start: P2, p: &P3) -> P2 {
    let (distance, found) = newton(surface, rect, start, p);
    let beside = start_beside_pole(surface, rect, found, p);
    let other = beside.map(|start| newton(surface, rect, start, p)).filter(|(near, _)| *near < distance);
    other.map_or(found, |(_, uv)| uv)
}

/// Start of a descent from a pole, in the direction in which the distance from `p` decreases fastest.
/// `None` if `uv` is not at a pole or the distance does not decrease from there.
fn start_beside_pole(surface: &Surface, rect: &Rect, uv: P2, p: &P3) -> Option<P2> {
    let (lo, hi) = ([rect.u0, rect.v0], [rect.u1, rect.v1]);
    let size = [rect.width(), rect.height()];
    let on_side = |k: usize| uv[k] <= lo[k] || uv[k] >= hi[k];
    if !on_side(0) && !on_side(1) {
        return None;
    }
    let d = surface.derivs(uv);
    let lengths = [d.du.norm() * size[0], d.dv.norm() * size[1]];
    // Parameter across the side.
    let across = (0..2).find(|&k| on_side(k) && lengths[1 - k] <= POLE_RATIO * lengths[k])?;
    let inwards = if uv[across] <= lo[across] { 1.0 } else { -1.0 };
    let mut best: (f64, Option<P2>) = (0.0, None);
    for i in 0..POLE_DIRECTIONS {
        let mut at = uv;
        at[1 - across] = lo[1 - across] + size[1 - across] * i as f64 / (POLE_DIRECTIONS - 1) as f64;
        let d = surface.derivs(at);
        let line = if across == 0 { d.du } else { d.dv };
        let (speed, slope) = (line.norm(), inwards * (d.p - p).dot(&line) / line.norm());
        if slope < best.0 {
            // In a plane, the nearest point is at this distance from the pole.
            at[across] = (at[across] - inwards * slope / speed).clamp(lo[across], hi[across]);
            best = (slope, Some(at));
        }
    }
    best.1
}

/// Parameters in `rect` of a local minimum of the distance from `p`, and the squared distance, by Newton's
/// method. Where a step leads out of the rectangle, the method continues along the side.
fn newton(surface: &Surface, rect: &Rect, start: P2, p: &P3) -> (f64, P2) {
    let mut uv = start;
    let mut best = (f64::INFINITY, start);
    for _ in 0..24 {
        let d = surface.derivs(uv);
        let off = d.p - p;
        let sq = off.norm_squared();
        if sq < best.0 {
            best = (sq, uv);
        } else if sq > best.0 * (1.0 + 1e-12) {
            // The step was too long: it is halved.
            let half = P2::from((uv.coords + best.1.coords) * 0.5);
            if (half - uv).norm() <= 1e-15 * (1.0 + uv.coords.norm()) {
                break;
            }
            uv = half;
            continue;
        }
        let (gu, gv) = (off.dot(&d.du), off.dot(&d.dv));
        // A parameter at a side is not changed if its step leads out of the rectangle.
        let is_blocked = |g: f64, x: f64, lo: f64, hi: f64| (x <= lo && g > 0.0) || (x >= hi && g < 0.0);
        let (fixed_u, fixed_v) =
            (is_blocked(gu, uv.x, rect.u0, rect.u1), is_blocked(gv, uv.y, rect.v0, rect.v1));
        let (a, b, c) = (d.du.norm_squared(), d.du.dot(&d.dv), d.dv.norm_squared());
        // Second derivative along geodesics: the part of `off` in the tangent plane, which is zero at a
        // minimum, would add that of the parameters, which is large near a pole.
        let n = d.du.cross(&d.dv);
        let along = n.dot(&off) / n.norm_squared();
        let off = if along.is_finite() { n * along } else { off };
        let (fa, fb, fc) = (a + off.dot(&d.duu), b + off.dot(&d.duv), c + off.dot(&d.dvv));
        // It is used if it is convex, otherwise that of the distance from the tangent plane.
        let (a, b, c) = if fa > 0.0 && fa * fc > fb * fb { (fa, fb, fc) } else { (a, b, c) };
        let (su, sv) = match (fixed_u, fixed_v) {
            (true, true) => break,
            (true, false) => (0.0, -gv / c),
            (false, true) => (-gu / a, 0.0),
            (false, false) => {
                let det = a * c - b * b;
                ((b * gv - c * gu) / det, (b * gu - a * gv) / det)
            }
        };
        if !su.is_finite() || !sv.is_finite() {
            break;
        }
        let next = P2::new((uv.x + su).clamp(rect.u0, rect.u1), (uv.y + sv).clamp(rect.v0, rect.v1));
        let small = |x: f64, y: f64, w: f64| (x - y).abs() <= 1e-14 * w;
        if small(next.x, uv.x, rect.width()) && small(next.y, uv.y, rect.height()) {
            break;
        }
        uv = next;
    }
    best
}

/// Tips of a surface: the apex of a cone, or the points in which a spindle or horn torus intersects its
/// axis.
pub(crate) fn tips(surface: &Surface) -> ArrayVec<P3, 2> {
    match *surface {
        Surface::Cone { frame, .. } => [frame.origin].into_iter().collect(),
        Surface::Torus { frame, major, minor } if !has_hole(major, minor) => {
            let h = (minor * minor - major * major).max(0.0).sqrt();
            [frame.point(0.0, 0.0, h), frame.point(0.0, 0.0, -h)].into_iter().collect()
        }
        _ => ArrayVec::new(),
    }
}

/// Point of an arc nearest to `p`, by a secant method between the neighbours of the nearest sample.
pub(crate) fn nearest_on_arc(body: &Body, arc: &EdgeArc, p: &P3) -> P3 {
    let sq = |i: usize| (arc.samples[i] - p).norm_squared();
    let k = (0..SAMPLES).min_by(|i, j| sq(*i).total_cmp(&sq(*j))).unwrap_or(0);
    let step = 1.0 / (SAMPLES - 1) as f64;
    let parameter = |i: usize| i as f64 * step;
    let (mut lo, mut hi) = (parameter(k.saturating_sub(1)), parameter((k + 1).min(SAMPLES - 1)));
    let mut s = parameter(k);
    let mut best = (sq(k), arc.samples[k]);
    // Previous parameter and the slope there.
    let mut last: Option<(f64, f64)> = None;
    let mut step = hi - lo;
    for _ in 0..80 {
        let (q, d) = arc.eval(body, s);
        let off = q - p;
        if off.norm_squared() < best.0 {
            best = (off.norm_squared(), q);
        }
        // The sign of the derivative of half the squared distance determines on which side the minimum
        // is.
        let slope = off.dot(&d);
        if slope > 0.0 {
            hi = s;
        } else {
            lo = s;
        }
        // A point near the centre of an arc is almost equidistant from all of it. There, only differences
        // of slopes give the second derivative.
        let bend = last.map_or(d.norm_squared(), |(t, before)| (slope - before) / (s - t));
        let secant = s - slope / bend;
        let is_short = lo < secant && secant < hi && (secant - s).abs() <= 0.5 * step;
        let next = if is_short { secant } else { 0.5 * (lo + hi) };
        step = (next - s).abs();
        if step <= 4.0 * f64::EPSILON || hi - lo <= 4.0 * f64::EPSILON {
            break;
        }
        last = Some((s, slope));
        s = next;
    }
    best.1
}

/// Faces of a solid near a point, with their outward unit normals at their points nearest to it.
pub(crate) type Around = ArrayVec<(FaceId, V3), 12>;

/// Returns the faces within `radius` (mm) of a boundary point `p` (frame of the solid), with their
/// normals there, sorted by index. If more faces are near than [`Around`] has space for, the rest is
/// omitted.
pub(crate) fn faces_around(body: &Body, p: &P3, radius: f64, scratch: &mut NearScratch) -> Around {
    let faces = body.faces();
    let mut out = Around::new();
    let NearScratch { stack } = scratch;
    stack.clear();
    stack.reserve(STACK_CAPACITY);
    stack.extend((!faces.is_empty()).then_some((0.0, NodeId(0))));
    while let Some((_, i)) = stack.pop() {
        let node = &faces[i.index()];
        if node.obb.distance_to(p) > radius {
            continue;
        }
        if let Some([left, right]) = node.children() {
            stack.extend([(0.0, right), (0.0, left)]);
        } else if let Some(area) = node.area() {
            let Feature::Face(f) = body.area(area).feature else { continue };
            if out.iter().any(|(g, _)| *g == f) || out.is_full() {
                continue;
            }
            if let Some(uv) = place_near(body, f, area, p, radius) {
                out.push((f, outward_normal(body.face(f), uv)));
            }
        }
    }
    out.sort_unstable_by_key(|(f, _)| *f);
    out
}

/// Shortest vector whose product with the normal of each of the two or three faces is 1; a step in the
/// opposite direction leads into the material of an edge or a corner. Of more than three faces, the
/// first three count. `None` for a single face, and if the vector would be longer than 20.
pub(crate) fn outward_of_all(faces: &Around) -> Option<V3> {
    let normals: ArrayVec<V3, 3> = faces.iter().map(|(_, n)| *n).take(3).collect();
    match normals.as_slice() {
        [a, b] => Some((a + b) / (1.0 + a.dot(b))),
        [a, b, c] => {
            let rows = Matrix3::from_rows(&[a.transpose(), b.transpose(), c.transpose()]);
            Some(rows.try_inverse()? * V3::new(1.0, 1.0, 1.0))
        }
        _ => None,
    }
    .filter(|v| v.norm() < 20.0)
}

/// Parameters of the point nearest to `p` on an area of a face. `None` if that point is farther than
/// `radius` (mm) from `p`, or outside the trims by more than `radius`.
pub(crate) fn place_near(body: &Body, f: FaceId, area: AreaId, p: &P3, radius: f64) -> Option<P2> {
    let face = body.face(f);
    let uv = foot_on_area(body, area, &face.surface, p);
    let d = face.surface.derivs(uv);
    if (d.p - p).norm() > radius {
        return None;
    }
    if face.trim.classify(uv) == Side::Inside {
        return Some(uv);
    }
    let metric = [d.du.norm_squared(), d.du.dot(&d.dv), d.dv.norm_squared()];
    face.trim.nearest(uv, metric, radius).map(|_| uv)
}
