//! Contacts with smooth shapes, compared with triangles, closed forms and conservation laws.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "figures of the checks, shown with --nocapture")]

use feeler_deformable::{
    Ball, Body, BodyId, ContactSettings, DeformableBody, DeformableError, HalfSpace, Material, Mesh,
    RigidBody, Simulation, SmoothShape, SurfacePoint,
};
use feeler_geom::{P3, Pose, V3, math};
use nalgebra::{Matrix3, Rotation3, UnitQuaternion};
use rand::{Rng, SeedableRng, rngs::SmallRng};
use std::f64::consts::PI;

fn ball(radius: f64, center: P3) -> RigidBody {
    let shape = Ball { center: P3::origin(), radius };
    RigidBody::smooth(vec![Box::new(shape)], &Pose::translation(center.x, center.y, center.z)).unwrap()
}

fn half_space(pose: &Pose) -> RigidBody {
    RigidBody::smooth(vec![Box::new(HalfSpace)], pose).unwrap()
}

/// Box with rounded edges and corners of the radius `round`, centred at the origin: convex, with flat faces.
#[derive(Clone, Copy, Debug)]
struct RoundedBox {
    half: V3,
    round: f64,
}

impl SmoothShape for RoundedBox {
    fn nearest(&mut self, p: &P3) -> Option<SurfacePoint> {
        let q = V3::from_fn(|i, _| p[i].abs() - self.half[i]);
        let sign = p.coords.map(f64::signum);
        let outside = q.map(|c| c.max(0.0));
        let length = outside.norm();
        let (distance, normal) = if length > 0.0 {
            (length, outside / length)
        } else {
            let k = q.imax();
            (q[k], V3::from_fn(|i, _| if i == k { 1.0 } else { 0.0 }))
        };
        Some(SurfacePoint { distance: distance - self.round, normal: normal.component_mul(&sign) })
    }

    fn is_convex(&self) -> bool {
        true
    }

    fn radius(&self) -> f64 {
        self.half.norm() + self.round
    }

    fn clone_box(&self) -> Box<dyn SmoothShape> {
        Box::new(*self)
    }
}

/// Concave shape: everything outside of a bore of the radius `radius` around z.
#[derive(Clone, Copy, Debug)]
struct Bore {
    radius: f64,
}

impl SmoothShape for Bore {
    fn nearest(&mut self, p: &P3) -> Option<SurfacePoint> {
        let across = V3::new(p.x, p.y, 0.0);
        let length = across.norm();
        let normal = if length > 0.0 { -across / length } else { V3::x() };
        Some(SurfacePoint { distance: self.radius - length, normal })
    }

    fn probe_spacing(&self) -> f64 {
        0.1 * self.radius
    }

    fn radius(&self) -> f64 {
        f64::INFINITY
    }

    fn clone_box(&self) -> Box<dyn SmoothShape> {
        Box::new(*self)
    }
}

fn cube(rng: &mut SmallRng, divisions: u32, shake: f64) -> Mesh {
    let mut mesh = Mesh::box_of_hexahedra(P3::origin(), V3::repeat(1.0), [divisions; 3]).unwrap();
    mesh.nodes.iter_mut().for_each(|n| *n += V3::from_fn(|_, _| rng.random_range(-shake..=shake)));
    mesh
}

#[test]
fn forces_are_equal_and_opposite_and_the_gradient_of_the_potential() {
    let mut rng = SmallRng::seed_from_u64(11);
    let material = Material::new(1.0, 0.3, 1e-9).unwrap();
    let (mut touching, mut largest) = (0, 0.0_f64);
    for k in 0..300 {
        let mesh = cube(&mut rng, 2, 0.03);
        let turn = UnitQuaternion::from_scaled_axis(V3::from_fn(|_, _| rng.random_range(-2.0..2.0)));
        let radius = [0.05, 0.3, 1.0, 5.0][k % 4];
        let shape: Box<dyn SmoothShape> = match k % 3 {
            0 => Box::new(Ball { center: P3::origin(), radius }),
            1 => Box::new(RoundedBox { half: V3::new(0.3, 0.2, 0.4), round: 0.02 }),
            _ => Box::new(HalfSpace),
        };
        let reach = [radius, 0.42, 0.0][k % 3];
        let at = P3::new(rng.random_range(0.0..1.0), rng.random_range(0.0..1.0), 1.09 + reach);
        let turn = if k % 3 == 2 { Rotation3::new(V3::x() * (PI + 0.02)).into() } else { turn };
        let pose = Pose::from_parts(at.coords.into(), turn);
        let undeformed = DeformableBody::new(&mesh, material, 0.15).unwrap();
        let potential = |moved: Option<(usize, V3)>, by: Option<&Pose>| {
            let mut simulation = Simulation::new(ContactSettings::new(1.0, 0.1)).unwrap();
            let mut body = undeformed.clone();
            if let Some((node, by)) = moved {
                body.set_position(node, mesh.nodes[node] + by).unwrap();
            }
            let body = simulation.add(body).unwrap();
            let pose = by.map_or(pose, |by| by * pose);
            let wall = simulation.add(RigidBody::smooth(vec![shape.clone()], &pose).unwrap()).unwrap();
            simulation.step(1e-30).map(|()| (simulation, body, wall))
        };
        let Ok((simulation, body, wall)) = potential(None, None) else { continue };
        if simulation.energies().contact <= 0.0 {
            continue;
        }
        touching += 1;
        let forces = simulation.deformable(body).unwrap().forces().to_vec();
        let on_wall = simulation.rigid(wall).unwrap();
        let sum = forces.iter().sum::<V3>() + on_wall.force();
        assert!(sum.norm() < 1e-13, "{k}: equal and opposite: {sum}");
        let nodes = forces.iter().zip(&mesh.nodes);
        let torque = nodes.fold(V3::zeros(), |t, (f, x)| t + x.coords.cross(f));
        let torque = torque + on_wall.torque() + on_wall.center().coords.cross(&on_wall.force());
        assert!(torque.norm() < 1e-12, "{k}: no resultant torque: {torque}");
        let h = 1e-5;
        let mut check = |slope: f64, force: f64, what: &str| {
            largest = largest.max((slope - force).abs());
            assert!((slope - force).abs() < 2e-5, "{k} {what}: {slope} {force}");
        };
        for (node, force) in forces.iter().enumerate().filter(|f| f.1.norm() > 0.0) {
            for axis in 0..3 {
                let total = |h: f64| {
                    let by = V3::from_fn(|i, _| if i == axis { h } else { 0.0 });
                    let energies = potential(Some((node, by)), None).unwrap().0.energies();
                    energies.contact + energies.strain
                };
                check(-(total(h) - total(-h)) / (2.0 * h), force[axis], &format!("node {node}"));
            }
        }
        for axis in 0..3 {
            let unit = |h: f64| V3::from_fn(|i, _| if i == axis { h } else { 0.0 });
            let moved = |h: f64| {
                let by = Pose::from_parts(unit(h).into(), UnitQuaternion::identity());
                potential(None, Some(&by)).unwrap().0.energies().contact
            };
            check(-(moved(h) - moved(-h)) / (2.0 * h), on_wall.force()[axis], "force on the shape");
            let turned = |h: f64| {
                let turn = UnitQuaternion::from_scaled_axis(unit(h));
                let by = Pose::rotation_wrt_point(turn, on_wall.center());
                potential(None, Some(&by)).unwrap().0.energies().contact
            };
            check(-(turned(h) - turned(-h)) / (2.0 * h), on_wall.torque()[axis], "torque on the shape");
        }
    }
    println!("{touching} of 300 touch; largest deviation from differences {largest:.1e} N");
    assert!(touching > 100, "{touching} of 300 pairs touch");
}

