"""Curves as the wheel's user has them: closed forms, and what is refused."""

import math
import threading
from pathlib import Path

import numpy as np
import pytest

import feeler

DATA = Path(__file__).parents[3] / "data"


@pytest.fixture(scope="module")
def box():
    return feeler.prepare_step(DATA / "box.step").body()


def line(a, b, radius=1.0):
    return feeler.Curve([a, b], radius, degree=1)


def spring(pitch):
    """Three turns of radius 10 in six half turns."""
    r, h = 10.0, math.pi
    k = 4 / 3 * math.tan(h / 4)
    dz = pitch * h / math.tau / 3
    points = [[r, 0, 0]]
    for i in range(6):
        s, c, s1, c1 = math.sin(i * h), math.cos(i * h), math.sin((i + 1) * h), math.cos((i + 1) * h)
        z, z1 = pitch * i / 2, pitch * (i + 1) / 2
        points += [
            [r * c - r * s * k, r * s + r * c * k, z + dz],
            [r * c1 + r * s1 * k, r * s1 - r * c1 * k, z1 - dz],
            [r * c1, r * s1, z1],
        ]
    return np.array(points)


def test_two_cables_that_cross():
    scene = feeler.CurveScene(d_max=1)
    a = scene.add_curve(line([-100, 0, 0], [100, 0, 0]))
    # At an angle of 0.7, 2.25 mm above.
    t = 0.7
    direction = 100 * np.array([math.cos(t), math.sin(t), 0])
    up = np.array([0, 0, 2.25])
    b = scene.add_curve(line(up - direction, up + direction))
    assert scene.curves == [a, b] and len(scene.contacts) == 0
    scene.update()
    contacts = scene.contacts
    assert contacts.dtype == feeler.curve_contact_dtype and len(contacts) == 1
    c = contacts[0]
    assert (c["kind"], c["curve"], c["other"], c["set"], c["feature_index"]) == (0, a, b, -1, -1)
    assert c["gap"] == pytest.approx(0.25, abs=1e-12) and c["distance"] == pytest.approx(2.25, abs=1e-12)
    assert c["u"] == pytest.approx([0.5, 0.5], abs=1e-12) and c["normal"] == pytest.approx([0, 0, 1], abs=1e-12)
    assert c["point_b"] - c["point_a"] == pytest.approx(c["distance"] * c["normal"], abs=1e-12)
    assert not scene.curves_interfere(a, b)
    low = up - [0, 0, 0.5]
    scene.update_curves([a, b], [[[-100, 0, 0], [100, 0, 0]], np.array([low - direction, low + direction])])
    scene.update()
    assert scene.contacts["gap"] == pytest.approx([-0.25], abs=1e-12) and scene.contacts["id"][0] == c["id"]
    assert scene.curves_interfere(b, a)
    # The array of the previous update does not change.
    assert contacts["gap"] == pytest.approx([0.25]) and "itself" not in contacts._repr_html_()
    scene.remove_curve(b)
    scene.update()
    assert len(scene.contacts) == 0 and "1 curves" in repr(scene)


