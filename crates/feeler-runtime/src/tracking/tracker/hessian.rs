//! Second derivative of the gap of a contact with respect to a twist.
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

use super::{ContactTracker, StepContact};
use crate::api::contact::FeatureKind;
use crate::body::{Body, outward_normal};
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

impl ContactTracker {
    /// Computes the second derivative H of the gap (mm) of a contact of the last update with respect to a
    /// twist of B at A's origin, in A's frame: translation (mm), then rotation (rad). B's pose changes by
    /// the exponential of the twist. With the first derivative g of [`StepContact::gap_rate`], a twist ξ
    /// changes the gap by g·ξ + ½ ξᵀHξ up to third order.
    ///
    /// Footpoints slide on their features, except the fixed one of a sample. If the connection of the
    /// footpoints is not a critical direction, the gap is measured along the normal between material points.
    /// `None` for a contact that is not isolated, such as a member of a conformal set; between two vertices
    /// at gap 0; before the first update; and for a feature that the bodies do not have.
    #[must_use]
    pub fn gap_hessian(&self, contact: &StepContact) -> Option<Matrix6<f64>> {
        gap_hessian(self.bodies().map(AsRef::as_ref), &self.last?.search.pose_ab, contact)
    }
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
    fn new(body: &Body, to_a: &Pose, contact: &StepContact, side: usize) -> Option<Self> {
        let (kind, index) = contact.features[side];
        let uv = P2::new(contact.uv[side][0], contact.uv[side][1]);
        let local = if side == 0 { contact.local_a } else { contact.local_b };
        let fixed =
            Self { point: to_a * local, count: 0, tangents: [V3::zeros(); 2], bend: Matrix2::zeros() };
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

/// Computes the second derivative of the gap of a contact of two bodies; `None` as in
/// [`ContactTracker::gap_hessian`]. `pose_ab` maps B's coordinates to A's.
fn gap_hessian(bodies: [&Body; 2], pose_ab: &Pose, contact: &StepContact) -> Option<Matrix6<f64>> {
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
    let svd = f_yy.svd(true, true);
    let (min, max) = (svd.singular_values.min(), svd.singular_values.max());
    if min.is_nan() || min <= MIN_SINGULAR * max {
        return None;
    }
    let solved = svd.solve(&f_y_twist, 0.0).ok()?;
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