const SKIN: f64 = 0.1;

/// Block with a flat top at z = 0 of squares of 1 mm.
fn flat() -> DeformableBody {
    let mesh = Mesh::box_of_hexahedra(P3::new(-3.0, -3.0, -1.0), V3::new(6.0, 6.0, 1.0), [6, 6, 1]).unwrap();
    DeformableBody::new(&mesh, Material::new(1.0, 0.3, 1e-9).unwrap(), SKIN).unwrap()
}

/// Potential of a ball of the radius `radius` at `(x, y)`, with the overlap `overlap` with the flat top, for
/// a penalty of 1.
fn ball_potential(flat: &DeformableBody, radius: f64, overlap: f64, x: f64, y: f64) -> f64 {
    let mut simulation = Simulation::new(ContactSettings::new(1.0, 0.1)).unwrap();
    simulation.add(flat.clone()).unwrap();
    simulation.add(ball(radius, P3::new(x, y, radius + SKIN - overlap))).unwrap();
    simulation.step(1e-30).unwrap();
    simulation.energies().contact
}

#[test]
fn balls_press_on_nodes_edges_and_the_inside_of_facets_with_nearly_the_same_stiffness() {
    let (flat, overlap) = (flat(), 0.04);
    for (radius, low, high) in [(0.05, 0.84, 1.55), (0.5, 0.84, 2.0), (2.0, 0.8, 3.0)] {
        let mut range = [f64::INFINITY, 0.0_f64];
        let n = 24;
        for i in 0..=n {
            for j in 0..=n {
                let (x, y) = (f64::from(i) / f64::from(n), f64::from(j) / f64::from(n));
                let ratio = ball_potential(&flat, radius, overlap, x, y) / (0.5 * overlap * overlap);
                range = [range[0].min(ratio), range[1].max(ratio)];
            }
        }
        println!("radius {radius}: potential relative to one contact {range:.3?}");
        assert!(range[0] > low && range[1] < high, "{radius}: {range:?}");
    }
    // A small ball on the inside of a facet and on an edge is one contact exactly.
    for (x, y) in [(0.3, 0.6), (0.6, 0.3), (0.5, 0.5), (0.5, 0.0)] {
        let one = ball_potential(&flat, 0.05, overlap, x, y) / (0.5 * overlap * overlap);
        assert!((one - 1.0).abs() < 1e-9, "{x} {y}: {one}");
    }
}

#[test]
fn forces_vary_continuously_as_a_ball_rolls_over_nodes_edges_and_facets() {
    let (flat, overlap) = (flat(), 0.04);
    for radius in [0.05, 0.5, 2.0] {
        let n = 800;
        let mut jumps = 0.0_f64;
        let mut before = None;
        for k in 0..=n {
            let s = f64::from(k) / f64::from(n);
            // A line through facets, over edges and past a node.
            let (x, y) = (-0.7 + 1.9 * s, -0.33 + 0.61 * s);
            let h = 1e-6;
            let force = (ball_potential(&flat, radius, overlap, x + h, y)
                - ball_potential(&flat, radius, overlap, x - h, y))
                / (2.0 * h);
            jumps = before.map_or(jumps, |b: f64| jumps.max((force - b).abs()));
            before = Some(force);
        }
        println!(
            "radius {radius}: largest change of the force {:.2} % of the normal force",
            jumps / overlap * 100.0
        );
        assert!(jumps < 0.05 * overlap, "{radius}: {jumps}");
    }
}

/// Block on an inclined plane through the origin, with the angle `angle` about y; the plane is a half-space
/// or a plate of triangles whose skin has no thickness beyond that of the half-space.
fn slide(is_exact: bool, is_first: bool, angle: f64) -> Vec<[f64; 2]> {
    let skin = 0.1;
    let settings = ContactSettings { friction: 0.3, slip_speed: 2.0, ..ContactSettings::new(50.0, 0.5) };
    let mut simulation = Simulation::new(settings).unwrap();
    let turn = Rotation3::new(V3::y() * angle);
    let plate_skin = if is_exact { 0.0 } else { skin };
    let mut mesh =
        Mesh::box_of_hexahedra(P3::new(0.0, 0.0, skin + plate_skin), V3::new(20.0, 20.0, 10.0), [2, 2, 1])
            .unwrap();
    mesh.nodes.iter_mut().for_each(|p| *p = turn * *p);
    let mut block = DeformableBody::new(&mesh, Material::new(5.0, 0.4, 1.1e-9).unwrap(), skin).unwrap();
    block.set_damping(0.0).unwrap();
    let wall = if is_exact {
        half_space(&Pose::from_parts(V3::zeros().into(), turn.into()))
    } else {
        let corners = [[-20.0, -20.0], [80.0, -20.0], [80.0, 40.0], [-20.0, 40.0]];
        let plate = corners.map(|[x, y]| turn * P3::new(x, y, 0.0)).to_vec();
        RigidBody::new(plate, vec![[0, 1, 2], [0, 2, 3]], skin).unwrap()
    };
    let (block, wall): (Body, Body) = (block.into(), wall.into());
    let block = if is_first {
        let id = simulation.add(block).unwrap();
        simulation.add(wall).unwrap();
        id
    } else {
        simulation.add(wall).unwrap();
        simulation.add(block).unwrap()
    };
    simulation.set_gravity(V3::new(0.0, 0.0, -9810.0)).unwrap();
    let step = 0.9 * simulation.stable_step(2);
    let mut out = Vec::new();
    while simulation.time() < 0.05 {
        simulation.step(step).unwrap();
        let body = simulation.deformable(block).unwrap();
        let velocity = turn.inverse() * (body.momentum() / body.mass());
        out.push([velocity.x, velocity.z]);
    }
    out
}

