//! The culling tests on a pair of nodes, cheapest first: masks, cones of revolution, boxes; at leaves, of
//! features that are not solved as wholes, polyhedral cones and boxes seen along the normals.
//!
//! Each test that culls says with what margin: how far B may move (see [`super::motion`]) before it must be
//! asked again.
//!
//! # Source
//! BREP §2.4.3, §4.2.2; MATH §7 (the user's angle as a run-time margin), §10 (order).
//!
//! # Deviations
//! Cones get a slack for footpoints that are accepted within a trim's deviation outside their area, boxes
//! likewise, and cones one for members of conformal sets ([`Allowance`](crate::body::tree::Allowance)):
//! culling must never lose what brute force finds. The footpoints of a minimum differ by a vector along their
//! common normal, no longer than the reach: at leaves boxes are compared with reach in the directions of the
//! cones only.

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

/// Angle (rad) that a plane between two polyhedral cones is tried to be off them; its success lasts for turns
/// by as much.
const CONE_MARGIN: f64 = 0.02;

/// The bits of straight edges, and of all edges.
const STRAIGHT: u16 = FeatureType::StraightEdge.bit();
const EDGES: u16 = STRAIGHT | FeatureType::CurvedEdge.bit();

/// Hints from here on are axes of the test of boxes, those below planes between cones.
const BOXES: u8 = 128;

/// What the tests of one query share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CullContext {
    /// Takes coordinates of B to those of A.
    pub pose: PoseMatrix,
    /// Distance (mm) beyond which boxes without allowance are apart.
    pub reach: f64,
    tol: Tolerances,
    /// How far (mm) footpoints of pressed minima may be beside their faces: as they are deep.
    beside: f64,
    /// Angles by which polars are dilated.
    dilations: Dilations,
    /// Sine and cosine of the angle by which the polars of both sides together are dilated, by the kind of
    /// pair.
    both: [(f64, f64); KINDS],
    /// Sine and cosine of the angle by which those of one side are dilated.
    one: [(f64, f64); KINDS],
    /// Whether features that carry quasi-LMDs only take part.
    pub with_quasi: bool,
    /// Whether these take part in some pairs only: see [`Self::pairs_of`].
    few_smooth: bool,
    savings: Savings,
}

impl CullContext {
    /// For two bodies at a pose.
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

    /// Context with other dilations.
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

    /// Angles by which polars are dilated.
    pub(crate) fn dilations(&self) -> &Dilations {
        &self.dilations
    }

    /// Angle (rad) by which the polars of two areas are dilated.
    pub(crate) fn dilation_of(&self, (a, i): (&Body, AreaId), (b, j): (&Body, AreaId)) -> f64 {
        let node = |body: &Body, area: AreaId| body.tree()[body.leaf_of_area(area).index()].types;
        match self.kind(node(a, i), node(b, j)) {
            Kind::Curved => self.dilations.beside_face(a.bend_of_area(i).max(b.bend_of_area(j))),
            kind => self.dilations.angle(kind),
        }
    }

    /// The kind of pair with the largest dilation among two unions of types.
    fn kind(&self, a: FeatureTypes, b: FeatureTypes) -> Kind {
        self.kind_of(&self.pairs_of(a, b))
    }

    /// The kind of pair with the largest dilation among pairs of unions of types.
    fn kind_of(&self, pairs: &[(u16, u16)]) -> Kind {
        let kinds = pairs.iter().map(|(a, b)| self.dilations.largest_kind(*a, *b));
        kinds.fold(Kind::Faces, |first, second| self.dilations.larger(first, second))
    }

    /// Unions of types whose features are paired below two nodes. In a step, smooth edges and vertices, which
    /// carry quasi-minima only, are paired with faces, and smooth edges with edges of which one is straight:
    /// there the overlap of an edge and a nearly parallel face ends.
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

    /// Whether one pair of areas stands for two features that closed forms solve.
    pub(crate) fn solves_whole_features(&self) -> bool {
        self.savings.supermaximal
    }

    /// Context that also accepts footpoints up to a distance (mm) beyond concave edges of their faces.
    pub(crate) fn with_beside(self, beside: f64) -> Self {
        Self { beside: self.beside.max(beside), ..self }
    }

    /// Largest distance (mm) of footpoints beyond concave edges of their faces.
    pub(crate) fn beside(&self) -> f64 {
        self.beside
    }

    /// The leaf of an area of B in the frame of A.
    pub(crate) fn placed(&self, b: &Body, area: AreaId) -> TreeNode {
        b.tree()[b.leaf_of_area(area).index()].placed(&self.pose)
    }

