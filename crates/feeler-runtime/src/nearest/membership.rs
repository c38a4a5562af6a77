//! Tests whether a point is inside a solid, by counting the crossings of rays with the boundary.
//!
//! For a ray from the point, the number of crossings that leave the solid minus the number of those that
//! enter it is 1 if the point is inside and 0 if it is outside. Crossings of canonical surfaces have
//! closed forms; those of almost flat Bézier areas are found by Newton's method. A ray is replaced by
//! the next one of a fixed set if a crossing is near a trim, nearly tangential, or near the start of the
//! ray.
//!
//! # Guarantees
//! A ray is usable if it avoids all these cases and its count is 0 or 1. The result is `Some` only if two
//! usable rays agree, or only one ray is usable. It is `None` for points within the tolerance of the
//! boundary, if no ray is usable, and if the only two usable rays disagree.

use crate::body::{Body, outward_normal};
use feeler_geom::surface::line_in_slabs;
use feeler_geom::trim::Side;
use feeler_geom::{Obb, P2, P3, Rect, V3};
use feeler_hierarchy::{AreaId, FaceId, Feature, NodeId};
use nalgebra::{Matrix2, Vector2};

/// Directions (not of unit length) of the rays that test whether a point is inside a solid, tried in
/// this order. They are far from the axes and diagonals of typical solids.
const RAYS: [[f64; 3]; 6] = [
    [0.8013, 0.5361, 0.2651],
    [-0.3347, 0.8971, -0.2883],
    [0.1999, -0.4127, 0.8887],
    [-0.6173, -0.3391, -0.7099],
    [0.4703, -0.7919, -0.3896],
    [-0.5479, 0.1523, 0.8226],
];

/// Sine of the angle between ray and surface below which a crossing counts as a tangency, so that
/// another ray is used. A larger value discards more rays; with a smaller one, crossings are miscounted.
const MAX_TANGENT_SINE: f64 = 1e-4;

/// Initial capacity for pending nodes of a traversal, which exceeds the depth of any balanced tree. A
/// larger value uses more memory; a smaller one allocates more often.
const STACK_CAPACITY: usize = 64;

/// Memory that tests with rays reuse.
#[derive(Clone, Debug, Default)]
pub(crate) struct RayScratch {
    stack: Vec<NodeId>,
    faces: Vec<FaceId>,
}

/// Returns whether `p` (frame of the solid) is inside the solid by more than `tol` (mm); `None` if it is
/// too near the boundary, no ray is usable, or the rays disagree.
pub(crate) fn contains(body: &Body, p: &P3, tol: f64, scratch: &mut RayScratch) -> Option<bool> {
    if !body.bounds().contains(p) {
        return Some(false);
    }
    // Votes for outside and inside. Two rays must agree, or only one is usable, because a ray that misses a
    // crossing is wrong on its own.
    let mut votes = [0_u32; 2];
    for d in RAYS {
        let ray = Ray { origin: *p, dir: V3::from(d).normalize() };
        if let Some(count @ (0 | 1)) = ray.count(body, tol, scratch) {
            votes[usize::from(count == 1)] += 1;
        }
        if votes.contains(&2) {
            break;
        }
    }
    let found = match votes {
        [outside, inside] if outside != inside => Some(inside > outside),
        _ => None,
    };
    // The tested points depend on earlier queries, but allocations must not: memory is reserved for other
    // rays.
    scratch.faces.reserve(scratch.faces.len().max(64));
    scratch.stack.reserve(STACK_CAPACITY);
    found
}

/// Returns a point on each shell, in the interior of a face, with its outward normal.
pub(crate) fn shell_points(body: &Body) -> Vec<(P3, V3)> {
    let h = body.hierarchy();
    // Faces that share an edge belong to the same shell.
    let mut root: Vec<usize> = (0..h.faces.len()).collect();
    let find = |root: &mut Vec<usize>, mut i: usize| {
        while root[i] != i {
            root[i] = root[root[i]];
            i = root[i];
        }
        i
    };
    let mut uses: Vec<(u32, usize)> = Vec::new();
    for (i, face) in h.faces.iter().enumerate() {
        // The largest index marks pieces that do not belong to an edge.
        uses.extend(face.trim.pieces.iter().map(|p| (p.edge, i)).filter(|(e, _)| *e != u32::MAX));
    }
    uses.sort_unstable();
    uses.dedup();
    for pair in uses.windows(2) {
        if pair[0].0 == pair[1].0 {
            let (i, j) = (find(&mut root, pair[0].1), find(&mut root, pair[1].1));
            root[i.max(j)] = i.min(j);
        }
    }
    let mut done = vec![false; h.faces.len()];
    let mut points = Vec::new();
    for (i, face) in h.faces.iter().enumerate() {
        let shell = find(&mut root, i);
        if done[shell] {
            continue;
        }
        let data = body.data(Feature::Face(FaceId::new(i)));
        let areas = body.areas_of(data);
        if let Some(uv) = areas.iter().find_map(|&a| face.trim.sample_inside(&body.area(a).rect)) {
            done[shell] = true;
            points.push((face.surface.point(uv), outward_normal(face, uv)));
        }
    }
    points
}

