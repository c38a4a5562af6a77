//! Repairs of orientations that contradict each other, each with a warning.

use super::Report;
use super::draft::Draft;

/// Flips single loops where that makes every one of their edges be walked in both directions.
pub(super) fn flip_loops(draft: &mut Draft, report: &mut Report) {
    let uses = draft.uses();
    let mut to_flip = vec![];
    for (face, f) in draft.faces.iter().enumerate() {
        for (ring, l) in f.loops.iter().enumerate() {
            // All edges shared with another loop, all in the same direction: this loop or its neighbours are wrong.
            let wrong = l.iter().all(|u| {
                let [a, b] = uses[u.edge as usize].as_slice() else { return false };
                (a.face, a.ring) != (b.face, b.ring) && draft.at(*a).forward == draft.at(*b).forward
            });
            if wrong {
                to_flip.push((face, ring));
            }
        }
    }
    // Neighbouring candidates accuse each other: only a loop whose neighbours are all innocent is flipped.
    let innocent = |face: usize, ring: usize| !to_flip.contains(&(face, ring));
    let certain: Vec<(usize, usize)> = to_flip
        .iter()
        .copied()
        .filter(|(face, ring)| {
            draft.faces[*face].loops[*ring].iter().all(|u| {
                uses[u.edge as usize]
                    .iter()
                    .all(|at| (at.face, at.ring) == (*face, *ring) || innocent(at.face, at.ring))
            })
        })
        .collect();
    for (face, ring) in certain {
        let f = &mut draft.faces[face];
        let l = &mut f.loops[ring];
        l.reverse();
        for u in l.iter_mut() {
            u.forward = !u.forward;
        }
        report.warn(format!("face #{}: a loop ran against all its neighbours and was turned round", f.id));
    }
}
