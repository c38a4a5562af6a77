//! Culling tests of a pair of nodes, cheapest first: types of features, cones of revolution, boxes.
//! Leaves of two features are also tested with polyhedral cones and with boxes along the normals, unless
//! one solve covers all areas of both features.
//!
//! Each test that culls a pair returns a margin: the motion of B (see [`super::motion`]) after which the
//! test must be repeated.
//!
//! # Source
//! BREP §2.4.3, §4.2.2; MATH §7 (the quasi angle as a margin at run time), §10 (order of the tests).
//!
//! # Deviations
//! Boxes and cones have a slack for footpoints that are accepted within a trim's deviation outside their
//! area, and cones have one for members of conformal sets as well
//! ([`Allowance`](crate::body::tree::Allowance)), so that culling never loses a minimum that brute force
//! finds. The footpoints of a minimum differ by a vector along their common normal that is at most as
//! long as the reach. At leaves, the reach is therefore applied in the directions of the cones only.

use crate::api::options::QueryOptions;
use crate::api::tolerance::Tolerances;
use crate::body::Body;
use crate::body::tree::{FeatureTypes, Placed, TreeNode};
use crate::cull::dilations::{Dilations, KINDS, Kind};
use crate::cull::motion::Motion;
use crate::cull::pair_tree::NO_HINT;
use crate::diagnostics::Savings;
use arrayvec::ArrayVec;
use feeler_geom::cone::{Cap, DirectionBand, separated as cones_separated, separated_along};
use feeler_geom::obb::{PoseMatrix, SAT_AXES, gap_along, gap_in_frame, unreachable_in_frame};
use feeler_geom::skeleton::{Primitive, range_over_box};
use feeler_geom::{Obb, Pose, V3, math};
use feeler_hierarchy::{AreaId, FeatureType, conformal_compatible, strict_compatible};

/// Angle (rad) by which a plane is tried to separate two polyhedral cones. If it does, the result is
/// valid for rotations of up to this angle. With a larger value, fewer planes pass; with a smaller one,
/// the test is repeated sooner.
const CONE_MARGIN: f64 = 0.02;

/// Largest ratio of the reach, or of the distance beyond concave edges, of an earlier step to the required
/// one at which pairs are culled with it. With a larger value, more pairs are solved after fast steps; with a
/// smaller one, the front is recomputed more often.
const MAX_LENGTH_RATIO: f64 = 8.0;

/// Type bits of straight edges.
const STRAIGHT: u16 = FeatureType::StraightEdge.bit();
/// Type bits of all edges.
const EDGES: u16 = STRAIGHT | FeatureType::CurvedEdge.bit();

/// Smallest hint that denotes an axis of the test of boxes (a hint is the plane or axis that separated a
/// pair of nodes last). Smaller hints denote planes between polyhedral cones.
const FIRST_BOX_HINT: u8 = 128;

/// Data shared by the culling tests of one query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CullContext {
    /// Maps coordinates of B to those of A.
    pub pose: PoseMatrix,
    /// Distance (mm) between the boxes of two nodes above which the pair is culled, before the slack of
    /// the pair is added: the reach of the query with the uncertainty of footpoints.
    pub reach: f64,
    tol: Tolerances,
    /// Largest distance (mm) beyond concave edges of their faces at which footpoints of pressed minima
    /// are accepted: the largest depth.
    beside: f64,
    /// Angles by which the polars of edges and vertices are dilated, by the kind of pair.
    dilations: Dilations,
    /// Sine and cosine of the sum of the dilations of A's and B's polars, by the kind of pair.
    both: [(f64, f64); KINDS],
    /// Sine and cosine of the dilation of the polars of one solid, by the kind of pair.
    one: [(f64, f64); KINDS],
    /// Whether features that can carry quasi-minima only are included.
    pub with_quasi: bool,
    /// Whether features that can carry quasi-minima only are included only in the pairs of types that
    /// [`Self::pairs_of`] lists, as in a step; otherwise in all pairs.
    few_smooth: bool,
    savings: Savings,
}

