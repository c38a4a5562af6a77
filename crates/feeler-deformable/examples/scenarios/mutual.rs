//! Bodies in mutual contact, as in DIST 4.6: every body touches all others.

use feeler_deformable::{ContactSettings, RigidBody, SearchCounts, Simulation, TreeScope};
use feeler_geom::{P3, V3, math};
use rand::{Rng, SeedableRng, rngs::SmallRng};
use std::f64::consts::PI;
use std::time::Instant;

/// Numbers of points around a body and of rings; twice their product is the number of facets.
pub(crate) const GRIDS: [[u32; 2]; 7] = [[5, 5], [10, 5], [10, 10], [25, 10], [25, 20], [40, 25], [50, 50]];
/// Distance of a body from the common point (mm).
const OFFSET: f64 = 0.001;
/// Half the distance that two surfaces keep (mm). It is above the offset, so that opposite bodies touch.
const SKIN: f64 = 1.05 * OFFSET;
/// Displacement of the fastest point in a step (mm): nearly a tenth of the skin, the largest one allowed.
const DISPLACEMENT: f64 = 0.09 * SKIN;

/// Scopes of trees in the order of their costs.
const SCOPES: [TreeScope; 3] = [TreeScope::Scene, TreeScope::Pair, TreeScope::Piece];

/// Shape and motion of the bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contacts {
    /// Spindles whose ends meet at a point, all with the same speed.
    Points,
    /// Spindles as for `Points`, with speeds of 0.2 to 1 times the largest, so that lists of features expire
    /// in different steps.
    PointsUnequal,
    /// Segments of a ball: all meet along the axis, and neighbours along faces. They move together.
    Faces,
}

/// Bodies of `2 * grid[0] * grid[1]` facets. A step of 1 s moves the fastest point by [`DISPLACEMENT`].
pub(crate) fn mutual(contacts: Contacts, count: u32, grid: [u32; 2], trees: TreeScope) -> Simulation {
    let settings = ContactSettings { trees, ..ContactSettings::new(1.0, DISPLACEMENT) };
    let mut simulation = Simulation::new(settings).unwrap();
    let mut rng = SmallRng::seed_from_u64(46);
    for (k, axis) in (0..).zip(directions(count, &mut rng)) {
        let mut body;
        if contacts == Contacts::Faces {
            body = segment(count, k, grid);
            body.prescribe(V3::new(0.6, 0.0, 0.8) * DISPLACEMENT, V3::zeros()).unwrap();
        } else {
            body = spindle(&axis, grid);
            let fastest = body.positions().iter().map(|p| p.coords.cross(&axis).norm()).fold(0.0, f64::max);
            let part = rng.random_range(0.2..1.0);
            let part = if contacts == Contacts::PointsUnequal { part } else { 1.0 };
            body.prescribe(V3::zeros(), axis * (part * DISPLACEMENT / fastest)).unwrap();
        }
        simulation.add(body).unwrap();
    }
    simulation
}

/// Unit vectors far from one another: points on a sphere that repel one another.
fn directions(count: u32, rng: &mut SmallRng) -> Vec<V3> {
    let mut out: Vec<V3> =
        (0..count).map(|_| V3::from_fn(|_, _| rng.random_range(-1.0..1.0)).normalize()).collect();
    for round in 0..2000 {
        let forces: Vec<V3> = out
            .iter()
            .map(|a| {
                let apart = out.iter().map(|b| a - b).filter(|d| d.norm() > 0.0);
                apart.map(|d| d / d.norm_squared()).sum::<V3>()
            })
            .collect();
        for (a, force) in out.iter_mut().zip(forces) {
            *a = (*a + force * (0.1 / (1.0 + 0.01 * f64::from(round)))).normalize();
        }
    }
    out
}

/// Spindle of 1 mm along `axis`; its profile is a parabola with the slope 0.45 at both ends.
fn spindle(axis: &V3, grid: [u32; 2]) -> RigidBody {
    let side = axis.cross(&V3::from_fn(|i, _| if i == axis.iamin() { 1.0 } else { 0.0 })).normalize();
    let across = axis.cross(&side);
    of_rings(grid, |s, t| {
        let (sin, cos) = math::sin_cos(2.0 * PI * s);
        let radius = 0.45 * t * (1.0 - t);
        P3::from(axis * (OFFSET + t) + (side * cos + across * sin) * radius)
    })
}