struct Ray {
    origin: P3,
    dir: V3,
}

impl Ray {
    /// Number of crossings at which the ray leaves the solid minus the number of those at which it enters
    /// it; `None` if a crossing is uncertain.
    fn count(&self, body: &Body, tol: f64, RayScratch { stack, faces }: &mut RayScratch) -> Option<i32> {
        let mut sum = 0;
        faces.clear();
        stack.clear();
        stack.extend((!body.faces().is_empty()).then_some(NodeId(0)));
        while let Some(i) = stack.pop() {
            let node = &body.faces()[i.index()];
            if !self.intersects(&node.obb, tol + body.deviation()) {
                continue;
            }
            if let Some(children) = node.children() {
                stack.extend(children);
                continue;
            }
            let Some(area) = node.area() else { continue };
            if let Feature::Face(f) = body.area(area).feature {
                if body.face(f).surface.is_canonical() {
                    faces.push(f);
                } else {
                    sum += self.cross_area(body, f, area, tol)?;
                }
            }
        }
        faces.sort_unstable();
        faces.dedup();
        for &f in faces.iter() {
            sum += self.cross_face(body, f, tol)?;
        }
        Some(sum)
    }

    /// Whether the ray intersects a box enlarged by `slack` (mm), by a slab test.
    fn intersects(&self, obb: &Obb, slack: f64) -> bool {
        let d = obb.center - self.origin;
        let slab = |k: usize| (obb.axes[k].dot(&d), obb.axes[k].dot(&self.dir), obb.half[k] + slack);
        line_in_slabs([slab(0), slab(1), slab(2)]).is_some_and(|(_, end)| end >= 0.0)
    }

    fn cross_face(&self, body: &Body, f: FaceId, tol: f64) -> Option<i32> {
        let face = body.face(f);
        let mut sum = 0;
        for t in face.surface.line_parameters(&self.origin, &self.dir, MAX_TANGENT_SINE)? {
            // This crossing is certainly behind the start.
            if t * MAX_TANGENT_SINE < -tol {
                continue;
            }
            let p = self.origin + self.dir * t;
            let uv = face.surface.invert(&p, None, Some(&face.trim.rect));
            let off = (face.surface.point(uv) - p).norm();
            if off > 1e3 * tol {
                // On the other nappe or sheet.
                continue;
            }
            if off > tol {
                // On the other nappe near the apex, or an inaccurate root.
                return None;
            }
            sum += self.crossing(body, f, uv, t, tol)?;
        }
        Some(sum)
    }

    /// Contribution to the count of the crossing at parameter `t` (mm) of the ray: +1 if the ray leaves
    /// the solid, −1 if it enters, and 0 if the crossing is outside the trims or behind the start.
    /// `None` if it is uncertain.
    fn crossing(&self, body: &Body, f: FaceId, uv: P2, t: f64, tol: f64) -> Option<i32> {
        let face = body.face(f);
        let d = face.surface.derivs(uv);
        let metric = [d.du.norm_squared(), d.du.dot(&d.dv), d.dv.norm_squared()];
        let margin = body.data(Feature::Face(f)).deviation + 10.0 * tol;
        let near_trim = face.trim.nearest(uv, metric, margin).is_some();
        let inside = face.trim.classify(uv) == Side::Inside;
        if !inside && !near_trim {
            return Some(0);
        }
        let sine = outward_normal(face, uv).dot(&self.dir);
        // The start of the ray is on the boundary.
        if t.abs() * sine.abs().max(MAX_TANGENT_SINE) <= tol {
            return None;
        }
        if t < 0.0 {
            return Some(0);
        }
        if near_trim || sine.abs() < MAX_TANGENT_SINE {
            return None;
        }
        Some(if sine > 0.0 { 1 } else { -1 })
    }

