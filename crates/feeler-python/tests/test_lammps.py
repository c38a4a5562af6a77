"""Tests of walls in LAMMPS; skipped if LAMMPS is not installed."""

import math
import pathlib

import numpy as np
import pytest

import feeler

pytest.importorskip("lammps")
walls_of = pytest.importorskip("feeler.lammps")

DATA = pathlib.Path(__file__).resolve().parents[3] / "data"
R, RHO = 0.002, 2500.0
MASS = RHO * math.pi * 4 / 3 * R**3
GRAVITY = "fix g all gravity 9.81 vector 0 0 -1"


def scene(balls, *, gravity=GRAVITY, style="sphere", units="si", step=1e-6, sort=True):
    """LAMMPS with spheres that do not collide with each other: rows of position, velocity and spin."""
    lmp = walls_of.start(["-log", "none", "-screen", "none", "-nocite"])
    lmp.commands_string(f"""
        units {units}
        atom_style {style}
        atom_modify map array {"sort 10 0.005" if sort else "sort 0 0"}
        boundary f f f
        region box block -0.1 0.1 -0.1 0.1 -0.05 0.1
        create_box 1 box
        comm_modify vel yes cutoff 0.01
        timestep {step}""")
    for k, row in enumerate(balls):
        x, v, w = row[:3], row[3:6], row[6:9]
        lmp.command(f"create_atoms 1 single {x[0]} {x[1]} {x[2]} units box")
        if style == "sphere":
            lmp.command(f"set atom {k + 1} diameter {2 * R} density {RHO}")
            lmp.command(f"set atom {k + 1} omega {w[0]} {w[1]} {w[2]}")
        elif k == 0:
            lmp.command("mass 1 1.0")
        lmp.command(f"group one id {k + 1}")
        lmp.command(f"velocity one set {v[0]} {v[1]} {v[2]}")
        lmp.command("group one clear")
    if style == "sphere":
        lmp.command("fix move all nve/sphere")
        lmp.command(gravity)
    return lmp


def of(lmp, what, tag):
    """Quantity of an atom; LAMMPS changes the order of atoms."""
    at = list(lmp.numpy.extract_atom("id")[: lmp.extract_global("nlocal")]).index(tag)
    return lmp.numpy.extract_atom(what)[at]


def state(lmp, tag=1):
    """Position, velocity and spin of an atom."""
    return np.concatenate([of(lmp, k, tag) for k in ("x", "v", "omega")])


