//! Merging of neighbouring groups whose common hull is still convex enough.

use crate::cell::Sample;
use crate::cut::Group;
use crate::error::PiecesError;
use crate::measure::{Lengths, Measured, measured_points};
use feeler_geom::{Aabb, P3};
use std::collections::BinaryHeap;

/// Pair of groups with the hull of both. Pairs with a smaller sum of exit distances come first.
struct Candidate {
    groups: [usize; 2],
    hull: Measured,
}

feeler_geom::ordered_by!(Candidate, |a, b| b.hull.sum.total_cmp(&a.hull.sum).then(b.groups.cmp(&a.groups)));

/// Merges pairs of groups with touching boxes while the convexity of their common hull is at most the
/// requested one, in the order of the sums of exit distances.
pub(crate) fn merged<'a>(
    groups: Vec<Group<'a>>,
    samples: &[Sample],
    lengths: &Lengths,
) -> Result<Vec<Group<'a>>, PiecesError> {
    let middles = groups.iter().flat_map(|group| &group.cells).filter_map(|cell| cell.sample());
    let samples: Vec<Sample> = samples.iter().copied().chain(middles).collect();
    let mut groups: Vec<Option<Group<'a>>> = groups.into_iter().map(Some).collect();
    let mut queue = BinaryHeap::new();
    for j in 0..groups.len() {
        add_candidates(&groups, j, &samples, lengths, &mut queue)?;
    }
    while let Some(Candidate { groups: [i, j], hull }) = queue.pop() {
        // Groups of a pair may have been merged with others since the pair was found.
        if groups[i].is_none() || groups[j].is_none() {
            continue;
        }
        let (Some(a), Some(b)) = (groups[i].take(), groups[j].take()) else { continue };
        let cells = a.cells.into_iter().chain(b.cells).collect();
        groups.push(Some(Group { cells, hull }));
        add_candidates(&groups, groups.len() - 1, &samples, lengths, &mut queue)?;
    }
    Ok(groups.into_iter().flatten().collect())
}

/// Appends the pairs of group `j` and earlier groups that can be merged.
fn add_candidates(
    groups: &[Option<Group<'_>>],
    j: usize,
    samples: &[Sample],
    lengths: &Lengths,
    queue: &mut BinaryHeap<Candidate>,
) -> Result<(), PiecesError> {
    let Some(b) = &groups[j] else { return Ok(()) };
    for (i, a) in groups[..j].iter().enumerate() {
        let Some(a) = a else { continue };
        if !overlap(&a.hull.bounds.inflated(lengths.tol), &b.hull.bounds) {
            continue;
        }
        let points: Vec<P3> = a.hull.vertices.iter().chain(&b.hull.vertices).copied().collect();
        let bounds = a.hull.bounds.union(&b.hull.bounds);
        let among = inside(samples, &bounds);
        let hull = measured_points(points, samples, &among, lengths, lengths.convexity)?;
        if hull.convexity <= lengths.convexity {
            queue.push(Candidate { groups: [i, j], hull });
        }
    }
    Ok(())
}

/// Whether two boxes have a common point.
fn overlap(a: &Aabb, b: &Aabb) -> bool {
    (0..3).all(|k| a.min[k] <= b.max[k] && b.min[k] <= a.max[k])
}

/// Indices of the samples in a box.
fn inside(samples: &[Sample], bounds: &Aabb) -> Vec<u32> {
    let indices = 0..u32::try_from(samples.len()).unwrap_or(u32::MAX);
    indices.filter(|i| bounds.contains(&samples[*i as usize].point)).collect()
}
