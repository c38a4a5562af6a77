use super::*;
use rand::{Rng, SeedableRng, rngs::SmallRng};
use std::f64::consts::{PI, TAU};

fn circular(a: f64, b: f64) -> f64 {
    let d = math::turn(a - b);
    d.min(TAU - d)
}

/// Returns the roots as angles.
fn angles(p: &TrigPoly) -> Vec<f64> {
    trig_roots(p, 0.0).unwrap().iter().map(|root| root.angle()).collect()
}

/// Returns a trigonometric polynomial with the given roots r, the product of the factors `sin(θ/2 -
/// r/2)`; their number must be even.
fn with_roots(roots: &[f64]) -> TrigPoly {
    let mut p = TrigPoly::linear(1.0, 0.0, 0.0);
    for pair in roots.chunks(2) {
        // 2 sin((θ-a)/2) sin((θ-b)/2) = cos((a-b)/2) - cos(θ - (a+b)/2)
        let (m, d) = (0.5 * (pair[0] + pair[1]), 0.5 * (pair[0] - pair[1]));
        p = p.mul(&TrigPoly::linear(math::cos(d), -math::cos(m), -math::sin(m)));
    }
    p
}

#[test]
fn products_and_derivatives_agree_with_values() {
    let mut rng = SmallRng::seed_from_u64(1);
    for _ in 0..200 {
        let mut make = |deg: usize| {
            let mut p = TrigPoly::default();
            for k in 0..=deg {
                p.cos[k] = rng.random_range(-1.0..1.0);
                p.sin[k] = if k == 0 { 0.0 } else { rng.random_range(-1.0..1.0) };
            }
            p
        };
        let (a, b) = (make(1), make(3));
        let (c, d) = (make(2), make(2));
        let t = rng.random_range(0.0..TAU);
        assert!((a.mul(&b).eval(t) - a.eval(t) * b.eval(t)).abs() < 1e-13, "1 x 3");
        assert!((c.mul(&d).eval(t) - c.eval(t) * d.eval(t)).abs() < 1e-13, "2 x 2");
        assert!((b.derivative().eval(t) - b.eval2(t).1).abs() < 1e-13, "derivative");
        let h = 1e-6;
        assert!((b.eval2(t).1 - (b.eval(t + h) - b.eval(t - h)) / (2.0 * h)).abs() < 1e-8, "difference");
    }
}

#[test]
fn planted_roots_are_found_once_when_apart() {
    let mut rng = SmallRng::seed_from_u64(2);
    for round in 0..3000 {
        let n = 2 * rng.random_range(1..=4);
        let planted: Vec<f64> = (0..n)
            .map(|_| {
                if round % 3 == 0 {
                    f64::from(rng.random_range(0..8)) * FRAC_PI_2 / 2.0
                } else {
                    rng.random_range(0.0..TAU)
                }
            })
            .collect();
        let gap = |i: usize| {
            (0..n).filter(|&j| j != i).map(|j| circular(planted[i], planted[j])).fold(9.0, f64::min)
        };
        let p = with_roots(&planted).scale(math::powf(10.0, rng.random_range(-9.0..9.0)));
        let found = angles(&p);
        for i in 0..n {
            let near = found.iter().map(|&f| circular(f, planted[i])).fold(9.0, f64::min);
            // Multiple roots at the multiples of π/4 are at most eight-fold.
            assert!(near < 0.03, "round {round}: root {} lost by {near}", planted[i]);
            if gap(i) > 0.2 {
                let worst = 1e-9;
                let count = found.iter().filter(|&&f| circular(f, planted[i]) < 0.05).count();
                assert!(near < worst, "round {round}: root {} off by {near}", planted[i]);
                assert_eq!(count, 1, "round {round}: root {} of {planted:?} in {found:?}", planted[i]);
            }
        }
        for f in &found {
            let near = planted.iter().map(|&r| circular(*f, r)).fold(9.0, f64::min);
            assert!(near < 0.03, "round {round}: spurious root {f}");
            assert!((0.0..=TAU).contains(f), "range");
        }
    }
}

