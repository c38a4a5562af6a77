//! Smallest distances that are computed accurately: two gear teeth approach until they touch. DIST §4.8.3
//! and Figure 4.36.
//!
//! For five meshes of a tooth, each of eight approaches makes 54 steps, and each step is half of the
//! remaining way. A step is wrong if the distance differs by more than 1 % from the exact one of the
//! same coordinates. The program prints for each mesh, for Algorithm 5 with Johnson's sub-algorithm (no
//! backup procedure) and with Signed Volumes, and for [`distance`]: the smallest distance down to which
//! every step is right (median and worst approach); the fraction of wrong steps among those at a
//! distance above 10 ε of the size; and the largest error, relative to the size (the largest coordinate
//! of a tooth).

use feeler_convex::reference::cases::CaseRandom;
use feeler_convex::reference::{Johnson, algorithm_5, exact};
use feeler_convex::{DistanceRequest, PointSet, SignedVolumes, Signs, distance};
use feeler_geom::math::{cos, powi, sin};
use feeler_geom::{P3, V3};

/// Number of approaches for each mesh.
const APPROACHES: usize = 8;
/// Number of steps of an approach, each half of the remaining way; 54 halvings reach the resolution of a
/// double.
const STEPS: i32 = 54;

/// A tooth: two bulging flanks of `n` points each, over `sections` sections of the face width, with a crown.
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn tooth(n: usize, sections: usize) -> Vec<P3> {
    let mut out = Vec::new();
    for k in 0..sections {
        let z = k as f64 / (sections - 1) as f64 * 4.0 - 2.0;
        let crown = 1.0 - 0.01 * z * z;
        for i in 0..n {
            let t = i as f64 / (n - 1) as f64;
            // From the root, half width 1, to the tip, half width 0.35.
            let (s, c) = (sin(1.2 * t), cos(1.2 * t));
            let x = 0.35 + 0.65 * (c - cos(1.2)) / (1.0 - cos(1.2));
            let y = 2.0 * crown * s / sin(1.2);
            out.push(P3::new(x, y, z));
            out.push(P3::new(-x, y, z));
        }
    }
    out
}

#[derive(Clone, Default)]
struct Row {
    /// For each approach, the smallest distance down to which every step is right.
    reached: Vec<f64>,
    wrong: u32,
    error: f64,
}

#[expect(clippy::print_stdout, reason = "a program that prints a table")]
fn main() {
    println!(
        "| points | Johnson: reached (median, worst); wrong; error | Signed Volumes | with adaptive signs | \
            `distance` |"
    );
    println!("|---|---|---|---|---|");
    let mut rng = CaseRandom(36);
    for (n, sections) in [(4, 2), (6, 3), (10, 5), (20, 9), (40, 21)] {
        let a = tooth(n, sections);
        let size = a.iter().fold(0.0, |m: f64, p| m.max(p.coords.amax()));
        let mut rows = vec![Row::default(); 4];
        let mut counted = 0;
        for approach in 0..APPROACHES {
            // Half of the approaches have parallel axes, as gears do.
            let tilt = if approach % 2 == 0 { V3::zeros() } else { rng.vector() * 0.03 };
            let turn = nalgebra::Rotation3::new(tilt + V3::z() * rng.between(-0.2, 0.2))
                * nalgebra::Rotation3::new(V3::z() * std::f64::consts::PI);
            let at = V3::new(rng.between(0.9, 1.3), 6.0, rng.between(-0.5, 0.5));
            let b: Vec<P3> = a.iter().map(|p| turn * p + at).collect();
            for (i, r) in approach_once(&a, &b, size).into_iter().enumerate() {
                if i == 0 {
                    counted += r.steps;
                }
                rows[i].reached.push(r.reached);
                rows[i].wrong += r.wrong;
                rows[i].error = rows[i].error.max(r.error / size);
            }
        }
        let cell = |row: &Row| {
            let mut reached = row.reached.clone();
            reached.sort_by(f64::total_cmp);
            let (median, worst) = (reached[APPROACHES / 2], reached[APPROACHES - 1]);
            let share = 100.0 * f64::from(row.wrong) / f64::from(counted);
            format!("{median:.0e}, {worst:.0e}; {share:.0} %; {:.0e}", row.error)
        };
        let cells: Vec<String> = rows.iter().map(cell).collect();
        println!("| {} | {} |", a.len(), cells.join(" | "));
    }
}

struct Approach {
    reached: f64,
    wrong: u32,
    steps: u32,
    error: f64,
}

fn approach_once(a: &[P3], b: &[P3], size: f64) -> [Approach; 4] {
    let moved = |shift: f64| -> Vec<P3> { b.iter().map(|p| p - V3::y() * shift).collect() };
    let exact_at = |shift: f64| exact::distance(a, &moved(shift), &[]).upper.value();
    let (mut lo, mut hi) = (0.0, 6.0);
    for _ in 0..60 {
        let mid = 0.5 * (lo + hi);
        if exact_at(mid) > 1e-20 { lo = mid } else { hi = mid }
    }
    let mut out: [Approach; 4] =
        std::array::from_fn(|_| Approach { reached: f64::INFINITY, wrong: 0, steps: 0, error: 0.0 });
    let Ok(set_a) = PointSet::new(a) else { return out };
    let mut failed = [false; 4];
    for k in 0..STEPS {
        let b = moved((lo - powi(0.5, k)).max(0.0));
        let exact = exact::distance(a, &b, &[]).upper.value();
        let Ok(set_b) = PointSet::new(&b) else { continue };
        let tolerances = (f64::EPSILON, f64::EPSILON);
        let signed = |signs| algorithm_5(&set_a, &set_b, &SignedVolumes { signs }, tolerances).distance;
        let measured = [
            algorithm_5(&set_a, &set_b, &Johnson, tolerances).distance,
            signed(Signs::Double),
            signed(Signs::Adaptive),
            distance(&set_a, &set_b, &DistanceRequest::default()).distance,
        ];
        for (i, d) in measured.into_iter().enumerate() {
            let error = (d - exact).abs();
            let right = error <= 0.01 * exact;
            out[i].error = out[i].error.max(error);
            if exact > 10.0 * f64::EPSILON * size {
                out[i].steps += 1;
                out[i].wrong += u32::from(!right);
            }
            failed[i] |= !right;
            if !failed[i] {
                out[i].reached = exact;
            }
        }
    }
    out
}
