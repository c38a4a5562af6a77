//! Johnson's recursive sub-algorithm, with and without the backup procedure.
//!
//! # Source
//! DIST §2.5.2, Eqs. (2.19) to (2.25); §4.8.2 (backup procedure).
//!
//! # Deviations
//! None. If no subset satisfies (2.19) because of rounding, [`Johnson`] fails, which is its known weakness.

use crate::gjk::SubAlgorithm;
use crate::signed_volumes::Nearest;
use feeler_geom::V3;

/// Johnson's sub-algorithm of GJK, which computes the point of a simplex nearest to the origin. It loses
/// about half of the digits on flat simplices, and fails if rounding rejects all subsets of vertices.
#[derive(Clone, Copy, Debug, Default)]
pub struct Johnson;

/// Johnson's sub-algorithm, followed by the backup procedure if it fails.
#[derive(Clone, Copy, Debug, Default)]
pub struct JohnsonWithBackup;

/// The backup procedure alone: it compares the nearest points of all subsets of vertices.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backup;

impl SubAlgorithm for Johnson {
    fn nearest(&self, s: &[V3]) -> Option<Nearest> {
        Cofactors::new(s)?.johnson(s)
    }
}

impl SubAlgorithm for JohnsonWithBackup {
    fn nearest(&self, s: &[V3]) -> Option<Nearest> {
        let cofactors = Cofactors::new(s)?;
        cofactors.johnson(s).or_else(|| cofactors.backup(s))
    }
}

impl SubAlgorithm for Backup {
    fn nearest(&self, s: &[V3]) -> Option<Nearest> {
        Cofactors::new(s)?.backup(s)
    }
}

/// Δᵢ of the subsets of a simplex: `0[set][i]`, where the bits of `set` are the vertices of the subset.
struct Cofactors([[f64; 4]; 16]);

const fn contains(set: usize, i: usize) -> bool {
    set >> i & 1 == 1
}

impl Cofactors {
    fn new(s: &[V3]) -> Option<Self> {
        let m = s.len();
        if m == 0 || m > 4 {
            return None;
        }
        let mut dot = [[0.0; 4]; 4];
        for i in 0..m {
            for j in 0..=i {
                dot[i][j] = s[i].dot(&s[j]);
                dot[j][i] = dot[i][j];
            }
        }
        // Computed for growing subsets by (2.24) and (2.25).
        let mut delta = [[0.0_f64; 4]; 16];
        for set in 1_usize..1 << m {
            if set.count_ones() == 1 {
                delta[set][set.trailing_zeros() as usize] = 1.0;
                continue;
            }
            for i in (0..m).filter(|i| contains(set, *i)) {
                let rest = set & !(1 << i);
                let l = rest.trailing_zeros() as usize;
                delta[set][i] = (0..m)
                    .filter(|j| contains(rest, *j))
                    .map(|j| delta[rest][j] * (dot[j][l] - dot[j][i]))
                    .sum();
            }
        }
        Some(Self(delta))
    }

    /// Whether all factors of the point of a subset are positive.
    fn is_inside(&self, m: usize, set: usize) -> bool {
        (0..m).filter(|i| contains(set, *i)).all(|i| self.0[set][i] > 0.0)
    }

    /// Point of the subset that is nearest to the origin.
    fn point(&self, s: &[V3], set: usize) -> Nearest {
        let sum: f64 = (0..s.len()).filter(|i| contains(set, *i)).map(|i| self.0[set][i]).sum();
        Nearest::of_set(s, set, |i| self.0[set][i] / sum)
    }

    fn johnson(&self, s: &[V3]) -> Option<Nearest> {
        let m = s.len();
        let is_best =
            |set: usize| (0..m).filter(|i| !contains(set, *i)).all(|i| self.0[set | 1 << i][i] <= 0.0);
        let found = (1_usize..1 << m).find(|set| self.is_inside(m, *set) && is_best(*set));
        found.map(|set| self.point(s, set))
    }

    fn backup(&self, s: &[V3]) -> Option<Nearest> {
        let m = s.len();
        let points = (1_usize..1 << m).filter(|set| self.is_inside(m, *set)).map(|set| self.point(s, set));
        let square = |p: &Nearest| p.point().norm_squared();
        points.min_by(|a, b| square(a).total_cmp(&square(b)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::cases::CaseRandom;

    #[test]
    fn the_backup_procedure_finds_the_same_points() {
        let mut rng = CaseRandom(5);
        for n in 1..=4 {
            for _ in 0..500 {
                let shift = rng.vector() * rng.between(0.0, 2.0);
                let s: Vec<V3> = (0..n).map(|_| rng.vector() + shift).collect();
                let (a, b) = (Johnson.nearest(&s).unwrap(), Backup.nearest(&s).unwrap());
                assert!((a.point() - b.point()).norm() < 1e-10, "{s:?}");
                assert!(JohnsonWithBackup.nearest(&s).is_some());
            }
        }
        // Four points of a plane, where rounding rejects all subsets in Johnson's algorithm for some of them.
        let mut failures = 0;
        for _ in 0..2000 {
            let (u, v, at) = (rng.vector(), rng.vector(), rng.vector());
            let s: Vec<V3> =
                (0..4).map(|_| at + u * rng.between(-1.0, 1.0) + v * rng.between(-1.0, 1.0)).collect();
            failures += usize::from(Johnson.nearest(&s).is_none());
            assert!(JohnsonWithBackup.nearest(&s).is_some(), "{s:?}");
        }
        assert!(failures > 0, "no hard case");
    }
}
