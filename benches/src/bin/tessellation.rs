//! Tessellations fitted to synthetic voxel images: accuracy, sub-algorithms of the distance, and methods.
//!
//! `tessellation cells` measures the computation of 10,000 cells.
//! `tessellation recovery [--cells N…] [--sizes N…] [--noise P] [--tolerance X]` fits known tessellations;
//! *fails* if, without noise at 160³, Voronoi sites or Laguerre facets are farther than 0.1 voxels away.
//! `tessellation sub-algorithms [--sizes N…]` fits with three sub-algorithms under two outer solvers (DIST
//! §6.5.2, Table 6.2): GJK of feeler-convex, and Algorithm 5 as printed.
//! `tessellation methods` compares the times of both methods to the same objective.
//! `tessellation distances [--pairs N] [--checked N]` compares distances with rational arithmetic; *fails*.
//! `tessellation edges` regularises the cells of fits (DIST Figure 6.11).
//! `tessellation figures --out FOLDER [--sizes N…]` writes Figures 6.4 to 6.11 of DIST as CSV and SVG.
//! `tessellation write --out FOLDER [--cells N] [--size N]` writes a synthetic image as NRRD.

#![allow(
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    reason = "a program that prints tables"
)]

use clap::{Parser, Subcommand};
use feeler_benches::plot::{self, Axis, Chart, LabelMap, Series};
use feeler_benches::{Fallible, exit_code};
use feeler_convex::reference::{Johnson, JohnsonWithBackup, Voronoi, algorithm_5};
use feeler_convex::{
    DistanceOutcome, DistanceRequest, Hull, PointSet, SignedVolumes, SubAlgorithm, distance_with,
};
use feeler_geom::{P3, V3};
use feeler_tessellation::{
    Cell, CellDistance, CellKind, CellMesh, CellScratch, Domain, Fit, FitMethod, FitOptions, Gjk, Grains,
    Site, SiteIndex, VoxelImage, facet_errors, rand_index, tessellate,
};
use num_rational::BigRational;
use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Tessellations fitted to synthetic images.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Time of 10,000 cells.
    Cells,
    /// Accuracy of fits to known tessellations.
    Recovery {
        #[arg(long, num_args = 1.., default_values_t = [100, 1000])]
        cells: Vec<usize>,
        #[arg(long, num_args = 1.., default_values_t = [24, 64, 160])]
        sizes: Vec<usize>,
        #[arg(long, default_value_t = 0.0)]
        noise: f64,
        #[arg(long, default_value_t = FitOptions::default().tolerance)]
        tolerance: f64,
    },
    /// Sub-algorithms of the distance.
    SubAlgorithms {
        #[arg(long, num_args = 1.., default_values_t = [24, 64, 160])]
        sizes: Vec<usize>,
    },
    /// Gradient method and derivative-free method.
    Methods,
    /// Distances against rational arithmetic.
    Distances {
        #[arg(long, default_value_t = 10_000_000)]
        pairs: usize,
        #[arg(long, default_value_t = 10_000)]
        checked: usize,
    },
    /// Lengths of edges before and after regularisation.
    Edges,
    /// Figures of DIST chapter 6.
    Figures {
        #[arg(long)]
        out: PathBuf,
        #[arg(long, num_args = 1.., default_values_t = [24, 64, 160])]
        sizes: Vec<usize>,
    },
    /// Synthetic image.
    Write {
        #[arg(long)]
        out: PathBuf,
        #[arg(long, default_value_t = 100)]
        cells: usize,
        #[arg(long, default_value_t = 160)]
        size: usize,
    },
}