impl CullContext {
    /// Creates the context of the culling tests of two bodies at a relative pose.
    pub(crate) fn new(pose_ab: &Pose, tol: &Tolerances, options: &QueryOptions) -> Self {
        let &QueryOptions { d_max, penetration, quasi_angle, .. } = options;
        let reach = d_max.max(penetration) + 2.0 * tol.same;
        Self {
            pose: PoseMatrix::from(pose_ab),
            reach,
            tol: *tol,
            beside: penetration,
            dilations: Dilations::uniform(quasi_angle),
            both: [math::sin_cos(2.0 * quasi_angle); KINDS],
            one: [math::sin_cos(quasi_angle); KINDS],
            with_quasi: quasi_angle > 0.0,
            few_smooth: false,
            savings: options.diagnostics().savings,
        }
    }

    /// Returns the context with the dilations of a step of a simulator.
    pub(crate) fn with_dilations(self, dilations: Dilations) -> Self {
        Self {
            dilations,
            both: dilations.angles().map(|angle| math::sin_cos(2.0 * angle)),
            one: dilations.angles().map(math::sin_cos),
            with_quasi: dilations.any(),
            few_smooth: dilations.any(),
            ..self
        }
    }

    /// Angles by which the polars of edges and vertices are dilated, by the kind of pair.
    pub(crate) fn dilations(&self) -> &Dilations {
        &self.dilations
    }

    /// Angle (rad) by which the polars of an area of A and of an area of B are dilated for this pair.
    pub(crate) fn dilation_of(&self, (a, i): (&Body, AreaId), (b, j): (&Body, AreaId)) -> f64 {
        let node = |body: &Body, area: AreaId| body.tree()[body.leaf_of_area(area).index()].types;
        match self.kind(node(a, i), node(b, j)) {
            Kind::Curved => self.dilations.beside_face(a.bend_of_area(i).max(b.bend_of_area(j))),
            kind => self.dilations.angle(kind),
        }
    }

    /// Kind of pair with the largest dilation among the features below two nodes, given the unions of
    /// their types.
    fn kind(&self, a: FeatureTypes, b: FeatureTypes) -> Kind {
        self.kind_of(&self.pairs_of(a, b))
    }

    /// Kind of pair with the largest dilation among the given pairs of unions of types.
    fn kind_of(&self, pairs: &[(u16, u16)]) -> Kind {
        let kinds = pairs.iter().map(|(a, b)| self.dilations.largest_kind(*a, *b));
        kinds.fold(Kind::Faces, |first, second| self.dilations.larger(first, second))
    }

    /// Pairs of unions of types (of A and of B) whose features are paired below two nodes. In a step,
    /// smooth edges and vertices, which can carry quasi-minima only, are paired with faces. Smooth edges
    /// are also paired with edges if one of the two is straight, because the overlap of an edge and a
    /// nearly parallel face ends at such an edge.
    fn pairs_of(&self, a: FeatureTypes, b: FeatureTypes) -> ArrayVec<(u16, u16), 5> {
        let mut pairs = ArrayVec::new();
        if !self.few_smooth || (a.strict == a.all && b.strict == b.all) {
            pairs.push((a.of(self.with_quasi), b.of(self.with_quasi)));
        } else {
            pairs.push((a.strict, b.strict));
            pairs.push((a.strict & FeatureType::FACES, b.all));
            pairs.push((a.all, b.strict & FeatureType::FACES));
            pairs.push((a.all & STRAIGHT, b.all & EDGES));
            pairs.push((a.all & EDGES, b.all & STRAIGHT));
        }
        pairs
    }

    /// Whether one solve may cover all areas of two features, which one pair of areas then represents
    /// ([`Savings::supermaximal`]).
    pub(crate) fn solves_whole_features(&self) -> bool {
        self.savings.supermaximal
    }

    /// Whether culled pairs are not tested again before their margin is used up
    /// ([`Savings::deadlines`]).
    pub(crate) fn keeps_deadlines(&self) -> bool {
        self.savings.deadlines
    }

    /// Whether the plane or axis that separated a pair last is tested first ([`Savings::cached_axes`]).
    pub(crate) fn keeps_hints(&self) -> bool {
        self.savings.cached_axes
    }

