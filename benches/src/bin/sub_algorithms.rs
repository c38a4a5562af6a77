//! Signed Volumes against Johnson's sub-algorithm and the Voronoi search: DIST Figures 4.28 to 4.30 and 4.36.
//!
//! Prints the time of one call per region of a simplex, the time of Algorithm 5 with each for polygonal balls, and the
//! smallest distance that each measures between two gear teeth approaching until they touch.

use feeler_convex::reference::cases::Random;
use feeler_convex::reference::{Johnson, Voronoi, algorithm_5, exact};
use feeler_convex::{PointSet, Polytope, Request, SignedVolumes, Signs, SubAlgorithm, distance};
use feeler_geom::math::{cos, sin};
use feeler_geom::{P3, V3};
use std::hint::black_box;
use std::time::Instant;

const PLAIN: SignedVolumes = SignedVolumes { signs: Signs::Double };
const ADAPTIVE: SignedVolumes = SignedVolumes { signs: Signs::Adaptive };

#[expect(clippy::cast_precision_loss, reason = "a time")]
fn nanoseconds(n: u32, mut call: impl FnMut()) -> f64 {
    let round = |call: &mut dyn FnMut()| {
        let start = Instant::now();
        for _ in 0..n {
            call();
        }
        start.elapsed().as_nanos() as f64 / f64::from(n)
    };
    (0..7).map(|_| round(&mut call)).fold(f64::INFINITY, f64::min)
}

/// Simplices whose nearest point has `kept` vertices, the newest among them, as a search makes them.
fn simplices(rng: &mut Random, n: usize, kept: usize) -> Vec<Vec<V3>> {
    let mut out = Vec::new();
    while out.len() < 256 {
        let shift = rng.vector() * rng.between(0.0, 2.0);
        let s: Vec<V3> = (0..n).map(|_| rng.vector() + shift).collect();
        let (Some(old), Some(all)) =
            (feeler_convex::nearest_to_origin(&s[..n - 1]), feeler_convex::nearest_to_origin(&s))
        else {
            continue;
        };
        let reached = old.vertices().len() == n - 1;
        let beyond = s[n - 1].dot(&old.point()) < old.point().norm_squared();
        if reached && beyond && all.vertices().len() == kept {
            out.push(s);
        }
    }
    out
}

fn time<S: SubAlgorithm>(sub_algorithm: &S, simplices: &[Vec<V3>]) -> f64 {
    let all = nanoseconds(200, || {
        for s in simplices {
            black_box(sub_algorithm.nearest(black_box(s)));
        }
    });
    all / 256.0
}

#[expect(clippy::print_stdout, reason = "a program that prints tables")]
fn primitives() {
    println!(
        "Time of one call (ns), by vertices of the simplex and of the face that holds the nearest point:\n"
    );
    println!("| simplex, face | Signed Volumes | with adaptive signs | Johnson | Voronoi |");
    println!("|---|---|---|---|---|");
    let mut rng = Random(3);
    for (n, kept) in [(2, 1), (2, 2), (3, 1), (3, 2), (3, 3), (4, 1), (4, 2), (4, 3), (4, 4)] {
        let s = simplices(&mut rng, n, kept);
        println!(
            "| {n}, {kept} | {:.0} | {:.0} | {:.0} | {:.0} |",
            time(&PLAIN, &s),
            time(&ADAPTIVE, &s),
            time(&Johnson, &s),
            time(&Voronoi, &s)
        );
    }
}

fn ball(rng: &mut Random, n: usize) -> Vec<P3> {
    (0..n).map(|_| P3::from(rng.vector().normalize())).collect()
}

#[expect(clippy::print_stdout, reason = "a program that prints tables")]
fn balls() {
    println!(
        "\nTime of Algorithm 5 (ns, mean of 40 pairs; failures in brackets), polygonal balls of 100 vertices:\n"
    );
    println!("| tolerance, configuration | Signed Volumes | Johnson | Voronoi |");
    println!("|---|---|---|---|");
    for tol in [1e-8, 1e-14] {
        for (name, gap) in [("distant", 1.0), ("close", 1e-4), ("overlapping", -0.3)] {
            let mut rng = Random(4);
            let mut sums = [0.0; 3];
            let mut failures = [0; 3];
            for _ in 0..40 {
                let (p, q) = (ball(&mut rng, 100), ball(&mut rng, 100));
                let Ok(a) = Polytope::new(&p) else { continue };
                let away = rng.vector().normalize() * 3.0;
                let far: Vec<P3> = q.iter().map(|p| p + away).collect();
                let Ok(b) = Polytope::new(&far) else { continue };
                let first = distance(&a, &b, &Request::default());
                let near: Vec<P3> =
                    far.iter().map(|p| p - first.direction * (first.distance - gap)).collect();
                let Ok(b) = Polytope::new(&near) else { continue };
                macro_rules! run {
                    ($i:expr, $sub:expr) => {
                        failures[$i] += usize::from(algorithm_5(&a, &b, &$sub, (tol, tol)).failed);
                        sums[$i] += nanoseconds(50, || {
                            black_box(algorithm_5(black_box(&a), &b, &$sub, (tol, tol)));
                        });
                    };
                }
                run!(0, PLAIN);
                run!(1, Johnson);
                run!(2, Voronoi);
            }
            let cell = |i: usize| format!("{:.0} ({})", sums[i] / 40.0, failures[i]);
            println!("| {tol:e}, {name} | {} | {} | {} |", cell(0), cell(1), cell(2));
        }
    }
}

