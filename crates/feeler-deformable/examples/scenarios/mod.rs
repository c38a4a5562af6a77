//! Scenarios of DIST 4.3 to 4.6, shared by the tests and the program of benchmarks.

#![allow(dead_code, reason = "every program uses some of the scenarios")]

mod mutual;

pub(crate) use mutual::*;

use feeler_deformable::{
    BodyId, ContactSettings, DeformableBody, Material, Mesh, RigidBody, SearchCounts, Simulation,
};
use feeler_geom::{P3, V3, math};
use nalgebra::{Matrix2, Rotation3};

/// Material of DIST 4.3 with Young's modulus 2.1e8 Pa, the value that its time of impact belongs to.
pub(crate) fn soft_steel(poisson: f64) -> Material {
    Material::new(210.0, poisson, 7.85e-9).unwrap()
}

pub(crate) fn tetrahedron(nodes: [[f64; 3]; 4]) -> Mesh {
    Mesh { nodes: nodes.map(P3::from).to_vec(), tetrahedra: vec![[0, 1, 2, 3]], hexahedra: Vec::new() }
}

/// Regular tetrahedron with edges of 1 mm, its base at z = 0 and its apex at height √(2/3), times `sign`.
pub(crate) fn regular(sign: f64, shift: f64) -> Mesh {
    let (third, height) = (0.75_f64.sqrt() / 3.0, (2.0_f64 / 3.0).sqrt());
    let [a, b, c] = [[-0.5, -third, 0.0], [0.5, -third, 0.0], [0.0, 2.0 * third, 0.0]];
    let mut mesh = tetrahedron([a, b, c, [0.0, 0.0, height]]);
    for node in &mut mesh.nodes {
        node.z = sign * node.z + shift;
    }
    if sign < 0.0 {
        mesh.tetrahedra[0].swap(0, 1);
    }
    mesh
}

/// Fall and bounce of a tetrahedron, DIST 4.3.1.
#[derive(Debug)]
pub(crate) struct Bounce {
    /// Difference of the heights before and after, relative to the height of the fall.
    pub(crate) height_error: f64,
    /// Largest horizontal displacement after the contact (mm).
    pub(crate) sideways: f64,
    /// Vertical impulses of the support in the first and second half of the contact, without the weight of
    /// the lower tetrahedron (N·s).
    pub(crate) impulses: [f64; 2],
}

/// Two tetrahedra, DIST 4.3.1: the apex of the upper one falls on the apex of the lower one, whose base is
/// supported.
pub(crate) fn bounce() -> Bounce {
    let height = (2.0_f64 / 3.0).sqrt();
    let (skin, gap) = (0.02, 0.4);
    let mut lower = DeformableBody::new(&regular(1.0, 0.0), soft_steel(0.3), skin).unwrap();
    for k in 0..3 {
        lower.prescribe_velocity(k, 2, 0.0).unwrap();
    }
    let shift = gap + 2.0 * (height + skin);
    let upper = DeformableBody::new(&regular(-1.0, shift), soft_steel(0.3), skin).unwrap();
    let settings = ContactSettings { edge_contacts: false, ..ContactSettings::new(0.05, 0.02) };
    let mut simulation = Simulation::new(settings).unwrap();
    let lower = simulation.add(lower).unwrap();
    let upper = simulation.add(upper).unwrap();
    simulation.set_gravity(V3::new(0.0, 0.0, -9810.0)).unwrap();
    let step = 0.3 * simulation.stable_step(2);
    let weight = 9810.0 * simulation.deformable(lower).unwrap().mass();
    let start = simulation.deformable(upper).unwrap().center_of_mass();
    let (mut forces, mut highest, mut sideways) = (Vec::new(), f64::NEG_INFINITY, 0.0_f64);
    let fall = (2.0 * gap / 9810.0_f64).sqrt();
    while simulation.time() < 2.6 * fall {
        simulation.step(step).unwrap();
        if simulation.max_overlap() > 0.0 {
            let body = simulation.deformable(lower).unwrap();
            let reaction: f64 = (0..3).map(|k| body.reaction(k).unwrap().z).sum();
            forces.push((simulation.time(), reaction - weight));
        } else if !forces.is_empty() {
            let center = simulation.deformable(upper).unwrap().center_of_mass();
            highest = highest.max(center.z);
            sideways = sideways.max(math::hypot(center.x, center.y));
        }
    }
    let middle = 0.5 * (forces[0].0 + forces[forces.len() - 1].0);
    let impulse =
        |early: bool| step * forces.iter().filter(|f| (f.0 < middle) == early).map(|f| f.1).sum::<f64>();
    Bounce { height_error: (highest - start.z) / gap, sideways, impulses: [impulse(true), impulse(false)] }
}