fn main() -> ExitCode {
    let is_good = match Arguments::parse().command {
        Command::Cells => cells(),
        Command::Recovery { cells, sizes, noise, tolerance } => {
            let mut is_good = true;
            for kind in [CellKind::Voronoi, CellKind::Laguerre] {
                for n in &cells {
                    for size in &sizes {
                        is_good &= recovery(kind, *n, *size, noise, tolerance);
                    }
                }
            }
            is_good
        }
        Command::SubAlgorithms { sizes } => sub_algorithms(&sizes),
        Command::Methods => methods(),
        Command::Distances { pairs, checked } => distances(pairs, checked),
        Command::Edges => edges(),
        Command::Figures { out, sizes } => return exit_code(figures(&out, &sizes)),
        Command::Write { out, cells, size } => return exit_code(write_image(&out, cells, size)),
    };
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Sites with a minimum distance, and their image.
struct Known {
    sites: Vec<Site>,
    domain: Domain,
    image: VoxelImage,
    grains: Grains,
}

fn known(kind: CellKind, n: usize, size: usize, noise: f64) -> Known {
    let domain = Domain { lengths: V3::repeat(size as f64), periodic: [false; 3] };
    let spacing = size as f64 / (n as f64).cbrt();
    let mut rng = StdRng::seed_from_u64(1);
    let mut sites: Vec<Site> = Vec::new();
    while sites.len() < n {
        let position = P3::from(domain.lengths.map(|l| l * rng.random::<f64>()));
        let radius = spacing * rng.random_range(0.3..0.6);
        let weight = if kind == CellKind::Laguerre { radius * radius } else { 0.0 };
        if sites.iter().all(|s| (s.position - position).norm() > 0.55 * spacing) {
            sites.push(Site { position, weight });
        }
    }
    let index = SiteIndex::new(&domain, &sites).expect("valid sites");
    let image = VoxelImage::of_tessellation(&index, [size; 3]).with_noise(noise, [false; 3], 1);
    let grains = Grains::new(&image, [false; 3]).expect("grains");
    // Sites without voxels are not in the image.
    let sites = grains.labels.iter().map(|l| sites[*l as usize - 1]).collect();
    Known { sites, domain, image, grains }
}

fn cells() -> bool {
    let mut rng = StdRng::seed_from_u64(1);
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    for (name, periodic, weight) in
        [("Voronoi, periodic", true, 0.0), ("Voronoi", false, 0.0), ("Laguerre", false, 1e-3)]
    {
        let domain = Domain { lengths: V3::repeat(1.0), periodic: [periodic; 3] };
        let sites: Vec<Site> = (0..10_000)
            .map(|_| Site {
                position: P3::new(rng.random(), rng.random(), rng.random()),
                weight: weight * rng.random::<f64>(),
            })
            .collect();
        let times = (0..5).map(|_| {
            let clock = Instant::now();
            let cells = one.install(|| tessellate(&domain, &sites)).expect("cells");
            assert_eq!(cells.cells.len(), sites.len(), "cells");
            clock.elapsed().as_secs_f64()
        });
        println!("{name}: {:.3} s", times.fold(f64::INFINITY, f64::min));
    }
    true
}

/// Returns the value that a share of the values does not exceed, and the largest one.
fn quantile(mut values: Vec<f64>, share: f64) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let last = values.len() - 1;
    (values[(last as f64 * share) as usize], values[last])
}

