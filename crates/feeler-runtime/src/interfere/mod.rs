//! Do the interiors of the two solids meet?
//!
//! If they do, then a shell or a tip of one lies inside the other, or an edge of one passes through a face of the other, or two
//! faces cross in a closed curve that meets no edge; two canonical faces then have a critical pair with a negative
//! distance. Each of these gives a suspect: a point of one boundary that may be inside the other solid. Only a ray cast
//! on the exact solid convicts it. Pairs of faces whose boxes overlap though they plainly do not meet, as those of a plug in
//! a bore, are left out first, by closed bounds of their distance ([`mod@apart`]).
//!
//! # Guarantees
//! `true` is certain: some point of one solid, on its boundary or inside, is inside the other one and off its boundary by more
//! than the tolerance. `false` means that no suspect of these kinds was found; edges are followed by
//! samples, [`probes::SAMPLES`] or more a trimming piece with refinement about each smallest one, free-form areas by probes.
//! Penetrations of less than a few tolerances count as touching.

pub(crate) mod apart;
mod coaxial;
pub(crate) mod face_tree;
pub(crate) mod probes;
pub(crate) mod ring;

use crate::Body;
use crate::front::motion::{Motion, Travelled};
use crate::front::pair_tree::{PairTree, Pairs, Verdict, opened};
use crate::point_in_solid::{RayScratch, contains};
use crate::samples::{Grid, GridFoot};
use crate::solve::{Context, Which};
use crate::tree::{PairTable, PlacedRounds, PlacedTree};
use crate::trim::outward_normal;
use apart::{Round, apart};
use face_tree::FaceNode;
use feeler_geom::obb::{PoseMatrix, gap_in_frame, separated_in_frame};
use feeler_geom::skeleton::{Primitive, critical_pairs_between, range_over_box, signed_distance};
use feeler_geom::trim::Side;
use feeler_geom::{Obb, P2, P3, Pose, V3};
use feeler_hierarchy::Feature;
use probes::{PROBES, Probe, SAMPLES, STEPS, Track};
use std::cell::RefCell;

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

/// Reused memory.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    overlaps: Overlaps,
    meetings: Vec<u64>,
    rays: RefCell<RayScratch>,
}

/// What the search for pairs of areas that may meet uses and finds.
#[derive(Debug, Default)]
struct Overlaps {
    pairs: Vec<(u32, u32)>,
    placed: PlacedTree<FaceNode>,
    rounds: PlacedRounds,
    apart: PairTable<f64>,
    tree: PairTree<()>,
    /// The tolerance that the tree was made with.
    valid_for: Option<f64>,
}

impl Scratch {
    /// Forgets earlier queries.
    pub(crate) fn clear(&mut self) {
        self.overlaps.tree.clear();
    }
}

/// Whether a suspect is inside for certain.
pub(crate) fn is_inside(ctx: &Context<'_>, suspect: &Suspect, scratch: &Scratch) -> bool {
    convicts(ctx, suspect, &scratch.rays)
}

fn convicts(ctx: &Context<'_>, suspect: &Suspect, rays: &RefCell<RayScratch>) -> bool {
    let p = if suspect.inside == Which::A { suspect.p } else { ctx.pose_ba * suspect.p };
    contains(ctx.body(suspect.inside), &p, ctx.tol.tol, &mut rays.borrow_mut()) == Some(true)
}

/// Whether a shell of one solid is inside the other one or the boundaries cross. With the suspects that the
/// solves met, this decides whether the interiors meet. `moved` is how far B has moved in all.
pub(crate) fn boundaries_cross(ctx: &Context<'_>, moved: &Travelled, scratch: &mut Scratch) -> bool {
    let (box_a, box_b) = (ctx.a.bounds(), ctx.b.bounds());
    if box_a.is_empty() || box_b.is_empty() {
        return false;
    }
    let placed = Obb::from_aabb(box_b).transformed(&ctx.pose_ab);
    if separated_in_frame(&Obb::from_aabb(box_a), &placed, 0.0, u8::MAX).is_some() {
        return false;
    }
    let Scratch { overlaps, meetings, rays } = scratch;
    let convicted = |s: &Suspect| convicts(ctx, s, rays);
    if shells(ctx).any(|s| convicted(&s)) {
        return true;
    }
    // Every crossing of the boundaries runs through overlapping boxes.
    overlapping_faces(ctx, moved, overlaps);
    let Overlaps { pairs: overlaps, apart, .. } = overlaps;
    if overlaps.is_empty() {
        return false;
    }
    overlaps.sort_unstable_by_key(|&(i, j)| (ctx.a.area_key(i), ctx.b.area_key(j)));
    edges_through_faces(ctx, Which::A, (overlaps, apart), meetings, &convicted)
        || edges_through_faces(ctx, Which::B, (overlaps, apart), meetings, &convicted)
        || closed_crossings(ctx, overlaps, &convicted)
}

