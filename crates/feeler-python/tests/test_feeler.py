"""Tests of the wheel with the models of the data folder."""

import copy
import json
import math
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import feeler

DATA = Path(__file__).parents[3] / "data"


@pytest.fixture(scope="module")
def ball():
    return feeler.prepare_step(DATA / "sphere.step").body()


@pytest.fixture(scope="module")
def box():
    return feeler.prepare_step(str(DATA / "box.step")).body()


def test_query(ball):
    pair = feeler.ContactPair(ball, ball)
    assert pair.status is None and pair.verdict is None
    contacts = pair.query(pose_b=[22.5, 0, 0], d_max=5)
    assert contacts.dtype == feeler.contact_dtype and len(contacts) == 1
    assert contacts["distance"][0] == pytest.approx(2.5, abs=1e-12)
    assert contacts["normal"].tolist() == [[1, 0, 0]]
    assert contacts["curvature_a"][0] == pytest.approx([0.1, 0.1])
    assert pair.status == "separated" and pair.min_distance == contacts["distance"][0]
    # All forms of a pose give the same bits.
    matrix = np.eye(4)
    matrix[0, 3] = 22.5
    for pose in ([22.5, 0, 0, 0, 0, 0, 1], matrix, matrix.tolist(), np.array([22.5, 0, 0])):
        assert pair.query(None, pose, 5)["point_b"].tobytes() == contacts["point_b"].tobytes()
    assert pair.contacts["age"][0] == 4
    pair.forget()
    assert len(pair.query(None, matrix, d_max=1)) == 0
    pair.query()
    verdict = pair.verdict
    assert verdict.status == "interfering" and verdict.inside_a > 9 and verdict.witness.shape == (3,)
    assert "interfering" in repr(verdict) and "<table>" in verdict._repr_html_()
    # Pressed by 0.01 mm: the contact explains the interference, so the verdict is computed on demand.
    pressed = pair.query(pose_b=[19.99, 0, 0], d_max=0.1, penetration=0.05, verdict_unless_pressed=True)
    assert pressed["distance"] == pytest.approx(-0.01, abs=1e-12) and pair.status is None
    assert pair.decide().status == "interfering" and pair.status == "interfering"
    # Two balls of radius 10 with a distance of the centres of 19, and two separated ones.
    translation = pair.separating_translation(pose_b=[19, 0, 0])
    assert isinstance(translation, np.ndarray) and np.linalg.norm(translation) == pytest.approx(1, abs=0.01)
    assert pair.separating_translation(pose_b=[21, 0, 0]) is None
    with pytest.raises(TypeError, match="no option 'speed'"):
        pair.separating_translation(speed=1)
    # Their common part: two caps of height 0.5.
    overlap = pair.overlap(pose_b=[19, 0, 0])
    lens = 2 * math.pi * 0.25 * (30 - 0.5) / 3
    assert overlap.volume == pytest.approx(lens, abs=1e-9) and overlap.method == "faces"
    assert 0 <= overlap.error <= 1e-6 * lens
    rim = math.sqrt(100 - 9.5**2)
    assert overlap.centroid == pytest.approx([9.5, 0, 0], abs=1e-7)
    assert overlap.bbox_min == pytest.approx([9, -rim, -rim], abs=1e-7)
    assert overlap.bbox_max == pytest.approx([10, rim, rim], abs=1e-7)
    assert pickle.loads(pickle.dumps(overlap)) == overlap
    assert pair.overlap(pose_b=[21, 0, 0]) is None
    with pytest.raises(TypeError, match="no option 'speed'"):
        pair.overlap(speed=1)