/// Segment `k` of a ball with the radius 1 mm that is divided into `count` segments along the z axis.
fn segment(count: u32, k: u32, grid: [u32; 2]) -> RigidBody {
    let half = PI / f64::from(count);
    let middle = 2.0 * half * f64::from(k);
    // A third of the points is on each flat side, the rest on the sphere.
    let flat = f64::from(grid[0] / 3) / f64::from(grid[0]);
    of_rings(grid, |s, t| {
        let (height, width) = (-math::cos(PI * t), math::sin(PI * t));
        let (radius, angle) = if s < flat {
            (s / flat, -half)
        } else if s > 1.0 - flat {
            ((1.0 - s) / flat, half)
        } else {
            (1.0, half * (2.0 * (s - flat) / (1.0 - 2.0 * flat) - 1.0))
        };
        let (sin, cos) = math::sin_cos(middle + angle);
        let (sin_middle, cos_middle) = math::sin_cos(middle);
        let offset = V3::new(cos_middle, sin_middle, 0.0) * OFFSET;
        P3::new(cos * radius * width, sin * radius * width, height) + offset
    })
}

/// Closed surface of rings between two poles. `point` takes the parameter around the body and the one from
/// pole to pole, both from 0 to 1.
fn of_rings([around, rings]: [u32; 2], point: impl Fn(f64, f64) -> P3) -> RigidBody {
    let along = |ring: u32| f64::from(ring) / f64::from(rings + 1);
    let mut nodes = vec![point(0.0, 0.0)];
    for ring in 1..=rings {
        nodes.extend((0..around).map(|k| point(f64::from(k) / f64::from(around), along(ring))));
    }
    nodes.push(point(0.0, 1.0));
    let node = |ring: u32, k: u32| match ring {
        0 => 0,
        r if r > rings => 1 + rings * around,
        r => 1 + (r - 1) * around + k % around,
    };
    let mut facets = Vec::new();
    for (ring, k) in (0..=rings).flat_map(|ring| (0..around).map(move |k| (ring, k))) {
        let [a, b] = [node(ring, k), node(ring, k + 1)];
        let [c, d] = [node(ring + 1, k), node(ring + 1, k + 1)];
        if a != b {
            facets.push([a, b, d]);
        }
        if c != d {
            facets.push([a, d, c]);
        }
    }
    RigidBody::new(nodes, facets, SKIN).unwrap()
}

/// Cost of the steps of a scenario with one scope of trees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub(crate) scope: TreeScope,
    /// Number of features that were sorted for the trees of the start.
    pub(crate) sorted: u64,
    /// Counts of all steps after the start.
    pub(crate) counts: SearchCounts,
    /// Mean over the steps of the median over the rounds of the time of a step (s).
    pub(crate) seconds: f64,
}

/// Runs `steps` steps of a scenario with all scopes of trees, `rounds` times; the scopes alternate in each
/// step. All scopes must compute the same contacts.
pub(crate) fn mutual_costs(
    contacts: Contacts,
    count: u32,
    grid: [u32; 2],
    rounds: u32,
    steps: u32,
) -> [Cost; 3] {
    let mut starts = SCOPES.map(|scope| mutual(contacts, count, grid, scope));
    starts.iter_mut().for_each(|simulation| simulation.step(1.0).unwrap());
    let mut ends = starts.clone();
    let mut times = SCOPES.map(|_| vec![Vec::new(); steps as usize]);
    for _ in 0..rounds {
        ends.clone_from(&starts);
        for step in 0..steps as usize {
            for (simulation, times) in ends.iter_mut().zip(&mut times) {
                let start = Instant::now();
                simulation.step(1.0).unwrap();
                times[step].push(start.elapsed().as_secs_f64());
            }
            let energies = ends.each_ref().map(|s| s.energies().contact.to_bits());
            assert!(energies.iter().all(|e| *e == energies[0]), "all scopes compute the same contacts");
            assert!(ends[0].max_overlap() > 0.0, "the bodies touch");
        }
    }
    [0, 1, 2].map(|k| {
        let [start, end] = [&starts[k], &ends[k]].map(|s| s.search_counts());
        let counts = SearchCounts {
            collections: end.collections - start.collections,
            feature_tests: end.feature_tests - start.feature_tests,
            box_updates: end.box_updates - start.box_updates,
            box_tests: end.box_tests - start.box_tests,
            ..end
        };
        let medians = times[k].iter_mut().map(|times| {
            times.sort_unstable_by(f64::total_cmp);
            times[times.len() / 2]
        });
        let seconds = medians.sum::<f64>() / f64::from(steps);
        Cost { scope: SCOPES[k], sorted: start.sorted_features, counts, seconds }
    })
}
