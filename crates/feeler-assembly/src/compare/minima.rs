//! Comparison of the minima of one pair of solids.

use super::difference::{ComparisonTolerances, Difference, DifferenceKind, format_number};
use super::face::vector;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

/// Largest distance of two minima of the old and the new version that count as one moved minimum,
/// relative to the size of the larger solid. Different minima are paired with a larger value; moved ones
/// are reported as lost and gained with a smaller one.
const MAX_MINIMUM_MOTION: f64 = 0.02;

/// Value of [`MinimumFacts::kind`] for samples of conformal sets.
const CONFORMAL: &str = "conformal";

/// Properties of a local minimum of the distance of two solids A and B, by which versions are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MinimumFacts {
    /// Distance (mm) of the solids at the minimum, that is of its two footpoints.
    pub distance: f64,
    /// Footpoint on A in A's coordinates (mm).
    pub a: [f64; 3],
    /// Footpoint on B in B's coordinates (mm).
    pub b: [f64; 3],
    /// Kind of the minimum: `strict`, `quasi` or, for a sample of a conformal set, `conformal`.
    pub kind: String,
}

impl MinimumFacts {
    fn moved(&self, other: &Self) -> f64 {
        let far = |a: &[f64; 3], b: &[f64; 3]| (Vector3::from(*a) - Vector3::from(*b)).norm();
        far(&self.a, &other.a).max(far(&self.b, &other.b))
    }
}

/// Whether a minimum is a sample of a connected set of equal minima, so that its position in the set is
/// arbitrary.
fn is_sample(m: &MinimumFacts) -> bool {
    m.kind == CONFORMAL
}

/// Whether `m` is a sample of a conformal set and `others` contain another such sample at the same
/// distance. These two are then taken for samples of one set.
fn is_sampled(m: &MinimumFacts, others: &[MinimumFacts], tol: &ComparisonTolerances) -> bool {
    is_sample(m) && others.iter().any(|o| is_sample(o) && tol.same_length(o.distance, m.distance))
}

/// Minima that are lost, gained or moved between two versions of a pair of solids. `size` (mm) is that
/// of the larger solid, and `subject` names the pair in the differences. Samples of conformal sets are
/// compared only by their distances, because a set may be sampled at other points.
#[must_use]
pub fn compare_minima(
    old: &[MinimumFacts],
    new: &[MinimumFacts],
    (subject, size): (&str, f64),
    tol: &ComparisonTolerances,
) -> Vec<Difference> {
    let mut costs: Vec<(f64, usize, usize)> = Vec::new();
    for (i, a) in old.iter().enumerate() {
        for (j, b) in new.iter().enumerate() {
            let far = a.moved(b);
            if far <= MAX_MINIMUM_MOTION * size {
                costs.push((far + if a.kind == b.kind { 0.0 } else { MAX_MINIMUM_MOTION * size }, i, j));
            }
        }
    }
    costs.sort_by(|x, y| x.0.total_cmp(&y.0).then((x.1, x.2).cmp(&(y.1, y.2))));
    let (mut of_old, mut of_new) = (vec![None; old.len()], vec![false; new.len()]);
    for (_, i, j) in costs {
        if of_old[i].is_none() && !of_new[j] {
            (of_old[i], of_new[j]) = (Some(j), true);
        }
    }
    let mut out = Vec::new();
    let mut add = |what| out.push(Difference::new(DifferenceKind::Minimum, subject, what));
    let at =
        |m: &MinimumFacts| format!("{} {} mm at {} of A", m.kind, format_number(m.distance), vector(&m.a));
    for (a, partner) in old.iter().zip(&of_old) {
        let Some(j) = partner else {
            if !is_sampled(a, new, tol) {
                add(format!("lost: {}", at(a)));
            }
            continue;
        };
        let b = &new[*j];
        let (far, longer) = (a.moved(b), b.distance - a.distance);
        if a.kind != b.kind {
            add(format!("{} is {} now", at(a), b.kind));
        } else if longer.abs() > tol.length || (far > tol.length && !is_sample(a)) {
            add(format!("moved by {far:.3e} mm, distance {longer:+.3e} mm: {}", at(a)));
        }
    }
    for (b, _) in new.iter().zip(&of_new).filter(|(_, taken)| !**taken) {
        if !is_sampled(b, old, tol) {
            add(format!("gained: {}", at(b)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minimum(x: f64, distance: f64, kind: &str) -> MinimumFacts {
        MinimumFacts { distance, a: [x, 0.0, 0.0], b: [x, 0.0, 0.0], kind: kind.to_owned() }
    }

    #[test]
    fn lost_gained_moved() {
        let tol = ComparisonTolerances::default();
        let old = [minimum(0.0, 1.0, "strict"), minimum(5.0, 2.0, "strict"), minimum(9.0, 3.0, "strict")];
        let what = |new: &[MinimumFacts]| {
            let found = compare_minima(&old, new, ("", 10.0), &tol);
            found.into_iter().map(|d| d.what.split([' ', ':']).next().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert!(what(&old).is_empty());
        let reversed: Vec<_> = old.iter().rev().cloned().collect();
        assert!(what(&reversed).is_empty(), "the order is irrelevant");
        assert_eq!(what(&old[..2]), ["lost"]);
        let moved = [minimum(1e-5, 1.0, "strict"), old[1].clone(), old[2].clone()];
        assert_eq!(what(&moved), ["moved"]);
        let elsewhere = [minimum(2.0, 1.0, "strict"), old[1].clone(), old[2].clone()];
        assert_eq!(what(&elsewhere), ["lost", "gained"]);
        let other = [minimum(0.0, 1.0, "conformal"), old[1].clone(), old[2].clone()];
        assert_eq!(what(&other), ["strict"]);
        assert_eq!(compare_minima(&[], &old, ("", 10.0), &tol).len(), 3);
    }

    #[test]
    fn sets_may_be_sampled_elsewhere() {
        let tol = ComparisonTolerances::default();
        let set =
            |places: &[f64], d: f64| places.iter().map(|x| minimum(*x, d, CONFORMAL)).collect::<Vec<_>>();
        let old = set(&[0.0, 4.0, 8.0], 1.0);
        assert!(compare_minima(&old, &set(&[2.0, 6.0], 1.0), ("", 10.0), &tol).is_empty());
        assert!(!compare_minima(&old, &set(&[2.0, 6.0], 1.001), ("", 10.0), &tol).is_empty());
        assert_eq!(compare_minima(&old, &[], ("", 10.0), &tol).len(), 3);
    }
}
