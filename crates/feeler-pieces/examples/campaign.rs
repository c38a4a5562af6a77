//! Campaign over solids of STEP files: is the distance of pieces always at most that of the surfaces?
//!
//! ```text
//! cargo run --release -p feeler-pieces --example campaign -- PAIRS FILE...
//! ```
//!
//! Each pair is two random solids at a random pose; the poses of two solids follow one another. Three
//! checks compare the bound of a pair with the surfaces:
//!
//! - *samples*, for all pairs with a positive bound: the smallest distance of points on both surfaces is an
//!   upper bound of the distance. The check is independent of queries, but overlooks excesses below the
//!   spacing of the points.
//! - *query*, for the same pairs: a query of the exact surfaces searches for a contact nearer than the bound.
//!   It finds any excess.
//! - *distance*, for every tenth pair: the exact distance, which also shows the tightness of bounds.
//!   Queries with growing ranges between the bound and the sampled distance search for it; the last one must
//!   find a minimum. A query far beyond the distance computes all minima up to there and can take minutes.
//!
//! The exit status is 1 if a bound is wrong or a check fails.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints a table")]

use feeler_geom::trim::Side;
use feeler_geom::{P2, P3, Pose, V3};
use feeler_hierarchy::Hierarchy;
use feeler_pieces::{Pieces, PiecesOptions, decompose, distance_bound};
use feeler_runtime::{Body, ContactPair, QueryError, QueryOptions};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Requested convexity, relative to the size of a solid.
const CONVEXITY: f64 = 0.05;
/// Number of pairs of which one is compared with the exact distance. A larger value is faster; a smaller one
/// compares more bounds.
const EXACT_EVERY: u64 = 10;
/// Number of successive poses of two solids, which share a pair of queries. A larger value saves memory and
/// time; a smaller one mixes the solids of short campaigns.
const POSES: u64 = 50;
/// Maximum number of samples of a solid. A larger value makes sampled distances tighter and slower.
const MAX_SAMPLES: usize = 200;
/// Number of samples along each parameter of a face. With a larger value more of them are dropped in solids
/// of many faces; with a smaller one solids of few faces have few samples.
const SAMPLES_PER_SIDE: u32 = 12;
/// Range of the first query for the exact distance, as a part of the way from the bound to the sampled
/// distance. A larger value makes single queries slower; a smaller one needs more queries.
const FIRST_RANGE: f64 = 2e-3;
/// Factor by which the range of such queries grows. A larger value makes single queries slower, because they
/// compute all minima within their range; a smaller one needs more queries.
const RANGE_GROWTH: f64 = 1.3;
/// Relative distance by which the query for the exact distance exceeds the sampled distance, for rounding. A
/// larger value makes it slower; a smaller one could miss a minimum at the samples themselves.
const ROUNDING: f64 = 1e-9;

/// Time after which a pair whose checks have not ended is reported. A larger value reports fewer pairs; a
/// smaller one reports pairs of slow solids.
const PATIENCE: Duration = Duration::from_secs(20);

/// Pair whose checks run, and the time at which they started.
static CURRENT: Mutex<Option<(String, Instant)>> = Mutex::new(None);

struct Solid {
    name: String,
    body: Arc<Body>,
    pieces: Pieces,
    /// Points of the surface.
    samples: Vec<P3>,
    radius: f64,
    center: V3,
}

