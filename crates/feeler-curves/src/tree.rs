//! Binary tree over a curve. Its leaves are equal parts of pieces; each inner node covers two adjacent
//! children.
//!
//! The tree is built once. When the control points move, leaves are cut again by halving, and boxes and
//! turnings are refitted from the leaves up, without allocation.
//!
//! # Source
//! BREP §4.3.3: a curve is cut at equal parameters offline, its tree keeps its topology, and boxes are
//! refitted.
//! # Deviations
//! Boxes are axis-aligned, because they are refitted in a few nanoseconds. Most pairs that they fail to
//! reject are rejected by the signs of slopes in `solve`.

use std::f64::consts::{FRAC_PI_2, PI};

use feeler_geom::V3;
use feeler_geom::count::index;

use crate::piece::{Piece, angle_bound, first_leg, halves, last_leg, turning};

/// Maximum turning (total angle by which the tangent rotates, rad) of a leaf in the shape that the tree
/// is built for. It is twice the flatness (0.5 rad) of BREP (docs/SOURCES.md): with 1.0, the compression and
/// release of the spring in the program benches/src/bin/springs.rs takes a fifth less time than with 0.5 or
/// 1.6. A larger value causes more bisection in each step; a smaller one gives more leaves to refit.
const MAX_LEAF_TURNING: f64 = 1.0;

/// Maximum number of times that a piece is halved when the tree is built. With a larger value, wildly
/// bent pieces have thousands of leaves; with a smaller one, they are bisected in each step.
const MAX_PIECE_HALVINGS: u32 = 6;

/// Minimum angle (rad) between the directions at a joint that makes it a corner. With a larger value,
/// bends are lost; with a smaller one, joints of smooth curves become vertices.
const MIN_CORNER_ANGLE: f64 = 1e-6;

/// Leaf of the tree: a part of a piece.
#[derive(Clone, Debug)]
pub(crate) struct Leaf<const N: usize> {
    pub control: Piece<N>,
    /// Parameters of the curve at the ends of the leaf.
    pub u: [f64; 2],
    /// Upper bound of the turning of the leaf (rad).
    pub turning: f64,
    /// Upper bounds of the turning (rad) from the start of the curve to the start of the leaf: without
    /// and with the turning at the joint there.
    pub turned: [f64; 2],
}

/// Axis-aligned bounding box of a part of a curve, without its radius.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub min: V3,
    pub max: V3,
}

impl Bounds {
    fn of(points: &[V3]) -> Self {
        let mut b = Self { min: points[0], max: points[0] };
        for p in &points[1..] {
            b.min = b.min.inf(p);
            b.max = b.max.sup(p);
        }
        b
    }

    fn union(&self, o: &Self) -> Self {
        Self { min: self.min.inf(&o.min), max: self.max.sup(&o.max) }
    }

    /// Squared distance (mm²) to another box; 0 if they overlap.
    pub(crate) fn distance_sq(&self, o: &Self) -> f64 {
        let gap = (self.min - o.max).sup(&(o.min - self.max)).sup(&V3::zeros());
        gap.norm_squared()
    }

    /// Squared distance (mm²) to a point; 0 if the box contains the point.
    pub(crate) fn distance_sq_to(&self, p: &V3) -> f64 {
        (self.min - p).sup(&(p - self.max)).sup(&V3::zeros()).norm_squared()
    }

    pub(crate) fn diagonal(&self) -> f64 {
        (self.max - self.min).norm()
    }
}

/// Tree node over the leaves `first .. first + count`. Nodes are stored in preorder: the left child of
/// node i is i + 1, and the right child follows after the `2 · left - 1` nodes of the left subtree,
/// where `left` is its number of leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub bounds: Bounds,
    pub first: u32,
    pub count: u32,
}

impl Node {
    fn left_count(&self) -> u32 {
        self.count / 2
    }

    pub(crate) fn last(&self) -> usize {
        (self.first + self.count - 1) as usize
    }
}

/// Corner or free end of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Vertex {
    /// Parameter of the vertex on the curve.
    pub u: f64,
    pub point: V3,
    /// Directions along the curve before and after the vertex, not normalised; `None` beyond a free end.
    pub before: Option<V3>,
    pub after: Option<V3>,
    /// Indices of the leaves before and after the vertex; `None` beyond a free end.
    pub leaves: [Option<u32>; 2],
}

/// Pieces of a curve with the tree over them.
#[derive(Clone, Debug)]
pub(crate) struct CurveTree<const N: usize> {
    pub pieces: Vec<Piece<N>>,
    pub leaves: Vec<Leaf<N>>,
    pub nodes: Vec<Node>,
    pub vertices: Vec<Vertex>,
    pub is_closed: bool,
    /// For each piece, the number of times that it is halved: a piece with `n` halvings has 2ⁿ leaves.
    halvings: Vec<u32>,
    /// Upper bound of the total turning (rad). For a closed curve it includes the joint where the curve
    /// starts.
    pub total_turning: f64,
}

