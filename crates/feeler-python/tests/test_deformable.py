"""Deformable bodies as the wheel's user has them: closed forms, conserved quantities, and what is refused."""

import ast
import copy
import doctest
import importlib.util
import json
import pickle
import re
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import feeler
import feeler.deformable as fd

ROOT = Path(__file__).parents[3]
MESHES = ROOT / "crates/feeler-deformable/tests/meshes"
RUBBER = fd.Material(young=5, poisson=0.4, density=1.1e-9)
STEEL = fd.Material(young=2.1e5, poisson=0.3, density=7.85e-9)


def plate(skin=0.1):
    corners = [[-20, -20, 0], [80, -20, 0], [80, 40, 0], [-20, 40, 0]]
    return fd.RigidBody(corners, [[0, 1, 2], [0, 2, 3]], skin)


def sliding_block():
    """The block of docs/DEFORMABLE.md on its plate: the simulation, the block and the plate."""
    simulation = fd.Simulation(fd.ContactSettings(50, 0.5, friction=0.3, slip_speed=5))
    mesh = fd.Mesh.box_of_hexahedra([0, 0, 0.2], [20, 20, 10], [2, 2, 1])
    block, ground = fd.DeformableBody(mesh, RUBBER, 0.1), plate()
    block.set_uniform_velocity([300, 0, 0])
    assert (block.index, simulation.add(block), simulation.add(ground), block.index) == (None, 0, 1, 0)
    simulation.set_gravity([0, 0, -9810])
    return simulation, block, ground


def test_a_sliding_block_is_decelerated_by_friction():
    simulation, block, ground = sliding_block()
    step = 0.9 * simulation.stable_step(2)
    steps = simulation.run_until(0.05, step)
    assert simulation.time == pytest.approx(steps * step, rel=1e-9) and 0 <= simulation.time - 0.05 < step
    # 300 - 0.3 * 9810 * 0.05 = 153 mm/s.
    assert block.momentum[0] / block.mass == pytest.approx(153, abs=10)
    assert simulation.search_counts.pair_steps == steps
    (pair,) = simulation.pairs
    assert (pair.bodies, pair.pieces, pair.is_active) == ((0, 1), (0, 0), True)
    assert simulation.exact_distance(0) < 0.1
    # The mean force on the plate is the weight.
    force = []
    for _ in range(400):
        simulation.step(step)
        force.append(ground.force)
    assert np.mean(force, axis=0)[2] == pytest.approx(-9810 * block.mass, rel=0.1)


def test_impact_of_two_bars_takes_two_passages_of_the_wave():
    """Two equal bars of the length l stay in contact for 2 l / c; with 40 elements, within some percent."""
    material, length, skin = fd.Material(210, 0, 7.85e-9), 1000.0, 2.0
    simulation = fd.Simulation(fd.ContactSettings(1e4, 0.5 * skin, edge_contacts=False))
    bars = []
    for x in (-length - 2 * skin - 1e-3, 0):
        mesh = fd.Mesh.box_of_hexahedra([x, 0, 0], [length, 100, 100], [40, 1, 1])
        bars.append(fd.DeformableBody(mesh, material, skin))
    bars[0].set_uniform_velocity([1000, 0, 0])
    for bar in bars:
        simulation.add(bar)
    expected = 2 * length / material.bar_wave_speed
    step, start = 0.5 * simulation.stable_step(2), simulation.energies.total
    contact = []
    while simulation.time < 2.5 * expected:
        simulation.step(step)
        contact += [simulation.time] if simulation.max_overlap > 0 else []
    assert contact[-1] - contact[0] == pytest.approx(expected, rel=0.03)
    speeds = [bar.momentum[0] / bar.mass for bar in bars]
    assert sum(speeds) == pytest.approx(1000, rel=1e-12) and speeds[1] > 950
    assert simulation.energies.total == pytest.approx(start, rel=1e-3)


@pytest.mark.parametrize("kind", ["tetrahedra", "hexahedra"])
def test_linear_displacements_give_constant_stress(kind):
    """Patch test: with irregular inner nodes, a linear displacement causes one stress and no inner forces."""
    box = getattr(fd.Mesh, f"box_of_{kind}")([0, 0, 0], [10, 10, 10], [3, 3, 3])
    nodes = box.nodes
    inner = ((nodes > 0.1) & (nodes < 9.9)).all(axis=1)
    nodes[inner] += np.random.default_rng(1).uniform(-0.4, 0.4, (inner.sum(), 3))
    mesh = fd.Mesh(nodes, **{kind: getattr(box, kind)})
    body = fd.DeformableBody(mesh, STEEL, 0.1)
    gradient = 1e-3 * np.array([[1, 0.3, -0.2], [0.1, -0.5, 0.4], [0.2, 0.6, 0.8]])
    body.set_position(np.arange(len(nodes)), nodes + nodes @ gradient.T)
    everything = np.arange(len(nodes))
    for axis in range(3):
        body.prescribe_velocity(everything, axis, 0)
    simulation = fd.Simulation(fd.ContactSettings(1, 1))
    simulation.add(body)
    simulation.step(0.5 * simulation.stable_step(0))
    strain = 0.5 * (gradient + gradient.T + gradient.T @ gradient)
    first, second = STEEL.lame
    expected = first * np.trace(strain) * np.eye(3) + 2 * second * strain
    stresses = body.stresses()
    assert stresses.shape == ({"tetrahedra": 1, "hexahedra": 8}[kind] * len(getattr(box, kind)), 3, 3)
    assert stresses == pytest.approx(np.broadcast_to(expected, stresses.shape), rel=1e-9, abs=1e-9)
    forces = body.forces
    assert np.abs(forces[inner]).max() < 1e-9 * np.abs(forces).max()
    assert body.reaction(everything) == pytest.approx(-forces)
    assert body.reaction(everything).sum(axis=0) == pytest.approx([0, 0, 0], abs=1e-7)


