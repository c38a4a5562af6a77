//! Time for which the smallest distance stays above a limit, by branch and bound over pairs of nodes.
//!
//! The smallest distance is that of a minimum whose footpoints are in some pair of areas. A pair can
//! contain it only from the first time on at which its boxes are nearer than the current smallest
//! distance and its cones face each other. From then on, the distance decreases at most at the closing
//! speed of the areas ([`super::closing`]). The smallest distance therefore stays above the limit until
//! the minimum over all pairs of `max(first time, clearance / closing speed)`. Pairs with a later time
//! than the best one so far are not opened.
//!
//! If penetration up to a depth is allowed, the limit is negative. The pairs of a contact then stay close
//! all the time, and their leaves get tighter bounds: [`super::spheres`], crossing edges, [`super::cells`],
//! [`super::osculating`].
//!
//! # Source
//! Conservative advancement (Mirtich 1996; Zhang, Redon, Lee, Kim 2007), with directions instead of speeds.

use super::cells::Cell;
use super::closing::{ClosingSpeed, allowance, max_below_node, of_area, spread_along, towards};
use super::moving::{MotionSplit, Moving, closing_time, farthest_point, travel_time};
use super::osculating::{PointMotion, Quadric, quadrics_of_edge};
use super::spheres::MovingSphere;
use crate::api::options::QueryOptions;
use crate::api::tolerance::Tolerances;
use crate::body::Body;
use crate::body::ids::NodePair;
use crate::body::side::Which;
use crate::body::tree::TreeNode;
use crate::cull::motion::Motion;
use crate::cull::node_pair::CullContext;
use crate::cull::pair_tree::{NO_HINT, opened};
use crate::cull::placed::PlacedTree;
use feeler_geom::cone::Cap;
use feeler_geom::obb::{gap_in_frame, separating_axis};
use feeler_geom::skeleton::Primitive;
use feeler_geom::{Obb, P3, Twist, V3, math};
use feeler_hierarchy::{AreaId, Feature, NodeId};

/// Scratch buffers reused between searches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Workspace {
    placed: PlacedTree<TreeNode>,
    stack: Vec<NodePair>,
    /// Cached closing speeds of the nodes of A and of B.
    closing: [Vec<CachedClosing>; 2],
    /// Number of the current search; closing speeds cached in other searches are not valid.
    current: u32,
    /// Number of visited pairs of nodes over all searches.
    pub visited: u64,
    /// Pairs of leaves that limit a motion in contact, with the time of each.
    leaves: Vec<(f64, NodePair)>,
    /// Pairs of pieces to be visited.
    cells: Vec<(Cell, Cell)>,
}

/// Closing speed of a node, valid in the search with the given number.
#[derive(Clone, Copy, Debug)]
struct CachedClosing {
    search: u32,
    speed: ClosingSpeed,
}

/// Thickness of a piece, as a multiple of the remaining clearance, below which the piece is not halved. A
/// larger value gives looser bounds and more queries, a smaller one visits more pieces.
const FLAT_ENOUGH: f64 = 0.25;
/// Maximum number of pairs of pieces of two areas that a search visits. With a smaller value, areas that
/// follow each other closely get loose bounds; a larger one takes longer for them.
const MAX_CELL_VISITS: u32 = 4096;

/// Maximum number of pairs of pieces of two areas for which osculating quadrics are computed. With a smaller
/// value, contacts of many pieces get short times; a larger one takes longer for pairs without a bound.
const MAX_OSCULATING_VISITS: u32 = 512;
/// Errors of a piece and its osculating quadric, as a multiple of the remaining clearance, below which they
/// are not halved for a longer time. A larger value gives shorter times, a smaller one visits more pieces.
const SMALL_ERROR: f64 = 0.25;
/// Largest rotation (rad) of a face relative to an edge whose quadrics are used with the direction of the
/// face's normal. A larger value loosens the bounds; a smaller one limits the time.
const MAX_TURN: f64 = 0.1;
/// Rounding of the values of a quadric, in roundings of a footpoint. With a smaller value, bounds are not
/// proved; a larger one proves less.
const ROUNDINGS: f64 = 16.0;

