//! Which contacts a solver needs.

use crate::{FeatureKind, FeatureRef, Lmd, LmdClass};
use feeler_geom::frame::complete_basis;
use feeler_geom::{P3, V3, math};
use std::f64::consts::TAU;

/// Directions in which places in space are looked at: as many are kept at most.
const DIRECTIONS: usize = 26;
/// The same for places in one plane.
const FLAT_DIRECTIONS: u32 = 12;

/// How much the directions are turned out of the axes: along these the corners of parts would tie.
const SKEW: [f64; 2] = [0.137, 0.071];

/// How far places in one plane, or on one line, are off it, as a part of how far they are apart; and the
/// angle (rad) between normals that are one.
const FLAT: f64 = 1e-5;

/// The same (mm) for places that are hardly apart.
const ROUNDING: f64 = 1e-9;

/// Puts the places, in `lmds`, of those contacts into `chosen` that carry the loads, ascending: all minima
/// but quasi-LMDs, and of the samples of conformal sets those that reach farthest in any of some directions
/// of A: the 2 ends of a set along a line, at most 12 of a set in a plane, at most 26 of any other. Sets
/// whose sides lie in one plane each, with its normal, count as one, whatever features they are between.
///
/// Of flat sets the gap changes linearly from place to place: the others stay open when the corners do, up to
/// what a rounded outline bulges between two of the directions. What solids do next shows in the next query.
pub fn load_bearing(lmds: &[Lmd], chosen: &mut Vec<usize>) {
    chosen.clear();
    chosen.extend((0..lmds.len()).filter(|&k| lmds[k].class != LmdClass::Quasi));
    let set = |k: usize| (lmds[k].class == LmdClass::Conformal).then(|| features(&lmds[k]));
    chosen.sort_unstable_by_key(|&k| (set(k), k));
    let end_of_set = |chosen: &[usize], start: usize| {
        let this = set(chosen[start]);
        chosen[start..].iter().position(|&k| set(k) != this).map_or(chosen.len(), |n| start + n)
    };
    let mut read = chosen.iter().position(|&k| set(k).is_some()).unwrap_or(chosen.len());
    let mut kept = read;
    while read < chosen.len() {
        let mut end = end_of_set(chosen, read);
        if let Some(level) = Level::of(lmds, &chosen[read..end]) {
            // The other sets of its level are brought beside it.
            let mut other = end;
            while other < chosen.len() {
                let next = end_of_set(chosen, other);
                if Level::of(lmds, &chosen[other..next]).is_some_and(|o| level.is_one_with(&o)) {
                    chosen[end..next].rotate_left(other - end);
                    end += next - other;
                }
                other = next;
            }
        }
        let set = &chosen[read..end];
        let farthest = Outermost::of(set.len(), |i| lmds[set[i]].local_a);
        let of_all = farthest.places.map(|i| set.get(i).copied().unwrap_or_default());
        chosen[kept..kept + farthest.count].copy_from_slice(&of_all[..farthest.count]);
        kept += farthest.count;
        read = end;
    }
    chosen.truncate(kept);
    chosen.sort_unstable();
}

fn features(lmd: &Lmd) -> [(FeatureKind, u32); 2] {
    let feature = |f: &FeatureRef| (f.kind, f.index);
    [feature(&lmd.feature_a), feature(&lmd.feature_b)]
}

/// The planes of A's and of B's side of a set (world).
#[derive(Clone, Copy, Debug)]
struct Level {
    normal: V3,
    places: [P3; 2],
}

impl Level {
    /// None where a sample is off the planes of the first one.
    fn of(lmds: &[Lmd], set: &[usize]) -> Option<Self> {
        let plane = |k: usize| {
            let l: &Lmd = &lmds[k];
            Self { normal: l.normal, places: [l.point_a, l.point_b] }
        };
        let first = plane(*set.first()?);
        set.iter().all(|&k| first.is_one_with(&plane(k))).then_some(first)
    }

    fn is_one_with(&self, other: &Self) -> bool {
        let is_level = |side: usize| {
            let between = other.places[side] - self.places[side];
            between.dot(&self.normal).abs() <= FLAT * between.norm() + ROUNDING
        };
        (self.normal - other.normal).norm() <= FLAT && is_level(0) && is_level(1)
    }
}

/// Of some places those that reach farthest in any of some directions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outermost {
    /// Their numbers, ascending; beyond the count none.
    pub places: [usize; DIRECTIONS],
    pub count: usize,
}