fn recovery(kind: CellKind, n: usize, size: usize, noise: f64, tolerance: f64) -> bool {
    let known = known(kind, n, size, noise);
    let clock = Instant::now();
    let options = FitOptions { kind, tolerance, ..FitOptions::default() };
    let mut fit = Fit::new(&known.grains, options).expect("a fit");
    while !fit.is_finished() {
        fit.advance().expect("an iteration");
    }
    let seconds = clock.elapsed().as_secs_f64();
    let found = fit.tessellation().expect("cells");
    let exact = tessellate(&known.domain, &known.sites).expect("cells");
    // Facets smaller than four by four voxels are not resolved.
    let facets = facet_errors(&exact, &found.sites, 16.0);
    let both = found.sites.iter().zip(&known.sites);
    let sites = quantile(both.map(|(a, b)| (a.position - b.position).norm()).collect(), 0.95);
    let both = found.cells.iter().zip(&exact.cells).filter_map(|(a, b)| Some((a.as_ref()?, b.as_ref()?)));
    let volumes = quantile(both.map(|(a, b)| (a.volume - b.volume).abs() / b.volume).collect(), 0.95);
    let redrawn =
        VoxelImage::of_tessellation(&SiteIndex::new(&known.domain, &found.sites).expect("sites"), [size; 3]);
    println!(
        "{kind:?} {n} cells {size}³ noise {noise}: facets rms {:.3} 95 % {:.3} max {:.3}; \
         sites 95 % {:.3} max {:.3}; \
         volumes 95 % {:.2} max {:.2} %; Rand {:.6}; objective {:.1e}, {} iterations, {seconds:.1} s",
        facets.rms,
        facets.percentile_95,
        facets.max,
        sites.0,
        sites.1,
        100.0 * volumes.0,
        100.0 * volumes.1,
        rand_index(&known.image.labels, &redrawn.labels),
        fit.state().objective,
        fit.state().iterations
    );
    let error = if kind == CellKind::Voronoi { sites.1 } else { facets.max };
    noise > 0.0 || size < 160 || error < 0.1
}

/// Algorithm 5 of DIST as printed, which has no measures against failures of the sub-algorithm.
struct Printed<S> {
    sub_algorithm: S,
    failures: AtomicU64,
}

/// Tolerances of Algorithm 5 as printed: relative decrease of the squared distance, and distance relative to
/// the simplex. With 1e-14 it does not end before 200 steps, whatever its sub-algorithm, because rounding
/// exceeds the decrease that it waits for.
const PRINTED_TOLERANCES: (f64, f64) = (1e-10, 1e-14);

impl<S: SubAlgorithm + Sync> CellDistance for Printed<S> {
    fn nearest(&self, vertices: &[P3], point: &P3, _: &V3) -> Option<(f64, P3)> {
        let (cell, hull) = (PointSet::new(vertices).ok()?, Hull::new([*point]).ok()?);
        let found = algorithm_5(&cell, &hull, &self.sub_algorithm, PRINTED_TOLERANCES);
        if found.failed {
            self.failures.fetch_add(1, Ordering::Relaxed);
        }
        Some((found.distance, point - found.nearest))
    }
}

fn fit_and_print<D: CellDistance>(name: &str, grains: &Grains, options: FitOptions, distance: D) -> D {
    let clock = Instant::now();
    let mut fit = Fit::with_distance(grains, options, distance).expect("a fit");
    while !fit.is_finished() {
        fit.advance().expect("an iteration");
    }
    let s = fit.state();
    println!(
        "  {name}: objective {:.4e}, {} iterations, {:.1} evaluations, {:.2} s",
        s.objective,
        s.iterations,
        s.evaluations,
        clock.elapsed().as_secs_f64()
    );
    fit.into_distance()
}

fn sub_algorithms(sizes: &[usize]) -> bool {
    for size in sizes {
        let tolerance = if *size < 32 { 1e-5 } else { 1e-6 };
        // The derivative-free method is repeated at the lowest resolution only.
        let runs = [(FitMethod::Gradient, 100), (FitMethod::Simplex, 20)];
        for (method, cells) in runs.into_iter().filter(|r| *size < 32 || r.0 == FitMethod::Gradient) {
            let grains = known(CellKind::Laguerre, cells, *size, 0.1).grains;
            let options = FitOptions { method, tolerance, interfaces_first: false, ..FitOptions::default() };
            println!("{method:?}, {cells} cells, {size}³, {} boundary voxels", grains.boundary_count());
            fit_and_print("GJK, Voronoi search", &grains, options, Gjk(Voronoi));
            fit_and_print("GJK, Johnson", &grains, options, Gjk(Johnson));
            fit_and_print("GJK, Signed Volumes", &grains, options, Gjk(SignedVolumes::default()));
            if method == FitMethod::Simplex {
                continue;
            }
            let failures = AtomicU64::new;
            let d = Printed { sub_algorithm: Voronoi, failures: failures(0) };
            let voronoi = fit_and_print("Algorithm 5, Voronoi search", &grains, options, d).failures;
            let d = Printed { sub_algorithm: Johnson, failures: failures(0) };
            let johnson = fit_and_print("Algorithm 5, Johnson", &grains, options, d).failures;
            let d = Printed { sub_algorithm: SignedVolumes::default(), failures: failures(0) };
            let volumes = fit_and_print("Algorithm 5, Signed Volumes", &grains, options, d).failures;
            let [v, j, s] = [voronoi, johnson, volumes].map(AtomicU64::into_inner);
            println!(
                "  failed distances of Algorithm 5: Voronoi search {v}, Johnson {j}, Signed Volumes {s}"
            );
        }
    }
    true
}