#[test]
fn blocks_slide_down_half_spaces_and_plates_of_triangles_alike() {
    let angle = 0.5;
    let exact = slide(true, true, angle);
    let swapped = slide(true, false, angle);
    assert_eq!(exact.len(), swapped.len());
    let bits = |v: &[[f64; 2]]| v.iter().flatten().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&exact), bits(&swapped), "the order of the bodies does not matter");
    assert_eq!(bits(&exact), bits(&slide(true, true, angle)), "the same bits every time");
    let plate = slide(false, true, angle);
    let difference = exact.iter().zip(&plate).fold(0.0_f64, |m, (a, b)| m.max((a[0] - b[0]).abs()));
    let (speed, time) = (exact[exact.len() - 1][0], 0.05);
    // Gravity along the plane minus friction; rotation about y by a positive angle lowers the side of +x.
    let expected = 9810.0 * (math::sin(angle) - 0.3 * math::cos(angle)) * time;
    println!(
        "speed {speed:.2} mm/s, closed form {expected:.2} mm/s, plate of triangles ±{difference:.1e} mm/s"
    );
    assert!((speed / expected - 1.0).abs() < 0.02, "{speed} {expected}");
    assert!(difference < 1e-3 * speed, "{difference}");
}

fn sums(s: &Simulation) -> (V3, V3, f64) {
    let momentum: V3 = s.bodies().iter().map(Body::momentum).sum();
    let angular: V3 = s.bodies().iter().map(Body::angular_momentum).sum();
    (momentum, angular, s.energies().total())
}

#[test]
fn free_balls_and_clumps_keep_momentum_angular_momentum_and_energy() {
    let mut rng = SmallRng::seed_from_u64(3);
    let material = Material::new(500.0, 0.3, 1e-9).unwrap();
    let mut simulation = Simulation::new(ContactSettings::new(100.0, 0.05)).unwrap();
    let mut body = DeformableBody::new(&cube(&mut rng, 3, 0.02), material, 0.08).unwrap();
    body.set_uniform_velocity(V3::new(0.0, 0.0, 5000.0)).unwrap();
    simulation.add(body).unwrap();
    let parts: Vec<Box<dyn SmoothShape>> = vec![
        Box::new(Ball { center: P3::new(-0.25, 0.0, 0.0), radius: 0.2 }),
        Box::new(Ball { center: P3::new(0.25, 0.1, 0.0), radius: 0.3 }),
    ];
    let turn = UnitQuaternion::from_scaled_axis(V3::new(0.3, 0.5, 1.0));
    let mut clump = RigidBody::smooth(parts, &Pose::from_parts(V3::new(0.4, 0.6, 1.6).into(), turn)).unwrap();
    let tensor = Matrix3::new(1.0, 0.1, 0.0, 0.1, 2.0, 0.0, 0.0, 0.0, 1.5) * 5e-11;
    clump.set_free_with_inertia(5e-10, P3::new(0.1, 0.05, 0.0), tensor).unwrap();
    let clump = simulation.add(clump).unwrap();
    let start = sums(&simulation);
    let step = 0.2 * simulation.stable_step(4);
    let mut overlap = 0.0_f64;
    while simulation.time() < 6e-4 {
        simulation.step(step).unwrap();
        overlap = overlap.max(simulation.max_overlap());
    }
    let end = sums(&simulation);
    assert!(overlap > 0.003 && simulation.max_overlap() <= 0.0, "the bodies collide and part: {overlap}");
    assert!(simulation.rigid(clump).unwrap().angular_velocity().norm() > 100.0, "the clump turns");
    println!(
        "momentum {:.1e}, angular momentum {:.1e}, energy {:.1e} (relative changes)",
        (end.0 - start.0).norm() / start.0.norm(),
        (end.1 - start.1).norm() / start.1.norm(),
        end.2 / start.2 - 1.0
    );
    assert!((end.0 - start.0).norm() < 1e-12 * start.0.norm(), "momentum {} {}", start.0, end.0);
    assert!((end.1 - start.1).norm() < 1e-11 * start.1.norm(), "angular momentum {} {}", start.1, end.1);
    assert!((end.2 / start.2 - 1.0).abs() < 1e-3, "energy {} {}", start.2, end.2);
}

/// Net force and torque about the axis on a ring of `count` nodes, pressed into a bore by widening, which is
/// turned by an angle.
fn ring_in_bore(count: u32, angle: f64) -> (Vec<f64>, f64) {
    let (outer, inner, height, skin) = (10.0, 7.0, 2.0, 0.1);
    let mut mesh = Mesh::default();
    for radius in [inner, outer] {
        for z in [0.0, height] {
            for k in 0..count {
                let phi = 2.0 * PI * f64::from(k) / f64::from(count);
                mesh.nodes.push(P3::new(radius * math::cos(phi), radius * math::sin(phi), z));
            }
        }
    }
    for k in 0..count {
        let (a, b) = (k, (k + 1) % count);
        let [i0, i1, o0, o1] = [0, count, 2 * count, 3 * count];
        mesh.hexahedra.push([i0 + a, o0 + a, o0 + b, i0 + b, i1 + a, o1 + a, o1 + b, i1 + b]);
    }
    let mut simulation = Simulation::new(ContactSettings::new(100.0, 0.5)).unwrap();
    simulation
        .add(DeformableBody::new(&mesh, Material::new(5.0, 0.3, 1e-9).unwrap(), skin).unwrap())
        .unwrap();
    let turn = UnitQuaternion::from_scaled_axis(V3::z() * angle);
    let pose = Pose::from_parts(V3::zeros().into(), turn);
    let bore = RigidBody::smooth(vec![Box::new(Bore { radius: outer + skin - 0.03 })], &pose).unwrap();
    let bore = simulation.add(bore).unwrap();
    simulation.step(1e-30).unwrap();
    let Body::Deformable(ring) = &simulation.bodies()[0] else { unreachable!() };
    let radial = ring.forces().iter().map(V3::norm).filter(|f| *f > 1e-9).collect();
    (radial, simulation.rigid(bore).unwrap().torque().norm())
}

