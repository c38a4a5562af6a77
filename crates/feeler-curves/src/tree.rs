//! The binary tree over a curve: leaves are equal parts of pieces, parents hold what is next to one another.
//!
//! The tree is made once. A step moves its control points: leaves are cut anew by halving, boxes and turnings
//! are refitted from the leaves up, and nothing is allocated.
//!
//! # Source
//! BREP §4.3.3: a curve is cut at equal parameters offline, its tree keeps its topology, boxes are refitted.
//! # Deviations
//! Boxes stand along the axes: they are refitted in a few nanoseconds, and what they let pass, the signs
//! of slopes in `solve` mostly do not.

use std::f64::consts::{FRAC_PI_2, PI};

use feeler_geom::V3;
use feeler_geom::count::index;

use crate::piece::{Piece, angle_bound, first_leg, halves, last_leg, turning};

/// Turning that a leaf may have in the shape that the tree is made for: BREP's flatness (0.5 rad) as a half
/// angle. A cycle of the spring of the bench `springs` takes a fifth less time than with 0.5 or with 1.6.
const FLAT: f64 = 1.0;

/// Times that a piece may be halved offline.
const HALVINGS: u32 = 6;

/// Directions that differ by more than this angle (rad) at a joint make it a corner.
const CORNER: f64 = 1e-6;

/// A part of a piece.
#[derive(Clone, Debug)]
pub(crate) struct Leaf<const N: usize> {
    pub control: Piece<N>,
    /// The parameters of its ends.
    pub u: [f64; 2],
    /// Upper bound of its turning.
    pub turning: f64,
    /// Upper bounds of the turning from the start of the curve to its start: before and after the joint
    /// there.
    pub turned: [f64; 2],
}

/// A box along the axes.
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

    /// Squared distance to another box, 0 where they overlap.
    pub(crate) fn distance_sq(&self, o: &Self) -> f64 {
        let gap = (self.min - o.max).sup(&(o.min - self.max)).sup(&V3::zeros());
        gap.norm_squared()
    }

    /// Squared distance to a point, 0 inside.
    pub(crate) fn distance_sq_to(&self, p: &V3) -> f64 {
        (self.min - p).sup(&(p - self.max)).sup(&V3::zeros()).norm_squared()
    }

    pub(crate) fn diagonal(&self) -> f64 {
        (self.max - self.min).norm()
    }
}

/// Leaves `first .. first + count`. Nodes stand in preorder: the left child of node i is i + 1, and the right
/// one follows after its `2 · left - 1` nodes.
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

/// A place on a curve that is none of its smooth points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Vertex {
    /// Its parameter.
    pub u: f64,
    pub point: V3,
    /// Directions along the curve before and after it; none beyond a free end. Of any length.
    pub before: Option<V3>,
    pub after: Option<V3>,
    /// The leaves before and after it.
    pub leaves: [Option<u32>; 2],
}

/// The pieces of a curve and the tree over them.
#[derive(Clone, Debug)]
pub(crate) struct Skeleton<const N: usize> {
    pub pieces: Vec<Piece<N>>,
    pub leaves: Vec<Leaf<N>>,
    pub nodes: Vec<Node>,
    pub vertices: Vec<Vertex>,
    pub is_closed: bool,
    /// Halvings of each piece.
    halvings: Vec<u32>,
    /// Upper bound of the turning of all: of a closed curve once around, with the joint where it starts.
    pub total_turning: f64,
}

impl<const N: usize> Skeleton<N> {
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
        let count = u32::try_from(leaves.len()).expect("leaves of a curve are numbered by u32");
        build(&mut nodes, 0, count);
        // At most all joints become corners: room for them is made here, not in a step.
        let vertices = Vec::with_capacity(pieces.len() + 1);
        let mut made = Self { pieces, leaves, nodes, vertices, is_closed, halvings, total_turning: 0.0 };
        made.refit();
        made
    }

    /// Takes moved `pieces` into the leaves and boxes.
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
        // The next leaf that a piece begins with.
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

    /// The children of a node of more than one leaf.
    pub(crate) fn children(&self, node: u32) -> [u32; 2] {
        [node + 1, node + 2 * self.nodes[node as usize].left_count()]
    }

    /// The piece that a parameter is in, and the parameter there. Both in range for any number.
    pub(crate) fn place(&self, u: f64) -> (usize, f64) {
        let k = whole(u).min(self.pieces.len() - 1);
        (k, u - k as f64)
    }
}

/// Upper bounds of the turning between two leaves of one curve: from the end of the first to the start of the
/// second, and on around a closed curve. Infinite between two curves and around open ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Between {
    pub onward: f64,
    pub around: f64,
}

impl Between {
    pub(crate) const CURVES: Self = Self { onward: f64::INFINITY, around: f64::INFINITY };

    /// Whether parts of the leaves may turn too little; not when already what is between turns enough.
    pub(crate) fn matters(&self) -> bool {
        self.onward.min(self.around) < PI
    }
}

/// The rule of total turning (MATH §11): what follows on a curve comes near itself, doubly orthogonal, after
/// a turning of at least π, and to a free end after π/2.
impl<const N: usize> Skeleton<N> {
    /// Whether nothing of two nodes, the first one before the second one or the same, can be near one
    /// another.
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

    /// What turns between two leaves, the first one before the second one.
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

    /// Whether a leaf turns too little on the way to a vertex to come near it.
    pub(crate) fn is_near_vertex(&self, vertex: &Vertex, leaf: usize) -> bool {
        let least = if vertex.leaves.contains(&None) { FRAC_PI_2 } else { PI };
        // Without the corners at both ends: a way that leads no nearer is as good as an orthogonal one.
        let total = |from: usize, to: usize| {
            let (from, to) = (&self.leaves[from], &self.leaves[to]);
            to.turned[1] + to.turning - from.turned[1]
        };
        let onward = vertex.leaves[1].filter(|&v| v as usize <= leaf).map(|v| total(v as usize, leaf));
        let back = vertex.leaves[0].filter(|&v| leaf <= v as usize).map(|v| total(leaf, v as usize));
        let straight = [onward, back].into_iter().flatten().fold(f64::INFINITY, f64::min);
        if straight < least {
            return true;
        }
        // The other way around a closed curve.
        self.is_closed
            && vertex.leaves[1].is_some_and(|v| self.total_turning - self.apart(v as usize, leaf) < least)
    }

    /// Lower bound of the turning between a joint before leaf `v` and a leaf, the way that does not pass the
    /// start.
    fn apart(&self, v: usize, leaf: usize) -> f64 {
        let (joint, leaf_at) = (&self.leaves[v], &self.leaves[leaf]);
        if v <= leaf {
            leaf_at.turned[0] - joint.turned[1]
        } else {
            joint.turned[0] - leaf_at.turned[1] - leaf_at.turning
        }
        .max(0.0)
    }
}

/// The whole number of a parameter, 0 below 0.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a conversion that saturates")]
pub(crate) fn whole(u: f64) -> usize {
    u as usize
}

/// How often a piece is halved until its parts are flat.
fn halvings<const N: usize>(piece: &Piece<N>, depth: u32) -> u32 {
    if depth == HALVINGS || turning(piece) <= FLAT {
        return depth;
    }
    halves(piece).iter().map(|half| halvings(half, depth + 1)).max().unwrap_or(depth)
}

/// Cuts a piece into as many equal parts as there are leaves, a power of two.
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
    before.dot(after) < 0.0 || before.cross(after).norm_squared() > CORNER * CORNER * scale_sq
}
