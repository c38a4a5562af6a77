//! Pairs of areas in the order in which they are solved.

use super::Context;
use crate::body::ids::AreaPair;
use crate::body::positions;
use crate::body::side::Which;

/// Sorts pairs of areas (A, B) and removes duplicates. The first criterion is the
/// [`SortKey`](crate::body::SortKey) of the area of the body `first`, the second one that of the other
/// area; each pair still lists A's area first. `keys` is a scratch buffer.
pub(crate) fn sort_by_features(
    ctx: &Context<'_>,
    first: Which,
    pairs: &mut Vec<AreaPair>,
    keys: &mut Vec<u128>,
) {
    let (x, y) = (ctx.body(first), ctx.body(first.other()));
    // Swapping twice restores the pair.
    let swapped = |(i, j): AreaPair| if first == Which::A { (i, j) } else { (j, i) };
    keys.clear();
    keys.reserve(pairs.capacity());
    keys.extend(pairs.iter().map(|pair| {
        let (i, j) = swapped(*pair);
        x.sort_key(i).with(y.sort_key(j))
    }));
    keys.sort_unstable();
    keys.dedup();
    pairs.clear();
    pairs.extend(keys.iter().map(|&pair| {
        let [i, j] = positions(pair);
        swapped((x.area_at(i), y.area_at(j)))
    }));
}
