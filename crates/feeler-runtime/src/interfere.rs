//! Do the interiors of the two solids meet?
//!
//! If they do, then a shell of one lies inside the other, or an edge of one passes through a face of the other, or two
//! faces cross in a closed curve that meets no edge; two canonical faces then have a critical pair with a negative
//! distance. Each of these gives a suspect: a point of one boundary that may be inside the other solid. Only a ray cast
//! on the exact solid convicts it.
//!
//! # Guarantees
//! `true` is certain: some point of one solid, on its boundary or inside, is inside the other one and off its boundary by more
//! than the tolerance. `false` means that none of the three kinds of suspects was found; edges are followed by samples, at least
//! [`SAMPLES`] a trimming piece with refinement where the signed distance to a face can reach zero between them.
//! Penetrations of less than a few tolerances count as touching.

use crate::Body;
use crate::point_in_solid::contains;
use crate::solve::patch::{GRID, at, grid};
use crate::solve::{Context, Solved, Which};
use crate::trim::outward_normal;
use arrayvec::ArrayVec;
use feeler_geom::obb::{PoseMatrix, separated, separated_in_frame};
use feeler_geom::skeleton::{Primitive, critical_pairs, signed_distance};
use feeler_geom::trim::Side;
use feeler_geom::{Aabb, Obb, P2, P3, Rect, V3};
use feeler_hierarchy::Feature;

/// Samples along a trimming piece.
const SAMPLES: u32 = 8;
/// Points of one free-form area that are tried.
const MAX_TRIALS: usize = 4;
/// Depth (in tolerances) of a point behind a crossing that is tried.
const DEPTHS: [f64; 2] = [8.0, 200.0];

/// A point of one solid that may be inside the other one, frame of A.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Suspect {
    /// Whose inside is in doubt.
    pub inside: Which,
    pub p: P3,
}

/// Whether the interiors meet.
pub(crate) fn interiors_meet(ctx: &Context<'_>, solved: &Solved) -> bool {
    let (box_a, box_b) = (ctx.a.bounds(), ctx.b.bounds());
    if box_a.is_empty() || box_b.is_empty() {
        return false;
    }
    let placed = Obb::from_aabb(box_b).transformed(&ctx.pose_ab);
    if separated_in_frame(&Obb::from_aabb(box_a), &placed, 0.0, u8::MAX).is_some() {
        return false;
    }
    let convicted = |s: &Suspect| {
        let p = if s.inside == Which::A { s.p } else { ctx.pose_ba * s.p };
        contains(ctx.body(s.inside), &p, ctx.tol.tol) == Some(true)
    };
    solved.suspects.iter().any(convicted)
        || shells(ctx).any(|s| convicted(&s))
        || edges_through_faces(ctx, Which::A, &convicted)
        || edges_through_faces(ctx, Which::B, &convicted)
        || closed_crossings(ctx, &convicted)
}

/// A point of every shell, and one behind it: two solids in one place have no boundary point inside.
fn shells<'a>(ctx: &'a Context<'_>) -> impl Iterator<Item = Suspect> + 'a {
    let points = |body: &'a Body| body.shell_points().iter().map(|(p, _)| p).chain(body.interior_points());
    let of_a = points(ctx.a).map(|p| Suspect { inside: Which::B, p: *p });
    let of_b = points(ctx.b).map(|p| Suspect { inside: Which::A, p: ctx.pose_ab * p });
    of_a.chain(of_b)
}