fn methods() -> bool {
    let mut is_good = true;
    for (cells, size) in [(20, 24), (50, 32)] {
        let grains = known(CellKind::Laguerre, cells, size, 0.1).grains;
        let options = FitOptions {
            method: FitMethod::Simplex,
            tolerance: 1e-5,
            interfaces_first: false,
            ..FitOptions::default()
        };
        let clock = Instant::now();
        let mut slow = Fit::new(&grains, options).expect("a fit");
        while !slow.is_finished() {
            slow.advance().expect("a sweep");
        }
        let (goal, slow_time) = (slow.state().objective, clock.elapsed().as_secs_f64());
        let clock = Instant::now();
        let options = FitOptions { method: FitMethod::Gradient, tolerance: 0.0, ..options };
        let mut quick = Fit::new(&grains, options).expect("a fit");
        while !quick.is_finished() && quick.state().objective > goal {
            quick.advance().expect("an iteration");
        }
        let (end, quick_time) = (quick.state().objective, clock.elapsed().as_secs_f64());
        println!(
            "{cells} cells, {size}³: derivative-free {goal:.4e} in {slow_time:.2} s \
             ({} sweeps, {:.0} evaluations); \
             gradient {end:.4e} in {quick_time:.3} s ({} iterations): {:.0} times",
            slow.state().iterations,
            slow.state().evaluations,
            quick.state().iterations,
            slow_time / quick_time
        );
        is_good &= end <= goal && quick_time * 20.0 < slow_time;
    }
    is_good
}

fn exact(p: &P3) -> [BigRational; 3] {
    [0, 1, 2].map(|k| BigRational::from_float(p[k]).expect("a finite number"))
}

type Exact = [BigRational; 3];

fn minus(a: &Exact, b: &Exact) -> Exact {
    [0, 1, 2].map(|k| &a[k] - &b[k])
}

fn dot(a: &Exact, b: &Exact) -> BigRational {
    &a[0] * &b[0] + &a[1] * &b[1] + &a[2] * &b[2]
}

/// Solves a symmetric system of at most three equations by Cramer's rule; `None` if it is singular.
fn solve(m: &[Vec<BigRational>], right: &[BigRational]) -> Option<Vec<BigRational>> {
    let det = |m: &[Vec<BigRational>]| match m {
        [] => BigRational::from_integer(1.into()),
        [a] => a[0].clone(),
        [a, b] => &a[0] * &b[1] - &a[1] * &b[0],
        [a, b, c, ..] => {
            &a[0] * (&b[1] * &c[2] - &b[2] * &c[1]) - &a[1] * (&b[0] * &c[2] - &b[2] * &c[0])
                + &a[2] * (&b[0] * &c[1] - &b[1] * &c[0])
        }
    };
    let zero = BigRational::from_integer(0.into());
    let whole = det(m);
    if whole == zero {
        return None;
    }
    let replaced = |k: usize| {
        let mut out = m.to_vec();
        for (row, r) in out.iter_mut().zip(right) {
            row[k] = r.clone();
        }
        det(&out) / &whole
    };
    Some((0..m.len()).map(replaced).collect())
}

