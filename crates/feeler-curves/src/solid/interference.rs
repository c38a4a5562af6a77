//! Whether a tube and a solid have common inner points.

use feeler_geom::Pose;
use feeler_geom::obb::PoseMatrix;
use feeler_runtime::PointQuery;

use super::CurveSolidPair;
use crate::curve::{Curve, with_pieces};
use crate::obstacle::Obstacle;
use crate::part::Part;
use crate::piece::at;
use crate::tree::Skeleton;

/// Points of a curve that are asked for, at most, to decide whether it interferes.
const WORK: u32 = 4096;

/// Half the length of the parts that are looked at first, as part of the curve's size; then of those before.
const COARSE: f64 = 0.125;

impl CurveSolidPair {
    /// Whether the tube and the solid have common inner points: the curve nearer to the solid than its radius
    /// by more than `tolerance` (mm), or inside of it. `None` if that is within the tolerance, if the work
    /// that is allowed runs out, or if the coordinates are too large ([`PointQuery::nearest`]): on a tube
    /// that lies along a face at its radius no bound is ever enough.
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
        let mut near = Near {
            points,
            body,
            into: &into,
            touch: curve.radius() - tolerance,
            clear: curve.radius() + tolerance,
            tolerance,
            least: COARSE * curve.size(),
            work: WORK,
        };
        let finest = 0.1 * tolerance;
        // Coarse parts everywhere, then finer ones: what is deep is found soon.
        loop {
            near.least = near.least.max(finest);
            let found = with_pieces!(&curve.pieces, s => near.pieces(s, &mut self.walk.curve));
            if found.is_some() || near.least <= finest || near.work == 0 {
                return found;
            }
            near.least *= COARSE;
        }
    }
}

/// The search for points of a curve that are nearer to a solid than its radius.
struct Near<'a> {
    points: &'a mut PointQuery,
    body: &'a feeler_runtime::Body,
    into: &'a PoseMatrix,
    touch: f64,
    clear: f64,
    tolerance: f64,
    /// Half the length of parts that are not halved.
    least: f64,
    /// Points that may still be asked for.
    work: u32,
}

impl Near<'_> {
    fn pieces<const N: usize>(&mut self, s: &Skeleton<N>, stack: &mut Vec<u32>) -> Option<bool> {
        stack.clear();
        stack.push(0);
        let mut is_clear = true;
        while let Some(i) = stack.pop() {
            let node = &s.nodes[i as usize];
            let half = 0.5 * node.bounds.diagonal();
            let center = self.into.point(&((node.bounds.min + node.bounds.max) * 0.5).into());
            if self.points.nearest(self.body, &center, self.clear + half) == Ok(None) {
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
        if self.work == 0 {
            return None;
        }
        self.work -= 1;
        let half = 0.5 * part.length();
        let middle = self.into.point(&at(&part.control, 0.5).p.into());
        let found = match self.points.nearest(self.body, &middle, self.clear + 2.0 * half) {
            Ok(Some(found)) => found,
            Ok(None) => return Some(false),
            Err(_) => return None,
        };
        if found.distance < self.touch
            || self.points.contains(self.body, &middle, self.tolerance) == Ok(Some(true))
        {
            return Some(true);
        }
        if half <= self.least {
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