/// A gear tooth: convex flanks of `n` points each, over `sections` sections of the face width, rising to a crowned tip.
fn tooth(n: usize, sections: usize) -> Vec<P3> {
    let mut out = Vec::new();
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    for k in 0..sections {
        let z = k as f64 / (sections - 1) as f64 * 4.0 - 2.0;
        let crown = 1.0 - 0.01 * z * z;
        for i in 0..n {
            let t = i as f64 / (n - 1) as f64;
            // From the root, half width 1, to the tip, half width 0.35; the flank bulges.
            let (s, c) = (sin(1.2 * t), cos(1.2 * t));
            let x = 0.35 + 0.65 * (c - 0.362_357_754) / 0.637_642_246;
            let y = 2.0 * crown * s / 0.932_039_086;
            out.push(P3::new(x, y, z));
            out.push(P3::new(-x, y, z));
        }
    }
    out
}

#[expect(clippy::print_stdout, reason = "a program that prints tables")]
fn teeth() {
    println!(
        "\nGear teeth approaching in 54 steps, each half the way left: the smallest distance above zero measured to 1 %, and the largest error of all steps:\n"
    );
    println!("| points of a tooth | Algorithm 5, Johnson | Algorithm 5, Signed Volumes | `distance` |");
    println!("|---|---|---|---|");
    for (n, sections) in [(4, 2), (6, 3), (10, 5), (20, 9), (40, 21)] {
        let p = tooth(n, sections);
        let turn = nalgebra::Rotation3::new(V3::new(0.02, 3.0, 0.013))
            * nalgebra::Rotation3::new(V3::x() * std::f64::consts::PI);
        let q: Vec<P3> = tooth(n, sections).iter().map(|p| turn * p + V3::new(1.05, 6.0, 0.1)).collect();
        // Down along y until they touch: the distance along a fixed direction, by its linear part.
        let moved = |shift: f64| -> Vec<P3> { q.iter().map(|p| p - V3::y() * shift).collect() };
        let exact_at = |shift: f64| exact::distance(&p, &moved(shift), &[]).upper.value();
        let (mut lo, mut hi) = (0.0, 6.0);
        for _ in 0..60 {
            let mid = 0.5 * (lo + hi);
            if exact_at(mid) > 1e-20 { lo = mid } else { hi = mid }
        }
        let mut smallest = [f64::INFINITY; 3];
        let mut worst = [0.0_f64; 3];
        for k in 0..54 {
            let shift = lo - feeler_geom::math::powi(0.5, k);
            let b = moved(shift.max(0.0));
            let exact = exact::distance(&p, &b, &[]).upper.value();
            let (Ok(set_a), Ok(set_b)) = (PointSet::new(&p), PointSet::new(&b)) else { continue };
            let tolerances = (f64::EPSILON, f64::EPSILON);
            let measured = [
                algorithm_5(&set_a, &set_b, &Johnson, tolerances).distance,
                algorithm_5(&set_a, &set_b, &PLAIN, tolerances).distance,
                distance(&set_a, &set_b, &Request::default()).distance,
            ];
            for (i, d) in measured.into_iter().enumerate() {
                worst[i] = worst[i].max((d - exact).abs());
                if d > 0.0 && (d - exact).abs() <= 0.01 * exact {
                    smallest[i] = smallest[i].min(d);
                }
            }
        }
        let cell = |i: usize| format!("{:.0e}, {:.0e}", smallest[i], worst[i]);
        println!("| {} | {} | {} | {} |", p.len(), cell(0), cell(1), cell(2));
    }
}

fn main() {
    primitives();
    balls();
    teeth();
}
