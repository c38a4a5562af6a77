//! Meshes of cells and their regularisation.

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
use feeler_tessellation::{CellMesh, Domain, Site, tessellate};
use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use std::collections::BTreeMap;

fn mesh(n: usize, periodic: [bool; 3], seed: u64) -> (CellMesh, Vec<f64>) {
    let mut rng = StdRng::seed_from_u64(seed);
    let lengths = V3::new(1.0, 1.2, 0.9);
    let sites: Vec<Site> = (0..n)
        .map(|_| Site {
            position: P3::from(lengths.map(|l| l * rng.random::<f64>())),
            weight: 0.002 * rng.random::<f64>(),
        })
        .collect();
    let t = tessellate(&Domain { lengths, periodic }, &sites).unwrap();
    (CellMesh::new(&t), t.cells.iter().map(|c| c.as_ref().map_or(0.0, |c| c.volume)).collect())
}

/// Checks that the faces of each cell form a closed surface: each edge belongs to two of them, in opposite
/// directions.
fn check_closed(mesh: &CellMesh) {
    for cell in 0..mesh.cells.len() {
        let mut edges: BTreeMap<_, i32> = BTreeMap::new();
        for (_, polygon) in mesh.polygons(cell) {
            for (a, b) in polygon.iter().zip(polygon.iter().cycle().skip(1)) {
                *edges.entry((*a, *b)).or_default() += 1;
            }
        }
        for ((a, b), count) in &edges {
            assert_eq!((*count, edges.get(&(*b, *a))), (1, Some(&1)), "cell {cell}");
        }
    }
}

#[test]
fn meshes_have_the_cells_of_the_tessellation() {
    for (n, periodic) in [(80, [false; 3]), (80, [true, false, true]), (3, [true; 3]), (1, [true; 3])] {
        let (mesh, volumes) = mesh(n, periodic, 4);
        check_closed(&mesh);
        for (k, volume) in volumes.iter().enumerate() {
            let found = mesh.volume_and_centroid(k).0;
            assert!((found - volume).abs() < 1e-12, "cell {k}: {found}, not {volume}");
        }
    }
}

#[test]
fn short_edges_are_merged() {
    for (n, periodic) in [(150, [false; 3]), (150, [true; 3]), (40, [false, true, false])] {
        let (mut mesh, volumes) = mesh(n, periodic, 9);
        let before = mesh.edge_lengths();
        let mean = before.iter().sum::<f64>() / before.len() as f64;
        let threshold = 0.2 * mean;
        let report = mesh.regularise(threshold);
        let after = mesh.edge_lengths();
        let short = |list: &[f64]| list.iter().filter(|l| **l < threshold).count();
        assert_eq!(report.remaining, short(&after));
        assert!(short(&before) > 50 && short(&after) * 30 < short(&before), "{report:?}");
        assert!(
            (report.min_edge_before - before[0]).abs() < 1e-15
                && (report.min_edge_after - after[0]).abs() < 1e-15
        );
        check_closed(&mesh);
        let found: Vec<f64> = (0..mesh.cells.len()).map(|k| mesh.volume_and_centroid(k).0).collect();
        let total: f64 = found.iter().sum();
        let domain = mesh.domain.lengths.product();
        assert!((total - domain).abs() < 1e-12, "no gaps: {total}, not {domain}");
        let change = |k: usize| (found[k] - volumes[k]).abs() / volumes[k];
        let largest = (0..volumes.len()).map(change).fold(0.0, f64::max);
        assert!((largest - report.max_volume_change).abs() < 1e-12 && largest < 0.3, "{largest}");
    }
}

/// Numbers in the first braces of a line.
fn numbers(line: &str) -> Vec<i64> {
    let inside = line.split_once('{').and_then(|(_, rest)| rest.split_once('}')).unwrap().0;
    inside.split(", ").map(|n| n.parse().unwrap()).collect()
}