def path(lmp, steps, tag=1, each=50):
    rows = []
    for _ in range(steps // each):
        lmp.command(f"run {each} post no")
        rows.append(state(lmp, tag))
    return np.array(rows)


def box():
    return feeler.prepare_step(DATA / "box.step").body()


def plane(law):
    forces = feeler.WallForces()
    forces.add_plane([0, 0, 0], [0, 0, 1], law)
    return forces


def damping(e):
    return -math.log(e) / math.hypot(math.pi, math.log(e))


def grid(n, size=80.0):
    """Floor of 2 n² triangles."""
    line = np.linspace(-size, size, n + 1)
    points = [(x, y, 0.0) for x in line for y in line]
    at = lambda i, j: i * (n + 1) + j  # noqa: E731
    return points, [
        t
        for i in range(n)
        for j in range(n)
        for t in ((at(i, j), at(i + 1, j), at(i + 1, j + 1)), (at(i, j), at(i + 1, j + 1), at(i, j + 1)))
    ]


DROP = [0.0, 0.0, R + 1e-3, 0.0, 0.0, -0.5, 0.0, 0.0, 0.0]


def test_a_falling_ball_bounces_as_on_walls_of_lammps():
    kn, e = 1e4, 0.6
    gamma = 2 * damping(e) * math.sqrt(kn / MASS)
    young, poisson = 1e7, 0.25
    law = feeler.Law.linear(kn, kn / 2, e, 0.3)
    hertz = feeler.Law.hertz(young / 1e3, poisson, e, 0.3)
    theirs = [
        (law, f"fix w all wall/gran hooke/history {kn} {kn / 2} {gamma} {gamma} 0.3 1 zplane 0 NULL"),
        (
            hertz,
            f"fix w all wall/gran granular hertz/material {young} {e} {poisson} tangential mindlin NULL 1.0 0.3 "
            "damping coeff_restitution zplane 0 NULL",
        ),
    ]
    for law, command in theirs:
        lmp = scene([DROP])
        lmp.command(command)
        expected = path(lmp, 8_000)
        lmp = scene([DROP])
        walls_of.install(lmp, plane(law))
        got = path(lmp, 8_000)
        assert expected[:, 5].min() < -0.5 and expected[-1, 5] > 0.2, "the ball has bounced"
        assert np.abs(got - expected).max() < 1e-9, (command, np.abs(got - expected).max(0))


def test_an_oblique_impact_differs_by_where_the_force_acts():
    # In LAMMPS friction acts one radius from the centre, in feeler at the middle of the overlap, which is half the
    # overlap less. Without damping, because the two limit the damping of friction differently.
    kn, mu = 1e4, 0.3
    start = [*DROP[:3], 0.4, 0.1, -0.5, 0.0, 20.0, 0.0]
    lmp = scene([start])
    lmp.command(
        f"fix w all wall/gran granular hooke {kn} 0 tangential linear_history {kn / 2} 0 {mu} damping velocity "
        "zplane 0 NULL"
    )
    expected = path(lmp, 8_000)
    lmp = scene([start])
    walls_of.install(lmp, plane(feeler.Law.linear(kn, kn / 2, 1.0, mu)))
    got = path(lmp, 8_000)
    part = (R - expected[:, 2].min()) / R
    change = np.abs(expected[-1] - start)
    assert change[7] > 50.0 and 0.01 < part < 0.05
    assert np.abs(got[-1, 6:] - expected[-1, 6:]).max() < part * change[7]
    assert np.abs(got[-1, 3:6] - expected[-1, 3:6]).max() < part * change[3]


def test_a_ball_slides_and_rolls_over_any_floor_alike():
    # Without spin about the normal: with one, a change of velocity by 1e-16 m/s becomes 1e-8 m/s while the ball slides,
    # even on a single triangle.
    law = feeler.Law.linear(1e2, 5e1, 0.5, 0.3)
    depth = MASS * 9.81 / 1e2
    start = [-0.003, 0.003, R - depth, 0.2, 0.03, 0.0, 0.0, 5.0, 0.0]
    triangle = feeler.FacetWall([[-300, -200, 0], [300, -200, 0], [0, 300, 0]], [[0, 1, 2]])
    floors = {
        "one triangle": triangle,
        "two": feeler.FacetWall(*grid(1)),
        "200": feeler.FacetWall(*grid(10)),
        # 40 x 30 x 20 mm about the origin, moved down.
        "exact": box(),
    }
    paths = {}
    for name, floor in floors.items():
        forces = feeler.WallForces()
        forces.add(floor, law, [0.0, 0.0, -10.0] if name == "exact" else None)
        lmp = scene([start], step=2e-6)
        walls_of.install(lmp, forces)
        paths[name] = path(lmp, 15_000)
    first = paths["one triangle"]
    assert first[-1, 0] > 0.0 and first[-1, 3] == pytest.approx(R * first[-1, 7], rel=0.02), "the ball rolls at the end"
    assert first[5, 3] > 1.2 * R * first[5, 7], "the ball slides at the beginning"
    for name, other in paths.items():
        assert np.abs(other[:, :3] - first[:, :3]).max() < 1e-12, name
        assert np.abs(other[:, 3:6] - first[:, 3:6]).max() < 1e-12, name


def many(n=60, seed=3):
    rng = np.random.default_rng(seed)
    return [
        [*rng.uniform(-0.018, 0.018, 1), *rng.uniform(-0.013, 0.013, 1), R + rng.uniform(0, 1e-3),
         *rng.uniform(-0.2, 0.2, 2), -0.3, *rng.uniform(-50, 50, 3)]
        for _ in range(n)
    ]  # fmt: skip


def test_forces_on_walls_balance_and_runs_are_equal_to_the_bit():
    law = feeler.Law.hertz(1e4, 0.3, 0.7, 0.4)
    ends = []
    for sort in (True, True, False):
        lmp = scene(many(), gravity="fix g all setforce NULL NULL NULL", sort=sort)
        forces = feeler.WallForces()
        forces.add(box(), law, [0.0, 0.0, -10.0])
        walls = walls_of.install(lmp, forces)
        touched = 0
        for _ in range(40):
            walls.run(50)
            f = lmp.numpy.extract_atom("f")[: len(many())]
            x = lmp.numpy.extract_atom("x")[: len(many())]
            touched = max(touched, walls.contacts)
            scale = np.abs(f).sum() + 1e-300
            assert np.abs(f.sum(0) + walls.force(0)).max() <= 1e-12 * scale
            # Torque about the origin of the wall: forces at the centres of the balls, and torques.
            arms = x - walls.pose(0)[:3, 3]
            torque = lmp.numpy.extract_atom("torque")[: len(many())]
            total = np.cross(arms, f).sum(0) + torque.sum(0) + walls.torque(0)
            assert np.abs(total).max() <= 1e-12 * (np.abs(arms).max() * scale + np.abs(torque).sum())
        assert touched > 10
        ends.append(np.concatenate([state(lmp, k + 1) for k in range(len(many()))]).tobytes())
    assert ends[0] == ends[1], "equal runs"
    assert ends[0] == ends[2], "another order of atoms"


def test_a_run_continues_from_a_saved_state(tmp_path):
    law = feeler.Law.linear(1e4, 5e3, 0.5, 0.3)
    start = [-0.01, 0.003, R - MASS * 9.81 / 1e4, 0.1, 0.07, 0.0, 0.0, 0.0, 5.0]

    def made(lmp):
        return walls_of.install(lmp, [(feeler.FacetWall(*grid(10)), law)])

    lmp = scene([start])
    walls = made(lmp)
    walls.run(300)
    saved = walls.save()
    lmp.command(f"write_restart {tmp_path}/half")
    # LAMMPS repeats its setup at the start of a run, in both cases.
    walls.run(300)
    end = state(lmp)
    other = walls_of.start(["-log", "none", "-screen", "none", "-nocite"])
    other.command(f"read_restart {tmp_path}/half")
    other.commands_string(f"comm_modify vel yes cutoff 0.01\nfix move all nve/sphere\n{GRAVITY}\ntimestep 1e-6")
    again = made(other)
    again.restore(saved)
    again.run(300)
    assert state(other).tobytes() == end.tobytes()
    fresh = walls_of.start(["-log", "none", "-screen", "none", "-nocite"])
    fresh.command(f"read_restart {tmp_path}/half")
    fresh.commands_string(f"comm_modify vel yes cutoff 0.01\nfix move all nve/sphere\n{GRAVITY}\ntimestep 1e-6")
    made(fresh).run(300)
    assert state(fresh).tobytes() != end.tobytes(), "the friction history is part of the state"


def test_moving_walls_drag_balls():
    law = feeler.Law.linear(1e4, 5e3, 0.5, 0.5)
    rest = [0.0, 0.0, R - MASS * 9.81 / 1e4, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    for wall in (box(), feeler.FacetWall.of_body(box(), 0.1)):
        forces = feeler.WallForces()
        forces.add(wall, law, [0.0, 0.0, -10.0])
        lmp = scene([rest])
        walls = walls_of.install(lmp, forces)
        # A belt, which reaches its speed within 1 ms.
        walls.move(0, lambda t: ([min(t, 1e-3) * 20.0, 0.0, 0.0], [0.0, 0.0, 0.0]))
        walls.run(10_000)
        moved = walls.pose(0)[0, 3]
        assert moved == pytest.approx(0.02 * 0.01 - 0.5 * 20.0 * 1e-6, rel=1e-6)
        # The speed of a solid ball on a belt is two sevenths of that of the belt.
        assert state(lmp)[3] == pytest.approx(0.02 * 2 / 7, rel=0.03)
        # A lift.
        walls.move(0, [0.0, 0.0, 0.05])
        walls.run(20_000)
        assert state(lmp)[5] == pytest.approx(0.05, rel=0.01)
        assert walls.force(0)[2] == pytest.approx(-MASS * 9.81, rel=0.01)


def test_groups_and_several_walls():
    law = feeler.Law.linear(1e4)
    balls = [[x, 0.0, R - 1e-5, *[0.0] * 6] for x in (0.01, -0.01)]
    lmp = scene(balls, gravity="fix g all setforce NULL NULL NULL")
    lmp.command("group unused id 1")
    lmp.command("group left id 2")
    forces = plane(law)
    forces.add_plane([0, 0, 0], [0, 0, 1], law)
    walls = walls_of.install(lmp, forces, group="left")
    walls.run(0)
    assert of(lmp, "f", 1)[2] == 0.0
    assert of(lmp, "f", 2)[2] == pytest.approx(2 * 0.1, rel=1e-9), "two walls, one ball"
    assert walls.force(0)[2] == pytest.approx(-0.1, rel=1e-9)
    walls.uninstall()
    walls_of.install(lmp, plane(law)).run(0)
    assert of(lmp, "f", 1)[2] == pytest.approx(0.1, rel=1e-9)


def test_errors_say_what_to_do():
    law = feeler.Law.linear(1e4)
    refused = walls_of.LammpsError
    with pytest.raises(refused, match="atom_style sphere"):
        walls_of.install(scene([DROP], style="atomic"), plane(law))
    with pytest.raises(refused, match="units si"):
        walls_of.install(scene([DROP], units="lj"), plane(law))
    lmp = scene([DROP])
    with pytest.raises(refused, match="no group 'nobody'"):
        walls_of.install(lmp, plane(law), group="nobody")
    walls = walls_of.install(lmp, plane(law))
    with pytest.raises(refused, match="already"):
        walls_of.install(lmp, plane(law))
    # An error within a run ends the run and is raised.
    walls.move(0, lambda t: ([math.nan, 0, 0], [0, 0, 0]) if t > 1e-5 else ([0, 0, 0], [0, 0, 0]))
    with pytest.raises(feeler.QueryError, match="finite"):
        walls.run(1000)
    assert lmp.extract_global("ntimestep") < 1000
    walls.move(0)
    walls.run(10)
    with pytest.raises(feeler.QueryError, match="no wall 5"):
        walls.force(5)
    with pytest.raises(feeler.QueryError, match="restitution"):
        feeler.Law.linear(1e4, restitution=0.0)
    with pytest.raises(feeler.QueryError, match="Body"):
        walls_of.install(lmp, [("box.step", law)], name="other")


class Other:
    """Instance of another version."""

    def version(self):
        return 20200303


def test_other_versions_are_rejected():
    with pytest.raises(walls_of.LammpsError, match="20200303 is not known"):
        walls_of.install(Other(), plane(feeler.Law.linear(1.0)))