/// A point of every shell, unless the solid reaches out of the other one's box, one behind it (two solids in one place have
/// no boundary point inside), and all tips.
fn shells<'a>(ctx: &'a Context<'_>) -> impl Iterator<Item = Suspect> + 'a {
    [Which::A, Which::B].into_iter().flat_map(move |own| {
        let (body, other) = (ctx.body(own), ctx.body(own.other()));
        let bounds = other.bounds().inflated(ctx.tol.tol);
        let reaches_out = body.far_points().iter().any(|p| !bounds.contains(&(ctx.pose_to_other(own) * p)));
        let on_boundary = body.shell_points().iter().map(|(p, _)| p).filter(move |_| !reaches_out);
        let points = on_boundary.chain(body.interior_points()).chain(body.tips());
        points.map(move |p| Suspect { inside: own.other(), p: ctx.in_a(own, p) })
    })
}

/// Points behind the other face for pairs of faces whose boxes overlap. Canonical against canonical by critical pairs
/// with negative distance, else by the probes of the free-form area.
fn closed_crossings(
    ctx: &Context<'_>,
    overlaps: &[(u32, u32)],
    convicted: &dyn Fn(&Suspect) -> bool,
) -> bool {
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

/// Pairs of face areas that may meet, into the scratch memory: their boxes overlap, the surface of neither passes by the
/// box of the other one, and the faces are not plainly apart.
fn overlapping_faces(ctx: &Context<'_>, moved: &Travelled, scratch: &mut Overlaps) {
    scratch.pairs.clear();
    if ctx.a.faces().is_empty() || ctx.b.faces().is_empty() {
        return;
    }
    scratch.placed.restart(ctx.b.faces());
    scratch.rounds.restart(ctx.b);
    scratch.apart.restart();
    if scratch.valid_for != Some(ctx.tol.tol) {
        scratch.tree.clear();
        scratch.valid_for = Some(ctx.tol.tol);
    }
    let Overlaps { tree, pairs, placed, rounds, apart, .. } = scratch;
    let pose = PoseMatrix::from(&ctx.pose_ab);
    tree.walk(moved, &mut Meetings { ctx, pose, pairs, placed, rounds, apart });
}

/// One query's walk down the faces of both solids.
struct Meetings<'a> {
    ctx: &'a Context<'a>,
    pose: PoseMatrix,
    pairs: &'a mut Vec<(u32, u32)>,
    placed: &'a mut PlacedTree<FaceNode>,
    rounds: &'a mut PlacedRounds,
    apart: &'a mut PairTable<f64>,
}

/// By how much (mm) two faces as wholes are plainly apart: see [`apart()`].
fn spare(ctx: &Context<'_>, known: &mut PairTable<f64>, pair: (u32, u32)) -> f64 {
    known.get(pair).unwrap_or_else(|| {
        let sides = Round::of(ctx, Which::A, pair.0).zip(Round::of(ctx, Which::B, pair.1));
        let spare = sides.map_or(f64::NEG_INFINITY, |(a, b)| apart(&a, &b, ctx.tol.tol));
        known.set(pair, spare);
        spare
    })
}

impl Meetings<'_> {
    /// How far B may move until the boxes of two nodes, the second one's as placed, can meet.
    fn boxes(&mut self, (i, j): (u32, u32)) -> Option<Motion> {
        let node_b = self.placed.get(self.ctx.b.faces(), &self.pose, j);
        let gap = gap_in_frame(&self.ctx.a.faces()[i as usize].obb, &node_b.obb, 0.0)?;
        Some(Motion::of_way(gap.1))
    }
}

