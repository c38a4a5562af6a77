"""Checks of assemblies, motions and versions, which return values."""

import ast
import doctest
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import feeler
import numpy as np
import pytest

ROOT = Path(__file__).parents[3]
DATA = ROOT / "data"
RACK = DATA / "assemblies" / "rack.step"
RULES = "[[rule]]\nname = 'play'\na = 'pin*'\nb = 'block'\nmin = 0.2"
FLOOR = """
end = {end}
law.steel = {{ normal = 500.0, restitution = 0.5 }}
wall = [{{ name = 'floor', plane = {{ point = [0, 0, 0], normal = [0, 0, 1] }} }}]
grains = [{{ sphere = {{ diameter = 4 }}, density = 2500, number = 8,
            region = {{ box = [[-9, -9, 1], [9, 9, 19]] }} }}]
output = {{ rows = {rows} }}
"""


@pytest.fixture(scope="module")
def rack():
    return feeler.prepare_step(RACK)


def body(name):
    return feeler.prepare_step(DATA / f"{name}.step").body()


def program(*arguments):
    status, out, err = feeler.run([str(a) for a in (*arguments, "--json", "--quiet")])
    assert status < 2, err
    return json.loads(out)


class Interrupted:
    """Sends SIGINT to this process after some time, and measures how long KeyboardInterrupt takes."""

    def __enter__(self):
        self.sent = None
        self.timer = threading.Timer(0.25, self.send)
        self.timer.start()
        return self

    def send(self):
        self.sent = time.perf_counter()
        os.kill(os.getpid(), signal.SIGINT)

    def __exit__(self, kind, *_):
        taken = time.perf_counter() - (self.sent or 0)
        self.timer.cancel()
        assert kind is KeyboardInterrupt, "ended before the interrupt" if self.sent is None else kind
        assert taken < 0.2, f"{taken} s"
        return True


# Clearance.


def test_clearance_agrees_with_the_program(rack):
    expected = program("clearance", RACK, "--d-max", 1, "--volume")
    for given in (RACK, str(RACK), rack):
        report = feeler.clearance(given, d_max=1, volume=True)
        assert [p.path for p in report.parts] == [i.path for i in rack.instances]
        assert report.near_count == len(report.pairs) == len(expected["results"]) and report.d_max == 1
        for pair, row in zip(report.pairs, expected["results"], strict=True):
            assert [pair.path_a, pair.path_b, pair.status] == [row["a"], row["b"], row["status"]]
            assert pair.distance == row["distance"] and pair.finding == row["finding"]
            assert pair.point_a.tolist() == row["point_a"] and pair.point_b.tolist() == row["point_b"]
            assert pair.contacts.dtype == feeler.contact_dtype and len(pair.contacts) == pair.contact_count > 0
            assert pair.contacts["distance"].min() == pair.distance


def test_rules_and_baseline(rack, tmp_path):
    rules = feeler.Rules(RULES)
    (tmp_path / "rules.toml").write_text(RULES)
    report = feeler.clearance(rack, rules=rules)
    assert report == feeler.clearance(rack, rules=tmp_path / "rules.toml")
    assert [p.finding for p in report.findings] == ["too-close"] * 2 and report.findings[0].min == 0.2
    assert report.findings[0].rule == "play" and report.unmatched_rules == ()
    file = tmp_path / "known.json"
    report.write_baseline(file)
    known = feeler.clearance(rack, rules=rules, baseline=file)
    assert known.findings == () and sum(p.is_known for p in known.pairs) == 2 and known.fixed_count == 0
    expected = program("clearance", RACK, "--rules", tmp_path / "rules.toml", "--baseline", file)
    assert all(p["known"] for p in expected["results"] if p["finding"])
    assert feeler.clearance(rack, baseline=file).fixed_count == 2
    assert pickle.loads(pickle.dumps(rules)).text == RULES and repr(rules) == "<Rules: play>"


def test_interference_in_a_report():
    bore, pin = (feeler.prepare_step(DATA / f"{name}.step") for name in ("bore", "pin"))
    report = feeler.clearance(bore, pin, poses=[None, [0.2, 0, 0]], volume=True)
    (pair,) = report.findings
    assert pair.finding == "interferes" and pair.status == "interfering" and report.count("interfering") == 1
    assert pair.witness.shape == (3,) and pair.depth > 0 and pair.overlap_volume > 0
    assert pair.path_a.startswith("bore/") and pair.path_b.startswith("pin/")
    table = report.to_pandas()
    assert table["point_a_x"][0] == pair.witness[0] and table["finding"][0] == "interferes"


