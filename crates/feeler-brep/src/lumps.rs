//! Splits solids that one entity defines: shells that are listed as voids but lie outside of the outer
//! shell.

use std::cell::RefCell;

use feeler_geom::count::index;
use feeler_geom::{Aabb, P3, Rect, Surface};

use crate::build::{BuildOptions, build_solid};
use crate::solid::Solid;
use crate::source::{FaceSource, LoopSource, SolidSource};

/// Distance by which a shell must extend beyond the box of the outer shell to be a separate lump,
/// relative to the size of the solid. With a larger value small lumps near the outer shell stay voids;
/// with a smaller one voids that touch the box by rounding become lumps.
const LUMP_MARGIN: f64 = 1e-6;

/// Splits off the lumps of a solid, which are voids with a point outside of the outer shell's box. The
/// first solid of the result has the outer shell. Each remaining void belongs to the lump whose box
/// contains it, or else to the outer shell. A void whose box contains the outer shell is not split off.
#[must_use]
pub fn split(solid: SolidSource) -> Vec<SolidSource> {
    let n_shells = solid.faces.iter().map(|f| f.shell).max().unwrap_or(0) + 1;
    if n_shells == 1 {
        return vec![solid];
    }
    let points: Vec<Vec<P3>> = (0..n_shells).map(|s| points_of(&solid, s)).collect();
    let margin = LUMP_MARGIN * Aabb::of_points(points.iter().flatten()).diagonal();
    let fits = |shell: usize, room: &Aabb| {
        let is_in = |p: &P3| (0..3).all(|k| p[k] >= room.min[k] - margin && p[k] <= room.max[k] + margin);
        points[shell].iter().all(is_in)
    };
    let rooms: RefCell<Vec<Option<Aabb>>> = RefCell::new(vec![None; points.len()]);
    let is_within = |shell: usize, room: usize| {
        // The box of the vertices already contains most voids, so the solid of the shell need not be
        // built.
        if fits(shell, &Aabb::of_points(points[room].iter())) {
            return true;
        }
        let room = *rooms.borrow_mut()[room].get_or_insert_with(|| room_of(&solid, room));
        fits(shell, &room)
    };
    let shells = 1..points.len();
    let is_lump: Vec<bool> = std::iter::once(true)
        .chain(shells.map(|s| !points[s].is_empty() && !is_within(s, 0) && !is_within(0, s)))
        .collect();
    let lumps: Vec<usize> = (0..points.len()).filter(|s| is_lump[*s]).collect();
    if lumps.len() == 1 {
        return vec![solid];
    }
    let lump_of = |shell: usize| -> usize {
        if is_lump[shell] {
            return shell;
        }
        lumps.iter().copied().find(|l| is_within(shell, *l)).unwrap_or(0)
    };
    let owner: Vec<usize> = (0..points.len()).map(lump_of).collect();
    lumps.iter().map(|lump| part(&solid, *lump, &owner)).collect()
}

/// Returns a solid with the faces of one lump (the index of its shell) and its voids, with new shell
/// numbers: 0 for the lump, then the voids. `owner` is, for each shell, the lump to which it belongs.
fn part(solid: &SolidSource, lump: usize, owner: &[usize]) -> SolidSource {
    let mut number = 0;
    let new_shell: Vec<u32> = (0..owner.len())
        .map(|s| {
            if s == lump || owner[s] != lump {
                return 0;
            }
            number += 1;
            number
        })
        .collect();
    let faces = solid
        .faces
        .iter()
        .filter(|f| owner[f.shell as usize] == lump)
        .map(|f| FaceSource { shell: new_shell[f.shell as usize], ..f.clone() });
    compact(SolidSource { faces: faces.collect(), ..solid.clone() })
}

/// Removes edges and vertices that no face uses.
fn compact(mut solid: SolidSource) -> SolidSource {
    let mut edge_used = vec![false; solid.edges.len()];
    let mut vertex_used = vec![false; solid.vertices.len()];
    for l in solid.faces.iter().flat_map(|f| &f.loops) {
        match l {
            LoopSource::Edges(walk) => walk.iter().for_each(|(e, _)| edge_used[*e as usize] = true),
            LoopSource::Vertex(v) => vertex_used[*v as usize] = true,
        }
    }
    for (e, _) in solid.edges.iter().zip(&edge_used).filter(|(_, used)| **used) {
        vertex_used[e.start as usize] = true;
        vertex_used[e.end as usize] = true;
    }
    let numbered = |used: &[bool]| -> Vec<u32> {
        let mut next = 0;
        let mut number = |used: &bool| {
            let this = index(next);
            next += usize::from(*used);
            this
        };
        used.iter().map(&mut number).collect()
    };
    let (edge_map, vertex_map) = (numbered(&edge_used), numbered(&vertex_used));
    let mut keep = edge_used.iter();
    solid.edges.retain(|_| keep.next() == Some(&true));
    let mut keep = vertex_used.iter();
    solid.vertices.retain(|_| keep.next() == Some(&true));
    for e in &mut solid.edges {
        (e.start, e.end) = (vertex_map[e.start as usize], vertex_map[e.end as usize]);
    }
    for l in solid.faces.iter_mut().flat_map(|f| &mut f.loops) {
        match l {
            LoopSource::Edges(walk) => walk.iter_mut().for_each(|u| u.0 = edge_map[u.0 as usize]),
            LoopSource::Vertex(v) => *v = vertex_map[*v as usize],
        }
    }
    solid
}

