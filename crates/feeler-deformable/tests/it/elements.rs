//! Elements and time integration against closed forms: patch tests, rigid motions, energies, frequencies.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use feeler_deformable::{ContactSettings, DeformableBody, DeformableError, Material, Mesh, Simulation};
use feeler_geom::{P3, V3, math};
use nalgebra::{DMatrix, Matrix3, Rotation3};
use rand::{Rng, SeedableRng, rngs::SmallRng};

fn steel() -> Material {
    Material::new(2.1e5, 0.3, 7.85e-9).unwrap()
}

fn random_vector(rng: &mut SmallRng, size: f64) -> V3 {
    V3::from_fn(|_, _| rng.random_range(-size..size))
}

/// Boxes of both elements whose nodes are displaced at random; returns the meshes and their names.
fn distorted_meshes(rng: &mut SmallRng) -> Vec<(&'static str, Mesh)> {
    let size = V3::new(3.0, 2.0, 2.5);
    let corner = P3::new(1.0, -2.0, 0.5);
    let mut meshes = vec![
        ("tetrahedra", Mesh::box_of_tetrahedra(corner, size, [3, 2, 3]).unwrap()),
        ("hexahedra", Mesh::box_of_hexahedra(corner, size, [3, 2, 3]).unwrap()),
    ];
    for (_, mesh) in &mut meshes {
        for node in &mut mesh.nodes {
            *node += random_vector(rng, 0.12);
        }
    }
    meshes
}

fn simulation(body: DeformableBody) -> (Simulation, feeler_deformable::BodyId) {
    let mut simulation = Simulation::new(ContactSettings::new(1.0, 0.1)).unwrap();
    let id = simulation.add(body).unwrap();
    (simulation, id)
}

/// Forces at the nodes of a body that is deformed to `positions`, computed by a step too short to matter.
fn forces_at(body: &DeformableBody, positions: impl Fn(usize, &P3) -> P3) -> DeformableBody {
    let mut body = body.clone();
    for (k, x) in body.reference().to_vec().iter().enumerate() {
        body.set_position(k, positions(k, x)).unwrap();
    }
    let (mut simulation, id) = simulation(body);
    simulation.step(1e-30).unwrap();
    simulation.deformable(id).unwrap().clone()
}

fn boundary_nodes(body: &DeformableBody) -> Vec<bool> {
    let mut out = vec![false; body.reference().len()];
    body.facets().iter().flatten().for_each(|&n| out[n as usize] = true);
    out
}

#[test]
fn affine_displacements_of_distorted_meshes_give_constant_stress_and_no_interior_forces() {
    let mut rng = SmallRng::seed_from_u64(1);
    for (name, mesh) in distorted_meshes(&mut rng) {
        let body = DeformableBody::new(&mesh, steel(), 0.01).unwrap();
        let gradient = Matrix3::identity() + Matrix3::from_fn(|_, _| rng.random_range(-0.1..0.1));
        let body = forces_at(&body, |_, x| P3::from(gradient * x.coords + V3::new(1.0, 2.0, 3.0)));
        let strain = (gradient.transpose() * gradient - Matrix3::identity()) * 0.5;
        let (lambda, mu) = steel().lame();
        let stress = Matrix3::identity() * (lambda * strain.trace()) + strain * (2.0 * mu);
        for s in body.stresses() {
            assert!((s - stress).norm() < 1e-12 * stress.norm(), "{name}: {s}");
        }
        let on_boundary = boundary_nodes(&body);
        assert!(on_boundary.iter().any(|b| !b), "{name} has interior nodes");
        for (f, on_boundary) in body.forces().iter().zip(on_boundary) {
            assert!(on_boundary || f.norm() < 1e-10 * stress.norm(), "{name}: {f}");
        }
        let volume = body.mass() / body.material().density();
        let energy = 0.5 * stress.dot(&strain) * volume;
        assert!((body.strain_energy() / energy - 1.0).abs() < 1e-12, "{name}: energy");
    }
}

#[test]
fn masses_sum_to_the_mass_of_the_box() {
    let size = V3::new(3.0, 2.0, 2.5);
    for mesh in [Mesh::box_of_tetrahedra, Mesh::box_of_hexahedra] {
        let mesh = mesh(P3::origin(), size, [2, 3, 4]).unwrap();
        let body = DeformableBody::new(&mesh, steel(), 0.01).unwrap();
        assert!((body.mass() / (15.0 * 7.85e-9) - 1.0).abs() < 1e-13, "{}", body.mass());
        assert!((body.center_of_mass() - P3::from(size * 0.5)).norm() < 1e-12, "centre");
        assert_eq!(body.facets().len(), 2 * 2 * (2 * 3 + 3 * 4 + 2 * 4), "facets");
    }
}