def test_progress_of_clearance(rack, capsys):
    calls = []
    report = feeler.clearance(rack, progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (report.near_count, report.near_count) and calls == sorted(calls)
    feeler.clearance(rack, progress=True)
    assert "2/2\n" in capsys.readouterr().err
    with pytest.raises(ZeroDivisionError):
        feeler.clearance(rack, progress=lambda done, total: 1 // 0)
    with pytest.raises(TypeError, match="progress: expected a function"):
        feeler.clearance(rack, progress=3)


@pytest.mark.parametrize("threads", [1, 2, None])
def test_clearance_does_not_depend_on_threads(rack, threads):
    assert feeler.clearance(rack, threads=threads) == feeler.clearance(rack, threads=3)


def test_errors_of_clearance(rack, tmp_path):
    with pytest.raises(feeler.FileError, match="nowhere.step"):
        feeler.clearance(tmp_path / "nowhere.step")
    with pytest.raises(TypeError, match="at least one file or Model"):
        feeler.clearance()
    with pytest.raises(TypeError, match="expected the path of a STEP or .feeler file, or a Model, not <class 'int'>"):
        feeler.clearance(3)
    with pytest.raises(feeler.FileError, match="rules.toml: the rules cannot be read"):
        feeler.clearance(rack, rules=tmp_path / "rules.toml")
    with pytest.raises(feeler.FileError, match="colour"):
        feeler.Rules("colour = 3")
    with pytest.raises(feeler.QueryError, match="d_max is 0.1 mm, but a rule has the minimum 0.2 mm"):
        feeler.clearance(rack, rules=feeler.Rules(RULES), d_max=0.1)
    with pytest.raises(feeler.QueryError, match="-1 is not a valid d_max"):
        feeler.clearance(rack, d_max=-1)
    with pytest.raises(ValueError, match="2 poses for 1 inputs"):
        feeler.clearance(rack, poses=[None, None])
    with pytest.raises(feeler.FileError, match="known.json: the baseline cannot be read"):
        feeler.clearance(rack, baseline=tmp_path / "known.json")


# Motions of two bodies.


def test_sweep_agrees_with_queries():
    bore, pin = body("bore"), body("pin")
    poses = np.zeros((20, 3))
    poses[:, 0] = np.linspace(0, 0.2, 20)
    report = feeler.sweep(bore, pin, poses_b=poses, d_max=1, dt=0.5)
    pair = feeler.ContactPair(bore, pin)
    for step, pose in enumerate(poses):
        contacts = pair.query(pose_b=pose, d_max=1)
        assert report.contacts_at(step).tobytes() == contacts.tobytes()
        assert report.status[step] == pair.status
        expected = np.inf if pair.min_distance is None else pair.min_distance
        assert report.min_distances[step] == expected
    assert len(report) == 20 and report.times.tolist() == [0.5 * k for k in range(20)] and report.motion is None
    assert report.contacts_at(-1).tobytes() == report.contacts_at(19).tobytes()
    assert (report.seconds > 0).all() and np.isnan(report.decided_at).all()
    with pytest.raises(IndexError):
        report.contacts_at(20)
    assert len(report.to_pandas()) == 20 and report.to_pandas()["contact_count"].sum() == len(report.contacts)


def test_sweep_with_a_proof():
    bore, pin = body("bore"), body("pin")
    slide = feeler.joint_poses([0, 0, 0], [0, 0, 2], angles=[0, np.pi], lengths=[0, 30], steps=4)
    assert slide.shape == (5, 7) and slide[-1].round(12).tolist() == [0, 0, 30, 0, 0, 1, 0]
    assert feeler.sweep(bore, pin, poses_b=slide, proof=True).motion.is_proven_free
    aside = [[0, 0, 0], [0.2, 0, 0]]
    motion = feeler.sweep(bore, pin, poses_b=aside, proof=True, dt=2).motion
    assert motion.result == "contact" and motion.time == pytest.approx(0.5, abs=1e-9)
    motion = feeler.sweep(bore, pin, poses_b=aside, proof=True, allow_touching=True).motion
    assert motion.result == "penetration" and motion.time == pytest.approx(0.25, abs=1e-4) and motion.depth > 0


def test_errors_of_sweeps():
    bore, pin = body("bore"), body("pin")
    with pytest.raises(TypeError, match="a sweep computes the verdict of every step"):
        feeler.sweep(bore, pin, poses_b=np.zeros((2, 3)), detect_interference=False)
    with pytest.raises(TypeError, match="no option 'colour'"):
        feeler.sweep(bore, pin, poses_b=np.zeros((2, 3)), colour=1)
    with pytest.raises(feeler.QueryError, match="step 1"):
        feeler.sweep(bore, pin, poses_b=[[0, 0, 0], [1e12, 0, 0]], d_max=1e13)
    with pytest.raises(feeler.QueryError, match="dt is 0"):
        feeler.sweep(bore, pin, poses_b=np.zeros((2, 3)), dt=0)
    with pytest.raises(feeler.QueryError, match="at most 90"):
        feeler.joint_poses([0, 0, 0], [0, 0, 1], angles=[0, 3], steps=1)
    with pytest.raises(feeler.QueryError, match="axis is 0"):
        feeler.joint_poses([0, 0, 0], [0, 0, 0], steps=1)


def test_time_of_contact():
    ball = body("sphere")  # radius 10
    path = feeler.Path.through([3, 5], [[0, 0, 30], [0, 0, 10]])
    assert path.duration == 2
    passage = feeler.time_of_contact(ball, ball, None, path)
    assert passage.result == "contact" and passage.time == pytest.approx(1, abs=1e-9) and not passage.grazing
    assert passage.contact["point_a"] == pytest.approx([0, 0, 10]) and passage.closing_speed == pytest.approx(10)
    assert passage.contact.dtype == feeler.contact_dtype and passage.start == "separated"
    early = feeler.time_of_contact(ball, ball, None, path, distance=5)
    assert early.time == pytest.approx(0.5, abs=1e-9)
    past = feeler.Path.screw([20.5, 0, 0], [0, 10, 0], [0, 0, 0])
    free = feeler.time_of_contact(ball, ball, feeler.Path.still(), past)
    assert free.is_proven_free and free.time is None and free.contact is None and free.min_distance is not None
    # A fixed body may be given as its pose.
    assert feeler.time_of_contact(ball, ball, [0, 0, 40], path).result == "free"
    inside = feeler.time_of_contact(ball, ball, None, None)
    assert inside.result == "in-contact"
    few = feeler.time_of_contact(ball, ball, None, path, max_queries=1)
    assert few.result == "undecided" and 0 <= few.free_until < 1
    motion = feeler.first_penetration(ball, ball, None, path, depth=0.1)
    assert motion.result == "penetration" and motion.time == pytest.approx(1.01, abs=1e-6) and motion.max_depth == 0.1
    # At the end, the centres are as far apart as one radius; the centre of the lens is 5 mm inside both balls.
    assert motion.depth == pytest.approx(10, abs=1e-6) and motion.depth_time == 2
    sweep = feeler.sweep(ball, ball, poses_b=[[0, 0, 30], [0, 0, 19.5]])
    assert sweep.depths == pytest.approx([0, 0.5], abs=1e-6)
    pair = feeler.ContactPair(ball, ball)
    pair.query(pose_b=[0, 0, 19.5])
    assert pair.verdict.depth == pytest.approx(0.5, abs=1e-6) == pair.verdict.inside_a + pair.verdict.inside_b
    pair.query(pose_b=[0, 0, 20.5])
    assert pair.verdict.depth is None


def test_paths():
    turn = feeler.Path.screw([1, 0, 0], [0, np.pi / 2, 3], [0, 0, np.pi / 2], duration=2)
    assert turn.pose(1)[:3, 3] == pytest.approx([0, 1, 3]) and turn.pose(2)[:3, 3] == pytest.approx([-1, 0, 6])
    assert turn.pose(5).tolist() == turn.pose(2).tolist()
    poses = np.array([[0, 0, 0, 0, 0, 0, 1], [1, 2, 3, 0, 0, 0.6, 0.8]])
    for path in (feeler.Path.still([1, 2, 3]), turn, feeler.Path.through([0, 1], poses)):
        again = pickle.loads(pickle.dumps(path))
        assert again.duration == path.duration
        assert again.pose(0.3) == pytest.approx(path.pose(0.3), abs=1e-14)
    with pytest.raises(feeler.QueryError, match="the time of pose 1 does not"):
        feeler.Path.through([0, 0], poses)
    with pytest.raises(feeler.QueryError, match="3 times and 2 poses"):
        feeler.Path.through([0, 1, 2], poses)
    with pytest.raises(ValueError, match=r"velocity: expected shape \(3,\)"):
        feeler.Path.screw(None, [1, 2], [0, 0, 0])


# Mechanisms.


def test_mechanism_agrees_with_the_program():
    file = DATA / "arm" / "arm.toml"
    expected = program("mechanism", file, "--steps", 20, "--d-max", 100)
    arm = feeler.Mechanism.read(file)
    report = arm.check(steps=20, d_max=100)
    assert len(report.pairs) == len(expected["pairs"]) and report.is_proven_free
    for pair, row in zip(report.pairs, expected["pairs"], strict=True):
        assert [pair.part_a, pair.part_b] == [row["a"], row["b"]]
        assert pair.min_distance == row["smallest"] and pair.motion.result == row["motion"]["result"]
        assert pair.max_depth is None and row["depth"] is None and not pair.depths.any()
        assert pair.undecided.sum() == row["undecided_steps"] == 0
    assert report.times[-1] == 6 and report.link_poses.shape == (20, 8, 4, 4)
    assert not report.interferes.any() and report.linkage is None
    nearest = report.margin_pairs[np.argmin(report.margins)]
    assert report.pairs[nearest].min_distance == report.margins.min()
    # The motion of the file is that of its arguments.
    times, values = arm.motion
    assert values["waist"][1] == pytest.approx(np.deg2rad(40))
    assert arm.check(times, values, steps=20, d_max=100, proof=False).margins.tolist() == report.margins.tolist()
    table = report.to_pandas()
    assert len(table) == len(report.pairs) and table["is_proven_free"].all()


def test_poses_of_links():
    arm = feeler.Mechanism.read(DATA / "arm" / "arm.urdf")
    assert arm.links[0] == "base" and arm.parts == []
    at_rest = arm.link_poses({})
    turned = arm.link_poses({"waist": [0, np.pi / 2], "elbow": 0.1})
    assert at_rest.shape == (8, 4, 4) and turned.shape == (2, 8, 4, 4)
    turret = arm.links.index("turret")
    assert turned[1, turret, :3, 0] == pytest.approx([0, 1, 0]) and turned[0, turret].tolist() == at_rest[turret].tolist()
    names = [j.name for j in arm.joints]
    values = np.zeros((2, len(names)))
    values[1, names.index("waist")], values[:, names.index("elbow")] = np.pi / 2, 0.1
    assert arm.link_poses(values).tolist() == turned.tolist()
    with pytest.raises(feeler.QueryError, match="unknown joint 'hip'; the existing names are: "):
        arm.link_poses({"hip": 1})
    with pytest.raises(feeler.QueryError, match="joint 'waist' reaches"):
        arm.link_poses({"waist": 10})
    with pytest.raises(ValueError, match=r"one value for each joint"):
        arm.link_poses([1, 2])
    with pytest.raises(ValueError, match="equal numbers of values"):
        arm.link_poses({"waist": [0, 1], "elbow": [0, 1, 2]})


def test_parts_of_a_mechanism():
    ball = body("sphere")
    text = (DATA / "arm" / "arm.urdf").read_text()
    arm = feeler.Mechanism.from_urdf(text)
    with pytest.raises(feeler.QueryError, match="has no parts; give the bodies of its links by with_parts"):
        arm.check([0, 1], {"waist": [0, 1]})
    arm = arm.with_parts({"base": DATA / "arm" / "base.step", "tool": [ball, ball]})
    assert arm.parts == [("base", "base"), ("tool/0", "tool"), ("tool/1", "tool")]
    assert len(arm.check([0, 1], {"waist": [0, 1]}, steps=3).pairs) == 2
    again = pickle.loads(pickle.dumps(arm))
    assert again.check([0, 1], {"waist": [0, 1]}, steps=3) == arm.check([0, 1], {"waist": [0, 1]}, steps=3)
    with pytest.raises(feeler.QueryError, match="unknown link 'hand'"):
        arm.with_parts({"hand": ball})
    with pytest.raises(feeler.QueryError, match="no motion"):
        arm.check()
    with pytest.raises(feeler.QueryError, match="the tolerance is -1"):
        arm.check([0, 1], {"waist": [0, 1]}, tolerance=-1)
    with pytest.raises(TypeError, match="give both or neither"):
        arm.check([0, 1])
    with pytest.raises(feeler.QueryError, match="times that increase"):
        arm.check([1, 0], {"waist": [0, 1]})
    with pytest.raises(ValueError, match="3 values of each joint for 2 times"):
        arm.check([0, 1], {"waist": [0, 1, 2]})
    with pytest.raises(feeler.FileError, match="nowhere.toml: cannot be read"):
        feeler.Mechanism.read("nowhere.toml")
    with pytest.raises(feeler.FileError, match="not a valid mechanism"):
        feeler.Mechanism.from_toml("colour = 1")


def test_closed_loops():
    bar = feeler.Mechanism.read(DATA / "linkage" / "four-bar.toml")
    report = bar.check(steps=9)
    assert report.is_proven_free and report.linkage.closure_error < 1e-6
    crank = report.joints.index("crank")
    assert report.linkage.values[:, crank] == pytest.approx(np.linspace(0, 2 * np.pi, 9))
    assert report.linkage.branches.shape[1] == len(report.joints)
    with pytest.raises(feeler.QueryError, match="joint 'pin' closes a loop"):
        bar.link_poses({"crank": 1})
    again = pickle.loads(pickle.dumps(bar))
    assert again.check(steps=9) == report
    calls = []
    bar.check(steps=9, progress=lambda *counts: calls.append(counts))
    assert calls[-1] == (10, 10)


def test_grid():
    arm = feeler.Mechanism.read(DATA / "arm" / "arm.toml").with_parts({"base": body("box"), "turret": body("box")})
    report = arm.check(grid=2, neighbours=True, ignore=[])
    limited = sum(j.limits is not None for j in arm.joints)
    assert len(report.times) == 2**limited and report.pairs[0].motion is None
    with pytest.raises(TypeError, match="exclude each other"):
        arm.check([0, 1], {"waist": [0, 1]}, grid=2)


# Versions of models and results.


def test_diff():
    pin, short = (feeler.prepare_step(DATA / f"{name}.step") for name in ("pin", "pin-short"))
    expected = program("diff", DATA / "pin.step", DATA / "pin-short.step")["files"][0]["differences"]
    found = feeler.diff(pin, short)
    assert [(d.kind, d.subject, d.what) for d in found.differences] == [
        (d["kind"], d["subject"], d["what"]) for d in expected
    ]
    assert found and found.changed_count == 1 and len(found.to_pandas()) == len(expected)
    assert not feeler.diff(pin, DATA / "pin.step")
    assert len(feeler.diff(pin, short, length=1e3, relative=1).differences) < len(expected)
    with pytest.raises(feeler.FileError, match="nowhere.step"):
        feeler.diff(pin, "nowhere.step")
    with pytest.raises(feeler.QueryError, match="-1 is not a valid tolerance"):
        feeler.diff(pin, short, length=-1)


def test_regress(tmp_path):
    suite = tmp_path / "suite.toml"
    suite.write_text(f"[[model]]\nname = 'pin'\nfile = '{DATA / 'pin.step'}'\n"
                     f"[[pair]]\nname = 'fit'\na = '{DATA / 'bore.step'}'\nb = '{DATA / 'pin.step'}'\nd_max = 1\n")  # fmt: skip
    with pytest.raises(feeler.FileError, match="the golden results cannot be read"):
        feeler.regress(suite)
    recorded = feeler.regress(suite, bless=True)
    assert recorded.recorded_count == 2 and recorded.golden.endswith("suite.golden.json")
    calls = []
    report = feeler.regress(suite, progress=lambda *counts: calls.append(counts))
    assert report.is_same and [e.name for e in report.entries] == ["fit", "pin"] and calls[-1] == (2, 2)
    suite.write_text(suite.read_text().replace("pin.step", "pin-short.step"))
    report = feeler.regress(suite, only="pin")
    (entry,) = report.differing
    assert entry.name == "pin" and entry.other_input and report.stale == ()
    assert set(report.to_pandas()["entry"]) == {"pin"} and len(entry.to_pandas()) == len(entry.differences)
    with pytest.raises(feeler.FileError, match="no entry of the suite matches nut"):
        feeler.regress(suite, only=["nut"])


# Pouring.


def test_pour(tmp_path):
    scene = feeler.PourScene(FLOOR.format(end=0.1, rows=0.01))
    assert scene.row_count == 10 and scene.duration == 0.1 and scene.time_step > 0
    calls = []
    report = feeler.pour(scene, tmp_path / "run", progress=lambda *counts: calls.append(counts))
    assert calls[-1] == (10, 10) and report.time == 0.1 and report.particle_count == 8
    assert report.series["time_s"].round(9).tolist() == [round(0.01 * k, 9) for k in range(11)]
    assert report.series["floor_fz_mN"][-1] < 0 and report.mass_flow.shape == (11,)
    assert report.outflows[0].name == "lost" and report.outflows[0].count == 0
    assert len(report.to_pandas()) == 11 and (tmp_path / "run" / "series.csv").exists()
    # Nothing is left to simulate.
    assert feeler.pour(pickle.loads(pickle.dumps(scene)), tmp_path / "run") == report
    assert feeler.pour(scene, tmp_path / "other", threads=1).series["kinetic_uJ"].tolist() == report.series[
        "kinetic_uJ"
    ].tolist()
    with pytest.raises(feeler.FileError, match="end"):
        feeler.PourScene("colour = 1")
    with pytest.raises(feeler.FileError, match="nowhere.toml: cannot be read"):
        feeler.pour("nowhere.toml", tmp_path)
    with pytest.raises(feeler.FileError, match="another scene"):
        feeler.pour(feeler.PourScene(FLOOR.format(end=0.2, rows=0.01)), tmp_path / "run")


# Tessellations.


def balls(n=20, cells=9, seed=3):
    """Labels of an image of Voronoi cells, and their seeds."""
    seeds = np.random.default_rng(seed).uniform(0, n, (cells, 3))
    centers = np.stack(np.meshgrid(*[np.arange(n) + 0.5] * 3, indexing="ij"), axis=-1)
    return 10 * (1 + np.argmin(((centers[..., None, :] - seeds) ** 2).sum(-1), axis=-1)), seeds


def test_tessellate(tmp_path):
    labels, seeds = balls()
    calls = []
    cells = feeler.tessellate(labels, voronoi=True, progress=lambda *counts: calls.append(counts))
    assert cells.is_converged and calls[-1] == (1000, 1000)
    assert cells.labels.tolist() == np.unique(labels).tolist() and cells.labels.dtype == np.uint32
    # Axes are not exchanged.
    assert np.abs(cells.sites - seeds).max() < 1 and not cells.weights.any()
    assert cells.rand_index > 0.995 and cells.rms_distance < 0.05
    assert np.isclose(cells.volumes.sum(), 20**3) and cells.voxel_counts.sum() == 20**3
    assert cells.regularisation is None and cells.history.shape[0] > 1
    walls, count = set(), 0
    for k in range(len(cells.labels)):
        polygons = cells.polygons(k)
        # The divergence theorem with fans of triangles.
        volume = sum(np.linalg.det([p[0], p[i], p[i + 1]]) for p in polygons for i in range(1, len(p) - 1)) / 6
        assert np.isclose(volume, cells.volumes[k])
        walls |= {w for w in cells.face_neighbours[cells.cell_offsets[k] : cells.cell_offsets[k + 1]] if w < 0}
        assert all(k in cells.neighbours(other) for other in cells.neighbours(k))
        count += len(polygons)
    assert walls == {-1, -2, -3, -4, -5, -6} and count == len(cells.face_neighbours)
    # The same in another unit, elsewhere, on one thread.
    moved = feeler.tessellate(labels, voronoi=True, spacing=0.25, origin=[1, 2, 3], threads=1)
    assert np.allclose(moved.vertices, cells.vertices / 4 + [1, 2, 3]) and np.isclose(moved.volumes.sum(), 5**3)
    again = feeler.tessellate(labels.astype(np.uint8), voronoi=True, threads=2)
    assert again == cells
    table = cells.to_pandas()
    assert list(table["label"]) == cells.labels.tolist() and (table["neighbour_count"] > 0).all()
    for name in ("cells.vtu", "cells.stl", "cells.geo"):
        pickle.loads(pickle.dumps(cells)).save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000
    with pytest.raises(feeler.FileError, match="give a name that ends in .vtu, .stl or .geo"):
        cells.save(tmp_path / "cells.txt")


def test_short_edges_are_merged():
    labels, _ = balls(24, 30)
    cells = feeler.tessellate(labels, min_edge=1.0)
    report = cells.regularisation
    assert report.merged_count > 0 and report.min_edge_before < 1
    lengths = [np.linalg.norm(p - np.roll(p, 1, axis=0), axis=1).min() for k in range(30) for p in cells.polygons(k)]
    assert np.isclose(min(lengths), report.min_edge_after) and np.isclose(cells.volumes.sum(), 24**3)


def test_periodic_cells_are_in_one_piece():
    labels, _ = balls(20, 12)
    cells = feeler.tessellate(labels, periodic=[True, False, False], max_iterations=3)
    assert not cells.is_converged and np.isclose(cells.volumes.sum(), 20**3)
    assert set(cells.face_neighbours[cells.face_neighbours < 0]) == {-3, -4, -5, -6}


def test_invalid_images():
    with pytest.raises(ValueError, match=r"labels: expected shape \(nx, ny, nz\) and dtype int64, got shape \(2, 2\)"):
        feeler.tessellate([[1, 1], [2, 2]])
    with pytest.raises(ValueError, match="float64"):
        feeler.tessellate(np.ones((3, 3, 3)))
    with pytest.raises(ValueError, match="-1 is not a label"):
        feeler.tessellate(np.full((3, 3, 3), -1))
    with pytest.raises(feeler.QueryError, match="no label is above 0"):
        feeler.tessellate(np.zeros((3, 3, 3), int))
    with pytest.raises(feeler.QueryError, match="spacing is 0"):
        feeler.tessellate(np.ones((3, 3, 3), int), spacing=0)
    with pytest.raises(feeler.QueryError, match="min_edge is NaN"):
        feeler.tessellate(np.ones((3, 3, 3), int), min_edge=float("nan"))
    with pytest.raises(feeler.FileError, match="nowhere.nrrd: cannot be read"):
        feeler.tessellate("nowhere.nrrd")


# Interrupts.


def test_interrupt_of_a_sweep():
    bore, pin = body("bore"), body("pin")
    poses = np.random.default_rng(1).uniform(-0.02, 0.02, (200_000, 3))
    with Interrupted():
        feeler.sweep(bore, pin, poses_b=poses, d_max=1)


def test_interrupt_of_a_proof():
    socket, plug = body("socket"), body("plug")
    times, poses = np.linspace(0, 1, 400), np.zeros((400, 3))
    poses[:, 2] = 0.2 + 0.1 * np.sin(80 * times)
    with Interrupted():
        feeler.time_of_contact(socket, plug, None, feeler.Path.through(times, poses))


def test_interrupt_of_clearance():
    models = [feeler.prepare_step(DATA / "socket.step")] * 60
    poses = np.random.default_rng(2).uniform(-2, 2, (60, 3))
    with Interrupted():
        feeler.clearance(*models, poses=list(poses), volume=True)


def test_interrupt_of_a_mechanism():
    arm = feeler.Mechanism.read(DATA / "arm" / "arm.toml")
    with Interrupted():
        arm.check(steps=100_000, neighbours=True)


def test_interrupt_of_a_fit():
    labels, _ = balls(40, 60)
    with Interrupted():
        feeler.tessellate(labels, derivative_free=True)


def test_interrupted_run_continues(tmp_path):
    scene = feeler.PourScene(FLOOR.format(end=20.0, rows=0.01))
    with Interrupted():
        feeler.pour(scene, tmp_path / "run")
    # The next call waits until the interrupted run has written its checkpoint.
    first = []

    def stop(done, total):
        first.append(done)
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        feeler.pour(scene, tmp_path / "run", progress=stop)
    assert first[0] > 1


def test_interrupts_of_the_program(tmp_path):
    """A command in Python raises KeyboardInterrupt and ends; `python -m feeler` ends with the status of a signal."""
    (tmp_path / "scene.toml").write_text(FLOOR.format(end=50.0, rows=0.01))
    command = ["pour", str(tmp_path / "scene.toml"), "-o", str(tmp_path / "run"), "--quiet"]
    with Interrupted():
        feeler.run(command)
    series = tmp_path / "run" / "series.csv"
    size = -1
    while size != series.stat().st_size:  # until the interrupted run has ended
        size = series.stat().st_size
        time.sleep(0.3)
    process = subprocess.Popen([sys.executable, "-m", "feeler", *command], stderr=subprocess.PIPE)
    while process.poll() is None and series.stat().st_size <= size:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 130 and series.stat().st_size > size


def test_other_threads_run_during_checks():
    """A check releases the GIL."""
    bore, pin = body("bore"), body("pin")
    poses = np.random.default_rng(1).uniform(-0.02, 0.02, (3000, 3))
    ticks = []

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    done = threading.Event()
    thread = threading.Thread(target=tick)
    thread.start()
    feeler.sweep(bore, pin, poses_b=poses, d_max=1)
    done.set()
    thread.join()
    assert len(ticks) > 10


# Threads.


def in_use(long, use):
    """Calls `use` in this thread while another one calls `long`, until it raises an error."""
    thread = threading.Thread(target=long)
    thread.start()
    errors = []
    while thread.is_alive() and not errors:
        try:
            use()
        except RuntimeError as error:
            errors.append(str(error))
        time.sleep(0.001)
    thread.join()
    return errors


def test_an_object_in_use_by_another_thread():
    bore, pin = body("bore"), body("pin")
    pair = feeler.ContactPair(bore, pin)
    scene, curves = feeler.Scene(d_max=5), feeler.CurveScene(d_max=5)
    for k in range(40):
        scene.add(pin, [0, 0, 0.1 * k])
    turn = np.linspace(0, 60, 91)
    points = np.stack([10 * np.cos(turn), 10 * np.sin(turn), 0.1 * turn], axis=1)
    curves.add_curve(feeler.Curve(points, radius=0.01))
    poses = np.random.default_rng(4).uniform(-0.02, 0.02, (3000, 3))
    cases = [
        ("ContactPair", lambda: pair.contacts_at(poses_b=poses), lambda: pair.query()),
        ("Scene", lambda: [scene.update() for _ in range(3)], lambda: scene.contacts),
        ("CurveScene", lambda: [curves.update() for _ in range(300)], lambda: curves.contacts),
    ]
    for name, long, use in cases:
        (error,) = in_use(long, use)
        assert error == (f"this {name} is in use by another thread; give each thread a {name} of its own (they can "
                         "share bodies), or use it under a lock")  # fmt: skip
    # Reading does not exclude reading: many poses in two threads.
    assert in_use(lambda: pair.contacts_at(poses_b=poses), lambda: pair.status) == []
    assert repr(pair).startswith("<ContactPair 'bore', 'pin'")


# Results as data.


def reports(tmp_path):
    bore, pin = body("bore"), body("pin")
    path = feeler.Path.through([0, 1], [[0, 0, 0], [0.2, 0, 0]])
    yield feeler.clearance(DATA / "bore.step", DATA / "pin.step", poses=[None, [0.2, 0, 0]], volume=True)
    yield feeler.sweep(bore, pin, poses_b=[[0, 0, 0], [0.2, 0, 0]], proof=True)
    yield feeler.time_of_contact(bore, pin, None, path)
    yield feeler.first_penetration(bore, pin, None, path)
    yield feeler.Mechanism.read(DATA / "linkage" / "four-bar.toml").check(steps=3)
    yield feeler.diff(DATA / "pin.step", DATA / "pin-short.step")
    yield feeler.regress(DATA / "suite.toml", only=["bore*"])
    yield feeler.pour(feeler.PourScene(FLOOR.format(end=0.02, rows=0.01)), tmp_path)
    yield feeler.tessellate(balls()[0], min_edge=0.5)


def test_results_are_data(tmp_path):
    for report in reports(tmp_path):
        again = pickle.loads(pickle.dumps(report))
        assert again == report and type(again) is type(report) and not again != report
        html = report._repr_html_()
        assert html.startswith(("<p>", "<table>")) and "nan" not in html, html
        with pytest.raises(AttributeError):
            report.extra = 1
        if hasattr(report, "to_pandas"):
            arrow = report.to_arrow()
            assert arrow.column_names == list(report.to_pandas().columns)
            assert arrow.num_rows == len(report.to_pandas())


def test_objects_that_are_data():
    model = feeler.prepare_step(DATA / "bore.step")
    bore, pin = model.body(), body("pin")
    pair = feeler.ContactPair(bore, pin)
    pair.query(pose_b=[0.2, 0, 0])
    mesh, curve = pin.mesh(0.1), feeler.Curve([[0, 0, 0], [1, 0, 1], [2, 0, 1], [3, 0, 0]], radius=0.5)
    rng = np.random.default_rng(5)
    fitted = feeler.Curve.fit(np.cumsum(rng.uniform(0, 1, (20, 3)), axis=0), tolerance=0.5, radius=0.1)
    grain = feeler.Grain.poly([1, 2, 3], [2, 3, 4], [0.5, 0.8])
    laws = [feeler.Law.linear(100, 50, 0.5, 0.3), feeler.Law.hertz(1e6, 0.3, 0.5, 0.2, wall=(2e6, 0.25))]
    for value in (model, *model.instances, bore, pin, pair.verdict, mesh, curve, fitted, grain, *laws):
        again = pickle.loads(pickle.dumps(value))
        assert repr(again) == repr(value) and type(again) is type(value)
        for name in (m for m in dir(value) if not m.startswith("_")):
            member = getattr(value, name)
            if isinstance(member, np.ndarray):
                assert np.array_equal(getattr(again, name), member, equal_nan=True), name
            elif isinstance(member, (int, float, str, type(None))):
                assert getattr(again, name) == member, name
    again = pickle.loads(pickle.dumps((bore, pin)))
    expected = pair.query(pose_b=[0.03, 0, 0])
    assert feeler.ContactPair(*again).query(pose_b=[0.03, 0, 0]).tobytes() == expected.tobytes()
    assert pickle.loads(pickle.dumps(expected)).tobytes() == expected.tobytes()
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(pair)


@pytest.mark.parametrize("name, method", [("pandas", "to_pandas"), ("pyarrow", "to_arrow")])
def test_missing_packages_are_named(rack, monkeypatch, name, method):
    report = feeler.clearance(rack)
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=rf"ClearanceReport.{method}\(\) needs the package {name}: pip install {name}"):
        getattr(report, method)()


def test_examples_of_the_modules(monkeypatch):
    """Every function and result has an example that runs."""
    monkeypatch.chdir(ROOT)
    for name in ("_checks.py", "_results.py"):
        file = Path(feeler.__file__).parent / name
        parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
                text = ast.get_docstring(node) or ""
                assert ">>>" in text, node.name
                runner.run(parser.get_doctest(text, {"feeler": feeler, "np": np}, node.name, str(file), 0))
        assert runner.summarize(verbose=False).failed == 0