#[test]
fn double_roots_and_near_misses_are_reported() {
    for shift in [0.0, 1e-16, -1e-16, 1e-15, -1e-12, -1e-6, -1e-2] {
        for at in [0.0, 0.3, FRAC_PI_2, PI, 3.5, FIRST_CENTER + FRAC_PI_2 / 2.0, TAU - 1e-4] {
            // 1 + shift - cos(θ - at)
            let p = TrigPoly::linear(1.0 + shift, -math::cos(at), -math::sin(at));
            let found = angles(&p);
            assert!(!found.is_empty() && found.len() <= 3, "{shift} {at}: {found:?}");
            let apart = math::acos(1.0 + shift);
            for f in &found {
                assert!((circular(*f, at) - apart).abs() < 1e-7, "{shift} {at}: {found:?}");
            }
        }
    }
    let clear = trig_roots(&TrigPoly::linear(1.0 + 1e-13, -1.0, 0.0), 0.0).unwrap();
    assert!(clear.is_empty(), "no root within rounding: {clear:?}");
}

#[test]
fn vanishing_polynomials_are_detected() {
    assert!(trig_roots(&TrigPoly::default(), 0.0).is_none(), "zero");
    let small = TrigPoly::linear(1e-14, 1e-14, 0.0);
    assert!(trig_roots(&small, 1e-13).is_none(), "within the noise");
    assert_eq!(trig_roots(&small, 0.0).unwrap().len(), 1, "double root at pi");
    assert!(trig_roots(&TrigPoly::linear(1.0, 0.0, 0.0), 0.0).unwrap().is_empty(), "constant");
    assert!(trig_roots(&TrigPoly::linear(f64::NAN, 0.0, 0.0), 0.0).is_none(), "not a number");
}

#[test]
fn polynomial_roots_match_planted_ones() {
    let mut rng = SmallRng::seed_from_u64(3);
    for round in 0..2000 {
        let n = rng.random_range(1..=8);
        let scale = math::powf(10.0, rng.random_range(-6.0..6.0));
        let mut planted: Vec<f64> = (0..n).map(|_| scale * rng.random_range(-3.0..3.0)).collect();
        planted.sort_by(f64::total_cmp);
        let apart = planted.windows(2).all(|w| w[1] - w[0] > 0.1 * scale);
        if !apart {
            continue;
        }
        let mut c = vec![1.0];
        for r in &planted {
            let mut next = vec![0.0; c.len() + 1];
            for (k, v) in c.iter().enumerate() {
                next[k] -= r * v;
                next[k + 1] += v;
            }
            c = next;
        }
        let found = poly_roots(&c).unwrap();
        assert_eq!(found.len(), n, "round {round}: {planted:?} {found:?}");
        for (f, r) in found.iter().zip(&planted) {
            assert!((f - r).abs() < 1e-7 * scale, "round {round}: {f} {r}");
        }
    }
}

#[test]
fn polynomial_corner_cases() {
    assert!(poly_roots(&[]).is_none() && poly_roots(&[0.0, 0.0]).is_none(), "zero");
    assert!(poly_roots(&[1.0]).unwrap().is_empty(), "constant");
    assert_eq!(poly_roots(&[0.0, 0.0, 2.0]).unwrap().as_slice(), &[0.0], "x²");
    assert!(poly_roots(&[1.0, 0.0, 1.0]).unwrap().is_empty(), "x² + 1");
    let double = poly_roots(&[1.0, -2.0, 1.0]).unwrap();
    assert!(!double.is_empty() && double.iter().all(|r| (r - 1.0).abs() < 1e-6), "{double:?}");
    let wide = poly_roots(&[1.0, -1e8, 1.0]).unwrap();
    assert!(wide.len() == 2 && (wide[0] * 1e8 - 1.0).abs() < 1e-12, "{wide:?}");
    assert!(poly_roots(&[f64::NAN, 1.0]).is_none(), "not a number");
}
