//! Repairs of orientations that contradict each other, each with a warning.

use super::draft::{Draft, Face};
use super::loops::{self, Tolerances};
use super::{Report, domain};
use crate::source::{LoopSource, SolidSource};

/// Turns single loops round that run against all their neighbours and contradict the other loops of their face.
pub(super) fn flip_loops(draft: &mut Draft, tol: &Tolerances, report: &mut Report) {
    let accused = accused_loops(draft);
    if accused.is_empty() {
        return;
    }
    // Two neighbours accuse each other: the parameter plane tells which one is wrong.
    let mut trial = draft.clone();
    loops::fit_all(&mut trial, tol, &mut Report::default());
    for (face, ring) in accused {
        let f = &trial.faces[face];
        let mut flipped = f.clone();
        flip(&mut flipped, ring);
        if !is_consistent(&trial, f.clone(), tol) && is_consistent(&trial, flipped, tol) {
            report.warn(format!("face #{}: a loop ran against its neighbours and was turned round", f.id));
            flip(&mut draft.faces[face], ring);
        }
    }
}

/// Loops all of whose edges are walked in the same direction by some other loop.
fn accused_loops(draft: &Draft) -> Vec<(usize, usize)> {
    let uses = draft.uses();
    let mut out = vec![];
    for (face, f) in draft.faces.iter().enumerate() {
        for (ring, l) in f.loops.iter().enumerate() {
            let wrong = l.iter().all(|u| {
                let [a, b] = uses[u.edge as usize].as_slice() else { return false };
                (a.face, a.ring) != (b.face, b.ring) && draft.at(*a).forward == draft.at(*b).forward
            });
            if wrong {
                out.push((face, ring));
            }
        }
    }
    out
}

fn flip(face: &mut Face, ring: usize) {
    let l = &mut face.loops[ring];
    l.reverse();
    for u in l.iter_mut() {
        u.forward = !u.forward;
    }
}

fn is_consistent(draft: &Draft, mut face: Face, tol: &Tolerances) -> bool {
    let mut report = Report::default();
    loops::assemble_face(&draft.edges, &mut face, draft.size, tol, &mut report);
    report.problems.is_empty() && domain::domain(&face, &loops::host(draft, &face)).inconsistent.is_empty()
}

/// The source with some shells inside out.
pub(super) fn turned(source: &SolidSource, shells: &[u32], report: &mut Report) -> SolidSource {
    let mut out = source.clone();
    for shell in shells {
        report.warn(format!("shell {shell} was inside out and has been turned"));
    }
    report.turned = true;
    for f in out.faces.iter_mut().filter(|f| shells.contains(&f.shell)) {
        f.outward = !f.outward;
        for l in &mut f.loops {
            if let LoopSource::Edges(walk) = l {
                walk.reverse();
                walk.iter_mut().for_each(|u| u.1 = !u.1);
            }
        }
    }
    out
}
