//! Tree of boxes over the boundary pieces of a domain, stored as one array.
//!
//! The pieces are stored in tree order, so every node covers a contiguous range and needs no links: node
//! `k` (root 1) has the children `2k` and `2k + 1`, and the nodes of one depth share the pieces evenly.

#![expect(clippy::cast_possible_truncation, reason = "depths are below 32")]

use super::TrimPiece;

/// Box `[u0, u1, v0, v1]` in the parameter plane.
pub(super) type UvBox = [f64; 4];

/// Maximum mean number of pieces in a leaf. Larger leaves test more pieces; smaller ones store and test
/// more boxes.
const LEAF_PIECES: usize = 4;

/// Returns the bounding box of a piece that is monotone in u and in v; it is spanned by the piece's
/// ends.
pub(super) fn piece_box(p: &TrimPiece) -> UvBox {
    let (a, b) = (p.start(), p.end());
    [a.x.min(b.x), a.x.max(b.x), a.y.min(b.y), a.y.max(b.y)]
}

/// Empty box, the neutral element of [`joined`].
pub(super) const EMPTY: UvBox = [f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, f64::NEG_INFINITY];

/// Returns the smallest box around two boxes.
pub(super) fn joined(a: UvBox, b: UvBox) -> UvBox {
    [a[0].min(b[0]), a[1].max(b[1]), a[2].min(b[2]), a[3].max(b[3])]
}

/// Returns the number of leaves of the tree over `n` pieces, a power of two.
fn n_leaves(n: usize) -> usize {
    n.div_ceil(LEAF_PIECES).max(1).next_power_of_two()
}

/// Returns the range of the indices of the pieces below node `k` of the tree over `n` pieces, which are
/// in tree order.
pub(super) fn range(k: usize, n: usize) -> std::ops::Range<usize> {
    let depth = k.ilog2();
    let i = k - (1 << depth);
    (i * n) >> depth..((i + 1) * n) >> depth
}

/// Returns the length of the list of boxes of the tree over `n` pieces, in which box 0 is unused.
pub(super) fn n_boxes(n: usize) -> usize {
    2 * n_leaves(n)
}

/// Sorts pieces, which must be monotone in u and in v, into tree order. Returns the boxes of all nodes,
/// indexed by node. `scale` is the domain's size in u and v.
pub(super) fn build(pieces: &mut [TrimPiece], scale: [f64; 2]) -> Vec<UvBox> {
    let n = pieces.len();
    let leaves = n_leaves(n);
    for k in 1..leaves {
        let span = range(k, n);
        let mid = range(2 * k, n).end - span.start;
        let part = &mut pieces[span];
        if mid == 0 || mid == part.len() {
            continue;
        }
        let centre = |p: &TrimPiece| [p.start().x + p.end().x, p.start().y + p.end().y];
        let mut lo = [f64::INFINITY; 2];
        let mut hi = [f64::NEG_INFINITY; 2];
        for p in &*part {
            for (a, c) in centre(p).into_iter().enumerate() {
                lo[a] = lo[a].min(c);
                hi[a] = hi[a].max(c);
            }
        }
        let axis = usize::from((hi[1] - lo[1]) / scale[1] > (hi[0] - lo[0]) / scale[0]);
        // The other coordinate and the tag break ties, so that every run gives the same order.
        part.select_nth_unstable_by(mid, |a, b| {
            let (ca, cb) = (centre(a), centre(b));
            ca[axis]
                .total_cmp(&cb[axis])
                .then(ca[1 - axis].total_cmp(&cb[1 - axis]))
                .then(a.edge.cmp(&b.edge))
                .then(a.start().x.total_cmp(&b.start().x))
        });
    }
    let mut boxes = vec![EMPTY; 2 * leaves];
    for k in (1..2 * leaves).rev() {
        boxes[k] = if k >= leaves {
            pieces[range(k, n)].iter().map(piece_box).fold(EMPTY, joined)
        } else {
            joined(boxes[2 * k], boxes[2 * k + 1])
        };
    }
    boxes
}

/// Traverses the tree over `n` pieces, skipping nodes for whose box `enter` returns `false`. Calls
/// `leaf` with the index of each piece of every leaf that is reached, until `leaf` returns `true`.
/// Returns whether it did.
pub(super) fn visit(
    boxes: &[UvBox],
    n: usize,
    mut enter: impl FnMut(&UvBox) -> bool,
    mut leaf: impl FnMut(usize) -> bool,
) -> bool {
    let leaves = boxes.len() / 2;
    // At most one sibling per level is pending.
    let mut stack = [0_u32; 40];
    let mut top = 1;
    stack[0] = 1;
    while top > 0 {
        top -= 1;
        let k = stack[top] as usize;
        if !enter(&boxes[k]) {
            continue;
        }
        if k >= leaves {
            if range(k, n).any(&mut leaf) {
                return true;
            }
        } else {
            (stack[top], stack[top + 1]) = (2 * k as u32 + 1, 2 * k as u32);
            top += 2;
        }
    }
    false
}