impl Pairs for Meetings<'_> {
    type Note = ();

    fn region(&self, (_, j): (u32, u32)) -> u8 {
        self.ctx.b.faces()[j as usize].region()
    }

    fn note(&mut self, _: (u32, u32)) {}

    fn group(&self, (): ()) -> Option<u32> {
        None
    }

    fn settled(&self, _: u32) -> bool {
        false
    }

    fn test(&mut self, pair: (u32, u32), (): (), _: &mut u8) -> Verdict {
        if let Some(margin) = self.boxes(pair) {
            return Verdict::Culled(margin);
        }
        let ctx = self.ctx;
        let node_a = &ctx.a.faces()[pair.0 as usize];
        let node_b = *self.placed.get(ctx.b.faces(), &self.pose, pair.1);
        let (of_a, of_b) = (node_a.face(), node_b.face());
        let misses = |(primitive, off): (&Primitive, f64), other: &Obb| {
            let [lo, hi] = range_over_box(primitive, other);
            let spare = lo.max(-hi) - off - 2.0 * ctx.tol.tol;
            (spare > 0.0).then_some(Motion::of_way(spare))
        };
        let missed = of_a.and_then(|f| ctx.a.round(f)).and_then(|r| misses(r, &node_b.obb)).or_else(|| {
            let (p, off) = of_b.and_then(|f| self.rounds.get(ctx.b, &ctx.pose_ab, f))?;
            misses((p, *off), &node_a.obb)
        });
        if let Some(margin) = missed {
            return Verdict::Culled(margin);
        }
        if of_a.zip(of_b).is_some_and(|pair| spare(ctx, self.apart, pair) > 0.0) {
            return Verdict::Culled(Motion::ZERO);
        }
        let Some(areas) = node_a.area().zip(node_b.area()) else { return Verdict::Open };
        self.pairs.push(areas);
        Verdict::Active
    }

    fn keep(&mut self, _: (u32, u32), (): ()) -> bool {
        false
    }

    fn prune(&mut self, pair: (u32, u32)) -> Option<Motion> {
        self.boxes(pair)
    }

    fn children(&self, (i, j): (u32, u32)) -> [(u32, u32); 2] {
        let (a, b) = (&self.ctx.a.faces()[i as usize], &self.ctx.b.faces()[j as usize]);
        opened((i, a.children(), a.radius), (j, b.children(), b.radius))
    }
}

fn canonical_crossing(
    ctx: &Context<'_>,
    (fa, a): (Feature, &Primitive),
    (fb, b): (Feature, &Primitive),
    convicted: &dyn Fn(&Suspect) -> bool,
) -> bool {
    let extent = ctx.extent(fa, fb);
    let found = critical_pairs_between(a, b, [-extent, -ctx.tol.tol], ctx.tol.tol, extent);
    found.isolated.iter().any(|c| {
        on_boundary(ctx, (Which::A, fa), &c.p_a) && convicted(&Suspect { inside: Which::B, p: c.p_a })
            || on_boundary(ctx, (Which::B, fb), &c.p_b) && convicted(&Suspect { inside: Which::A, p: c.p_b })
    })
}

/// Probes of a free-form area behind a canonical face (in the free side's frame).
fn grid_behind(
    ctx: &Context<'_>,
    free: Which,
    area: u32,
    (other, primitive): (Feature, &Primitive),
    convicted: &dyn Fn(&Suspect) -> bool,
) -> bool {
    let (Some(grid), Feature::Face(g)) = (ctx.body(free).probes().grid_of(area), other) else { return false };
    let facing = ctx.body(free.other()).face(g);
    let mut tried = 0;
    grid.iter().filter(|q| q.inside).any(|q| {
        let Some(d) = signed_distance(primitive, &q.p) else { return false };
        if d.value >= -2.0 * ctx.tol.tol || tried >= MAX_TRIALS {
            return false;
        }
        let foot = facing.surface.invert(&(ctx.pose_to_other(free) * d.foot), None, None);
        if facing.trim.classify(foot) != Side::Inside {
            return false;
        }
        tried += 1;
        convicted(&Suspect { inside: free.other(), p: ctx.in_a(free, &q.p) })
    })
}

