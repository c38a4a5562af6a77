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
mod edges;
pub(crate) mod face_tree;
mod outside;
pub(crate) mod probes;
pub(crate) mod ring;

use crate::front::motion::{Clocks, Margin, Motion, Travelled};
use crate::front::pair_tree::{PairTree, Pairs, Verdict, opened};
use crate::solve::{Context, Which, sort_by_features};
use crate::tree::{PairTable, PlacedRounds, PlacedTree};
use apart::{Apart, Round, apart};
use edges::edges_through_faces;
use face_tree::FaceNode;
use feeler_geom::obb::{PoseMatrix, SAT_AXES, gap_along, gap_in_frame, separated_in_frame};
use feeler_geom::skeleton::{Criticals, Primitive, collect_critical_pairs, range_over_box, signed_distance};
use feeler_geom::trim::Side;
use feeler_geom::{Obb, P3};
use feeler_hierarchy::Feature;
use outside::Rays;
use probes::{PROBES, Probe};
use std::cell::RefCell;

/// Points of one free-form area that are tried.
const MAX_TRIALS: usize = 4;

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
    rays: RefCell<Rays>,
}

/// What the search for pairs of areas that may meet uses and finds.
#[derive(Debug, Default)]
struct Overlaps {
    pairs: Vec<(u32, u32)>,
    keys: Vec<u128>,
    placed: PlacedTree<FaceNode>,
    rounds: PlacedRounds,
    apart: Memory,
    tree: PairTree<()>,
    /// The tolerance that the tree was made with.
    valid_for: Option<f64>,
}

impl Scratch {
    /// Forgets earlier queries.
    pub(crate) fn clear(&mut self) {
        self.overlaps.tree.clear();
        self.overlaps.apart.clear();
        self.rays.get_mut().clear();
    }
}

/// Whether a suspect is inside for certain.
pub(crate) fn is_inside(ctx: &Context<'_>, suspect: &Suspect, scratch: &Scratch) -> bool {
    convicts(ctx, suspect, &scratch.rays)
}

fn convicts(ctx: &Context<'_>, suspect: &Suspect, rays: &RefCell<Rays>) -> bool {
    let p = if suspect.inside == Which::A { suspect.p } else { ctx.pose_ba * suspect.p };
    rays.borrow_mut().convict(ctx, suspect.inside, &p)
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
    let Overlaps { pairs: overlaps, apart, keys, .. } = overlaps;
    if overlaps.is_empty() {
        return false;
    }
    sort_by_features(ctx, overlaps, keys);
    let clocks = &Clocks::new(ctx.b, moved);
    edges_through_faces(ctx, Which::A, overlaps, (apart, clocks), meetings, &convicted)
        || edges_through_faces(ctx, Which::B, overlaps, (apart, clocks), meetings, &convicted)
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
    scratch.apart.begin();
    if scratch.valid_for != Some(ctx.tol.tol) {
        scratch.tree.clear();
        scratch.apart.clear();
        scratch.valid_for = Some(ctx.tol.tol);
    }
    let Overlaps { tree, pairs, placed, rounds, apart, .. } = scratch;
    let pose = PoseMatrix::from(&ctx.pose_ab);
    let clocks = Clocks::new(ctx.b, moved);
    tree.walk(moved, &mut Meetings { ctx, pose, clocks, pairs, placed, rounds, apart });
    tree.reserve_active(pairs);
}

/// One query's walk down the faces of both solids.
struct Meetings<'a> {
    ctx: &'a Context<'a>,
    pose: PoseMatrix,
    clocks: Clocks<'a>,
    pairs: &'a mut Vec<(u32, u32)>,
    placed: &'a mut PlacedTree<FaceNode>,
    rounds: &'a mut PlacedRounds,
    apart: &'a mut Memory,
}

/// By how much pairs of faces are plainly apart as wholes, kept from query to query.
#[derive(Debug, Default)]
struct Memory {
    known: PairTable<Known>,
    queries: u32,
}

/// What is known of a pair of faces.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Way by a clock at which they may meet.
    until: f64,
    clock: u8,
    /// The query from which on it is worth to look again.
    again: u32,
}

/// Queries in which two faces that were not plainly apart are taken as not apart without a look: most stay so, and it costs tests only.
const LOOK_EVERY: u32 = 8;

impl Memory {
    fn clear(&mut self) {
        self.known.restart();
        self.queries = 0;
    }

    /// Begins a query.
    fn begin(&mut self) {
        if self.queries > u32::MAX - 2 * LOOK_EVERY {
            self.clear();
        }
        self.queries += 1;
    }

    /// How far (mm) B may move by a clock until the faces can be within `room` (mm) and the tolerance, and that clock; `None` where they
    /// are not known to be apart.
    fn spare(
        &mut self,
        ctx: &Context<'_>,
        clocks: &Clocks<'_>,
        pair: (u32, u32),
        room: f64,
    ) -> Option<(f64, u8)> {
        let left = |known: &Known| (known.until - clocks.way(known.clock) - room, known.clock);
        if let Some(known) = self.known.get(pair) {
            let (spare, clock) = left(&known);
            if spare > 0.0 {
                return Some((spare, clock));
            }
            if self.queries < known.again {
                return None;
            }
        }
        let sides = Round::of(ctx, Which::A, pair.0).zip(Round::of(ctx, Which::B, pair.1));
        let Apart { spare, turned } = sides.map_or(Apart::default(), |(a, b)| apart(&a, &b, ctx.tol.tol));
        let [of_a, of_b] = [(Which::A, pair.0), (Which::B, pair.1)].map(|(which, feature)| {
            let feature = &ctx.body(which).features()[feature as usize];
            clocks.of_form(Motion::of_way(spare), which, feature, Clocks::WHOLE)
        });
        let clock = if turned[Which::B as usize] { of_b } else { of_a };
        let again = self.queries + if spare > 0.0 { 1 } else { LOOK_EVERY };
        let known = Known { until: clocks.way(clock) + spare, clock, again };
        self.known.set(pair, known);
        Some(left(&known)).filter(|left| left.0 > 0.0)
    }
}

