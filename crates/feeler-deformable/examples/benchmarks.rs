//! Prints the figures of the benchmarks of DIST 4.3 to 4.5:
//! `cargo run -p feeler-deformable --example benchmarks`; with the argument `trees` those of 4.6 as CSV, from
//! which `tools/figures/trees.py` draws two figures.

#![expect(clippy::print_stdout, reason = "the program prints a table")]
#![expect(clippy::unwrap_used, reason = "the scenarios are valid")]

mod scenarios;

use feeler_deformable::{ContactSettings, DeformableBody, Mesh, Simulation, TreeScope};
use feeler_geom::{P3, V3};
use scenarios::{
    Contacts, GRIDS, bar_impact, bounce, deflected_sphere, falling_grains, iron, mutual_costs,
    one_element_duration, soft_steel,
};
use std::time::Instant;

fn main() {
    if std::env::args().nth(1).is_some_and(|argument| argument == "trees") {
        return mutual_contact();
    }
    impacts_of_elements();
    impacts_of_bars();
    falling();
    ironing();
    cost_of_elements();
}

fn impacts_of_elements() {
    let bounce = bounce();
    println!("4.3.1 two tetrahedra");
    println!("  height after the bounce, relative error  {:+.2e}", bounce.height_error);
    println!("  displacement sideways                    {:.2e} mm", bounce.sideways);
    let [early, late] = bounce.impulses;
    println!("  impulses before and after the middle     {early:.4e} {late:.4e} N·s");
    println!("4.3.2 sphere on a tetrahedron: velocity after, relative to the speed before");
    for young in [2.1e5, 2.1e3, 210.0] {
        let v = deflected_sphere(young);
        println!("  E = {young:6} N/mm²: x {:+.4}  y {:+.4}  z {:+.4}", v.x, v.y, v.z);
    }
}

fn impacts_of_bars() {
    let c = soft_steel(0.0).bar_wave_speed();
    println!(
        "4.3.3 bars of one element, 1 m: penalty (N/mm), first contact (s), closed form (s), separations"
    );
    for penalty in [80.0, 120.0, 240.0, 480.0, 960.0, 1e4] {
        let i = bar_impact([1000.0; 2], [1; 2], penalty, 20.0);
        let exact = one_element_duration(1000.0, penalty);
        println!("  {penalty:6} {:.5} {exact:.5} {}", i.first_duration, i.separations);
    }
    println!("4.3.3 bars of 80 elements: length (m), penalty (N/mm), contact (s), 2l/c (s), separations,");
    println!("      velocities after (mm/s; 1000 and 0 before), relative error of the energy");
    for length in [1000.0, 2000.0] {
        for penalty in [1e3, 4e3, 1e4, 2e4, 4e4, 1e5, 4e5] {
            let i = bar_impact([length; 2], [80; 2], penalty, 2.0);
            let [v, w] = i.velocities;
            let (m, exact) = (length / 1000.0, 2.0 * length / c);
            let (t, n, e) = (i.duration, i.separations, i.energy_error);
            println!("  {m} {penalty:6} {t:.5} {exact:.5} {n:3} {v:6.2} {w:6.2} {e:.1e}");
        }
    }
}

fn falling() {
    let mut simulation = falling_grains();
    let start = Instant::now();
    (0..45_000).for_each(|_| simulation.step(4.0 / 45_000.0).unwrap());
    let counts = simulation.search_counts();
    println!("4.4 two grains over a plate, 45,000 steps, {:.2} s", start.elapsed().as_secs_f64());
    println!("  distances {} of {} steps times pairs", counts.distances, counts.pair_steps);
}

fn ironing() {
    println!("4.5 ironing");
    let mut histories = Vec::new();
    for (name, pieces) in [("three pieces, bounds", true), ("one tree a body, all steps", false)] {
        let start = Instant::now();
        let (history, counts, _) = iron(pieces, false);
        println!("  {name}: {} steps, {:.2} s, {counts:?}", history.len(), start.elapsed().as_secs_f64());
        histories.push(history);
    }
    let pairs = histories[0].iter().flatten().zip(histories[1].iter().flatten());
    let largest = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    println!("  largest difference of kinetic energy (mJ) and barycentre (mm): {largest:e}");
}

fn cost_of_elements() {
    println!("time of a step of one element, without contact");
    let size = V3::repeat(10.0);
    for (name, mesh) in [
        ("tetrahedron", Mesh::box_of_tetrahedra(P3::origin(), size, [10; 3]).unwrap()),
        ("hexahedron", Mesh::box_of_hexahedra(P3::origin(), size, [10; 3]).unwrap()),
    ] {
        let count = mesh.tetrahedra.len() + mesh.hexahedra.len();
        let mut simulation = Simulation::new(ContactSettings::new(1.0, 0.1)).unwrap();
        simulation.add(DeformableBody::new(&mesh, soft_steel(0.3), 0.1).unwrap()).unwrap();
        let step = 0.9 * simulation.stable_step(0);
        let start = Instant::now();
        (0..200).for_each(|_| simulation.step(step).unwrap());
        let nanoseconds = start.elapsed().as_secs_f64() * 1e9 / (200.0 * count as f64);
        println!("  {name}: {nanoseconds:.0} ns");
    }
}

/// Prints the cost of one tree for all bodies, of trees for each pair and of one tree for each body. Counts
/// of bodies with unequal speeds show how they depend on the steps in which lists expire; their times are
/// those of one round.
fn mutual_contact() {
    println!(
        "contacts,bodies,facets,trees,sorted,steps,collections,box_updates,box_tests,feature_tests,\
         us_per_step"
    );
    for contacts in [Contacts::Points, Contacts::PointsUnequal, Contacts::Faces] {
        for (bodies, grid) in (2..=8).flat_map(|bodies| GRIDS.map(|grid| (bodies, grid))) {
            let (facets, steps) = (2 * grid[0] * grid[1], 12);
            let rounds = match contacts {
                Contacts::PointsUnequal => 1,
                _ if facets > 500 => 9,
                _ => 41,
            };
            for cost in mutual_costs(contacts, bodies, grid, rounds, steps) {
                let contacts = match contacts {
                    Contacts::Points => "points",
                    Contacts::PointsUnequal => "points-unequal",
                    Contacts::Faces => "faces",
                };
                let trees = match cost.scope {
                    TreeScope::Scene => "scene",
                    TreeScope::Pair => "pair",
                    TreeScope::Piece => "body",
                };
                let c = cost.counts;
                println!(
                    "{contacts},{bodies},{facets},{trees},{},{},{},{},{},{},{:.2}",
                    cost.sorted,
                    steps,
                    c.collections,
                    c.box_updates,
                    c.box_tests,
                    c.feature_tests,
                    1e6 * cost.seconds
                );
            }
        }
    }
}