/// Sine of the angle between two edges below which they count as parallel. With a smaller value, contacts
/// of parallel edges, whose directions are less exact, count as those of crossing edges; with a larger one,
/// edges that turn past each other in a plane take more queries.
const MIN_CROSSING_SINE: f64 = 1e-5;
/// Largest rotation (rad), as a multiple of the sine of their angle, for which the bounds of two crossing
/// edges hold. With a larger value the bound of the change of their direction is looser; with a smaller
/// one, steps are shorter.
const MAX_EDGE_TURN: f64 = 0.1;
/// Angle (rad) by which the direction of a contact of two edges may leave their polars during the step.
const EDGE_ANGLE: f64 = 0.25;

/// Search for the time for which the distance of two moving solids stays above a limit.
pub(crate) struct Search<'a> {
    pub a: &'a Body,
    pub b: &'a Body,
    pub moving: &'a Moving,
    pub tol: Tolerances,
    /// Lower bound (mm) of the current smallest distance; negative if the solids penetrate.
    pub distance: f64,
    /// Length (mm) by which the distance may decrease until it reaches the limit.
    pub clearance: f64,
    /// Largest penetration depth (mm) that the limit allows; 0 if the solids must not penetrate.
    pub depth: f64,
    /// Depth (mm) that pairs of pieces are proved not to reach, whatever their current distance, if bounds
    /// of osculating quadrics are used. It exceeds the current depth, and `clearance` is what remains of the
    /// limit.
    pub absolute: Option<f64>,
    /// Longest time that is searched for. A shorter one visits fewer pairs of nodes.
    pub longest: f64,
    /// Time that is known otherwise: the search ends if it cannot prove a longer one.
    pub shortest: f64,
}

