//! Contacts of one collider with one wall: a table of all combinations of shape and wall.

use super::contact_history::WallHistory;
use super::grain::PosedGrain;
use super::pair_queries::PairQueries;
use super::shape::PosedShape;
use super::solid::{PosedSolid, effective_radius};
use super::wall::{MovingWallContact, PlaneWall, RigidMotion, SolidWall, Wall, velocity_at};
use crate::contact::WallContact;
use crate::facets::{FacetContact, FacetWall};
use crate::sphere::Sphere;
use feeler_geom::{P3, Pose};
use feeler_runtime::{Body, ContactFollower, QueryError};
use std::sync::Arc;

/// Appends the contacts of a shape with a wall to `out`; only overlaps are contacts.
///
/// `bounding` is the bounding sphere of the shape, or the sphere itself. If the wall is exact, `exact`
/// are its contacts with the sphere, the grain, or the solid's bounding sphere, which have been computed
/// for all colliders before this call; for a solid they decide only whether it can touch the wall.
///
/// # Errors
/// The position of a solid is out of range.
#[inline]
pub(super) fn find(
    wall: &Wall,
    shape: &PosedShape<'_>,
    bounding: &Sphere,
    exact: &[WallContact],
    history: &mut WallHistory,
    queries: &mut PairQueries,
    out: &mut Vec<MovingWallContact>,
) -> Result<(), QueryError> {
    match (shape, wall) {
        (PosedShape::Sphere(sphere), Wall::Facets(facets)) => {
            let history = history.facets.get_or_insert_default();
            of_facets(facets, facets.contacts(history, &sphere.center, sphere.radius), out);
        }
        (PosedShape::Sphere(_) | PosedShape::Grain(_), Wall::Exact(solid)) => of_exact(solid, exact, out),
        (PosedShape::Sphere(sphere), Wall::Plane(plane)) => out.extend(sphere_on_plane(sphere, plane)),
        (PosedShape::Grain(grain), Wall::Facets(facets)) => {
            let history = history.facets.get_or_insert_default();
            of_facets(facets, facets.grain_contacts(history, &grain.placed, bounding.radius), out);
        }
        (PosedShape::Grain(grain), Wall::Plane(plane)) => {
            out.extend(grain_on_plane(grain, bounding.radius, plane));
        }
        // Simulations refuse walls of triangles together with solids.
        (PosedShape::Solid(_), Wall::Facets(_)) => {}
        (PosedShape::Solid(solid), Wall::Exact(wall)) => {
            let tracked = history.tracked.get_or_insert_default();
            if exact.is_empty() {
                tracked.forget();
            } else {
                tracked_contacts(
                    solid,
                    (wall.exact.body(), wall.exact.pose(), &wall.motion),
                    tracked,
                    queries,
                    out,
                )?;
            }
        }
        (PosedShape::Solid(solid), Wall::Plane(plane)) => {
            let tracked = history.tracked.get_or_insert_default();
            if plane.height(&bounding.center) >= bounding.radius {
                tracked.forget();
            } else {
                let patch = solid.plane_patch();
                let pose = patch.pose_below(&plane.frame(), &bounding.center);
                patch.shift_contacts(tracked, &pose.inv_mul(&solid.pose));
                tracked_contacts(solid, (patch.body(), &pose, plane.motion()), tracked, queries, out)?;
            }
        }
    }
    Ok(())
}

fn of_facets(wall: &FacetWall, found: &[FacetContact], out: &mut Vec<MovingWallContact>) {
    out.extend(
        found.iter().map(|c| MovingWallContact::new(c.contact, |point| wall.velocity_at(c.facet, point))),
    );
}

fn of_exact(wall: &SolidWall, found: &[WallContact], out: &mut Vec<MovingWallContact>) {
    let overlapping = found.iter().filter(|c| c.gap < 0.0);
    out.extend(overlapping.map(|c| MovingWallContact::new(*c, |point| velocity_at(&wall.motion, point))));
}

fn sphere_on_plane(sphere: &Sphere, plane: &PlaneWall) -> Option<MovingWallContact> {
    let height = plane.height(&sphere.center);
    on_plane(plane, height - sphere.radius, sphere.center - plane.normal() * height)
}

/// Contact of a grain with a plane; `None` if they do not overlap. `radius` (mm) is that of the bounding
/// sphere.
fn grain_on_plane(grain: &PosedGrain<'_>, radius: f64, plane: &PlaneWall) -> Option<MovingWallContact> {
    if plane.height(&grain.placed.origin()) >= radius {
        return None;
    }
    let (lowest, _) = grain.placed.surface(&-plane.normal());
    let gap = plane.height(&lowest);
    on_plane(plane, gap, lowest - plane.normal() * gap)
}

/// Contact with a plane at its point `point` (world) with the gap `gap` (mm); `None` if the gap is not
/// negative.
fn on_plane(plane: &PlaneWall, gap: f64, point: P3) -> Option<MovingWallContact> {
    if gap >= 0.0 {
        return None;
    }
    let contact = WallContact { id: 0, point, normal: *plane.normal(), gap, curvatures: [0.0; 2] };
    Some(MovingWallContact::new(contact, |point| velocity_at(plane.motion(), point)))
}

/// Updates the tracked contacts of a solid with a wall, given by its body, pose and motion, and appends
/// those that overlap to `out`.
fn tracked_contacts(
    solid: &PosedSolid<'_>,
    (wall, pose, motion): (&Arc<Body>, &Pose, &Option<RigidMotion>),
    tracked: &mut ContactFollower,
    queries: &mut PairQueries,
    out: &mut Vec<MovingWallContact>,
) -> Result<(), QueryError> {
    queries.track(tracked, [(wall, pose), (solid.body(), &solid.pose)])?;
    out.extend(tracked.contacts().iter().filter(|c| c.distance < 0.0).map(|c| {
        let (point, normal) = (pose * c.local_a, pose.rotation * c.normal);
        let acts_at = nalgebra::center(&point, &(solid.pose * c.local_b));
        let (velocity, spin) = velocity_at(motion, &acts_at);
        let contact = WallContact { id: c.id, point, normal, gap: c.distance, curvatures: c.curvatures };
        let effective_radius = Some(effective_radius(c.curvatures, solid.equal_radius));
        MovingWallContact { contact, acts_at, velocity, spin, effective_radius }
    }));
    Ok(())
}
