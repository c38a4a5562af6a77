//! How long the smallest distance stays above a limit: branch and bound over pairs of nodes.
//!
//! The smallest distance is that of a minimum, whose footpoints are in some pair of areas. A pair has a say
//! only once its boxes are nearer than the smallest distance now and its cones face each other, and then the
//! distance falls no faster than the areas allow ([`super::closing`]). So it stays above the limit up to the
//! time T, the smallest of `max(first say, room / closing)` over all pairs: those that are later than the
//! best found so far are not opened.
//!
//! # Source
//! Conservative advancement (Mirtich 1996; Zhang, Redon, Lee, Kim 2007), by directions instead of speeds.

use super::closing::{below_node, of_area, towards};
use super::moving::Moving;
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
use feeler_geom::obb::{gap_in_frame, separating_axis};
use feeler_geom::{Obb, Twist, V3};
use feeler_hierarchy::NodeId;

/// Memory of searches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Workspace {
    placed: PlacedTree<TreeNode>,
    stack: Vec<NodePair>,
    /// What is known of nodes, of A and of B.
    known: [Vec<Known>; 2],
    current: u32,
    /// Pairs that were looked at.
    pub looked_at: u64,
}

/// Bounds of closing at a node, for the search of a number.
#[derive(Clone, Copy, Debug)]
struct Known {
    search: u32,
    least: f64,
    most: f64,
}

/// What a search asks.
pub(crate) struct Search<'a> {
    pub a: &'a Body,
    pub b: &'a Body,
    pub moving: &'a Moving,
    pub tol: Tolerances,
    /// The smallest distance (mm) now, or less.
    pub distance: f64,
    /// By how much (mm) it may fall.
    pub room: f64,
}

impl Search<'_> {
    /// For how long the distance stays above the limit at least, no longer than the motion lasts.
    pub(crate) fn safe_time(&self, work: &mut Workspace) -> f64 {
        let mut best = self.moving.lasts;
        self.walk(work, |pair| {
            let time = pair.first.max(self.time_to_fall(pair.most));
            if pair.is_leaf {
                best = best.min(time);
            }
            time < best
        });
        best
    }

    /// Whether the smallest distance does not grow for this long.
    pub(crate) fn only_falls(&self, time: f64, work: &mut Workspace) -> bool {
        let mut falls = true;
        let rounding = 1e-9 * self.moving.speed;
        let change = self.moving.change_a.max(self.moving.change_b) * time;
        self.walk(work, |pair| {
            let counts = pair.first < time;
            if counts && pair.is_leaf {
                falls &= pair.least - change >= -rounding;
            }
            falls && counts
        });
        falls
    }

    /// The time in which the room is used up.
    fn time_to_fall(&self, most: f64) -> f64 {
        let change = self.moving.change_a.max(self.moving.change_b);
        until(self.room, most, change)
    }

    /// Visits pairs from the roots on; those that `open` tells to are opened.
    fn walk(&self, work: &mut Workspace, mut open: impl FnMut(&PairBounds) -> bool) {
        let (a, b) = (self.a.tree(), self.b.tree());
        if a.is_empty() || b.is_empty() {
            return;
        }
        work.restart(a, b);
        let options = QueryOptions { d_max: self.distance.max(0.0), ..QueryOptions::default() };
        let cull = CullContext::new(&self.moving.pose_ab, &self.tol, &options);
        let fields = [towards(&self.moving.in_a, Which::A), towards(&self.moving.in_b, Which::B)];
        work.stack.push(<_>::default());
        while let Some((i, j)) = work.stack.pop() {
            work.looked_at += 1;
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
        let of_a = work.known(Which::A, (self.a, i), &fields[0]);
        let of_b = work.known(Which::B, (self.b, j), &fields[1]);
        let (least, most) = (of_a.least.max(of_b.least), of_a.most.min(of_b.most));
        let b = *work.placed.get(tree_b, &cull.pose, j);
        let turns = |margin: Option<Motion>| margin.map_or(0.0, |m| self.lasting(m));
        let mut first = turns(cull.facing(a, &b, || b.cap.axis));
        if first < f64::INFINITY {
            first = first.max(self.boxes_apart(cull.reach_of(a, &b), &a.obb, &b.obb));
        }
        if let (Some(area_a), Some(area_b), true) = (a.area(), own_b.area(), first < self.moving.lasts) {
            let of = |body: &Body, area| body.features()[body.feature_of(area).index()].zone;
            let (za, zb) = (of(self.a, area_a), of(self.b, area_b));
            first = first.max(turns(cull.zones((&za, a), (&zb, &b))));
            let (leaf_a, leaf_b) = ((self.a, area_a), (self.b, area_b, &b));
            first = first.max(turns(cull.leaves(leaf_a, leaf_b, &mut { NO_HINT })));
        }
        PairBounds { first, least, most, is_leaf }
    }

    /// How long a margin lasts.
    fn lasting(&self, margin: Motion) -> f64 {
        let by_length = until(margin.displacement, self.moving.speed, 0.0);
        by_length.min(until(margin.rotation, self.moving.rotation, 0.0))
    }

    /// How long two boxes, both in A's frame, stay farther apart than `reach` (mm): along the axis that tells
    /// them apart now.
    fn boxes_apart(&self, reach: f64, a: &Obb, b: &Obb) -> f64 {
        let Some((axis, gap)) = gap_in_frame(a, b, reach) else { return 0.0 };
        let Some(u) = separating_axis(a, b, axis) else { return 0.0 };
        let field = &self.moving.in_a;
        let turned = field.w.cross(&u);
        let over_box = |(axis, half): (&V3, &f64)| half * axis.dot(&turned).abs();
        let closing =
            -u.dot(&field.at(&b.center)) + b.axes.iter().zip(b.half.iter()).map(over_box).sum::<f64>();
        // Nothing is faster than the fastest point.
        let by_axis = until(gap - reach, closing, self.moving.acceleration);
        by_axis.max(until(gap - reach, self.moving.speed, 0.0))
    }
}

