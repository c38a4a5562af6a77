//! Second derivative of the gap of a contact of a step.

use super::ContactTracker;
use crate::api::contact::Contact;
use crate::pair::derivatives::{GapContact, gap_hessian};
use nalgebra::Matrix6;

impl ContactTracker {
    /// Computes the second derivative H of the gap (mm) of a contact of the last update with respect to a
    /// twist of B at A's origin, in A's frame: translation (mm), then rotation (rad). B's pose changes by
    /// the exponential of the twist. With the first derivative g of [`Contact::gap_rate`], a twist ξ
    /// changes the gap by g·ξ + ½ ξᵀHξ up to third order.
    ///
    /// Footpoints slide on their features, except the fixed one of a sample. If the connection of the
    /// footpoints is not a critical direction, the gap is measured along the normal between material points.
    /// `None` for a contact that is not isolated, such as a member of a conformal set; between two vertices
    /// at gap 0; before the first update; and for a feature that the bodies do not have.
    #[must_use]
    pub fn gap_hessian(&self, contact: &Contact) -> Option<Matrix6<f64>> {
        let of_gap = GapContact {
            features: contact.features(),
            uv: [contact.feature_a.uv, contact.feature_b.uv],
            points: [contact.local_a, contact.local_b],
            normal: contact.local_normal,
            is_fixed: contact.is_fixed,
        };
        gap_hessian(self.bodies().map(AsRef::as_ref), &self.last?.search.pose_ab, &of_gap)
    }
}
