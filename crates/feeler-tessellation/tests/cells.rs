//! Cells against brute force, closed forms and their own symmetry.

#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    clippy::missing_assert_message,
    reason = "test code"
)]

use feeler_geom::{P3, V3};
use feeler_tessellation::{Cell, Domain, Neighbour, Site, Tessellation, tessellate};
use rand::{Rng as _, SeedableRng as _, rngs::StdRng};

fn random_sites(n: usize, lengths: V3, weight: f64, seed: u64) -> Vec<Site> {
    let mut rng = StdRng::seed_from_u64(seed);
    (0..n)
        .map(|_| Site {
            position: P3::from(lengths.map(|l| l * rng.random::<f64>())),
            weight: weight * rng.random::<f64>(),
        })
        .collect()
}

/// Sites with the image of each that is nearest to a point, by trying all images.
fn nearest_by_brute_force(t: &Tessellation, p: &P3) -> (usize, f64) {
    let shifts = |k: usize| if t.domain.periodic[k] { -1..=1 } else { 0..=0 };
    let mut best = (0, f64::INFINITY);
    for (k, site) in t.sites.iter().enumerate() {
        for x in shifts(0) {
            for y in shifts(1) {
                for z in shifts(2) {
                    let shift = V3::from([x, y, z].map(f64::from)).component_mul(&t.domain.lengths);
                    let d = (site.position + shift - p).norm_squared() - site.weight;
                    if d < best.1 {
                        best = (k, d);
                    }
                }
            }
        }
    }
    best
}

/// Largest signed distance of a point to the planes of a cell's faces that have an area.
fn depth(cell: &Cell, p: &P3) -> f64 {
    let planes = cell.faces.iter().filter_map(|f| {
        let n = cell.area_vector(f);
        (n.norm() > 1e-9).then(|| n.normalize().dot(&(p - cell.vertices[f.vertices[0] as usize])))
    });
    planes.fold(f64::NEG_INFINITY, f64::max)
}

fn check(t: &Tessellation) {
    let total: f64 = t.cells.iter().flatten().map(|c| c.volume).sum();
    let domain = t.domain.lengths.product();
    assert!((total - domain).abs() < 1e-11 * domain, "volumes sum to {total}, not {domain}");
    for (k, cell) in t.cells.iter().enumerate() {
        let Some(cell) = cell else { continue };
        let (v, e, f) = (cell.vertices.len(), cell.edges().len(), cell.faces.len());
        assert_eq!((v + f, 3 * v), (e + 2, 2 * e), "Euler's formula, three edges at each vertex");
        for face in &cell.faces {
            let Neighbour::Cell { index, shift } = face.neighbour else { continue };
            let back = Neighbour::Cell { index: u32::try_from(k).unwrap(), shift: shift.map(|s| -s) };
            let other = t.cells[index as usize].as_ref().expect("a neighbour has a cell");
            let same = other.faces.iter().find(|f| f.neighbour == back);
            let same = same.unwrap_or_else(|| panic!("{index} has no face towards {k}"));
            assert_eq!(same.vertices.len(), face.vertices.len(), "cells {k} and {index}");
            let sum = cell.area_vector(face) + other.area_vector(same);
            assert!(sum.norm() < 1e-9 * domain, "faces of {k} and {index} differ: {sum}");
        }
    }
}

#[test]
fn cells_contain_the_points_that_are_nearest_to_their_sites() {
    for (periodic, weight, n) in [
        ([false; 3], 0.0, 60),
        ([true; 3], 0.0, 60),
        ([true, false, true], 0.03, 60),
        ([true; 3], 0.3, 200),
        ([true; 3], 0.0, 1),
        ([true; 3], 0.1, 2),
        ([false; 3], 0.0, 1),
        ([false; 3], 4.0, 20),
    ] {
        let lengths = V3::new(1.0, 1.3, 0.7);
        let domain = Domain { lengths, periodic };
        let t = tessellate(&domain, &random_sites(n, lengths, weight, 7)).unwrap();
        check(&t);
        let mut rng = StdRng::seed_from_u64(8);
        for _ in 0..2000 {
            let p = P3::from(lengths.map(|l| l * rng.random::<f64>()));
            let (k, _) = nearest_by_brute_force(&t, &p);
            let cell = t.cells[k].as_ref().expect("the nearest site has a cell");
            let shifts = |k: usize| if periodic[k] { -1..=1 } else { 0..=0 };
            let images =
                shifts(0).flat_map(|x| shifts(1).flat_map(move |y| shifts(2).map(move |z| [x, y, z])));
            let inside = images
                .map(|s| depth(cell, &(p + V3::from(s.map(f64::from)).component_mul(&lengths))))
                .fold(f64::INFINITY, f64::min);
            assert!(inside < 1e-9, "{p} is outside of its cell {k} by {inside}");
        }
    }
}