/// Returns the squared distance from a point to the hull of vertices, if the nearest point lies in the
/// simplex of the given ones; the conditions of optimality are checked without rounding.
fn exact_square(vertices: &[Exact], point: &Exact, simplex: &[usize]) -> Option<BigRational> {
    let zero = BigRational::from_integer(0.into());
    let base = &vertices[simplex[0]];
    let sides: Vec<Exact> = simplex[1..].iter().map(|k| minus(&vertices[*k], base)).collect();
    let to = minus(point, base);
    let gram: Vec<Vec<BigRational>> =
        sides.iter().map(|a| sides.iter().map(|b| dot(a, b)).collect()).collect();
    let right: Vec<BigRational> = sides.iter().map(|a| dot(a, &to)).collect();
    let factors = solve(&gram, &right)?;
    let sum: BigRational = factors.iter().sum();
    if factors.iter().any(|f| *f < zero) || sum > BigRational::from_integer(1.into()) {
        return None;
    }
    let foot = [0, 1, 2].map(|k| {
        let moved: BigRational = sides.iter().zip(&factors).map(|(s, f)| &s[k] * f).sum();
        &base[k] + moved
    });
    let normal = minus(point, &foot);
    let is_optimal = vertices.iter().all(|v| dot(&normal, &minus(v, &foot)) <= zero);
    is_optimal.then(|| dot(&normal, &normal))
}

/// Tries the given simplex, then all simplexes of the vertices `near` the plane through the nearest point.
fn exact_search(vertices: &[Exact], point: &Exact, first: &[usize], near: &[usize]) -> Option<BigRational> {
    if let Some(found) = exact_square(vertices, point, first) {
        return Some(found);
    }
    let n = near.len();
    let all = (0..n).flat_map(|i| {
        std::iter::once(vec![i])
            .chain((i + 1..n).map(move |j| vec![i, j]))
            .chain((i + 1..n).flat_map(move |j| (j + 1..n).map(move |k| vec![i, j, k])))
    });
    all.map(|simplex| simplex.iter().map(|k| near[*k]).collect::<Vec<usize>>())
        .find_map(|simplex| exact_square(vertices, point, &simplex))
}

fn distances(pairs: usize, checked: usize) -> bool {
    let known = known(CellKind::Laguerre, 100, 160, 0.0);
    let grains = &known.grains;
    let fit = Fit::new(grains, FitOptions::default()).expect("a fit");
    let index = SiteIndex::new(&known.domain, &fit.state().sites()).expect("sites");
    let mut scratch = CellScratch::default();
    let cells: Vec<Cell> = (0..grains.labels.len()).filter_map(|k| index.cell(k, &mut scratch)).collect();
    let voxels: Vec<P3> = grains.boundary.iter().flatten().copied().collect();
    let step = (pairs / checked).max(1);
    let (mut count, mut seconds) = (0, 0.0);
    let (mut worst, mut wrong, mut unproved, mut inside, mut done) = (0.0_f64, 0, 0, 0, 0);
    let request = DistanceRequest::default();
    'all: for cell in &cells {
        let set = PointSet::new(&cell.vertices).expect("a cell");
        let rational: Vec<Exact> = cell.vertices.iter().map(exact).collect();
        // Voxels near the cell, as in a fit.
        let size = cell.vertices.iter().map(|v| (v - cell.centroid).norm()).fold(0.0, f64::max);
        let near: Vec<P3> =
            voxels.iter().filter(|v| (*v - cell.centroid).norm() < 3.0 * size).copied().collect();
        let clock = Instant::now();
        let found: Vec<_> = near
            .iter()
            .map(|v| {
                let hull = Hull::new([*v]).expect("a point");
                distance_with(&set, &hull, &request, &SignedVolumes::default())
            })
            .collect();
        seconds += clock.elapsed().as_secs_f64();
        for (voxel, found) in near.iter().zip(&found) {
            count += 1;
            if count > pairs {
                break 'all;
            }
            if count % step != 0 {
                continue;
            }
            done += 1;
            let simplex: Vec<usize> = found.witness.vertices.iter().map(|v| v.a.index as usize).collect();
            let point = exact(voxel);
            if found.outcome == DistanceOutcome::Overlapping {
                inside += 1;
                let Some(square) = exact_square(&rational, &point, &simplex) else {
                    unproved += 1;
                    continue;
                };
                wrong += usize::from(square != BigRational::from_integer(0.into()));
                continue;
            }
            // Vertices that rounding may hide from the simplex: those at its height.
            let height = |v: &P3| found.direction.dot(&(v - found.witness.point_a));
            let is_near = |k: &usize| height(&cell.vertices[*k]) > -1e-6;
            let candidates: Vec<usize> = (0..cell.vertices.len()).filter(is_near).collect();
            let Some(square) = exact_search(&rational, &point, &simplex, &candidates) else {
                unproved += 1;
                continue;
            };
            let d = BigRational::from_float(found.distance).expect("a distance");
            let zero = BigRational::from_integer(0.into());
            if square == zero {
                wrong += usize::from(d != zero);
                continue;
            }
            let relative = (&d * &d - &square) / (&square * BigRational::from_integer(2.into()));
            let relative = num_traits::ToPrimitive::to_f64(&relative).unwrap_or(f64::NAN).abs();
            worst = worst.max(relative);
            wrong += usize::from(relative.is_nan() || relative >= 1e-12);
        }
    }
    println!(
        "{} pairs, {:.2} µs each; {done} compared with rational arithmetic ({inside} inside): \
         largest relative error \
         {worst:.2e}, {wrong} wrong, {unproved} not proved",
        count.min(pairs),
        1e6 * seconds / count.max(1) as f64
    );
    wrong == 0 && unproved == 0
}

