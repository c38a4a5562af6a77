//! Free-form areas all of whose points are near the boundary of the other solid. They are not searched for
//! crossings with it.
//!
//! # Source
//! MATH §15.

use super::{CachedSeparation, MAX_EVALUATIONS, SeparationCache, areas_of, limits};
use crate::body::edge_arcs::EdgeArc;
use crate::body::side::Which;
use crate::cull::motion::MotionChannels;
use crate::nearest::foot_on_face_within;
use crate::query::Context;
use crate::verdict::{closed_form, ordered, patch_of};
use feeler_geom::Rect;
use feeler_geom::crossing::{Patch, distance_from_surface, distance_on_one_surface};
use feeler_geom::trim::Side;
use feeler_hierarchy::{AreaId, FaceId, Feature};

/// Width (in tolerances) of the strip along the sides of an image that may be beside the trims of the face
/// on which it lies: rounding of the trims, and of those of the area. A larger value leaves less of the
/// accepted distance; a smaller one does not recognise areas at edges.
const MAX_BESIDE_COVER: f64 = 0.2;
/// Maximum number of cells of one area that are examined for their distance from the face on which it lies. A
/// larger value takes longer for areas that are partly beside the face; with a smaller one areas with other
/// parameters than the face are not recognised.
const MAX_COVER_CELLS: usize = 300;

impl SeparationCache {
    /// Returns the further displacement (mm) up to which a free-form area of `own` does not have to be
    /// searched for crossings with the other solid, because all of its points are near the boundary of that
    /// solid, even if they deviate by `distance` (mm) from their surface. `None` if this is not known. The
    /// area is still a target of the edges and areas of the other solid.
    pub(in crate::verdict) fn remaining_cover(
        &mut self,
        ctx: &Context<'_>,
        channels: &MotionChannels<'_>,
        (own, area): (Which, AreaId),
        distance: f64,
    ) -> Option<f64> {
        let key = [area.0, own as u32];
        let moved = channels.displacement(MotionChannels::WHOLE);
        let known = match self.known(|cache| &cache.covered, key, moved) {
            Some(known) => known,
            None if self.evaluated >= MAX_EVALUATIONS => return None,
            None => {
                let cover = self.cover(ctx, (own, area));
                if let Some((_, face)) = cover {
                    let faces = ordered(own, ctx.body(own).face_of(area), face);
                    if !self.followed.contains(&faces) {
                        self.followed.push(faces);
                    }
                }
                let known = CachedSeparation::new(cover.map(|(spare, _)| spare), moved, self.queries);
                self.covered.set(key, known);
                known
            }
        };
        Some(known.until - moved - distance).filter(|spare| *spare > 0.0)
    }