def test_tracker(ball, box):
    tracker = feeler.ContactTracker(box, box)
    assert tracker.status is None and tracker.bound is None and tracker.verdict() is None
    assert tracker.motion_to(None, None) is None and not tracker.covers(None, None)
    pose = [1, 2, 20.01]
    report = tracker.update(None, pose, 1e-3, 0.02)
    assert report == {"jumped": True, "decided": True, "dropped": 0, "limited": False}
    contacts = tracker.contacts
    assert contacts.dtype == feeler.contact_dtype and len(contacts) >= 4
    assert contacts["gap"] == pytest.approx(0.01, abs=1e-9) and contacts["is_active"].all()
    assert (np.diff(contacts["id"].astype(int)) > 0).all() and "<table>" in contacts._repr_html_()
    assert tracker.status == "separated" and tracker.depth == 0 and tracker.bound == (1e-3, 0.02)
    # Corners of the common area: samples of a conformal set.
    corners = contacts[contacts["kind"] == 2]
    assert len(corners) == 4 and corners["local_normal"] == pytest.approx(np.array([[0, 0, 1]] * 4), abs=1e-12)
    # Derivatives with respect to a translation, and to a rotation about x at A's origin.
    rate = corners["gap_rate"]
    assert rate[:, :3] == pytest.approx(corners["local_normal"], abs=1e-12)
    assert rate[:, 3] == pytest.approx(corners["point_b"][:, 1], abs=1e-9)
    # The box falls by 4 µm in a step, in the last case after 3.5 µm.
    assert (tracker.predicted_gaps(None) == contacts["gap"]).all()
    assert tracker.predicted_gaps([1, 2, 20.014]) == pytest.approx(contacts["gap"] - 0.004, abs=1e-9)
    faster = tracker.predicted_gaps([1, 2, 20.014], [1, 2, 20.0175], is_free=False)
    assert faster == pytest.approx(contacts["gap"] - 0.0045, abs=1e-9)
    # Corners of a flat contact are not isolated; the contact of a ball on a plate is.
    assert np.isnan(tracker.gap_hessians()).all() and tracker.gap_hessians().shape == (len(contacts), 6, 6)
    rolling = feeler.ContactTracker(box, ball)
    center = np.array([3, 2, 20.01])
    rolling.update(None, center, 1e-3, 0.02)
    (hessian,) = rolling.gap_hessians()
    v, w = np.array([0.3, -0.5, 0.7]), np.array([-0.2, 0.9, 0.4])
    twist = np.concatenate([v, w])
    assert twist @ hessian @ twist == pytest.approx(np.cross(w, np.cross(w, center) + v)[2])
    # The next step keeps the ids; it presses the boxes by a micrometre.
    assert tracker.covers(None, [1, 2, 19.999]) and not tracker.covers(None, [1, 2, 19.98])
    assert tracker.motion_to(None, [1, 2, 19.999]) == pytest.approx((0, 0.011))
    rotation, displacement = tracker.expected_bound(None, [1, 2, 19.999], 0.01, 0.5)
    assert displacement == pytest.approx(0.032) and 0 < rotation < 0.1
    assert not tracker.update(None, [1, 2, 19.999], 1e-3, 0.02)["jumped"]
    assert set(corners["id"]) <= set(tracker.contacts["id"])
    assert tracker.status == "pressed" and tracker.depth == pytest.approx(0.001)
    verdict = tracker.verdict()
    assert verdict.status == "interfering" and verdict.min_distance == pytest.approx(-0.001)
    copied = copy.copy(tracker)
    for t in (tracker, copied):
        t.update(None, [1, 2, 20], 1e-3, 0.02)
    assert tracker.contacts.tobytes() == copied.contacts.tobytes() and tracker.status == "touching"
    tracker.update(None, [1, 2, 20.5], 1e-3, 0.02)
    counts = tracker.counts
    assert (counts["updates"], counts["jumps"], counts["uncovered"], counts["dropped"]) == (4, 1, 1, 0)
    assert "separated" in repr(tracker)
    tracker.clear()
    assert len(tracker.contacts) == 0 and tracker.status is None
    # At most `max_contacts` contacts; those with negative gaps are never dropped.
    few = feeler.ContactTracker(box, box, max_contacts=2)
    assert few.update(None, pose, 1e-3, 0.02)["dropped"] > 0 and len(few.contacts) == 2
    few.update(None, [1, 2, 19.999], 1e-3, 0.02)
    assert len(few.contacts) >= 4 and (few.contacts["gap"] < 0).all()
    # Dilations reduce the gap.
    thick = feeler.ContactTracker(ball, ball, dilation_a=0.01, dilation_b=0.02)
    thick.update(None, [20.05, 0, 0], 0, 0)
    assert thick.contacts["gap"] == pytest.approx(0.02) and thick.verdict().min_distance == pytest.approx(0.05)
    # Interference deeper than any contact.
    deep = feeler.ContactTracker(ball, ball)
    for x in (0, 0.01, 0.02):
        assert deep.update(None, [x, 0, 0], 1e-3, 0.02)["decided"] and deep.status == "interfering"
    for options in ({"reach": math.nan}, {"max_depth": -1}, {"max_step": (-1, 1)}, {"gap_error": math.nan},
                    {"dilation_a": math.inf}):  # fmt: skip
        with pytest.raises(feeler.QueryError):
            feeler.ContactTracker(ball, ball, **options)
    for rotation, displacement in ((math.nan, 0), (0, -1), (math.inf, 0)):
        with pytest.raises(feeler.QueryError, match="bound of the step"):
            deep.update(None, None, rotation, displacement)
        assert deep.status is None and len(deep.contacts) == 0
    with pytest.raises(feeler.QueryError):
        deep.update([math.nan, 0, 0], None, 0, 0)