fn edges_of(face: &FaceSource) -> impl Iterator<Item = u32> + use<'_> {
    face.loops
        .iter()
        .flat_map(|l| match l {
            LoopSource::Edges(walk) => walk.as_slice(),
            LoopSource::Vertex(_) => &[],
        })
        .map(|(e, _)| *e)
}

/// Returns the bounding box of the solid that one shell bounds alone; unbounded if this solid cannot be
/// built.
fn room_of(solid: &SolidSource, shell: usize) -> Aabb {
    let n_shells = solid.faces.iter().map(|f| f.shell as usize).max().unwrap_or(0) + 1;
    // All other shells belong to no lump here.
    let owner: Vec<usize> = (0..n_shells).map(|s| if s == shell { s } else { n_shells }).collect();
    let alone = part(solid, shell, &owner);
    build_solid(&alone, &BuildOptions::default()).map_or_else(
        |_| Aabb {
            min: P3::new(-f64::MAX, -f64::MAX, -f64::MAX),
            max: P3::new(f64::MAX, f64::MAX, f64::MAX),
        },
        |solid| tight_bounds(&solid),
    )
}

/// Returns the bounding box of a solid. Curved faces are bounded over their trimmed domains, not over
/// whole surfaces.
fn tight_bounds(solid: &Solid) -> Aabb {
    let edges = solid.shell.edges.iter().zip(&solid.edges);
    let mut out = edges.fold(Aabb::of_points(solid.shell.vertices.iter()), |b, (e, info)| {
        b.union(&e.curve.bounds(info.range.0, info.range.1))
    });
    for (f, info) in solid.shell.faces.iter().zip(&solid.faces) {
        if matches!(f.surface, Surface::Plane { .. }) {
            continue;
        }
        // Between two rows, the borders of the domain are monotone, so the rectangle between its ends
        // bounds it.
        for w in info.cells.rows().windows(2) {
            let ends = [1e-6, 1.0 - 1e-6].map(|s| info.cells.inside_on_row(w[0] + (w[1] - w[0]) * s));
            for (u0, u1) in ends.into_iter().flatten() {
                out = out.union(&f.surface.bounds(&Rect { u0, u1, v0: w[0], v1: w[1] }));
            }
        }
    }
    out
}

/// Returns the vertices of a shell, and points on its closed edges and on its faces without edges.
fn points_of(solid: &SolidSource, shell: u32) -> Vec<P3> {
    let mut out = Vec::new();
    for f in solid.faces.iter().filter(|f| f.shell == shell) {
        for e in edges_of(f) {
            let e = &solid.edges[e as usize];
            out.extend([e.start, e.end].map(|v| solid.vertices[v as usize].point));
            if let (true, Some(period)) = (e.start == e.end, e.curve.period()) {
                out.extend([0.0, 0.25, 0.5, 0.75].map(|s| e.curve.point(s * period)));
            }
        }
        if edges_of(f).next().is_none() {
            let r = f.surface.natural_domain();
            if [r.u0, r.u1, r.v0, r.v1].iter().all(|x| x.is_finite()) {
                let (u, v) = (0.5 * (r.u0 + r.u1), 0.5 * (r.v0 + r.v1));
                out.extend(
                    [(r.u0, v), (u, v), (u, r.v0), (u, r.v1)]
                        .map(|(u, v)| f.surface.point(feeler_geom::P2::new(u, v))),
                );
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    /// Two blocks in one solid; the second block is listed as a void of the first one.
    fn two(lo: [f64; 3], hi: [f64; 3]) -> SolidSource {
        let mut a = fixtures::block([0.0, 0.0, 0.0], [10.0, 10.0, 10.0]);
        let b = fixtures::block(lo, hi);
        let (n_vertices, n_edges) = (a.vertices.len(), a.edges.len());
        let shifted = |i: u32, by: usize| i + index(by);
        a.vertices.extend(b.vertices);
        a.edges.extend(b.edges.into_iter().map(|mut e| {
            (e.start, e.end) = (shifted(e.start, n_vertices), shifted(e.end, n_vertices));
            e
        }));
        a.faces.extend(b.faces.into_iter().map(|mut f| {
            for l in &mut f.loops {
                if let LoopSource::Edges(walk) = l {
                    walk.iter_mut().for_each(|u| u.0 = shifted(u.0, n_edges));
                }
            }
            FaceSource { shell: 1, ..f }
        }));
        a
    }

    #[test]
    fn a_void_outside_is_a_lump_and_one_inside_is_not() {
        let volumes = |solid: SolidSource| -> Vec<f64> {
            let built = |s: &SolidSource| build_solid(s, &BuildOptions::default()).unwrap().volume;
            split(solid).iter().map(built).collect()
        };
        let near = |a: Vec<f64>, b: &[f64]| {
            assert!(
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9),
                "{a:?}, not {b:?}"
            );
        };
        near(volumes(two([20.0, 0.0, 0.0], [25.0, 5.0, 5.0])), &[1000.0, 125.0]);
        near(volumes(two([10.0, 0.0, 0.0], [15.0, 5.0, 5.0])), &[1000.0, 125.0]);
        near(volumes(two([2.0, 2.0, 2.0], [7.0, 7.0, 7.0])), &[875.0]);
    }

    #[test]
    fn an_outer_shell_that_is_listed_as_a_void_is_no_lump() {
        assert_eq!(split(two([-1.0, -1.0, -1.0], [11.0, 11.0, 11.0])).len(), 1);
    }
}