impl<const N: usize> CurveTree<N> {
    pub(crate) fn new(pieces: Vec<Piece<N>>, is_closed: bool) -> Self {
        let halvings: Vec<u32> = pieces.iter().map(|p| halvings(p, 0)).collect();
        let mut leaves = Vec::new();
        for (k, piece) in pieces.iter().enumerate() {
            let n = 1_u32 << halvings[k];
            let u = |i: u32| k as f64 + f64::from(i) / f64::from(n);
            leaves.extend((0..n).map(|i| Leaf {
                control: *piece,
                u: [u(i), u(i + 1)],
                turning: 0.0,
                turned: [0.0; 2],
            }));
        }
        let mut nodes = Vec::with_capacity(2 * leaves.len() - 1);
        let count = u32::try_from(leaves.len()).expect("leaf indices fit in a u32");
        build(&mut nodes, 0, count);
        // At most all joints become corners, so updates never reallocate this list.
        let vertices = Vec::with_capacity(pieces.len() + 1);
        let mut tree = Self { pieces, leaves, nodes, vertices, is_closed, halvings, total_turning: 0.0 };
        tree.refit();
        tree
    }

    /// Updates leaves, turnings and boxes after `pieces` have moved.
    pub(crate) fn refit(&mut self) {
        let mut first = 0;
        for (piece, &halvings) in self.pieces.iter().zip(&self.halvings) {
            let n = 1 << halvings;
            cut(piece, &mut self.leaves[first..first + n]);
            first += n;
        }
        self.refit_turning();
        for i in (0..self.nodes.len()).rev() {
            let node = self.nodes[i];
            self.nodes[i].bounds = if node.count == 1 {
                Bounds::of(&self.leaves[node.first as usize].control)
            } else {
                let [l, r] = self.children(index(i)).map(|child| child as usize);
                self.nodes[l].bounds.union(&self.nodes[r].bounds)
            };
        }
    }

    fn refit_turning(&mut self) {
        self.vertices.clear();
        let mut sum = 0.0;
        let last = self.leaves.len() - 1;
        let mut before = last_leg(&self.leaves[last].control);
        // Index of the next leaf that starts a piece.
        let (mut joint, mut joints) = (0, self.halvings.iter());
        for i in 0..self.leaves.len() {
            let leaf = &mut self.leaves[i];
            let after = first_leg(&leaf.control);
            let is_joint = i == joint;
            if is_joint {
                joint += joints.next().map_or(0, |&halvings| 1 << halvings);
            }
            let is_end = i == 0 && !self.is_closed;
            leaf.turned[0] = sum;
            if is_joint && !is_end && is_corner(&before, &after) {
                sum += angle_bound(&before, &after);
                let previous = if i == 0 { last } else { i - 1 };
                self.vertices.push(Vertex {
                    u: leaf.u[0],
                    point: leaf.control[0],
                    before: Some(before),
                    after: Some(after),
                    leaves: [Some(index(previous)), Some(index(i))],
                });
            } else if is_end {
                self.vertices.push(Vertex {
                    u: 0.0,
                    point: leaf.control[0],
                    before: None,
                    after: Some(after),
                    leaves: [None, Some(0)],
                });
            }
            leaf.turned[1] = sum;
            leaf.turning = turning(&leaf.control);
            sum += leaf.turning;
            before = last_leg(&leaf.control);
        }
        self.total_turning = sum;
        if !self.is_closed {
            self.vertices.push(Vertex {
                u: self.pieces.len() as f64,
                point: self.leaves[last].control[N - 1],
                before: Some(before),
                after: None,
                leaves: [Some(index(last)), None],
            });
        }
    }

    /// Indices of the left and the right child of a node, which must have more than one leaf.
    pub(crate) fn children(&self, node: u32) -> [u32; 2] {
        [node + 1, node + 2 * self.nodes[node as usize].left_count()]
    }

    /// Returns the index of the piece that contains the parameter `u`, and the parameter on that piece.
    /// For a `u` outside the curve it is the first or the last piece, with a parameter outside [0, 1].
    pub(crate) fn locate(&self, u: f64) -> (usize, f64) {
        let k = whole(u).min(self.pieces.len() - 1);
        (k, u - k as f64)
    }
}

/// Upper bounds of the turning (rad) between two leaves of one curve: from the end of the first leaf to
/// the start of the second one (`onward`), and from the end of the second one around a closed curve to
/// the start of the first one (`around`). They are infinite between two curves; `around` is also
/// infinite for open curves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Between {
    pub onward: f64,
    pub around: f64,
}

impl Between {
    pub(crate) const CURVES: Self = Self { onward: f64::INFINITY, around: f64::INFINITY };

    /// Whether parts of the two leaves can be rejected because of too little turning; false if the
    /// turning between the leaves already suffices for a minimum.
    pub(crate) fn can_reject(&self) -> bool {
        self.onward.min(self.around) < PI
    }
}

