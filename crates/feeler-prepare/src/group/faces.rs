//! Groups faces into supermaximal faces.

use feeler_brep::Solid;
use feeler_geom::trim::{TrimDomain, TrimPiece, on_inner_sheet};
use feeler_geom::{P2, Surface, V2};
use std::borrow::Cow;

use super::{FaceGroup, Scale, consistent_cells, sphere};
use crate::cluster::clusters;
use crate::coincide::{SurfaceMap, key_tolerance, surface_key, surface_map};

/// Source face of a group whose boundary is expressed in the parameters of the surface of the group's
/// reference face.
struct Member<'a> {
    face: u32,
    pieces: Cow<'a, [TrimPiece]>,
}

/// Returns the supermaximal faces and, for each source face, the index of its supermaximal face.
pub(super) fn group_faces(solid: &Solid, scale: &Scale) -> (Vec<FaceGroup>, Vec<u32>) {
    let keys: Vec<[f64; 12]> =
        solid.shell.faces.iter().map(|f| surface_key(&f.surface, f.orientation, &scale.center)).collect();
    let mut groups: Vec<Vec<Member<'_>>> = Vec::new();
    for class in clusters(&keys, &key_tolerance(scale.size, scale.tol)) {
        let first = groups.len();
        for &face in &class {
            // A class has more than one reference only if it is a chain of nearly equal surfaces.
            let found = (first..groups.len()).find_map(|g| {
                let pieces = on_reference(solid, face, groups[g][0].face, scale.tol)?;
                Some((g, pieces))
            });
            match found {
                Some((g, pieces)) => groups[g].push(Member { face, pieces: pieces.into() }),
                None => {
                    let own = &solid.faces[face as usize].domain.pieces;
                    groups.push(vec![Member { face, pieces: own.into() }]);
                }
            }
        }
    }
    let mut built: Vec<FaceGroup> = Vec::new();
    for group in &groups {
        match merged(solid, group) {
            Some(face) => built.push(face),
            None => built.extend(group.iter().map(|m| single(solid, m.face))),
        }
    }
    built.sort_by_key(|g| g.members[0].0);
    let mut face_of = vec![0; solid.shell.faces.len()];
    for (k, group) in built.iter().enumerate() {
        for (face, _) in &group.members {
            face_of[*face as usize] = feeler_geom::count::index(k);
        }
    }
    (built, face_of)
}

/// Returns the boundary of a face in the parameters of the surface of the reference face. Returns `None`
/// if the two faces cannot be merged: their surfaces differ by more than `tol` (mm), their material is
/// on different sides, they are on different sheets of a torus, or one of them has no boundary.
fn on_reference(solid: &Solid, face: u32, reference: u32, tol: f64) -> Option<Vec<TrimPiece>> {
    let (a, b) = (&solid.shell.faces[face as usize], &solid.shell.faces[reference as usize]);
    let domain = &solid.faces[face as usize].domain;
    let reference_domain = &solid.faces[reference as usize].domain;
    // A face without a boundary is its whole surface, so that no other face can be part of it.
    if domain.pieces.is_empty() || reference_domain.pieces.is_empty() {
        return None;
    }
    if !same_side(&a.surface, a.orientation, &b.surface, b.orientation)
        || on_inner_sheet(&a.surface, &domain.rect, &domain.pieces)
            != on_inner_sheet(&b.surface, &reference_domain.rect, &reference_domain.pieces)
    {
        return None;
    }
    let (map, deviation) = surface_map(&a.surface, &b.surface, &domain.rect, tol)?;
    let mut pieces = match map {
        SurfaceMap::Affine(map) => domain.pieces.iter().map(|p| map.piece(p)).collect(),
        SurfaceMap::Refit => sphere::refit(&a.surface, &b.surface, &domain.pieces, tol)?,
    };
    let turn = V2::new(0.0, onto_sheet(&b.surface, reference_domain, &pieces));
    for p in &mut pieces {
        p.deviation += deviation;
        p.control = p.control.map(|c| c + turn);
    }
    Some(pieces)
}