    /// Returns the displacement (mm) of the other solid up to which all points of a free-form area of `own`
    /// are within the distance of [`distance_on_one_surface`] from one free-form face of the other solid,
    /// trims included, with the opposite normal; and that face. `None` if this is not proved.
    fn cover(&mut self, ctx: &Context<'_>, (own, area): (Which, AreaId)) -> Option<(f64, FaceId)> {
        let (body, facing) = (ctx.body(own), ctx.body(own.other()));
        // The sides of a sheet are on each other's boundary.
        if body.is_sheet() || facing.is_sheet() || closed_form(body, body.face_of(area)).is_some() {
            return None;
        }
        let limit = distance_on_one_surface(limits(ctx));
        let beside = MAX_BESIDE_COVER * ctx.tol.tol;
        let (_, patch) = patch_of(body, area, Some(ctx.pose_to_other(own)))?;
        let (p, du, dv) = patch.surface.first_derivs(patch.rect.center());
        let (p, n) = (ctx.pose_to_other(own) * p, ctx.pose_to_other(own) * du.cross(&dv));
        let sign = |outward: bool| if outward == patch.outward { 1.0 } else { -1.0 };
        let mut images = Vec::new();
        facing.features().iter().find_map(|data| {
            let Feature::Face(face) = data.feature else { return None };
            if data.primitive.is_some() || data.bounds.distance_sq(&p) > limit * limit {
                return None;
            }
            let (surface, trim) = (&facing.face(face).surface, &facing.face(face).trim);
            let foot = foot_on_face_within(facing, face, &p, limit)?;
            let (q, du, dv) = surface.first_derivs(foot);
            let is_opposite = du.cross(&dv).dot(&n) * sign(facing.face(face).outward) < 0.0;
            if !is_opposite || (q - p).norm() > limit || trim.classify(foot) != Side::Inside {
                return None;
            }
            images.clear();
            let mut left = MAX_COVER_CELLS;
            let bounds = &*self.bounds.entry((own.other(), face)).or_default();
            let distance =
                distance_from_surface(&[patch], (surface, bounds), Some(foot), limit, &mut images, &mut left);
            self.evaluated += MAX_COVER_CELLS - left;
            let spare = limit - distance? - 2.0 * beside;
            let is_inside =
                |rect: &Rect| !trim.has_boundary_in(rect) && trim.classify(rect.center()) == Side::Inside;
            let is_on_face = |image: &Rect| {
                if is_inside(image) {
                    return true;
                }
                let third = surface.third_derivatives(image).map(|balls| balls.map(|ball| ball.norm()));
                third.is_some_and(|third| {
                    let image = Patch { surface, rect: *image, third, pose: None, ..patch };
                    // One step along each parameter leads from a point of an image into its inner part.
                    is_inside(&image.within(beside))
                })
            };
            (spare > 0.0 && images.iter().all(is_on_face)).then_some((spare, face))
        })
    }

    /// Whether the arc of `own` with this index does not have to be searched for crossings with the other
    /// solid, because all areas beside the arc, of one of its faces, are near the boundary of that solid.
    pub(in crate::verdict) fn is_covered(
        &mut self,
        ctx: &Context<'_>,
        channels: &MotionChannels<'_>,
        (own, index): (Which, u32),
    ) -> bool {
        let body = ctx.body(own);
        let arc = &body.edge_arcs().list[index as usize];
        // Most solids have few free-form faces.
        if [arc.face, arc.beside].iter().all(|face| closed_form(body, *face).is_some()) {
            return false;
        }
        let key = [index, own as u32];
        let moved = channels.displacement(MotionChannels::WHOLE);
        if let Some(known) = self.known(|cache| &cache.covered_arcs, key, moved) {
            return known.until > moved;
        }
        let spare = self
            .remaining_cover_beside(ctx, channels, (own, arc), (arc.face, 0.0))
            .or_else(|| self.remaining_cover_beside(ctx, channels, (own, arc), (arc.beside, arc.off)));
        self.covered_arcs.set(key, CachedSeparation::new(spare, moved, self.queries));
        spare.is_some()
    }

    /// Smallest result of [`SeparationCache::remaining_cover`] for the areas of one of the faces of an arc
    /// that the arc passes; the arc deviates from the face by at most `off` (mm).
    fn remaining_cover_beside(
        &mut self,
        ctx: &Context<'_>,
        channels: &MotionChannels<'_>,
        (own, arc): (Which, &EdgeArc),
        (face, off): (FaceId, f64),
    ) -> Option<f64> {
        let body = ctx.body(own);
        if closed_form(body, face).is_some() {
            return None;
        }
        let (center, radius) = (arc.middle(), arc.radius() + off);
        // Without an area beside it, nothing is known about the arc.
        let mut smallest = None;
        for &area in areas_of(body, face) {
            if body.node(body.leaf_of_area(area)).obb.distance_to(&center) <= radius {
                let spare = self.remaining_cover(ctx, channels, (own, area), off)?;
                smallest = Some(smallest.map_or(spare, |smallest: f64| smallest.min(spare)));
            }
        }
        smallest
    }
}

#[cfg(test)]
mod tests;
