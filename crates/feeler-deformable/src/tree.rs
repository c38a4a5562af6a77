//! Trees of boxes around features.

use feeler_geom::{Aabb, P3};

/// Features that share a tree of boxes. Contacts and forces are the same for all scopes. Lists of near
/// features can differ, so a step of bodies that move too fast for their skins can fail with one scope, and a
/// step earlier or later with another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TreeScope {
    /// Each piece with a near pair has a tree, which all its pairs share.
    #[default]
    Piece,
    /// Each near pair has a tree for each of its two pieces, as in DIST 3.3. More boxes are computed than
    /// with [`TreeScope::Piece`].
    Pair,
    /// One tree contains the features of all bodies, and the features of all near pairs are collected at
    /// once. The tree is built when the first pair is near, and becomes slow if bodies move far from there.
    Scene,
}

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
    /// Sum over all levels of the number of features that were sorted for the construction.
    sorted: u64,
}

impl Tree {
    /// Creates a tree of `items` with the boxes `bounds`, by halves along the longest axis.
    pub(crate) fn new(items: impl IntoIterator<Item = u32>, bounds: impl Fn(u32) -> Aabb) -> Self {
        let mut keyed: Vec<(u32, P3)> = items.into_iter().map(|i| (i, bounds(i).center())).collect();
        let (mut nodes, mut sorted) = (Vec::new(), 0);
        build(&mut nodes, &mut keyed, 0, &mut sorted);
        let items: Vec<u32> = keyed.iter().map(|k| k.0).collect();
        Self { nodes, item_bounds: vec![Aabb::empty(); items.len()], items, sorted }
    }

    /// Sum over all levels of the number of features that were sorted for the construction.
    pub(crate) fn sorted(&self) -> u64 {
        self.sorted
    }

    /// Number of boxes of features and nodes.
    pub(crate) fn num_boxes(&self) -> u64 {
        (self.nodes.len() + self.items.len()) as u64
    }

    /// Owner of all features below each node, by the owners of features; `None` for several owners.
    pub(crate) fn owners(&self, owner: impl Fn(u32) -> u32) -> Vec<Option<u32>> {
        let of_node = |node: &TreeNode| {
            let items = &self.items[node.items[0] as usize..node.items[1] as usize];
            let first = owner(*items.first()?);
            items.iter().all(|&i| owner(i) == first).then_some(first)
        };
        self.nodes.iter().map(of_node).collect()
    }

    /// Computes all boxes from those of the features.
    pub(crate) fn refit(&mut self, bounds: impl Fn(u32) -> Aabb) {
        for (b, &item) in self.item_bounds.iter_mut().zip(&self.items) {
            *b = bounds(item);
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
    /// `stack` is scratch memory. Returns the number of pairs of boxes that were tested.
    pub(crate) fn near_pairs(
        &self,
        other: &Self,
        reach: f64,
        stack: &mut Vec<[u32; 2]>,
        mut visit: impl FnMut(u32, u32),
    ) -> u64 {
        stack.clear();
        if !self.nodes.is_empty() && !other.nodes.is_empty() {
            stack.push([0, 0]);
        }
        let mut tests = 0;
        while let Some([i, j]) = stack.pop() {
            let (a, b) = (&self.nodes[i as usize], &other.nodes[j as usize]);
            tests += 1;
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
                tests += u64::from(a.items[1] - a.items[0]) * u64::from(b.items[1] - b.items[0]);
                for k in a.items[0]..a.items[1] {
                    for l in b.items[0]..b.items[1] {
                        if are_near(&self.item_bounds[k as usize], &other.item_bounds[l as usize], reach) {
                            visit(self.items[k as usize], other.items[l as usize]);
                        }
                    }
                }
            }
        }
        tests
    }

    /// Like [`Tree::near_pairs`], for the features of one tree that have different owners, each pair once.
    /// `owners` are those of [`Tree::owners`]; pairs of nodes of one owner are skipped without a test.
    pub(crate) fn near_pairs_within(
        &self,
        owners: &[Option<u32>],
        reach: f64,
        stack: &mut Vec<[u32; 2]>,
        mut visit: impl FnMut(u32, u32),
    ) -> u64 {
        stack.clear();
        if !self.nodes.is_empty() {
            stack.push([0, 0]);
        }
        let mut tests = 0;
        while let Some([i, j]) = stack.pop() {
            let owner = owners[i as usize];
            if owner.is_some() && owner == owners[j as usize] {
                continue;
            }
            let (a, b) = (&self.nodes[i as usize], &self.nodes[j as usize]);
            let (is_leaf_a, is_leaf_b) = (a.second == 0, b.second == 0);
            if i == j && !is_leaf_a {
                stack.extend([[a.second, a.second], [i + 1, a.second], [i + 1, i + 1]]);
                continue;
            }
            if i != j {
                tests += 1;
                if !are_near(&a.bounds, &b.bounds, reach) {
                    continue;
                }
            }
            if !is_leaf_a && (is_leaf_b || a.items[1] - a.items[0] >= b.items[1] - b.items[0]) {
                stack.extend([[a.second, j], [i + 1, j]]);
            } else if !is_leaf_b {
                stack.extend([[i, b.second], [i, j + 1]]);
            } else {
                for k in a.items[0]..a.items[1] {
                    let first = if i == j { k + 1 } else { b.items[0] };
                    tests += u64::from(b.items[1].saturating_sub(first));
                    for l in first..b.items[1] {
                        if are_near(&self.item_bounds[k as usize], &self.item_bounds[l as usize], reach) {
                            visit(self.items[k as usize], self.items[l as usize]);
                        }
                    }
                }
            }
        }
        tests
    }
}

fn are_near(a: &Aabb, b: &Aabb, reach: f64) -> bool {
    (0..3).all(|i| a.min[i] - b.max[i] <= reach && b.min[i] - a.max[i] <= reach)
}

/// Appends the nodes for `items` in preorder. The depth is at most the binary logarithm of their number.
#[expect(clippy::cast_possible_truncation, reason = "the number of features was checked")]
fn build(nodes: &mut Vec<TreeNode>, items: &mut [(u32, P3)], first: usize, sorted: &mut u64) {
    let index = nodes.len();
    let range = [first as u32, (first + items.len()) as u32];
    nodes.push(TreeNode { bounds: Aabb::empty(), items: range, second: 0 });
    if items.len() <= MAX_LEAF_FEATURES {
        return;
    }
    *sorted += items.len() as u64;
    let extent = Aabb::of_points(items.iter().map(|i| &i.1));
    let axis = (extent.max - extent.min).imax();
    items.sort_unstable_by(|a, b| a.1[axis].total_cmp(&b.1[axis]).then(a.0.cmp(&b.0)));
    let half = items.len() / 2;
    let (low, high) = items.split_at_mut(half);
    build(nodes, low, first, sorted);
    nodes[index].second = nodes.len() as u32;
    build(nodes, high, first + half, sorted);
}