def test_a_cable_over_a_box(box):
    (x0, y0, z0), (x1, y1, z1) = box.bounds
    x, y = (x0 + x1) / 2, (y0 + y1) / 2
    scene = feeler.CurveScene(d_max=1, detect_interference=True)
    body = scene.add_body(box)

    def at(height):
        return [[x - 100, y, z1 + height], [x + 100, y, z1 + height]]

    cable = scene.add_curve(feeler.Curve(at(1.5), 1.0, degree=1))
    assert scene.status(cable, body) is None and scene.bodies == [body]
    scene.update()
    found = scene.contacts
    assert len(found) >= 2 and (found["kind"] == 2).all()
    # Samples are on the top face; an edge where the stretch ends may be reported as well.
    samples = found[found["set"] >= 0]
    assert len(samples) >= 2 and len(set(samples["set"])) == 1
    assert (found["feature_kind"] == np.where(found["set"] >= 0, 0, 1)).all()
    assert found["gap"] == pytest.approx(np.full(len(found), 0.5), abs=1e-12)
    assert found["normal"] == pytest.approx(np.tile([0, 0, -1.0], (len(found), 1)), abs=1e-12)
    assert np.isnan(found["u"][:, 1]).all()
    # From edge to edge of the box.
    assert found["point_b"][:, 0].min() == pytest.approx(x0) and found["point_b"][:, 0].max() == pytest.approx(x1)
    for height, status, interferes in [
        (1.5, "separated", False),
        (1.0, "touching", None),
        (0.75, "interfering", True),
        (90, "separated", False),
    ]:
        scene.update_curve(cable, at(height))
        scene.update()
        assert scene.status(cable, body) == status and scene.interferes(cable, body) is interferes
    scene.set_pose(body, [0, 0, 88.5])
    scene.update()
    assert scene.contacts["gap"] == pytest.approx(np.full(len(scene.contacts), 0.5), abs=1e-9)
    scene.remove_body(body)
    scene.update()
    assert len(scene.contacts) == 0


@pytest.mark.parametrize(
    ("pitch", "n", "distances"),
    [(8, 8, [7.928905]), (4, 12, [3.991030, 7.982057]), (2.5, 12, [2.497806, 4.995611])],
)
def test_turns_of_a_spring(pitch, n, distances):
    scene = feeler.CurveScene(d_max=8)
    curve = feeler.Curve(spring(pitch), 1.0)
    assert len(curve) == 6 and curve.degree == 3 and not curve.is_closed
    scene.add_curve(curve)
    scene.update()
    found = scene.contacts
    strict = found[(found["kind"] == 1) & (found["place"] == 0).all(axis=1) & (found["set"] < 0)]
    assert len(strict) == n
    near = np.abs(strict["distance"][:, None] - np.array(distances))
    assert (near.min(axis=1) < 1e-6).all() and (strict["u"][:, 0] < strict["u"][:, 1]).all()
    assert "itself" in found._repr_html_()


def test_ways_to_make_a_curve():
    angles = np.linspace(0, math.tau, 32, endpoint=False)
    step = math.tau / 32

    def circle(r, z=0.0):
        points = np.column_stack([r * np.cos(angles), r * np.sin(angles), np.full(32, z)])
        slopes = step * np.column_stack([-r * np.sin(angles), r * np.cos(angles), np.zeros(32)])
        return points, slopes

    points, slopes = circle(10)
    ring = feeler.Curve.hermite(points, slopes, 0.5, closed=True)
    assert len(ring) == 32 and ring.is_closed and ring.points.shape == (96, 3) and ring.deviation is None
    assert ring.point(3.0) == pytest.approx(points[3]) and ring.derivative(3) == pytest.approx(slopes[3])
    u = np.linspace(0, 32, 257).reshape(1, 257)
    assert ring.point(u).shape == (1, 257, 3)
    assert np.linalg.norm(ring.point(u), axis=-1) == pytest.approx(10, abs=1e-4)
    assert ring.point([0.5]).shape == (1, 3) and ring.point(0.5).shape == (3,)
    ring.update(*circle(12, 3.0))
    assert ring.point(u)[..., 2] == pytest.approx(3.0)
    assert ring.bounds[1] == pytest.approx([12, 12, 3], rel=1e-3) and ring.size > 24
    again = feeler.Curve(ring.points, 0.5, closed=True)
    assert again.point(u).tobytes() == ring.point(u).tobytes()
    ring.radius = 2.0
    assert ring.radius == 2 and "closed, radius 2 mm" in repr(ring)
    # Fit of the same circle, also with single precision and strides.
    fitted = feeler.Curve.fit(points, 1e-3, 0.5, closed=True)
    assert 0 <= fitted.deviation <= 1e-3 and len(fitted) < 32
    # The samples are 0.1 µm apart, which limits the accuracy of the comparison.
    dense = fitted.point(np.linspace(0, len(fitted), 600_001))
    off = max(np.linalg.norm(dense - p, axis=1).min() for p in points)
    assert off == pytest.approx(fitted.deviation, abs=1e-6)
    wide = np.zeros((64, 6), dtype=np.float32)
    wide[::2, ::2] = points
    assert feeler.Curve.fit(wide[::2, ::2], 1e-3, 0.5).deviation <= 1e-3
    # The scene has a copy.
    scene = feeler.CurveScene()
    id = scene.add_curve(ring)
    scene.update_curve(id, *circle(7))
    assert scene.curve(id).point(0) == pytest.approx([7, 0, 0]) and ring.point(0)[0] == pytest.approx(12)