    /// Contribution to the count of the ray's crossing of an almost flat Bézier area: +1, −1 or 0. `None`
    /// if the ray may graze the area.
    fn cross_area(&self, body: &Body, f: FaceId, area: AreaId, tol: f64) -> Option<i32> {
        let rect = &body.area(area).rect;
        let cap = &body.tree()[body.leaf_of_area(area).index()].cap;
        let surface = &body.face(f).surface;
        // The ray is not parallel to any tangent plane: its sine to the cone's axis exceeds that of the
        // half-angle.
        if cap.cos <= 0.0 || cap.axis.dot(&self.dir).abs() < cap.sin + 1e-3 {
            return None;
        }
        // Seen along the ray, the area is a graph, so that there is at most one crossing.
        let (e, g) = feeler_geom::frame::complete_basis(&self.dir);
        let across = |p: &P3| Vector2::new(e.dot(&(p - self.origin)), g.dot(&(p - self.origin)));
        let (wu, wv) = (rect.u1 - rect.u0, rect.v1 - rect.v0);
        // Parameters of the crossing from a start, and the distance (mm) of the ray from the surface there.
        let newton = |mut uv: P2| {
            let mut off = f64::INFINITY;
            for _ in 0..30 {
                let d = surface.derivs(uv);
                let r = across(&d.p);
                off = r.norm();
                let j = Matrix2::new(e.dot(&d.du), e.dot(&d.dv), g.dot(&d.du), g.dot(&d.dv));
                let Some(inverse) = j.try_inverse() else { return (uv, f64::INFINITY) };
                let step = inverse * r;
                // Crossings far outside the area do not exist, but Newton's method may return from slightly
                // outside.
                let next = P2::new(
                    (uv.x - step.x).clamp(rect.u0 - 0.2 * wu, rect.u1 + 0.2 * wu),
                    (uv.y - step.y).clamp(rect.v0 - 0.2 * wv, rect.v1 + 0.2 * wv),
                );
                let moved = (d.du * (next.x - uv.x) + d.dv * (next.y - uv.y)).norm();
                uv = next;
                if moved <= 1e-3 * tol {
                    break;
                }
            }
            (uv, off)
        };
        let (mut uv, mut off) = newton(P2::new(rect.u0 + 0.5 * wu, rect.v0 + 0.5 * wv));
        if off > tol {
            // Beside a pole, Newton's method may be stuck at a border although a crossing exists.
            let grid = body.grid_of(area);
            let around =
                winds_around_origin(grid.border().map(|k| across(&grid.points()[k])), grid.bend + tol);
            if around == Some(false) {
                return Some(0);
            }
            let from = |k: usize| {
                let [x, y] = grid.params(k);
                newton(P2::new(rect.u0 + x * wu, rect.v0 + y * wv))
            };
            match (0..grid.len()).map(from).find(|(_, off)| *off <= tol) {
                Some(crossing) => (uv, off) = crossing,
                // Near the border, the ray has no crossing if no start leads to it.
                None => return around.is_none().then_some(0),
            }
        }
        debug_assert!(off <= tol, "the ray intersects the surface, inside the area or beside it");
        let (x, y) = ((uv.x - rect.u0) / wu, (uv.y - rect.v0) / wv);
        let (x, y) = (x.min(1.0 - x), y.min(1.0 - y));
        if x.min(y) < -1e-9 {
            return Some(0);
        }
        // On the border between two areas, both or neither could count the crossing.
        if x.min(y) < 1e-9 && !on_border(&body.face(f).trim.rect, uv) {
            return None;
        }
        let t = (surface.point(uv) - self.origin).dot(&self.dir);
        self.crossing(body, f, uv, t, tol)
    }
}

/// Whether a closed polygon winds around the origin; `None` if its distance from the origin is at most
/// `margin`.
fn winds_around_origin(mut points: impl Iterator<Item = Vector2<f64>>, margin: f64) -> Option<bool> {
    let first = points.next()?;
    let (mut last, mut winding) = (first, 0);
    for next in points.chain([first]) {
        let side = next - last;
        let along = (-last.dot(&side) / side.norm_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        if (last + side * along).norm() <= margin {
            return None;
        }
        // Only crossings of the positive x axis count: upwards +1, downwards −1.
        if (last.y < 0.0) != (next.y < 0.0) && last.perp(&next) * (next.y - last.y).signum() > 0.0 {
            winding += if next.y > last.y { 1 } else { -1 };
        }
        last = next;
    }
    Some(winding != 0)
}

/// Whether the parameters `uv` are on the border of `rect`, the parameter rectangle of the whole face,
/// beyond which there is no adjacent area.
fn on_border(rect: &Rect, uv: P2) -> bool {
    let near = |a: f64, b: f64, w: f64| (a - b).abs() <= 1e-9 * w;
    let (wu, wv) = (rect.u1 - rect.u0, rect.v1 - rect.v0);
    near(uv.x, rect.u0, wu) || near(uv.x, rect.u1, wu) || near(uv.y, rect.v0, wv) || near(uv.y, rect.v1, wv)
}
