//! Repair of loops whose edges do not connect with the orientation flags of the file.
//!
//! Three faults are distinguished, in this order. (1) The edges of a loop are listed in the wrong order:
//! their flags connect them in exactly one other order. (2) The vertices of an edge are swapped: its flag
//! does not connect in any of its loops, and inverting the flags would reverse arcs. (3) In all other cases,
//! the flags of one loop are wrong and are inverted.

use std::collections::BTreeMap;

use feeler_brep::source::{EdgeSource, FaceSource, LoopSource};

type Walk = Vec<(u32, bool)>;

/// Repairs that were made.
#[derive(Debug, Default)]
pub(super) struct Repaired {
    /// Indices of edges whose vertices were swapped.
    pub(super) swapped: Vec<u32>,
    /// Numbers, over all faces, of loops whose edges were put in order.
    pub(super) ordered: Vec<usize>,
    /// Numbers of loops in which flags were turned.
    pub(super) turned: Vec<usize>,
}

/// Connects the loops of all faces. `same` decides whether two vertices coincide.
pub(super) fn repair(
    faces: &mut [FaceSource],
    edges: &mut [EdgeSource],
    same: &dyn Fn(u32, u32) -> bool,
) -> Repaired {
    let mut out = Repaired::default();
    let mut walks: Vec<Option<&mut Walk>> = faces
        .iter_mut()
        .flat_map(|f| &mut f.loops)
        .map(|l| match l {
            LoopSource::Edges(walk) => Some(walk),
            LoopSource::Vertex(_) => None,
        })
        .collect();
    let broken = |walks: &[Option<&mut Walk>], edges: &[EdgeSource]| -> Vec<usize> {
        let is_broken = |w: &Option<&mut Walk>| w.as_ref().is_some_and(|w| !connected(w, edges, same));
        walks.iter().enumerate().filter(|(_, w)| is_broken(w)).map(|(i, _)| i).collect()
    };
    let first = broken(&walks, edges);
    if first.is_empty() {
        return out;
    }
    for i in first {
        if let Some(walk) = &walks[i]
            && let Some(seams) = swapped_seams(walk, edges, same)
        {
            out.swapped.extend(&seams);
            continue;
        }
        // Backwards is also how a loop connects whose edges all have their vertices swapped.
        if let Some(walk) = &mut walks[i]
            && let Some(ordered) = in_order(walk, edges, same).filter(|o| !is_backwards(walk, o))
        {
            **walk = ordered;
            out.ordered.push(i);
        }
    }
    // For each edge, the numbers of its uses and of those whose flag does not connect; ambiguous loops do not
    // count.
    let mut votes: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    let open = broken(&walks, edges);
    for (i, walk) in walks.iter().enumerate() {
        // Two edges between the same vertices connect with both of them swapped as well.
        let Some(walk) = walk.as_ref().filter(|w| w.len() > 2) else { continue };
        let turned = if open.contains(&i) {
            let Some(turned) = turned_to_connect(walk, edges, same) else { continue };
            turned
        } else {
            walk.to_vec()
        };
        for (before, after) in walk.iter().zip(turned) {
            let vote = votes.entry(before.0).or_default();
            vote.0 += 1;
            vote.1 += u32::from(before.1 != after.1);
        }
    }
    for (e, (uses, wrong)) in votes {
        let edge = &mut edges[e as usize];
        if wrong > 0 && wrong == uses && edge.start != edge.end {
            std::mem::swap(&mut edge.start, &mut edge.end);
            out.swapped.push(e);
        }
    }
    for i in broken(&walks, edges) {
        let Some(walk) = &mut walks[i] else { continue };
        if let Some(ordered) = in_order(walk, edges, same) {
            **walk = ordered;
            out.ordered.push(i);
        } else if let Some(turned) = turned_to_connect(walk, edges, same) {
            **walk = turned;
            out.turned.push(i);
        }
    }
    out
}

/// Whether an order of a loop, which begins with the same edge, is that of its list backwards.
fn is_backwards(walk: &[(u32, bool)], order: &[(u32, bool)]) -> bool {
    walk.len() > 2 && walk[1..].iter().rev().eq(&order[1..])
}