    /// Returns the context for a query that also accepts footpoints up to `beside` (mm) beyond concave
    /// edges of their faces. The reach and this distance are those of `before` if they are sufficient and at
    /// most [`MAX_LENGTH_RATIO`] times too large, so that the front of the last query remains valid.
    pub(crate) fn with_beside(self, beside: f64, before: Option<&Self>) -> Self {
        let needed = Self { beside: self.beside.max(beside), ..self };
        let suffices = |old: f64, new: f64| old >= new && old <= MAX_LENGTH_RATIO * new;
        match before {
            Some(before)
                if suffices(before.reach, needed.reach) && suffices(before.beside, needed.beside) =>
            {
                Self { reach: before.reach, beside: before.beside, ..needed }
            }
            _ => needed,
        }
    }

    /// Largest distance (mm) beyond concave edges of their faces at which footpoints are accepted.
    pub(crate) fn beside(&self) -> f64 {
        self.beside
    }

    /// Leaf node of an area of B, moved to the frame of A.
    pub(crate) fn placed(&self, b: &Body, area: AreaId) -> TreeNode {
        b.tree()[b.leaf_of_area(area).index()].placed(&self.pose)
    }

    /// Whether an area of A and an area of B may contain the footpoints of a minimum. `node_b` is B's
    /// leaf as returned by [`placed`](Self::placed).
    pub(crate) fn areas(&self, (a, i): (&Body, AreaId), (b, j): (&Body, AreaId), node_b: &TreeNode) -> bool {
        let node_a = &a.tree()[a.leaf_of_area(i).index()];
        self.nodes(node_a, node_b).is_none()
            && self.leaves((a, i), (b, j, node_b), &mut { NO_HINT }).is_none()
    }

    /// Slack of a pair of nodes: the sum of the lengths of their allowances and the distance beyond
    /// concave edges at which footpoints are accepted, and for each node the angle of its allowance plus
    /// that of conformal contacts.
    fn slack(&self, a: &TreeNode, b: &TreeNode) -> Slack {
        let (a, b) = (&a.allowance, &b.allowance);
        let bent = self.tol.bent(f64::from(a.inverse_extent.max(b.inverse_extent)));
        Slack {
            length: f64::from(a.length) + f64::from(b.length) + self.beside,
            angles: [f64::from(a.angle) + bent, f64::from(b.angle) + bent],
        }
    }

    /// Largest distance (mm) between the boxes of two nodes that may contain a minimum.
    pub(crate) fn reach_of(&self, a: &TreeNode, b: &TreeNode) -> f64 {
        self.reach + self.slack(a, b).length
    }

    /// Largest distance (mm) of a box, enlarged by the allowance of its node, from the box of the node `a`
    /// that may contain a minimum; `None` if boxes are not tested.
    pub(crate) fn reach_of_boxes(&self, a: &TreeNode) -> Option<f64> {
        self.savings.boxes.then(|| self.reach + self.beside + f64::from(a.allowance.length))
    }

    /// Motion of B, from this pose, up to which two nodes (B's in the frame of A) cannot contain a
    /// minimum; `None` if they may contain one at this pose.
    pub(crate) fn nodes(&self, a: &TreeNode, b: &TreeNode) -> Option<Motion> {
        self.facing(a, b, || b.cap.axis).or_else(|| self.boxes(a, b, &mut { NO_HINT }))
    }

    /// Motion of B up to which the feature types or the cones of revolution of two nodes exclude a
    /// minimum; `None` if they do not exclude one at this pose. `axis_b` returns the axis of B's cone in
    /// the frame of A.
    pub(crate) fn facing(&self, a: &TreeNode, b: &TreeNode, axis_b: impl FnOnce() -> V3) -> Option<Motion> {
        let is_compatible = |&(a, b): &(u16, u16)| strict_compatible(a, b) || conformal_compatible(a, b);
        let pairs = self.pairs_of(a.types, b.types);
        if self.savings.masks && !pairs.iter().any(is_compatible) {
            return Some(Motion::ANY);
        }
        if !self.savings.cones_of_revolution {
            return None;
        }
        let angles = self.slack(a, b).angles;
        let kind = self.kind_of(&pairs);
        self.cannot_face((&a.cap, &Cap { axis: axis_b(), ..b.cap }), kind, angles[0] + angles[1])
    }

