//! Decides whether a tube and a solid have common inner points.

use feeler_geom::Pose;
use feeler_geom::obb::PoseMatrix;
use feeler_runtime::PointQuery;

use super::CurveSolidPair;
use crate::curve::{Curve, with_pieces};
use crate::obstacle::Obstacle;
use crate::part::Part;
use crate::piece::at;
use crate::tree::CurveTree;

/// Maximum number of points of a curve at which the distance is evaluated to decide interference. With a
/// larger value, tubes that touch take longer; with a smaller one, more cases are decided by their
/// minima.
const MAX_POINTS: u32 = 4096;

/// Half the length of the smallest parts of the curve in the first pass of the search, as a fraction of
/// the curve's size; each later pass multiplies that length by this factor again. With a larger value,
/// more points are evaluated in vain; with a smaller one, intersections are found late.
const REFINEMENT: f64 = 0.125;

impl CurveSolidPair {
    /// Whether the tube and the solid, placed by `pose`, have common inner points: the curve is inside
    /// the solid, or its distance from the solid is less than its radius by more than `tolerance` (mm).
    /// Returns `None` if the gap is within the tolerance, if the limit on evaluated points is reached,
    /// or if the coordinates are too large ([`PointQuery::nearest`]). A tube that touches a face along a
    /// line is never decided.
    pub fn interferes(
        &mut self,
        curve: &Curve,
        solid: &Obstacle,
        pose: &Pose,
        tolerance: f64,
    ) -> Option<bool> {
        let into = PoseMatrix::from(&pose.inverse());
        let body = solid.body();
        let points = &mut self.points;
        if points.contains(body, &into.point(&curve.point(0.0)), tolerance) == Ok(Some(true)) {
            return Some(true);
        }
        let mut search = InterferenceSearch {
            points,
            body,
            into: &into,
            interferes_below: curve.radius() - tolerance,
            clear_above: curve.radius() + tolerance,
            tolerance,
            min_half_length: REFINEMENT * curve.size(),
            points_left: MAX_POINTS,
        };
        let finest = 0.1 * tolerance;
        // The whole curve is searched in coarse parts first, then in finer ones, so that deep overlaps
        // are found early.
        loop {
            search.min_half_length = search.min_half_length.max(finest);
            let found = with_pieces!(&curve.pieces, s => search.pieces(s, &mut self.walk.curve));
            if found.is_some() || search.min_half_length <= finest || search.points_left == 0 {
                return found;
            }
            search.min_half_length *= REFINEMENT;
        }
    }
}

/// Search for points of a curve that are nearer to a solid than its radius.
struct InterferenceSearch<'a> {
    points: &'a mut PointQuery,
    body: &'a feeler_runtime::Body,
    into: &'a PoseMatrix,
    /// Distance of the curve from the solid below which the tube interferes (mm).
    interferes_below: f64,
    /// Distance of the curve from the solid above which the tube is separated (mm).
    clear_above: f64,
    tolerance: f64,
    /// Half the length of parts that are not bisected (mm).
    min_half_length: f64,
    /// Number of points of the curve at which the distance may still be evaluated.
    points_left: u32,
}

impl InterferenceSearch<'_> {
    fn pieces<const N: usize>(&mut self, s: &CurveTree<N>, stack: &mut Vec<u32>) -> Option<bool> {
        stack.clear();
        stack.push(0);
        let mut is_clear = true;
        while let Some(i) = stack.pop() {
            let node = &s.nodes[i as usize];
            let half = 0.5 * node.bounds.diagonal();
            let center = self.into.point(&((node.bounds.min + node.bounds.max) * 0.5).into());
            if self.points.nearest(self.body, &center, self.clear_above + half) == Ok(None) {
                continue;
            }
            if node.count > 1 {
                stack.extend(s.children(i));
                continue;
            }
            match self.part(&Part::of_leaf(&s.leaves[node.first as usize])) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => is_clear = false,
            }
        }
        is_clear.then_some(false)
    }

    fn part<const N: usize>(&mut self, part: &Part<N>) -> Option<bool> {
        if self.points_left == 0 {
            return None;
        }
        self.points_left -= 1;
        let half = 0.5 * part.length();
        let middle = self.into.point(&at(&part.control, 0.5).p.into());
        let found = match self.points.nearest(self.body, &middle, self.clear_above + 2.0 * half) {
            Ok(Some(found)) => found,
            Ok(None) => return Some(false),
            Err(_) => return None,
        };
        if found.distance < self.interferes_below
            || self.points.contains(self.body, &middle, self.tolerance) == Ok(Some(true))
        {
            return Some(true);
        }
        if half <= self.min_half_length {
            return None;
        }
        let mut is_clear = true;
        for part in part.halves(false) {
            match self.part(&part) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => is_clear = false,
            }
        }
        is_clear.then_some(false)
    }
}
