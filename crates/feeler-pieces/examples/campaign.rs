//! Campaign over solids of STEP files: is the distance of pieces always at most that of the surfaces?
//!
//! ```text
//! cargo run --release -p feeler-pieces --example campaign -- PAIRS FILE...
//! ```
//!
//! Each pair is two random solids at a random pose. A query of the exact surfaces searches for a contact
//! nearer than the bound; if there is one, the bound is wrong. For every hundredth pair, the exact distance
//! is computed as well, and the bound is compared with it.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints a table")]

use feeler_geom::{Pose, V3};
use feeler_pieces::{Pieces, PiecesOptions, decompose, distance_bound};
use feeler_runtime::{Body, ContactPair, QueryOptions};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Requested convexity, relative to the size of a solid.
const CONVEXITY: f64 = 0.05;
/// Number of pairs of which one is compared with the exact distance.
const EXACT_EVERY: u64 = 100;

struct Solid {
    name: String,
    body: Arc<Body>,
    pieces: Pieces,
    radius: f64,
    center: V3,
}

#[derive(Default)]
struct Counts {
    apart: u64,
    wrong: u64,
    failed: u64,
    exact: u64,
    /// Sums of the bounds and the distances (mm) of pairs with an exact distance.
    bounds: f64,
    distances: f64,
    bound_seconds: f64,
    query_seconds: f64,
}

fn main() {
    let mut args = std::env::args().skip(1);
    let pairs = args.next().and_then(|n| n.parse::<u64>().ok());
    let files: Vec<String> = args.collect();
    let (Some(pairs), false) = (pairs, files.is_empty()) else {
        eprintln!("usage: campaign PAIRS FILE...");
        std::process::exit(2);
    };
    let solids: Vec<Solid> = files.iter().filter_map(|file| prepared(Path::new(file))).collect();
    if solids.is_empty() {
        eprintln!("no file contains a solid");
        std::process::exit(2);
    }
    let mut rng = SmallRng::seed_from_u64(2026);
    let mut counts = Counts::default();
    for number in 0..pairs {
        compare(&solids, number, &mut rng, &mut counts);
        if (number + 1).is_multiple_of((pairs / 10).max(1)) {
            report(number + 1, &counts);
        }
    }
    std::process::exit(i32::from(counts.wrong > 0));
}

fn prepared(path: &Path) -> Option<Solid> {
    let model = match feeler_import::prepare_step(path) {
        Ok(model) => model,
        Err(error) => {
            eprintln!("{error}; skipped");
            return None;
        }
    };
    let hierarchy = model.solids.into_iter().next()?;
    let root = hierarchy.nodes.first()?.obb;
    let size = 2.0 * root.radius();
    let start = Instant::now();
    let pieces = match decompose(&hierarchy, &PiecesOptions::with_convexity(CONVEXITY * size)) {
        Ok(pieces) => pieces,
        Err(error) => {
            eprintln!("{}: {error}; skipped", path.display());
            return None;
        }
    };
    let name = path.file_stem()?.to_string_lossy().into_owned();
    let (faces, seconds) = (hierarchy.faces.len(), start.elapsed().as_secs_f64());
    let vertices: usize = pieces.pieces().iter().map(|p| p.hull.vertices().len()).sum();
    println!(
        "{name}: {faces} faces, size {size:.1} mm: {} pieces with {vertices} vertices, convexity {:.4} of \
         the size, allowance {:.1e} mm, {seconds:.2} s",
        pieces.len(),
        pieces.convexity() / size,
        pieces.allowance(),
    );
    let body = match Body::new(hierarchy) {
        Ok(body) => Arc::new(body),
        Err(error) => {
            eprintln!("{name}: {error}; skipped");
            return None;
        }
    };
    Some(Solid { name, body, pieces, radius: root.radius(), center: root.center.coords })
}

/// Compares the bound of one random pair with the exact surfaces.
fn compare(solids: &[Solid], number: u64, rng: &mut SmallRng, counts: &mut Counts) {
    let [a, b] = [(); 2].map(|()| &solids[rng.random_range(0..solids.len())]);
    let mut any = || V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
    let (turn, toward) = (any() * 3.0, any());
    let shift = toward * (a.radius + b.radius);
    let turned = Pose::new(V3::zeros(), turn);
    let pose = Pose::from_parts((a.center + shift - turned * b.center).into(), turned.rotation);
    let start = Instant::now();
    let bound = distance_bound(&a.pieces, &b.pieces, &pose);
    counts.bound_seconds += start.elapsed().as_secs_f64();
    if bound <= 0.0 {
        return;
    }
    counts.apart += 1;
    let mut pair = ContactPair::new(Arc::clone(&a.body), Arc::clone(&b.body));
    let options = QueryOptions { detect_interference: false, ..QueryOptions::within(bound) };
    let start = Instant::now();
    let found = pair.query(&Pose::identity(), &pose, &options).map(|_| ());
    counts.query_seconds += start.elapsed().as_secs_f64();
    match found {
        Err(error) => {
            counts.failed += 1;
            eprintln!("pair {number}: {error}");
        }
        Ok(()) if pair.min_distance().is_some_and(|d| d < bound) => {
            counts.wrong += 1;
            eprintln!(
                "pair {number}: {} and {}: the bound {bound} exceeds the distance {:?} at {pose:?}",
                a.name,
                b.name,
                pair.min_distance()
            );
        }
        Ok(()) => {}
    }
    if number.is_multiple_of(EXACT_EVERY) {
        compare_exactly(&pair, bound, &pose, counts);
    }
}

fn compare_exactly(pair: &ContactPair, bound: f64, pose: &Pose, counts: &mut Counts) {
    let options = QueryOptions { detect_interference: false, ..QueryOptions::within(0.0) };
    match pair.nearest_distance(&Pose::identity(), pose, &options) {
        Ok(Some(distance)) => {
            counts.exact += 1;
            counts.bounds += bound;
            counts.distances += distance;
            if bound > distance {
                counts.wrong += 1;
                eprintln!("the bound {bound} exceeds the exact distance {distance} at {pose:?}");
            }
        }
        Ok(None) => {}
        Err(error) => {
            counts.failed += 1;
            eprintln!("{error}");
        }
    }
}

fn report(pairs: u64, counts: &Counts) {
    #[expect(clippy::cast_precision_loss, reason = "numbers of pairs are far below 2^53")]
    let microseconds = |seconds: f64, n: u64| 1e6 * seconds / n.max(1) as f64;
    println!(
        "{pairs} pairs, {} apart: {} wrong, {} failed; {} exact distances, of which bounds are {:.1} %; \
         {:.1} µs per bound, {:.1} µs per query",
        counts.apart,
        counts.wrong,
        counts.failed,
        counts.exact,
        100.0 * counts.bounds / counts.distances,
        microseconds(counts.bound_seconds, pairs),
        microseconds(counts.query_seconds, counts.apart),
    );
}