/// Returns the shift of v (rad), by whole turns, that moves a boundary to the sheet of a spindle torus
/// on which the reference domain lies. The parameters of such a sheet lie on a circle but have no
/// period. Returns 0 for all other surfaces.
fn onto_sheet(surface: &Surface, reference: &TrimDomain, pieces: &[TrimPiece]) -> f64 {
    let Some(turn) = surface.v_period().filter(|_| reference.v_period.is_none()) else { return 0.0 };
    let (lo, hi) = pieces
        .iter()
        .map(TrimPiece::bounds)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), r| (lo.min(r.v0), hi.max(r.v1)));
    // A sheet is shorter than a turn, so that the centres of two parts of it are closer than in any other
    // turn.
    let off = 0.5 * (reference.rect.v0 + reference.rect.v1 - lo - hi);
    if off.is_finite() { turn * (off / turn).round() } else { 0.0 }
}

/// Returns whether faces on two equal surfaces have the material on the same side. `a_outward` and
/// `b_outward` are whether their outward normals are the natural normals.
fn same_side(a: &Surface, a_outward: bool, b: &Surface, b_outward: bool) -> bool {
    match (a, b) {
        // The natural normal of a plane is the only one that depends on the frame.
        (Surface::Plane { frame: f }, Surface::Plane { frame: g }) => {
            (f.z.dot(&g.z) > 0.0) == (a_outward == b_outward)
        }
        _ => a_outward == b_outward,
    }
}

fn single(solid: &Solid, face: u32) -> FaceGroup {
    let source = &solid.shell.faces[face as usize];
    FaceGroup {
        surface: source.surface.clone(),
        outward: source.orientation,
        cells: solid.faces[face as usize].cells.clone(),
        members: vec![(face, None)],
        n_loops: source.boundaries.len(),
    }
}

/// Merges a group of faces into a supermaximal face. Returns `None` if their boundaries contradict each
/// other.
fn merged(solid: &Solid, group: &[Member<'_>]) -> Option<FaceGroup> {
    let reference = group[0].face;
    if group.len() == 1 {
        return Some(single(solid, reference));
    }
    let mut is_member = vec![];
    is_member.extend(group.iter().map(|m| m.face));
    is_member.sort_unstable();
    let within = |face: u32| is_member.binary_search(&face).is_ok();
    let vanishes = |edge: u32| {
        solid.edges.get(edge as usize).is_some_and(|e| match e.sides.as_slice() {
            [a, b] => a.face != b.face && within(a.face) && within(b.face),
            _ => false,
        })
    };
    let rest: Vec<TrimPiece> =
        group.iter().flat_map(|m| m.pieces.iter()).filter(|p| !vanishes(p.edge)).copied().collect();
    let cells = consistent_cells(&domain_like(solid, reference, &rest))?;
    let mut members = vec![(reference, Some(solid.faces[reference as usize].cells.clone()))];
    for m in &group[1..] {
        members.push((m.face, Some(consistent_cells(&domain_like(solid, reference, &m.pieces))?)));
    }
    let source = &solid.shell.faces[reference as usize];
    Some(FaceGroup {
        surface: source.surface.clone(),
        outward: source.orientation,
        cells,
        members,
        n_loops: group.iter().map(|m| solid.shell.faces[m.face as usize].boundaries.len()).sum(),
    })
}

/// Creates the domain with boundary `pieces` on the surface of the reference face. Its natural limits,
/// periods and origin of periodic parameters are those of the domain of the reference face, because the
/// two sheets of a spindle torus have different parameter rectangles.
fn domain_like(solid: &Solid, reference: u32, pieces: &[TrimPiece]) -> TrimDomain {
    let own = &solid.faces[reference as usize].domain;
    let origin = P2::new(own.rect.u0, own.rect.v0);
    TrimDomain::new(pieces, own.natural, own.u_period, own.v_period, origin)
}
