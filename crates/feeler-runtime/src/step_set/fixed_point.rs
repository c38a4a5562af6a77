//! A sample of a nearly conformal pair of features, its identity, and the nearest point of its other feature.

use crate::body::outward_normal;
use crate::body::side::Which;
use crate::query::{Accepted, Context};
use feeler_geom::skeleton::signed_distance;
use feeler_geom::{P2, P3, V3};
use feeler_hierarchy::{FaceId, Feature};

/// Contact of a point at fixed parameters of one feature with the nearest point of the other feature.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub pair: Accepted,
    /// Body of the fixed point, and the parameters of this point as multiples of `step`.
    pub key: (Which, [i64; 2]),
    /// Spacing of the samples in both parameters of the feature with the fixed points; powers of two.
    pub step: [f64; 2],
}

/// Identity of a sample of a pair of bodies: features of A and B, body of its fixed point, and bits of the
/// parameters of this point.
pub(crate) type SampleId = (Feature, Feature, Which, [u64; 2]);

impl Sample {
    /// Identity of the sample: its pair of features, the body of its fixed point, and the parameters of
    /// that point. The spacing is not part of it, so a sample keeps its identity if the spacing changes
    /// and the same parameters are sampled again.
    #[expect(clippy::cast_precision_loss, reason = "at most some thousand steps")]
    pub(crate) fn identity(&self) -> SampleId {
        let (which, key) = self.key;
        let parameters = [0, 1].map(|i| (key[i] as f64 * self.step[i]).to_bits());
        (self.pair.feature_a, self.pair.feature_b, which, parameters)
    }
}

/// Point of a face, trims ignored, that is nearest to a point of the other body (frame of A).
pub(super) struct FaceFoot {
    pub p: P3,
    /// Outward unit normal of the face.
    pub outward: V3,
    /// Signed distance (mm) of the other point along `outward`.
    pub distance: f64,
    /// Parameters on the face; `None` for a canonical face, on which they are not needed for the point.
    pub uv: Option<P2>,
}

/// Computes the point of a face of the body `which` that is nearest to `p` (frame of A). Newton's method
/// starts at the parameters `near` on a spline, because a search of the whole face takes a thousand times as
/// long. `None` if the nearest point is not unique.
pub(super) fn foot_on_face(
    ctx: &Context<'_>,
    which: Which,
    face: FaceId,
    near: P2,
    p: &P3,
) -> Option<FaceFoot> {
    if let Some(primitive) = ctx.primitive(which, Feature::Face(face)) {
        let s = signed_distance(&primitive, p)?;
        return Some(FaceFoot { p: s.foot, outward: s.gradient, distance: s.value, uv: None });
    }
    let data = ctx.body(which).face(face);
    let uv = data.surface.invert(&ctx.in_own(which, p), Some(near), None);
    let foot = ctx.in_a(which, &data.surface.point(uv));
    let outward = outward_normal(data, uv);
    let outward = if which == Which::A { outward } else { ctx.pose_ab * outward };
    Some(FaceFoot { p: foot, outward, distance: outward.dot(&(p - foot)), uv: Some(uv) })
}
