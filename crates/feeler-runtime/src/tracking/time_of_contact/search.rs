//! Time for which the smallest distance stays above a limit, by branch and bound over pairs of nodes.
//!
//! The smallest distance is that of a minimum whose footpoints are in some pair of areas. A pair can
//! contain it only from the first time on at which its boxes are nearer than the current smallest
//! distance and its cones face each other. From then on, the distance decreases at most at the closing
//! speed of the areas ([`super::closing`]). The smallest distance therefore stays above the limit until
//! the minimum over all pairs of `max(first time, clearance / closing speed)`. Pairs with a later time
//! than the best one so far are not opened.
//!
//! # Source
//! Conservative advancement (Mirtich 1996; Zhang, Redon, Lee, Kim 2007), with directions instead of speeds.

use super::closing::{ClosingSpeed, max_below_node, of_area, towards};
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
}

/// Closing speed of a node, valid in the search with the given number.
#[derive(Clone, Copy, Debug)]
struct CachedClosing {
    search: u32,
    speed: ClosingSpeed,
}

/// Search for the time for which the distance of two moving solids stays above a limit.
pub(crate) struct Search<'a> {
    pub a: &'a Body,
    pub b: &'a Body,
    pub moving: &'a Moving,
    pub tol: Tolerances,
    /// Lower bound (mm) of the current smallest distance.
    pub distance: f64,
    /// Length (mm) by which the distance may decrease until it reaches the limit.
    pub clearance: f64,
}

impl Search<'_> {
    /// Time for which the distance is proved to stay above the limit, at most the duration of the
    /// motion's bounds.
    pub(crate) fn safe_time(&self, work: &mut Workspace) -> f64 {
        let mut best = self.moving.lasts;
        self.traverse(work, |pair| {
            let time = pair.first.max(self.time_to_close(pair.closing.max));
            if pair.is_leaf {
                best = best.min(time);
            }
            time < best
        });
        best
    }

    /// Whether the smallest distance is proved not to grow during the time `time` from now on.
    pub(crate) fn only_decreases(&self, time: f64, work: &mut Workspace) -> bool {
        let mut decreases = true;
        let rounding = 1e-9 * self.moving.speed;
        let change = self.moving.change_a.max(self.moving.change_b) * time;
        self.traverse(work, |pair| {
            let counts = pair.first < time;
            if counts && pair.is_leaf {
                decreases &= pair.closing.min - change >= -rounding;
            }
            decreases && counts
        });
        decreases
    }

    /// Shortest time in which the distance can decrease by `clearance`, given the current maximum closing
    /// speed.
    fn time_to_close(&self, max_closing: f64) -> f64 {
        let change = self.moving.change_a.max(self.moving.change_b);
        travel_time(self.clearance, max_closing, change)
    }

    /// Visits pairs of nodes from the roots, and continues with the children of those for which `open`
    /// returns `true`.
    fn traverse(&self, work: &mut Workspace, mut open: impl FnMut(&PairBounds) -> bool) {
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
        let closing = ClosingSpeed { min: of_a.min.max(of_b.min), max: of_a.max.min(of_b.max) };
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
        }
        PairBounds { first, closing, is_leaf }
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
        let over_box = |(axis, half): (&V3, &f64)| half * axis.dot(&turned).abs();
        let closing =
            -u.dot(&field.at(&b.center)) + b.axes.iter().zip(b.half.iter()).map(over_box).sum::<f64>();
        // The largest speed of any point is a bound without acceleration.
        let by_axis = travel_time(gap - reach, closing, self.moving.acceleration);
        by_axis.max(travel_time(gap - reach, self.moving.speed, 0.0))
    }
}

/// Bounds for the minima with footpoints in the areas below two nodes.
struct PairBounds {
    /// Lower bound of the time from now at which one of these minima can be the nearest one of the solids.
    first: f64,
    /// Bounds of the closing speed of these minima.
    closing: ClosingSpeed,
    /// Whether both nodes are leaves.
    is_leaf: bool,
}

/// Shortest time in which a motion with the given initial speed and maximum acceleration (at least 0)
/// covers a length above 0; infinite if it never does.
fn travel_time(length: f64, speed: f64, acceleration: f64) -> f64 {
    let root = (speed * speed + 2.0 * acceleration * length).sqrt();
    let sum = speed + root;
    if length == f64::INFINITY || sum <= 0.0 { f64::INFINITY } else { 2.0 * length / sum }
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