#[test]
fn forces_in_a_bore_do_not_depend_on_the_angle() {
    for angle in [0.0, 0.01, 0.1, 0.123, 1.0] {
        let (forces, torque) = ring_in_bore(24, angle);
        assert_eq!(forces.len(), 48, "all outer nodes are in contact");
        assert!(forces.iter().all(|f| (f - 100.0 * 0.03).abs() < 1e-10), "{angle}: {forces:?}");
        assert!(torque < 1e-10, "{angle}: {torque}");
    }
}

/// Ball pressed into a block by a prescribed depth: the force on the ball.
fn indent(radius: f64, depth: f64, divisions: u32, penalty: f64) -> f64 {
    let (size, skin) = (8.0, 0.05);
    let n = divisions;
    let mut mesh =
        Mesh::box_of_hexahedra(P3::new(-1.0, -1.0, -1.0), V3::new(2.0, 2.0, 1.0), [2 * n, 2 * n, n]).unwrap();
    // Elements are small at the contact.
    let grade = |x: f64| size * x * (0.12 + 0.88 * x * x);
    mesh.nodes.iter_mut().for_each(|p| *p = P3::new(grade(p.x), grade(p.y), grade(p.z)));
    let mut body = DeformableBody::new(&mesh, Material::new(10.0, 0.3, 1e-6).unwrap(), skin).unwrap();
    for (k, p) in mesh.nodes.iter().enumerate() {
        if p.z < -size + 1e-9 {
            (0..3).for_each(|axis| body.prescribe_velocity(k, axis, 0.0).unwrap());
        }
    }
    body.set_damping(1500.0).unwrap();
    let mut simulation = Simulation::new(ContactSettings::new(penalty, 0.1)).unwrap();
    simulation.add(body).unwrap();
    let ball = simulation.add(ball(radius, P3::new(0.0, 0.0, radius + skin))).unwrap();
    let step = 0.9 * simulation.stable_step(8);
    let time = 0.012;
    let center = P3::new(0.0, 0.0, radius + skin);
    while simulation.time() < 1.5 * time {
        let share = ((simulation.time() + step) / time).min(1.0);
        let speed = if share < 1.0 { depth / time } else { 0.0 };
        let (down, turn) = (V3::z(), UnitQuaternion::identity());
        simulation
            .move_rigid(ball, center - down * (depth * share), turn, -down * speed, V3::zeros())
            .unwrap();
        simulation.step(step).unwrap();
    }
    simulation.rigid(ball).unwrap().force().z
}

#[test]
fn indentation_by_a_ball_agrees_with_hertz() {
    let (radius, depth) = (6.0_f64, 0.25_f64);
    // The block is a layer of the thickness h with a bonded base: Dimitriadis et al., Biophys. J. 82 (2002),
    // with χ = √(R δ) / h.
    let chi = (radius * depth).sqrt() / 8.0;
    let (alpha, beta) = (-1.3833, 0.6670);
    let cubic = alpha * alpha * alpha + 4.0 * PI * PI / 15.0 * beta;
    let layer = 1.0 - 2.0 * alpha / PI * chi + 4.0 * alpha * alpha / (PI * PI) * chi * chi
        - 8.0 / (PI * PI * PI) * cubic * chi * chi * chi;
    let hertz = 4.0 / 3.0 * (10.0 / (1.0 - 0.09)) * (radius * depth * depth * depth).sqrt();
    let force = indent(radius, depth, 6, 100.0);
    println!("force {force:.3} N, Hertz {hertz:.3} N, with the layer {:.3} N", hertz * layer);
    assert!((force / (hertz * layer) - 1.0).abs() < 0.07, "{force} {hertz} {layer}");
}

#[test]
fn moving_half_spaces_drag_blocks_to_their_velocity() {
    let skin = 0.1;
    let settings = ContactSettings { friction: 0.5, slip_speed: 2.0, ..ContactSettings::new(50.0, 0.5) };
    let mut simulation = Simulation::new(settings).unwrap();
    let mesh = Mesh::box_of_hexahedra(P3::new(0.0, 0.0, skin), V3::new(10.0, 10.0, 5.0), [2, 2, 1]).unwrap();
    let block = simulation
        .add(DeformableBody::new(&mesh, Material::new(5.0, 0.4, 1.1e-9).unwrap(), skin).unwrap())
        .unwrap();
    let mut belt = half_space(&Pose::identity());
    belt.prescribe(V3::x() * 100.0, V3::zeros()).unwrap();
    simulation.add(belt).unwrap();
    simulation.set_gravity(V3::z() * -9810.0).unwrap();
    let step = 0.9 * simulation.stable_step(2);
    let speed = |s: &Simulation, id: BodyId| {
        s.deformable(id).unwrap().momentum().x / s.deformable(id).unwrap().mass()
    };
    while simulation.time() < 0.01 {
        simulation.step(step).unwrap();
    }
    let early = speed(&simulation, block);
    assert!((early / (0.5 * 9810.0 * 0.01) - 1.0).abs() < 0.05, "accelerated by friction: {early}");
    while simulation.time() < 0.06 {
        simulation.step(step).unwrap();
    }
    let late = speed(&simulation, block);
    assert!((late - 100.0).abs() < 2.0, "the block moves with the belt: {late}");
}

