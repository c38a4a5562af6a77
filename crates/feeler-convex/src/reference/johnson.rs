//! Johnson's recursive sub-algorithm, without a backup procedure.
//!
//! # Source
//! DIST §2.5.2, Eqs. (2.19) to (2.25).
//!
//! # Deviations
//! None. If no subset satisfies (2.19) because of rounding, the algorithm fails, which is its known
//! weakness.

use crate::gjk::SubAlgorithm;
use crate::signed_volumes::Nearest;
use feeler_geom::V3;

/// Johnson's sub-algorithm of GJK, which computes the point of a simplex nearest to the origin. It loses
/// about half of the digits on flat simplices, and fails if rounding rejects all subsets of vertices.
#[derive(Clone, Copy, Debug, Default)]
pub struct Johnson;

impl SubAlgorithm for Johnson {
    fn nearest(&self, s: &[V3]) -> Option<Nearest> {
        johnson(s)
    }
}

fn johnson(s: &[V3]) -> Option<Nearest> {
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
    // delta[set][i] is Δᵢ of the subset with these bits, computed for growing subsets by (2.24) and
    // (2.25).
    let mut delta = [[0.0_f64; 4]; 16];
    let contains = |set: usize, i: usize| set >> i & 1 == 1;
    for set in 1_usize..1 << m {
        if set.count_ones() == 1 {
            delta[set][set.trailing_zeros() as usize] = 1.0;
            continue;
        }
        for i in (0..m).filter(|i| contains(set, *i)) {
            let rest = set & !(1 << i);
            let l = rest.trailing_zeros() as usize;
            delta[set][i] =
                (0..m).filter(|j| contains(rest, *j)).map(|j| delta[rest][j] * (dot[j][l] - dot[j][i])).sum();
        }
    }
    for set in 1_usize..1 << m {
        let inside = (0..m).filter(|i| contains(set, *i)).all(|i| delta[set][i] > 0.0);
        let best = (0..m).filter(|i| !contains(set, *i)).all(|i| delta[set | 1 << i][i] <= 0.0);
        if inside && best {
            let sum: f64 = (0..m).filter(|i| contains(set, *i)).map(|i| delta[set][i]).sum();
            return Some(Nearest::of_set(s, set, |i| delta[set][i] / sum));
        }
    }
    None
}
