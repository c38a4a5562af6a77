//! Parts of a solid whose ways are told apart: what is near the axis of a turn moves less than what is far from it.
//!
//! A region is the box of a node; all nodes below it belong to it.

use feeler_geom::{Obb, P3};

/// A node of a tree of boxes whose children are adjacent and behind it.
pub(crate) trait BoxNode {
    fn obb(&self) -> &Obb;
    /// Half the diagonal of the box (mm).
    fn radius(&self) -> f64;
    /// First of the two children of an inner node.
    fn children(&self) -> Option<u32>;
    fn set_region(&mut self, region: u8);
}

/// At most `n` nodes that together hold all leaves: the largest ones are opened first.
pub(crate) fn cut(tree: &[impl BoxNode], n: usize) -> Vec<u32> {
    let mut nodes: Vec<u32> = if tree.is_empty() { vec![] } else { vec![0] };
    let node = |i: u32| &tree[i as usize];
    while nodes.len() < n {
        let inner = (0..nodes.len()).filter(|&k| node(nodes[k]).children().is_some());
        let largest = inner.max_by(|&k, &l| node(nodes[k]).radius().total_cmp(&node(nodes[l]).radius()));
        let Some((k, first)) = largest.and_then(|k| Some((k, node(nodes[k]).children()?))) else { break };
        nodes[k] = first;
        nodes.push(first + 1);
    }
    nodes
}

/// Divides a tree into at most `n` regions, and appends the centres and radii of their boxes to `regions`. The number of a region is its
/// position there and one more; nodes above the regions get 0, which stands for the whole solid.
pub(super) fn divide(tree: &mut [impl BoxNode], n: usize, regions: &mut Vec<(P3, f64)>) {
    let roots = cut(tree, n);
    let mut of_node = vec![0_u8; tree.len()];
    for root in roots {
        let Ok(number) = u8::try_from(regions.len() + 1) else { break };
        let node = &tree[root as usize];
        regions.push((node.obb().center, node.radius()));
        of_node[root as usize] = number;
    }
    for i in 0..tree.len() {
        tree[i].set_region(of_node[i]);
        if let (Some(first), true) = (tree[i].children(), of_node[i] > 0) {
            of_node[first as usize] = of_node[i];
            of_node[first as usize + 1] = of_node[i];
        }
    }
}
