//! A sample of a nearly conformal pair of features, and its identity.

use crate::body::side::Which;
use crate::query::Accepted;
use feeler_hierarchy::Feature;

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
