//! Pairs of small hulls that are hard for distance algorithms, and the verification of results.

use super::exact;
use feeler_geom::{P3, V3};

/// Small random number generator (`SplitMix64`) with the same sequence on every platform.
#[derive(Clone, Debug)]
pub struct CaseRandom(pub u64);

impl CaseRandom {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns an integer in [0, `n`).
    pub fn below(&mut self, n: u32) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "the value is below n")]
        let i = (self.next() % u64::from(n)) as usize;
        i
    }

    /// Returns a number in [lo, hi).
    pub fn between(&mut self, lo: f64, hi: f64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "53 bits")]
        let unit = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        lo + (hi - lo) * unit
    }

    /// Returns a vector with components in [-1, 1).
    pub fn vector(&mut self) -> V3 {
        V3::from_fn(|_, _| self.between(-1.0, 1.0))
    }

    /// Returns ten to the power of a number in [lo, hi).
    pub fn decades(&mut self, lo: f64, hi: f64) -> f64 {
        feeler_geom::math::powf(10.0, self.between(lo, hi))
    }
}

/// Names of the kinds of pairs that [`hard_pair`] makes.
pub const KINDS: [&str; 9] = [
    "clouds",
    "boxes with parallel faces",
    "slivers to 1e-6",
    "coincident vertices",
    "points of a grid",
    "bodies of very different size",
    "flat and straight point sets",
    "far from the origin",
    "huge and tiny coordinates",
];

/// Returns two sets of about one to eight points, of the kind `KINDS[kind]`. Half of the pairs are moved
/// close together, to a gap of 1e-14 to 1 (before the last two kinds are shifted or scaled) or to
/// contact.
pub fn hard_pair(rng: &mut CaseRandom, kind: usize) -> (Vec<P3>, Vec<P3>) {
    let cloud =
        |rng: &mut CaseRandom| -> Vec<P3> { (0..=rng.below(8)).map(|_| P3::from(rng.vector())).collect() };
    let (mut a, mut b) = (cloud(rng), cloud(rng));
    let turn = nalgebra::Rotation3::new(rng.vector() * 3.0);
    match kind {
        1 => {
            let corners = |half: V3| -> Vec<P3> {
                (0..8)
                    .map(|i: i32| V3::from_fn(|k, _| if i >> k & 1 == 1 { half[k] } else { -half[k] }))
                    .map(P3::from)
                    .collect()
            };
            (a, b) = (corners(rng.vector().abs()), corners(rng.vector().abs()));
        }
        2 => {
            for set in [&mut a, &mut b] {
                let thin = V3::from_fn(|_, _| if rng.below(2) == 0 { 1.0 } else { rng.decades(-6.0, 0.0) });
                let own = nalgebra::Rotation3::new(rng.vector() * 3.0);
                // Half of the sets share a rotation, so that they are nearly parallel.
                let own = if rng.below(2) == 0 { own } else { turn };
                set.iter_mut().for_each(|p| *p = own * P3::from(p.coords.component_mul(&thin)));
            }
        }
        3 => {
            let n = a.len();
            a.extend_from_within(..n.min(2));
            let copied: Vec<P3> = a.iter().copied().take(1 + rng.below(2)).collect();
            b.extend(copied);
        }
        4 => {
            for set in [&mut a, &mut b] {
                set.iter_mut().for_each(|p| p.coords = p.coords.map(|c| (c * 2.0).round()));
            }
        }
        5 => {
            let f = rng.decades(-8.0, 0.0);
            b.iter_mut().for_each(|p| p.coords *= f);
        }
        6 => {
            for set in [&mut a, &mut b] {
                let n = rng.below(3);
                let (u, v) = (rng.vector(), rng.vector());
                set.iter_mut().for_each(|p| {
                    p.coords = match n {
                        0 => u * p.x + v * p.y,
                        1 => u * p.x,
                        _ => P3::from(turn * V3::new(p.x, p.y, 0.0)).coords,
                    }
                });
            }
        }
        _ => {}
    }
    if rng.below(2) == 0 || kind == 1 {
        let shift = rng.vector() * [0.5, 3.0, 30.0][rng.below(3)];
        b.iter_mut().for_each(|p| *p += shift);
    }
    if kind == 1 && rng.below(2) == 0 {
        for set in [&mut a, &mut b] {
            set.iter_mut().for_each(|p| *p = turn * *p);
        }
    }
    if rng.below(2) == 0 {
        bring_close(rng, &a, &mut b);
    }
    let (offset, scale) = match kind {
        7 => (rng.vector() * rng.decades(0.0, 7.0), 1.0),
        8 => (V3::zeros(), rng.decades(-150.0, 150.0)),
        _ => (V3::zeros(), 1.0),
    };
    for p in a.iter_mut().chain(&mut b) {
        p.coords = (p.coords + offset) * scale;
    }
    (a, b)
}