#[test]
fn far_bodies_are_not_evaluated() {
    let mut simulation = Simulation::new(ContactSettings::new(1.0, 0.1)).unwrap();
    let mesh = Mesh::box_of_hexahedra(P3::new(0.0, 0.0, 5.0), V3::repeat(1.0), [4; 3]).unwrap();
    let mut body = DeformableBody::new(&mesh, Material::new(1.0, 0.3, 1e-9).unwrap(), 0.05).unwrap();
    body.set_uniform_velocity(V3::z() * -100.0).unwrap();
    simulation.add(body).unwrap();
    simulation.add(half_space(&Pose::identity())).unwrap();
    let step = 0.5 * simulation.stable_step(1);
    let mut steps = 0;
    while simulation.time() < 0.03 {
        simulation.step(step).unwrap();
        steps += 1;
    }
    let count = simulation.search_counts().signed_distances;
    println!("{count} distances in {steps} steps of 98 nodes");
    assert!(count < 98 * 20 && steps > 1000, "{count} distances in {steps} steps");
}

#[test]
fn bounds_of_the_search_lose_no_contact() {
    let shape = RoundedBox { half: V3::new(2.0, 1.0, 0.1), round: 0.05 };
    let (touching, apart) = compare_with_fresh_searches(Box::new(shape), 2, 1.0, 0.0);
    assert!(touching > 5 && apart > 20, "{touching} {apart}");
    // The ball presses on the inside of two coarse facets.
    let ball = Ball { center: P3::new(0.13, 0.21, -0.05), radius: 0.2 };
    let (touching, apart) = compare_with_fresh_searches(Box::new(ball), 1, 0.1, 1e-12);
    assert!(touching > 5 && apart > 20, "{touching} {apart}");
    let wedge = Wedge::new(120.0);
    let (touching, apart) = compare_with_fresh_searches(Box::new(wedge), 2, 0.3, 1e-12);
    assert!(touching > 5 && apart > 20, "{touching} {apart}");
}

/// Compares the contacts of a block that falls on a moving shape with those of new simulations. The block
/// turns at the share `rate` of 3200 rad/s. Potentials agree to the ratio `tolerance`, or to the bit if it is
/// 0: the rotation of a new shape is normalised once more. Returns the numbers of compared steps in contact
/// and without contact.
fn compare_with_fresh_searches(
    shape: Box<dyn SmoothShape>,
    divisions: u32,
    rate: f64,
    tolerance: f64,
) -> (i32, i32) {
    let settings = ContactSettings::new(20.0, 0.1);
    let mesh = Mesh::box_of_hexahedra(P3::new(-0.5, -0.5, 0.4), V3::repeat(1.0), [divisions; 3]).unwrap();
    let material = Material::new(100.0, 0.3, 1e-9).unwrap();
    let undeformed = DeformableBody::new(&mesh, material, 0.08).unwrap();
    let mut body = undeformed.clone();
    for (k, p) in mesh.nodes.iter().enumerate() {
        let spin = V3::new(3000.0, 1000.0, 500.0).cross(&(p - P3::new(0.0, 0.0, 0.9))) * rate;
        body.set_velocity(k, spin + V3::new(20.0, 0.0, -700.0)).unwrap();
    }
    let mut simulation = Simulation::new(settings).unwrap();
    let id = simulation.add(body).unwrap();
    let wall = || {
        let mut wall = RigidBody::smooth(vec![shape.clone()], &Pose::identity()).unwrap();
        wall.prescribe(V3::z() * 50.0, V3::y() * 100.0).unwrap();
        wall
    };
    let moving = simulation.add(wall()).unwrap();
    let step = 0.2 * simulation.stable_step(4);
    let (mut compared, mut touching) = (0, 0);
    for k in 0..6000 {
        simulation.step(step).unwrap();
        if k % 20 == 0 || k % 4 == 0 && simulation.max_overlap() > 0.0 {
            let mut fresh = Simulation::new(settings).unwrap();
            let mut body = undeformed.clone();
            for (k, p) in simulation.deformable(id).unwrap().positions().iter().enumerate() {
                body.set_position(k, *p).unwrap();
            }
            fresh.add(body).unwrap();
            let at = simulation.rigid(moving).unwrap();
            let pose = Pose::from_parts(at.center().coords.into(), at.rotation());
            fresh.add(RigidBody::smooth(vec![shape.clone()], &pose).unwrap()).unwrap();
            fresh.step(1e-30).unwrap();
            let [a, b] = [&simulation, &fresh].map(|s| s.energies().contact);
            let is_same = a.to_bits() == b.to_bits() || (a - b).abs() < tolerance * a;
            assert!(is_same, "step {k}: {a} {b}");
            compared += 1;
            touching += i32::from(a > 0.0);
        }
    }
    let count = simulation.search_counts().signed_distances;
    println!(
        "{touching} of {compared} compared steps in contact; {count} distances in 6000 steps of 26 nodes"
    );
    (touching, compared - touching)
}

/// Concave corner between two planes through the y axis, symmetric to z.
#[derive(Clone, Copy, Debug)]
struct Wedge {
    normals: [V3; 2],
}

impl Wedge {
    /// Creates the corner with the free angle `angle` (degrees).
    fn new(angle: f64) -> Self {
        let half = 0.5 * angle.to_radians();
        let normals = [1.0, -1.0].map(|side| V3::new(side * math::cos(half), 0.0, math::sin(half)));
        Self { normals }
    }

    /// Distance of a point from one of the planes, with its foot relative to the corner.
    fn side(&self, k: usize, p: &P3) -> (SurfacePoint, f64) {
        let normal = self.normals[k];
        let distance = normal.dot(&p.coords);
        let along = V3::y().cross(&normal) * if k == 0 { -1.0 } else { 1.0 };
        (SurfacePoint { distance, normal }, along.dot(&p.coords))
    }
}

impl SmoothShape for Wedge {
    fn nearest(&mut self, p: &P3) -> Option<SurfacePoint> {
        let [a, b] = [0, 1].map(|k| self.side(k, p).0);
        Some(if a.distance <= b.distance { a } else { b })
    }

    fn minima(&mut self, p: &P3, reach: f64, _: SurfacePoint, out: &mut Vec<SurfacePoint>) -> Option<()> {
        let sides = [0, 1].map(|k| self.side(k, p));
        out.extend(sides.iter().filter(|s| s.1 > 0.0 && s.0.distance <= reach).map(|s| s.0));
        Some(())
    }