#[test]
fn finite_rotations_cause_no_forces() {
    let mut rng = SmallRng::seed_from_u64(2);
    for (name, mesh) in distorted_meshes(&mut rng) {
        let body = DeformableBody::new(&mesh, steel(), 0.01).unwrap();
        for _ in 0..5 {
            let (turn, shift) = (Rotation3::new(random_vector(&mut rng, 3.0)), random_vector(&mut rng, 5.0));
            let body = forces_at(&body, |_, x| turn * x + shift);
            let largest = body.forces().iter().map(V3::norm).fold(0.0, f64::max);
            assert!(largest < 1e-11 * 2.1e5, "{name}: {largest} N");
        }
    }
}

/// Matrix M^(-1/2) K M^(-1/2) of the small vibrations of a body.
fn dynamic_matrix(body: &DeformableBody) -> DMatrix<f64> {
    let mut k = body.stiffness_matrix();
    for i in 0..k.nrows() {
        for j in 0..k.ncols() {
            k[(i, j)] /= (body.masses()[i / 3] * body.masses()[j / 3]).sqrt();
        }
    }
    k
}

#[test]
fn stiffness_has_six_zero_modes_and_matches_the_forces() {
    let mut rng = SmallRng::seed_from_u64(3);
    let single = Mesh {
        nodes: vec![P3::origin(), P3::new(1.0, 0.1, 0.0), P3::new(0.2, 1.0, 0.0), P3::new(0.3, 0.2, 1.0)],
        tetrahedra: vec![[0, 1, 2, 3]],
        hexahedra: Vec::new(),
    };
    let cube = Mesh::box_of_hexahedra(P3::origin(), V3::new(1.0, 1.2, 0.8), [1, 1, 1]).unwrap();
    let mut meshes = distorted_meshes(&mut rng);
    meshes.extend([("one tetrahedron", single), ("one hexahedron", cube)]);
    for (name, mesh) in meshes {
        let body = DeformableBody::new(&mesh, steel(), 0.01).unwrap();
        let stiffness = body.stiffness_matrix();
        assert!((&stiffness - stiffness.transpose()).norm() < 1e-12 * stiffness.norm(), "{name}");
        let mut values: Vec<f64> = dynamic_matrix(&body).symmetric_eigenvalues().iter().copied().collect();
        values.sort_by(f64::total_cmp);
        let top = values[values.len() - 1];
        assert!(values[5].abs() < 1e-11 * top && values[0].abs() < 1e-11 * top, "{name}: {:?}", &values[..7]);
        assert!(values[6] > 1e-5 * top, "{name} has no hourglass modes: {:?}", &values[..8]);
        let shifts: Vec<V3> = mesh.nodes.iter().map(|_| random_vector(&mut rng, 1e-7)).collect();
        let moved = forces_at(&body, |k, x| x + shifts[k]);
        let u =
            nalgebra::DVector::from_iterator(3 * shifts.len(), shifts.iter().flat_map(|s| s.iter().copied()));
        let linear = -(&stiffness * u);
        let error =
            moved.forces().iter().enumerate().map(|(k, f)| (f - linear.fixed_rows::<3>(3 * k)).norm());
        assert!(error.fold(0.0, f64::max) < 1e-5 * linear.amax(), "{name}: forces");
    }
}

#[test]
fn free_bodies_keep_momentum_and_energy() {
    let mut rng = SmallRng::seed_from_u64(4);
    for (name, mesh) in distorted_meshes(&mut rng) {
        let mut body = DeformableBody::new(&mesh, steel(), 0.01).unwrap();
        for k in 0..mesh.nodes.len() {
            body.set_velocity(k, random_vector(&mut rng, 2e4) + V3::new(1e4, -2e4, 5e3)).unwrap();
        }
        let (momentum, angular) = (body.momentum(), body.angular_momentum());
        let (mut simulation, id) = simulation(body);
        let step = 0.5 * simulation.stable_step(0);
        let start = simulation.energies().total();
        let (mut low, mut high, mut strain) = (f64::INFINITY, 0.0_f64, 0.0_f64);
        for _ in 0..4000 {
            simulation.step(step).unwrap();
            let energies = simulation.energies();
            (low, high) = (low.min(energies.total()), high.max(energies.total()));
            strain = strain.max(energies.strain);
        }
        let body = simulation.deformable(id).unwrap();
        assert!(strain > 0.1 * start, "{name} vibrates: {strain} of {start}");
        assert!(low > 0.97 * start && high < 1.03 * start, "{name}: energy {low} to {high} of {start}");
        assert!((body.momentum() - momentum).norm() < 1e-12 * momentum.norm(), "{name}: momentum");
        let drift = (body.angular_momentum() - angular).norm();
        assert!(drift < 1e-11 * angular.norm(), "{name}: angular momentum {drift}");
    }
}