/// Probes of each of two free-form areas behind the tangent plane of the other one's nearest probe.
fn grids_behind(ctx: &Context<'_>, (i, j): (u32, u32), convicted: &dyn Fn(&Suspect) -> bool) -> bool {
    let (Some(on_a), Some(on_b)) = (ctx.a.probes().grid_of(i), ctx.b.probes().grid_of(j)) else {
        return false;
    };
    let on_b: [Probe; PROBES] =
        on_b.map(|q| Probe { p: ctx.pose_ab * q.p, n: ctx.pose_ab * q.n, inside: q.inside });
    let behind = |own: &[Probe; PROBES], other: &[Probe; PROBES], inside: Which| {
        let deepest = own.iter().filter(|o| o.inside).filter_map(|o| {
            let sq = |x: &Probe| (x.p - o.p).norm_squared();
            let near = other.iter().min_by(|x, y| sq(x).total_cmp(&sq(y)))?;
            Some(((o.p - near.p).dot(&near.n), o.p)).filter(|_| near.inside)
        });
        let deepest = deepest.min_by(|x, y| x.0.total_cmp(&y.0));
        deepest.is_some_and(|(d, p)| d < -2.0 * ctx.tol.tol && convicted(&Suspect { inside, p }))
    };
    behind(on_a, &on_b, Which::B) || behind(&on_b, on_a, Which::A)
}

/// Whether a point (frame of A) is in the trimmed domain of a face.
fn on_boundary(ctx: &Context<'_>, (which, feature): (Which, Feature), p: &P3) -> bool {
    let Feature::Face(f) = feature else { return false };
    let p = if which == Which::A { *p } else { ctx.pose_ba * p };
    let face = ctx.body(which).face(f);
    let uv = face.surface.invert(&p, None, None);
    (face.surface.point(uv) - p).norm() <= ctx.tol.tol && face.trim.classify(uv) == Side::Inside
}

/// Whether an edge of one solid passes through a face of the other one into its inside.
fn edges_through_faces(
    ctx: &Context<'_>,
    own: Which,
    (overlaps, apart): (&[(u32, u32)], &mut PairTable<f64>),
    meetings: &mut Vec<u64>,
    convicted: &dyn Fn(&Suspect) -> bool,
) -> bool {
    let other = own.other();
    let (body, facing) = (ctx.body(own), ctx.body(other));
    // An edge against a canonical face as a whole, or against a free-form area: track and target in one number, which is
    // quick to sort.
    meetings.clear();
    let to_own = &PoseMatrix::from(ctx.pose_to_other(other));
    for &(i, j) in overlaps {
        let (mine, theirs) = if own == Which::A { (i, j) } else { (j, i) };
        let feature = facing.area(theirs).feature;
        let target = match feature {
            Feature::Face(f) if facing.data(feature).primitive.is_some() => WHOLE | f,
            _ => theirs,
        };
        // To the tracks, which are more.
        let obb = facing.node(facing.leaf_of_area(theirs)).obb.placed(to_own);
        let slack = ctx.tol.tol + facing.data(feature).deviation;
        let near = body.probes().tracks_of(mine).iter().filter(|&&t| {
            let track = &body.probes().tracks[t as usize];
            let from = track.samples[SAMPLES / 2] - obb.center;
            let reach = track.radius + slack;
            if (0..3).any(|k| obb.axes[k].dot(&from).abs() > obb.half[k] + reach) {
                return false;
            }
            // An edge is on both its faces, but for what it is off them.
            let pair = (body.dense(Feature::Face(track.beside)), facing.dense(feature));
            spare(ctx, apart, if own == Which::A { pair } else { (pair.1, pair.0) }) <= track.off
        });
        meetings.extend(near.map(|&t| (u64::from(t) << 32) | u64::from(target)));
    }
    meetings.sort_unstable();
    meetings.dedup();
    meetings.iter().any(|&m| {
        #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
        let (t, target) = ((m >> 32) as u32, m as u32);
        let track = Moved { body, track: &body.probes().tracks[t as usize], pose: ctx.pose_to_other(own) };
        let mut hit = |p: P3| convicted(&Suspect { inside: other, p: ctx.in_a(other, &p) });
        if target & WHOLE == 0 {
            crosses_area(ctx, facing, target, &track, &mut hit)
        } else {
            crosses_face(ctx, facing, target & !WHOLE, &track, &mut hit)
        }
    })
}