def test_arrays_own_their_memory(ball):
    pair = feeler.ContactPair(ball, ball)
    held = [pair.query(None, [20.5 + 0.01 * k, 0, 0], 5) for k in range(100)]
    del pair
    assert [round(float(c["distance"][0]), 9) for c in held] == [round(0.5 + 0.01 * k, 9) for k in range(100)]
    held[0]["distance"][0] = 7  # writable
    assert "<table>" in held[1]._repr_html_() and held[0]["distance"].sum() == 7


def test_facts(ball, box):
    volume = 4 / 3 * math.pi * 1000
    assert ball.volume == pytest.approx(volume, rel=1e-12)
    assert ball.inertia == pytest.approx(np.eye(3) * 0.4 * volume * 100, abs=1e-6)
    assert ball.centroid == pytest.approx([0, 0, 0], abs=1e-9)
    assert ball.bounds == pytest.approx(np.array([[-10] * 3, [10] * 3]))
    low, high = box.bounds
    assert box.volume == pytest.approx(np.prod(high - low))
    assert "Body" in repr(box)


def test_meshes(ball):
    mesh = ball.mesh(0.05)
    assert mesh.deviation <= 0.05 and mesh.open_sides == 0
    assert np.linalg.norm(mesh.points, axis=1) == pytest.approx(10)
    assert mesh.triangles.max() < len(mesh.points) == len(mesh.normals) == len(mesh.welded)
    corners = mesh.points[mesh.triangles]
    volume = np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    assert volume == pytest.approx(ball.volume, rel=0.02)
    with pytest.raises(feeler.MeshError, match="chord"):
        ball.mesh(-1)


def test_models(tmp_path):
    model = feeler.prepare_step(sorted((DATA / "assemblies").glob("*.step"))[0])
    assert len(model.instances) >= len(model) == len(model.solids) > 0
    assert model.instances[0].pose.shape == (4, 4)
    file = tmp_path / "model.feeler"
    assert model.write(file) == file.stat().st_size
    same = feeler.Model.read(file)
    assert same.to_bytes() == model.to_bytes() == file.read_bytes()
    again = pickle.loads(pickle.dumps(model))
    assert again.to_bytes() == model.to_bytes() and again.solids == model.solids
    assert feeler.Model.from_bytes(model.to_bytes()).input == model.input
    scene = feeler.Scene(d_max=0.5)
    assert scene.add_model(model) == list(range(len(model.instances)))
    with pytest.raises(IndexError, match="numbered from 0"):
        feeler.Body(model, 1000)


def test_solids_of_triangles():
    points = [[0, 0, 0], [6, 0, 0], [0, 5, 0], [0, 0, 4]]
    triangles = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
    tip = feeler.prepare_mesh(points, triangles, "tip").body()
    assert abs(tip.volume - 20) < 1e-12
    pair = feeler.ContactPair(tip, tip)
    assert abs(pair.query(None, [8.5, 0, 0], d_max=9)["distance"][0] - 2.5) < 1e-12
    with pytest.raises(feeler.FileError, match="mesh 'tip': the side from .* close the hole"):
        feeler.prepare_mesh(points, triangles[1:], "tip")
    assert feeler.prepare_mesh(points, triangles[1:], "tip", open_shells=True).body().volume == 0
    with pytest.raises(ValueError, match=r"triangles: expected shape \(n, 3\) and dtype uint32, got .*float64"):
        feeler.prepare_mesh(points, triangles + 0.5)
    with pytest.raises(ValueError, match=r"points: .* got shape \(4, 2\) and dtype int64"):
        feeler.prepare_mesh(np.array(points)[:, :2], triangles)