/// Points behind the other face for pairs of faces whose boxes overlap: every crossing curve runs through such boxes.
/// Canonical against canonical by critical pairs with negative distance, else by a grid over the free-form area.
fn closed_crossings(ctx: &Context<'_>, convicted: &dyn Fn(&Suspect) -> bool) -> bool {
    let mut overlaps = overlapping_faces(ctx);
    overlaps.sort_unstable_by_key(|&(i, j)| (ctx.a.area_key(i), ctx.b.area_key(j)));
    let feature_pair = |&(i, j): &(u32, u32)| (ctx.a.area(i).feature, ctx.b.area(j).feature);
    overlaps.chunk_by(|p, q| feature_pair(p) == feature_pair(q)).any(|group| {
        let (fa, fb) = feature_pair(&group[0]);
        match (ctx.a.data(fa).primitive, ctx.primitive(Which::B, fb)) {
            (Some(a), Some(b)) => canonical_crossing(ctx, (fa, &a), (fb, &b), convicted),
            (Some(a), None) => {
                let a = a.transformed(&ctx.pose_ba);
                group.iter().any(|p| grid_behind(ctx, Which::B, p.1, (fa, &a), convicted))
            }
            (None, Some(b)) => group.iter().any(|p| grid_behind(ctx, Which::A, p.0, (fb, &b), convicted)),
            (None, None) => group.iter().any(|p| grids_behind(ctx, *p, convicted)),
        }
    })
}

/// Pairs of face areas with overlapping boxes.
fn overlapping_faces(ctx: &Context<'_>) -> Vec<(u32, u32)> {
    let (a, b) = (ctx.a, ctx.b);
    let pose = PoseMatrix::from(&ctx.pose_ab);
    let mut out = Vec::new();
    if a.hierarchy().nodes.is_empty() || b.hierarchy().nodes.is_empty() {
        return out;
    }
    let is_face = |body: &Body, area: u32| matches!(body.area(area).feature, Feature::Face(_));
    let mut stack = vec![(0, 0)];
    while let Some((i, j)) = stack.pop() {
        let (node_a, node_b) = (a.node(i), b.node(j));
        if separated(&node_a.obb, &node_b.obb, &pose, 0.0, u8::MAX).is_some() {
            continue;
        }
        match (node_a.children(), node_b.children()) {
            (None, None) => {
                if let (Some(p), Some(q)) = (node_a.area(), node_b.area())
                    && is_face(a, p)
                    && is_face(b, q)
                {
                    out.push((p, q));
                }
            }
            (Some([l, r]), other) if other.is_none() || node_a.obb.radius() > node_b.obb.radius() => {
                stack.extend([(r, j), (l, j)]);
            }
            (_, Some([l, r])) => stack.extend([(i, r), (i, l)]),
            (Some(_), None) => {}
        }
    }
    out
}

fn canonical_crossing(
    ctx: &Context<'_>,
    (fa, a): (Feature, &Primitive),
    (fb, b): (Feature, &Primitive),
    convicted: &dyn Fn(&Suspect) -> bool,
) -> bool {
    let extent = ctx.extent(fa, fb);
    // Shrunk, B is that much farther away: negative distances become positive ones.
    let depth = 0.5 * extent;
    let found = critical_pairs(a, &shrunk(b, depth), depth - 2.0 * ctx.tol.tol, ctx.tol.tol, extent);
    found.isolated.iter().any(|c| {
        let p_b = c.p_b - c.n * depth;
        on_boundary(ctx, (Which::A, fa), &c.p_a) && convicted(&Suspect { inside: Which::B, p: c.p_a })
            || on_boundary(ctx, (Which::B, fb), &p_b) && convicted(&Suspect { inside: Which::A, p: p_b })
    })
}

/// Points of a free-form area behind a canonical face (in the free side's frame).
fn grid_behind(
    ctx: &Context<'_>,
    free: Which,
    area: u32,
    (other, primitive): (Feature, &Primitive),
    convicted: &dyn Fn(&Suspect) -> bool,
) -> bool {
    let data = ctx.body(free).area(area);
    let (Feature::Face(f), Feature::Face(g)) = (data.feature, other) else { return false };
    let face = ctx.body(free).face(f);
    let (inside, own) = match free {
        Which::A => (Which::B, None),
        Which::B => (Which::A, Some(&ctx.pose_ab)),
    };
    let facing = ctx.body(inside).face(g);
    let mut tried = 0;
    for k in 0..GRID * GRID {
        let uv = at(&data.rect, grid(k / GRID), grid(k % GRID));
        let p = face.surface.point(uv);
        let Some(d) = signed_distance(primitive, &p).filter(|d| d.value < -2.0 * ctx.tol.tol) else {
            continue;
        };
        let foot = facing.surface.invert(&(ctx.pose_to_other(free) * d.foot), None, None);
        if tried < MAX_TRIALS
            && facing.trim.classify(foot) == Side::Inside
            && face.trim.classify(uv) == Side::Inside
        {
            tried += 1;
            if convicted(&Suspect { inside, p: own.map_or(p, |m| m * p) }) {
                return true;
            }
        }
    }
    false
}