def test_rigid_motions_cause_no_stress():
    mesh = fd.Mesh.box_of_hexahedra([0, 0, 0], [4, 3, 2], [3, 2, 2])
    body = fd.DeformableBody(mesh, RUBBER, 0.1)
    angle = 1.2
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    body.set_position(np.arange(len(mesh.nodes)), mesh.nodes @ turn.T + [5, -3, 2])
    assert np.abs(body.stresses()).max() < 1e-12
    assert body.center_of_mass == pytest.approx(turn @ [2, 1.5, 1] + [5, -3, 2])
    assert body.reference == pytest.approx(mesh.nodes) and body.masses.sum() == pytest.approx(24 * RUBBER.density)
    matrix = body.stiffness_matrix()
    assert matrix.shape == (3 * len(mesh.nodes),) * 2 and matrix == pytest.approx(matrix.T, abs=1e-12)
    shift = np.tile([1.0, 2.0, 3.0], len(mesh.nodes))
    assert np.abs(matrix @ shift).max() < 1e-9 * np.abs(matrix).max()


def collision():
    """A free tetrahedral block and a free rigid ball that collide off the centre, without gravity."""
    simulation = fd.Simulation(fd.ContactSettings(20, 0.3, friction=0.2, slip_speed=500))
    mesh = fd.Mesh.box_of_tetrahedra([0, 0, 0], [6, 6, 6], [2, 2, 2])
    block, ball = fd.DeformableBody(mesh, RUBBER, 0.2), fd.RigidBody.sphere([4, 3.5, 9.5], 3)
    ball.set_free(1.1e-9)
    ball.set_velocity([200, 0, -2000], [10, 0, 0])
    simulation.add(block)
    simulation.add(ball)
    return simulation, block, ball


def test_momentum_is_conserved_in_a_collision():
    simulation, block, ball = collision()
    momentum = lambda: block.momentum + ball.momentum  # noqa: E731
    start, step, touched = momentum(), 0.3 * simulation.stable_step(4), False
    while simulation.time < 3e-3:
        simulation.run(20, step)
        touched |= simulation.max_overlap > 0
        assert momentum() == pytest.approx(start, abs=1e-12 * np.abs(start).max())
    assert touched and simulation.max_overlap == 0
    assert ball.velocity[2] > -1000 and block.momentum[2] < 0
    assert ball.rotation @ ball.rotation.T == pytest.approx(np.eye(3), abs=1e-12)
    energies = simulation.energies
    assert energies.kinetic == pytest.approx(block.kinetic_energy + ball.kinetic_energy)
    assert energies.strain == block.strain_energy and energies.contact == 0 and energies.gravity == 0
    assert energies.total == pytest.approx(sum(energies))


def test_two_runs_have_the_same_bits():
    states = []
    for by_steps in (True, False, False):
        simulation, block, ball = collision()
        step = 0.3 * simulation.stable_step(4)
        if by_steps:
            for _ in range(500):
                simulation.step(step)
        else:
            simulation.run(500, step)
        values = [block.positions, block.velocities, ball.positions, ball.rotation, [simulation.time]]
        states.append(b"".join(np.asarray(v).tobytes() for v in values))
    assert states[0] == states[1] == states[2]


def test_a_copy_of_a_simulation_moves_by_itself():
    simulation, block, _ = collision()
    step = 0.3 * simulation.stable_step(4)
    simulation.run(200, step)
    second = copy.copy(simulation)
    other, ball = second.bodies
    assert isinstance(other, fd.DeformableBody) and isinstance(ball, fd.RigidBody)
    assert (other.index, ball.index) == (0, 1)
    before = block.positions
    second.run(100, step)
    assert block.positions.tobytes() == before.tobytes() != other.positions.tobytes()
    simulation.run(100, step)
    assert block.positions.tobytes() == other.positions.tobytes()


def test_results_do_not_depend_on_pieces():
    def run(in_pieces):
        simulation = fd.Simulation(fd.ContactSettings(20, 0.3))
        mesh = fd.Mesh.box_of_hexahedra([0, 0, 0.3], [12, 4, 2], [6, 2, 1])
        body = fd.DeformableBody(mesh, RUBBER, 0.1)
        if in_pieces:
            simulation.add_in_pieces(body, (mesh.nodes[body.facets].mean(axis=1)[:, 0] > 6).astype(int))
        else:
            simulation.add(body)
        simulation.add(plate())
        simulation.set_gravity([0, 0, -9810])
        simulation.run(300, 0.5 * simulation.stable_step(4))
        return body.positions, len(simulation.pairs)

    (one, pairs), (two, more_pairs) = run(False), run(True)
    assert one.tobytes() == two.tobytes() and (pairs, more_pairs) == (1, 2)


def test_prescribed_nodes_stretch_a_bar():
    mesh = fd.Mesh.box_of_hexahedra([0, 0, 0], [40, 10, 10], [8, 2, 2])
    bar = fd.DeformableBody(mesh, fd.Material(210, 0, 7.85e-9), 0.1)
    left, right = (np.flatnonzero(mesh.nodes[:, 0] == x) for x in (0, 40))
    bar.prescribe_displacement(left, 0, 0)
    bar.set_damping(2e4)
    simulation = fd.Simulation(fd.ContactSettings(1, 1))
    simulation.add(bar)
    step = 0.5 * simulation.stable_step(0)
    for displacement in np.linspace(0, 0.04, 100):
        bar.prescribe_displacement(right, 0, np.full(len(right), displacement))
        simulation.run(20, step)
    simulation.run(1500, step)
    assert bar.positions[right, 0] == pytest.approx(40.04, abs=1e-12)
    # Green's strain is e + e²/2, and the force per undeformed area is E (e + e²/2)(1 + e).
    e = 0.04 / 40
    force = 210 * 100 * (e + e * e / 2) * (1 + e)
    assert bar.reaction(right).sum(axis=0) == pytest.approx([force, 0, 0], rel=1e-3, abs=1e-3)
    assert bar.reaction(left).sum(axis=0)[0] == pytest.approx(-force, rel=1e-3)
    assert bar.reaction(int(left[0])).shape == (3,)
    bar.release(right, 0)
    simulation.run(1, step)
    assert bar.reaction(right) == pytest.approx(np.zeros((len(right), 3)))