fn edges() -> bool {
    let known = known(CellKind::Laguerre, 100, 160, 0.0);
    let quantiles = |mesh: &CellMesh| {
        let all = mesh.edge_lengths();
        [0.0, 0.01, 0.05, 0.1, 0.25, 0.5].map(|q| all[((all.len() - 1) as f64 * q) as usize])
    };
    let print = |name: &str, sites: &[Site]| {
        let mut mesh = CellMesh::new(&tessellate(&known.domain, sites).expect("cells"));
        let before = quantiles(&mesh);
        let report = mesh.regularise(3.0);
        println!(
            "{name}, edges (voxels) at 0, 1, 5, 10, 25, 50 %:\n  before {before:.3?}\n  after  {:.3?}",
            quantiles(&mesh)
        );
        println!("  {report:?}");
    };
    print("known tessellation", &known.sites);
    let options = FitOptions::default();
    let mut fit = Fit::new(&known.grains, options).expect("a fit");
    print("start", &fit.state().sites());
    while !fit.is_finished() {
        fit.advance().expect("an iteration");
    }
    print("Signed Volumes", &fit.state().sites());
    let mut fit = Fit::with_distance(&known.grains, options, Gjk(Voronoi)).expect("a fit");
    while !fit.is_finished() {
        fit.advance().expect("an iteration");
    }
    print("Voronoi search", &fit.state().sites());
    true
}

fn write_file(folder: &Path, name: &str, text: &str) -> Fallible<()> {
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: cannot be created: {e}", folder.display()))?;
    let path = folder.join(name);
    std::fs::write(&path, text).map_err(|e| format!("{}: cannot be written: {e}", path.display()))
}

fn write_image(folder: &Path, cells: usize, size: usize) -> Fallible<bool> {
    let known = known(CellKind::Laguerre, cells, size, 0.0);
    let name = format!("cells-{cells}-{size}.nrrd");
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: cannot be created: {e}", folder.display()))?;
    known.image.save_nrrd(&folder.join(name)).map_err(|e| e.to_string())?;
    Ok(true)
}

/// Course of one fit.
struct Trace {
    name: &'static str,
    /// Seconds and objective after each iteration.
    steps: Vec<[f64; 2]>,
    sites: Vec<Site>,
}