/// Points of each of two free-form areas behind the tangent plane of the other one's nearest grid point.
fn grids_behind(ctx: &Context<'_>, (i, j): (u32, u32), convicted: &dyn Fn(&Suspect) -> bool) -> bool {
    let points = |which: Which, area: u32| -> ArrayVec<(P3, V3, bool), { GRID * GRID }> {
        let body = ctx.body(which);
        let data = body.area(area);
        let Feature::Face(f) = data.feature else { return ArrayVec::new() };
        let face = body.face(f);
        let place = |uv: P2| {
            (face.surface.point(uv), outward_normal(face, uv), face.trim.classify(uv) == Side::Inside)
        };
        (0..GRID * GRID)
            .map(|k| place(at(&data.rect, grid(k / GRID), grid(k % GRID))))
            .map(
                |(p, n, t)| if which == Which::A { (p, n, t) } else { (ctx.pose_ab * p, ctx.pose_ab * n, t) },
            )
            .collect()
    };
    let (on_a, on_b) = (points(Which::A, i), points(Which::B, j));
    let behind = |own: &[(P3, V3, bool)], other: &[(P3, V3, bool)], inside: Which| {
        let deepest = own.iter().filter(|o| o.2).filter_map(|(p, ..)| {
            let near = other.iter().min_by(|x, y| (x.0 - p).norm().total_cmp(&(y.0 - p).norm()))?;
            Some(((p - near.0).dot(&near.1), p)).filter(|_| near.2)
        });
        let deepest = deepest.min_by(|x, y| x.0.total_cmp(&y.0));
        deepest.is_some_and(|(d, p)| d < -2.0 * ctx.tol.tol && convicted(&Suspect { inside, p: *p }))
    };
    behind(&on_a, &on_b, Which::B) || behind(&on_b, &on_a, Which::A)
}

/// The primitive with its surface moved into the material.
fn shrunk(p: &Primitive, by: f64) -> Primitive {
    match *p {
        Primitive::Plane { origin, normal } => Primitive::Plane { origin: origin - normal * by, normal },
        Primitive::Point { center, sigma } => Primitive::Point { center, sigma: sigma - by },
        Primitive::Line { origin, dir, sigma, slope } => {
            Primitive::Line { origin, dir, sigma: sigma - by, slope }
        }
        Primitive::Circle { frame, radius, sigma } => Primitive::Circle { frame, radius, sigma: sigma - by },
    }
}

/// Whether a point (frame of A) is in the trimmed domain of a face.
fn on_boundary(ctx: &Context<'_>, (which, feature): (Which, Feature), p: &P3) -> bool {
    let Feature::Face(f) = feature else { return false };
    let p = if which == Which::A { *p } else { ctx.pose_ba * p };
    let face = ctx.body(which).face(f);
    let uv = face.surface.invert(&p, None, None);
    (face.surface.point(uv) - p).norm() <= ctx.tol.tol && face.trim.classify(uv) == Side::Inside
}

/// Whether a trim of one solid passes through a face of the other one into its inside.
fn edges_through_faces(ctx: &Context<'_>, own: Which, convicted: &dyn Fn(&Suspect) -> bool) -> bool {
    let other = match own {
        Which::A => Which::B,
        Which::B => Which::A,
    };
    let body = ctx.body(other);
    let into = ctx.pose_to_other(own);
    let mut stack = Vec::new();
    let mut faces = Vec::new();
    let mut areas = Vec::new();
    for face in &ctx.body(own).hierarchy().faces {
        for piece in face.trim.pieces.iter().filter(|p| p.edge != u32::MAX) {
            // Each edge is walked on both of its faces; they may differ by its deviation, so both count.
            let point = |s: f64| into * face.surface.point(piece.eval(s));
            let track = Track::new(&point);
            collect(body, &track.bounds, &mut stack, &mut faces, &mut areas);
            let back = |p: P3| if other == Which::A { p } else { ctx.pose_ab * p };
            let mut hit = |p: P3| convicted(&Suspect { inside: other, p: back(p) });
            let through = faces.iter().any(|&f| crosses_face(ctx, body, f, &track, &mut hit))
                || areas.iter().any(|&a| crosses_area(ctx, body, a, &track, &mut hit));
            if through {
                return true;
            }
        }
    }
    false
}

