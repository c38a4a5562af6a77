//! Contact search: bounds of distances, DIST 4.4 and 4.5, repeatability.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::scenarios::{Contacts, Cost, Ironing, falling_grains, grain, iron, ironing, mutual_costs};
use feeler_deformable::{
    Body, ContactSettings, DeformableBody, DeformableError, Material, Mesh, RigidBody, Simulation, TreeScope,
};
use feeler_geom::{P3, V3};
use nalgebra::Rotation3;
use rand::{Rng, SeedableRng, rngs::SmallRng};

#[test]
fn dist_4_4_bounds_never_exceed_distances_and_spare_95_percent_of_their_computations() {
    let mut simulation = falling_grains();
    let mut contacts = [0, 0, 0];
    for _ in 0..45_000 {
        simulation.step(4.0 / 45_000.0).unwrap();
        for (k, pair) in simulation.pairs().enumerate() {
            let exact = simulation.exact_distance(k).unwrap();
            assert!(pair.bound <= exact, "t = {}: {pair:?}, distance {exact}", simulation.time());
            contacts[k] += usize::from(pair.is_active);
        }
    }
    assert!(contacts.iter().all(|&c| c > 100), "all pairs touch: {contacts:?}");
    let counts = simulation.search_counts();
    assert_eq!(counts.pair_steps, 3 * 45_000, "steps times pairs");
    let share = counts.distances as f64 / counts.pair_steps as f64;
    assert!(share < 0.05, "{share} of the distances were computed: {counts:?}");
}

#[test]
fn dist_4_5_ironing_in_three_pieces_is_the_same_as_with_one_tree_over_all_facets() {
    let (pieces, counts, touched) = iron(true, true);
    let (whole, _, _) = iron(false, false);
    assert_eq!(
        touched,
        [true; 3],
        "the slider touches all pieces: {:?}",
        pieces.iter().step_by(pieces.len() / 20).collect::<Vec<_>>()
    );
    assert_eq!(pieces.len(), whole.len(), "steps");
    for (k, (a, b)) in pieces.iter().zip(&whole).enumerate() {
        let error = a.iter().zip(b).map(|(a, b)| (a - b).abs() / b.abs()).fold(0.0, f64::max);
        assert!(error <= 1e-10, "step {k}: {a:?} {b:?}");
    }
    let bits = |h: &[[f64; 4]]| h.iter().flatten().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&pieces), bits(&whole), "contacts are summed in the same order, so all bits agree");
    let (start, end) = (pieces[0], pieces[pieces.len() - 1]);
    assert!(end[1] - start[1] > 5.0, "the slider crosses the trough: {start:?} to {end:?}");
    assert!(counts.distances * 10 < counts.pair_steps, "{counts:?}");
}

/// Deformable and rigid bodies that fly into one another at random.
fn crowd(activation: f64, trees: TreeScope) -> Simulation {
    let mut rng = SmallRng::seed_from_u64(3);
    let settings = ContactSettings { activation, friction: 0.2, trees, ..ContactSettings::new(20.0, 0.05) };
    let mut simulation = Simulation::new(settings).unwrap();
    for k in 0..9 {
        let center = P3::new(f64::from(k % 3), f64::from(k / 3), rng.random_range(0.0..0.5)) * 2.0;
        let random = |rng: &mut SmallRng| V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        let (toward, turn) = (P3::new(2.0, 2.0, 0.5) - center, random(&mut rng));
        let velocity = toward * 400.0 + random(&mut rng) * 200.0;
        if k % 3 == 0 {
            let mut body = grain(center, V3::new(0.7, 0.5, 0.6), turn, 0.05);
            body.set_free(1e-9).unwrap();
            body.set_velocity(velocity, turn * 300.0).unwrap();
            simulation.add(body).unwrap();
        } else {
            let generate = if k % 3 == 1 { Mesh::box_of_tetrahedra } else { Mesh::box_of_hexahedra };
            let mut mesh = generate(P3::new(-0.5, -0.5, -0.5), V3::repeat(1.0), [2, 1, 1]).unwrap();
            mesh.nodes.iter_mut().for_each(|n| *n = center + Rotation3::new(turn) * n.coords);
            let material = Material::new(300.0, 0.3, 1e-9).unwrap();
            let mut body = DeformableBody::new(&mesh, material, 0.05).unwrap();
            body.set_uniform_velocity(velocity).unwrap();
            simulation.add(body).unwrap();
        }
    }
    simulation
}

