//! Tree of boxes that finds the facets near a point.

use super::mesh::{Mesh, id};
use feeler_geom::{Aabb, P3};

/// Node of the tree: its box, and its facets (a leaf) or its two children.
#[derive(Clone, Debug)]
struct Node {
    bounds: Aabb,
    /// For a leaf, the position of its first facet in [`Tree::order`]. For another node, the index of
    /// its second child; its first child is the next node.
    start: u32,
    /// Number of facets of a leaf; 0 for other nodes.
    count: u32,
}

/// Tree of boxes around facets. Its topology is fixed once it is built; boxes can be refitted.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    order: Vec<u32>,
}

impl Tree {
    pub(super) fn new(mesh: &Mesh) -> Self {
        let n = mesh.facets.len();
        let centers: Vec<P3> = (0..n).map(|k| bounds(mesh, id(k)).center()).collect();
        let mut tree = Self { nodes: Vec::with_capacity(n), order: (0..id(n)).collect() };
        tree.build(&centers, 0, n);
        tree.refit(mesh);
        tree
    }

    /// Appends the nodes of the subtree of the facets at positions `from..to` of `order`, without boxes,
    /// and sorts these positions. Facets are halved along the longest side of the box around their
    /// centres, so the depth is the base-2 logarithm of their number.
    fn build(&mut self, centers: &[P3], from: usize, to: usize) {
        let at = self.nodes.len();
        let is_leaf = to - from <= LEAF_SIZE;
        let count = if is_leaf { id(to - from) } else { 0 };
        self.nodes.push(Node { bounds: Aabb::empty(), start: id(from), count });
        if is_leaf {
            return;
        }
        let around = Aabb::of_points(self.order[from..to].iter().map(|k| &centers[*k as usize]));
        let axis = (around.max - around.min).imax();
        let middle = (to - from) / 2;
        self.order[from..to].select_nth_unstable_by(middle, |a, b| {
            centers[*a as usize][axis].total_cmp(&centers[*b as usize][axis]).then(a.cmp(b))
        });
        self.build(centers, from, from + middle);
        self.nodes[at].start = id(self.nodes.len());
        self.build(centers, from + middle, to);
    }

    /// Computes all boxes anew after the vertices of `mesh` have moved.
    pub(super) fn refit(&mut self, mesh: &Mesh) {
        for at in (0..self.nodes.len()).rev() {
            let node = &self.nodes[at];
            let start = node.start as usize;
            self.nodes[at].bounds = if node.count > 0 {
                let facets = &self.order[start..start + node.count as usize];
                facets.iter().fold(Aabb::empty(), |b, k| b.union(&bounds(mesh, *k)))
            } else {
                self.nodes[at + 1].bounds.union(&self.nodes[start].bounds)
            };
        }
    }

    /// Replaces `out` by the numbers of the facets whose boxes are within `reach` (mm) of the point `x`,
    /// increasing.
    pub(super) fn near(&self, mesh: &Mesh, x: &P3, reach: f64, out: &mut Vec<u32>) {
        self.search(mesh, out, |b| b.distance_sq(x) <= reach * reach);
    }

    /// Replaces `out` by the numbers of the facets whose boxes intersect the ray from the point `x`
    /// along +z, increasing.
    pub(super) fn above(&self, mesh: &Mesh, x: &P3, out: &mut Vec<u32>) {
        let is_over = |b: &Aabb, k: usize| b.min[k] <= x[k] && x[k] <= b.max[k];
        self.search(mesh, out, |b| is_over(b, 0) && is_over(b, 1) && b.max.z >= x.z);
    }

    /// Replaces `out` by the numbers of the facets whose boxes satisfy `is_accepted`, increasing. A box
    /// that contains an accepted box must be accepted, too.
    fn search(&self, mesh: &Mesh, out: &mut Vec<u32>, is_accepted: impl Fn(&Aabb) -> bool) {
        out.clear();
        let mut stack = [0_u32; MAX_STACK];
        let mut open = 1;
        while open > 0 {
            open -= 1;
            let at = stack[open];
            let node = &self.nodes[at as usize];
            if !is_accepted(&node.bounds) {
                continue;
            }
            let start = node.start as usize;
            if node.count > 0 {
                let facets = &self.order[start..start + node.count as usize];
                out.extend(facets.iter().filter(|k| is_accepted(&bounds(mesh, **k))));
            } else {
                stack[open] = node.start;
                stack[open + 1] = at + 1;
                open += 2;
            }
        }
        out.sort_unstable();
    }

    /// Bounding box of all facets.
    pub(super) fn bounds(&self) -> Aabb {
        self.nodes[0].bounds
    }
}

fn bounds(mesh: &Mesh, facet: u32) -> Aabb {
    Aabb::of_points(&mesh.corners(facet as usize))
}

/// Maximum number of facets of a leaf. With a larger value more facets are tested; with a smaller one
/// the tree has more nodes.
const LEAF_SIZE: usize = 4;

/// Maximum number of nodes on the stack: one for each level, and 2³¹ facets are halved 31 times.
const MAX_STACK: usize = 34;