/// Number of the tests that can cull a pair beside that of the boxes.
const TESTS: u8 = 3;
/// From here on the numbers are axes of that one.
const AXES: u8 = TESTS;
const END: u8 = AXES + SAT_AXES;

impl Meetings<'_> {
    /// How far B may move until the boxes of two nodes can meet, and the axis that tells it.
    fn boxes(&mut self, (i, j): (u32, u32)) -> Option<(u8, Margin)> {
        let node_b = self.placed.get(self.ctx.b.faces(), &self.pose, j);
        let (axis, gap) = gap_in_frame(&self.ctx.a.faces()[i as usize].obb, &node_b.obb, 0.0)?;
        Some((axis, Motion::of_way(gap).by(node_b.region)))
    }

    /// The same along one axis, which is counted from [`AXES`].
    fn boxes_along(&self, (i, j): (u32, u32), axis: u8) -> Option<Margin> {
        let (node_a, node_b) = (&self.ctx.a.faces()[i as usize], &self.ctx.b.faces()[j as usize]);
        let gap = gap_along(&node_a.obb, &node_b.obb, &self.pose, axis - AXES);
        (gap > 0.0).then(|| Motion::of_way(gap).by(node_b.region))
    }

    /// How far B may move until a pair can meet by one of the tests, from cheap to dear: by the surface of A or of B and the box of
    /// the other, by the faces as wholes.
    fn culled(&mut self, pair: (u32, u32), test: u8) -> Option<Margin> {
        let (ctx, clocks) = (self.ctx, &self.clocks);
        let (node_a, node_b) = (&ctx.a.faces()[pair.0 as usize], &ctx.b.faces()[pair.1 as usize]);
        // By the form of a feature.
        let by_form = |which: Which, feature: u32, spare: f64| {
            let data = &ctx.body(which).features()[feature as usize];
            let motion = Motion::of_way(spare);
            (spare > 0.0).then(|| motion.by(clocks.of_form(motion, which, data, node_b.region)))
        };
        let misses = |(primitive, off): (&Primitive, f64), other: &Obb| {
            let [lo, hi] = range_over_box(primitive, other);
            lo.max(-hi) - off - 2.0 * ctx.tol.tol
        };
        match test {
            0 => {
                let face = node_a.face()?;
                let other = &self.placed.get(ctx.b.faces(), &self.pose, pair.1).obb;
                by_form(Which::A, face, misses(ctx.a.round(face)?, other))
            }
            1 => {
                let face = node_b.face()?;
                let (p, off) = self.rounds.get(ctx.b, &ctx.pose_ab, face)?;
                by_form(Which::B, face, misses((p, *off), &node_a.obb))
            }
            _ => {
                let faces = node_a.face().zip(node_b.face())?;
                let (spare, clock) = self.apart.spare(ctx, clocks, faces, 0.0)?;
                Some(Motion::of_way(spare).by(clock))
            }
        }
    }
}

impl Pairs for Meetings<'_> {
    type Note = ();

    fn note(&mut self, _: (u32, u32)) {}

    fn group(&self, (): ()) -> Option<u32> {
        None
    }

    fn settled(&self, _: u32) -> bool {
        false
    }

    /// `hint` tells which test has culled the pair last.
    fn test(&mut self, pair: (u32, u32), (): (), hint: &mut u8) -> Verdict {
        let first = *hint;
        let again = match first {
            0..TESTS => self.culled(pair, first),
            AXES..END => self.boxes_along(pair, first),
            _ => None,
        };
        if let Some(margin) = again {
            return Verdict::Culled(margin);
        }
        if let Some((axis, margin)) = self.boxes(pair) {
            *hint = AXES + axis;
            return Verdict::Culled(margin);
        }
        for test in (0..TESTS).filter(|test| *test != first) {
            if let Some(margin) = self.culled(pair, test) {
                *hint = test;
                return Verdict::Culled(margin);
            }
        }
        let (node_a, node_b) = (&self.ctx.a.faces()[pair.0 as usize], &self.ctx.b.faces()[pair.1 as usize]);
        let Some(areas) = node_a.area().zip(node_b.area()) else { return Verdict::Open };
        self.pairs.push(areas);
        Verdict::Active
    }

    fn touch(&self, (i, j): (u32, u32)) -> u64 {
        let (a, b) = (&self.ctx.a.faces()[i as usize], &self.ctx.b.faces()[j as usize]);
        a.touch() ^ b.touch()
    }

    fn keep(&mut self, (i, j): (u32, u32), (): ()) -> bool {
        let areas = self.ctx.a.faces()[i as usize].area().zip(self.ctx.b.faces()[j as usize].area());
        self.pairs.extend(areas);
        true
    }

    fn prune(&mut self, pair: (u32, u32)) -> Option<Margin> {
        self.boxes(pair).map(|(_, margin)| margin)
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
    let mut found = Criticals::default();
    let range = [-extent, -ctx.tol.tol];
    collect_critical_pairs(a, b, range, (ctx.tol.tol, extent), &mut found);
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
    let data = ctx.body(which).data(feature);
    if !data.bounds.inflated(ctx.tol.tol + data.deviation).contains(&p) {
        return false;
    }
    let face = ctx.body(which).face(f);
    let uv = face.surface.invert(&p, None, None);
    (face.surface.point(uv) - p).norm() <= ctx.tol.tol && face.trim.classify(uv) == Side::Inside
}
