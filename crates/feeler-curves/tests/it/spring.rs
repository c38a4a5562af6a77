//! A spring of six cubics, compressed: known counts and distances of the minima between its turns.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::f64::consts::TAU;

use feeler_curves::{Curve, CurveLocation, CurveOptions, CurvePair, P3};
use feeler_geom::math;

/// Three turns of radius 10 as six half turns.
fn spring(pitch: f64) -> Vec<P3> {
    let (r, turns, pieces) = (10.0_f64, 3.0, 6);
    let h = TAU * turns / f64::from(pieces);
    let k = 4.0 / 3.0 * math::tan(h / 4.0);
    let mut points = Vec::new();
    for i in 0..pieces {
        let (s, c) = math::sin_cos(f64::from(i) * h);
        let (s1, c1) = math::sin_cos(f64::from(i + 1) * h);
        let (z, z1) = (pitch * f64::from(i) * h / TAU, pitch * f64::from(i + 1) * h / TAU);
        let dz = pitch * h / TAU / 3.0;
        points.push(P3::new(r * c, r * s, z));
        points.push(P3::new(r * c - r * s * k, r * s + r * c * k, z + dz));
        points.push(P3::new(r * c1 + r * s1 * k, r * s1 - r * c1 * k, z1 - dz));
        if i + 1 == pieces {
            points.push(P3::new(r * c1, r * s1, z1));
        }
    }
    points
}

/// Counts and distances of the strict inner minima between points one, two or more turns apart.
#[test]
fn turns_of_a_spring() {
    let expected = [
        (8.0, 8, [7.928_905, f64::NAN]),
        (4.0, 12, [3.991_030, 7.982_057]),
        (2.5, 12, [2.497_806, 4.995_611]),
        (2.05, 12, [2.048_790, 4.097_579]),
    ];
    let mut pair = CurvePair::new();
    for (pitch, n, distances) in expected {
        let curve = Curve::new(3, &spring(pitch), 1.0, false).unwrap();
        let found = pair.query_itself(&curve, &CurveOptions { d_max: 8.0, ..CurveOptions::default() });
        let strict: Vec<_> =
            found.iter().filter(|m| m.places == [CurveLocation::Inside; 2] && m.set.is_none()).collect();
        assert_eq!(strict.len(), n, "pitch {pitch}");
        for m in strict {
            assert!((m.u[1] - m.u[0] - 1.99).abs() < 0.03 || (m.u[1] - m.u[0] - 3.99).abs() < 0.03);
            assert!(distances.iter().any(|d| (m.distance - d).abs() < 1e-6), "pitch {pitch}: {m:?}");
        }
        assert_eq!(pair.stats().n_undecided, 0);
    }
}