def test_bends_that_are_too_tight():
    k = 4 / 3 * math.tan(math.pi / 8) * 2
    quarter = np.array([[2, 0, 0], [2, k, 0], [k, 2, 0], [0, 2, 0]])
    assert len(feeler.Curve(quarter, 1.9).tight_bends()) == 0
    bends = feeler.Curve(quarter, 2.1).tight_bends()
    assert len(bends) == 1 and bends["curvature"][0] == pytest.approx(0.5, abs=0.01)
    assert bends["range"][0, 0] <= bends["u"][0] <= bends["range"][0, 1]
    scene = feeler.CurveScene()
    scene.add_curve(feeler.Curve(quarter, 1.9))
    tight = scene.add_curve(feeler.Curve(quarter + 100, 2.1))
    scene.update()
    assert scene.tight_bends["curve"].tolist() == [tight]
    assert scene.tight_bends.dtype == feeler.tight_bend_dtype
    cusp = feeler.Curve([[0, 0, 0], [2, 2, 0], [0, 2, 0], [2, 0, 0]], 1e-3).tight_bends()
    assert len(cusp) == 1 and cusp["u"][0] == pytest.approx(0.5, abs=1e-3)


def test_errors(box):
    points = np.array([[0, 0, 0], [1, 0, 0], [2, 1, 0], [3, 1, 0]], dtype=float)
    bad = points.copy()
    bad[2, 1] = math.nan
    curve = feeler.Curve(points, 0.1)
    for words, make in [
        ("give 3 for each piece and one more", lambda: feeler.Curve(points[:3], 0.1)),
        ("degree 6", lambda: feeler.Curve(points, 0.1, degree=6)),
        ("radius of -1", lambda: feeler.Curve(points, -1)),
        ("point 2", lambda: feeler.Curve(bad, 0.1)),
        ("no length", lambda: feeler.Curve(np.ones((4, 3)), 0.1)),
        ("as many derivatives", lambda: feeler.Curve.hermite(points, points[:2], 0.1)),
        ("derivative at point 2", lambda: feeler.Curve.hermite(points, bad, 0.1)),
        ("four measured points", lambda: feeler.Curve.fit(points[:3], 0.1, 0.1)),
        ("tolerance", lambda: feeler.Curve.fit(points, -1, 0.1)),
        ("cannot change from 4", lambda: curve.update(points[:3])),
        ("2 nodes", lambda: curve.update(points, points)),
        ("degree 1", lambda: line([0, 0, 0], [1, 0, 0]).update(points[:2], points[:2])),
        ("u is NaN", lambda: curve.point([0.5, math.nan])),
        ("d_max is -1", lambda: feeler.CurveScene(d_max=-1)),
        ("level_slope", lambda: feeler.CurveScene(level_slope=math.nan)),
        ("level_length", lambda: feeler.CurveScene(level_length=-1)),
        ("max_samples", lambda: feeler.CurveScene(max_samples=1)),
    ]:
        with pytest.raises(feeler.QueryError, match=words):
            make()
    for words, make in [
        (r"points: expected shape \(n, 3\) .* got shape \(4, 2\)", lambda: feeler.Curve(points[:, :2], 0.1)),
        (r"points: .* got shape \(\) and dtype <U4", lambda: feeler.Curve("here", 0.1)),
        ("points: .* not an array", lambda: feeler.Curve([[0, 0, 0], [1, 0]], 0.1)),
        ("u: expected .* dtype <U4", lambda: curve.point("here")),
    ]:
        with pytest.raises(ValueError, match=words):
            make()
    assert curve.points.tobytes() == points.tobytes(), "a rejected update changes nothing"
    scene = feeler.CurveScene()
    id = scene.add_curve(curve)
    body = scene.add_body(box)
    with pytest.raises(feeler.QueryError, match=f"curve {id}: point 2"):
        scene.update_curve(id, bad)
    with pytest.raises(feeler.QueryError, match=f"curve {id}: .* 2 nodes"):
        scene.update_curve(id, points, points)
    with pytest.raises(ValueError, match="curve 0: points: expected shape"):
        scene.update_curve(id, points[:, :2])
    with pytest.raises(ValueError, match="for 2 curves, got 1 and 2"):
        scene.update_curves([id, id], [points])
    with pytest.raises(feeler.QueryError):
        scene.set_pose(body, [math.nan] * 3)
    for lost in (
        lambda: scene.update_curve(9, points),
        lambda: scene.remove_curve(9),
        lambda: scene.curve(9),
        lambda: scene.status(9, body),
        lambda: scene.curves_interfere(id, 9),
    ):
        with pytest.raises(feeler.SceneError, match="no curve 9"):
            lost()
    for lost in (
        lambda: scene.set_pose(9, [0, 0, 0]),
        lambda: scene.remove_body(9),
        lambda: scene.interferes(id, 9),
    ):
        with pytest.raises(feeler.SceneError, match="body 9 does not exist"):
            lost()
    with pytest.raises(OverflowError):
        scene.remove_curve(-1)
    scene.update()