/// A trimming piece in the frame of the other solid.
struct Track<'a> {
    point: &'a dyn Fn(f64) -> P3,
    samples: Vec<(f64, P3)>,
    bounds: Aabb,
}

impl<'a> Track<'a> {
    fn new(point: &'a dyn Fn(f64) -> P3) -> Self {
        let samples: Vec<(f64, P3)> = (0..=SAMPLES)
            .map(|i| {
                let s = f64::from(i) / f64::from(SAMPLES);
                (s, point(s))
            })
            .collect();
        let longest = samples.windows(2).map(|w| (w[1].1 - w[0].1).norm()).fold(0.0, f64::max);
        // Between samples the curve strays less than half a chord.
        let bounds = Aabb::of_points(samples.iter().map(|(_, p)| p)).inflated(0.5 * longest);
        Self { point, samples, bounds }
    }
}

/// Canonical faces and Bézier areas whose boxes meet a box.
fn collect(body: &Body, bounds: &Aabb, stack: &mut Vec<u32>, faces: &mut Vec<u32>, areas: &mut Vec<u32>) {
    faces.clear();
    areas.clear();
    stack.clear();
    if body.hierarchy().nodes.is_empty() {
        return;
    }
    let own = Obb::from_aabb(bounds);
    stack.push(0);
    while let Some(i) = stack.pop() {
        let node = body.node(i);
        if separated_in_frame(&own, &node.obb, 0.0, u8::MAX).is_some() {
            continue;
        }
        if let Some(children) = node.children() {
            stack.extend(children);
        } else if let Some(area) = node.area()
            && let Feature::Face(f) = body.area(area).feature
        {
            if body.data(Feature::Face(f)).primitive.is_some() {
                faces.push(f);
            } else {
                areas.push(area);
            }
        }
    }
    faces.sort_unstable();
    faces.dedup();
    areas.sort_unstable();
    areas.dedup();
}

/// Where the signed distance to a canonical face changes sign inside its trims, points a little behind are tried.
fn crosses_face(
    ctx: &Context<'_>,
    body: &Body,
    f: u32,
    track: &Track<'_>,
    convicted: &mut dyn FnMut(P3) -> bool,
) -> bool {
    let Some(primitive) = body.data(Feature::Face(f)).primitive else { return false };
    let face = body.face(f);
    let value = |p: &P3| signed_distance(&primitive, p).map_or(0.0, |d| d.value);
    let tol = ctx.tol.tol;
    let mut nodes: Vec<(f64, P3, f64)> = track.samples.iter().map(|&(s, p)| (s, p, value(&p))).collect();
    // A dip between two samples: the distance changes by no more than the way.
    let mut i = 0;
    while i + 1 < nodes.len() && nodes.len() < 64 {
        let ((s, p, v), (t, q, w)) = (nodes[i], nodes[i + 1]);
        let way = (q - p).norm();
        let may_dip = v.min(w) > -tol && v + w < 1.5 * way && way > 4.0 * tol && t - s > 1e-3;
        if may_dip && v.max(w) > -tol && !(v < 0.0 && w < 0.0) {
            let m = 0.5 * (s + t);
            let r = (track.point)(m);
            nodes.insert(i + 1, (m, r, value(&r)));
        } else {
            i += 1;
        }
    }
    for w in nodes.windows(2) {
        let ((s, _, v), (t, _, x)) = (w[0], w[1]);
        if (v < -tol) == (x < -tol) {
            continue;
        }
        // From the outer side to a given depth behind the face.
        let (outer, inner, deepest) = if v < x { (t, s, v) } else { (s, t, x) };
        for depth in DEPTHS.map(|d| (d * tol).min(0.9 * -deepest)) {
            let (mut lo, mut hi) = (outer, inner);
            for _ in 0..60 {
                let m = 0.5 * (lo + hi);
                if value(&(track.point)(m)) > -depth {
                    lo = m;
                } else {
                    hi = m;
                }
            }
            let p = (track.point)(hi);
            let uv = face.surface.invert(&p, None, None);
            if face.trim.classify(uv) == Side::Inside && convicted(p) {
                return true;
            }
        }
    }
    false
}

