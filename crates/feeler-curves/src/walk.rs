//! Simultaneous descent of two trees, or of one tree with itself, to pairs of leaves that may contain
//! minima.
//!
//! # Source
//! BREP §4.3.3, the static half of Algorithm 13, which descends trees.
//! # Deviations
//! - The distance of minima is limited, for boxes and at leaves. With a limit, boxes cull more than
//!   cones do.
//! - Self-contact rejects parts with less turning than π in between, instead of neighbours chosen by
//!   hand.

use feeler_geom::V3;

use crate::part::Part;
use crate::solve::{Limits, OnCurve, Solutions, solve_itself, solve_parts, solve_point};
use crate::tree::{Between, CurveTree, Vertex};

/// Pairs of indices of nodes, one in each tree, still to be visited; the buffer is reused between
/// queries.
pub(crate) type Stack = Vec<(u32, u32)>;

/// Adds the minima between two curves that lie inside of pieces on both to `out`.
pub(crate) fn curves<const N: usize, const M: usize>(
    a: &CurveTree<N>,
    b: &CurveTree<M>,
    limits: &Limits,
    stack: &mut Stack,
    out: &mut Solutions,
) {
    stack.clear();
    stack.push((0, 0));
    let reach_sq = limits.reach * limits.reach;
    while let Some((i, j)) = stack.pop() {
        out.n_nodes += 1;
        let (node_a, node_b) = (&a.nodes[i as usize], &b.nodes[j as usize]);
        if node_a.bounds.distance_sq(&node_b.bounds) > reach_sq {
            continue;
        }
        if node_a.count == 1 && node_b.count == 1 {
            let (l, r) = (&a.leaves[node_a.first as usize], &b.leaves[node_b.first as usize]);
            solve_parts(&Part::of_leaf(l), &Part::of_leaf(r), Between::CURVES, limits, out);
        } else if node_a.count >= node_b.count {
            stack.extend(a.children(i).map(|i| (i, j)));
        } else {
            stack.extend(b.children(j).map(|j| (i, j)));
        }
    }
}

/// Adds the minima between a curve and itself that lie inside of pieces to `out`, with the smaller
/// parameter first.
pub(crate) fn self_pairs<const N: usize>(
    a: &CurveTree<N>,
    limits: &Limits,
    stack: &mut Stack,
    out: &mut Solutions,
) {
    stack.clear();
    stack.push((0, 0));
    let reach_sq = limits.reach * limits.reach;
    while let Some((i, j)) = stack.pop() {
        out.n_nodes += 1;
        let (first, second) = (&a.nodes[i as usize], &a.nodes[j as usize]);
        if a.turns_too_little(i as usize, j as usize) {
            continue;
        }
        if i == j {
            if first.count == 1 {
                let leaf = &a.leaves[first.first as usize];
                let around = if a.is_closed { a.total_turning - leaf.turning } else { f64::INFINITY };
                solve_itself(&Part::of_leaf(leaf), around, limits, out);
            } else {
                let [l, r] = a.children(i);
                stack.extend([(l, l), (l, r), (r, r)]);
            }
            continue;
        }
        if first.bounds.distance_sq(&second.bounds) > reach_sq {
            continue;
        }
        if first.count == 1 && second.count == 1 {
            let (l, r) = (first.first as usize, second.first as usize);
            let between = a.between(l, r);
            solve_parts(&Part::of_leaf(&a.leaves[l]), &Part::of_leaf(&a.leaves[r]), between, limits, out);
        } else if first.count >= second.count {
            stack.extend(a.children(i).map(|i| (i, j)));
        } else {
            stack.extend(a.children(j).map(|j| (i, j)));
        }
    }
}

/// Passes the minima and level stretches of the distance from `point` to the inside of the pieces of a
/// curve to `out`. If the point is a vertex of that curve, it is also given as `own`, and leaves are
/// rejected if the curve turns too little between them and the vertex.
pub(crate) fn point<const M: usize>(
    point: &V3,
    own: Option<&Vertex>,
    b: &CurveTree<M>,
    limits: &Limits,
    stack: &mut Stack,
    n_parts: &mut usize,
    out: &mut impl FnMut(OnCurve),
) {
    stack.clear();
    stack.push((0, 0));
    let reach_sq = limits.reach * limits.reach;
    while let Some((_, j)) = stack.pop() {
        let node = &b.nodes[j as usize];
        if node.bounds.distance_sq_to(point) > reach_sq {
            continue;
        }
        if node.count > 1 {
            stack.extend(b.children(j).map(|j| (0, j)));
            continue;
        }
        let leaf = node.first as usize;
        let part = Part::of_leaf(&b.leaves[leaf]);
        match own {
            Some(vertex) if b.turns_too_little_to_vertex(vertex, leaf) => {}
            _ => solve_point(point, &part, limits, out, n_parts),
        }
    }
}