/// Start and end vertex of an edge as a loop walks it.
fn ends(edges: &[EdgeSource], (e, forward): (u32, bool)) -> (u32, u32) {
    let edge = &edges[e as usize];
    if forward { (edge.start, edge.end) } else { (edge.end, edge.start) }
}

fn connected(walk: &[(u32, bool)], edges: &[EdgeSource], same: &dyn Fn(u32, u32) -> bool) -> bool {
    let next = walk.iter().cycle().skip(1);
    walk.iter().zip(next).all(|(a, b)| same(ends(edges, *a).1, ends(edges, *b).0))
}

/// Edges that the loop walks to and fro whose vertices are swapped: with these exchanged, the loop connects
/// as it is listed. Another order would connect it as well, and lead arcs the other way round. The edges are
/// left exchanged.
fn swapped_seams(
    walk: &[(u32, bool)],
    edges: &mut [EdgeSource],
    same: &dyn Fn(u32, u32) -> bool,
) -> Option<Vec<u32>> {
    let is_seam = |(e, forward): &(u32, bool)| *forward && walk.contains(&(*e, false));
    let seams: Vec<u32> = walk.iter().filter(|u| is_seam(u)).map(|u| u.0).collect();
    let each = seams.iter().map(|e| vec![*e]);
    let sets: Vec<Vec<u32>> = std::iter::once(seams.clone()).chain(each).filter(|s| !s.is_empty()).collect();
    for set in sets {
        let exchange = |edges: &mut [EdgeSource]| {
            for e in &set {
                let edge = &mut edges[*e as usize];
                std::mem::swap(&mut edge.start, &mut edge.end);
            }
        };
        exchange(edges);
        if connected(walk, edges, same) {
            return Some(set);
        }
        exchange(edges);
    }
    None
}

/// The loop's edges in the one order in which their flags connect them; `None` if there is no such order, or
/// more than one.
fn in_order(walk: &[(u32, bool)], edges: &[EdgeSource], same: &dyn Fn(u32, u32) -> bool) -> Option<Walk> {
    let mut out = vec![*walk.first()?];
    let mut taken = vec![false; walk.len()];
    taken[0] = true;
    while out.len() < walk.len() {
        let at = ends(edges, out[out.len() - 1]).1;
        let leaves = |k: &usize| !taken[*k] && same(at, ends(edges, walk[*k]).0);
        let next: Vec<usize> = (0..walk.len()).filter(leaves).collect();
        // A closed edge is walked before its vertex is left.
        let is_closed = |k: &&usize| same(at, ends(edges, walk[**k]).1);
        let only = match (&next[..], next.iter().find(is_closed)) {
            ([only], _) | (_, Some(only)) => *only,
            _ => return None,
        };
        taken[only] = true;
        out.push(walk[only]);
    }
    connected(&out, edges, same).then_some(out)
}

/// The loop with its edges turned so that each begins where the one before ends, in the order of the list:
/// some writers get the flags of single edges wrong. `None` when that makes no closed loop either, or leaves
/// a choice.
fn turned_to_connect(
    walk: &[(u32, bool)],
    edges: &[EdgeSource],
    same: &dyn Fn(u32, u32) -> bool,
) -> Option<Walk> {
    let [first, second, _, ..] = walk else { return None };
    let (a, b) = ends(edges, *first);
    let (c, d) = ends(edges, *second);
    let leads = |v: u32| same(v, c) || same(v, d);
    let start = match (leads(a), leads(b)) {
        (false, true) => *first,
        (true, false) => (first.0, !first.1),
        _ => return None,
    };
    let mut out = vec![start];
    for u in &walk[1..] {
        let at = ends(edges, out[out.len() - 1]).1;
        let (from, to) = ends(edges, *u);
        match (same(at, from), same(at, to)) {
            (true, _) => out.push(*u),
            (false, true) => out.push((u.0, !u.1)),
            (false, false) => return None,
        }
    }
    connected(&out, edges, same).then_some(out)
}