impl Search<'_> {
    /// Time for which the distance is proved to stay above the limit, at most the duration of the
    /// motion's bounds.
    pub(crate) fn safe_time(&self, work: &mut Workspace) -> f64 {
        let mut best = self.moving.lasts.min(self.longest);
        let mut leaves = std::mem::take(&mut work.leaves);
        leaves.clear();
        self.traverse(work, |pair| {
            let time = pair.first.max(pair.closes);
            if pair.is_leaf && time < best {
                if self.depth > 0.0 {
                    leaves.push((time, pair.nodes));
                } else {
                    best = time;
                }
            }
            time < best
        });
        leaves.sort_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)));
        for &(time, nodes) in &leaves {
            if time < best && best > self.shortest {
                best = match self.sphere_time(nodes) {
                    Some(exact) => best.min(exact.max(time)),
                    None => best.min(self.refined_time(nodes, best, work).max(time)),
                };
            }
        }
        work.leaves = leaves;
        best
    }

    /// Time for which a contact between two straight edges that cross keeps the distance above the limit;
    /// `None` for other features and for nearly parallel edges. `b` is in the frame of A.
    ///
    /// The direction n of such a contact is orthogonal to both edges. It rotates by the part of the relative
    /// rotation that is not about n.
    fn edges_time(&self, (i, a): (AreaId, &TreeNode), (j, b): (AreaId, &TreeNode)) -> Option<f64> {
        if !(self.a.is_straight(i) && self.b.is_straight(j)) {
            return None;
        }
        let along = |body: &Body, area| match body.features()[body.feature_of(area).index()].primitive {
            Some(Primitive::Line { dir, .. }) => Some(dir),
            _ => None,
        };
        let (s, t) = (along(self.a, i)?, self.moving.pose_ab * along(self.b, j)?);
        let across = s.cross(&t);
        let sin = across.norm();
        // Edges at smaller angles can be in contact along both of them, in other directions.
        let inverse_extent = a.allowance.inverse_extent.max(b.allowance.inverse_extent);
        if sin < MIN_CROSSING_SINE.max(self.tol.bent(f64::from(inverse_extent))) {
            return None;
        }
        let n = across / sin;
        let Moving { in_a, lasts, change, .. } = *self.moving;
        let w = in_a.w;
        let lasts = lasts.min(travel_time(MAX_EDGE_TURN * sin, w.norm(), self.moving.angular_change));
        // n rotates at most at twice the rotation orthogonal to n over the sine, which grows by at most
        // half while the bounds hold.
        let turning = self.moving.angular_change * lasts;
        let rate = 3.0 * ((w - n * n.dot(&w)).norm() + turning) / sin;
        let planar = self.moving.speed_along(Which::A, &n, rate, (farthest_point(self.a), lasts));
        // The points of A's edge rest in this frame, those of B's edge move.
        let time = |obb: &Obb, acceleration: f64| {
            let x = in_a.at(&obb.center);
            let speed = x.norm() + w.norm() * obb.radius();
            // Both directions along n, unless the cones exclude one.
            let is_possible = |n: &V3| within(&a.cap, n, EDGE_ANGLE) && within(&b.cap, &-n, EDGE_ANGLE);
            let closing = [n, -n].into_iter().filter(is_possible).map(|n| -n.dot(&x));
            let closing = closing.fold(f64::NEG_INFINITY, f64::max) + spread_along(obb, &w.cross(&n));
            let change = change + speed * rate + acceleration * speed;
            let never = closing == f64::NEG_INFINITY;
            if never { f64::INFINITY } else { closing_time(self.clearance, closing, change) }
        };
        let planar = travel_time(self.clearance, planar, 0.0);
        Some(planar.max(time(&a.obb, 0.0)).max(time(&b.obb, w.norm())).min(lasts))
    }

    /// Time for which a sphere or vertex stays above the limit of a canonical feature; `None` if neither
    /// leaf belongs to a sphere or vertex, or if the other feature has no bound.
    fn sphere_time(&self, (i, j): NodePair) -> Option<f64> {
        let (area_a, area_b) = (self.a.tree()[i.index()].area()?, self.b.tree()[j.index()].area()?);
        let of = |body: &Body, area| body.features()[body.feature_of(area).index()].primitive;
        let (a, b) = (of(self.a, area_a)?, of(self.b, area_b)?);
        let Moving { pose_ab, in_a, in_b, lasts, .. } = *self.moving;
        let sphere = |center: P3, sigma, field| {
            // The centre of a large dome lies outside the solid.
            let far = farthest_point(self.a).min(farthest_point(self.b)).max(f64::MIN_POSITIVE);
            let change = self.moving.change * (center.coords.norm() / far).max(1.0);
            MovingSphere { center, sigma, field, change, lasts }
        };
        match (a, b) {
            (other, Primitive::Point { center, sigma }) => {
                sphere(pose_ab * center, sigma, in_a).safe_time(&other, self.absolute.unwrap_or(self.depth))
            }
            (Primitive::Point { center, sigma }, other) => {
                let center = pose_ab.inverse_transform_point(&center);
                sphere(center, sigma, -in_b).safe_time(&other, self.absolute.unwrap_or(self.depth))
            }
            _ => None,
        }
    }

    /// Time for which the minima of two leaves keep the distance above the limit, at most `best`. Pieces of
    /// both areas are halved until they are as flat as the remaining clearance.
    fn refined_time(&self, (i, j): NodePair, mut best: f64, work: &mut Workspace) -> f64 {
        let (a, b) = (&self.a.tree()[i.index()], &self.b.tree()[j.index()]);
        let (Some(area_a), Some(area_b)) = (a.area(), b.area()) else { return best };
        let options = QueryOptions { penetration: self.depth, ..QueryOptions::default() };
        let cull = CullContext::new(&self.moving.pose_ab, &self.tol, &options);
        // Closeness matters, not the uncertainty of footpoints that solves find.
        let reach = self.distance.max(self.depth) + self.tol.eps;
        let motions = self.absolute.map(|_| self.point_motions());
        let mut visits = 0;
        work.cells.clear();
        work.cells.push((Cell::of_leaf(self.a, a, area_a), Cell::of_leaf(self.b, b, area_b)));
        while best > self.shortest
            && let Some((a, b)) = work.cells.pop()
        {
            visits += 1;
            work.visited += 1;
            let mut placed = b.node;
            placed.obb = b.node.obb.placed(&cull.pose);
            placed.cap.axis = cull.pose.rotation * b.node.cap.axis;
            let facing = cull.facing(&a.node, &placed, || placed.cap.axis);
            let mut first = facing.map_or(0.0, |margin| self.margin_time(margin));
            if first < best {
                let length = a.node.allowance.length + b.node.allowance.length;
                first = first.max(self.boxes_apart(reach + f64::from(length), &a.node.obb, &placed.obb));
            }
            if first >= best {
                continue;
            }
            let splits = &self.moving.splits;
            let mut time = first.max(self.time_to_close(splits, (a.area, &a.node), (b.area, &b.node)));
            if time < best
                && let Some(crossing) = self.edges_time((a.area, &a.node), (b.area, &placed))
            {
                time = time.max(crossing);
            }
            if time >= best {
                continue;
            }
            if let (Some(level), Some(motions)) = (self.absolute, &motions)
                && let Some(bound) =
                    self.osculating_time(level, (&a, &b), (time.max(self.shortest), best), motions)
            {
                time = time.max(bound.time);
                if time >= best {
                    continue;
                }
                if let Some((which, parameter)) = bound.halved.filter(|_| visits <= MAX_OSCULATING_VISITS) {
                    match which {
                        Which::A => {
                            let halves = a.halves_along(self.a, parameter);
                            work.cells.extend(halves.into_iter().flatten().map(|half| (half, b)));
                        }
                        Which::B => {
                            let halves = b.halves_along(self.b, parameter);
                            work.cells.extend(halves.into_iter().flatten().map(|half| (a, half)));
                        }
                    }
                } else {
                    best = time;
                }
                continue;
            }
            let (bend_a, bend_b) = (a.thickness(), b.thickness());
            if bend_a.max(bend_b) <= FLAT_ENOUGH * self.clearance || visits > MAX_CELL_VISITS {
                best = time;
                continue;
            }
            if bend_a >= bend_b {
                work.cells.extend(a.halves(self.a).into_iter().flatten().map(|half| (half, b)));
            } else {
                work.cells.extend(b.halves(self.b).into_iter().flatten().map(|half| (a, half)));
            }
        }
        best
    }

    /// Motion of A's points in the frame of B, and of B's points in the frame of A.
    fn point_motions(&self) -> [PointMotion; 2] {
        let [from_a, from_b] = &self.moving.twists;
        let back = from_b.iter().map(|t| -*t).collect();
        let pose = self.moving.pose_ab;
        [PointMotion::new(pose.inverse(), back), PointMotion::new(pose, from_a.clone())]
    }

    /// Bound of the time for which the minima of two pieces are not deeper than `level`: the points of one
    /// piece stay above the osculating quadric of the other one, or above those of the faces of the other
    /// one, an edge. `None` if no piece is flat enough. Times up to `from` are known otherwise, and times
    /// beyond `most` do not matter.
    fn osculating_time(
        &self,
        level: f64,
        cells: (&Cell, &Cell),
        (from, most): (f64, f64),
        motions: &[PointMotion; 2],
    ) -> Option<OsculatingTime> {
        let sides = [(Which::A, self.a, cells.0), (Which::B, self.b, cells.1)];
        let jets = [cells.0.jet(self.a), cells.1.jet(self.b)];
        let face_quadric = |k: usize| {
            let (_, body, cell) = sides[k];
            let Feature::Face(f) = body.area(cell.area).feature else { return None };
            Quadric::of(&jets[k]?, body.face(f).outward, f64::from(cell.node.allowance.angle))
        };
        let quadrics = [face_quadric(0), face_quadric(1)];
        let mut best: Option<OsculatingTime> = None;
        for k in [0, 1] {
            let (which, body, cell) = sides[k];
            let (Some(own), Some(jet)) = (jets[k], jets[1 - k]) else { continue };
            let motion = &motions[1 - k];
            // The other face turns relative to this solid.
            let (resting, most) = match (body.area(cell.area).feature, &quadrics[1 - k]) {
                (Feature::Face(_), Some(other)) if quadrics[k].is_none_or(|q| other.is_flatter(&q, k)) => {
                    continue;
                }
                (Feature::Face(_), _) => (quadrics[k].map(|q| [Some(q), None]), most),
                (Feature::Edge(e), other) => {
                    let most = other.map_or(most, |_| motion.time_to_turn(MAX_TURN).min(most));
                    let direction = other.map(|q| (-(motion.rotation() * q.normal()), q.tilt() + MAX_TURN));
                    let angle = f64::from(cell.node.allowance.angle);
                    let t = cell.middle().x;
                    (quadrics_of_edge(body, e, (t, &own), angle, direction), most)
                }
                (Feature::Vertex(_), _) => (None, most),
            };
            let Some(resting) = resting else { continue };
            let limits = ([level, self.depth], ROUNDINGS * self.tol.eps);
            let (mut time, mut off, mut error) = (most, 0.0_f64, 0.0_f64);
            for quadric in resting.iter().flatten() {
                let (safe, own_error) = quadric.safe_time((&jet, motion), limits, (from, time.max(from)));
                (time, off, error) = (time.min(safe), off.max(quadric.off), error.max(own_error));
            }
            let longer = |x: [f64; 2]| usize::from(x[1] > x[0]);
            let bends = cell.bends();
            let halved = if time >= most || error <= SMALL_ERROR * self.clearance {
                None
            } else if off > 0.5 * error && bends[0] + bends[1] > 0.0 {
                Some((which, longer(bends)))
            } else {
                let (which, _, moving) = sides[1 - k];
                let turned =
                    |i: usize| motion.turns(&(motion.rotation() * jet.first[i]), 0.0) * jet.half[i] * time;
                Some((which, longer(std::array::from_fn(|i| moving.bends()[i] + turned(i)))))
            };
            let is_better = |best: &OsculatingTime| {
                time > best.time || (time >= best.time && halved.is_none() && best.halved.is_some())
            };
            if best.as_ref().is_none_or(is_better) {
                best = Some(OsculatingTime { time, halved });
            }
        }
        best
    }

    /// Whether the smallest distance is proved not to grow during the time `time` from now on.
    pub(crate) fn only_decreases(&self, time: f64, work: &mut Workspace) -> bool {
        let mut decreases = true;
        let rounding = 1e-9 * self.moving.speed;
        let change = self.moving.change * time;
        self.traverse(work, |pair| {
            let counts = pair.first < time;
            if counts && pair.is_leaf {
                decreases &= pair.min_closing - change >= -rounding;
            }
            decreases && counts
        });
        decreases
    }

    /// Shortest time in which the distance of minima in two areas, or in pieces of them, can decrease by the
    /// clearance: the longest of those that follow from the given divisions of the motion. Each node is in
    /// the frame of its own solid.
    fn time_to_close(
        &self,
        splits: &[MotionSplit],
        (i, a): (AreaId, &TreeNode),
        (j, b): (AreaId, &TreeNode),
    ) -> f64 {
        let of = |body: &Body, area, node, field: &Twist, which| {
            let is_zero = *field == Twist::default();
            if is_zero { 0.0 } else { of_area(body, area, node, &towards(field, which)).max }
        };
        let time = |split: &MotionSplit| {
            let closing = of(self.a, i, a, &split.in_a, Which::A) + of(self.b, j, b, &split.in_b, Which::B);
            closing_time(self.clearance, closing, split.change)
        };
        splits.iter().map(time).fold(0.0, f64::max)
    }

    /// Shortest time in which several joints can move a plane, to which one of two areas belongs, along its
    /// normal by the clearance; 0 without a plane.
    fn plane_time(&self, (i, a): (AreaId, &TreeNode), (j, b): (AreaId, &TreeNode)) -> f64 {
        let of = |which, body: &Body, area, node: &TreeNode| {
            let Some(Primitive::Plane { normal, .. }) =
                body.features()[body.feature_of(area).index()].primitive
            else {
                return 0.0;
            };
            let Moving { rotation, lasts, .. } = *self.moving;
            let far = farthest_point(body);
            let along = self.moving.speed_along(which, &normal, 0.0, (far, lasts));
            let spare = allowance(node, rotation, self.moving.speed_within(which, (far, lasts)));
            travel_time(self.clearance, along + spare, 0.0)
        };
        of(Which::A, self.a, i, a).max(of(Which::B, self.b, j, b))
    }

    /// Visits pairs of nodes from the roots, and continues with the children of those for which `open`
    /// returns `true`.
    fn traverse(&self, work: &mut Workspace, mut open: impl FnMut(&PairBounds) -> bool) {
        let (a, b) = (self.a.tree(), self.b.tree());
        if a.is_empty() || b.is_empty() {
            return;
        }
        work.restart(a, b);
        let options = QueryOptions {
            d_max: self.distance.max(0.0),
            penetration: self.depth,
            ..QueryOptions::default()
        };
        let cull = CullContext::new(&self.moving.pose_ab, &self.tol, &options);
        let fields = [towards(&self.moving.in_a, Which::A), towards(&self.moving.in_b, Which::B)];
        work.stack.push(<_>::default());
        while let Some((i, j)) = work.stack.pop() {
            work.visited += 1;
            let bounds = self.bounds(&cull, &fields, (i, j), work);
            if !open(&bounds) || bounds.is_leaf {
                continue;
            }
            let (node_a, node_b) = (&a[i.index()], &b[j.index()]);
            let [first, second] = opened(
                (i, node_a.children(), node_a.obb.radius()),
                (j, node_b.children(), node_b.obb.radius()),
            );
            work.stack.extend([second, first]);
        }
    }

    fn bounds(
        &self,
        cull: &CullContext,
        fields: &[Twist; 2],
        (i, j): (NodeId, NodeId),
        work: &mut Workspace,
    ) -> PairBounds {
        let (tree_a, tree_b) = (self.a.tree(), self.b.tree());
        let (a, own_b) = (&tree_a[i.index()], &tree_b[j.index()]);
        let is_leaf = a.area().is_some() && own_b.area().is_some();
        let of_a = work.closing(Which::A, (self.a, i), &fields[0]);
        let of_b = work.closing(Which::B, (self.b, j), &fields[1]);
        let time_by = |closing: ClosingSpeed, split: &MotionSplit| {
            closing_time(self.clearance, closing.max, split.change)
        };
        let splits = &self.moving.splits;
        let (from_b, from_a) = (&splits[0], &splits[splits.len() - 1]);
        let mut closes = time_by(of_a, from_a).max(time_by(of_b, from_b));
        let b = *work.placed.get(tree_b, &cull.pose, j);
        let time_of = |margin: Option<Motion>| margin.map_or(0.0, |m| self.margin_time(m));
        let mut first = time_of(cull.facing(a, &b, || b.cap.axis));
        if first < f64::INFINITY {
            first = first.max(self.boxes_apart(cull.reach_of(a, &b), &a.obb, &b.obb));
        }
        if let (Some(area_a), Some(area_b), true) = (a.area(), own_b.area(), first < self.moving.lasts) {
            let of = |body: &Body, area| body.features()[body.feature_of(area).index()].zone;
            let (za, zb) = (of(self.a, area_a), of(self.b, area_b));
            first = first.max(time_of(cull.zones((&za, a), (&zb, &b))));
            let (leaf_a, leaf_b) = ((self.a, area_a), (self.b, area_b, &b));
            first = first.max(time_of(cull.leaves(leaf_a, leaf_b, &mut { NO_HINT })));
            let inner = splits.get(1..splits.len() - 1).unwrap_or(&[]);
            if first.max(closes) < self.moving.lasts && !inner.is_empty() {
                closes = closes.max(self.time_to_close(inner, (area_a, a), (area_b, own_b)));
                closes = closes.max(self.plane_time((area_a, a), (area_b, own_b)));
            }
        }
        PairBounds { first, closes, min_closing: of_a.min.max(of_b.min), is_leaf, nodes: (i, j) }
    }

    /// Shortest time in which the motion can use up the margin of a culling test.
    fn margin_time(&self, margin: Motion) -> f64 {
        let by_length = travel_time(margin.displacement, self.moving.speed, 0.0);
        by_length.min(travel_time(margin.rotation, self.moving.rotation, 0.0))
    }

    /// Time for which two boxes, both in A's frame, are proved to stay farther apart than `reach` (mm),
    /// along the axis that separates them now.
    fn boxes_apart(&self, reach: f64, a: &Obb, b: &Obb) -> f64 {
        let Some((axis, gap)) = gap_in_frame(a, b, reach) else { return 0.0 };
        let Some(u) = separating_axis(a, b, axis) else { return 0.0 };
        let field = &self.moving.in_a;
        let turned = field.w.cross(&u);
        let closing = -u.dot(&field.at(&b.center)) + spread_along(b, &turned);
        // The largest speed of any point is a bound without acceleration.
        let by_axis = travel_time(gap - reach, closing, self.moving.acceleration);
        by_axis.max(travel_time(gap - reach, self.moving.speed, 0.0))
    }
}

