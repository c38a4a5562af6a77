//! Conversion of open shells to closed ones without thickness.
//!
//! Each face of an open shell is duplicated with the opposite orientation, and the two copies are sewn
//! together along the open edges, which become razors. Contacts are found on both sides of the sheet,
//! and no point is inside it. Closed connected parts of a shell are unchanged.
//!
//! # Deviations
//! Simulators often treat surfaces as one-sided. Here both sides have contacts, because bodies must not
//! fall through a sheet from behind.

use feeler_geom::count::index;

use crate::source::{FaceSource, LoopSource, SolidSource};

/// Result of [`both_sides`].
#[derive(Clone, Debug)]
pub struct Sheets {
    /// The solid with closed shells only.
    pub solid: SolidSource,
    /// Number of open edges of the original shells, that is of edges with one use; 0 if nothing was
    /// changed.
    pub open_edges: usize,
}

/// Error: an edge has more than two uses by faces, so that a sheet has no front and back there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is an edge used {uses} times; a surface may use it at most twice")]
pub struct NotASheet {
    /// Entity id of the edge with too many uses.
    pub edge: u64,
    /// Number of uses of the edge.
    pub uses: usize,
}

/// Closes open shells: adds a back, with the opposite outward side, to each connected part of a shell
/// that has an open edge. Entity ids of the back are those of the front.
///
/// # Errors
/// [`NotASheet`] if an edge is used more than twice.
pub fn both_sides(mut solid: SolidSource) -> Result<Sheets, NotASheet> {
    let users = users(&solid);
    if let Some((edge, all)) = solid.edges.iter().zip(&users).find(|(_, all)| all.len() > 2) {
        return Err(NotASheet { edge: edge.id, uses: all.len() });
    }
    let part = parts(solid.faces.len(), &users);
    let is_open = |e: usize| users[e].len() == 1;
    let mut open_part = vec![false; solid.faces.len()];
    for e in (0..users.len()).filter(|&e| is_open(e)) {
        open_part[part[users[e][0]]] = true;
    }
    let open_edges = (0..users.len()).filter(|&e| is_open(e)).count();
    // The front and the back share open edges and their vertices.
    let mut on_rim = vec![false; solid.vertices.len()];
    for (_, edge) in solid.edges.iter().enumerate().filter(|(e, _)| is_open(*e)) {
        on_rim[edge.start as usize] = true;
        on_rim[edge.end as usize] = true;
    }
    let mut back_vertex: Vec<Option<u32>> = vec![None; solid.vertices.len()];
    let mut back_edge: Vec<Option<u32>> = vec![None; solid.edges.len()];
    let fronts = solid.faces.len();
    for f in 0..fronts {
        if !open_part[part[f]] {
            continue;
        }
        let front = solid.faces[f].clone();
        let mut loops = Vec::with_capacity(front.loops.len());
        for l in &front.loops {
            loops.push(match l {
                LoopSource::Vertex(v) => {
                    LoopSource::Vertex(vertex(&mut solid, &on_rim, &mut back_vertex, *v))
                }
                LoopSource::Edges(uses) => {
                    let mut back = Vec::with_capacity(uses.len());
                    for &(e, forward) in uses.iter().rev() {
                        let e = e as usize;
                        let own = if is_open(e) {
                            index(e)
                        } else if let Some(known) = back_edge[e] {
                            known
                        } else {
                            let mut copy = solid.edges[e].clone();
                            copy.start = vertex(&mut solid, &on_rim, &mut back_vertex, copy.start);
                            copy.end = vertex(&mut solid, &on_rim, &mut back_vertex, copy.end);
                            solid.edges.push(copy);
                            *back_edge[e].insert(index(solid.edges.len() - 1))
                        };
                        back.push((own, !forward));
                    }
                    LoopSource::Edges(back)
                }
            });
        }
        solid.faces.push(FaceSource { outward: !front.outward, loops, ..front });
    }
    Ok(Sheets { solid, open_edges })
}

/// Returns the index of the vertex of the back for the vertex `v` of the front. It is added to `solid`
/// and entered in `back` if it does not exist yet. The front and the back share vertices on the rim.
fn vertex(solid: &mut SolidSource, on_rim: &[bool], back: &mut [Option<u32>], v: u32) -> u32 {
    if on_rim[v as usize] {
        return v;
    }
    *back[v as usize].get_or_insert_with(|| {
        solid.vertices.push(solid.vertices[v as usize].clone());
        index(solid.vertices.len() - 1)
    })
}

/// Returns the faces that use each edge; a face that uses an edge twice is listed twice.
fn users(solid: &SolidSource) -> Vec<Vec<usize>> {
    let mut users = vec![Vec::new(); solid.edges.len()];
    for (f, face) in solid.faces.iter().enumerate() {
        for l in &face.loops {
            if let LoopSource::Edges(uses) = l {
                uses.iter().for_each(|(e, _)| users[*e as usize].push(f));
            }
        }
    }
    users
}

/// Returns, for each of `faces` faces, the smallest index of a face that is connected with it by common
/// edges. `users` are those of [`users`].
fn parts(faces: usize, users: &[Vec<usize>]) -> Vec<usize> {
    let mut first: Vec<usize> = (0..faces).collect();
    let root = |first: &mut [usize], mut f: usize| {
        while first[f] != f {
            first[f] = first[first[f]];
            f = first[f];
        }
        f
    };
    for pair in users.iter().filter(|u| u.len() == 2) {
        let (a, b) = (root(&mut first, pair[0]), root(&mut first, pair[1]));
        first[a.max(b)] = a.min(b);
    }
    (0..faces).map(|f| root(&mut first, f)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{BuildOptions, build_solid};
    use crate::fixtures;
    use crate::solid::EdgeStatus;

    /// A block without its lid.
    fn open_box() -> SolidSource {
        let mut source = fixtures::block([0.0, 0.0, 0.0], [2.0, 3.0, 4.0]);
        source.faces.pop();
        source
    }

    #[test]
    fn an_open_box_has_two_sides() {
        let sheets = both_sides(open_box()).unwrap();
        assert_eq!((sheets.open_edges, sheets.solid.faces.len(), sheets.solid.edges.len()), (4, 10, 20));
        assert_eq!(sheets.solid.vertices.len(), 12, "the four at the bottom are duplicated");
        let solid = build_solid(&sheets.solid, &BuildOptions::default()).unwrap();
        assert!(solid.volume.abs() < 1e-12, "{}", solid.volume);
        let lids = [6.0, 8.0, 12.0].map(|lid| 2.0 * (52.0 - lid));
        assert!(lids.iter().any(|a| (solid.area - a).abs() < 1e-9), "{}", solid.area);
        let count = |s: EdgeStatus| solid.edges.iter().filter(|e| e.status == s).count();
        // The outside has eight edges, the inside the same eight, and the rim four.
        assert_eq!((count(EdgeStatus::Convex), count(EdgeStatus::Concave)), (8 + 4, 8));
    }

    #[test]
    fn a_closed_shell_stays_as_it_is() {
        let block = fixtures::block([0.0, 0.0, 0.0], [1.0, 1.0, 1.0]);
        let sheets = both_sides(block.clone()).unwrap();
        assert_eq!((sheets.open_edges, sheets.solid.faces.len()), (0, block.faces.len()));
    }

    #[test]
    fn three_faces_at_an_edge_are_no_sheet() {
        let mut source = open_box();
        let again = source.faces[0].clone();
        source.faces.push(again);
        assert!(matches!(both_sides(source), Err(NotASheet { uses: 3.., .. })));
    }
}