/// First axial frequency (Hz) of a clamped-free bar of `n` hexahedra of length 100 mm, from zero crossings
/// of the end's displacement.
fn bar_frequency(n: u32, material: Material) -> f64 {
    let mesh = Mesh::box_of_hexahedra(P3::origin(), V3::new(100.0, 2.0, 2.0), [n, 1, 1]).unwrap();
    let mut body = DeformableBody::new(&mesh, material, 0.01).unwrap();
    for (k, x) in mesh.nodes.iter().enumerate() {
        body.set_velocity(k, V3::x() * (10.0 * math::sin(x.x * std::f64::consts::FRAC_PI_2 / 100.0)))
            .unwrap();
        if x.x <= 0.0 {
            (0..3).for_each(|axis| body.prescribe_velocity(k, axis, 0.0).unwrap());
        }
    }
    let (mut simulation, id) = simulation(body);
    let step = 0.3 * simulation.stable_step(0);
    let displacement = |s: &Simulation| s.deformable(id).unwrap().positions()[n as usize].x - 100.0;
    let (mut crossings, mut last) = (Vec::new(), 0.0);
    while crossings.len() < 5 {
        simulation.step(step).unwrap();
        let now = displacement(&simulation);
        if last * now < 0.0 {
            crossings.push(simulation.time() - step * now / (now - last));
        }
        last = now;
    }
    2.0 / (crossings[4] - crossings[0])
}

#[test]
fn axial_frequency_of_a_bar_converges_quadratically_to_the_closed_form() {
    let material = Material::new(2.1e5, 0.0, 7.85e-9).unwrap();
    let exact = material.bar_wave_speed() / 400.0;
    let errors = [4, 8, 16].map(|n| (bar_frequency(n, material) / exact - 1.0).abs());
    // The lumped bar has the frequency of the exact one times 1 − (π/4n)²/6.
    assert!(errors[2] < 5e-4, "16 elements: {errors:?}");
    for pair in errors.windows(2) {
        let ratio = pair[0] / pair[1];
        assert!((3.5..4.6).contains(&ratio), "errors with 4, 8, 16 elements: {errors:?}");
    }
}

#[test]
fn stable_step_is_below_the_exact_limit() {
    let mut rng = SmallRng::seed_from_u64(6);
    for (name, mesh) in distorted_meshes(&mut rng) {
        let body = DeformableBody::new(&mesh, steel(), 0.01).unwrap();
        let frequency = dynamic_matrix(&body).symmetric_eigenvalues().max().sqrt();
        let exact = 2.0 / frequency;
        let (mut simulation, _) = simulation(body);
        let stable = simulation.stable_step(0);
        assert!(stable <= exact, "{name}: {stable} above {exact}");
        assert!(stable > 0.3 * exact, "{name}: the bound is useful: {stable} of {exact}");
        let refused = simulation.step(1.001 * stable);
        assert!(matches!(refused, Err(DeformableError::UnstableStep { .. })), "{name}: {refused:?}");
    }
}

#[test]
fn damping_reduces_the_velocity_exponentially() {
    let mesh = Mesh::box_of_hexahedra(P3::origin(), V3::repeat(1.0), [1, 1, 1]).unwrap();
    let mut body = DeformableBody::new(&mesh, steel(), 0.01).unwrap();
    body.set_uniform_velocity(V3::x()).unwrap();
    body.set_damping(1e5).unwrap();
    let (mut simulation, id) = simulation(body);
    let step = 0.5 * simulation.stable_step(0);
    while simulation.time() < 2e-5 {
        simulation.step(step).unwrap();
    }
    let expected = math::exp(-1e5 * simulation.time());
    let speed = simulation.deformable(id).unwrap().velocities()[0].x;
    assert!((speed / expected - 1.0).abs() < 1e-4, "{speed} {expected}");
}

