//! The piece of a plane that a solid is above: what stands in for a wall without end.
//!
//! A query wants bodies of about one size, so the piece is as large as the solid needs. It stands on a grid
//! of the plane, in the cell that the solid is above, and so depends on nothing but where that is.

use feeler_geom::frame::complete_basis;
use feeler_geom::{P3, Pose, V3};
use feeler_runtime::{Body, FollowedContact, Following};
use nalgebra::{Matrix3, Rotation3, UnitQuaternion};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A square of a plane, with the material behind it.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    body: Arc<Body>,
    /// Length (mm) of a cell of the grid.
    cell: f64,
}

/// Half a piece's side, and a cell, as parts of the radius that they are for, made a power of two: a ball
/// above a cell is above the piece, with half a radius to spare.
const HALF: f64 = 2.0;
const CELL: f64 = 1.0;

/// Where the grid begins, in cells: no number of cells, so that what is set up on round numbers does not
/// stand on a border.
const BEGIN: f64 = 0.381_966;

/// Pieces that there are, by the exponent of their radius: solids of about one size share them, and with
/// them what is kept of pairs.
static PIECES: Mutex<BTreeMap<i32, Arc<Body>>> = Mutex::new(BTreeMap::new());

impl Piece {
    /// For solids in balls of a radius (mm); none of a radius beyond all sense.
    pub(super) fn under(radius: f64) -> Option<Self> {
        if !(LEAST..=MOST).contains(&radius) {
            return None;
        }
        let (mut exponent, mut rounded) = (0, 1.0);
        while rounded < radius {
            (exponent, rounded) = (exponent + 1, rounded * 2.0);
        }
        while 0.5 * rounded >= radius {
            (exponent, rounded) = (exponent - 1, rounded * 0.5);
        }
        let mut known = PIECES.lock().unwrap_or_else(PoisonError::into_inner);
        let body = match known.get(&exponent) {
            Some(body) => Arc::clone(body),
            None => {
                let hierarchy = feeler_hierarchy::plane(HALF * rounded)?;
                let body = Arc::new(Body::new(hierarchy).ok()?);
                known.insert(exponent, Arc::clone(&body));
                body
            }
        };
        Some(Self { body, cell: CELL * rounded })
    }

    pub(super) fn body(&self) -> &Arc<Body> {
        &self.body
    }

    /// Where it is below a point, of a plane that is z = 0 of a frame.
    pub(super) fn placed(&self, frame: &Pose, point: &P3) -> Pose {
        let at = frame.inverse_transform_point(point);
        let on_grid = |x: f64| ((x / self.cell - BEGIN).round() + BEGIN) * self.cell;
        frame * Pose::translation(on_grid(at.x), on_grid(at.y), 0.0)
    }

    /// Takes along what is followed, where the piece stands in another cell than before: the plane is the
    /// same there. `pose`: of the solid, in the coordinates of the piece.
    pub(super) fn carry(&self, following: &mut Following, pose: &Pose) {
        let (Some(asked), contacts, next) = following.parts() else { return };
        let way = pose.translation.vector - asked.pose.translation.vector;
        let by = V3::new(way.x, way.y, 0.0).map(|x| (x / self.cell).round() * self.cell);
        if by == V3::zeros() {
            return;
        }
        let mut asked = *asked;
        asked.pose.translation.vector += by;
        let moved = |c: &FollowedContact| {
            let [[u, v], other] = c.uv;
            FollowedContact { local_a: c.local_a + by, uv: [[u + by.x, v + by.y], other], ..*c }
        };
        *following = Following::from_parts(Some(asked), contacts.iter().map(moved).collect(), next);
    }
}

/// A frame whose z is a normal.
pub(super) fn frame(point: &P3, normal: &V3) -> Pose {
    let (x, y) = complete_basis(normal);
    let axes = Rotation3::from_matrix_unchecked(Matrix3::from_columns(&[x, y, *normal]));
    Pose::from_parts(point.coords.into(), UnitQuaternion::from_rotation_matrix(&axes))
}

/// Radii (mm) for which there are pieces.
const LEAST: f64 = 1e-12;
const MOST: f64 = 1e12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_below_what_they_are_for_and_shared() {
        for radius in [1e-9, 0.3, 0.5, 1.0, 1.1, 4.0, 5e7] {
            let piece = Piece::under(radius).unwrap();
            let smaller = Piece::under(0.999 * radius).unwrap();
            assert!(Arc::ptr_eq(piece.body(), smaller.body()), "{radius}");
            let tilted = frame(&P3::new(1.0, 2.0, 3.0), &V3::new(0.6, 0.0, 0.8));
            for k in 0..200 {
                let at = tilted * P3::new(0.173 * f64::from(k) * radius, -31.7 * radius, radius);
                let pose = piece.placed(&tilted, &at);
                let below = pose.inverse_transform_point(&at);
                let room = -piece.body().bounds().min.x - below.x.abs().max(below.y.abs());
                assert!(room > 1.45 * radius && (below.z - radius).abs() < 1e-9 * (radius + 1.0), "{k}");
            }
        }
        assert!(Piece::under(0.0).is_none() && Piece::under(f64::NAN).is_none());
    }
}