#[derive(Default)]
struct Counts {
    apart: u64,
    wrong: u64,
    failed: u64,
    exact: u64,
    /// Sums of the bounds, the distances and the sampled distances (mm) of pairs with an exact distance.
    bounds: f64,
    distances: f64,
    sampled: f64,
    bound_seconds: f64,
    sample_seconds: f64,
    query_seconds: f64,
    exact_seconds: f64,
    /// Time of queries and exact distances by solid; half the time of a pair counts for each (s).
    by_solid: Vec<f64>,
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
    thread::spawn(report_slow_pairs);
    let mut rng = SmallRng::seed_from_u64(2026);
    let mut counts = Counts { by_solid: vec![0.0; solids.len()], ..Counts::default() };
    let mut batch = None;
    for number in 0..pairs {
        if number.is_multiple_of(POSES) {
            let two = [(); 2].map(|()| rng.random_range(0..solids.len()));
            let [a, b] = two.map(|i| Arc::clone(&solids[i].body));
            batch = Some((two, ContactPair::new(a, b)));
        }
        let Some((two, pair)) = &mut batch else { continue };
        let before = counts.query_seconds + counts.exact_seconds;
        compare(two.map(|i| &solids[i]), pair, number, &mut rng, &mut counts);
        let seconds = counts.query_seconds + counts.exact_seconds - before;
        two.iter().for_each(|i| counts.by_solid[*i] += 0.5 * seconds);
        if (number + 1).is_multiple_of((pairs / 10).max(1)) {
            report(number + 1, &counts);
        }
    }
    let mut slow: Vec<(f64, &str)> =
        counts.by_solid.iter().zip(&solids).map(|(s, solid)| (*s, solid.name.as_str())).collect();
    slow.sort_by(|a, b| b.0.total_cmp(&a.0));
    let total = counts.query_seconds + counts.exact_seconds;
    for (seconds, name) in slow.iter().take(5) {
        println!("{name}: {:.0} % of the time of queries", 100.0 * seconds / total);
    }
    std::process::exit(i32::from(counts.wrong + counts.failed > 0));
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
    let samples = samples(&hierarchy);
    let body = match Body::new(hierarchy) {
        Ok(body) => Arc::new(body),
        Err(error) => {
            eprintln!("{name}: {error}; skipped");
            return None;
        }
    };
    Some(Solid { name, body, pieces, samples, radius: root.radius(), center: root.center.coords })
}

/// Reports each pair whose checks take long.
fn report_slow_pairs() {
    let mut last = None;
    loop {
        thread::sleep(PATIENCE / 4);
        let current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some((pair, start)) = current.filter(|(_, start)| start.elapsed() > PATIENCE) else { continue };
        if last != Some(start) {
            eprintln!("{pair}: not finished after {:.0} s", start.elapsed().as_secs_f64());
            last = Some(start);
        }
    }
}

/// Points of the faces and of their trims, evenly thinned out to [`MAX_SAMPLES`].
fn samples(hierarchy: &Hierarchy) -> Vec<P3> {
    let mut out = Vec::new();
    for face in &hierarchy.faces {
        let rect = face.trim.rect;
        for (i, j) in (0..SAMPLES_PER_SIDE).flat_map(|i| (0..SAMPLES_PER_SIDE).map(move |j| (i, j))) {
            let [s, t] = [i, j].map(|k| (f64::from(k) + 0.5) / f64::from(SAMPLES_PER_SIDE));
            let uv = P2::new(rect.u0 + s * rect.width(), rect.v0 + t * rect.height());
            if face.trim.classify(uv) == Side::Inside {
                out.push(face.surface.point(uv));
            }
        }
        out.extend(face.trim.pieces.iter().map(|piece| face.surface.point(piece.start())));
    }
    out.retain(|p| p.coords.iter().all(|x| x.is_finite()));
    let kept = out.len().min(MAX_SAMPLES);
    (0..kept).map(|k| out[k * out.len() / kept]).collect()
}

/// Smallest distance (mm) of the samples of two solids: an upper bound of the distance of their surfaces.
fn sampled_distance(a: &Solid, b: &Solid, pose: &Pose) -> f64 {
    let mut least = f64::INFINITY;
    for p in b.samples.iter().map(|p| pose * p) {
        least = a.samples.iter().fold(least, |least, q| least.min((p - q).norm_squared()));
    }
    least.sqrt()
}