#[test]
fn prescribed_displacements_stretch_a_bar_with_the_force_of_the_law() {
    let mesh = Mesh::box_of_hexahedra(P3::origin(), V3::new(4.0, 1.0, 1.0), [4, 1, 1]).unwrap();
    let material = Material::new(1000.0, 0.0, 1e-9).unwrap();
    let mut body = DeformableBody::new(&mesh, material, 0.01).unwrap();
    for (k, x) in mesh.nodes.iter().enumerate() {
        (0..3).for_each(|axis| {
            body.prescribe_displacement(k, axis, if axis == 0 { 0.01 * x.x } else { 0.0 }).unwrap()
        });
    }
    let (mut simulation, id) = simulation(body);
    let step = 0.5 * simulation.stable_step(0);
    simulation.step(step).unwrap();
    simulation.step(step).unwrap();
    let body = simulation.deformable(id).unwrap();
    let end = mesh.nodes.iter().enumerate().filter(|(_, x)| x.x > 3.9);
    let force = end.fold(0.0, |sum, (k, _)| sum + body.reaction(k).unwrap().x);
    let strain = 0.01 + 0.5 * 0.01 * 0.01;
    assert!((force / (1000.0 * strain * 1.01) - 1.0).abs() < 1e-10, "{force} N");
    assert!(body.kinetic_energy() < 1e-20, "the body rests");
    let strain = body.strain_energy();
    let release = |b: &mut DeformableBody| (0..mesh.nodes.len()).try_for_each(|k| b.release(k, 0));
    simulation.change_deformable(id, release).unwrap();
    (0..10).for_each(|_| simulation.step(step).unwrap());
    let energies = simulation.energies();
    assert!(energies.kinetic > 0.1 * strain, "the released bar moves: {energies:?}");
}

#[test]
fn invalid_input_is_refused_with_its_reason() {
    use DeformableError as E;
    assert_eq!(Material::new(-1.0, 0.3, 1e-9), Err(E::Young(-1.0)), "Young");
    assert_eq!(Material::new(1.0, 0.5, 1e-9), Err(E::Poisson(0.5)), "Poisson");
    assert!(matches!(Material::new(1.0, f64::NAN, 1e-9), Err(E::Poisson(_))), "NaN");
    assert_eq!(Material::new(1.0, 0.3, 0.0), Err(E::Density(0.0)), "density");
    let corner = P3::origin();
    assert_eq!(Mesh::box_of_hexahedra(corner, V3::repeat(1.0), [0, 1, 1]), Err(E::Divisions), "divisions");
    let too_large = Mesh::box_of_hexahedra(corner, V3::repeat(1.0), [u32::MAX; 3]);
    assert_eq!(too_large, Err(E::TooLarge), "too large");
    let mesh = Mesh::box_of_tetrahedra(corner, V3::repeat(1.0), [1, 1, 1]).unwrap();
    let create = |mesh: &Mesh| DeformableBody::new(mesh, steel(), 0.01).map(|_| ());
    assert_eq!(create(&Mesh::default()), Err(E::Empty), "empty");
    let mut changed = mesh.clone();
    changed.tetrahedra[3].swap(0, 1);
    assert_eq!(create(&changed), Err(E::InvertedReference { element: 3 }), "inverted");
    let mut changed = mesh.clone();
    changed.tetrahedra[2][1] = 99;
    assert_eq!(create(&changed), Err(E::UnknownNode { node: 99, count: 8 }), "unknown");
    let mut changed = mesh.clone();
    changed.nodes.push(corner);
    assert_eq!(create(&changed), Err(E::UnusedNode { node: 8 }), "unused");
    let mut changed = mesh.clone();
    changed.nodes[4].y = f64::NAN;
    assert_eq!(create(&changed), Err(E::NotFinite { node: 4 }), "not finite");
    let stiff = Material::new(1e300, 0.3, 1e-300).unwrap();
    assert!(matches!(DeformableBody::new(&mesh, stiff, 0.01), Err(E::Stiffness { element: 0 })), "stiffness");
    let mut body = DeformableBody::new(&mesh, steel(), 0.01).unwrap();
    assert_eq!(body.prescribe_velocity(8, 0, 0.0), Err(E::UnknownNode { node: 8, count: 8 }), "node");
    assert_eq!(body.prescribe_velocity(0, 3, 0.0), Err(E::UnknownAxis(3)), "axis");
    assert_eq!(body.set_velocity(0, V3::repeat(f64::INFINITY)), Err(E::NotFinite { node: 0 }), "velocity");
    assert!(body.set_damping(-1.0).is_err() && body.reaction(8).is_none(), "damping, reaction");
    body.set_position(0, P3::new(2.0, 2.0, 2.0)).unwrap();
    let (mut simulation, _) = simulation(body);
    assert!(matches!(simulation.step(1e-9), Err(E::Inverted { body: 0, .. })), "inverted by deformation");
    assert_eq!(simulation.step(0.0), Err(E::Step(0.0)), "step");
    assert!(Simulation::new(ContactSettings::new(0.0, 0.1)).is_err(), "penalty");
}