/// Time for which the points of one piece are not deeper than a level below another piece.
struct OsculatingTime {
    /// Lower bound of the time; 0 if it is not longer than a known one.
    time: f64,
    /// Solid whose piece is to be halved for a longer time, and the parameter; `None` if that would not help.
    halved: Option<(Which, usize)>,
}

/// Whether a unit direction is within `angle` (rad) of a cone of revolution.
fn within(cap: &Cap, n: &V3, angle: f64) -> bool {
    let (sin, cos) = math::sin_cos(angle);
    let wide = (cap.sin * cos + cap.cos * sin, cap.cos * cos - cap.sin * sin);
    wide.0 <= 0.0 || cap.axis.dot(n) >= wide.1
}

/// Bounds for the minima with footpoints in the areas below two nodes.
struct PairBounds {
    /// Lower bound of the time from now at which one of these minima can be the nearest one of the solids.
    first: f64,
    /// Lower bound of the time from now in which the distance of these minima can decrease by the clearance.
    closes: f64,
    /// Lower bound of their closing speed.
    min_closing: f64,
    /// Whether both nodes are leaves.
    is_leaf: bool,
    /// The two nodes.
    nodes: NodePair,
}

impl Workspace {
    fn restart(&mut self, a: &[TreeNode], b: &[TreeNode]) {
        let empty = CachedClosing { search: 0, speed: ClosingSpeed { min: 0.0, max: 0.0 } };
        let sizes = [a.len(), b.len()];
        if self.current == u32::MAX || self.closing.iter().zip(sizes).any(|(k, n)| k.len() != n) {
            for (cache, n) in self.closing.iter_mut().zip(sizes) {
                cache.clear();
                cache.resize(n, empty);
            }
            self.current = 0;
        }
        self.current += 1;
        self.placed.restart(b);
        self.stack.clear();
    }

    /// Closing speed of a node, computed at its first use in a search.
    fn closing(&mut self, which: Which, (body, i): (&Body, NodeId), field: &Twist) -> ClosingSpeed {
        let cached = &mut self.closing[which as usize][i.index()];
        if cached.search != self.current {
            let node = &body.tree()[i.index()];
            let speed = match node.area() {
                Some(area) => of_area(body, area, node, field),
                None => ClosingSpeed { min: f64::NEG_INFINITY, max: max_below_node(node, field) },
            };
            *cached = CachedClosing { search: self.current, speed };
        }
        cached.speed
    }
}
