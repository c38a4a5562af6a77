//! A spring of six cubics, compressed: the numbers that its neighbouring turns are known by.

use std::f64::consts::TAU;

use feeler_curves::{Curve, CurveOptions, CurvePair, P3};

/// Three turns of radius 10 in six half turns.
fn spring(pitch: f64) -> Vec<P3> {
    let (r, turns, pieces) = (10.0_f64, 3.0, 6);
    let h = TAU * turns / f64::from(pieces);
    let k = 4.0 / 3.0 * (h / 4.0).tan();
    let mut points = Vec::new();
    for i in 0..pieces {
        let (s, c) = (f64::from(i) * h).sin_cos();
        let (s1, c1) = (f64::from(i + 1) * h).sin_cos();
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

#[test]
fn turns_of_a_spring() {
    for pitch in [8.0, 4.0, 2.5, 2.05] {
        let curve = Curve::new(3, &spring(pitch), 1.0, false).unwrap();
        let mut pair = CurvePair::new();
        let found = pair.query_itself(&curve, &CurveOptions { d_max: 8.0, ..CurveOptions::default() });
        println!("pitch {pitch}: {} {:?}", found.len(), 0);
        for m in found {
            println!("  {:.6} {:.6}  {:.6}  {:?} {:?}", m.u[0], m.u[1], m.distance, m.places, m.set);
        }
        println!("{:?}", pair.stats());
    }
}