def test_errors(tmp_path, ball):
    with pytest.raises(feeler.FileError, match="nowhere.step"):
        feeler.prepare_step(tmp_path / "nowhere.step")
    broken = tmp_path / "broken.step"
    broken.write_bytes((DATA / "box.step").read_bytes().replace(b"CARTESIAN_POINT", b"CARTESIAN_PAINT", 1))
    try:
        model = feeler.prepare_step(broken)
        assert model.left_out or len(model)
    except feeler.FeelerError as e:
        assert "broken.step" in str(e) and "#" in str(e)
    with pytest.raises(feeler.FileError):
        feeler.Model.from_bytes(b"nonsense")
    pair = feeler.ContactPair(ball, ball)
    for bad, given in (
        ([1, 2], r"shape \(2,\) and dtype int64"),
        (np.eye(3), r"shape \(3, 3\) and dtype float64"),
        ([1j, 0, 0], r"shape \(3,\) and dtype complex128"),
        ("here", r"shape \(\) and dtype <U4"),
        ([[1, 0], [0]], "not an array"),
    ):
        expected = r"pose: expected shape \(4, 4\), \(3,\) or \(7,\) and dtype float64, got .*"
        with pytest.raises(ValueError, match=expected + given):
            pair.query(None, bad)
    for bad in (-np.eye(4), [0, 0, 0, 0, 0, 0, 0], [math.nan] * 3):
        with pytest.raises(feeler.QueryError):
            pair.query(None, bad)
    with pytest.raises(feeler.QueryError, match="d_max"):
        pair.query(d_max=-1)
    for far in (1e13, 1e155, 1e300):
        with pytest.raises(feeler.QueryError, match="the coordinates reach .* allows at most"):
            pair.query(None, [far, 0, 0], d_max=math.inf)
        assert len(pair.query(None, [far, 0, 0])) == 0 and pair.status == "separated"
    shared = pair.query([1e15, 0, 0], [1e15 + 64, 0, 0], d_max=100)
    assert shared["distance"][0] == pytest.approx(44, abs=1e-12)
    with pytest.raises(TypeError, match="no option 'depth'"):
        pair.query(depth=1)
    assert issubclass(feeler.QueryError, feeler.FeelerError)


def test_scene(ball, box):
    scene = feeler.Scene(d_max=1)
    left = scene.add(ball)
    right = scene.add(ball, [20.5, 0, 0])
    both = scene.add_compound([(box, None), (box, [0, 0, 500])], [0, 900, 0])
    assert scene.bodies == [left, right, both] and len(scene) == 3
    scene.update()
    contact = scene.contacts[0]
    assert scene.contacts.dtype == feeler.scene_contact_dtype
    assert contact["bodies"].tolist() == [left, right] and contact["distance"] == pytest.approx(0.5)
    assert scene.events["kind"].tolist() == [0] and scene.status(right, left) == "separated"
    ids = np.array([left, right], dtype=np.uint32)
    scene.set_poses(ids, np.array([[0, 0, 5, 0, 0, 0, 1], [20.5, 0, 5, 0, 0, 0, 1.0]]))
    scene.update()
    assert scene.events["kind"].tolist() == [1] and scene.contacts["age"].tolist() == [1]
    assert scene.pose(left)[2, 3] == 5
    scene.set_body_options(left, dilation=0.25)
    scene.update()
    assert scene.contacts["gap"][0] == pytest.approx(0.25)
    scene.set_pair_options(left, right, ignored=True)
    scene.update()
    assert len(scene.contacts) == 0 and scene.events["kind"].tolist() == [2]
    assert "ended" in scene.events._repr_html_()
    scene.remove(left)
    with pytest.raises(feeler.SceneError, match=f"body {left} does not exist"):
        scene.set_pose(left, [0, 0, 0])
    with pytest.raises(ValueError, match=r"poses: expected shape \(1, 7\) .* got shape \(2, 7\)"):
        scene.set_poses(ids[1:], np.zeros((2, 7)))
    with pytest.raises(ValueError, match=r"ids: expected shape \(n,\) and dtype uint32, got shape \(1,\) and dtype float64"):
        scene.set_poses([0.5], np.zeros((1, 7)))
    with pytest.raises(feeler.QueryError, match="body 1"):
        scene.set_poses(ids[1:], np.full((1, 7), np.nan))


