//! Convex pieces of a body, with a tree of boxes over them.

use crate::error::PiecesError;
use feeler_convex::{ConvexShapeError, Polytope};
use feeler_geom::{Aabb, Obb, P3};

/// Options of [`decompose`](crate::decompose()).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PiecesOptions {
    /// Requested convexity of each piece (mm); see [`Piece::convexity`].
    pub convexity: f64,
    /// Maximum number of pieces. If it is reached, pieces exceed the requested convexity.
    pub max_pieces: usize,
}

impl PiecesOptions {
    /// Creates options with the convexity (mm) and at most 10,000 pieces.
    #[must_use]
    pub const fn with_convexity(convexity: f64) -> Self {
        Self { convexity, max_pieces: 10_000 }
    }

    /// Checks that the options are valid.
    pub(crate) fn check(&self) -> Result<(), PiecesError> {
        if !(self.convexity > 0.0 && self.convexity.is_finite()) {
            return Err(PiecesError::Convexity(self.convexity));
        }
        if self.max_pieces == 0 { Err(PiecesError::NoPieces) } else { Ok(()) }
    }
}

/// A convex polytope that contains a part of a body's surface.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Hull of the part of the surface, in the frame of the body. All points of the part are within
    /// [`Pieces::allowance`] of it.
    pub hull: Polytope,
    /// Oriented box around the hull, in the frame of the body.
    pub obb: Obb,
    /// Indices of the faces of the hierarchy, or of the triangles of the mesh, of which the piece
    /// contains parts, in increasing order.
    pub sources: Vec<u32>,
    /// Convexity (mm): the largest distance of a surface sample inside the hull from the hull's boundary,
    /// along the outward normal of the sample.
    pub convexity: f64,
}

impl Piece {
    pub(crate) fn new(
        points: &[P3],
        mut sources: Vec<u32>,
        convexity: f64,
    ) -> Result<Self, ConvexShapeError> {
        sources.sort_unstable();
        sources.dedup();
        let hull = Polytope::new(points)?;
        Ok(Self { obb: Obb::fit(hull.vertices()), hull, sources, convexity })
    }
}

/// Convex pieces that together contain the surface of a body.
#[derive(Clone, Debug)]
pub struct Pieces {
    pieces: Vec<Piece>,
    /// Nodes of a binary tree over the pieces; node 0 is the root.
    pub(crate) nodes: Vec<TreeNode>,
    allowance: f64,
    /// Largest coordinate of a vertex (mm).
    pub(crate) reach: f64,
}

/// Node of the tree over pieces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeNode {
    /// Box around the pieces below the node.
    pub(crate) obb: Obb,
    /// Content of the node.
    pub(crate) link: Link,
}

/// Content of a node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Link {
    /// Index of the piece of a leaf.
    Piece(usize),
    /// Indices of the two children of an inner node.
    Children([usize; 2]),
}

impl Pieces {
    /// Builds the tree over pieces. `allowance` is the distance (mm) by which the surface may exceed
    /// them.
    pub(crate) fn new(pieces: Vec<Piece>, allowance: f64) -> Self {
        let boxes: Vec<Aabb> = pieces.iter().map(|p| Aabb::of_points(p.hull.vertices())).collect();
        let vertices = pieces.iter().flat_map(|p| p.hull.vertices());
        let reach = vertices.fold(0.0, |m: f64, p| m.max(p.coords.amax()));
        let mut nodes = Vec::with_capacity(2 * pieces.len());
        if !pieces.is_empty() {
            let mut order: Vec<usize> = (0..pieces.len()).collect();
            build(&mut order, &boxes, &pieces, &mut nodes);
        }
        Self { pieces, nodes, allowance, reach }
    }

    /// Returns the pieces.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Returns the number of pieces.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Returns whether the list of pieces is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Returns the distance (mm) by which points of the surface may lie outside the hulls: rounding and
    /// the tolerance of cuts, plus the measured deviations of the solid's edges from its faces.
    /// [`distance_bound`](crate::distance_bound) subtracts it.
    #[must_use]
    pub fn allowance(&self) -> f64 {
        self.allowance
    }

    /// Returns the largest convexity of the pieces (mm); 0 without pieces.
    #[must_use]
    pub fn convexity(&self) -> f64 {
        self.pieces.iter().map(|p| p.convexity).fold(0.0, f64::max)
    }
}

/// Appends the node over the pieces `order`, which are divided at the median along the longest side of the
/// box of their centres, and the nodes below it. The depth is logarithmic. Returns the index of the node.
fn build(order: &mut [usize], boxes: &[Aabb], pieces: &[Piece], nodes: &mut Vec<TreeNode>) -> usize {
    let index = nodes.len();
    if let [piece] = order {
        nodes.push(TreeNode { obb: pieces[*piece].obb, link: Link::Piece(*piece) });
        return index;
    }
    let around = order.iter().fold(Aabb::empty(), |sum, i| sum.union(&boxes[*i]));
    nodes.push(TreeNode { obb: Obb::from_aabb(&around), link: Link::Children([0, 0]) });
    let centers: Vec<P3> = order.iter().map(|i| boxes[*i].center()).collect();
    let spread = Aabb::of_points(&centers);
    let axis = (spread.max - spread.min).imax();
    let center = |i: usize| boxes[i].center()[axis];
    order.sort_by(|i, j| center(*i).total_cmp(&center(*j)).then(i.cmp(j)));
    let (left, right) = order.split_at_mut(order.len() / 2);
    let children = [build(left, boxes, pieces, nodes), build(right, boxes, pieces, nodes)];
    nodes[index].link = Link::Children(children);
    index
}