/// Compares the bound of two solids at a random pose with the surfaces.
fn compare(
    [a, b]: [&Solid; 2],
    pair: &mut ContactPair,
    number: u64,
    rng: &mut SmallRng,
    counts: &mut Counts,
) {
    let mut any = || V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
    let (turn, toward) = (any() * 3.0, any());
    let shift = toward * (a.radius + b.radius);
    let turned = Pose::new(V3::zeros(), turn);
    let pose = Pose::from_parts((a.center + shift - turned * b.center).into(), turned.rotation);
    let bound = timed(&mut counts.bound_seconds, || distance_bound(&a.pieces, &b.pieces, &pose));
    if bound <= 0.0 {
        return;
    }
    counts.apart += 1;
    let description = format!("pair {number}: {} and {} at {pose:?}", a.name, b.name);
    *CURRENT.lock().unwrap_or_else(PoisonError::into_inner) = Some((description.clone(), Instant::now()));
    let mut wrong = |distance: f64, check: &str| {
        counts.wrong += 1;
        eprintln!("{description}: the bound {bound} exceeds the distance {distance} ({check})");
    };
    let sampled = timed(&mut counts.sample_seconds, || sampled_distance(a, b, &pose));
    if sampled < bound {
        wrong(sampled, "samples");
    }
    let found = timed(&mut counts.query_seconds, || minimum(pair, &pose, bound));
    match found {
        Ok(Some(distance)) if distance < bound => wrong(distance, "query"),
        Ok(_) => {}
        Err(error) => {
            counts.failed += 1;
            eprintln!("{description}: {error}");
        }
    }
    if !number.is_multiple_of(EXACT_EVERY) {
        return;
    }
    let found: Result<_, QueryError> = timed(&mut counts.exact_seconds, || {
        let mut part = FIRST_RANGE;
        loop {
            let found = minimum(pair, &pose, bound + part * (sampled * (1.0 + ROUNDING) - bound))?;
            if found.is_some() || part >= 1.0 {
                return Ok(found);
            }
            part = (part * RANGE_GROWTH).min(1.0);
        }
    });
    match found {
        Ok(Some(distance)) => {
            counts.exact += 1;
            counts.bounds += bound;
            counts.distances += distance;
            counts.sampled += sampled;
            if bound > distance {
                wrong(distance, "distance");
            }
        }
        Ok(None) => {
            counts.failed += 1;
            eprintln!("{description}: no minimum within the sampled distance {sampled}");
        }
        Err(error) => {
            counts.failed += 1;
            eprintln!("{description}: {error}");
        }
    }
}

/// Smallest minimum (mm) within `d_max` of the surfaces of a pair.
fn minimum(pair: &mut ContactPair, pose: &Pose, d_max: f64) -> Result<Option<f64>, QueryError> {
    let options = QueryOptions { detect_interference: false, ..QueryOptions::within(d_max) };
    pair.query(&Pose::identity(), pose, &options)?;
    Ok(pair.min_distance())
}

/// Calls a function and adds the time that it takes.
fn timed<T>(seconds: &mut f64, call: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let out = call();
    *seconds += start.elapsed().as_secs_f64();
    out
}

fn report(pairs: u64, counts: &Counts) {
    #[expect(clippy::cast_precision_loss, reason = "numbers of pairs are far below 2^53")]
    let microseconds = |seconds: f64, n: u64| 1e6 * seconds / n.max(1) as f64;
    println!(
        "{pairs} pairs, {} apart: {} wrong, {} failed; {} exact distances, of which bounds are {:.1} % and \
         sampled distances {:.1} %; µs: {:.1} per bound, {:.1} per sampled distance, {:.1} per query, {:.0} \
         per exact distance",
        counts.apart,
        counts.wrong,
        counts.failed,
        counts.exact,
        100.0 * counts.bounds / counts.distances,
        100.0 * counts.sampled / counts.distances,
        microseconds(counts.bound_seconds, pairs),
        microseconds(counts.sample_seconds, counts.apart),
        microseconds(counts.query_seconds, counts.apart),
        microseconds(counts.exact_seconds, counts.exact),
    );
}