/// Velocity of a rigid sphere after its impact on a tetrahedron with Young's modulus `young` (N/mm²),
/// relative to its horizontal velocity before, DIST 4.3.2. The sphere approaches a face that is inclined by
/// 45° along the horizontal projection of its normal. Its vertical direction is z.
pub(crate) fn deflected_sphere(young: f64) -> V3 {
    let mesh = tetrahedron([[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 8.0_f64.sqrt()]]);
    let horizontal = V3::new(-1.0, -1.0, 0.0).normalize();
    let normal = (V3::z() - horizontal).normalize();
    let mut body = DeformableBody::new(&mesh, Material::new(young, 0.3, 7.85e-9).unwrap(), 0.02).unwrap();
    (0..3).for_each(|k| (0..3).for_each(|axis| body.prescribe_velocity(k, axis, 0.0).unwrap()));
    let on_face = P3::new(1.2, 1.2, (4.0 - 2.4) / 2.0_f64.sqrt());
    let mut ball = RigidBody::sphere(on_face + normal * 0.55 - horizontal * 0.3, 0.5).unwrap();
    ball.set_free(7.85e-9).unwrap();
    ball.set_velocity(horizontal * 1000.0, V3::zeros()).unwrap();
    let mut simulation = Simulation::new(ContactSettings::new(50.0, 0.02)).unwrap();
    simulation.add(body).unwrap();
    let ball = simulation.add(ball).unwrap();
    let step = 0.3 * simulation.stable_step(2);
    while simulation.time() < 1.5e-3 {
        simulation.step(step).unwrap();
    }
    assert!(simulation.max_overlap() <= 0.0, "the sphere has left");
    simulation.rigid(ball).unwrap().velocity() / 1000.0
}

/// Outcome of the impact of two bars, the first one at 1000 mm/s.
#[derive(Debug)]
pub(crate) struct Impact {
    /// Time from the first to the last contact (s).
    pub(crate) duration: f64,
    /// Time from the first contact to the first separation (s).
    pub(crate) first_duration: f64,
    /// Number of times that the bars separated.
    pub(crate) separations: usize,
    /// Velocities of the centres of mass after the impact (mm/s).
    pub(crate) velocities: [f64; 2],
    /// Relative change of the total energy.
    pub(crate) energy_error: f64,
}

/// Impact of two bars of square section 100 mm × 100 mm, without Poisson's ratio.
pub(crate) fn bar_impact(lengths: [f64; 2], elements: [u32; 2], penalty: f64, skin: f64) -> Impact {
    let material = soft_steel(0.0);
    let settings = ContactSettings { edge_contacts: false, ..ContactSettings::new(penalty, 0.5 * skin) };
    let mut simulation = Simulation::new(settings).unwrap();
    let corner = [P3::new(-lengths[0] - 2.0 * skin - 1e-3, 0.0, 0.0), P3::origin()];
    let mut ids: Vec<BodyId> = Vec::new();
    for k in 0..2 {
        let size = V3::new(lengths[k], 100.0, 100.0);
        let mesh = Mesh::box_of_hexahedra(corner[k], size, [elements[k], 1, 1]).unwrap();
        let mut body = DeformableBody::new(&mesh, material, skin).unwrap();
        if k == 0 {
            body.set_uniform_velocity(V3::x() * 1000.0).unwrap();
        }
        ids.push(simulation.add(body).unwrap());
    }
    let step = 0.5 * simulation.stable_step(2);
    let end = 2.5 * 2.0 * lengths[0].max(lengths[1]) / material.bar_wave_speed();
    let start = simulation.energies().total();
    let (mut first, mut last, mut parted) = (f64::NAN, f64::NAN, f64::NAN);
    let (mut separations, mut was_touching) = (0, false);
    while simulation.time() < end {
        simulation.step(step).unwrap();
        let is_touching = simulation.max_overlap() > 0.0;
        if was_touching && !is_touching {
            separations += 1;
            parted = if separations == 1 { simulation.time() } else { parted };
        }
        if is_touching {
            first = if first.is_nan() { simulation.time() } else { first };
            last = simulation.time();
        }
        was_touching = is_touching;
    }
    let velocity = |id: BodyId| {
        let body = simulation.deformable(id).unwrap();
        body.momentum().x / body.mass()
    };
    Impact {
        duration: last - first,
        first_duration: parted - first,
        separations,
        velocities: [velocity(ids[0]), velocity(ids[1])],
        energy_error: (simulation.energies().total() / start - 1.0).abs(),
    }
}

/// Duration of the contact of two bars of one element each, from the modes of the symmetric half: two
/// lumped masses m/2 joined by the stiffness EA/l, one of them on a wall of twice the contact stiffness.
pub(crate) fn one_element_duration(length: f64, penalty: f64) -> f64 {
    let (area, half_mass) = (1e4, 0.5 * 7.85e-9 * 1e4 * length);
    let (bar, contact) = (210.0 * area / length, 8.0 * penalty);
    let eigen = (Matrix2::new(bar + 2.0 * contact, -bar, -bar, bar) / half_mass).symmetric_eigen();
    let overlap = |t: f64| {
        (0..2).fold(0.0, |sum, k| {
            let (omega, shape) = (eigen.eigenvalues[k].sqrt(), eigen.eigenvectors.column(k));
            sum + shape[0] * shape.sum() / omega * math::sin(omega * t)
        })
    };
    let step = 1e-7;
    let mut t = step;
    while overlap(t) > 0.0 {
        t += step;
    }
    t
}

/// Ellipsoidal grain of 80 facets: a subdivided icosahedron, scaled and turned.
pub(crate) fn grain(center: P3, half_axes: V3, turn: V3, skin: f64) -> RigidBody {
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
pub(crate) fn falling_grains() -> Simulation {
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

/// Ironing as in DIST 4.5: the slider of one element glides through the trough of a concave body. `pieces`
/// divides the concave body into three convex pieces along x.
pub(crate) struct Ironing {
    pub(crate) simulation: Simulation,
    pub(crate) slider: BodyId,
}

pub(crate) fn ironing(pieces: bool) -> Ironing {
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
    let tilt = Rotation3::new(V3::y() * math::atan2(0.5, 1.0));
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
pub(crate) fn iron(pieces: bool, check_bounds: bool) -> (Vec<[f64; 4]>, SearchCounts, [bool; 3]) {
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