/// Marks a face among areas.
const WHOLE: u32 = 1 << 31;

/// An edge in the frame of the other solid.
struct Moved<'a> {
    body: &'a Body,
    track: &'a Track,
    pose: &'a Pose,
}

impl Moved<'_> {
    fn point(&self, s: f64) -> P3 {
        self.pose * self.track.point(self.body, s)
    }

    /// The sample in the middle.
    fn middle(&self) -> P3 {
        self.pose * self.track.samples[SAMPLES / 2]
    }

    /// Parameters and points of the samples.
    fn samples(&self) -> [(f64, P3); SAMPLES] {
        std::array::from_fn(|i| (STEPS[i], self.pose * self.track.samples[i]))
    }
}

/// Where the signed distance to a canonical face changes sign inside its trims, points a little behind are tried.
fn crosses_face(
    ctx: &Context<'_>,
    body: &Body,
    f: u32,
    track: &Moved<'_>,
    convicted: &mut dyn FnMut(P3) -> bool,
) -> bool {
    let Some(primitive) = body.data(Feature::Face(f)).primitive else { return false };
    let face = body.face(f);
    let value = |p: &P3| signed_distance(&primitive, p).map_or(0.0, |d| d.value);
    let tol = ctx.tol.tol;
    // The distance changes by no more than the way.
    if value(&track.middle()).abs() > track.track.radius + tol {
        return false;
    }
    let samples = track.samples().map(|(s, p)| (s, value(&p)));
    // Behind the face as a whole, from one end at the face on: the crossing is at the end, too shallow to be tried.
    let behind = samples.iter().fold(f64::NEG_INFINITY, |m, x| m.max(x.1));
    if (-4.0 * DEPTHS[0] * tol..-tol).contains(&behind)
        && let Some((s, deepest)) = samples.into_iter().min_by(|x, y| x.1.total_cmp(&y.1))
        && deepest < 2.0 * behind
    {
        let p = track.point(s);
        let uv = face.surface.invert(&p, None, None);
        if face.trim.classify(uv) == Side::Inside && convicted(p) {
            return true;
        }
    }
    let bounds = Obb::from_aabb(&body.data(Feature::Face(f)).bounds);
    let mut try_between = |outer: (f64, f64), inner: (f64, f64)| {
        // Most crossings are with the surface beyond the face. Up to two intervals between samples have four sagittas.
        let slack = 4.0 * track.track.sagitta + tol;
        if !segment_meets(&bounds, &track.point(outer.0), &track.point(inner.0), slack) {
            return false;
        }
        DEPTHS.map(|d| (d * tol).min(0.9 * -inner.1)).into_iter().any(|depth| {
            let p = track.point(at_depth(&|s| value(&track.point(s)), outer, inner, depth));
            let uv = face.surface.invert(&p, None, None);
            face.trim.classify(uv) == Side::Inside && convicted(p)
        })
    };
    for w in samples.windows(2) {
        let (v, x) = (w[0].1, w[1].1);
        let (outer, inner) = if v < x { (w[1], w[0]) } else { (w[0], w[1]) };
        if (v < -tol) != (x < -tol) && try_between(outer, inner) {
            return true;
        }
    }
    // A dip between samples: about each smallest one, when the parabola through its neighbours goes below zero.
    for i in 0..SAMPLES {
        let (l, r) = (i.saturating_sub(1), (i + 1).min(SAMPLES - 1));
        let (vl, v, vr) = (samples[l].1, samples[i].1, samples[r].1);
        let bend = (vl - v).max(vr - v) + track.track.sagitta;
        if v < -tol || v > vl || v > vr || v > bend {
            continue;
        }
        let (s, lowest) = smallest(&|s| value(&track.point(s)), samples[l].0, samples[r].0);
        let lowest = (s, lowest);
        if lowest.1 < -2.0 * tol && (try_between(samples[l], lowest) || try_between(samples[r], lowest)) {
            return true;
        }
    }
    false
}

