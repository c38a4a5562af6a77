//! Repair of loops whose edges do not connect with the orientation flags of the file. An orientation
//! flag says whether a loop follows an edge from its start to its end vertex.
//!
//! Three faults are distinguished, in this order. (1) The edges of a loop are listed in the wrong order:
//! their flags connect them in exactly one other order. (2) The vertices of an edge are swapped: the
//! edge does not connect in any of its loops, and inverting its flags would reverse arcs. (3) In all
//! other cases, the flags of one loop are wrong and are inverted.
//!
//! A loop that connects in the reverse of its listed order may have fault (1), or fault (2) in all of its
//! edges. It has fault (1) if one of its edges connects in another loop.
//!
//! A loop all of whose flags are inverted connects in the reverse order and is reordered as well. The result
//! is the reversed loop, whose direction is corrected when the solid is built (`feeler_brep::build`).

use std::collections::BTreeMap;

use feeler_brep::source::{EdgeSource, FaceSource, LoopSource};

type Walk = Vec<(u32, bool)>;

/// Repairs that were made.
#[derive(Debug, Default)]
pub(super) struct Repaired {
    /// Indices of edges whose vertices were swapped.
    pub(super) swapped: Vec<u32>,
    /// Numbers of the loops, counted over all faces, whose edges were reordered.
    pub(super) ordered: Vec<usize>,
    /// Numbers of the loops, counted over all faces, in which flags were inverted.
    pub(super) turned: Vec<usize>,
}

/// Repairs the loops of all faces so that consecutive edges share a vertex, and returns the repairs.
/// Loops for which no unambiguous repair is found remain unchanged. `same` decides whether two vertices
/// coincide.
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
    // Loops that connect in the reverse of their listed order, and that order.
    let mut backwards: BTreeMap<usize, Walk> = BTreeMap::new();
    for i in first {
        if let Some(walk) = &walks[i]
            && let Some(seams) = swapped_seams(walk, edges, same)
        {
            out.swapped.extend(&seams);
            continue;
        }
        if let Some(walk) = &mut walks[i]
            && let Some(ordered) = in_order(walk, edges, same)
        {
            // A loop whose edges all have swapped vertices also connects in the reverse order.
            if is_backwards(walk, &ordered) {
                backwards.insert(i, ordered);
            } else {
                **walk = ordered;
                out.ordered.push(i);
            }
        }
    }
    // For each edge, the number of its uses and the number of those that do not connect with their flag.
    // Ambiguous loops do not count.
    let votes = loop {
        let mut votes: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
        let open = broken(&walks, edges);
        for (i, walk) in walks.iter().enumerate() {
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
        confirm_in_pairs(&mut votes, &walks, &open);
        // If an edge of a loop that connects backwards connects in another loop, its vertices are right, and
        // so the order of the first loop is wrong.
        let is_right = |(e, _): &(u32, bool)| {
            let edge = &edges[*e as usize];
            !same(edge.start, edge.end) && votes.get(e).is_some_and(|(uses, wrong)| wrong < uses)
        };
        let of = |i: &usize| walks[*i].as_deref().map_or(&[][..], Vec::as_slice);
        let misordered: Vec<usize> =
            backwards.keys().copied().filter(|i| of(i).iter().any(is_right)).collect();
        if misordered.is_empty() {
            break votes;
        }
        for i in misordered {
            if let (Some(walk), Some(ordered)) = (&mut walks[i], backwards.remove(&i)) {
                **walk = ordered;
                out.ordered.push(i);
            }
        }
    };
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

/// Adds the votes of connected loops of two edges. Such a loop also connects if the vertices of both edges
/// are swapped, so that it confirms one edge only if the other one is right by its other uses. `votes` lists,
/// for each edge, the number of its uses and of those that do not connect; `open` lists the loops that do
/// not.
fn confirm_in_pairs(votes: &mut BTreeMap<u32, (u32, u32)>, walks: &[Option<&mut Walk>], open: &[usize]) {
    let is_pair = |(i, w): (usize, &Option<&mut Walk>)| match w.as_ref().map(|w| w.as_slice()) {
        Some([a, b]) if a.0 != b.0 && !open.contains(&i) => Some([a.0, b.0]),
        _ => None,
    };
    let mut pairs: Vec<[u32; 2]> = walks.iter().enumerate().filter_map(is_pair).collect();
    loop {
        let is_right = |e: &u32| votes.get(e).is_some_and(|(uses, wrong)| *uses > 0 && *wrong == 0);
        let Some(k) = pairs.iter().position(|pair| pair.iter().any(is_right)) else { break };
        for e in pairs.swap_remove(k) {
            votes.entry(e).or_default().0 += 1;
        }
    }
}

/// Returns whether `order`, which begins with the same edge as the loop, is the order of the loop
/// backwards.
fn is_backwards(walk: &[(u32, bool)], order: &[(u32, bool)]) -> bool {
    walk.len() > 2 && walk[1..].iter().rev().eq(&order[1..])
}

/// Returns the start and the end vertex of an edge in the direction in which a loop uses it.
fn ends(edges: &[EdgeSource], (e, forward): (u32, bool)) -> (u32, u32) {
    let edge = &edges[e as usize];
    if forward { (edge.start, edge.end) } else { (edge.end, edge.start) }
}

fn connected(walk: &[(u32, bool)], edges: &[EdgeSource], same: &dyn Fn(u32, u32) -> bool) -> bool {
    let next = walk.iter().cycle().skip(1);
    walk.iter().zip(next).all(|(a, b)| same(ends(edges, *a).1, ends(edges, *b).0))
}

/// Exchanges the vertices of edges that the loop uses in both directions, such that the loop connects in
/// the listed order. Returns these edges; `None`, without a change, if that is impossible. Another order
/// would connect the loop as well, but lead arcs the other way round.
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

/// Returns the loop's edges in the only order in which their flags connect them; `None` if there is no
/// such order, or more than one.
fn in_order(walk: &[(u32, bool)], edges: &[EdgeSource], same: &dyn Fn(u32, u32) -> bool) -> Option<Walk> {
    let mut out = vec![*walk.first()?];
    let mut taken = vec![false; walk.len()];
    taken[0] = true;
    while out.len() < walk.len() {
        let at = ends(edges, out[out.len() - 1]).1;
        let leaves = |k: &usize| !taken[*k] && same(at, ends(edges, walk[*k]).0);
        let next: Vec<usize> = (0..walk.len()).filter(leaves).collect();
        // A closed edge comes before other edges that leave its vertex.
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

/// Returns the loop in its listed order, with flags inverted such that each edge begins where the
/// previous one ends; some writers use wrong flags for single edges. `None` if that does not close the
/// loop, if the flags are ambiguous, or if the loop has fewer than three edges.
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
