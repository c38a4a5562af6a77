//! Contact search: bounds of distances, DIST 4.4 and 4.5, repeatability.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use feeler_deformable::{
    BodyId, ContactSettings, DeformableBody, DeformableError, Material, Mesh, RigidBody, SearchCounts,
    Simulation,
};
use feeler_geom::{P3, V3};
use nalgebra::Rotation3;
use rand::{Rng, SeedableRng, rngs::SmallRng};

/// Ellipsoidal grain of 80 facets: a subdivided icosahedron, scaled and turned.
fn grain(center: P3, half_axes: V3, turn: V3, skin: f64) -> RigidBody {
    let golden = 0.5 * (1.0 + 5.0_f64.sqrt());
    let mut nodes: Vec<V3> = Vec::new();
    for k in 0..3 {
        for (s, t) in [(1.0, golden), (1.0, -golden), (-1.0, golden), (-1.0, -golden)] {
            let mut node = V3::zeros();
            (node[k], node[(k + 1) % 3]) = (s, t);
            nodes.push(node.normalize());
        }
    }
    let edge = (nodes[0] - nodes[2]).norm();
    let mut facets = Vec::new();
    for a in 0..12 {
        for b in a + 1..12 {
            for c in b + 1..12 {
                let sides = [(a, b), (b, c), (c, a)].map(|(i, j)| (nodes[i] - nodes[j]).norm());
                if sides.iter().all(|s| (s - edge).abs() < 1e-9) {
                    let outward = (nodes[b] - nodes[a]).cross(&(nodes[c] - nodes[a])).dot(&nodes[a]) > 0.0;
                    facets.push(if outward { [a, b, c] } else { [a, c, b] });
                }
            }
        }
    }
    let mut fine = Vec::new();
    for [a, b, c] in facets {
        let mut middle = |i: usize, j: usize| {
            let m = (nodes[i] + nodes[j]).normalize();
            let found = nodes.iter().position(|n| (n - m).norm() < 1e-9);
            found.unwrap_or_else(|| {
                nodes.push(m);
                nodes.len() - 1
            })
        };
        let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
        fine.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
    }
    let turn = Rotation3::new(turn);
    let nodes = nodes.iter().map(|n| center + turn * n.component_mul(&half_axes)).collect();
    let facets = fine.iter().map(|f| f.map(|k| u32::try_from(k).unwrap())).collect();
    RigidBody::new(nodes, facets, skin).unwrap()
}

/// Two grains over a square plate of 0.5 mm, as in DIST 4.4. Gravity is 1 mm/s², so that the grains reach the
/// plate after about half a second.
fn falling_grains() -> Simulation {
    let skin = 0.005;
    let settings = ContactSettings { friction: 0.3, ..ContactSettings::new(1e-6, 0.005) };
    let mut simulation = Simulation::new(settings).unwrap();
    let corners = [[-0.25, -0.25], [0.25, -0.25], [0.25, 0.25], [-0.25, 0.25]];
    let corners = corners.map(|[x, y]| P3::new(x, y, 0.0)).to_vec();
    simulation.add(RigidBody::new(corners, vec![[0, 1, 2], [0, 2, 3]], skin).unwrap()).unwrap();
    let half_axes = V3::new(0.12, 0.1, 0.08);
    for (center, turn) in [
        (P3::new(0.0, 0.0, 0.25), V3::new(0.3, 0.5, 0.1)),
        (P3::new(0.05, 0.0, 0.6), V3::new(1.0, -0.4, 0.6)),
    ] {
        let mut grain = grain(center, half_axes, turn, skin);
        grain.set_free(2.65e-9).unwrap();
        simulation.add(grain).unwrap();
    }
    simulation.set_gravity(V3::z() * -1.0).unwrap();
    simulation
}

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

/// Ironing as in DIST 4.5: the slider of one element glides through the trough of a concave body. `pieces`
/// divides the concave body into three convex pieces along x.
struct Ironing {
    simulation: Simulation,
    slider: BodyId,
}