    /// Whether two areas may hold a minimum together, given B's leaf as [`placed`](Self::placed).
    pub(crate) fn areas(&self, (a, i): (&Body, AreaId), (b, j): (&Body, AreaId), node_b: &TreeNode) -> bool {
        let node_a = &a.tree()[a.leaf_of_area(i).index()];
        self.nodes(node_a, node_b).is_none()
            && self.leaves((a, i), (b, j, node_b), &mut { NO_HINT }).is_none()
    }

    /// What two nodes leave out.
    fn spare(&self, a: &TreeNode, b: &TreeNode) -> Spare {
        let (a, b) = (&a.allowance, &b.allowance);
        let bent = self.tol.bent(f64::from(a.inverse_extent.max(b.inverse_extent)));
        Spare {
            length: f64::from(a.length) + f64::from(b.length) + self.beside,
            angles: [f64::from(a.angle) + bent, f64::from(b.angle) + bent],
        }
    }

    /// Within which distance (mm) the boxes of two nodes may hold a minimum.
    pub(crate) fn reach_of(&self, a: &TreeNode, b: &TreeNode) -> f64 {
        self.reach + self.spare(a, b).length
    }

    /// How far B may move until two nodes, B's being placed in the frame of A, can hold a minimum together;
    /// `None` when they already may.
    pub(crate) fn nodes(&self, a: &TreeNode, b: &TreeNode) -> Option<Motion> {
        self.facing(a, b, || b.cap.axis).or_else(|| self.boxes(a, b, &mut { NO_HINT }))
    }

    /// What [`CullContext::nodes`] tells by feature types and cones; `axis_b` is that of B's cone in the
    /// frame of A.
    pub(crate) fn facing(&self, a: &TreeNode, b: &TreeNode, axis_b: impl FnOnce() -> V3) -> Option<Motion> {
        let is_compatible = |&(a, b): &(u16, u16)| strict_compatible(a, b) || conformal_compatible(a, b);
        let pairs = self.pairs_of(a.types, b.types);
        if !pairs.iter().any(is_compatible) {
            return Some(Motion::ANY);
        }
        if !self.savings.cones_of_revolution {
            return None;
        }
        let angles = self.spare(a, b).angles;
        let kind = self.kind_of(&pairs);
        self.cannot_face((&a.cap, &Cap { axis: axis_b(), ..b.cap }), kind, angles[0] + angles[1])
    }

    /// What [`CullContext::nodes`] tells by boxes. The axis that tells them apart is noted in `hint`.
    pub(crate) fn boxes(&self, a: &TreeNode, b: &TreeNode, hint: &mut u8) -> Option<Motion> {
        let reach = self.reach_of(a, b);
        let (axis, gap) = gap_in_frame(&a.obb, &b.obb, reach)?;
        *hint = BOXES + axis;
        Some(Motion::of_displacement(gap - reach))
    }

    /// What [`CullContext::boxes`] tells along the axis that `hint` notes, B's node being that of its own
    /// frame.
    pub(crate) fn boxes_along(&self, a: &TreeNode, b: &TreeNode, hint: u8) -> Option<Motion> {
        let axis = hint.checked_sub(BOXES).filter(|axis| *axis < SAT_AXES)?;
        let reach = self.reach_of(a, b);
        let spare = gap_along(&a.obb, &b.obb, &self.pose, axis) - reach;
        (spare > 0.0).then_some(Motion::of_displacement(spare))
    }

    /// How far B may move until the box of one of two nodes, of those on the other side of the pair, comes
    /// within reach of the primitive that everything in the other node is on, but for `off` (mm); all in one
    /// frame.
    pub(crate) fn off_primitive(
        &self,
        (primitive, off): (&Primitive, f64),
        (a, b): (&TreeNode, &TreeNode),
        other: &Obb,
    ) -> Option<Motion> {
        let length = f64::from(a.allowance.length) + f64::from(b.allowance.length) + self.beside;
        let spare = range_over_box(primitive, other)[0] - off - length - self.reach;
        (spare > 0.0).then_some(Motion::of_displacement(spare))
    }

    /// How far B may move until two features can hold a minimum together by the directions of their polars,
    /// given nodes below them (B's placed in the frame of A); `None` when they already may.
    pub(crate) fn zones(
        &self,
        (za, a): (&DirectionBand, &TreeNode),
        (zb, b): (&DirectionBand, &TreeNode),
    ) -> Option<Motion> {
        if !self.savings.cones_of_revolution {
            return None;
        }
        let quasi_angle = self.dilations.angle(self.kind(a.types, b.types));
        let angles = self.spare(a, b).angles.map(|angle| angle + quasi_angle);
        let spare = za.spare(zb, &(self.pose.rotation * zb.axis), angles);
        (spare > 0.0).then_some(Motion::of_rotation(spare))
    }

