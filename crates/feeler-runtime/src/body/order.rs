//! In which order pairs of areas are solved: by the kinds of their features, by these, then by themselves.
//! What runs through the same code follows each other.

/// Bits of the number of an area.
const BITS: u32 = 28;
/// Areas of a solid that can be numbered.
pub(crate) const MOST_AREAS: usize = 1 << BITS;

/// What is compared of an area of one solid. With an area of another one it makes a number, which sorts
/// faster than a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SortKey {
    /// [`FeatureData::kind`](super::FeatureData::kind) of its feature.
    pub kind: u8,
    /// Where the areas of the feature begin among those of the solid, which are sorted by features.
    pub first: u32,
    /// Which of them it is.
    pub offset: u32,
}

impl SortKey {
    /// The number of a pair of areas. Both solids have no more than [`MOST_AREAS`].
    pub(crate) fn with(self, other: Self) -> u128 {
        let both = |a: u32, b: u32| (u64::from(a) << BITS) | u64::from(b);
        let kinds = (u128::from(self.kind) << 8) | u128::from(other.kind);
        let features = u128::from(both(self.first, other.first));
        (kinds << (4 * BITS)) | (features << (2 * BITS)) | u128::from(both(self.offset, other.offset))
    }
}

/// The positions of the areas of a pair, given by its number, among those of their solids.
pub(crate) fn positions(pair: u128) -> [usize; 2] {
    let field = |k: u32| (pair >> (k * BITS)) as usize % MOST_AREAS;
    [field(3) + field(1), field(2) + field(0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    /// Numbers are in the order of what they are made of, and tell the positions.
    #[test]
    fn numbers_sort_as_lists() {
        let mut rng = SmallRng::seed_from_u64(3);
        let mut number = || {
            let most = [3, 1 << 27][rng.random_range(0..2)];
            rng.random_range(0..most)
        };
        let mut before: Option<([u32; 6], u128)> = None;
        for _ in 0..10_000 {
            let list: [u32; 6] = std::array::from_fn(|k| number() >> if k < 2 { 20 } else { 0 });
            let key = |kind: u32, first, offset| SortKey {
                kind: u8::try_from(kind).expect("a few"),
                first,
                offset,
            };
            let [kind_a, kind_b, feature_a, feature_b, i, j] = list;
            let pair = key(kind_a, feature_a, i).with(key(kind_b, feature_b, j));
            assert_eq!(positions(pair), [(feature_a + i) as usize, (feature_b + j) as usize]);
            if let Some((other, number)) = before.replace((list, pair)) {
                assert_eq!(list.cmp(&other), pair.cmp(&number), "{list:?} {other:?}");
            }
        }
    }
}