fn ironing(pieces: bool) -> Ironing {
    let material = Material::new(210.0, 0.3, 7.85e-9).unwrap();
    let skin = 0.05;
    // One tree over all facets that is searched in all steps replaces the bounds of distances.
    let activation = if pieces { 0.0 } else { f64::INFINITY };
    let settings = ContactSettings { activation, friction: 0.1, ..ContactSettings::new(30.0, 0.03) };
    let mut simulation = Simulation::new(settings).unwrap();
    let mut mesh = Mesh::box_of_hexahedra(P3::origin(), V3::new(12.0, 4.0, 2.0), [12, 3, 2]).unwrap();
    for node in &mut mesh.nodes {
        node.z += 0.25 * node.z * ((node.x - 6.0).abs() - 2.0).max(0.0);
    }
    let body = DeformableBody::new(&mesh, material, skin).unwrap();
    let piece = |f: &[u32; 3]| {
        let x = f.iter().map(|&n| mesh.nodes[n as usize].x).sum::<f64>() / 3.0;
        if pieces { u32::from(x >= 4.0) + u32::from(x >= 8.0) } else { 0 }
    };
    let indices: Vec<u32> = body.facets().iter().map(piece).collect();
    simulation.add_in_pieces(body, &indices).unwrap();
    let mut block =
        Mesh::box_of_hexahedra(P3::new(-0.75, -0.75, 0.0), V3::new(1.5, 1.5, 1.0), [1; 3]).unwrap();
    let tilt = Rotation3::new(V3::y() * feeler_geom::math::atan2(0.5, 1.0));
    let pivot = P3::new(7.5, 2.0, 12.0);
    for node in &mut block.nodes {
        *node = P3::new(2.4, 2.05, 2.95) + tilt * node.coords;
    }
    let mut slider = DeformableBody::new(&block, material, skin).unwrap();
    for (k, x) in block.nodes.iter().enumerate() {
        slider.set_velocity(k, V3::y().cross(&(x - pivot)) * -70.0).unwrap();
    }
    let slider = simulation.add(slider).unwrap();
    Ironing { simulation, slider }
}

/// Runs the ironing; returns kinetic energy and centre of the slider for every step, and the counts.
fn iron(pieces: bool, check_bounds: bool) -> (Vec<[f64; 4]>, SearchCounts, [bool; 3]) {
    let Ironing { mut simulation, slider } = ironing(pieces);
    let step = 0.4 * simulation.stable_step(2);
    let (mut history, mut touched) = (Vec::new(), [false; 3]);
    while simulation.time() < 0.02 {
        simulation.step(step).unwrap();
        let center = simulation.deformable(slider).unwrap().center_of_mass();
        history.push([simulation.energies().kinetic, center.x, center.y, center.z]);
        for (k, pair) in simulation.pairs().enumerate() {
            let exact = if check_bounds { simulation.exact_distance(k).unwrap() } else { f64::INFINITY };
            assert!(pair.bound <= exact, "t = {}: {pair:?}, distance {exact}", simulation.time());
            touched[k] |= exact <= 0.0;
        }
    }
    (history, simulation.search_counts(), touched)
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
fn crowd(activation: f64) -> Simulation {
    let mut rng = SmallRng::seed_from_u64(3);
    let settings = ContactSettings { activation, friction: 0.2, ..ContactSettings::new(20.0, 0.05) };
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
    let (mut search, mut all) = (crowd(0.0), crowd(f64::INFINITY));
    let step = 0.3 * search.stable_step(4);
    let mut touching = 0;
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
    assert!(touching > 500, "the bodies collide in {touching} steps");
    let counts = search.search_counts();
    assert!(counts.distances * 20 < counts.pair_steps, "{counts:?}");
    assert!(counts.trees_built > 5 && search.pairs().any(|p| !p.is_active), "{counts:?}");
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