def test_a_rigid_body_moves_as_prescribed():
    body = plate()
    body.prescribe([1, 2, 3], [0, 0, 2])
    simulation = fd.Simulation(fd.ContactSettings(1, 1))
    simulation.add(body)
    # Without deformable bodies and contacts every step is stable.
    assert simulation.stable_step(0) == np.inf
    simulation.run(1000, 1e-3)
    assert body.center == pytest.approx([31, 12, 3]) and body.angular_velocity == pytest.approx([0, 0, 2])
    expected = [[np.cos(2), -np.sin(2), 0], [np.sin(2), np.cos(2), 0], [0, 0, 1]]
    assert body.rotation == pytest.approx(np.array(expected), abs=1e-9)
    assert body.mass is None and body.kinetic_energy == 0 and body.facets.tolist() == [[0, 1, 2], [0, 2, 3]]


def solid(name, cache={}):
    """A prepared solid of the project's data, by the name of its file."""
    if name not in cache:
        cache[name] = feeler.prepare_step(ROOT / f"data/{name}.step").body()
    return cache[name]


def turn(axis, angle):
    """Rotation matrix about a unit vector, in a pose."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    pose = np.eye(4)
    pose[:3, :3] += np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    return pose


def at(position, rotation=None):
    """Pose of a position and the rotation of another pose."""
    pose = np.eye(4) if rotation is None else rotation.copy()
    pose[:3, 3] = position
    return pose


def slide(plane, tilt, belt=(0, 0, 0), steer=None, skin=0.1):
    """Block of 6 x 6 x 3 mm that slides down a tilted plane for 0.05 s: its velocity relative to the plane, which
    moves by `belt` in its own frame, and the force on the plane. `steer` moves the plane before every step."""
    simulation = fd.Simulation(fd.ContactSettings(1, 0.5, friction=0.3, slip_speed=2))
    rotation = tilt[:3, :3]
    # The block starts at the overlap that carries its weight with nine nodes.
    overlap = 1.1e-9 * 108 * rotation[2, 2] * 9810 / 9
    box = fd.Mesh.box_of_hexahedra([-12, -3, skin - overlap], [6, 6, 3], [2, 2, 1])
    block = fd.DeformableBody(fd.Mesh(box.nodes @ rotation.T, hexahedra=box.hexahedra), RUBBER, skin)
    belt = rotation @ belt
    block.set_uniform_velocity(belt)
    simulation.add(block)
    simulation.add(plane)
    simulation.set_gravity([0, 0, -9810])
    # Also the velocity at the start of a steered motion.
    plane.prescribe(belt)
    # Steps of equal length.
    count = int(np.ceil(0.05 / (0.9 * simulation.stable_step(2))))
    step, forces = 0.05 / count, []
    for k in range(count):
        if steer is not None:
            steer(plane, (k + 1) * step)
        simulation.step(step)
        forces.append(plane.force)
    return rotation.T @ (block.momentum / block.mass - belt), rotation.T @ np.mean(forces, axis=0), simulation


def test_a_block_slides_down_an_exact_plane_by_coulombs_law():
    angle = 0.5
    tilt = turn([0, 1, 0], angle)
    # The solid of 40 x 30 x 20 mm has its top in the plane.
    pose = at(tilt[:3, 2] * -10, tilt)
    velocity, force, simulation = slide(fd.RigidBody.solid(solid("box"), pose), tilt)
    expected = 9810 * (np.sin(angle) - 0.3 * np.cos(angle)) * 0.05
    assert velocity[0] == pytest.approx(expected, rel=0.02) and abs(velocity[1]) < 1e-6 * expected
    # The plane carries the weight, and friction drags it down.
    normal = 1.1e-9 * 108 * 9810 * np.cos(angle)
    assert force[2] == pytest.approx(-normal, rel=0.02) and force[0] == pytest.approx(0.3 * normal, rel=0.03)
    counts = simulation.search_counts
    assert counts.signed_distances > 0 and counts.pair_steps == counts.distances == 0 and simulation.pairs == []
    half_space, _, _ = slide(fd.RigidBody.half_space(tilt), tilt)
    assert half_space == pytest.approx(velocity, abs=1e-6 * expected)
    # The same in motion, with velocities or with a pose in every step.
    belt = np.array([150, -40, 0])
    moving, _, _ = slide(fd.RigidBody.solid(solid("box"), pose), tilt, belt)
    assert moving == pytest.approx(velocity, abs=1e-6 * expected)
    world = tilt[:3, :3] @ belt
    steer = lambda plane, t: plane.move_to(at(pose[:3, 3] + world * t, tilt), world)  # noqa: E731
    steered, other, _ = slide(fd.RigidBody.solid(solid("box"), pose), tilt, belt, steer)
    assert steered == pytest.approx(velocity, abs=1e-6 * expected)
    assert other == pytest.approx(force, abs=1e-6 * normal)


def press(rigid, skin=0.1, divisions=12):
    """Force and torque on a rigid body over a flat plate of 12 x 12 mm with its top at z = 0, at rest."""
    mesh = fd.Mesh.box_of_hexahedra([-6, -6, -1], [12, 12, 1], [divisions, divisions, 1])
    simulation = fd.Simulation(fd.ContactSettings(1, 0.1))
    simulation.add(fd.DeformableBody(mesh, fd.Material(1, 0.3, 1e-9), skin))
    simulation.add(rigid)
    simulation.step(1e-30)
    return rigid.force, rigid.torque


def test_exact_balls_and_cylinders_press_with_penalty_times_overlap():
    skin, overlap = 0.1, 0.04
    height = 10 + skin - overlap
    # A ball of 10 mm over a node of a coarse mesh: one contact, without a torque about the centre.
    for ball in (
        fd.RigidBody.balls([[0, 0, 0]], 10, [0, 0, height]),
        fd.RigidBody.balls([[0, 0, height]], [10]),
        fd.RigidBody.solid(solid("sphere"), [0, 0, height]),
        fd.RigidBody.solid(solid("sphere"), at([0, 0, height], turn([0.6, 0, 0.8], 1.1)), probe_spacing=1),
    ):
        force, torque = press(ball, divisions=4)
        assert force == pytest.approx([0, 0, overlap], rel=1e-9, abs=1e-12) and np.abs(torque).max() < 1e-9
    # Anywhere else, the solid has the forces of the ball; two balls far apart are two contacts.
    place = [0.3, 0.4, height]
    expected, _ = press(fd.RigidBody.balls([[0, 0, 0]], 10, place))
    assert press(fd.RigidBody.solid(solid("sphere"), place))[0] == pytest.approx(expected, abs=1e-7 * expected[2])
    force, torque = press(fd.RigidBody.balls([[-4, 1, 1.06], [3, -1, 2.06]], [1, 2]))
    assert force == pytest.approx([0, 0, 2 * overlap], abs=1e-12)
    # Torque of the two forces about the origin of the frame: y F and -x F.
    assert torque == pytest.approx([0, overlap, 0], abs=1e-9)
    # A cylinder of 10 mm along y, at several angles: rows of 13 nodes, each with the overlap of its distance.
    across = turn([1, 0, 0], -np.pi / 2)
    x = np.arange(-2, 3)
    distance = np.hypot(x, height)
    nodes = (13 * np.maximum(skin - (distance - 10), 0) * height / distance).sum()
    forces = []
    for roll in (0, 0.05, 0.3):
        pose = turn([0, 1, 0], roll) @ across
        forces.append(press(fd.RigidBody.solid(solid("cylinder"), at([0, 0, height] - 20 * pose[:3, 2], pose)))[0][2])
    assert nodes * (1 - 1e-9) <= forces[0] < 1.2 * nodes and forces == pytest.approx([forces[0]] * 3, rel=1e-9)


def test_all_nodes_of_a_ring_in_an_exact_bore_have_the_same_force():
    skin, overlap, penalty, count = 0.1, 0.03, 100, 24
    phi = 2 * np.pi * np.arange(count) / count
    circle = lambda r, z: np.column_stack([r * np.cos(phi), r * np.sin(phi), np.full(count, z)])  # noqa: E731
    outer = 10 - skin + overlap
    nodes = np.vstack([circle(7, 0), circle(7, 2), circle(outer, 0), circle(outer, 2)])
    a = np.arange(count)
    b = (a + 1) % count
    i0, i1, o0, o1 = np.arange(4) * count
    hexahedra = np.column_stack([i0 + a, o0 + a, o0 + b, i0 + b, i1 + a, o1 + a, o1 + b, i1 + b])
    for angle in (0, 0.123, 1.0):
        simulation = fd.Simulation(fd.ContactSettings(penalty, 0.5))
        ring = fd.DeformableBody(fd.Mesh(nodes, hexahedra=hexahedra), fd.Material(5, 0.3, 1e-9), skin)
        bore = fd.RigidBody.solid(solid("bore"), turn([0, 0, 1], angle))
        simulation.add(ring)
        simulation.add(bore)
        simulation.step(1e-30)
        forces = np.linalg.norm(ring.forces, axis=1)
        assert forces[2 * count :] == pytest.approx(np.full(2 * count, penalty * overlap), rel=1e-9)
        assert np.abs(forces[: 2 * count]).max() < 1e-9 and np.abs(bore.force).max() < 1e-9
        assert simulation.max_overlap == pytest.approx(overlap, rel=1e-9)


def cushion(height=0.0):
    """A simulation with a free rubber block of 20 x 20 x 10 mm whose top is at z = 0, and the block."""
    simulation = fd.Simulation(fd.ContactSettings(50, 0.5))
    mesh = fd.Mesh.box_of_hexahedra([-10, -10, height - 10], [20, 20, 10], [3, 3, 2])
    block = fd.DeformableBody(mesh, fd.Material(20, 0.3, 1e-9), 0.3)
    simulation.add(block)
    return simulation, block


def test_a_ball_that_the_caller_moves_conserves_momentum():
    """The caller integrates an exact sphere with the forces of the simulation, as an external program does."""
    simulation, block = cushion()
    ball = fd.RigidBody.solid(solid("sphere"), [0.4, 0.7, 10.5])
    simulation.add(ball)
    mass, position, velocity = 4e-6, np.array([0.4, 0.7, 10.5]), np.array([0, 0, -500.0])
    step = 0.2 * simulation.stable_step(4)
    # The position of the ball is half a step ahead of its velocity.
    position += 0.5 * step * velocity
    touched = False
    while simulation.time < 0.01:
        ball.move_to(position, velocity)
        simulation.step(step)
        assert ball.center == pytest.approx(position) and ball.mass is None
        velocity += step / mass * ball.force
        position += step * velocity
        touched |= simulation.max_overlap > 0
    # Without contact at the end, both velocities have all impulses.
    momentum = block.momentum + mass * velocity
    assert touched and simulation.max_overlap == 0 and velocity[2] > -400
    assert momentum == pytest.approx([0, 0, -500 * mass], abs=1e-9 * 500 * mass)


def test_poses_that_the_caller_gives_are_reached_in_the_next_step():
    simulation, block = cushion(-20)
    ball, quarter = fd.RigidBody.balls([[1, 0, 9]], 1), [0, 0, np.sqrt(0.5), np.sqrt(0.5)]
    plane = fd.RigidBody([[0, 0, 0], [3, 0, 0], [0, 3, 0]], [[0, 1, 2]], 0.1)
    for body in (ball, plane):
        body.move_to([5, 6, 7, *quarter], [1, 2, 3], [0, 0, 4])
        assert not np.allclose(body.center, [5, 6, 7])
        simulation.add(body)
    step = 0.5 * simulation.stable_step(0)
    # Without another pose, the body rests from the second step on.
    for moving in (1, 0):
        simulation.step(step)
        for body in (ball, plane):
            assert body.center == pytest.approx([5, 6, 7])
            assert body.velocity.tolist() == [moving, 2 * moving, 3 * moving]
            assert body.rotation == pytest.approx(turn([0, 0, 1], np.pi / 2)[:3, :3])
            assert body.angular_velocity.tolist() == [0, 0, 4 * moving]
    assert plane.positions == pytest.approx(np.array([[6, 5, 7], [6, 8, 7], [3, 5, 7]]))
    # The ball touches the plane, so it must not move by more than a tenth of the skin.
    ball.move_to([5, 6, 7.005], [0, 0, 0])
    assert ball.center == pytest.approx([5, 6, 7])
    simulation.step(step)
    assert ball.center.tolist() == [5, 6, 7.005] and ball.positions.shape == ball.facets.shape == (0, 3) and ball.skin == 0


def test_free_exact_solids_have_their_mass_and_conserve_momentum_and_energy():
    vector = np.array([0.5, 0.4, 0.1])
    angle = np.linalg.norm(vector)
    pose, density, box = at([1, 2, 23.2], turn(vector / angle, angle)), 1e-9, solid("box")

    def run(free):
        simulation, block = cushion()
        block.set_uniform_velocity([0, 0, 150])
        simulation.add(free)
        sums = lambda: np.append(  # noqa: E731
            block.momentum + free.momentum, block.angular_momentum + free.angular_momentum
        )
        start, energy, largest = sums(), simulation.energies.total, 0
        step = 0.4 * simulation.stable_step(3)
        while simulation.time < 0.02:
            simulation.run(10, step)
            largest = max(largest, simulation.max_overlap)
        assert largest > 0.01 and np.linalg.norm(free.angular_velocity) > 1
        assert sums() == pytest.approx(start, abs=1e-11 * 20 * np.abs(start).max())
        assert simulation.energies.total == pytest.approx(energy, rel=2e-3)
        return free.center.tobytes() + block.positions.tobytes()

    first = fd.RigidBody.free_solid(box, density, pose)
    assert first.mass == pytest.approx(density * 40 * 30 * 20) and first.center == pytest.approx([1, 2, 23.2])
    second = fd.RigidBody.solid(box, pose)
    second.set_free_with_inertia(density * box.volume, box.centroid, density * box.inertia)
    assert run(first) == run(second)


def test_bodies_with_triangles_take_a_mass_and_an_inertia():
    """The inertia of a cube, about a centre beside the mean of the nodes: a torque-free body keeps its spin."""
    corners = fd.Mesh.box_of_hexahedra([0, 0, 0], [2, 2, 2], [1, 1, 1])
    facets = fd.DeformableBody(corners, STEEL, 0.1).facets
    cube = fd.RigidBody(corners.nodes, facets, 0.1)
    cube.set_free_with_inertia(3e-6, [0.5, 0, 0], np.diag([2e-6, 2e-6, 1e-6]))
    cube.set_velocity([1, 0, 0], [0, 0, 5])
    assert cube.mass == 3e-6 and cube.center == pytest.approx([1.5, 1, 1])
    assert cube.kinetic_energy == pytest.approx(0.5 * (3e-6 + 25e-6)) and cube.positions == pytest.approx(corners.nodes)
    # About the origin: the spin and the centre times the momentum.
    assert cube.angular_momentum == pytest.approx([0, 3e-6, 5e-6 - 3e-6])


def test_simulations_with_exact_solids_can_be_copied():
    simulation, block = cushion()
    ball = fd.RigidBody.free_solid(solid("sphere"), 1e-9, [0.4, 0.7, 10.5])
    ball.set_velocity([0, 0, -500])
    simulation.add(ball)
    step = 0.2 * simulation.stable_step(4)
    simulation.run(100, step)
    other = copy.copy(simulation)
    _, second = other.bodies
    assert repr(second).startswith("<RigidBody: exact shape, centre (") and second.index == 1
    other.run(200, step)
    assert second.center.tobytes() != ball.center.tobytes()
    simulation.run(200, step)
    assert second.center.tobytes() == ball.center.tobytes() and simulation.search_counts == other.search_counts


def test_results_do_not_depend_on_the_trees():
    runs = {}
    for trees in ("piece", "pair", "scene"):
        settings = fd.ContactSettings(20, 0.3, friction=0.2, slip_speed=20, trees=trees)
        assert settings.trees == trees and pickle.loads(pickle.dumps(settings)) == settings
        simulation = fd.Simulation(settings)
        bodies = []
        for x, z in ((0, 0.2), (2, 2.5), (14, 0.25)):
            mesh = fd.Mesh.box_of_hexahedra([x, 0, z], [12, 4, 2], [6, 2, 1])
            bodies.append(fd.DeformableBody(mesh, RUBBER, 0.1))
            bodies[-1].set_uniform_velocity([-40 * x, 0, -100])
            simulation.add_in_pieces(bodies[-1], (mesh.nodes[bodies[-1].facets].mean(axis=1)[:, 0] > x + 6).astype(int))
        simulation.add(plate())
        simulation.add(fd.RigidBody.solid(solid("box"), [10, 19.08, 5]))
        simulation.set_gravity([0, 0, -9810])
        largest = 0
        for _ in range(20):
            simulation.run(10, 0.5 * simulation.stable_step(4))
            largest = max(largest, simulation.max_overlap)
        assert largest > 1e-3
        runs[trees] = b"".join(b.positions.tobytes() for b in bodies), simulation.search_counts
    assert fd.ContactSettings(1, 1).trees == "piece" and fd.ContactSettings(1, 1, trees="pair") != settings
    assert runs["piece"][0] == runs["pair"][0] == runs["scene"][0]
    counts = [run[1] for run in runs.values()]
    assert all(min(c[:9]) > 0 for c in counts) and len({c.box_updates for c in counts}) == 3
    assert len({c.signed_distances for c in counts}) == 1 and counts[1].box_updates > counts[0].box_updates


def test_invalid_exact_bodies_and_trees_are_errors():
    box, sphere = solid("box"), fd.RigidBody.balls([[0, 0, 0]], 1)
    simulation, _ = cushion()
    simulation.add(sphere)
    unit = np.eye(3)
    sheet = feeler.prepare_mesh(unit, [[0, 1, 2]], open_shells=True).body()
    cases = [
        (feeler.QueryError, "trees is 'all'; give 'piece', 'pair' or 'scene'",
         lambda: fd.ContactSettings(1, 1, trees="all")),
        (TypeError, "trees", lambda: fd.ContactSettings(1, 1, trees=None)),
        (TypeError, "body", lambda: fd.RigidBody.solid("box.step")),
        (ValueError, "pose: expected shape (4, 4), (3,) or (7,)", lambda: fd.RigidBody.solid(box, [0, 0])),
        (feeler.QueryError, "probe_spacing is 0 mm", lambda: fd.RigidBody.solid(box, probe_spacing=0)),
        (feeler.QueryError, "probe_spacing is NaN mm", lambda: fd.RigidBody.solid(box, probe_spacing=np.nan)),
        (feeler.QueryError, "the density is -1 t/mm³", lambda: fd.RigidBody.free_solid(box, -1)),
        (feeler.QueryError, "is an open surface, which has no mass", lambda: fd.RigidBody.free_solid(sheet, 1e-9)),
        (ValueError, "centers: expected shape (n, 3)", lambda: fd.RigidBody.balls([0, 0, 0], 1)),
        (ValueError, "radii: expected shape (1,) or ()", lambda: fd.RigidBody.balls([[0, 0, 0]], [1, 2])),
        (feeler.QueryError, "the list of balls is empty", lambda: fd.RigidBody.balls(np.zeros((0, 3)), 1)),
        (feeler.QueryError, "the radius of ball 1 is 0 mm", lambda: fd.RigidBody.balls(np.zeros((2, 3)), [1, 0])),
        (feeler.QueryError, "the centre of ball 0 is not finite", lambda: fd.RigidBody.balls([[0, 0, np.inf]], 1)),
        (feeler.QueryError, "pose", lambda: fd.RigidBody.half_space([0, 0, np.nan])),
        (feeler.QueryError, "pose", lambda: fd.RigidBody.half_space(2 * np.eye(4))),
        (feeler.QueryError, "set_free_with_inertia", lambda: sphere.set_free(1e-9)),
        (feeler.QueryError, "must be finite and positive", lambda: sphere.set_free_with_inertia(0, [0, 0, 0], unit)),
        (feeler.QueryError, "must be finite and positive", lambda: sphere.set_free_with_inertia(1, [0, 0, 0], -unit)),
        (ValueError, "tensor: expected shape (3, 3)", lambda: sphere.set_free_with_inertia(1, [0, 0, 0], [1, 1, 1])),
        (ValueError, "center: expected shape (3,)", lambda: sphere.set_free_with_inertia(1, [0, 0], unit)),
        (ValueError, "pose: expected shape (4, 4), (3,) or (7,)", lambda: sphere.move_to([0, 0], [0, 0, 0])),
        (ValueError, "velocity: expected shape (3,)", lambda: sphere.move_to([0, 0, 0], 1)),
        (TypeError, "velocity", lambda: sphere.move_to([0, 0, 0])),
        (feeler.QueryError, "is not finite", lambda: sphere.move_to([0, 0, 0], [0, 0, np.nan])),
        (feeler.SceneError, "already in a simulation", lambda: simulation.add(sphere)),
    ]  # fmt: skip
    for error, text, call in cases:
        with pytest.raises(error, match=re.escape(text)):
            call()
    # The top of the block is crushed by a ball that is placed in it.
    assert sphere.mass is None and simulation.time == 0
    with pytest.raises(feeler.SceneError, match="the skins of bodies 0 and 1 are crushed"):
        simulation.step(1e-9)


@pytest.mark.parametrize("name", ["tetrahedra", "hexahedra"])
def test_meshes_of_gmsh(name):
    old, new = (MESHES / f"{name}-{version}.msh" for version in ("2.2", "4.1"))
    mesh = fd.Mesh.read_msh(old)
    assert len(getattr(mesh, name)) > 0 and mesh == fd.Mesh.from_msh(old.read_text())
    other = fd.Mesh.read_msh(str(new))
    assert other.nodes.shape[1] == 3 and len(getattr(other, name)) == len(getattr(mesh, name))
    assert fd.DeformableBody(mesh, STEEL, 0.01).mass > 0


def test_data_can_be_pickled_and_compared():
    mesh = fd.Mesh.box_of_tetrahedra([0, 0, 0], [1, 2, 3], [1, 2, 1])
    assert mesh.nodes.dtype == np.float64 and mesh.tetrahedra.dtype == np.uint32 and mesh.hexahedra.shape == (0, 8)
    assert mesh.tetrahedra.shape == (12, 4) and mesh != fd.Mesh(mesh.nodes + 1, mesh.tetrahedra)
    settings = fd.ContactSettings(5, 0.1, friction=0.2, edge_contacts=False, activation=np.inf)
    for value in (mesh, STEEL, settings):
        assert pickle.loads(pickle.dumps(value)) == value
    assert (settings.slip_speed, settings.edge_contacts, settings.activation) == (1, False, np.inf)
    assert eval(repr(STEEL), {"Material": fd.Material}) == STEEL
    assert STEEL.bar_wave_speed == pytest.approx(np.sqrt(2.1e5 / 7.85e-9))
    assert STEEL.pressure_wave_speed > STEEL.bar_wave_speed


def test_wrong_arguments_are_refused():
    holes = np.array([[0, 0, 0], [0, np.nan, 0], [1, 0, 0], [0, 0, 1]])
    simulation, block, ground = sliding_block()
    cases = [
        (ValueError, "nodes: expected shape (n, 3)", lambda: fd.Mesh([[0, 0]])),
        (ValueError, "tetrahedra: expected shape (n, 4) and dtype uint32", lambda: fd.Mesh([[0, 0, 0]], [[0, 1, 2]])),
        (ValueError, "hexahedra: expected shape (n, 8)", lambda: fd.Mesh([[0, 0, 0]], hexahedra=[[0.5] * 8])),
        (ValueError, "corner: expected shape (3,)", lambda: fd.Mesh.box_of_hexahedra([0, 0], [1, 1, 1], [1, 1, 1])),
        (feeler.QueryError, "at least one division", lambda: fd.Mesh.box_of_hexahedra([0, 0, 0], [1, 1, 1], [1, 0, 1])),
        (feeler.QueryError, "has more than", lambda: fd.Mesh.box_of_tetrahedra([0, 0, 0], [1, 1, 1], [4000] * 3)),
        (feeler.QueryError, "node 1 has a coordinate",
         lambda: fd.DeformableBody(fd.Mesh(holes, [[0, 2, 1, 3]]), STEEL, 1)),
        (feeler.QueryError, "node 4 does not exist: the mesh has 4 nodes",
         lambda: fd.DeformableBody(fd.Mesh(np.eye(4, 3), [[0, 1, 2, 4]]), STEEL, 1)),
        (feeler.QueryError, "element 0 is inverted",
         lambda: fd.DeformableBody(fd.Mesh(np.eye(4, 3), [[0, 1, 2, 3]]), STEEL, 1)),
        (feeler.QueryError, "the mesh has no elements", lambda: fd.DeformableBody(fd.Mesh(np.eye(4, 3)), STEEL, 1)),
        (feeler.QueryError, "Poisson's ratio is 0.5", lambda: fd.Material(1, 0.5, 1)),
        (feeler.QueryError, "Young's modulus is NaN", lambda: fd.Material(float("nan"), 0.3, 1)),
        (feeler.QueryError, "the penalty must be finite", lambda: fd.ContactSettings(-1, 1)),
        (feeler.QueryError, "the skin is 0 mm", lambda: plate(0)),
        (feeler.QueryError, "the radius is -1 mm", lambda: fd.RigidBody.sphere([0, 0, 0], -1)),
        (feeler.QueryError, "node 9 does not exist", lambda: fd.RigidBody(np.eye(3), [[0, 1, 9]], 1)),
        (feeler.QueryError, "the facets enclose no positive volume", lambda: plate().set_free(1)),
        (feeler.QueryError, "a velocity or acceleration is not finite", lambda: plate().prescribe([0, 0, np.inf])),
        (ValueError, "velocity: expected shape (3,)", lambda: block.set_uniform_velocity([0, 1])),
        (ValueError, "velocity: expected shape (2, 3) or (3,)", lambda: block.set_velocity([0, 1], np.zeros((3, 3)))),
        (ValueError, "nodes: expected shape () or (n,) and dtype uint32", lambda: block.set_velocity(-1, [0, 0, 0])),
        (ValueError, "displacement: expected shape (2,) or ()",
         lambda: block.prescribe_displacement([0, 1], 0, [1, 2, 3])),
        (feeler.QueryError, "node 99 does not exist: the mesh has 18 nodes", lambda: block.set_velocity(99, [0, 0, 0])),
        (feeler.QueryError, "node 18 does not exist", lambda: block.reaction([0, 18])),
        (feeler.QueryError, "axis 3 does not exist", lambda: block.prescribe_velocity(0, 3, 1)),
        (feeler.QueryError, "the damping must be finite", lambda: block.set_damping(-1)),
        (feeler.QueryError, "a velocity or acceleration is not finite", lambda: simulation.set_gravity([0, 0, np.nan])),
        (feeler.QueryError, "exceeds the stable time step", lambda: simulation.step(1)),
        (feeler.QueryError, "exceeds the stable time step", lambda: simulation.run(3, 1)),
        (feeler.QueryError, "the time step is NaN s", lambda: simulation.run(1, float("nan"))),
        (feeler.QueryError, "give a finite time", lambda: simulation.run_until(float("inf"), 1e-5)),
        (feeler.SceneError, "already in a simulation", lambda: simulation.add(block)),
        (feeler.SceneError, "pair 7 does not exist: the simulation has 1 pairs", lambda: simulation.exact_distance(7)),
        (TypeError, "expected a DeformableBody or a RigidBody", lambda: simulation.add(3)),
        (feeler.QueryError, "3 pieces are given for 2 facets", lambda: simulation.add_in_pieces(plate(), [0, 0, 0])),
        (feeler.FileError, "none.msh: ", lambda: fd.Mesh.read_msh(MESHES / "none.msh")),
        (feeler.FileError, "line 2: ", lambda: fd.Mesh.from_msh("$MeshFormat\n3 0 8\n")),
    ]  # fmt: skip
    for error, text, call in cases:
        with pytest.raises(error, match=re.escape(text)):
            call()
    assert simulation.time == 0 and len(simulation.bodies) == 2


def test_wrong_values_change_nothing():
    mesh = fd.Mesh.box_of_hexahedra([0, 0, 0], [1, 1, 1], [1, 1, 1])
    body = fd.DeformableBody(mesh, RUBBER, 0.1)
    for nodes, value in (([0, 8], [1, 0, 0]), ([0, 1], [[1, 0, 0], [0, np.nan, 0]])):
        for change in (body.set_velocity, body.set_position):
            with pytest.raises(feeler.QueryError):
                change(nodes, value)
    assert not body.velocities.any() and body.positions == pytest.approx(mesh.nodes)
    ground, simulation = plate(), fd.Simulation(fd.ContactSettings(1, 1))
    with pytest.raises(feeler.QueryError):
        simulation.add_in_pieces(ground, [5, 0])
    assert ground.index is None and simulation.add(ground) == 0


def test_steps_that_fail_say_why():
    simulation, block, ground = sliding_block()
    block.set_uniform_velocity([0, 0, -1e6])
    with pytest.raises(feeler.SceneError, match="bodies 0 and 1 move too fast for their skins"):
        simulation.run(100, 0.5 * simulation.stable_step(2))
    simulation, block, ground = sliding_block()
    block.set_velocity(0, [0, 0, 1e7])
    with pytest.raises(feeler.SceneError, match="element 0 of body 0 is inverted|is not finite|too fast"):
        simulation.run(100, 0.5 * simulation.stable_step(2))


def test_steps_release_the_gil_and_exclude_other_threads():
    simulation, block, _ = sliding_block()
    step = 0.5 * simulation.stable_step(2)
    thread = threading.Thread(target=simulation.run, args=(60_000, step))
    thread.start()
    refused = 0
    while thread.is_alive():
        for read in (lambda: block.positions, lambda: simulation.time, lambda: block.set_damping(1)):
            try:
                read()
            except RuntimeError as error:
                refused += "in use by another thread" in str(error)
        time.sleep(1e-3)
    assert refused > 0 and simulation.time == pytest.approx(60_000 * step)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_signal_ends_a_run_after_a_whole_step():
    simulation, block, _ = sliding_block()
    step = 0.5 * simulation.stable_step(2)
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
        with pytest.raises(KeyboardInterrupt):
            simulation.run(10**9, step)
    finally:
        signal.signal(signal.SIGINT, before)
    assert simulation.time > 0
    simulation.step(step)


def test_ironing_example(tmp_path, capsys, monkeypatch):
    """The dragging force of the example is friction times the pressing force, and its page needs no other files."""
    path = Path(__file__).parents[1] / "examples" / "ironing.py"
    spec = importlib.util.spec_from_file_location("ironing", path)
    ironing = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(ironing)
    for name, value in {"PRESS": 0.006, "TRAVEL": 10, "FRAMES": 40}.items():
        monkeypatch.setattr(ironing, name, value)
    page = tmp_path / "ironing.html"
    monkeypatch.setattr(sys, "argv", ["ironing.py", "--page", str(page), "--friction", "0.2"])
    ironing.main()
    share = float(re.search(r"dragging .* N, ([\d.]+) of", capsys.readouterr().out)[1])
    assert share == pytest.approx(0.2, abs=0.03)
    text = page.read_text(encoding="utf-8")
    assert "http" not in text and "src=" not in text
    data = json.loads(re.search(r"^const data = (.*);$", text, re.MULTILINE)[1])
    assert len(data["times"]) == 41 and [len(body["points"]) for body in data["bodies"]] == [41, 41]


def test_all_names_are_documented(monkeypatch):
    """The stub has every name and member; every class has an example, and the examples run."""
    monkeypatch.chdir(ROOT)
    stub = Path(feeler.__file__).parent / "deformable.pyi"
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    assert sorted(classes) == sorted(fd.__all__)
    runner, parser = doctest.DocTestRunner(verbose=False), doctest.DocTestParser()
    for name, node in classes.items():
        members = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
        members |= {n.target.id for n in node.body if isinstance(n, ast.AnnAssign)}
        real = {m for m in vars(getattr(fd, name)) if not m.startswith("_")}
        assert {m for m in members if not m.startswith("_")} == real, name
        text = ast.get_docstring(node)
        assert ">>>" in text, name
        runner.run(parser.get_doctest(text, {"feeler": feeler, "np": np}, name, str(stub), 0))
    assert runner.summarize(verbose=False).failed == 0


def test_grains_among_deformable_bodies_conserve_momentum_and_carry_their_weight():
    # A ball bounces off a free block without gravity.
    simulation = fd.Simulation(fd.ContactSettings(20, 0.5))
    mesh = fd.Mesh.box_of_hexahedra([-5, -5, -5], [10, 10, 5], [4, 4, 2])
    block = fd.DeformableBody(mesh, RUBBER, 0.1)
    simulation.add(block)
    grains = feeler.GrainForces()
    ball = grains.add_grain(2.0, density=7850)
    grains.set_motions([ball], [[0.3, 0.2, 2.15]], [[0, 0, 0, 1]], [[0, 0, -200]], [[0, 0, 0]])
    coupling = fd.GrainCoupling(grains, simulation)
    assert coupling.body(ball) is None and coupling.add(ball) == coupling.body(ball) == 1
    with pytest.raises(feeler.SceneError, match="grain 0"):
        coupling.add(ball)
    with pytest.raises(feeler.SceneError, match="grain 7"):
        coupling.load(7)
    step = 0.4 * simulation.stable_step(2)
    start, pressed = grains.mass(ball) * -200, 0.0  # kg mm/s
    for _ in range(200):
        coupling.step(step, steps=25)
        pressed = max(pressed, coupling.load(ball)[0][2])
    moved = grains.motions()[2][ball][2]
    # 1 N s = 1000 kg mm/s.
    total = grains.mass(ball) * moved + 1e3 * block.momentum[2]
    assert pressed > 10 and moved > -100, (pressed, moved)
    assert abs(total - start) < 1e-9 * abs(start), (total, start)
    assert coupling.load(ball)[0] == [0, 0, 0]
    assert coupling.remove(ball) == 1 and coupling.body(ball) is None

    # Gravity accelerates a grain that touches nothing.
    falling = feeler.GrainForces(gravity=[0, 0, -9810])
    falling.add_grain(1.0, density=2500)
    falling.step(1e-4, steps=100)
    assert abs(falling.motions()[2][0][2] + 98.1) < 1e-9
    with pytest.raises(feeler.QueryError, match="gravity"):
        feeler.GrainForces(gravity=[0, 0, float("nan")])
