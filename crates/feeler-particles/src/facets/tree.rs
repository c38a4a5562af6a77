//! Which facets are near a ball: a tree of boxes.

use super::mesh::{Mesh, id};
use feeler_geom::{Aabb, P3};

/// A node: its box, and its facets or its children.
#[derive(Clone, Debug)]
struct Node {
    bounds: Aabb,
    /// Of a leaf its first facet in `order`, of another node its second child; the first one comes next.
    start: u32,
    /// Facets of a leaf; 0 otherwise.
    count: u32,
}

/// Boxes around facets. The topology stays as it was built; boxes can be fitted again.
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

    /// Halves the facets along the longest side of the box around their centres: the depth is log₂ of their
    /// number.
    fn build(&mut self, centers: &[P3], from: usize, to: usize) {
        let at = self.nodes.len();
        let is_leaf = to - from <= LEAF;
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

    /// Fits all boxes again.
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

    /// Facets whose boxes are within `reach` of a point, sorted.
    pub(super) fn near(&self, mesh: &Mesh, x: &P3, reach: f64, out: &mut Vec<u32>) {
        self.search(mesh, out, |b| b.distance_sq(x) <= reach * reach);
    }

    /// Facets whose boxes are straight above a point, sorted.
    pub(super) fn above(&self, mesh: &Mesh, x: &P3, out: &mut Vec<u32>) {
        let is_over = |b: &Aabb, k: usize| b.min[k] <= x[k] && x[k] <= b.max[k];
        self.search(mesh, out, |b| is_over(b, 0) && is_over(b, 1) && b.max.z >= x.z);
    }

    /// Facets whose boxes are wanted, sorted; what is wanted of a box is of all around it.
    fn search(&self, mesh: &Mesh, out: &mut Vec<u32>, is_wanted: impl Fn(&Aabb) -> bool) {
        out.clear();
        let mut stack = [0_u32; DEPTH];
        let mut open = 1;
        while open > 0 {
            open -= 1;
            let at = stack[open];
            let node = &self.nodes[at as usize];
            if !is_wanted(&node.bounds) {
                continue;
            }
            let start = node.start as usize;
            if node.count > 0 {
                let facets = &self.order[start..start + node.count as usize];
                out.extend(facets.iter().filter(|k| is_wanted(&bounds(mesh, **k))));
            } else {
                stack[open] = node.start;
                stack[open + 1] = at + 1;
                open += 2;
            }
        }
        out.sort_unstable();
    }

    /// Box around all facets.
    pub(super) fn bounds(&self) -> Aabb {
        self.nodes[0].bounds
    }
}

fn bounds(mesh: &Mesh, facet: u32) -> Aabb {
    Aabb::of_points(&mesh.corners(facet as usize))
}

/// Facets of a leaf.
const LEAF: usize = 4;

/// Nodes that wait at most: one for each level, and 2³¹ facets are halved 31 times.
const DEPTH: usize = 34;
