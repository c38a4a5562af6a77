//! Order in which pairs of areas are solved: by the kinds of their features, by the features, then by the
//! areas. Pairs that run through the same code follow each other.

/// Number of bits of the index of an area. A pair of sort keys must fit in a `u128`; fewer bits limit the
/// areas of a solid.
const AREA_BITS: u32 = 28;
/// Maximum number of areas of a solid, given by [`AREA_BITS`].
pub(crate) const MAX_AREAS: usize = 1 << AREA_BITS;

/// Sort key of an area of one solid. The keys of two areas are combined to an integer, which sorts faster
/// than a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SortKey {
    /// [`FeatureData::kind`](super::FeatureData::kind) of the area's feature.
    pub kind: u8,
    /// Position of the first area of the feature among those of the solid, which are sorted by features.
    pub first: u32,
    /// Index of the area among the areas of its feature.
    pub offset: u32,
}

impl SortKey {
    /// Sort key of a pair of areas. Both solids have at most [`MAX_AREAS`] areas.
    pub(crate) fn with(self, other: Self) -> u128 {
        let both = |a: u32, b: u32| (u64::from(a) << AREA_BITS) | u64::from(b);
        let kinds = (u128::from(self.kind) << 8) | u128::from(other.kind);
        let features = u128::from(both(self.first, other.first));
        (kinds << (4 * AREA_BITS))
            | (features << (2 * AREA_BITS))
            | u128::from(both(self.offset, other.offset))
    }
}

/// Positions of the areas of A and B in the sorted lists of areas of their solids, given the sort key of
/// the pair.
pub(crate) fn positions(pair: u128) -> [usize; 2] {
    let field = |k: u32| (pair >> (k * AREA_BITS)) as usize % MAX_AREAS;
    [field(3) + field(1), field(2) + field(0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    /// Sort keys have the order of their components and determine the positions.
    #[test]
    fn keys_sort_as_lists() {
        let mut rng = SmallRng::seed_from_u64(3);
        let mut number = || {
            let limit = [3, 1 << 27][rng.random_range(0..2)];
            rng.random_range(0..limit)
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
