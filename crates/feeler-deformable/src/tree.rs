//! Trees of boxes around the features of one piece.

use crate::surface::Feature;
use feeler_geom::{Aabb, P3};

/// Maximum number of features in a leaf. With a larger value, more pairs of boxes are tested; a smaller value
/// needs more memory.
const MAX_LEAF_FEATURES: usize = 4;

#[derive(Clone, Copy, Debug)]
struct TreeNode {
    bounds: Aabb,
    /// Range of the items below the node.
    items: [u32; 2],
    /// Index of the second child, 0 for leaves; the first child follows its parent.
    second: u32,
}

/// Tree of boxes. The shape of the tree follows from the positions at its construction; the boxes are updated
/// by [`Tree::refit`].
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    nodes: Vec<TreeNode>,
    items: Vec<u32>,
    item_bounds: Vec<Aabb>,
}

fn bounds(feature: &Feature, positions: &[P3]) -> Aabb {
    Aabb::of_points(feature.nodes[..feature.count].iter().map(|&n| &positions[n as usize]))
}

impl Tree {
    /// Creates a tree of the features `items`, by halves along the longest axis.
    pub(crate) fn new(features: &[Feature], items: &[u32], positions: &[P3]) -> Self {
        let mut keyed: Vec<(u32, P3)> =
            items.iter().map(|&i| (i, bounds(&features[i as usize], positions).center())).collect();
        let mut nodes = Vec::new();
        build(&mut nodes, &mut keyed, 0);
        let items: Vec<u32> = keyed.iter().map(|k| k.0).collect();
        let mut tree = Self { nodes, item_bounds: vec![Aabb::empty(); items.len()], items };
        tree.refit(features, positions);
        tree
    }

    /// Computes all boxes from the positions of the nodes.
    pub(crate) fn refit(&mut self, features: &[Feature], positions: &[P3]) {
        for (b, &item) in self.item_bounds.iter_mut().zip(&self.items) {
            *b = bounds(&features[item as usize], positions);
        }
        for k in (0..self.nodes.len()).rev() {
            let node = self.nodes[k];
            self.nodes[k].bounds = if node.second == 0 {
                let range = node.items[0] as usize..node.items[1] as usize;
                self.item_bounds[range].iter().fold(Aabb::empty(), |sum, b| sum.union(b))
            } else {
                self.nodes[k + 1].bounds.union(&self.nodes[node.second as usize].bounds)
            };
        }
    }

    /// Calls `visit` for all pairs of features whose boxes are at most `reach` (mm) apart along every axis.
    /// `stack` is scratch memory.
    pub(crate) fn near_pairs(
        &self,
        other: &Self,
        reach: f64,
        stack: &mut Vec<[u32; 2]>,
        mut visit: impl FnMut(u32, u32),
    ) {
        stack.clear();
        if !self.nodes.is_empty() && !other.nodes.is_empty() {
            stack.push([0, 0]);
        }
        while let Some([i, j]) = stack.pop() {
            let (a, b) = (&self.nodes[i as usize], &other.nodes[j as usize]);
            if !are_near(&a.bounds, &b.bounds, reach) {
                continue;
            }
            let splits_a =
                a.second != 0 && (b.second == 0 || a.items[1] - a.items[0] >= b.items[1] - b.items[0]);
            if splits_a {
                stack.extend([[a.second, j], [i + 1, j]]);
            } else if b.second != 0 {
                stack.extend([[i, b.second], [i, j + 1]]);
            } else {
                for k in a.items[0]..a.items[1] {
                    for l in b.items[0]..b.items[1] {
                        if are_near(&self.item_bounds[k as usize], &other.item_bounds[l as usize], reach) {
                            visit(self.items[k as usize], other.items[l as usize]);
                        }
                    }
                }
            }
        }
    }
}

fn are_near(a: &Aabb, b: &Aabb, reach: f64) -> bool {
    (0..3).all(|i| a.min[i] - b.max[i] <= reach && b.min[i] - a.max[i] <= reach)
}

/// Appends the nodes for `items` in preorder. The depth is at most the binary logarithm of their number.
#[expect(clippy::cast_possible_truncation, reason = "the number of features was checked")]
fn build(nodes: &mut Vec<TreeNode>, items: &mut [(u32, P3)], first: usize) {
    let index = nodes.len();
    let range = [first as u32, (first + items.len()) as u32];
    nodes.push(TreeNode { bounds: Aabb::empty(), items: range, second: 0 });
    if items.len() <= MAX_LEAF_FEATURES {
        return;
    }
    let extent = Aabb::of_points(items.iter().map(|i| &i.1));
    let axis = (extent.max - extent.min).imax();
    items.sort_unstable_by(|a, b| a.1[axis].total_cmp(&b.1[axis]).then(a.0.cmp(&b.0)));
    let half = items.len() / 2;
    let (low, high) = items.split_at_mut(half);
    build(nodes, low, first);
    nodes[index].second = nodes.len() as u32;
    build(nodes, high, first + half);
}