/// A parameter between one with a larger and one with a smaller value (with these values) at which a value is below `-depth`
/// (positive) by no more than half of it, or as near to that as 40 steps come.
fn at_depth(value: &dyn Fn(f64) -> f64, outer: (f64, f64), inner: (f64, f64), depth: f64) -> f64 {
    let (mut lo, mut hi) = (outer, inner);
    for k in 0..40 {
        // The secant aims at the middle of what will do; bisection sees to it that the bracket shrinks.
        let part = (lo.1 + 1.25 * depth) / (lo.1 - hi.1);
        let m = if k % 3 == 2 || !(0.0..1.0).contains(&part) { 0.5 } else { part.clamp(0.01, 0.99) };
        let m = lo.0 + m * (hi.0 - lo.0);
        let v = value(m);
        if v > -depth {
            lo = (m, v);
        } else {
            hi = (m, v);
            if v >= -1.5 * depth {
                break;
            }
        }
    }
    hi.0
}

/// Golden-section search: parameter and value of a smallest value in a bracket.
fn smallest(f: &dyn Fn(f64) -> f64, mut lo: f64, mut hi: f64) -> (f64, f64) {
    let golden = 0.618_033_988_749_894_9;
    let (mut x, mut y) = (hi - golden * (hi - lo), lo + golden * (hi - lo));
    let (mut fx, mut fy) = (f(x), f(y));
    for _ in 0..16 {
        if fx < fy {
            (hi, y, fy) = (y, x, fx);
            x = hi - golden * (hi - lo);
            fx = f(x);
        } else {
            (lo, x, fx) = (x, y, fy);
            y = lo + golden * (hi - lo);
            fy = f(y);
        }
    }
    if fx < fy { (x, fx) } else { (y, fy) }
}

/// Newton for the point where the edge meets a free-form area; points a little behind are tried.
fn crosses_area(
    ctx: &Context<'_>,
    body: &Body,
    area: u32,
    track: &Moved<'_>,
    convicted: &mut dyn FnMut(P3) -> bool,
) -> bool {
    let data = body.area(area);
    let Feature::Face(f) = data.feature else { return false };
    let face = body.face(f);
    let obb = &body.node(body.leaf_of_area(area)).obb;
    let grid = body.grid_of(area);
    let slack = track.track.sagitta + ctx.tol.tol;
    let samples = track.samples();
    let mut feet: [Option<GridFoot>; SAMPLES] = [None; SAMPLES];
    for (i, w) in samples.windows(2).enumerate() {
        if !segment_meets(obb, &w[0].1, &w[1].1, slack) {
            continue;
        }
        let mut foot = |k: usize| *feet[k].get_or_insert_with(|| grid.foot(&samples[k].1));
        if stays_off(grid, [foot(i), foot(i + 1)], slack) {
            continue;
        }
        let Some((s, uv)) = meet(body, area, track, w[0], w[1]) else { continue };
        if face.trim.classify(uv) == Side::Outside {
            continue;
        }
        let n = outward_normal(face, uv);
        let along = track.point((s + 1e-4).min(1.0)) - track.point((s - 1e-4).max(0.0));
        // The side on which the edge is behind the surface.
        let sign = if along.dot(&n) > 0.0 { -1.0 } else { 1.0 };
        for step in [1e-3, 1e-2, 0.05] {
            let p = track.point((s + sign * step).clamp(0.0, 1.0));
            if (p - face.surface.point(uv)).dot(&n) < -2.0 * ctx.tol.tol && convicted(p) {
                return true;
            }
        }
    }
    false
}

