//! The culling tests on a pair of nodes, cheapest first: masks, cones of revolution, boxes; polyhedral cones at
//! leaves.
//!
//! # Source
//! BREP §2.4.3, §4.2.2; MATH §7 (the user's angle as a run-time margin), §10 (order).
//!
//! # Deviations
//! Cones get a slack for footpoints that are accepted within a trim's deviation outside their area, boxes likewise:
//! culling must never lose what brute force finds.

use crate::Body;
use arrayvec::ArrayVec;
use feeler_geom::cone::separated as cones_separated;
use feeler_geom::obb::{PoseMatrix, separated as boxes_separated};
use feeler_geom::{PolyCone, RevolutionCone, V3, math};
use feeler_hierarchy::{conformal_compatible, strict_compatible};

/// What the tests of one query share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CullContext {
    /// Takes coordinates of B to those of A.
    pub pose: PoseMatrix,
    /// Distance (mm) beyond which boxes are apart.
    pub reach: f64,
    /// Angle (rad) by which the cones of each side are enlarged.
    pub angle: f64,
    /// Sine of the same angle.
    pub sin_angle: f64,
}

impl CullContext {
    /// `reach` is the largest distance (mm) of interest with everything that a footpoint may be outside its box.
    pub(crate) fn new(a: &Body, b: &Body, pose: PoseMatrix, reach: f64, alpha: f64) -> Self {
        let angle = alpha + a.cone_slack().max(b.cone_slack());
        Self { pose, reach, angle, sin_angle: math::sin(angle) }
    }

    /// Whether two nodes certainly hold no minimum together.
    pub(crate) fn nodes(&self, a: (&Body, u32), b: (&Body, u32), with_quasi: bool) -> bool {
        let (types_a, types_b) = (a.0.types(a.1, with_quasi), b.0.types(b.1, with_quasi));
        if !strict_compatible(types_a, types_b) && !conformal_compatible(types_a, types_b) {
            return true;
        }
        let (node_a, node_b) = (a.0.node(a.1), b.0.node(b.1));
        !self.may_face(&node_a.cone, &node_b.cone)
            || boxes_separated(&node_a.obb, &node_b.obb, &self.pose, self.reach, u8::MAX).is_some()
    }

    /// Whether a direction of one cone may be opposite to one of the other.
    fn may_face(&self, a: &RevolutionCone, b: &RevolutionCone) -> bool {
        let b = RevolutionCone { axis: self.pose.rotation * b.axis, half_angle: b.half_angle };
        a.may_be_antipodal(&b, 2.0 * self.angle)
    }

    /// As [`CullContext::nodes`] with the polyhedral cones of two leaves.
    pub(crate) fn poly_cones(&self, a: &PolyCone, b: &PolyCone) -> bool {
        let turned: ArrayVec<V3, 4> = b.generators.iter().map(|g| self.pose.rotation * g).collect();
        cones_separated(&a.generators, &turned, self.sin_angle, u8::MAX).is_some()
    }
}