#[test]
fn bounds_never_exceed_distances_and_no_contact_of_a_crowd_is_missed() {
    let (mut search, mut all) = (crowd(0.0, TreeScope::Piece), crowd(f64::INFINITY, TreeScope::Piece));
    let step = 0.3 * search.stable_step(4);
    let mut touching = 0;
    let momentum = |s: &Simulation| s.bodies().iter().map(Body::momentum).sum::<V3>();
    let start = momentum(&search);
    while search.time() < 6e-3 {
        search.step(step).unwrap();
        all.step(step).unwrap();
        for (k, pair) in search.pairs().enumerate() {
            let exact = search.exact_distance(k).unwrap();
            assert!(pair.bound <= exact, "t = {}: {pair:?}, distance {exact}", search.time());
        }
        touching += usize::from(search.max_overlap() > 0.0);
        let energies = [&search, &all].map(|s| s.energies().total().to_bits());
        assert_eq!(energies[0], energies[1], "t = {}", search.time());
    }
    let scale: f64 = search.bodies().iter().map(|b| b.momentum().norm()).sum();
    assert!((momentum(&search) - start).norm() < 1e-12 * scale, "friction keeps the momentum");
    assert!(touching > 500, "the bodies collide in {touching} steps");
    let counts = search.search_counts();
    assert!(counts.distances * 20 < counts.pair_steps, "{counts:?}");
    assert!(counts.trees_built > 5 && search.pairs().any(|p| !p.is_active), "{counts:?}");
}

#[test]
fn all_scopes_of_trees_compute_the_same_contacts() {
    let scopes = [TreeScope::Piece, TreeScope::Pair, TreeScope::Scene];
    let mut crowds = scopes.map(|trees| crowd(0.0, trees));
    let step = 0.3 * crowds[0].stable_step(4);
    while crowds[0].time() < 6e-3 {
        crowds.iter_mut().for_each(|c| c.step(step).unwrap());
        let [piece, pair, scene] = crowds.each_ref().map(|c| c.energies().total().to_bits());
        assert!(piece == pair && piece == scene, "t = {}", crowds[0].time());
    }
    let [piece, pair, scene] = crowds.each_ref().map(Simulation::search_counts);
    assert_eq!(piece.feature_tests, pair.feature_tests, "the same lists of features");
    assert!(piece.sorted_features < pair.sorted_features, "{piece:?} {pair:?}");
    assert!(piece.box_updates < pair.box_updates, "{piece:?} {pair:?}");
    assert!(scene.feature_tests > 0 && scene.collections < pair.collections, "{scene:?} {pair:?}");
}