#[test]
fn lattices_have_their_cells() {
    // Cubes: eight cells meet at each vertex.
    let domain = Domain { lengths: V3::new(4.0, 4.0, 4.0), periodic: [true; 3] };
    let mut sites = Vec::new();
    for k in 0..64 {
        let position = P3::from([k % 4, k / 4 % 4, k / 16].map(f64::from));
        sites.push(Site { position, weight: 0.0 });
    }
    for periodic in [[true; 3], [false; 3], [false, true, false]] {
        let moved: Vec<Site> =
            sites.iter().map(|s| Site { position: s.position + V3::repeat(0.5), weight: 0.25 }).collect();
        let t = tessellate(&Domain { periodic, ..domain }, &moved).unwrap();
        check(&t);
        for cell in t.cells.iter().flatten() {
            assert!((cell.volume - 1.0).abs() < 1e-12, "{}", cell.volume);
        }
    }
    // Body-centred cubes: truncated octahedra, each vertex of four cells.
    let more = sites.iter().map(|s| Site { position: s.position + V3::repeat(0.5), weight: 0.0 });
    let both: Vec<Site> = sites.iter().copied().chain(more).collect();
    let t = tessellate(&domain, &both).unwrap();
    check(&t);
    for cell in t.cells.iter().flatten() {
        assert!((cell.volume - 0.5).abs() < 1e-12, "{}", cell.volume);
        assert_eq!((cell.vertices.len(), cell.faces.len()), (24, 14));
        let edges = cell.edges();
        let edge = edges.iter().map(|e| (cell.vertices[e[0] as usize] - cell.vertices[e[1] as usize]).norm());
        assert!(edge.fold(0.0, f64::max) < 0.125_f64.sqrt() + 1e-12);
    }
}

#[test]
fn nearly_degenerate_lattices_are_as_accurate_as_others() {
    // Perturbations of a few units of the last digit: simplices of sites are nearly flat.
    let mut rng = StdRng::seed_from_u64(5);
    let mut sites = Vec::new();
    for k in 0..64 {
        let position = P3::from([k % 4, k / 4 % 4, k / 16].map(|i| {
            let tiny: f64 = rng.random_range(-4.0..4.0);
            f64::from(i) + 0.5 + tiny * 1e-15
        }));
        sites.push(Site { position, weight: 0.0 });
    }
    for periodic in [[true; 3], [false; 3]] {
        let t = tessellate(&Domain { lengths: V3::repeat(4.0), periodic }, &sites).unwrap();
        check(&t);
        for cell in t.cells.iter().flatten() {
            assert!((cell.volume - 1.0).abs() < 1e-12, "{}", cell.volume);
        }
        // A lattice of n cells has n vertices and 3 n edges; degenerate edges have no length.
        let shared = t.shared_vertices();
        assert!(shared.positions.len() >= 64, "{}", shared.positions.len());
    }
}

#[test]
fn four_cells_share_each_vertex() {
    let lengths = V3::new(1.0, 1.0, 1.0);
    for n in [1, 2, 5, 300] {
        let domain = Domain { lengths, periodic: [true; 3] };
        let t = tessellate(&domain, &random_sites(n, lengths, 0.002, 3)).unwrap();
        let shared = t.shared_vertices();
        let mut count = vec![0; shared.positions.len()];
        for (cell, list) in t.cells.iter().zip(&shared.of_cell) {
            for (v, (number, shift)) in list.iter().enumerate() {
                count[*number as usize] += 1;
                let at = shared.positions[*number as usize] + V3::from(shift.map(f64::from));
                let error = (at - cell.as_ref().unwrap().vertices[v]).norm();
                assert!(error < 1e-9, "{n} sites: a shared vertex is {error} away");
            }
        }
        assert!(count.iter().all(|c| *c == 4), "{n} sites: {count:?}");
    }
}

#[test]
fn sites_without_cells_and_invalid_sites_are_reported() {
    let domain = Domain { lengths: V3::repeat(1.0), periodic: [false; 3] };
    let site = |x: f64, weight: f64| Site { position: P3::new(x, 0.5, 0.5), weight };
    // The second site is at the first one; the third is hidden by the weight of the first.
    let t = tessellate(&domain, &[site(0.5, 0.0), site(0.5, 0.0), site(0.6, -1.0)]).unwrap();
    assert_eq!(t.cells.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, false]);
    assert!((t.cells[0].as_ref().unwrap().volume - 1.0).abs() < 1e-15);
    let message = |sites: &[Site]| tessellate(&domain, sites).unwrap_err().to_string();
    assert!(message(&[]).contains("needs 1 to"), "no sites");
    assert!(message(&[site(0.5, 0.0), site(f64::NAN, 0.0)]).starts_with("site 1:"), "NaN");
    assert!(message(&[site(0.5, f64::INFINITY)]).starts_with("site 0:"), "infinite weight");
    let flat = Domain { lengths: V3::new(1.0, 0.0, 1.0), periodic: [false; 3] };
    assert!(tessellate(&flat, &[site(0.5, 0.0)]).is_err());
}

#[test]
fn ten_thousand_cells_take_less_than_a_second_on_one_core() {
    let lengths = V3::repeat(1.0);
    for (periodic, weight) in [([true; 3], 0.0), ([false; 3], 1e-3)] {
        let sites = random_sites(10_000, lengths, weight, 11);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let clock = std::time::Instant::now();
        let one = pool.install(|| tessellate(&Domain { lengths, periodic }, &sites)).unwrap();
        let seconds = clock.elapsed().as_secs_f64();
        check(&one);
        // Ten times the time of an idle core, because tests share cores.
        assert!(seconds < 5.0, "{seconds} s");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let three = pool.install(|| tessellate(&Domain { lengths, periodic }, &sites)).unwrap();
        assert_eq!(one.cells, three.cells, "threads");
    }
}
