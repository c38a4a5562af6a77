//! First and second derivatives of the gap of a contact with respect to a twist.
//!
//! The gap is the stationary value of F = n · (q − p) over the parameters of the footpoints p and q,
//! which slide on their features, and over the unit normal n. B's point q moves with the twist ξ. Let y
//! be the vector of these parameters and of the rotation of n. With subscripts for derivatives by ξ and
//! y, the second derivative of the gap is
//!
//! ```text
//! F_ξξ − F_ξy F_yy⁻¹ F_yξ,
//! ```
//!
//! which is regular at gap 0, unlike that of the distance |q − p|.
//!
//! # Source
//! BREP §4.5.3 (contact kinematics); MATH §23.

use super::ContactPair;
use crate::api::contact::{ContactKind, FeatureKind};
use crate::body::{Body, outward_normal};
use crate::query::Accepted;
use feeler_geom::contact::shape_operator;
use feeler_geom::frame::complete_basis;
use feeler_geom::{P2, P3, Pose, V3};
use feeler_hierarchy::{EdgeId, FaceId};
use nalgebra::{Matrix2, Matrix3, Matrix6, SMatrix};

/// Smallest singular value of the matrix `F_yy` of second derivatives by the footpoints' parameters and
/// the normal (see the module), as a fraction of its largest one, at which the contact counts as
/// isolated. With a larger value, isolated contacts have no second derivative of the gap; with a smaller
/// one, rounding determines it.
const MIN_SINGULAR: f64 = 1e-8;
/// Largest angle (rad) between the connection of the footpoints and the normal, and between the tangents
/// of the features and the plane orthogonal to the normal, at which the footpoints of a contact count as
/// a critical pair, so that they slide. With a larger value, footpoints of contacts whose directions are
/// outside polars slide; with a smaller one, rounding fixes footpoints at small gaps.
const CRITICAL_ANGLE: f64 = 1e-5;

/// Jacobian of a point of B with respect to a twist of B: columns of the translation, then of the rotation.
type PointRate = SMatrix<f64, 3, 6>;

/// A contact whose gap is differentiated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GapContact {
    /// Kind and index of the features of A and of B that contain the footpoints.
    pub features: [(FeatureKind, u32); 2],
    /// Parameters of the footpoints on them.
    pub uv: [[f64; 2]; 2],
    /// Footpoint on A in the frame of A, and that on B in the frame of B.
    pub points: [P3; 2],
    /// Unit outward direction of A at its footpoint, in the frame of A.
    pub normal: V3,
    /// Whether the footpoint on A, and that on B, is fixed on its feature.
    pub is_fixed: [bool; 2],
}

impl GapContact {
    fn of(kept: &Accepted, pose_ba: &Pose) -> Self {
        let places = [&kept.place_a, &kept.place_b];
        Self {
            features: places.map(|place| (place.kind, place.index)),
            uv: places.map(|place| place.uv),
            points: [kept.p_a, pose_ba * kept.p_b],
            normal: kept.n,
            is_fixed: [false; 2],
        }
    }
}

impl ContactPair {
    /// Computes the first derivatives of the gaps (mm) of the contacts of the last query with respect to a
    /// twist of B at A's origin, in A's frame: translation (mm), then rotation (rad). B's pose relative to A
    /// changes by the exponential of the twist: `exp(ξ) · pose_ab`. One entry for each of
    /// [`ContactPair::contacts`].
    ///
    /// The derivative of an isolated minimum is exact, because the gap is stationary in its footpoints. The
    /// gap of a conformal set has no derivative at parallel features; the entry of a sample is that of the
    /// distance between its two points along the normal, which bounds the change of the set's gap from
    /// above to first order.
    #[must_use]
    pub fn gap_gradients(&self) -> Vec<[f64; 6]> {
        self.last_kept().iter().map(|kept| gap_gradient(&kept.n, &kept.p_b)).collect()
    }

