//! Finds all pairs of overlapping axis-aligned boxes with a tree of boxes.

use feeler_geom::P3;

/// Axis-aligned bounding box.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) lo: P3,
    pub(super) hi: P3,
}

impl Bounds {
    fn intersects(&self, other: &Self) -> bool {
        (0..3).all(|k| self.lo[k] <= other.hi[k] && other.lo[k] <= self.hi[k])
    }

    fn union(self, other: &Self) -> Self {
        Self { lo: self.lo.inf(&other.lo), hi: self.hi.sup(&other.hi) }
    }

    /// Returns the distance between two boxes (mm); 0 if they overlap.
    pub(super) fn gap(&self, other: &Self) -> f64 {
        let along = |k: usize| (other.lo[k] - self.hi[k]).max(self.lo[k] - other.hi[k]).max(0.0);
        feeler_geom::V3::new(along(0), along(1), along(2)).norm()
    }
}

/// Maximum number of boxes in a leaf of the tree. Testing all pairs of so few boxes is cheaper than
/// another level.
const MAX_LEAF_BOXES: usize = 8;

struct Node {
    bounds: Bounds,
    /// Start of the range of the node's boxes: they have the indices `order[first..end]`.
    first: usize,
    end: usize,
    /// Index of the left child in the list of nodes; the right child follows it. 0 for a leaf.
    left: usize,
}

/// Returns all pairs (i, j), i < j, of indices of overlapping boxes, in ascending order. Boxes must be
/// finite. The cost is O(N log N) if each box overlaps few others.
pub(super) fn overlaps(boxes: &[Bounds]) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    if boxes.is_empty() {
        return pairs;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the number of bodies fits in a u32")]
    let mut order: Vec<u32> = (0..boxes.len() as u32).collect();
    let nodes = build(boxes, &mut order);
    let mut open = vec![(0, 0)];
    while let Some((a, b)) = open.pop() {
        let (p, q) = (&nodes[a], &nodes[b]);
        if a == b {
            if p.left == 0 {
                for i in p.first..p.end {
                    test(boxes, order[i], &order[i + 1..p.end], &mut pairs);
                }
            } else {
                open.extend([(p.left, p.left), (p.left + 1, p.left + 1), (p.left, p.left + 1)]);
            }
        } else if p.bounds.intersects(&q.bounds) {
            // The counts of two siblings differ by at most one, so the larger node is the one higher up.
            if p.left != 0 && (q.left == 0 || p.end - p.first >= q.end - q.first) {
                open.extend([(p.left, b), (p.left + 1, b)]);
            } else if q.left != 0 {
                open.extend([(a, q.left), (a, q.left + 1)]);
            } else {
                for i in p.first..p.end {
                    test(boxes, order[i], &order[q.first..q.end], &mut pairs);
                }
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

fn test(boxes: &[Bounds], i: u32, others: &[u32], pairs: &mut Vec<(u32, u32)>) {
    let own = &boxes[i as usize];
    let overlapping = others.iter().filter(|j| own.intersects(&boxes[**j as usize]));
    pairs.extend(overlapping.map(|j| (i.min(*j), i.max(*j))));
}

/// Returns the nodes of a tree of boxes, the root first, and reorders `order`, the indices of the boxes,
/// accordingly. Each node is split at the median along its widest axis, so that the depth of the tree is
/// about log₂ of the number of boxes.
fn build(boxes: &[Bounds], order: &mut [u32]) -> Vec<Node> {
    let bound = |range: &[u32]| {
        let first = boxes[range[0] as usize];
        range.iter().fold(first, |b, i| b.union(&boxes[*i as usize]))
    };
    let mut nodes = vec![Node { bounds: bound(order), first: 0, end: order.len(), left: 0 }];
    let mut next = 0;
    while next < nodes.len() {
        let Node { bounds, first, end, .. } = nodes[next];
        if end - first > MAX_LEAF_BOXES {
            let axis = (bounds.hi - bounds.lo).imax();
            let center = |i: &u32| boxes[*i as usize].lo[axis] + boxes[*i as usize].hi[axis];
            let middle = (end - first) / 2;
            order[first..end]
                .select_nth_unstable_by(middle, |i, j| center(i).total_cmp(&center(j)).then(i.cmp(j)));
            nodes[next].left = nodes.len();
            for (first, end) in [(first, first + middle), (first + middle, end)] {
                nodes.push(Node { bounds: bound(&order[first..end]), first, end, left: 0 });
            }
        }
        next += 1;
    }
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::cases::CaseRandom;
    use feeler_geom::V3;

    #[test]
    fn all_pairs_and_no_others() {
        let mut rng = CaseRandom(61);
        for n in [0_usize, 1, 2, 7, 8, 9, 40, 300] {
            for size in [0.0, 0.05, 0.3, 2.0] {
                let boxes: Vec<Bounds> = (0..n)
                    .map(|_| {
                        // On a grid, so that many boxes touch and coincide.
                        let lo = P3::from(rng.vector().map(|c| (c * 8.0).round() / 8.0));
                        Bounds { lo, hi: lo + V3::repeat(size * rng.between(0.0, 1.0)) }
                    })
                    .collect();
                let mut expected = Vec::new();
                for j in 0..n {
                    for i in 0..j {
                        if boxes[i].gap(&boxes[j]) == 0.0 {
                            expected.push((u32::try_from(i).unwrap(), u32::try_from(j).unwrap()));
                        }
                    }
                }
                expected.sort_unstable();
                assert_eq!(overlaps(&boxes), expected, "{n} {size}");
            }
        }
    }
}