    /// Tests two leaves by those criteria that [`CullContext::nodes`] leaves out, with B's leaf as returned
    /// by [`CullContext::placed`]. `hint` holds the plane or the axis that separated the leaves last, which
    /// is tested first, and receives the one that separates them now.
    pub(crate) fn leaves(
        &self,
        (body_a, i): (&Body, AreaId),
        (body_b, j, b): (&Body, AreaId, &TreeNode),
        hint: &mut u8,
    ) -> Option<Motion> {
        if !self.savings.polyhedral_cones {
            return None;
        }
        let a = &body_a.tree()[body_a.leaf_of_area(i).index()];
        let (cone_a, cone_b) = (&body_a.area(i).cone, &body_b.area(j).cone);
        let spare = self.spare(a, b);
        let one = match self.kind(a.types, b.types) {
            Kind::Curved => math::sin_cos(self.dilation_of((body_a, i), (body_b, j))),
            kind => self.one[kind as usize],
        };
        let cones = |hint: &mut u8| {
            let turned: ArrayVec<V3, 4> = cone_b.generators.iter().map(|g| self.pose.rotation * g).collect();
            let (a, b) = (&cone_a.generators, &turned);
            // The sine of a sum is at most that of its first part and the rest.
            let sin = one.0 + spare.angles[0].max(spare.angles[1]);
            let plane = cones_separated(a, b, sin, *hint);
            *hint = plane.unwrap_or(NO_HINT);
            let lasts = separated_along(a, b, sin + CONE_MARGIN, plane?);
            Some(if lasts { Motion::of_rotation(CONE_MARGIN) } else { Motion::ZERO })
        };
        if *hint >= BOXES {
            self.out_of_sight((a, b), one, &spare).or_else(|| cones(hint))
        } else {
            cones(hint).or_else(|| self.out_of_sight((a, b), one, &spare))
        }
    }

    /// Whether no direction of one cone can be opposite to one of the other, `angle` (rad) being left out.
    fn cannot_face(&self, (a, b): (&Cap, &Cap), kind: Kind, angle: f64) -> Option<Motion> {
        let both = self.both[kind as usize];
        // Angles add up to the reach of both cones; past π every direction is reached. With an obtuse one the
        // sum must not pass 2π unnoticed.
        let with_a = sum((a.sin, a.cos), both);
        let (sin, cos) = sum(with_a, (b.sin, b.cos));
        let obtuse = (b.cos < 0.0 && with_a.1 < 0.0) || (a.cos < 0.0 && sum((b.sin, b.cos), both).1 < 0.0);
        let wide = obtuse || sin <= COS_SLACK;
        // The difference of two angles is at least that of their cosines.
        let spare = cos - COS_SLACK - angle + a.axis.dot(&b.axis);
        (!wide && spare > 0.0).then_some(Motion::of_rotation(spare))
    }

    /// Whether B's box cannot be reached from A's along a common normal; `one` is the dilation of one side.
    fn out_of_sight(&self, (a, b): (&TreeNode, &TreeNode), one: (f64, f64), spare: &Spare) -> Option<Motion> {
        let reach = self.reach + spare.length;
        // Direction is no matter for what footpoints may be outside their boxes.
        let slack = spare.length + 2.0 * self.tol.same + self.tol.tol;
        let along = |cap: &Cap, axis: &V3, angle: f64| {
            let (sin, cos) = sum((cap.sin, cap.cos), one);
            let c = cap.axis.dot(axis).abs();
            // The axis is inside the cone (or its opposite), or the cone is no cone.
            if cap.cos < 0.0 || cos <= COS_SLACK || sin <= 0.0 || c >= cos {
                1.0
            } else {
                (c * cos + (1.0 - c * c).max(0.0).sqrt() * sin + angle).min(1.0)
            }
        };
        let extent = |axis: &V3| {
            let by_a = along(&a.cap, axis, spare.angles[0]);
            slack + reach * by_a.min(along(&b.cap, axis, spare.angles[1]))
        };
        // Boxes come nearer by the displacement, and axes rotate against cones.
        unreachable_in_frame(&a.obb, &b.obb, slack, extent)
            .map(|spare| Motion { displacement: 0.5 * spare, rotation: 0.5 * spare / reach })
    }
}

/// What a pair of nodes leaves out: see [`Allowance`](crate::body::tree::Allowance).
struct Spare {
    /// Length (mm), both sides together.
    length: f64,
    /// Angles (rad) of the sides.
    angles: [f64; 2],
}

/// Rounding allowance of cosines.
const COS_SLACK: f64 = 1e-12;

/// Sine and cosine of the sum of two angles.
fn sum((s, c): (f64, f64), (t, d): (f64, f64)) -> (f64, f64) {
    (s * d + c * t, c * d - s * t)
}