    /// Computes the second derivatives H of the gaps (mm) of the contacts of the last query, in the
    /// coordinates of [`ContactPair::gap_gradients`]: with the gradient g of a contact, a twist ξ changes
    /// its gap by g·ξ + ½ ξᵀHξ up to third order. One entry for each of [`ContactPair::contacts`].
    ///
    /// `None` for a contact that is not isolated to second order, such as a sample of a conformal set, and
    /// for two vertices at gap 0.
    #[must_use]
    pub fn gap_hessians(&self) -> Vec<Option<Matrix6<f64>>> {
        let bodies = [self.a.as_ref(), self.b.as_ref()];
        let pose_ab = &self.state.pose_ab;
        let pose_ba = pose_ab.inverse();
        let of_contact = |kept: &Accepted| {
            let is_isolated = kept.kind != ContactKind::Conformal;
            is_isolated.then(|| gap_hessian(bodies, pose_ab, &GapContact::of(kept, &pose_ba))).flatten()
        };
        self.last_kept().iter().map(of_contact).collect()
    }

    /// The minima of the contacts of the last query, in the same order.
    fn last_kept(&self) -> &[Accepted] {
        &self.state.kept[..self.state.contacts.len()]
    }
}

/// First derivative of the gap of a contact with respect to a twist of B at A's origin, in A's frame:
/// translation (mm per mm), then rotation (mm per rad). `normal` is the outward direction of A and `point_b`
/// the footpoint on B, both in A's frame.
pub(crate) fn gap_gradient(normal: &V3, point_b: &P3) -> [f64; 6] {
    let moment = point_b.coords.cross(normal);
    [normal.x, normal.y, normal.z, moment.x, moment.y, moment.z]
}

/// A footpoint with the directions in which it slides on its feature, in A's frame.
#[derive(Clone, Copy, Debug)]
struct Slide {
    point: P3,
    /// Number of directions: 2 on a face, 1 on an edge, 0 at a vertex and for a fixed footpoint.
    count: usize,
    /// Unit tangents of the feature in the directions of sliding; only the first `count` entries are not 0.
    tangents: [V3; 2],
    /// Second derivatives (1/mm) of the point along the contact's normal with respect to arc lengths along
    /// the tangents.
    bend: Matrix2<f64>,
}

impl Slide {
    /// Footpoint of a contact on A (`side` 0) or B (`side` 1). `to_a` maps coordinates of the body to
    /// those of A. `None` for a feature that the body does not have, and at a degenerate point of a
    /// surface or curve.
    fn new(body: &Body, to_a: &Pose, contact: &GapContact, side: usize) -> Option<Self> {
        let (kind, index) = contact.features[side];
        let uv = P2::new(contact.uv[side][0], contact.uv[side][1]);
        let fixed = Self {
            point: to_a * contact.points[side],
            count: 0,
            tangents: [V3::zeros(); 2],
            bend: Matrix2::zeros(),
        };
        let h = body.hierarchy();
        let index_in = |count: usize| ((index as usize) < count).then_some(index);
        match kind {
            FeatureKind::Face => {
                let face = body.face(FaceId(index_in(h.faces.len())?));
                let outward = outward_normal(face, uv);
                let basis = complete_basis(&outward);
                let shape = shape_operator(&face.surface, uv, face.outward, &basis)?;
                // The surface bends away from its outward normal, which on B is opposite to the normal of
                // the contact.
                let sign = if (to_a * outward).dot(&contact.normal) > 0.0 { -1.0 } else { 1.0 };
                let tangents = [basis.0, basis.1].map(|t| to_a * t);
                Some(Self { count: 2, tangents, bend: shape * sign, ..fixed })
            }
            FeatureKind::Edge => {
                let d = body.edge(EdgeId(index_in(h.edges.len())?)).curve.derivs(uv.x);
                let speed = d.d1.norm();
                let tangent = d.d1.try_normalize(0.0)?;
                let bend = (to_a * d.d2).dot(&contact.normal) / (speed * speed);
                let tangents = [to_a * tangent, V3::zeros()];
                Some(Self { count: 1, tangents, bend: Matrix2::new(bend, 0.0, 0.0, 0.0), ..fixed })
            }
            FeatureKind::Vertex => index_in(h.vertices.len()).map(|_| fixed),
        }
    }
}

