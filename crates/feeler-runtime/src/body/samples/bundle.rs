//! Bundles of normals: bounds of the set of points that lie on a normal of a piece of a face.

use super::{MARGIN, Pole, at};
use crate::body::Body;
use feeler_geom::{P3, Rect, V3, math};
use feeler_hierarchy::{AreaId, Feature};

/// Number of pieces of a patch around its pole, each with a cone of normals. More pieces need more tests
/// for each interval of an edge; with fewer, intervals near apices are halved more often.
const PIECES_AROUND: usize = 8;
/// Number of pieces of a patch from its pole to the opposite side. More pieces need more tests for each
/// interval of an edge; with fewer, intervals near apices are halved more often.
const PIECES_AWAY: usize = 2;

/// Bounds of a piece of a face: a ball around the piece and a cone around its outward normals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NormalBundle {
    /// Centre of the ball that contains the piece.
    pub center: P3,
    /// Radius (mm) of the ball that contains the piece.
    pub radius: f64,
    /// Unit vector: axis of the cone that contains the outward normals of the piece.
    pub axis: V3,
    /// Upper bound of the sine of the cone's half-angle. `cos` is a lower bound of its cosine.
    pub sin: f64,
    pub cos: f64,
}

impl NormalBundle {
    /// Whether no point of a ball lies on a normal of the piece at a signed distance (mm) between `min`
    /// and `max`.
    ///
    /// Directions from the piece to the ball differ from the direction between the centres by at most an
    /// angle δ. If the angle between that direction and the axis exceeds the sum of half-angle and δ, the
    /// ball contains no point on this side of the face. The same test with the opposite axis excludes the
    /// other side.
    ///
    /// # Source
    /// MATH §8, edges against patches.
    pub(crate) fn misses(&self, center: &P3, radius: f64, [min, max]: [f64; 2]) -> bool {
        let from = center - self.center;
        let (distance, around) = (from.norm(), self.radius + radius);
        let nearest = distance - around;
        if nearest <= 0.0 {
            return false;
        }
        let sin_delta = around / distance;
        let cos_delta = (1.0 - sin_delta * sin_delta).max(0.0).sqrt();
        // Below a right angle, the cosine of the sum of both angles decreases with either angle.
        let is_wide = self.cos <= 0.0;
        let open = distance * (self.cos * cos_delta - self.sin * sin_delta);
        let along = from.dot(&self.axis);
        (nearest > max || !is_wide && along < open) && (nearest > -min || !is_wide && -along < open)
    }

    /// Bundles of the pieces of a free-form area and [`MARGIN`] beyond it, except behind the pole. Around
    /// an apex each piece has a narrow cone of normals; a single cone would contain the polar of the apex.
    pub(super) fn of_area(body: &Body, index: AreaId, pole: &Pole) -> Box<[Self]> {
        let area = body.area(index);
        let Feature::Face(f) = area.feature else { unreachable!("an area of a face") };
        let face = body.face(f);
        let mut counts = [PIECES_AROUND; 2];
        counts[pole.along()] = PIECES_AWAY;
        let ends = [0, 1].map(|k| {
            let is_at = |end: f64| k == pole.along() && (pole.params()[k] - end).abs() < 0.5;
            let beyond = |end: f64| if is_at(end) { 0.0 } else { MARGIN };
            [-beyond(0.0), 1.0 + beyond(1.0)]
        });
        let piece = |i: usize, j: usize| {
            let [(x0, x1), (y0, y1)] = [(i, 0), (j, 1)].map(|(i, k)| {
                let [first, last] = ends[k];
                let step = (last - first) / as_f64(counts[k]);
                (first + step * as_f64(i), first + step * as_f64(i + 1))
            });
            let (lo, hi) = (at(&area.rect, x0, y0), at(&area.rect, x1, y1));
            let rect = Rect { u0: lo.x, u1: hi.x, v0: lo.y, v1: hi.y };
            let bounds = face.surface.bounds(&rect);
            let half = (bounds.max - bounds.min) * 0.5;
            let everything =
                Self { center: bounds.min + half, radius: half.norm(), axis: V3::z(), sin: 1.0, cos: -1.0 };
            face.surface.normal_cone(&rect).map_or(everything, |cone| {
                let (sin, cos) = math::sin_cos(cone.half_angle);
                let axis = if face.outward { cone.axis } else { -cone.axis };
                Self { axis, sin, cos, ..everything }
            })
        };
        (0..counts[0]).flat_map(|i| (0..counts[1]).map(move |j| (i, j))).map(|(i, j)| piece(i, j)).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "a small count")]
fn as_f64(n: usize) -> f64 {
    n as f64
}