/// What is known of a pair of nodes.
struct PairBounds {
    /// Earliest time at which a minimum below may be the nearest.
    first: f64,
    /// How fast its distance falls then.
    least: f64,
    most: f64,
    is_leaf: bool,
}

/// When a length (> 0) is used up by something with a speed and an acceleration (≥ 0) at most.
fn until(length: f64, speed: f64, acceleration: f64) -> f64 {
    let root = (speed * speed + 2.0 * acceleration * length).sqrt();
    let sum = speed + root;
    if length == f64::INFINITY || sum <= 0.0 { f64::INFINITY } else { 2.0 * length / sum }
}

impl Workspace {
    fn restart(&mut self, a: &[TreeNode], b: &[TreeNode]) {
        let unknown = Known { search: 0, least: 0.0, most: 0.0 };
        let sizes = [a.len(), b.len()];
        if self.current == u32::MAX || self.known.iter().zip(sizes).any(|(k, n)| k.len() != n) {
            for (known, n) in self.known.iter_mut().zip(sizes) {
                known.clear();
                known.resize(n, unknown);
            }
            self.current = 0;
        }
        self.current += 1;
        self.placed.restart(b);
        self.stack.clear();
    }

    fn known(&mut self, which: Which, (body, i): (&Body, NodeId), field: &Twist) -> Known {
        let known = &mut self.known[which as usize][i.index()];
        if known.search != self.current {
            let node = &body.tree()[i.index()];
            let (least, most) = match node.area() {
                Some(area) => {
                    let closing = of_area(body, area, node, field);
                    (closing.least, closing.most)
                }
                None => (f64::NEG_INFINITY, below_node(node, field)),
            };
            *known = Known { search: self.current, least, most };
        }
        *known
    }
}
