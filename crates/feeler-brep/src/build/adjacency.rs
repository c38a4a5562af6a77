//! Topological checks: closed shells, edges used in opposite directions, connected loops.

use super::draft::{Draft, UseAt};
use super::{Problem, Report};

/// Checks that every edge is used exactly twice, in opposite directions, or not at all, and that
/// consecutive edges of a loop share a vertex. Violations are added to `report` as problems. `uses` are
/// those of [`Draft::uses`].
pub(super) fn check(draft: &Draft, uses: &[Vec<UseAt>], report: &mut Report) {
    for (e, at) in uses.iter().enumerate() {
        let edge = draft.edges[e].source;
        let faces: Vec<u64> = at.iter().map(|u| draft.faces[u.face].id).collect();
        match at.as_slice() {
            // Unused edges are harmless.
            [] => {}
            [_] => report.fail(Problem::OpenShell { edge, face: faces[0] }),
            [a, b] => {
                if draft.at(*a).forward == draft.at(*b).forward {
                    report.fail(Problem::SameDirection { edge, faces: [faces[0], faces[1]] });
                }
            }
            _ => report.fail(Problem::ManyFaces { edge, faces }),
        }
    }
    for f in &draft.faces {
        for ring in &f.loops {
            for (k, u) in ring.iter().enumerate() {
                let next = &ring[(k + 1) % ring.len()];
                let (e, n) = (&draft.edges[u.edge as usize], &draft.edges[next.edge as usize]);
                let end = if u.forward { e.vertices.1 } else { e.vertices.0 };
                let start = if next.forward { n.vertices.0 } else { n.vertices.1 };
                if end != start {
                    let edges = (e.source, n.source);
                    report.fail(Problem::Disconnected { face: f.id, edges });
                }
            }
        }
    }
}