fn trace<D: CellDistance>(name: &'static str, grains: &Grains, options: FitOptions, distance: D) -> Trace {
    let mut fit = Fit::with_distance(grains, options, distance).expect("a fit");
    let mut steps = vec![[0.0, fit.state().objective]];
    let clock = Instant::now();
    while !fit.is_finished() {
        fit.advance().expect("an iteration");
        steps.push([clock.elapsed().as_secs_f64(), fit.state().objective]);
    }
    Trace { name, steps, sites: fit.state().sites() }
}

/// Fits with three sub-algorithms under Algorithm 5 as printed and under GJK of feeler-convex.
fn traces(grains: &Grains, options: FitOptions) -> Vec<Trace> {
    let failures = || AtomicU64::new(0);
    let voronoi = Printed { sub_algorithm: Voronoi, failures: failures() };
    let johnson = Printed { sub_algorithm: JohnsonWithBackup, failures: failures() };
    let volumes = Printed { sub_algorithm: SignedVolumes::default(), failures: failures() };
    vec![
        trace("Algorithm 5, Voronoi search", grains, options, voronoi),
        trace("Algorithm 5, Johnson with backup", grains, options, johnson),
        trace("Algorithm 5, Signed Volumes", grains, options, volumes),
        trace("GJK, Voronoi search", grains, options, Gjk(Voronoi)),
        trace("GJK, Johnson with backup", grains, options, Gjk(JohnsonWithBackup)),
        trace("GJK, Signed Volumes", grains, options, Gjk(SignedVolumes::default())),
    ]
}

/// Three panels of one resolution: time and objective over iterations, objective over time.
fn panels(title: &str, traces: &[Trace]) -> [Chart; 3] {
    let iterations = Axis { label: "iterations", is_log: false };
    let time = Axis { label: "time (s)", is_log: false };
    let objective = Axis { label: "objective", is_log: true };
    let of = |x: Axis, y: Axis, point: &dyn Fn(usize, &[f64; 2]) -> [f64; 2]| {
        let series = traces.iter().map(|t| Series {
            label: t.name.to_owned(),
            points: t.steps.iter().enumerate().map(|(k, s)| point(k, s)).collect(),
        });
        Chart { title: title.to_owned(), x, y, series: series.collect() }
    };
    [
        of(iterations, time, &|k, s| [k as f64, s[0]]),
        of(iterations, objective, &|k, s| [k as f64, s[1]]),
        of(time, objective, &|_, s| *s),
    ]
}

/// Middle slice of the image of a tessellation.
fn slice(title: &str, image: &VoxelImage) -> LabelMap {
    let [x, y, z] = image.size;
    let start = image.position([0, 0, z / 2]);
    LabelMap { title: title.to_owned(), width: x, labels: image.labels[start..start + x * y].to_vec() }
}

fn figures(folder: &Path, sizes: &[usize]) -> Fallible<bool> {
    let mut csv = String::from("method,cells,size,distance,iteration,seconds,objective\n");
    let mut charts = Vec::new();
    let mut runs: Vec<(FitMethod, usize, usize)> =
        sizes.iter().map(|size| (FitMethod::Gradient, 100, *size)).collect();
    runs.push((FitMethod::Simplex, 20, 24));
    for (method, cells, size) in runs {
        let known = known(CellKind::Laguerre, cells, size, 0.1);
        let tolerance = if size < 32 { 1e-5 } else { 1e-6 };
        let options = FitOptions { method, tolerance, interfaces_first: false, ..FitOptions::default() };
        let traces = traces(&known.grains, options);
        for t in &traces {
            for (k, [seconds, objective]) in t.steps.iter().enumerate() {
                let _ = writeln!(
                    csv,
                    "{method:?},{cells},{size},{},{k},{seconds:.4},{objective:e}",
                    t.name.replace(", ", " ")
                );
            }
            let [seconds, objective] = t.steps[t.steps.len() - 1];
            println!(
                "{method:?}, {cells} cells, {size}³, {}: {objective:.4e}, {} iterations, {seconds:.2} s",
                t.name,
                t.steps.len() - 1
            );
        }
        let name = if method == FitMethod::Gradient { "gradient" } else { "derivative-free" };
        charts.extend(panels(&format!("{size}³, {cells} cells, {name}"), &traces));
        if method == FitMethod::Gradient && Some(&size) == sizes.last() {
            slices(folder, &known, &traces)?;
            edge_figure(folder, &known, &traces)?;
        }
    }
    write_file(folder, "tessellation-fits.csv", &csv)?;
    let title = "Fits with three sub-algorithms (DIST Figures 6.4 to 6.8 and 6.10)";
    write_file(folder, "tessellation-fits.svg", &plot::charts(title, &charts, 3))?;
    Ok(true)
}