impl Outermost {
    /// Of places 0 to `n`; of equal ones the first.
    pub(crate) fn of(n: usize, place: impl Fn(usize) -> P3) -> Self {
        let farthest = |direction: &dyn Fn(&P3) -> f64| {
            let mut best = (f64::NEG_INFINITY, 0);
            for i in 0..n {
                let reach = direction(&place(i));
                if reach > best.0 {
                    best = (reach, i);
                }
            }
            best.1
        };
        let mut out = Self { places: [0; DIRECTIONS], count: 0 };
        if n == 0 {
            return out;
        }
        let along = |d: V3| farthest(&|p| d.dot(&p.coords));
        let start = place(along(direction(0)));
        let chord = place(farthest(&|p| (p - start).norm_squared())) - start;
        let off = |p: &P3| (p - start).cross(&chord);
        let across = off(&place(farthest(&|p| off(p).norm_squared())));
        if across.norm() <= FLAT * chord.norm_squared() {
            out.keep([chord, -chord].map(along).into_iter());
            return out;
        }
        // Which side it is seen from must not depend on where it begins.
        let normal = across.normalize();
        let normal = if normal[normal.iamax()] < 0.0 { -normal } else { normal };
        if (0..n).all(|i| normal.dot(&(place(i) - start)).abs() <= FLAT * chord.norm()) {
            let (x, y) = complete_basis(&normal);
            let at = |k: u32| {
                let (sin, cos) = math::sin_cos(SKEW[0] + TAU * f64::from(k) / f64::from(FLAT_DIRECTIONS));
                along(x * cos + y * sin)
            };
            out.keep((0..FLAT_DIRECTIONS).map(at));
        } else {
            out.keep((0..DIRECTIONS).map(|k| along(direction(k))));
        }
        out
    }

    fn keep(&mut self, places: impl Iterator<Item = usize>) {
        for place in places {
            if let Err(at) = self.places[..self.count].binary_search(&place) {
                self.places.copy_within(at..self.count, at + 1);
                self.places[at] = place;
                self.count += 1;
            }
        }
    }
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

    fn samples(places: &[(u32, P3)]) -> Vec<Lmd> {
        places.iter().map(|&(face, p)| Lmd::plain(LmdClass::Conformal, face, p)).collect()
    }

    fn chosen(lmds: &[Lmd]) -> Vec<usize> {
        let mut chosen = vec![7];
        load_bearing(lmds, &mut chosen);
        chosen
    }

    #[test]
    fn minima_stay_and_quasi_minima_go() {
        let at = |k: u32| P3::new(f64::from(k), 0.0, 0.0);
        let class = |k: u32| if k.is_multiple_of(2) { LmdClass::Strict } else { LmdClass::Quasi };
        let lmds: Vec<Lmd> = (0..40).map(|k| Lmd::plain(class(k), k % 4, at(k))).collect();
        assert_eq!(chosen(&lmds), (0..40).filter(|k| k % 2 == 0).collect::<Vec<_>>());
        assert!(chosen(&[]).is_empty());
    }

    #[test]
    fn a_line_has_two_ends_and_a_point_one() {
        let on_line = |k: u32| (2, P3::new(1.0, 2.0, f64::from((k * 7) % 11)));
        assert_eq!(chosen(&samples(&(0..11).map(on_line).collect::<Vec<_>>())), [0, 3]);
        assert_eq!(chosen(&samples(&[(1, P3::origin()), (1, P3::origin())])), [0]);
    }

    /// A frame of four strips with a fifth one above them.
    #[test]
    fn sets_of_one_plane_are_one() {
        let strip = |face: u32| {
            let z = if face == 4 { 1.0 } else { 0.0 };
            (0..30).map(move |k| {
                let s = f64::from(k) - 14.5;
                let (x, y) = match face {
                    0 => (s, 14.5),
                    1 => (s, -14.5),
                    2 => (14.5, s),
                    _ => (-14.5, s),
                };
                (face, P3::new(x, y, z))
            })
        };
        let lmds = samples(&(0..5).flat_map(strip).collect::<Vec<_>>());
        let kept = chosen(&lmds);
        let corner = |k: &&usize| lmds[**k].local_a.coords.xy().abs().min() > 14.0;
        let (above, level): (Vec<_>, Vec<_>) = kept.iter().partition(|k| lmds[**k].local_a.z > 0.5);
        assert!(above.len() == 2 && level.len() == 4 && level.iter().all(|k| corner(&k)), "{kept:?}");
    }

    /// A pad of B that touches a flat face, and a ring around it that does not yet.
    #[test]
    fn sets_of_other_gaps_are_others() {
        let ring = |face: u32, radius: f64, gap: f64| {
            (0..24).map(move |k| {
                let angle = TAU * f64::from(k) / 24.0;
                let p = P3::new(radius * math::cos(angle), radius * math::sin(angle), 0.0);
                let raised = p + V3::z() * gap;
                let lmd = Lmd::plain(LmdClass::Conformal, face, p);
                Lmd { gap, distance: gap, point_b: raised, local_b: raised, ..lmd }
            })
        };
        let lmds: Vec<Lmd> = ring(0, 5.0, -0.001).chain(ring(1, 10.0, 0.2)).collect();
        let kept = chosen(&lmds);
        assert!(kept.iter().filter(|k| **k < 24).count() >= 8, "{kept:?}");
        assert!(kept.iter().filter(|k| **k >= 24).count() >= 8, "{kept:?}");
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
            let chosen = chosen(&lmds);
            assert!((9..=13).contains(&chosen.len()) && chosen.contains(&240), "{chosen:?}");
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
            // Between directions 30° apart, of samples 24° apart.
            let widest = (30.0_f64 + 24.0).to_radians() + 1e-9;
            assert!(angles.windows(2).all(|w| w[1] - w[0] <= widest), "{angles:?}");
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