    /// Motion of B up to which the boxes of two nodes (B's in the frame of A) stay out of reach of each
    /// other; `None` if they are within reach. If an axis separates them, `hint` receives its number
    /// plus [`FIRST_BOX_HINT`].
    pub(crate) fn boxes(&self, a: &TreeNode, b: &TreeNode, hint: &mut u8) -> Option<Motion> {
        if !self.savings.boxes {
            return None;
        }
        let reach = self.reach_of(a, b);
        let (axis, gap) = gap_in_frame(&a.obb, &b.obb, reach)?;
        *hint = FIRST_BOX_HINT + axis;
        Some(Motion::of_displacement(gap - reach))
    }

    /// Motion of B up to which the boxes of two nodes stay separated along the axis in `hint`, with B's
    /// node in B's own frame. `None` if `hint` does not denote an axis or the axis does not separate the
    /// boxes.
    pub(crate) fn boxes_along(&self, a: &TreeNode, b: &TreeNode, hint: u8) -> Option<Motion> {
        let axis = hint.checked_sub(FIRST_BOX_HINT).filter(|axis| *axis < SAT_AXES && self.savings.boxes)?;
        let reach = self.reach_of(a, b);
        let spare = gap_along(&a.obb, &b.obb, &self.pose, axis) - reach;
        (spare > 0.0).then_some(Motion::of_displacement(spare))
    }

    /// Motion of B up to which the box of one node stays out of reach of the primitive of the other
    /// node. The features below that other node are at most `off` (mm) from the primitive. `a` and `b`
    /// are the two nodes, whose allowances are added, and `other` is the box. Primitive and box are in
    /// one frame. Returns `None` if the box is within reach.
    pub(crate) fn off_primitive(
        &self,
        (primitive, off): (&Primitive, f64),
        (a, b): (&TreeNode, &TreeNode),
        other: &Obb,
    ) -> Option<Motion> {
        if !self.savings.boxes {
            return None;
        }
        let length = f64::from(a.allowance.length) + f64::from(b.allowance.length) + self.beside;
        let spare = range_over_box(primitive, other)[0] - off - length - self.reach;
        (spare > 0.0).then_some(Motion::of_displacement(spare))
    }

    /// Motion of B up to which two features cannot have a minimum because their polars contain no
    /// opposite directions; `None` if they contain some at this pose. `za` and `zb` are the bands of the
    /// features' polars, each in the frame of its solid; `a` and `b` are nodes of the features.
    pub(crate) fn zones(
        &self,
        (za, a): (&DirectionBand, &TreeNode),
        (zb, b): (&DirectionBand, &TreeNode),
    ) -> Option<Motion> {
        if !self.savings.cones_of_revolution {
            return None;
        }
        let quasi_angle = self.dilations.angle(self.kind(a.types, b.types));
        let angles = self.slack(a, b).angles.map(|angle| angle + quasi_angle);
        let spare = za.spare(zb, &(self.pose.rotation * zb.axis), angles);
        (spare > 0.0).then_some(Motion::of_rotation(spare))
    }

    /// Tests two leaves by the criteria that [`CullContext::nodes`] omits. Returns the motion of B up to
    /// which they cannot contain a minimum; `None` if they may contain one. B's leaf is that of
    /// [`CullContext::placed`]. `hint` contains the plane or axis that separated the leaves in an
    /// earlier test, which is tested first, and receives the one that separates them at this pose.
    pub(crate) fn leaves(
        &self,
        (body_a, i): (&Body, AreaId),
        (body_b, j, b): (&Body, AreaId, &TreeNode),
        hint: &mut u8,
    ) -> Option<Motion> {
        let Savings { polyhedral_cones, boxes_along_normals, .. } = self.savings;
        let a = &body_a.tree()[body_a.leaf_of_area(i).index()];
        let (cone_a, cone_b) = (&body_a.area(i).cone, &body_b.area(j).cone);
        let slack = self.slack(a, b);
        let one = match self.kind(a.types, b.types) {
            Kind::Curved => math::sin_cos(self.dilation_of((body_a, i), (body_b, j))),
            kind => self.one[kind as usize],
        };
        let boxes = || {
            if !boxes_along_normals {
                return None;
            }
            self.out_of_sight((a, b), one, &slack)
        };
        let cones = |hint: &mut u8| {
            if !polyhedral_cones {
                return None;
            }
            let rotated: ArrayVec<V3, 4> = cone_b.generators.iter().map(|g| self.pose.rotation * g).collect();
            let (a, b) = (&cone_a.generators, &rotated);
            // The sine of a sum is at most the sine of the first angle plus the second angle.
            let sin = one.0 + slack.angles[0].max(slack.angles[1]);
            let plane = cones_separated(a, b, sin, *hint);
            *hint = plane.unwrap_or(NO_HINT);
            let lasts = separated_along(a, b, sin + CONE_MARGIN, plane?);
            Some(if lasts { Motion::of_rotation(CONE_MARGIN) } else { Motion::ZERO })
        };
        if *hint >= FIRST_BOX_HINT { boxes().or_else(|| cones(hint)) } else { cones(hint).or_else(boxes) }
    }

