//! Regions: parts of a solid whose displacements are bounded separately. Parts near the axis of a rotation
//! move less than those far from it.
//!
//! A region is the box of a node; all nodes below it belong to it.

use feeler_geom::P3;
use feeler_hierarchy::NodeId;

/// Node of a tree of boxes: the centre of its box, half the diagonal (mm), and its children, which follow
/// it in the tree.
pub(super) type Node = (P3, f64, Option<[NodeId; 2]>);

/// Returns at most `n` nodes that together contain all leaves. The largest nodes are replaced by their
/// children first.
pub(super) fn cut(tree: &[Node], n: usize) -> Vec<NodeId> {
    let mut nodes = if tree.is_empty() { vec![] } else { vec![NodeId(0)] };
    let node = |i: NodeId| &tree[i.index()];
    while nodes.len() < n {
        let inner = (0..nodes.len()).filter(|&k| node(nodes[k]).2.is_some());
        let largest = inner.max_by(|&k, &l| node(nodes[k]).1.total_cmp(&node(nodes[l]).1));
        let Some((k, [first, second])) = largest.and_then(|k| Some((k, node(nodes[k]).2?))) else { break };
        nodes[k] = first;
        nodes.push(second);
    }
    nodes
}

/// Divides a tree into at most `n` regions, and appends their centres and radii (mm) to `regions`.
/// Returns for each node the number of the region that contains it, which is the index of the region in
/// `regions` plus one. Nodes above the regions get 0, the number of the whole solid.
pub(super) fn divide(tree: &[Node], n: usize, regions: &mut Vec<(P3, f64)>) -> Vec<u8> {
    let mut of_node = vec![0; tree.len()];
    for root in cut(tree, n) {
        let Ok(number) = u8::try_from(regions.len() + 1) else { break };
        let (center, radius, _) = tree[root.index()];
        regions.push((center, radius));
        of_node[root.index()] = number;
    }
    for (i, node) in tree.iter().enumerate() {
        if let (Some(children), true) = (node.2, of_node[i] > 0) {
            children.iter().for_each(|c| of_node[c.index()] = of_node[i]);
        }
    }
    of_node
}
