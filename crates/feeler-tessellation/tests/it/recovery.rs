//! Known tessellations recovered from their images.

#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    clippy::missing_assert_message,
    reason = "test code"
)]

use feeler_convex::reference::{Johnson, Voronoi};
use feeler_geom::{P3, V3};
use feeler_tessellation::{
    CellDistance, CellKind, CellMesh, CellValues, Domain, Fit, FitMethod, FitOptions, FitStage, FitState,
    Gjk, Grains, SignedVolumes, Site, SiteIndex, VoxelImage, facet_errors, rand_index, tessellate,
};
use rand::{Rng as _, SeedableRng as _, rngs::StdRng};

struct Known {
    sites: Vec<Site>,
    domain: Domain,
    image: VoxelImage,
}

/// An image of `n` cells with `size` voxels along each axis, of sites with a minimum distance.
fn known(n: usize, size: usize, kind: CellKind, periodic: bool, seed: u64) -> Known {
    let domain = Domain { lengths: V3::repeat(size as f64), periodic: [periodic; 3] };
    let spacing = size as f64 / (n as f64).cbrt();
    let mut rng = StdRng::seed_from_u64(seed);
    let mut sites: Vec<Site> = Vec::new();
    while sites.len() < n {
        let position = P3::from(domain.lengths.map(|l| l * rng.random::<f64>()));
        let radius = spacing * rng.random_range(0.3..0.6);
        let weight = if kind == CellKind::Laguerre { radius * radius } else { 0.0 };
        let is_near = |s: &Site| domain.nearest_offset(&(s.position - position)).norm() < 0.55 * spacing;
        if !sites.iter().any(is_near) {
            sites.push(Site { position, weight });
        }
    }
    let image = VoxelImage::of_tessellation(&SiteIndex::new(&domain, &sites).unwrap(), [size; 3]);
    Known { sites, domain, image }
}

