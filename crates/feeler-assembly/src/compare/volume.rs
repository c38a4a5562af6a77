//! Volume of the symmetric difference of two versions of a solid: of what is in one of them only.

use super::ComparisonTolerances;
use super::face::FaceFacts;
use feeler_geom::{Aabb, P3, V3};
use feeler_hierarchy::{Feature, Hierarchy};
use feeler_runtime::{Body, PointQuery};
use rayon::prelude::*;

/// Number of points in the box of the faces that differ. The relative error is 0.8 % if half of the box
/// differs, and grows with the inverse root of that share. More points take more time.
const NUM_POINTS: u32 = 16_384;

/// Points in one task of a thread.
const CHUNK: u32 = 512;

/// Minimum number of points in the symmetric difference for an estimate; with fewer, its error would be of
/// its own size.
const MIN_HITS: u32 = 10;

/// Computes the volume (mm³) of the symmetric difference, and the error (mm³) that it does not exceed
/// with a probability of 95 %. Returns `None` for sheets, and if no face differs or the volume is too
/// small relative to the box of the faces that differ.
pub(super) fn symmetric_difference(
    old: &Hierarchy,
    new: &Hierarchy,
    tol: &ComparisonTolerances,
) -> Option<(f64, f64)> {
    let within = different_faces(old, new, tol)?;
    let body = |h: &Hierarchy| Body::new(h.clone()).ok().filter(|b| !b.is_sheet());
    let (a, b) = (body(old)?, body(new)?);
    let edges = within.max - within.min;
    let volume = edges.x * edges.y * edges.z;
    let of_chunk = |from: u32| {
        let mut query = PointQuery::new();
        let (mut known, mut hits) = (0_u32, 0_u32);
        for k in from..from + CHUNK {
            let p = within.min + edges.component_mul(&scattered(k));
            // Points on a boundary are as likely on either side.
            let (Ok(Some(x)), Ok(Some(y))) = (query.contains(&a, &p, 0.0), query.contains(&b, &p, 0.0))
            else {
                continue;
            };
            known += 1;
            hits += u32::from(x != y);
        }
        (known, hits)
    };
    let starts: Vec<u32> = (0..NUM_POINTS / CHUNK).map(|k| k * CHUNK).collect();
    let (known, hits) = starts.into_par_iter().map(of_chunk).reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    if hits < MIN_HITS {
        return None;
    }
    let share = f64::from(hits) / f64::from(known);
    let error = 1.96 * (share * (1.0 - share) / f64::from(known)).sqrt();
    Some((volume * share, volume * error))
}

/// Box around the supermaximal faces of each version that have no equal in the other version; `None` if
/// there are no such faces. Outside the box both boundaries are equal, so that the versions do not
/// differ there.
fn different_faces(old: &Hierarchy, new: &Hierarchy, tol: &ComparisonTolerances) -> Option<Aabb> {
    let [a, b] = [old, new].map(FaceFacts::of_supermaximal);
    let mut out: Option<Aabb> = None;
    for (h, own, others) in [(old, &a, &b), (new, &b, &a)] {
        let differs = |k: usize| !others.iter().any(|o| own[k].is_equal(o, tol));
        let differs: Vec<bool> = (0..own.len()).map(differs).collect();
        for area in &h.areas {
            if let Feature::Face(f) = area.feature
                && differs[f.index()]
            {
                let bounds = h.faces[f.index()].surface.bounds(&area.rect);
                out = Some(out.map_or(bounds, |o| o.union(&bounds)));
            }
        }
    }
    // Patches can bulge beyond the solid.
    let whole = |h: &Hierarchy| Aabb { min: P3::from(h.info.bbox_min), max: P3::from(h.info.bbox_max) };
    let both = whole(old).union(&whole(new));
    out.map(|o| Aabb { min: o.min.sup(&both.min), max: o.max.inf(&both.max) })
}

/// Point `k` of a sequence that fills the unit cube evenly. Its coordinates are the fractional parts of
/// `k` times the first three powers of 1/r, plus one half, where r is the positive root of x⁴ = x + 1.
fn scattered(k: u32) -> V3 {
    const ROOT: f64 = 1.220_744_084_605_759_5;
    let step = |power: f64| (0.5 + f64::from(k) * power).fract();
    V3::new(step(1.0 / ROOT), step(1.0 / (ROOT * ROOT)), step(1.0 / (ROOT * ROOT * ROOT)))
}
