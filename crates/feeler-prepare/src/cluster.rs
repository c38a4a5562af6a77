//! Splits a set of items into classes whose members may be equal, without comparing all pairs of items.

/// Returns classes of the items `0..keys.len()`; items that agree within `tolerance` in every key are
/// always in one class. Classes are sorted by their first member, and their members ascend.
///
/// A class is sorted by each key in turn and cut between neighbours whose keys differ by more than the
/// tolerance. Items are not sorted into buckets, so no bucket limit can separate equal items. The
/// cutting is repeated until no key cuts any more: O(n log n) per round, and each round except the last
/// one increases the number of classes. Members of a class are not necessarily equal, because a sequence
/// of neighbours that are close to each other stays together; the caller compares them with a reference
/// item.
///
/// Non-finite keys are sorted to the end and never agree with any key.
pub(crate) fn clusters<const K: usize>(keys: &[[f64; K]], tolerance: &[f64; K]) -> Vec<Vec<u32>> {
    #[expect(clippy::cast_possible_truncation, reason = "callers have fewer than 2^32 items")]
    let all: Vec<u32> = (0..keys.len() as u32).collect();
    let mut done = Vec::new();
    // Each entry: a class, the key to try next and the number of successive keys that did not cut it.
    let mut open = vec![(all, 0_usize, 0_usize)];
    while let Some((mut class, key, without_cut)) = open.pop() {
        if class.len() < 2 || without_cut == K {
            if !class.is_empty() {
                class.sort_unstable();
                done.push(class);
            }
            continue;
        }
        let value = |i: u32| keys[i as usize][key];
        class.sort_unstable_by(|&a, &b| value(a).total_cmp(&value(b)).then(a.cmp(&b)));
        let next = (key + 1) % K;
        let near = |w: &[u32]| value(w[1]) - value(w[0]) <= tolerance[key];
        if class.windows(2).all(near) {
            open.push((class, next, without_cut + 1));
            continue;
        }
        let mut start = 0;
        for end in 1..=class.len() {
            if end == class.len() || !near(&class[end - 1..=end]) {
                open.push((class[start..end].to_vec(), next, 1));
                start = end;
            }
        }
    }
    done.sort_unstable_by_key(|class| class[0]);
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    #[test]
    fn equal_items_share_a_class_and_far_ones_do_not() {
        let mut rng = SmallRng::seed_from_u64(7);
        let sites: Vec<[f64; 2]> =
            (0..40).map(|_| [rng.random_range(0..6), rng.random_range(0..6)].map(f64::from)).collect();
        let items: Vec<[f64; 2]> = (0..300)
            .map(|_| sites[rng.random_range(0..sites.len())].map(|c| c + rng.random_range(-0.4e-3..0.4e-3)))
            .collect();
        let classes = clusters(&items, &[1e-3, 1e-3]);
        let mut class_of = vec![usize::MAX; items.len()];
        for (k, class) in classes.iter().enumerate() {
            for &i in class {
                assert_eq!(class_of[i as usize], usize::MAX, "an item is in two classes");
                class_of[i as usize] = k;
            }
        }
        for (i, a) in items.iter().enumerate() {
            for (j, b) in items.iter().enumerate() {
                let same_site = (a[0] - b[0]).abs() < 0.5 && (a[1] - b[1]).abs() < 0.5;
                assert_eq!(class_of[i] == class_of[j], same_site, "items {i} and {j}");
            }
        }
    }

    #[test]
    fn degenerate_input() {
        assert!(clusters::<1>(&[], &[1.0]).is_empty(), "an empty set has no classes");
        assert_eq!(clusters(&[[1.0]], &[0.0]), vec![vec![0]], "a single item forms a class");
        let classes = clusters(&[[f64::NAN], [1.0], [f64::NAN], [1.0]], &[0.0]);
        assert_eq!(classes, vec![vec![0], vec![1, 3], vec![2]], "a NaN agrees with no key");
    }
}