/// Moves the set `b` along the line through the closest points of both hulls, to a gap of 1e-14 to 1 or,
/// in one of eight cases, to contact. Sets whose hulls overlap are not moved.
fn bring_close(rng: &mut CaseRandom, a: &[P3], b: &mut [P3]) {
    let answer = crate::distance(
        &match crate::PointSet::new(a) {
            Ok(a) => a,
            Err(_) => return,
        },
        &match crate::PointSet::new(b) {
            Ok(b) => b,
            Err(_) => return,
        },
        &crate::DistanceRequest::default(),
    );
    if answer.distance > 0.0 {
        let gap = if rng.below(8) == 0 { 0.0 } else { rng.decades(-14.0, 0.0) };
        let back = answer.direction * (gap - answer.distance);
        b.iter_mut().for_each(|p| *p += back);
    }
}

/// Errors of a result for two sets of points, compared with the exact distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CaseErrors {
    /// Magnitude of the error of the distance, relative to the exact distance; 0 for touching and
    /// overlapping sets.
    pub relative: f64,
    /// Magnitude of the error of the distance, relative to the largest absolute coordinate of a point of
    /// the two sets.
    pub to_size: f64,
    /// Exact distance, relative to the largest absolute coordinate of a point of the two sets; 0 for
    /// touching and overlapping sets.
    pub gap: f64,
}

/// Verifies a result of [`distance`](crate::distance) for the hulls of two sets of points against bounds
/// of the exact distance, and returns its errors.
///
/// # Errors
/// A message with the reason why the result is wrong.
pub fn compare_with_exact(a: &[P3], b: &[P3], answer: &crate::DistanceResult) -> Result<CaseErrors, String> {
    use crate::DistanceOutcome;
    let size = a.iter().chain(b).fold(0.0, |m: f64, p| m.max(p.coords.amax()));
    let unit = crate::power_of_two(-crate::exponent(size).clamp(-1000, 1000));
    let scaled = |set: &[P3]| -> Vec<P3> { set.iter().map(|p| p * unit).collect() };
    let (a, b, size, distance) = (scaled(a), scaled(b), size * unit, answer.distance * unit);
    let touch = 16.0 * f64::EPSILON * size;
    let pairs: Vec<(usize, usize)> =
        answer.witness.vertices.iter().map(|v| (v.a.index as usize, v.b.index as usize)).collect();
    let near = |exact: &exact::Exact| exact.upper.value() <= touch * 1.25;
    match answer.outcome {
        DistanceOutcome::Overlapping => {
            if let [i, j, k, l] = pairs[..]
                && exact::strictly_inside(
                    &[a[i.0], a[j.0], a[k.0], a[l.0]],
                    &[b[i.1], b[j.1], b[k.1], b[l.1]],
                )
            {
                return Ok(CaseErrors { relative: 0.0, to_size: 0.0, gap: 0.0 });
            }
            let exact = exact::distance(&a, &b, &pairs);
            if near(&exact) {
                Ok(CaseErrors { relative: 0.0, to_size: exact.upper.value() / size, gap: 0.0 })
            } else {
                Err(format!("outcome is overlapping, but the distance is {:e}", exact.upper.value()))
            }
        }
        DistanceOutcome::Touching => {
            let exact = exact::distance(&a, &b, &pairs);
            let gap = exact::gap(&a, &b, &answer.direction);
            if !near(&exact) {
                Err(format!("outcome is touching, but the distance is {:e}", exact.upper.value()))
            } else if !(gap >= -1.25 * touch) {
                Err(format!("outcome is touching, but the gap is {gap:e}"))
            } else {
                Ok(CaseErrors { relative: 0.0, to_size: exact.upper.value() / size, gap: 0.0 })
            }
        }
        DistanceOutcome::Separated => {
            let exact = exact::distance(&a, &b, &pairs);
            let d = exact.upper.value();
            // Half a bit of the coordinates is a sufficient proof.
            if exact.width() > (1e-14 * d).max(0.125 * f64::EPSILON * size) {
                return Err(format!("the distance {d:e} is only proven to {:e}", exact.width()));
            }
            let error = exact.error(distance).abs();
            Ok(CaseErrors { relative: error / d, to_size: error / size, gap: d / size })
        }
        other => Err(format!("unexpected outcome {other:?}")),
    }
}
