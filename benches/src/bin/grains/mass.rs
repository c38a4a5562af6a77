//! Masses compared with sums over evenly spread points.

use feeler_convex::PolySuperellipsoid;
use feeler_geom::V3;
use feeler_geom::math::powf;
use feeler_grains::mass::{MassProperties, poly_superellipsoid};
use nalgebra::Matrix3;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rayon::prelude::*;

/// Sums over the points inside a shape: of 1, x and x xᵀ, and of the squares of 1 and of xᵢ².
#[derive(Clone, Copy)]
struct Sums {
    count: f64,
    first: V3,
    second: Matrix3<f64>,
    fourth: V3,
}

/// Sums over the points of the R sequence of Roberts (multiples of the powers of an irrational number) in
/// the box of the shape that satisfy its implicit equation.
fn sums(plus: V3, minus: V3, e: [f64; 2], points: u32) -> Sums {
    let g = 1.220_744_084_605_759_5_f64;
    let steps = V3::new(1.0 / g, 1.0 / (g * g), 1.0 / (g * g * g));
    let mut out = Sums { count: 0.0, first: V3::zeros(), second: Matrix3::zeros(), fourth: V3::zeros() };
    for i in 0..points {
        let part = (steps * f64::from(i)).map(|x| (0.5 + x).fract());
        let p = (plus + minus).component_mul(&part) - minus;
        let u = V3::from_fn(|i, _| (p[i] / if p[i] < 0.0 { minus[i] } else { plus[i] }).abs());
        let around = powf(u.x, 2.0 / e[0]) + powf(u.y, 2.0 / e[0]);
        if powf(around, e[0] / e[1]) + powf(u.z, 2.0 / e[1]) <= 1.0 {
            let sq = p.component_mul(&p);
            out.count += 1.0;
            out.first += p;
            out.second += p * p.transpose();
            out.fourth += sq.component_mul(&sq);
        }
    }
    out
}

pub(super) fn run(shapes: u32, points: u32) -> bool {
    let mut rng = SmallRng::seed_from_u64(314);
    let all: Vec<(V3, V3, [f64; 2])> = (0..shapes)
        .map(|_| {
            let mut semi = || V3::from_fn(|_, _| rng.random_range(0.01..5.0));
            let (plus, minus) = (semi(), semi());
            (plus, minus, [rng.random_range(0.1..1.9), rng.random_range(0.1..1.9)])
        })
        .collect();
    let rows: Vec<[f64; 6]> = all
        .par_iter()
        .map(|(plus, minus, e)| {
            let shape =
                PolySuperellipsoid::new(*plus, *minus, *e).expect("semi-axes and exponents are right");
            let exact = poly_superellipsoid(&shape).expect("semi-axes are above 0");
            let s = sums(*plus, *minus, *e, points);
            let n = f64::from(points);
            let volume = (plus + minus).product();
            let share = volume / n;
            let c = s.first / s.count;
            let central = s.second * share - c * c.transpose() * (s.count * share);
            let sampled = MassProperties {
                volume: s.count * share,
                centroid: c.into(),
                tensor: Matrix3::from_diagonal_element(central.trace()) - central,
            };
            let part = s.count / n;
            // Standard errors for the same number of independent points.
            let of_volume = volume * (part * (1.0 - part) / n).sqrt();
            let of_second = V3::from_fn(|i, _| {
                let mean = s.second[(i, i)] / n;
                volume * ((s.fourth[i] / n - mean * mean).max(0.0) / n).sqrt()
            });
            let (moments, _) = exact.principal();
            let off = moments - sampled.principal().0;
            let products = [(0, 1), (0, 2), (1, 2)]
                .map(|k| (exact.tensor[k] - sampled.tensor[k]).abs())
                .into_iter()
                .fold(0.0, f64::max);
            [
                (exact.volume - sampled.volume).abs() / exact.volume,
                (exact.volume - sampled.volume).abs() / of_volume,
                (exact.centroid - sampled.centroid).norm() / (plus + minus).norm(),
                off.component_div(&moments).amax(),
                off.amax() / of_second.norm(),
                products / moments.max(),
            ]
        })
        .collect();
    let names = [
        "volume, relative",
        "volume / standard error",
        "centroid / size",
        "principal moments, relative",
        "principal moments / standard error",
        "products / largest moment",
    ];
    println!("{shapes} shapes, {points} points each\n| difference | median | largest |\n|---|---|---|");
    let mut is_right = true;
    for (k, name) in names.iter().enumerate() {
        let mut column: Vec<f64> = rows.iter().map(|r| r[k]).collect();
        column.sort_by(f64::total_cmp);
        let (median, largest) = (column[column.len() / 2], column[column.len() - 1]);
        println!("| {name} | {median:.1e} | {largest:.1e} |");
        // Evenly spread points have smaller errors than independent ones.
        is_right &= !name.contains("standard") || largest < 3.0;
    }
    is_right
}