    fn probe_spacing(&self) -> f64 {
        0.1
    }

    fn radius(&self) -> f64 {
        f64::INFINITY
    }

    fn clone_box(&self) -> Box<dyn SmoothShape> {
        Box::new(*self)
    }
}

#[test]
fn the_potential_of_a_node_jumps_in_obtuse_concave_corners_only() {
    // A rigid sphere is one node with a skin of its radius; it moves parallel to one of the walls.
    let jump = |angle: f64| {
        let (skin, height) = (0.1, 0.06);
        let wedge = Wedge::new(angle);
        let along = V3::y().cross(&wedge.normals[0]) * -1.0;
        let potential = |x: f64| {
            let mut simulation = Simulation::new(ContactSettings::new(1.0, 0.1)).unwrap();
            let center = P3::from(wedge.normals[0] * height + along * x);
            let mut sphere = RigidBody::sphere(center, skin).unwrap();
            sphere.set_free(1e-9).unwrap();
            simulation.add(sphere).unwrap();
            simulation.add(RigidBody::smooth(vec![Box::new(wedge)], &Pose::identity()).unwrap()).unwrap();
            simulation.step(1e-30).ok().map(|()| simulation.energies().contact)
        };
        let n = 4000;
        let values: Vec<f64> =
            (-n / 4..n).filter_map(|k| potential(0.2 * f64::from(k) / f64::from(n))).collect();
        let by_size = |a: &[f64], b: &[f64]| (a[1] - a[0]).abs().total_cmp(&(b[1] - b[0]).abs());
        let largest = values.windows(2).max_by(|a, b| by_size(a, b)).unwrap();
        (largest[1] - largest[0]).abs() / largest[0].min(largest[1])
    };
    let [obtuse, right, acute] = [120.0, 90.0, 75.0].map(jump);
    println!("largest jump of the potential: {obtuse:.3} at 120°, {right:.4} at 90°, {acute:.4} at 75°");
    // The foot on the second wall crosses the corner where the first wall is at cos 60° of its distance.
    let ratio = (0.1 - 0.06) / (0.1 - 0.06 * 0.5);
    assert!((obtuse - ratio * ratio).abs() < 0.01, "{obtuse}, closed form {}", ratio * ratio);
    assert!(right < 0.005 && acute < 0.005, "{right} {acute}");
}

#[test]
fn fast_motion_in_contact_is_an_error_whatever_feature_touches() {
    let skin = 0.1;
    let run = |shape: Ball, speed: V3, step: f64, touching: bool| {
        let mut simulation = Simulation::new(ContactSettings::new(1e-3, 0.05)).unwrap();
        let mesh = Mesh::box_of_hexahedra(P3::origin(), V3::repeat(4.0), [1; 3]).unwrap();
        let body = DeformableBody::new(&mesh, Material::new(1e-3, 0.3, 1e-9).unwrap(), skin).unwrap();
        simulation.add(body).unwrap();
        let mut ball = RigidBody::smooth(vec![Box::new(shape)], &Pose::identity()).unwrap();
        ball.set_free_with_inertia(1.0, P3::origin(), Matrix3::identity()).unwrap();
        let ball = simulation.add(ball).unwrap();
        simulation.step(1e-30).unwrap();
        assert_eq!(simulation.energies().contact > 0.0, touching, "contact at the start");
        simulation.change_rigid(ball, |b| b.set_velocity(speed, V3::zeros())).unwrap();
        simulation.step(step)
    };
    let error = Err(DeformableError::TooFast { pair: [0, 1] });
    let small = Ball { center: P3::new(1.3, 1.1, 4.2 + 0.05), radius: 0.2 };
    let step = 1e-6;
    // The ball stays at the inside of a facet, 1.7 mm from the nearest node.
    assert_eq!(run(small, V3::x() * 2e4, step, true), error, "sliding on a facet");
    assert_eq!(run(small, V3::x() * 5e3, step, true), Ok(()), "slow sliding");
    // It leaves the contact within the step, or passes from far above into the facet and through it.
    assert_eq!(run(small, V3::z() * 1e6, step, true), error, "thrown out of contact");
    let above = Ball { center: P3::new(1.3, 1.1, 4.5), radius: 0.2 };
    assert_eq!(run(above, -V3::z() * 0.9e6, step, false), error, "through a facet");
    let over_node = Ball { center: P3::new(0.0, 0.0, 5.0), radius: 0.2 };
    assert_eq!(run(over_node, -V3::z() * 1.6e6, step, false), error, "through a node");
    assert_eq!(run(above, V3::z() * 1e6, step, false), Ok(()), "away from the body");
    assert_eq!(run(above, V3::x() * 2e4, step, false), Ok(()), "fast and far");
}

#[test]
fn copies_of_bodies_of_a_simulation_have_contacts() {
    let mut simulation = Simulation::new(ContactSettings::new(1.0, 0.1)).unwrap();
    let mesh = Mesh::box_of_hexahedra(P3::new(0.0, 0.0, 0.05), V3::repeat(1.0), [1; 3]).unwrap();
    let body = DeformableBody::new(&mesh, Material::new(1.0, 0.3, 1e-9).unwrap(), 0.1).unwrap();
    simulation.add(body.clone()).unwrap();
    let wall = simulation.add(half_space(&Pose::identity())).unwrap();
    let mut second = Simulation::new(ContactSettings::new(1.0, 0.1)).unwrap();
    second.add(body).unwrap();
    second.add(simulation.rigid(wall).unwrap().clone()).unwrap();
    simulation.step(1e-12).unwrap();
    second.step(1e-12).unwrap();
    let [a, b] = [&simulation, &second].map(|s| s.energies().contact);
    assert!(a > 0.0 && a.to_bits() == b.to_bits(), "{a} {b}");
    simulation.remove_shapes(wall).unwrap();
    simulation.step(1e-12).unwrap();
    assert_eq!(simulation.energies().contact.to_bits(), 0, "no contact without shapes");
    let copy = simulation.rigid(wall).unwrap().clone();
    simulation.add(copy).unwrap();
    let late = DeformableBody::new(&mesh, Material::new(1.0, 0.3, 1e-9).unwrap(), 0.1).unwrap();
    simulation.add(late).unwrap();
    assert_eq!(simulation.remove_shapes(wall), Ok(()), "twice");
}