/// Figure 6.9: the target, the first cells, and the results of two sub-algorithms.
fn slices(folder: &Path, known: &Known, traces: &[Trace]) -> Fallible<()> {
    let start = Fit::new(&known.grains, FitOptions::default()).expect("a fit").state().sites();
    let of = |title: &str, sites: &[Site]| {
        let index = SiteIndex::new(&known.domain, sites).expect("sites");
        let mut image = VoxelImage::of_tessellation(&index, known.image.size);
        // Labels of cells are their numbers, plus 1; those of the target may have gaps.
        image.labels.iter_mut().for_each(|l| *l = known.grains.labels[*l as usize - 1]);
        slice(title, &image)
    };
    let maps = [
        slice("target", &known.image),
        of("initial guess", &start),
        of(traces[0].name, &traces[0].sites),
        of(traces[2].name, &traces[2].sites),
    ];
    for map in &maps[1..] {
        let pairs = map.labels.iter().zip(&maps[0].labels);
        let share = pairs.filter(|(a, b)| a != b).count() as f64 / map.labels.len() as f64;
        println!("slice, {}: {:.2} % of the labels differ from the target", map.title, 100.0 * share);
    }
    let size = known.image.size[0];
    let title = format!("Slice of {size}³ voxels with 10 % noise (DIST Figure 6.9)");
    write_file(folder, "tessellation-slices.svg", &plot::label_maps(&title, &maps, 2))
}

/// Figure 6.11: share of edges up to a length, before and after regularisation.
fn edge_figure(folder: &Path, known: &Known, traces: &[Trace]) -> Fallible<()> {
    let min_edge = 3.0 * known.image.size[0] as f64 / 160.0;
    let mut csv = String::from("distance,regularised,length\n");
    let charts = [false, true].map(|is_regular| {
        let series = [0, 2].map(|k| {
            let mut mesh = CellMesh::new(&tessellate(&known.domain, &traces[k].sites).expect("cells"));
            if is_regular {
                mesh.regularise(min_edge);
            }
            let lengths = mesh.edge_lengths();
            let n = lengths.len() as f64;
            for length in &lengths {
                let _ = writeln!(csv, "{},{is_regular},{length}", traces[k].name.replace(", ", " "));
            }
            let small = lengths.iter().enumerate().take_while(|(_, l)| **l < 4.0 * min_edge);
            let points = small.map(|(k, l)| [*l, (k + 1) as f64 / n]).collect();
            Series { label: traces[k].name.to_owned(), points }
        });
        let name = if is_regular { "after" } else { "before" };
        Chart {
            title: format!("{name} regularisation (minimum {min_edge:.1} voxels)"),
            x: Axis { label: "length (voxels)", is_log: false },
            y: Axis { label: "share of edges up to the length", is_log: false },
            series: series.to_vec(),
        }
    });
    write_file(folder, "tessellation-edges.csv", &csv)?;
    let title = "Edges of the cells of fits (DIST Figure 6.11)";
    write_file(folder, "tessellation-edges.svg", &plot::charts(title, &charts, 2))
}
