//! Builds the tree above the leaves.
//!
//! # Source
//! BREP §2.4.4 (top-down).
//!
//! # Deviations
//! Sets of leaves are divided at the minimum of a cost, not at the median ([`mod@divide`]).

mod divide;

use feeler_geom::{Obb, P3, RevolutionCone, V3};
use feeler_hierarchy::{Area, Node};
use std::f64::consts::FRAC_PI_2;

use crate::bound::Leaf;
use crate::boxes::boxed;
use divide::{Item, Scratch, divide};

/// Maximum number of leaves below a node whose directions are enclosed directly in the node's cone. For
/// more leaves, the union of the cones of the children is used. A direct enclosure is tighter, but its
/// cost grows with the number of leaves while that of a union does not.
const MAX_DIRECT_LEAVES: usize = 8;

/// Number of levels below the children of a node from which the points for the node's box are collected.
/// The corners of boxes at that depth stand for everything below; leaves above it contribute their own
/// points.
const BOX_POINT_LEVELS: u32 = 1;

/// Depth of the tree beyond which sets are halved by number of leaves, so that the tree does not exceed
/// the maximum depth that a file may have. A cut leaves at least an eighth of the leaves on each side,
/// so that only very uneven models with millions of leaves reach this depth.
const FREE_DEPTH: u32 = 32;

/// Builds the tree above the leaves. Returns the areas in the order of the tree's leaves, and the nodes.
/// `types` returns the bit of the type of a leaf's feature.
pub(crate) fn build(leaves: Vec<Leaf>, types: &dyn Fn(&Leaf) -> u16) -> (Vec<Area>, Vec<Node>) {
    let n = leaves.len();
    let mut builder = Builder {
        leaves: &leaves,
        types,
        items: leaves.iter().map(Item::new).collect(),
        order: (0..feeler_geom::count::index(n)).collect(),
        scratch: Scratch::new(),
        points: Vec::new(),
        generators: Vec::new(),
        nodes: Vec::with_capacity((2 * n).saturating_sub(1)),
    };
    if n > 0 {
        builder.nodes.push(BLANK);
        builder.fill(0, 0, n, 1);
    }
    let (order, nodes) = (builder.order, builder.nodes);
    let mut slots: Vec<Option<Leaf>> = leaves.into_iter().map(Some).collect();
    let areas = order
        .iter()
        .filter_map(|&i| slots[i as usize].take())
        .map(|l| Area { feature: l.feature, rect: l.rect, cone: l.poly })
        .collect();
    (areas, nodes)
}

const BLANK: Node = Node {
    obb: Obb {
        center: P3::new(0.0, 0.0, 0.0),
        axes: [V3::new(0.0, 0.0, 0.0); 3],
        half: V3::new(0.0, 0.0, 0.0),
    },
    cone: RevolutionCone { axis: V3::new(0.0, 0.0, 1.0), half_angle: 0.0 },
    types: 0,
    link: 0,
};

struct Builder<'a> {
    leaves: &'a [Leaf],
    types: &'a dyn Fn(&Leaf) -> u16,
    items: Vec<Item>,
    order: Vec<u32>,
    scratch: Scratch,
    points: Vec<P3>,
    generators: Vec<V3>,
    nodes: Vec<Node>,
}

impl Builder<'_> {
    /// Fills node `at`, which has depth `depth`, with the leaves `order[from..to]`, and creates the
    /// nodes below it. The recursion is as deep as the tree.
    fn fill(&mut self, at: usize, from: usize, to: usize, depth: u32) {
        if to - from == 1 {
            let leaf = self.leaf(from);
            self.nodes[at] = Node {
                obb: leaf.obb,
                cone: leaf.cone,
                types: (self.types)(leaf),
                link: Node::LEAF | feeler_geom::count::index(from),
            };
            return;
        }
        let part = &mut self.order[from..to];
        let mid = from + divide(&self.items, part, depth > FREE_DEPTH, &mut self.scratch);
        let child = self.nodes.len();
        self.nodes.extend([BLANK, BLANK]);
        self.fill(child, from, mid, depth + 1);
        self.fill(child + 1, mid, to, depth + 1);
        let mut points = std::mem::take(&mut self.points);
        points.clear();
        self.gather(child, BOX_POINT_LEVELS, &mut points);
        self.gather(child + 1, BOX_POINT_LEVELS, &mut points);
        let (a, b) = (self.nodes[child], self.nodes[child + 1]);
        self.nodes[at] = Node {
            obb: boxed(&points, &[a.obb.axes, b.obb.axes]),
            cone: self.cone(from, to, &a.cone.union(&b.cone)),
            types: a.types | b.types,
            link: feeler_geom::count::index(child),
        };
        self.points = points;
    }

    /// Returns the leaf at position `at` of `order`.
    fn leaf(&self, at: usize) -> &Leaf {
        &self.leaves[self.order[at] as usize]
    }

    /// Appends points to `out` whose convex hull contains all areas below the node: the points of leaves
    /// down to `levels` levels below it, and the corners of the boxes of inner nodes at that level.
    fn gather(&self, node: usize, levels: u32, out: &mut Vec<P3>) {
        let n = &self.nodes[node];
        match (n.area(), n.children()) {
            (Some(area), _) => out.extend_from_slice(&self.leaf(area.index()).points),
            (None, Some([a, b])) if levels > 0 => {
                self.gather(a.index(), levels - 1, out);
                self.gather(b.index(), levels - 1, out);
            }
            _ => out.extend(n.obb.corners()),
        }
    }

    fn cone(&mut self, from: usize, to: usize, union: &RevolutionCone) -> RevolutionCone {
        if to - from > MAX_DIRECT_LEAVES || union.is_all() {
            return *union;
        }
        let mut generators = std::mem::take(&mut self.generators);
        generators.clear();
        let leaves = || (from..to).map(|k| self.leaf(k));
        leaves().for_each(|l| generators.extend_from_slice(&l.spread));
        let mut direct = RevolutionCone::around_units(&generators);
        // Only a cone narrower than a half-space is convex and contains the conical hull of its
        // generators. A wider one must contain the cones of all leaves.
        if direct.half_angle > FRAC_PI_2 - 1e-6 {
            let reach = |c: &RevolutionCone| angle(&direct.axis, &c.axis) + c.half_angle;
            let half = leaves().fold(0.0, |m: f64, l| m.max(reach(&l.cone)));
            direct.half_angle = half + 1e-12;
        }
        self.generators = generators;
        if direct.half_angle < union.half_angle { direct } else { *union }
    }
}

fn angle(a: &V3, b: &V3) -> f64 {
    feeler_geom::math::atan2(a.cross(b).norm(), a.dot(b))
}