/// Rejection by total turning (MATH §11): a curve can have a doubly orthogonal chord to itself only
/// after a turning of at least π, and one to a free end after π/2.
impl<const N: usize> CurveTree<N> {
    /// Whether the curve turns too little over and between two nodes, given by their indices, to have a
    /// minimum between them. The first node must precede the second one or be the same.
    pub(crate) fn turns_too_little(&self, first: usize, second: usize) -> bool {
        let (first, second) = (&self.nodes[first], &self.nodes[second]);
        let (begin, end) = (&self.leaves[first.first as usize], &self.leaves[second.last()]);
        let onward = end.turned[1] + end.turning - begin.turned[1];
        let around = if self.is_closed && first.first != second.first {
            let (from, to) = (&self.leaves[first.last()], &self.leaves[second.first as usize]);
            self.total_turning - (to.turned[0] - from.turned[1] - from.turning).max(0.0)
        } else {
            f64::INFINITY
        };
        onward.min(around) < PI
    }

    /// Turning between two leaves, given by their indices; the first one must precede the second one.
    pub(crate) fn between(&self, first: usize, second: usize) -> Between {
        let (a, b) = (&self.leaves[first], &self.leaves[second]);
        let onward = b.turned[1] - a.turned[1] - a.turning;
        let around = if self.is_closed {
            self.total_turning - (b.turned[1] + b.turning - a.turned[1])
        } else {
            f64::INFINITY
        };
        Between { onward, around }
    }

    /// Whether the curve turns too little between the leaf with an index and a vertex to have a minimum
    /// between them.
    pub(crate) fn turns_too_little_to_vertex(&self, vertex: &Vertex, leaf: usize) -> bool {
        let required = if vertex.leaves.contains(&None) { FRAC_PI_2 } else { PI };
        // The corners at both ends are excluded: a one-sided minimum needs as much turning as an
        // orthogonal one.
        let total = |from: usize, to: usize| {
            let (from, to) = (&self.leaves[from], &self.leaves[to]);
            to.turned[1] + to.turning - from.turned[1]
        };
        let onward = vertex.leaves[1].filter(|&v| v as usize <= leaf).map(|v| total(v as usize, leaf));
        let back = vertex.leaves[0].filter(|&v| leaf <= v as usize).map(|v| total(leaf, v as usize));
        let straight = [onward, back].into_iter().flatten().fold(f64::INFINITY, f64::min);
        if straight < required {
            return true;
        }
        // The path in the other direction around a closed curve.
        self.is_closed
            && vertex.leaves[1]
                .is_some_and(|v| self.total_turning - self.min_turning_to_joint(v as usize, leaf) < required)
    }

    /// Lower bound of the turning (rad) between the joint before the leaf `v` and the leaf `leaf`, along
    /// the path that does not pass the start of the curve.
    fn min_turning_to_joint(&self, v: usize, leaf: usize) -> f64 {
        let (joint, leaf_at) = (&self.leaves[v], &self.leaves[leaf]);
        if v <= leaf {
            leaf_at.turned[0] - joint.turned[1]
        } else {
            joint.turned[0] - leaf_at.turned[1] - leaf_at.turning
        }
        .max(0.0)
    }
}

/// Integer part of a parameter; 0 for negative numbers.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a conversion that saturates")]
pub(crate) fn whole(u: f64) -> usize {
    u as usize
}

/// Number of times that the piece of a curve must be halved until the turning of its parts is at most
/// [`MAX_LEAF_TURNING`], limited to [`MAX_PIECE_HALVINGS`]. `piece` is a part of it after `depth`
/// halvings, which the result includes.
fn halvings<const N: usize>(piece: &Piece<N>, depth: u32) -> u32 {
    if depth == MAX_PIECE_HALVINGS || turning(piece) <= MAX_LEAF_TURNING {
        return depth;
    }
    halves(piece).iter().map(|half| halvings(half, depth + 1)).max().unwrap_or(depth)
}

/// Cuts a piece into as many parts over equal intervals of its parameter as there are `leaves`, whose
/// number must be a power of two.
fn cut<const N: usize>(piece: &Piece<N>, leaves: &mut [Leaf<N>]) {
    if let [leaf] = leaves {
        leaf.control = *piece;
        return;
    }
    let [l, r] = halves(piece);
    let (left, right) = leaves.split_at_mut(leaves.len() / 2);
    cut(&l, left);
    cut(&r, right);
}

fn build(nodes: &mut Vec<Node>, first: u32, count: u32) {
    let bounds = Bounds { min: V3::zeros(), max: V3::zeros() };
    let node = Node { bounds, first, count };
    nodes.push(node);
    if count > 1 {
        build(nodes, first, node.left_count());
        build(nodes, first + node.left_count(), count - node.left_count());
    }
}

fn is_corner(before: &V3, after: &V3) -> bool {
    let scale_sq = before.norm_squared() * after.norm_squared();
    before.dot(after) < 0.0
        || before.cross(after).norm_squared() > MIN_CORNER_ANGLE * MIN_CORNER_ANGLE * scale_sq
}