def test_scene_tracks_near_pairs(ball, box):
    scene = feeler.Scene()
    solids = ((box, None), (ball, [3, 2, 20.01]), (ball, [0, 0, 500]))
    ids = np.array([scene.add(*solid) for solid in solids], dtype=np.uint32)
    bounds = np.array([[1e-3, 0.02]])
    scene.track(ids[1:2], bounds, reach=0.5)
    (pair,) = scene.tracked_pairs
    assert scene.tracked_pairs.dtype == feeler.tracked_pair_dtype
    assert pair["bodies"].tolist() == ids[:2].tolist() and pair["jumped"] and pair["decided"] and not pair["status"]
    # Rounded up to powers of two.
    assert pair["bound"].tolist() == (2**-9, 2**-5)
    alone = feeler.ContactTracker(box, ball, reach=0.5, max_step=[0.1, 1.0])
    alone.update(None, [3, 2, 20.01], 2**-9, 2**-5)
    contacts = scene.tracked_contacts
    assert contacts.dtype == feeler.contact_dtype and len(contacts) == pair["contact_count"] == 1
    assert contacts.tobytes() == alone.contacts.tobytes()
    # The next step presses the ball by a micrometre; the id persists.
    scene.set_pose(ids[1], [3, 2, 19.999])
    assert scene.covers()
    scene.track(ids[1:2], bounds, reach=0.5)
    (pair,) = scene.tracked_pairs
    assert pair["status"] == 2 and pair["depth"] == pytest.approx(0.001) and not pair["jumped"]
    assert scene.tracked_contacts["id"].tolist() == contacts["id"].tolist()
    scene.set_pose(ids[1], [3, 2, 25])
    assert not scene.covers()
    scene.track(ids[:0], np.empty((0, 2)), reach=0.5)
    assert len(scene.tracked_pairs) == 0 and len(scene.tracked_contacts) == 0
    counts = scene.tracker_counts
    assert (counts["updates"], counts["jumps"], counts["uncovered"]) == (2, 1, 0)
    with pytest.raises(ValueError, match=r"bounds: expected shape \(2, 2\) .* got shape \(1, 2\)"):
        scene.track(ids[:2], bounds)
    with pytest.raises(feeler.SceneError, match="99"):
        scene.track(np.array([99], dtype=np.uint32), bounds)
    with pytest.raises(feeler.QueryError, match="reach"):
        scene.track(ids[:1], bounds, reach=math.inf)


def test_queries_in_parallel_threads():
    socket, plug = (feeler.prepare_step(DATA / f"{name}.step").body() for name in ("socket", "plug"))
    poses = [[0.01 * k, 0.02 * k, 20.0 + 0.1 * k] for k in range(40)]

    def run(out):
        pair = feeler.ContactPair(socket, plug)
        out.extend(pair.query(None, p, 7).tobytes() for p in poses)

    alone = []
    run(alone)
    parallel = [[] for _ in range(4)]
    threads = [threading.Thread(target=run, args=(out,)) for out in parallel]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert all(out == alone for out in parallel)
    assert any(alone)


def test_results_equal_those_of_the_program():
    """Equal to the bit."""
    pose = [0.5, 0, 20, 0, 0.0261769, 0, 0.9996573]
    status, out, err = feeler.run(
        ["query", str(DATA / "socket.step"), str(DATA / "plug.step"), "--d-max", "7", "--json",
         "--pose-b", ",".join(map(repr, pose))]
    )  # fmt: skip
    assert status == 0, err
    expected = json.loads(out)["contacts"]
    a, b = (feeler.prepare_step(DATA / f"{n}.step").body() for n in ("socket", "plug"))
    contacts = feeler.ContactPair(a, b).query(None, pose, 7)
    assert len(expected) == len(contacts) > 0
    for row, c in zip(expected, contacts, strict=True):
        for name in ("distance", "gap", "id", "age"):
            assert row[name] == c[name], name
        for name in ("point_a", "point_b", "local_a", "local_b", "normal"):
            assert row[name] == c[name].tolist(), name
    done = subprocess.run([sys.executable, "-m", "feeler", "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and feeler.__version__ in done.stdout
    assert subprocess.run([sys.executable, "-m", "feeler", "query"], capture_output=True).returncode == 2


def test_all_names_have_types():
    folder = Path(feeler.__file__).parent
    stub = "\n".join((folder / name).read_text() for name in ("__init__.pyi", "_results.py", "_checks.py"))
    for name in feeler.__all__:
        assert f"class {name}" in stub or f"def {name}(" in stub or f"{name}:" in stub, name
    for cls in (value for value in map(vars(feeler).get, feeler.__all__) if isinstance(value, type)):
        for member in (m for m in vars(cls) if not m.startswith("_")):
            assert f"def {member}(" in stub or f"    {member}: " in stub, f"{cls.__name__}.{member}"
