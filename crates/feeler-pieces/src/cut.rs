//! Division of a surface into groups of cells by planes, until each group's hull is convex enough.
//!
//! The group with the largest convexity is divided first. Candidates are planes through its worst
//! samples and through its middle; the one with the smallest sum of exit distances on both sides is used.

use crate::cell::{Cell, Cut, Sample};
use crate::error::PiecesError;
use crate::measure::{Lengths, Measured, measured};
use crate::skin::Skin;
use feeler_geom::{Obb, P3, V3};
use std::collections::BinaryHeap;
use std::rc::Rc;

/// A group of cells with its hull.
#[derive(Clone, Debug)]
pub(crate) struct Group<'a> {
    pub(crate) cells: Vec<Rc<Cell<'a>>>,
    pub(crate) hull: Measured,
}

/// A group in the order of division: larger convexity first, then earlier creation.
struct Open<'a> {
    group: Group<'a>,
    number: usize,
}

feeler_geom::ordered_by!(Open<'_>, |a, b| {
    a.group.hull.convexity.total_cmp(&b.group.hull.convexity).then(b.number.cmp(&a.number))
});

/// Divides a surface into groups whose convexity is at most the requested one, or into `max_groups`
/// groups if these do not suffice. Groups that cannot be divided are kept.
pub(crate) fn divided<'a>(
    skin: &Skin<'a>,
    lengths: &Lengths,
    max_groups: usize,
) -> Result<Vec<Group<'a>>, PiecesError> {
    let all: Vec<u32> = (0..u32::try_from(skin.samples.len()).unwrap_or(u32::MAX)).collect();
    let hull = measured(&skin.cells, &skin.samples, &all, lengths)?;
    let mut open = BinaryHeap::from([Open { group: Group { cells: skin.cells.clone(), hull }, number: 0 }]);
    let mut done = Vec::new();
    let mut number = 0;
    while let Some(Open { group, number: own }) = open.pop() {
        if group.hull.convexity <= lengths.convexity || open.len() + done.len() + 1 >= max_groups {
            done.push((own, group));
            continue;
        }
        let Some(parts) = best_division(&group, &skin.samples, lengths)? else {
            done.push((own, group));
            continue;
        };
        for group in parts {
            number += 1;
            open.push(Open { group, number });
        }
    }
    done.sort_by_key(|(number, _)| *number);
    Ok(done.into_iter().map(|(_, group)| group).collect())
}

/// Divides a group by the best candidate plane. `None` if no candidate has cells on both sides.
fn best_division<'a>(
    group: &Group<'a>,
    samples: &[Sample],
    lengths: &Lengths,
) -> Result<Option<[Group<'a>; 2]>, PiecesError> {
    let among = &group.hull.inside;
    let mut best: Option<(f64, [Group<'a>; 2])> = None;
    for cut in candidates(group, lengths.tol) {
        let parts = sides_of(&group.cells, &cut);
        if parts.iter().any(Vec::is_empty) {
            continue;
        }
        let [below, above] = parts;
        let below_hull = measured(&below, samples, among, lengths)?;
        let above_hull = measured(&above, samples, among, lengths)?;
        let cost = below_hull.sum + above_hull.sum;
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            let parts = [Group { cells: below, hull: below_hull }, Group { cells: above, hull: above_hull }];
            best = Some((cost, parts));
        }
    }
    Ok(best.map(|(_, parts)| parts))
}

/// Divides cells by a plane: those below, and those above.
fn sides_of<'a>(cells: &[Rc<Cell<'a>>], cut: &Cut) -> [Vec<Rc<Cell<'a>>>; 2] {
    let mut parts = [Vec::new(), Vec::new()];
    for cell in cells {
        for (part, side) in parts.iter_mut().zip(cell.divided(cut)) {
            part.extend(side);
        }
    }
    parts
}

/// Planes by which a group may be divided: the tangent planes of the worst samples, and planes along the
/// axes of the hull's box through the worst sample and through the middle.
fn candidates(group: &Group<'_>, tol: f64) -> Vec<Cut> {
    let through = |point: &P3, normal: V3| Cut { normal, offset: normal.dot(&point.coords), tol };
    let worst = &group.hull.worst;
    let mut out: Vec<Cut> = worst.iter().map(|(s, _)| through(&s.point, s.normal)).collect();
    let obb = Obb::fit(&group.hull.vertices);
    for axis in obb.axes {
        out.extend(worst.first().map(|(s, _)| through(&s.point, axis)));
        out.push(through(&obb.center, axis));
    }
    out
}
