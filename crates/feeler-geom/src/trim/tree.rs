//! A box tree over the pieces, stored as one array.
//!
//! The pieces themselves are put in tree order, so that every node covers a contiguous range and needs no
//! links: node `k` (root 1) has the children `2k` and `2k + 1`, and the nodes of one depth share the pieces
//! evenly.

#![expect(clippy::cast_possible_truncation, reason = "depths are below 32")]

use super::TrimPiece;

/// `[u0, u1, v0, v1]`.
pub(super) type UvBox = [f64; 4];

/// Pieces of a leaf, on average at most.
const LEAF: usize = 4;

/// The box of a monotone piece: its ends.
pub(super) fn piece_box(p: &TrimPiece) -> UvBox {
    let (a, b) = (p.start(), p.end());
    [a.x.min(b.x), a.x.max(b.x), a.y.min(b.y), a.y.max(b.y)]
}

/// The box around nothing.
pub(super) const EMPTY: UvBox = [f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, f64::NEG_INFINITY];

/// Smallest box around two.
pub(super) fn joined(a: UvBox, b: UvBox) -> UvBox {
    [a[0].min(b[0]), a[1].max(b[1]), a[2].min(b[2]), a[3].max(b[3])]
}

/// Number of leaves over `n` pieces: a power of two.
fn n_leaves(n: usize) -> usize {
    n.div_ceil(LEAF).max(1).next_power_of_two()
}

/// Pieces of node `k` among `n`.
pub(super) fn range(k: usize, n: usize) -> std::ops::Range<usize> {
    let depth = k.ilog2();
    let i = k - (1 << depth);
    (i * n) >> depth..((i + 1) * n) >> depth
}

/// Number of boxes over `n` pieces (the one at 0 is not used).
pub(super) fn n_boxes(n: usize) -> usize {
    2 * n_leaves(n)
}

/// Sorts monotone pieces into tree order and returns the nodes' boxes.
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
        // The other coordinate and the tag break ties, for the same order on every run.
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

/// Visits the pieces in all leaves whose boxes pass `enter`, until `leaf` answers `true`; returns whether it
/// did.
pub(super) fn visit(
    boxes: &[UvBox],
    n: usize,
    mut enter: impl FnMut(&UvBox) -> bool,
    mut leaf: impl FnMut(usize) -> bool,
) -> bool {
    let leaves = boxes.len() / 2;
    // One sibling waits per level.
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