/// Newton for the point where the track meets a Bézier area; points a little behind are tried.
fn crosses_area(
    ctx: &Context<'_>,
    body: &Body,
    area: u32,
    track: &Track<'_>,
    convicted: &mut dyn FnMut(P3) -> bool,
) -> bool {
    let data = body.area(area);
    let Feature::Face(f) = data.feature else { return false };
    let face = body.face(f);
    let rect: &Rect = &data.rect;
    let obb = &body.node(body.leaf_of_area(area)).obb;
    let near = obb.radius();
    for w in track.samples.windows(2) {
        let ((s0, p0), (s1, p1)) = (w[0], w[1]);
        if (nalgebra::center(&p0, &p1) - obb.center).norm() > near + (p1 - p0).norm() {
            continue;
        }
        let Some((s, uv)) = meet(face, rect, track, (s0, s1)) else { continue };
        let n = outward_normal(face, uv);
        let along = (track.point)((s + 1e-4).min(1.0)) - (track.point)((s - 1e-4).max(0.0));
        if face.trim.classify(uv) == Side::Outside {
            continue;
        }
        // The side on which the track is behind the surface.
        let sign = if along.dot(&n) > 0.0 { -1.0 } else { 1.0 };
        for step in [1e-3, 1e-2, 0.05] {
            let q = (s + sign * step).clamp(0.0, 1.0);
            let p = (track.point)(q);
            if (p - face.surface.point(uv)).dot(&n) < -2.0 * ctx.tol.tol && convicted(p) {
                return true;
            }
        }
    }
    false
}

/// The meeting point of the track between two of its parameters with a Bézier area.
fn meet(
    face: &feeler_hierarchy::Face,
    rect: &Rect,
    track: &Track<'_>,
    (s0, s1): (f64, f64),
) -> Option<(f64, P2)> {
    let mut uv = P2::new(0.5 * (rect.u0 + rect.u1), 0.5 * (rect.v0 + rect.v1));
    let (p0, p1) = ((track.point)(s0), (track.point)(s1));
    let (mut s, h) = (0.5 * (s0 + s1), s1 - s0);
    let (wu, wv) = (rect.u1 - rect.u0, rect.v1 - rect.v0);
    let scale = (p1 - p0).norm();
    for _ in 0..12 {
        let d = face.surface.derivs(uv);
        let p = (track.point)(s);
        let r: V3 = d.p - p;
        if r.norm() <= 1e-9 * scale {
            let inside = (s0 - 1e-9..=s1 + 1e-9).contains(&s)
                && (rect.u0..=rect.u1).contains(&uv.x)
                && (rect.v0..=rect.v1).contains(&uv.y);
            return inside.then_some((s, uv));
        }
        // The track's tangent by a central difference: Newton needs no more.
        let e = 1e-4 * h;
        let t = ((track.point)(s + e) - (track.point)(s - e)) / (2.0 * e);
        let step = nalgebra::Matrix3::from_columns(&[d.du, d.dv, -t]).try_inverse()? * r;
        uv.x = (uv.x - step.x).clamp(rect.u0 - 0.1 * wu, rect.u1 + 0.1 * wu);
        uv.y = (uv.y - step.y).clamp(rect.v0 - 0.1 * wv, rect.v1 + 0.1 * wv);
        s = (s - step.z).clamp(s0 - 0.5 * h, s1 + 0.5 * h);
    }
    None
}