#[test]
fn adjacent_volumes_of_gmsh_share_surfaces() {
    for periodic in [[false; 3], [true, false, true]] {
        let (mut mesh, _) = mesh(60, periodic, 2);
        assert!(mesh.regularise(0.03).merged > 20);
        let text = mesh.polyhedra(&V3::new(1.0, 2.0, 3.0)).to_geo(&(5..65).collect::<Vec<_>>());
        let mut ends: BTreeMap<i64, [i64; 2]> = BTreeMap::new();
        for (k, line) in (1..).zip(text.lines().filter(|l| l.starts_with("Line("))) {
            let list = numbers(line);
            ends.insert(k, [list[0], list[1]]);
        }
        let mut surfaces = 0;
        for line in text.lines().filter(|l| l.starts_with("Curve Loop(")) {
            surfaces += 1;
            let list = numbers(line);
            let directed = |n: &i64| if *n > 0 { ends[n] } else { [ends[&-n][1], ends[&-n][0]] };
            for (a, b) in list.iter().zip(list.iter().cycle().skip(1)) {
                assert_eq!(directed(a)[1], directed(b)[0], "{line}");
            }
        }
        // Each surface belongs to one volume, or to two in opposite directions.
        let mut sides: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
        let volumes: Vec<&str> = text.lines().filter(|l| l.starts_with("Surface Loop(")).collect();
        assert!(volumes.len() == 60 && volumes[0].contains("Physical Volume(\"grain_5\", 5) = {1}"));
        for n in volumes.iter().flat_map(|line| numbers(line)) {
            sides.entry(n.abs()).or_default().push(n.signum());
        }
        assert_eq!(sides.len(), surfaces);
        let outer = sides.values().filter(|s| **s == [1]).count();
        assert!(sides.values().all(|s| *s == [1] || *s == [1, -1]), "{sides:?}");
        let walls = text.lines().filter(|l| l.starts_with("Physical Surface("));
        let on_walls: usize = walls.map(|l| numbers(l).len()).sum();
        // Along periodic axes, the surfaces between cells and images of cells belong to one volume, too.
        assert!(if periodic[0] { on_walls < outer } else { on_walls == outer }, "{on_walls} of {outer}");
    }
}

#[test]
fn a_merged_vertex_minimises_its_distances_to_the_planes() {
    // Four sites in a plane, slightly off a square: their edge along z is split in two at a short distance,
    // and the merged vertices lie in the middle between both.
    let site = |x: f64, y: f64| Site { position: P3::new(x, y, 0.5), weight: 0.0 };
    let domain = Domain { lengths: V3::repeat(1.0), periodic: [false; 3] };
    let sites = [site(0.25, 0.25), site(0.75, 0.25), site(0.25, 0.75), site(0.76, 0.76)];
    let mut mesh = CellMesh::new(&tessellate(&domain, &sites).unwrap());
    let before = mesh.edge_lengths();
    assert!(before[0] < 0.02 && before[2] > 0.4, "{before:?}");
    let report = mesh.regularise(0.1);
    assert_eq!((report.merged, report.vanished_faces, report.remaining), (2, 1, 0), "{report:?}");
    // The planes around the edge: those of the four faces that remain, and the one that vanished.
    let planes: Vec<(V3, f64)> = [(0, 1), (0, 2), (1, 3), (2, 3), (1, 2)]
        .iter()
        .map(|(a, b)| {
            let (a, b): (P3, P3) = (sites[*a].position, sites[*b].position);
            let n = (b - a).normalize();
            (n, n.dot(&(a.coords + b.coords)) / 2.0)
        })
        .collect();
    let sum =
        |p: &P3| planes.iter().map(|(n, d)| (n.dot(&p.coords) - d) * (n.dot(&p.coords) - d)).sum::<f64>();
    let used: std::collections::BTreeSet<u32> =
        mesh.faces.iter().flat_map(|f| f.vertices.iter().map(|v| v.0)).collect();
    let inner: Vec<P3> = used
        .iter()
        .map(|v| mesh.positions[*v as usize])
        .filter(|p| (p.x - 0.5).abs() < 0.1 && (p.y - 0.5).abs() < 0.1)
        .collect();
    assert_eq!(inner.len(), 2);
    for p in inner {
        assert!(p.z == 0.0 || p.z == 1.0, "on the wall: {p}");
        for (dx, dy) in [(1e-4, 0.0), (-1e-4, 0.0), (0.0, 1e-4), (0.0, -1e-4)] {
            assert!(sum(&p) < sum(&(p + V3::new(dx, dy, 0.0))), "{p} is not the minimum");
        }
    }
}
