//! What a step costs, counted: allocations, and how visited pairs grow with the pieces of a cable.
#![expect(clippy::print_stdout, reason = "the test reports what it counted")]

use std::f64::consts::TAU;

use feeler_curves::{Curve, CurveOptions, CurvePair, P3, V3};

/// A spring of three turns of radius 10 in six cubics, as points and derivatives.
fn spring(pitch: f64) -> (Vec<P3>, Vec<V3>) {
    let (r, h) = (10.0, 0.5 * TAU);
    (0..=6)
        .map(|i| {
            let a = f64::from(i) * h;
            let (s, c) = a.sin_cos();
            // Half turns whose derivatives are 4 tan(π/4) radii long are nearly round.
            let k = 4.0 * r;
            (P3::new(r * c, r * s, pitch * a / TAU), V3::new(-k * s, k * c, pitch * h / TAU))
        })
        .unzip()
}

/// Control points of cubics.
fn control(points: &[P3], derivatives: &[V3]) -> Vec<P3> {
    let mut out = Vec::new();
    for (p, d) in points.windows(2).zip(derivatives.windows(2)) {
        out.extend([p[0], p[0] + d[0] / 3.0, p[1] - d[1] / 3.0]);
    }
    out.extend(points.last());
    out
}

/// A cable along x that waves, with one loop in its middle whose ends pass each other at a distance of 2.2.
fn looped_cable(n_pieces: usize) -> Vec<P3> {
    const LOOP: usize = 8;
    let (r, h) = (10.0, TAU / LOOP as f64);
    let straight = r * h;
    let first = (n_pieces - LOOP) / 2;
    let (mut points, mut derivatives) = (Vec::new(), Vec::new());
    for i in 0..=n_pieces {
        let (angle, x) = if i <= first {
            (0.0, straight * (i as f64 - first as f64))
        } else if i < first + LOOP {
            ((i - first) as f64 * h, 0.0)
        } else {
            (TAU, straight * (i - first - LOOP) as f64)
        };
        let (s, c) = angle.sin_cos();
        let wave = x * x / (1.0 + x * x);
        let away = 0.3 * wave * (0.7 * x).sin();
        points.push(P3::new(x + r * s, r - r * c, 2.2 * angle / TAU + away));
        derivatives.push(V3::new(straight * c, straight * s, 0.2));
    }
    control(&points, &derivatives)
}

#[test]
fn steps_of_a_spring_allocate_nothing() {
    let frames: Vec<Vec<P3>> = (0..60)
        .map(|k| {
            let (points, derivatives) = spring(5.025 + 2.975 * (TAU * f64::from(k) / 60.0).cos());
            control(&points, &derivatives)
        })
        .collect();
    let mut curve = Curve::new(3, &frames[0], 1.0, false).unwrap();
    let mut pair = CurvePair::new();
    let options = CurveOptions { d_max: 2.0, ..CurveOptions::default() };
    let mut found = 0;
    let counts = [0, 1, 2].map(|_| {
        let counted = allocation_counter::measure(|| {
            for frame in &frames {
                curve.update(frame).expect("as many finite points");
                found += pair.query_itself(&curve, &options).len();
            }
        });
        counted.count_total
    });
    println!("allocations {counts:?}, {found} minima");
    assert!(found > 600, "{found} minima");
    assert_eq!(counts[1..], [0, 0], "allocations in warm steps");
}

#[test]
fn visited_pairs_grow_like_the_pieces() {
    let sizes = [100, 1000, 10_000];
    let visits = sizes.map(|n| {
        let curve = Curve::new(3, &looped_cable(n), 1.0, false).unwrap();
        let mut pair = CurvePair::new();
        let options = CurveOptions { d_max: 0.5, ..CurveOptions::default() };
        let n_minima = pair.query_itself(&curve, &options).len();
        let stats = pair.stats();
        println!("{n} pieces: {n_minima} minima, {stats:?}");
        assert!(n_minima > 0, "the loop touches itself: {n} pieces");
        (stats.n_nodes + stats.n_parts) as f64
    });
    for k in 1..sizes.len() {
        let exponent = (visits[k] / visits[k - 1]).log10();
        assert!(exponent <= 1.1, "{visits:?} visits for {sizes:?} pieces: exponent {exponent}");
    }
}
