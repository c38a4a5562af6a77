//! Square patch of a plane that represents the unbounded plane in queries of solids.
//!
//! A query expects bodies of about equal size, so the patch is only as large as the solid requires. The
//! plane has a grid, and the patch is centred in the cell below the solid's centre. Its position
//! therefore depends on the solid's position alone.

use feeler_geom::frame::complete_basis;
use feeler_geom::{P3, Pose, V3};
use feeler_runtime::{Body, ContactFollower, FollowedContact};
use nalgebra::{Matrix3, Rotation3, UnitQuaternion};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Square of a plane, with material behind it, that represents the plane in queries of a solid.
#[derive(Clone, Debug)]
pub(super) struct PlanePatch {
    body: Arc<Body>,
    /// Side (mm) of a cell of the plane's grid.
    cell: f64,
}

/// Half of a patch's side, as a multiple of R, which is the radius of the solid's bounding sphere
/// rounded up to a power of two. A bounding sphere whose centre is above a cell is above the patch, with
/// half a radius to spare. A larger patch means larger tolerances of queries, because these depend on
/// the larger body; solids could reach beyond a smaller one.
const HALF_SIDE: f64 = 2.0;

/// Side of a cell of the grid, as a multiple of R, which is the radius of the solid's bounding sphere
/// rounded up to a power of two. With larger cells solids could reach beyond the patch; with smaller
/// ones the patch moves, and contacts are searched for anew, more often.
const CELL_SIZE: f64 = 1.0;

/// Distance of cell centres from the origin of the plane's frame, in cells, apart from whole cells. It
/// differs from simple fractions, so that solids set up at round coordinates are not on the border of a
/// cell; the value itself does not matter.
const GRID_OFFSET: f64 = 0.381_966;

/// Bodies of all patches that exist in this process. The key is the base-2 exponent of the radius of the
/// solid's bounding sphere, rounded up to a power of two. Solids of about equal size share a patch, and
/// with it the scratch data of their queries.
static PATCHES: Mutex<BTreeMap<i32, Arc<Body>>> = Mutex::new(BTreeMap::new());

impl PlanePatch {
    /// Returns the patch for solids with a bounding sphere of a radius (mm); `None` if the radius is out
    /// of range.
    pub(super) fn for_radius(radius: f64) -> Option<Self> {
        if !(MIN_RADIUS..=MAX_RADIUS).contains(&radius) {
            return None;
        }
        let (mut exponent, mut rounded) = (0, 1.0);
        while rounded < radius {
            (exponent, rounded) = (exponent + 1, rounded * 2.0);
        }
        while 0.5 * rounded >= radius {
            (exponent, rounded) = (exponent - 1, rounded * 0.5);
        }
        let mut known = PATCHES.lock().unwrap_or_else(PoisonError::into_inner);
        let body = match known.get(&exponent) {
            Some(body) => Arc::clone(body),
            None => {
                let hierarchy = feeler_hierarchy::plane(HALF_SIDE * rounded)?;
                let body = Arc::new(Body::new(hierarchy).ok()?);
                known.insert(exponent, Arc::clone(&body));
                body
            }
        };
        Some(Self { body, cell: CELL_SIZE * rounded })
    }

    pub(super) fn body(&self) -> &Arc<Body> {
        &self.body
    }

    /// Returns the pose of the patch (world) if it is centred in the grid cell below the point `point`
    /// (world). The plane is z = 0 in the coordinates that `frame` maps to the world.
    pub(super) fn pose_below(&self, frame: &Pose, point: &P3) -> Pose {
        let at = frame.inverse_transform_point(point);
        let on_grid = |x: f64| ((x / self.cell - GRID_OFFSET).round() + GRID_OFFSET) * self.cell;
        frame * Pose::translation(on_grid(at.x), on_grid(at.y), 0.0)
    }

    /// If the patch was in another grid cell at the last search, transforms the tracked contacts to the
    /// coordinates of the patch in its present cell; the plane is the same in both cells. `pose` is the
    /// present pose of the solid in the coordinates of the patch.
    pub(super) fn shift_contacts(&self, tracked: &mut ContactFollower, pose: &Pose) {
        let (Some(last), contacts, next) = tracked.parts() else { return };
        let displacement = pose.translation.vector - last.pose.translation.vector;
        let shift = V3::new(displacement.x, displacement.y, 0.0).map(|x| (x / self.cell).round() * self.cell);
        if shift == V3::zeros() {
            return;
        }
        let mut last = *last;
        last.pose.translation.vector += shift;
        let shifted = |c: &FollowedContact| {
            let [[u, v], other] = c.uv;
            let mut updated_at = c.updated_at;
            updated_at.translation.vector += shift;
            let uv = [[u + shift.x, v + shift.y], other];
            FollowedContact { local_a: c.local_a + shift, uv, updated_at, ..*c }
        };
        *tracked = ContactFollower::from_parts(Some(last), contacts.iter().map(shifted).collect(), next);
    }
}

/// Pose that maps coordinates with the origin `point` and the z axis along the unit normal `normal` to
/// the coordinates in which these two are given.
pub(super) fn frame(point: &P3, normal: &V3) -> Pose {
    let (x, y) = complete_basis(normal);
    let axes = Rotation3::from_matrix_unchecked(Matrix3::from_columns(&[x, y, *normal]));
    Pose::from_parts(point.coords.into(), UnitQuaternion::from_rotation_matrix(&axes))
}

/// Minimum radius (mm) of a solid's bounding sphere; smaller solids are refused. It bounds the number of
/// shared patches. With a larger value small particles would be refused.
const MIN_RADIUS: f64 = 1e-12;

/// Maximum radius (mm) of a solid's bounding sphere; larger solids are refused. Like [`MIN_RADIUS`] it
/// bounds the number of shared patches. With a smaller value large particles would be refused.
const MAX_RADIUS: f64 = 1e12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_lie_below_their_solids_and_are_shared() {
        for radius in [1e-9, 0.3, 0.5, 1.0, 1.1, 4.0, 5e7] {
            let patch = PlanePatch::for_radius(radius).unwrap();
            let smaller = PlanePatch::for_radius(0.999 * radius).unwrap();
            assert!(Arc::ptr_eq(patch.body(), smaller.body()), "{radius}");
            let tilted = frame(&P3::new(1.0, 2.0, 3.0), &V3::new(0.6, 0.0, 0.8));
            for k in 0..200 {
                let at = tilted * P3::new(0.173 * f64::from(k) * radius, -31.7 * radius, radius);
                let pose = patch.pose_below(&tilted, &at);
                let below = pose.inverse_transform_point(&at);
                let margin = -patch.body().bounds().min.x - below.x.abs().max(below.y.abs());
                assert!(margin > 1.45 * radius && (below.z - radius).abs() < 1e-9 * (radius + 1.0), "{k}");
            }
        }
        assert!(PlanePatch::for_radius(0.0).is_none() && PlanePatch::for_radius(f64::NAN).is_none());
    }
}