/// Whether a segment with the given feet of its ends stays on one side of a free-form area, or beside it.
fn stays_off(grid: &Grid, feet: [GridFoot; 2], slack: f64) -> bool {
    if feet.iter().any(|f| !grid.finds_feet(f.offset.norm())) {
        return false;
    }
    let [p, q] = feet.map(|f| f.sides());
    let [(h, e), (l, d)] = feet.map(|f| f.height(grid.bend));
    p.iter().zip(&q).any(|(a, b)| *a && *b)
        || (h > e + slack && l > d + slack)
        || (h < -e - slack && l < -d - slack)
}

/// Whether a segment meets a box enlarged by `slack`.
fn segment_meets(obb: &Obb, p: &P3, q: &P3, slack: f64) -> bool {
    let (d, e) = (q - p, p - obb.center);
    let (mut lo, mut hi) = (0.0_f64, 1.0_f64);
    for k in 0..3 {
        let (c, v) = (obb.axes[k].dot(&e), obb.axes[k].dot(&d));
        let half = obb.half[k] + slack;
        if v.abs() <= f64::MIN_POSITIVE {
            if c.abs() > half {
                return false;
            }
            continue;
        }
        let (s, t) = ((-half - c) / v, (half - c) / v);
        lo = lo.max(s.min(t));
        hi = hi.min(s.max(t));
    }
    lo <= hi
}

/// The meeting point of the edge between two of its samples with a free-form area.
fn meet(
    body: &Body,
    area: u32,
    track: &Moved<'_>,
    (s0, p0): (f64, P3),
    (s1, p1): (f64, P3),
) -> Option<(f64, P2)> {
    let data = body.area(area);
    let Feature::Face(f) = data.feature else { return None };
    let (surface, rect) = (&body.face(f).surface, &data.rect);
    let mut uv = P2::new(0.5 * (rect.u0 + rect.u1), 0.5 * (rect.v0 + rect.v1));
    let (mut s, h) = (0.5 * (s0 + s1), s1 - s0);
    let (wu, wv) = (rect.u1 - rect.u0, rect.v1 - rect.v0);
    let scale = (p1 - p0).norm();
    let tangent: V3 = (p1 - p0) / h;
    for _ in 0..16 {
        let d = surface.derivs(uv);
        let r: V3 = d.p - track.point(s);
        if r.norm() <= 1e-9 * scale {
            let inside = (s0 - 1e-9..=s1 + 1e-9).contains(&s)
                && (rect.u0..=rect.u1).contains(&uv.x)
                && (rect.v0..=rect.v1).contains(&uv.y);
            return inside.then_some((s, uv));
        }
        // The chord's direction instead of the tangent: linear convergence, no derivative of the edge.
        let step = nalgebra::Matrix3::from_columns(&[d.du, d.dv, -tangent]).try_inverse()? * r;
        let (u, v) = (uv.x - step.x, uv.y - step.y);
        // Far outside there is no meeting.
        if u < rect.u0 - wu || u > rect.u1 + wu || v < rect.v0 - wv || v > rect.v1 + wv {
            return None;
        }
        uv = P2::new(
            u.clamp(rect.u0 - 0.1 * wu, rect.u1 + 0.1 * wu),
            v.clamp(rect.v0 - 0.1 * wv, rect.v1 + 0.1 * wv),
        );
        s = (s - step.z).clamp(s0 - 0.5 * h, s1 + 0.5 * h);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A place just behind a surface is found on straight, flat and steep ways to it, in any direction.
    #[test]
    fn finds_the_depth() {
        let ways: [&dyn Fn(f64) -> f64; 4] = [
            &|s| 1.0 - 3.0 * s,
            &|s| 1e-3 - s * s * s,
            &|s| 40.0 * (0.7 - s) * (0.7 - s) * (0.7 - s),
            &|s| 5.0 * s - 1.0,
        ];
        for (k, value) in ways.iter().enumerate() {
            let (p, q) = ((0.0, value(0.0)), (1.0, value(1.0)));
            let (outer, inner) = if p.1 > q.1 { (p, q) } else { (q, p) };
            for depth in [1e-9, 1e-4, 0.1] {
                let found = value(at_depth(value, outer, inner, depth));
                assert!((-1.5 * depth..=-depth).contains(&found), "{found} for {depth}, way {k}");
            }
        }
    }
}