/// Computes the second derivative of the gap of a contact of two bodies. `pose_ab` maps B's coordinates to
/// A's. `None` for a contact that is not isolated, between two vertices at gap 0, and for a feature that the
/// bodies do not have.
pub(crate) fn gap_hessian(bodies: [&Body; 2], pose_ab: &Pose, contact: &GapContact) -> Option<Matrix6<f64>> {
    let slide_of = |side: usize, pose: &Pose| {
        let slide = Slide::new(bodies[side], pose, contact, side)?;
        Some(if contact.is_fixed[side] { Slide { count: 0, ..slide } } else { slide })
    };
    let slides = [slide_of(0, &Pose::identity())?, slide_of(1, pose_ab)?];
    let [a, b] = &slides;
    let n = contact.normal;
    let size = bodies[0].size().max(bodies[1].size());
    let along_twist = twist_hessian(&n, &b.point.coords);
    let between = b.point - a.point;
    if !is_critical(&n, &between, &slides, size) {
        return Some(along_twist);
    }
    let basis = complete_basis(&n);
    let directions = [basis.0, basis.1];
    // Rows: the arc lengths of A's and of B's footpoint over the size, then the rotation of the normal.
    // The remaining rows are those of a multiple of the identity and do not depend on the twist.
    let normal_row = a.count + b.count;
    let mut f_yy = Matrix6::identity() * size;
    let mut f_y_twist = Matrix6::zeros();
    for (slide, first_row, sign) in [(a, 0, -1.0), (b, a.count, 1.0)] {
        for i in 0..slide.count {
            let row = first_row + i;
            for k in 0..slide.count {
                f_yy[(row, first_row + k)] = sign * size * size * slide.bend[(i, k)];
            }
            for (k, direction) in directions.iter().enumerate() {
                let mixed = sign * size * direction.dot(&slide.tangents[i]);
                f_yy[(row, normal_row + k)] = mixed;
                f_yy[(normal_row + k, row)] = mixed;
            }
        }
    }
    for i in 0..b.count {
        // A tangent of B rotates with the twist: n · (ω × t) = ω · (t × n).
        let turning = b.tangents[i].cross(&n) * size;
        f_y_twist.fixed_view_mut::<1, 3>(a.count + i, 3).copy_from(&turning.transpose());
    }
    for (k, direction) in directions.iter().enumerate() {
        f_yy[(normal_row + k, normal_row + k)] = -between.dot(&n);
        f_y_twist.set_row(normal_row + k, &(direction.transpose() * point_rate(&b.point)));
    }
    let singular_values = f_yy.singular_values();
    let (min, max) = (singular_values.min(), singular_values.max());
    if min.is_nan() || min <= MIN_SINGULAR * max {
        return None;
    }
    // Elimination, because the singular vectors of nalgebra can lose ten digits at close singular values.
    let solved = f_yy.full_piv_lu().solve(&f_y_twist)?;
    let hessian = along_twist - f_y_twist.transpose() * solved;
    hessian.iter().all(|value| value.is_finite()).then(|| 0.5 * (hessian + hessian.transpose()))
}

/// Returns whether the connection `between` of the footpoints (mm) is along the normal `n`, and the normal
/// orthogonal to the directions in which they slide. `size` (mm) is that of the larger body.
fn is_critical(n: &V3, between: &V3, slides: &[Slide; 2], size: f64) -> bool {
    let aside = (between - n * between.dot(n)).norm();
    let is_orthogonal =
        |slide: &Slide| slide.tangents[..slide.count].iter().all(|t| t.dot(n).abs() <= CRITICAL_ANGLE);
    aside <= CRITICAL_ANGLE * between.norm().max(CRITICAL_ANGLE * size) && slides.iter().all(is_orthogonal)
}

/// Jacobian `[I, −q×]` of a point q of B with respect to a twist (v, ω) of B, all in the frame of A: the
/// velocity of the point is v + ω × q.
fn point_rate(q: &P3) -> PointRate {
    let mut out = PointRate::zeros();
    out.fixed_view_mut::<3, 3>(0, 0).copy_from(&Matrix3::identity());
    out.fixed_view_mut::<3, 3>(0, 3).copy_from(&-q.coords.cross_matrix());
    out
}

/// Second derivative of n · exp(ξ) q: the quadratic form n · ω × (ω × q + v).
fn twist_hessian(n: &V3, q: &V3) -> Matrix6<f64> {
    let mut out = Matrix6::zeros();
    let turning = 0.5 * (n * q.transpose() + q * n.transpose()) - Matrix3::identity() * n.dot(q);
    // n · (ω × v) = −ω · (n × v).
    let mixed = -0.5 * n.cross_matrix();
    out.fixed_view_mut::<3, 3>(3, 3).copy_from(&turning);
    out.fixed_view_mut::<3, 3>(3, 0).copy_from(&mixed);
    out.fixed_view_mut::<3, 3>(0, 3).copy_from(&mixed.transpose());
    out
}