    /// Motion of B up to which no direction of one cone is opposite to a direction of the other one;
    /// `None` if some are at this pose. `kind` selects the dilation of the cones, and `angle` (rad) is
    /// the slack of both cones together.
    fn cannot_face(&self, (a, b): (&Cap, &Cap), kind: Kind, angle: f64) -> Option<Motion> {
        let both = self.both[kind as usize];
        // The sum of the half-angles and dilations is the largest angle between the axes at which a
        // direction and the opposite of another one coincide; beyond π this is always the case. With an
        // obtuse cone, the sum must not exceed 2π unnoticed.
        let with_a = sum((a.sin, a.cos), both);
        let (sin, cos) = sum(with_a, (b.sin, b.cos));
        let obtuse = (b.cos < 0.0 && with_a.1 < 0.0) || (a.cos < 0.0 && sum((b.sin, b.cos), both).1 < 0.0);
        let wide = obtuse || sin <= COS_SLACK;
        // The difference of two angles is at least the difference of their cosines.
        let spare = cos - COS_SLACK - angle + a.axis.dot(&b.axis);
        (!wide && spare > 0.0).then_some(Motion::of_rotation(spare))
    }

    /// Motion of B up to which B's box cannot be reached from A's along a common normal; `None` if it
    /// can be reached at this pose. `one` is the sine and cosine of the dilation of the polars of one
    /// solid.
    fn out_of_sight(
        &self,
        (a, b): (&TreeNode, &TreeNode),
        one: (f64, f64),
        allowance: &Slack,
    ) -> Option<Motion> {
        let reach = self.reach + allowance.length;
        // The allowance applies in every direction.
        let slack = allowance.length + 2.0 * self.tol.same + self.tol.tol;
        let along = |cap: &Cap, axis: &V3, angle: f64| {
            let (sin, cos) = sum((cap.sin, cap.cos), one);
            let c = cap.axis.dot(axis).abs();
            // The axis is inside the cone or its opposite, or the cone contains all directions.
            if cap.cos < 0.0 || cos <= COS_SLACK || sin <= 0.0 || c >= cos {
                1.0
            } else {
                (c * cos + (1.0 - c * c).max(0.0).sqrt() * sin + angle).min(1.0)
            }
        };
        let extent = |axis: &V3| {
            let by_a = along(&a.cap, axis, allowance.angles[0]);
            slack + reach * by_a.min(along(&b.cap, axis, allowance.angles[1]))
        };
        // Boxes approach by the displacement, and axes rotate relative to cones.
        unreachable_in_frame(&a.obb, &b.obb, slack, extent)
            .map(|spare| Motion { displacement: 0.5 * spare, rotation: 0.5 * spare / reach })
    }
}

/// Slack of the tests of a pair of nodes: the amounts by which footpoints may be outside boxes and cones,
/// computed from the [`Allowance`](crate::body::tree::Allowance) of each node.
struct Slack {
    /// Largest sum (mm) of the distances of the two footpoints of a minimum from the boxes of their
    /// nodes.
    length: f64,
    /// Largest angles (rad) by which directions of a minimum may be outside the cone of A's node and that
    /// of B's node.
    angles: [f64; 2],
}

/// Rounding of cosines. A larger value culls less; a smaller one culls pairs by rounding.
const COS_SLACK: f64 = 1e-12;

/// Sine and cosine of the sum of two angles, given as (sine, cosine).
fn sum((s, c): (f64, f64), (t, d): (f64, f64)) -> (f64, f64) {
    (s * d + c * t, c * d - s * t)
}
