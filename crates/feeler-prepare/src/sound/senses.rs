//! Tests of outward normals that only the source defines, by the depth of the solid beside a face.
//!
//! The loops of a face on a sphere or a torus bound two sides of it. If the wrong side is taken, the boundary
//! is still closed: it differs from that of the solid by the whole sphere or torus. Its winding number is
//! then −1 or 2 somewhere, unless the ball lies completely inside or completely outside the solid. A line
//! through a point of the face detects this: one side of the face must be inside the solid once, the other
//! side outside.

use std::collections::BTreeSet;

use feeler_brep::Solid;
use feeler_geom::trim::Side;
use feeler_geom::{P2, Rect};
use feeler_hierarchy::{FaceId, Feature, Hierarchy};

use super::line::{Crossing, Line, Target};
use super::{LINE_TOLERANCE, is_sheet, random, random_direction, tie_distance};

/// Maximum number of lines that are tried for one face, and number of conclusive lines after which no more
/// are tried. With larger values the test takes more time; with smaller ones small overlaps are missed.
const LIMITS: (u64, u32) = (96, 24);

/// Minimum number of lines, and their minimum share of the conclusive ones, that must contradict the normal
/// of a face. With larger values, wrong normals are missed if the ball overlaps little of the solid; with
/// smaller ones, inexact solids are built twice.
const CONTRADICTED: (u32, f64) = (2, 0.05);

/// Returns the entity numbers of those faces with an unconfirmed sense
/// ([`FaceInfo::is_sense_unconfirmed`](feeler_brep::FaceInfo)) whose outward normals are contradicted by the
/// depth of the solid on both sides of the face.
pub(crate) fn contradicted_faces(solid: &Solid, h: &Hierarchy) -> Vec<u64> {
    let open: BTreeSet<u64> =
        solid.faces.iter().filter(|f| f.is_sense_unconfirmed).map(|f| f.source).collect();
    if open.is_empty() || is_sheet(solid) {
        return Vec::new();
    }
    // The box of the hierarchy is correct for valid solids only.
    let size = solid.bounds.diagonal();
    let target = Target::new(h, LINE_TOLERANCE * size);
    let tie = tie_distance(h, size);
    open.into_iter().filter(|id| is_contradicted(&target, *id, tie)).collect()
}

/// Whether lines through the face with the entity number `id` contradict its outward normal. Crossings closer
/// than `tie` (mm) count as one point.
fn is_contradicted(target: &Target<'_>, id: u64, tie: f64) -> bool {
    let h = target.h;
    let (mut conclusive, mut wrong) = (0, 0);
    let areas = h.areas.iter().filter_map(|a| match a.feature {
        Feature::Face(f) => Some((f, a.rect)),
        _ => None,
    });
    let is_of_face = |f: FaceId| h.faces[f.index()].sources.iter().any(|s| s.0 == id);
    let areas: Vec<(FaceId, Rect)> = areas.filter(|(f, _)| is_of_face(*f)).collect();
    for k in 0..LIMITS.0 {
        if conclusive >= LIMITS.1 || areas.is_empty() {
            break;
        }
        let (f, r) = areas[super::scattered(k, areas.len())];
        let face = &h.faces[f.index()];
        let uv = P2::new(r.u0 + r.width() * random(k, 3), r.v0 + r.height() * random(k, 4));
        let domain = face.sources.iter().find(|s| s.0 == id).map(|s| s.1.as_ref().unwrap_or(&face.trim));
        if domain.is_none_or(|d| d.classify(uv) != Side::Inside) {
            continue;
        }
        let away = face.surface.normal(uv) + random_direction(k) * 0.8;
        let Some(dir) = away.try_normalize(0.1) else { continue };
        let line = Line { origin: face.surface.point(uv), dir };
        let Some(found) = target.crossings(&line) else { continue };
        let is_start = |c: &&Crossing| c.face == f && c.t.abs() <= 10.0 * target.tol;
        let Some(own) = found.iter().find(is_start) else { continue };
        // Faces back to back have no depth between them.
        if found.iter().filter(|c| (c.t - own.t).abs() <= tie).count() > 1 {
            continue;
        }
        let before: i32 = found.iter().filter(|c| c.t < own.t).map(|c| c.step).sum();
        let is_closed = found.iter().map(|c| c.step).sum::<i32>() == 0;
        if is_closed {
            conclusive += 1;
            wrong += u32::from(before != i32::from(own.step < 0));
        }
    }
    wrong >= CONTRADICTED.0 && f64::from(wrong) >= CONTRADICTED.1 * f64::from(conclusive)
}
