//! Signed Volumes against Johnson's sub-algorithm and the Voronoi search: DIST Figures 4.28 to 4.30.
//!
//! Prints the time of a call for each region of a simplex, and the time of Algorithm 5 with each
//! sub-algorithm for polygonal balls.

use feeler_convex::reference::cases::CaseRandom;
use feeler_convex::reference::{Johnson, Voronoi, algorithm_5};
use feeler_convex::{DistanceRequest, Polytope, SignedVolumes, Signs, SubAlgorithm, distance};
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

/// Simplices whose nearest face has `kept` vertices, including the newest one, as in a search.
fn simplices(rng: &mut CaseRandom, n: usize, kept: usize) -> Vec<Vec<V3>> {
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
        "Time of one call (ns), by vertices of the simplex and of the face that contains the nearest point:\n"
    );
    println!("| simplex, face | Signed Volumes | with adaptive signs | Johnson | Voronoi |");
    println!("|---|---|---|---|---|");
    let mut rng = CaseRandom(3);
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

fn ball(rng: &mut CaseRandom, n: usize) -> Vec<P3> {
    (0..n).map(|_| P3::from(rng.vector().normalize())).collect()
}

#[expect(clippy::print_stdout, reason = "a program that prints tables")]
fn balls() {
    println!(
        "\nTime of Algorithm 5 (ns, mean of 40 pairs; failures in brackets), polygonal balls of 100 \
            vertices:\n"
    );
    println!("| tolerance, configuration | Signed Volumes | Johnson | Voronoi |");
    println!("|---|---|---|---|");
    for tol in [1e-8, 1e-14] {
        for (name, gap) in [("distant", 1.0), ("close", 1e-4), ("overlapping", -0.3)] {
            let mut rng = CaseRandom(4);
            let mut sums = [0.0; 3];
            let mut failures = [0; 3];
            for _ in 0..40 {
                let (p, q) = (ball(&mut rng, 100), ball(&mut rng, 100));
                let Ok(a) = Polytope::new(&p) else { continue };
                let away = rng.vector().normalize() * 3.0;
                let far: Vec<P3> = q.iter().map(|p| p + away).collect();
                let Ok(b) = Polytope::new(&far) else { continue };
                let first = distance(&a, &b, &DistanceRequest::default());
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

fn main() {
    primitives();
    balls();
}