#[test]
fn replaced_bodies_are_errors() {
    let mut simulation = Simulation::new(ContactSettings::new(1.0, 0.1)).unwrap();
    let mesh = |n: u32| Mesh::box_of_hexahedra(P3::new(0.0, 0.0, 0.05), V3::repeat(1.0), [n; 3]).unwrap();
    let body = |n| DeformableBody::new(&mesh(n), Material::new(1.0, 0.3, 1e-9).unwrap(), 0.1).unwrap();
    let cube = simulation.add(body(2)).unwrap();
    let wall = simulation.add(half_space(&Pose::identity())).unwrap();
    let sphere = simulation.add(RigidBody::sphere(P3::new(0.0, 0.0, 3.0), 1.0).unwrap()).unwrap();
    simulation.step(1e-9).unwrap();
    let replace = |s: &mut Simulation, id, by: RigidBody| {
        s.change_rigid(id, |b| {
            *b = by;
            Ok(())
        })
    };
    let by_sphere = RigidBody::sphere(P3::new(0.0, 0.0, 3.0), 1.0).unwrap();
    assert_eq!(replace(&mut simulation, wall, by_sphere.clone()), Err(DeformableError::Replaced(1)));
    assert_eq!(simulation.step(1e-9), Err(DeformableError::Replaced(1)));
    // A half-space at another place is neither fast nor far.
    replace(&mut simulation, wall, half_space(&Pose::translation(0.0, 0.0, -0.03))).unwrap();
    simulation.step(1e-9).unwrap();
    assert!((simulation.max_overlap() - 0.02).abs() < 1e-6, "{}", simulation.max_overlap());
    let error = replace(&mut simulation, sphere, half_space(&Pose::identity()));
    assert_eq!(error, Err(DeformableError::Replaced(2)));
    assert_eq!(simulation.exact_distance(0), None, "the node of the sphere does not exist");
    replace(&mut simulation, sphere, by_sphere).unwrap();
    let error = simulation.change_deformable(cube, |b| {
        *b = body(1);
        Ok(())
    });
    assert_eq!(error, Err(DeformableError::Replaced(0)));
    // A sphere at another place is found again.
    simulation
        .change_deformable(cube, |b| {
            *b = body(2);
            Ok(())
        })
        .unwrap();
    simulation.step(1e-9).unwrap();
    let lower = RigidBody::sphere(P3::new(0.5, 0.5, 2.1), 1.0).unwrap();
    replace(&mut simulation, sphere, lower).unwrap();
    simulation.step(1e-9).unwrap();
    assert!(simulation.max_overlap() > 0.04, "{}", simulation.max_overlap());
}

#[test]
fn bodies_rest_at_the_end_of_a_path() {
    let mut simulation = Simulation::new(ContactSettings::new(1.0, 0.1)).unwrap();
    let mesh = Mesh::box_of_hexahedra(P3::new(0.0, 0.0, 0.05), V3::repeat(1.0), [1; 3]).unwrap();
    let body = DeformableBody::new(&mesh, Material::new(1.0, 0.3, 1e-9).unwrap(), 0.1).unwrap();
    simulation.add(body).unwrap();
    let wall = simulation.add(half_space(&Pose::identity())).unwrap();
    let (at, turn) = (P3::new(1e-4, 0.0, 0.0), UnitQuaternion::identity());
    simulation.move_rigid(wall, at, turn, V3::x() * 100.0, V3::z()).unwrap();
    let velocities = |s: &Simulation| {
        let wall = s.rigid(wall).unwrap();
        (wall.velocity(), wall.angular_velocity())
    };
    simulation.step(1e-6).unwrap();
    assert_eq!(velocities(&simulation), (V3::x() * 100.0, V3::z()), "at the end of the step");
    simulation.step(1e-6).unwrap();
    assert_eq!(velocities(&simulation), (V3::zeros(), V3::zeros()), "at rest");
    assert_eq!(simulation.rigid(wall).unwrap().center(), at);
    simulation.move_rigid(wall, at, turn, V3::x(), V3::z()).unwrap();
    simulation.change_rigid(wall, |b| b.set_velocity(V3::y(), V3::x())).unwrap();
    simulation.step(1e-6).unwrap();
    assert_eq!(velocities(&simulation), (V3::y(), V3::x()), "velocities of the end of the path");
}

#[test]
fn points_keep_their_velocities_when_a_body_becomes_free() {
    let mut body = half_space(&Pose::identity());
    body.prescribe(V3::new(1.0, 2.0, 3.0), V3::z() * 2.0).unwrap();
    body.set_free_with_inertia(1.0, P3::new(0.5, 0.0, 0.0), Matrix3::identity()).unwrap();
    assert!((body.velocity() - V3::new(1.0, 3.0, 3.0)).norm() < 1e-15, "{}", body.velocity());
    // A cube without a corner.
    let mesh = Mesh::box_of_hexahedra(P3::origin(), V3::repeat(2.0), [1; 3]).unwrap();
    let block = DeformableBody::new(&mesh, Material::new(1.0, 0.3, 1e-9).unwrap(), 0.1).unwrap();
    let mut nodes = mesh.nodes.clone();
    nodes[0] = P3::new(1.0, 1.0, 1.0);
    let mut body = RigidBody::new(nodes, block.facets().to_vec(), 0.1).unwrap();
    body.prescribe(V3::zeros(), V3::z()).unwrap();
    let before = body.center();
    body.set_free(1e-9).unwrap();
    let expected = V3::z().cross(&(body.center() - before));
    assert!(expected.norm() > 0.01, "the centre of mass is another point: {expected}");
    assert!((body.velocity() - expected).norm() < 1e-15, "{} {expected}", body.velocity());
}