fn run<D: CellDistance>(mut fit: Fit<'_, D>) -> Fit<'_, D> {
    while !fit.is_finished() {
        fit.advance().unwrap();
    }
    fit
}

#[test]
fn voronoi_sites_are_recovered_to_a_tenth_of_a_voxel() {
    for periodic in [false, true] {
        let known = known(60, 64, CellKind::Voronoi, periodic, 1);
        let grains = Grains::new(&known.image, known.domain.periodic).unwrap();
        let options = FitOptions { kind: CellKind::Voronoi, tolerance: 1e-7, ..FitOptions::default() };
        let fit = run(Fit::new(&grains, options).unwrap());
        let found = fit.tessellation().unwrap().sites;
        let error = |(a, b): (&Site, &Site)| known.domain.nearest_offset(&(a.position - b.position)).norm();
        let largest = found.iter().zip(&known.sites).map(error).fold(0.0, f64::max);
        assert!(largest < 0.1, "a site is {largest} voxels away");
    }
}

#[test]
fn laguerre_facets_are_recovered_to_a_tenth_of_a_voxel() {
    let known = known(60, 64, CellKind::Laguerre, false, 2);
    let exact = tessellate(&known.domain, &known.sites).unwrap();
    let grains = Grains::new(&known.image, [false; 3]).unwrap();
    assert_eq!(grains.labels.len(), 60);
    let fit = run(Fit::new(&grains, FitOptions::default()).unwrap());
    let found = fit.tessellation().unwrap();
    let errors = facet_errors(&exact, &found.sites, 9.0);
    assert!(errors.count > 200 && errors.rms < 0.03 && errors.percentile_95 < 0.06, "{errors:?}");
    for (a, b) in exact.cells.iter().zip(&found.cells) {
        let [a, b] = [a, b].map(|c| c.as_ref().unwrap().volume);
        assert!((a - b).abs() < 0.02 * a, "volumes {a} and {b}");
    }
    let redrawn = VoxelImage::of_tessellation(&SiteIndex::new(&known.domain, &found.sites).unwrap(), [64; 3]);
    let index = rand_index(&known.image.labels, &redrawn.labels);
    assert!(index > 0.9999, "{index}");
    // Files have all cells.
    let mesh = CellMesh::new(&found);
    let values: Vec<CellValues> = (0..60)
        .map(|k| CellValues { label: grains.labels[k], weight: found.sites[k].weight, volume: 1.0 })
        .collect();
    let polyhedra = mesh.polyhedra(&V3::zeros());
    let vtu = polyhedra.to_vtu(&values);
    assert!(vtu.contains("NumberOfCells=\"60\"") && !vtu.contains("NaN"));
    let stl = polyhedra.to_stl(&grains.labels);
    assert_eq!(stl.matches("\nendsolid grain_").count(), 60);
}

#[test]
fn noise_moves_facets_by_less_than_it_moves_voxels() {
    let known = known(60, 64, CellKind::Laguerre, false, 2);
    let exact = tessellate(&known.domain, &known.sites).unwrap();
    let noisy = known.image.with_noise(0.2, [false; 3], 3);
    let grains = Grains::new(&noisy, [false; 3]).unwrap();
    let fit = run(Fit::new(&grains, FitOptions::default()).unwrap());
    let errors = facet_errors(&exact, &fit.tessellation().unwrap().sites, 25.0);
    assert!(errors.rms < 0.15, "{errors:?}");
}

#[test]
fn both_methods_reach_small_objectives_with_all_sub_algorithms() {
    let known = known(8, 14, CellKind::Laguerre, false, 4);
    let grains = Grains::new(&known.image, [false; 3]).unwrap();
    let base = FitOptions { interfaces_first: false, tolerance: 1e-5, ..FitOptions::default() };
    for method in [FitMethod::Gradient, FitMethod::Simplex] {
        let options = FitOptions { method, ..base };
        let states = [
            run(Fit::with_distance(&grains, options, Gjk(SignedVolumes::default())).unwrap()).state().clone(),
            run(Fit::with_distance(&grains, options, Gjk(Johnson)).unwrap()).state().clone(),
            run(Fit::with_distance(&grains, options, Gjk(Voronoi)).unwrap()).state().clone(),
        ];
        for state in &states {
            let (first, last) = (state.history[0], state.objective);
            assert_eq!(state.stage, FitStage::Converged);
            assert!(last < 0.05 * first, "{method:?}: {first} to {last}");
            assert!(state.history.windows(2).all(|w| w[1] <= w[0]), "{:?}", state.history);
        }
    }
}

#[test]
fn threads_and_interruptions_do_not_change_a_bit() {
    let known = known(8, 14, CellKind::Laguerre, true, 5);
    let grains = Grains::new(&known.image, [true; 3]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fit.checkpoint");
    for method in [FitMethod::Gradient, FitMethod::Simplex] {
        let options = FitOptions { method, max_iterations: 5, ..FitOptions::default() };
        let states: Vec<FitState> = [1, 2, 5]
            .map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| run(Fit::new(&grains, options).unwrap())).state().clone()
            })
            .into();
        assert_eq!(states[0], states[1]);
        assert_eq!(states[0], states[2]);
        assert!(FitState::load(&file, &grains, &options).unwrap().is_none(), "no checkpoint yet");
        let mut fit = Fit::new(&grains, options).unwrap();
        while !fit.is_finished() {
            fit.advance().unwrap();
            fit.state().save(&file, &grains, &options).unwrap();
            let state = FitState::load(&file, &grains, &options).unwrap().unwrap();
            fit = Fit::new(&grains, options).unwrap().resume(state).unwrap();
        }
        assert_eq!(*fit.state(), states[0]);
        let other = FitOptions { kind: CellKind::Voronoi, ..options };
        let message = FitState::load(&file, &grains, &other).unwrap_err().to_string();
        assert!(message.contains("fit.checkpoint: is of another image or of other options"), "{message}");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, &text[..text.len() - 9]).unwrap();
        let message = FitState::load(&file, &grains, &options).unwrap_err().to_string();
        assert!(message.contains("is damaged"), "{message}");
        std::fs::remove_file(&file).unwrap();
    }
}
