//! Which contacts a solver needs.

use crate::{FeatureKind, FeatureRef, Lmd, LmdClass};
use feeler_geom::{P3, V3};

/// Directions in which the samples of a set are looked at.
const DIRECTIONS: usize = 26;

/// How much the directions are turned out of the axes: along these the corners of parts would tie.
const SKEW: [f64; 2] = [0.137, 0.071];

/// Puts the places, in `lmds`, of those contacts into `chosen` that carry the loads, ascending: all minima
/// but quasi-LMDs, and of the samples of conformal sets between the same two features those that reach
/// farthest in any of 26 directions of A, at most as many.
///
/// Of flat sets the gap changes linearly from place to place: the others stay open when the corners do, up to
/// what a rounded outline bulges between two of the 26. What solids do next shows in the next query.
pub fn load_bearing(lmds: &[Lmd], chosen: &mut Vec<usize>) {
    chosen.clear();
    chosen.extend((0..lmds.len()).filter(|&k| lmds[k].class != LmdClass::Quasi));
    let set = |k: usize| (lmds[k].class == LmdClass::Conformal).then(|| features(&lmds[k]));
    chosen.sort_unstable_by_key(|&k| (set(k), k));
    let (mut read, mut kept) = (0, 0);
    while read < chosen.len() {
        let this = set(chosen[read]);
        let end = chosen[read..].iter().position(|&k| set(k) != this).map_or(chosen.len(), |n| read + n);
        let run = if this.is_some() && end - read > DIRECTIONS {
            let farthest = outermost(lmds, &chosen[read..end]);
            chosen[kept..kept + DIRECTIONS].copy_from_slice(&farthest);
            DIRECTIONS
        } else {
            chosen.copy_within(read..end, kept);
            end - read
        };
        (read, kept) = (end, kept + run);
    }
    chosen.truncate(kept);
    chosen.sort_unstable();
    chosen.dedup();
}

fn features(lmd: &Lmd) -> [(FeatureKind, u32); 2] {
    let feature = |f: &FeatureRef| (f.kind, f.index);
    [feature(&lmd.feature_a), feature(&lmd.feature_b)]
}

/// For each direction the sample that reaches farthest; of equal ones the first.
fn outermost(lmds: &[Lmd], samples: &[usize]) -> [usize; DIRECTIONS] {
    let mut best = [(f64::NEG_INFINITY, 0); DIRECTIONS];
    let directions: [V3; DIRECTIONS] = std::array::from_fn(direction);
    for &k in samples {
        let place: P3 = lmds[k].local_a;
        for (b, d) in best.iter_mut().zip(&directions) {
            let reach = d.dot(&place.coords);
            if reach > b.0 {
                *b = (reach, k);
            }
        }
    }
    best.map(|b| b.1)
}

/// To the middles of the faces, edges and corners of a cube that is a little skewed.
fn direction(k: usize) -> V3 {
    // The middle of the 27 is none.
    let k = if k < DIRECTIONS / 2 { k } else { k + 1 };
    let step = |digit: usize| [-1.0, 0.0, 1.0][digit % 3];
    let d = V3::new(step(k), step(k / 3), step(k / 9));
    d + V3::new(d.y, d.z, d.x) * SKEW[0] + V3::new(d.z, d.x, d.y) * SKEW[1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_geom::math;
    use std::f64::consts::TAU;

    #[test]
    fn minima_and_small_sets_stay_and_quasi_minima_go() {
        let lmds: Vec<Lmd> = (0..40)
            .map(|k| {
                let class =
                    [LmdClass::Strict, LmdClass::Conformal, LmdClass::Quasi, LmdClass::Conformal][k % 4];
                let x = f64::from(u32::try_from(k).unwrap());
                Lmd::plain(class, u32::try_from(k % 4).unwrap(), P3::new(x, 0.0, 0.0))
            })
            .collect();
        let mut chosen = vec![7];
        load_bearing(&lmds, &mut chosen);
        assert_eq!(chosen, (0..40).filter(|k| k % 4 != 2).collect::<Vec<_>>());
        load_bearing(&[], &mut chosen);
        assert!(chosen.is_empty());
    }

    /// Of a disc with samples everywhere: few are kept, all of its rim, and they go all round.
    #[test]
    fn of_a_disc_corners_all_round_are_kept() {
        for turned in [0.0, 0.3, 1.1] {
            let at = |k: u32| {
                let (angle, r) = (turned + TAU * f64::from(k) / 60.0, 10.0 - f64::from(k % 4));
                P3::new(r * math::cos(angle), r * math::sin(angle), 5.0)
            };
            let mut lmds: Vec<Lmd> = (0..240).map(|k| Lmd::plain(LmdClass::Conformal, 3, at(k))).collect();
            lmds.push(Lmd::plain(LmdClass::Strict, 3, P3::origin()));
            let mut chosen = Vec::new();
            load_bearing(&lmds, &mut chosen);
            assert!(chosen.len() <= 27 && chosen.contains(&240), "{chosen:?}");
            let mut angles: Vec<f64> = chosen[..chosen.len() - 1]
                .iter()
                .map(|&k| {
                    let p = lmds[k].local_a;
                    assert!(p.coords.xy().norm() > 9.9, "{p}");
                    math::atan2(p.y, p.x).rem_euclid(TAU)
                })
                .collect();
            angles.sort_by(f64::total_cmp);
            angles.push(angles[0] + TAU);
            assert!(angles.windows(2).all(|w| w[1] - w[0] < 0.9), "{angles:?}");
        }
    }

    #[test]
    fn no_direction_is_another_ones() {
        for i in 0..DIRECTIONS {
            let d = direction(i);
            assert!(d.norm() > 0.5);
            assert!((0..i).all(|j| d.normalize().dot(&direction(j).normalize()) < 0.95), "{i}");
        }
    }
}