#[test]
fn bodies_of_other_programs_limit_the_stable_step() {
    let mut simulation = Simulation::new(ContactSettings::new(1.0, 0.1)).unwrap();
    let mut light = ball(1.0, P3::new(0.0, 0.0, 1.0));
    for (mass, moment) in [(0.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
        assert_eq!(light.set_external_inertia(mass, moment), Err(DeformableError::Inertia));
    }
    light.set_external_inertia(1e-9, 0.4e-9).unwrap();
    simulation.add(light).unwrap();
    let expected = 2.0 / (2.0 * (1e9 + 1.0 / 0.4e-9_f64)).sqrt();
    assert!((simulation.stable_step(1) / expected - 1.0).abs() < 1e-12, "{}", simulation.stable_step(1));
}

#[test]
fn rigid_spheres_and_triangles_bounce_on_exact_shapes() {
    let box_of_triangles = || {
        let mesh = Mesh::box_of_hexahedra(P3::new(-1.0, -1.0, 0.5), V3::repeat(2.0), [1; 3]).unwrap();
        let body = DeformableBody::new(&mesh, Material::new(1.0, 0.3, 1e-9).unwrap(), 0.1).unwrap();
        RigidBody::new(mesh.nodes, body.facets().to_vec(), 0.1).unwrap()
    };
    for mut body in [RigidBody::sphere(P3::new(0.0, 0.0, 1.5), 1.0).unwrap(), box_of_triangles()] {
        body.set_free(1e-9).unwrap();
        body.set_velocity(V3::z() * -100.0, V3::zeros()).unwrap();
        let mut simulation = Simulation::new(ContactSettings::new(20.0, 0.1)).unwrap();
        simulation.add(half_space(&Pose::identity())).unwrap();
        let id = simulation.add(body).unwrap();
        while simulation.time() < 0.02 {
            simulation.step(1e-6).unwrap();
        }
        let after = simulation.rigid(id).unwrap().velocity();
        // The first and the last overlap depend on the phase of the step.
        assert!((after - V3::z() * 100.0).norm() < 0.2, "{after}");
    }
}

#[test]
fn nodes_that_are_moved_from_outside_are_searched_again() {
    let mut simulation = Simulation::new(ContactSettings::new(1.0, 0.1)).unwrap();
    let mesh = Mesh::box_of_hexahedra(P3::new(0.0, 0.0, 50.0), V3::repeat(1.0), [2; 3]).unwrap();
    let body = DeformableBody::new(&mesh, Material::new(1.0, 0.3, 1e-9).unwrap(), 0.1).unwrap();
    let id = simulation.add(body).unwrap();
    simulation.add(half_space(&Pose::identity())).unwrap();
    simulation.step(1e-8).unwrap();
    let shift = |b: &mut DeformableBody| {
        mesh.nodes.iter().enumerate().try_for_each(|(k, p)| b.set_position(k, p - V3::z() * 49.95))
    };
    simulation.change_deformable(id, shift).unwrap();
    simulation.step(1e-8).unwrap();
    let expected = 9.0 * 0.5 * 0.05 * 0.05;
    assert!((simulation.energies().contact / expected - 1.0).abs() < 1e-3, "nine nodes touch");
}

/// Shape whose distance cannot be computed beyond 2 mm.
#[derive(Clone, Copy, Debug)]
struct Failing;

impl SmoothShape for Failing {
    fn nearest(&mut self, p: &P3) -> Option<SurfacePoint> {
        (p.z < 2.0).then_some(SurfacePoint { distance: p.z, normal: V3::z() })
    }

    fn radius(&self) -> f64 {
        f64::INFINITY
    }

    fn clone_box(&self) -> Box<dyn SmoothShape> {
        Box::new(*self)
    }
}

#[test]
fn invalid_bodies_and_steps_are_errors() {
    let nan = Pose::translation(f64::NAN, 0.0, 0.0);
    assert_eq!(RigidBody::smooth(vec![Box::new(HalfSpace)], &nan).unwrap_err(), DeformableError::Pose);
    assert_eq!(RigidBody::smooth(Vec::new(), &Pose::identity()).unwrap_err(), DeformableError::Empty);
    let mut body = half_space(&Pose::identity());
    assert_eq!(body.set_free(1e-9), Err(DeformableError::Inertia));
    for (mass, center, tensor) in [
        (0.0, P3::origin(), Matrix3::identity()),
        (f64::NAN, P3::origin(), Matrix3::identity()),
        (1.0, P3::new(f64::INFINITY, 0.0, 0.0), Matrix3::identity()),
        (1.0, P3::origin(), -Matrix3::identity()),
        (1.0, P3::origin(), Matrix3::new(1.0, 0.1, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)),
    ] {
        assert_eq!(body.set_free_with_inertia(mass, center, tensor), Err(DeformableError::Inertia));
    }
    let turn = UnitQuaternion::identity();
    let far = P3::new(f64::NAN, 0.0, 0.0);
    assert_eq!(body.move_to(far, turn, V3::zeros(), V3::zeros()), Err(DeformableError::Pose));
    let run = |shape: Box<dyn SmoothShape>, height: f64, speed: f64, step: f64| {
        let mut simulation = Simulation::new(ContactSettings::new(1.0, 0.1)).unwrap();
        let mesh = Mesh::box_of_hexahedra(P3::new(0.0, 0.0, height), V3::repeat(1.0), [1; 3]).unwrap();
        let mut body = DeformableBody::new(&mesh, Material::new(1.0, 0.3, 1e-9).unwrap(), 0.1).unwrap();
        body.set_uniform_velocity(V3::z() * -speed).unwrap();
        simulation.add(body).unwrap();
        simulation.add(RigidBody::smooth(vec![shape], &Pose::identity()).unwrap()).unwrap();
        (0..10).try_for_each(|_| simulation.step(step)).unwrap_err()
    };
    let crushed = run(Box::new(HalfSpace), 0.005, 0.0, 1e-7);
    assert_eq!(crushed, DeformableError::Crushed { pair: [0, 1] });
    assert_eq!(run(Box::new(HalfSpace), 0.12, 1e5, 2e-7), DeformableError::TooFast { pair: [0, 1] });
    let failing = run(Box::new(Failing), 1.5, 0.0, 1e-7);
    assert_eq!(failing, DeformableError::NodeDistance { pair: [0, 1], node: 4 });
    let message = "the distance of node 4 of body 0 from the exact shape of body 1 cannot be computed; \
                   check the position of the node and the size of the shape";
    assert_eq!(failing.to_string(), message);
}