#[test]
fn bodies_that_are_added_during_a_run_keep_the_contacts_of_all_scopes() {
    let scopes = [TreeScope::Piece, TreeScope::Pair, TreeScope::Scene];
    let mut runs = scopes.map(|trees| {
        let settings = ContactSettings { trees, activation: 1.0, ..ContactSettings::new(20.0, 0.1) };
        let mut simulation = Simulation::new(settings).unwrap();
        let material = Material::new(300.0, 0.3, 1e-9).unwrap();
        for (height, speed) in [(0.0, 0.0), (1.6, -1000.0)] {
            let mesh = Mesh::box_of_hexahedra(P3::new(0.1, 0.0, height), V3::repeat(1.0), [2; 3]).unwrap();
            let mut body = DeformableBody::new(&mesh, material, 0.1).unwrap();
            body.set_uniform_velocity(V3::z() * speed).unwrap();
            simulation.add(body).unwrap();
        }
        simulation
    });
    let step = 0.3 * runs[0].stable_step(4);
    // The two bodies are near, and their features are listed, before the third body is added.
    while !runs.iter().all(|s| s.pairs().all(|p| p.is_active)) {
        runs.iter_mut().for_each(|s| s.step(step).unwrap());
        assert!(runs[0].time() < 5e-3, "near");
    }
    runs.iter_mut().for_each(|s| {
        s.add(RigidBody::sphere(P3::new(90.0, 0.0, 0.0), 1.0).unwrap()).unwrap();
    });
    let mut overlap = 0.0_f64;
    for k in 0..20_000 {
        runs.iter_mut().for_each(|s| s.step(step).unwrap());
        let [piece, pair, scene] = runs.each_ref().map(|s| s.energies().total().to_bits());
        assert!(piece == pair && piece == scene, "step {k}");
        overlap = overlap.max(runs[0].max_overlap());
        if overlap > 5e-4 && runs[0].max_overlap() <= 0.0 {
            break;
        }
    }
    assert!(overlap > 5e-4, "the bodies collide: {overlap}");
}

#[test]
fn dist_4_6_sharing_trees_saves_updates_of_bodies_in_mutual_contact() {
    for contacts in [Contacts::Points, Contacts::PointsUnequal, Contacts::Faces] {
        let [scene, pair, piece] = mutual_costs(contacts, 5, [8, 6], 1, 12);
        assert_eq!(piece.counts.box_tests, pair.counts.box_tests, "{contacts:?}");
        assert!(piece.counts.box_updates < pair.counts.box_updates, "{piece:?} {pair:?}");
        assert_eq!(pair.sorted, 4 * piece.sorted, "each body has four pairs");
        let sum = |cost: &Cost| cost.sorted + cost.counts.box_updates + cost.counts.box_tests;
        assert!(sum(&piece) < sum(&scene), "{contacts:?}: {piece:?} {scene:?}");
    }
}

#[test]
fn runs_have_the_same_bits_every_time() {
    let run = || {
        let Ironing { mut simulation, slider } = ironing(true);
        let step = 0.4 * simulation.stable_step(2);
        (0..500).for_each(|_| simulation.step(step).unwrap());
        let body = simulation.deformable(slider).unwrap();
        body.positions().iter().flat_map(|p| p.iter().map(|c| c.to_bits())).collect::<Vec<_>>()
    };
    assert_eq!(run(), run(), "two runs");
}

#[test]
fn positions_set_from_outside_reset_the_bounds() {
    let mut simulation = Simulation::new(ContactSettings::new(10.0, 0.1)).unwrap();
    let material = Material::new(100.0, 0.3, 1e-9).unwrap();
    let mesh = Mesh::box_of_tetrahedra(P3::new(-1.0, -1.0, 10.0), V3::repeat(2.0), [1; 3]).unwrap();
    let id = simulation.add(DeformableBody::new(&mesh, material, 0.1).unwrap()).unwrap();
    simulation.add(RigidBody::sphere(P3::origin(), 1.0).unwrap()).unwrap();
    simulation.step(1e-9).unwrap();
    assert!(simulation.pairs().next().unwrap().bound > 8.8, "far away");
    let lower = |b: &mut DeformableBody| {
        let x = b.positions().to_vec();
        (0..x.len()).try_for_each(|k| b.set_position(k, x[k] - V3::z() * 8.95))
    };
    simulation.change_deformable(id, lower).unwrap();
    simulation.step(1e-9).unwrap();
    assert!((simulation.max_overlap() - 0.05).abs() < 1e-6, "overlap {}", simulation.max_overlap());
    let unknown = simulation.change_rigid(id, |_| Ok(()));
    assert_eq!(unknown, Err(DeformableError::UnknownBody(0)), "not a rigid body");
    let body = DeformableBody::new(&mesh, material, 0.1).unwrap();
    let wrong = simulation.add_in_pieces(body, &[0, 1]);
    assert_eq!(wrong, Err(DeformableError::Pieces { given: 2, count: 12 }), "pieces");
}