def test_the_same_bits_and_the_lock_of_python():
    """Scenes in parallel threads have the results of one scene."""
    points = spring(4)

    def run(out):
        scene = feeler.CurveScene(d_max=8)
        id = scene.add_curve(feeler.Curve(points, 1.0))
        for k in range(40):
            scene.update_curve(id, points * [1, 1, 1 - 0.01 * k])
            scene.update()
            out.append(scene.contacts["distance"].tobytes())

    alone = []
    run(alone)
    at_once = [[] for _ in range(4)]
    threads = [threading.Thread(target=run, args=(out,)) for out in at_once]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert all(out == alone for out in at_once) and len(set(alone)) == 40


def test_a_cable_of_mujoco(box):
    """Nodes of a flexible body as a curve. The reference is the distance of many of its points from the box."""
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string("""<mujoco><option timestep="0.001"/><worldbody>
      <flexcomp name="cable" type="grid" dim="1" count="21 1 1" spacing="0.01 0.01 0.01" pos="0 0.003 0.11"
                radius="0.002" mass="0.02"><edge equality="true"/><pin id="0 20"/></flexcomp>
      </worldbody></mujoco>""")
    data = mujoco.MjData(model)

    def nodes():
        points = 1e3 * data.flexvert_xpos
        return points, np.gradient(points, axis=0)

    mujoco.mj_forward(model, data)
    radius = 1e3 * model.flex_radius[0]
    scene = feeler.CurveScene(d_max=40)
    cable = scene.add_curve(feeler.Curve.hermite(*nodes(), radius))
    scene.add_body(box)
    low, high = box.bounds
    gaps = []
    for step in range(1, 251):
        mujoco.mj_step(model, data)
        if step % 50:
            continue
        scene.update_curve(cable, *nodes())
        scene.update()
        curve = scene.curve(cable)
        assert curve.point(np.arange(21)) == pytest.approx(nodes()[0], abs=1e-12)
        points = curve.point(np.linspace(0, 20, 100_001))
        sampled = np.linalg.norm(points - points.clip(low, high), axis=1).min() - radius
        gaps.append(min(scene.contacts["gap"].tolist(), default=math.inf))
        assert gaps[-1] == math.inf if sampled > 40 else -1e-9 < sampled - gaps[-1] < 1e-6
    assert sum(gap < 40 for gap in gaps) >= 2, "the cable comes near"
