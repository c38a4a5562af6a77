"""Tests of queries of many points, rays and poses, and of derivatives of gaps."""

import ast
import doctest
import importlib.util
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import feeler

ROOT = Path(__file__).parents[3]
DATA = ROOT / "data"


def body(name):
    return feeler.prepare_step(DATA / f"{name}.step").body()


def quaternions(rng, n):
    q = rng.normal(size=(n, 4))
    return q / np.linalg.norm(q, axis=1)[:, None]


def box_distance(points, low, high):
    """Signed distance from a box."""
    q = np.abs(points - (low + high) / 2) - (high - low) / 2
    return np.linalg.norm(np.maximum(q, 0), axis=1) + np.minimum(q.max(axis=1), 0)


def cylinder_distance(points, low, high):
    """Signed distance from the cylinder about the z axis that fills a box."""
    q = np.stack([np.hypot(points[:, 0], points[:, 1]) - high[0], np.abs(points[:, 2] - (low[2] + high[2]) / 2)
                  - (high[2] - low[2]) / 2], axis=1)  # fmt: skip
    return np.linalg.norm(np.maximum(q, 0), axis=1) + np.minimum(q.max(axis=1), 0)


def sphere_distance(points, low, high):
    return np.linalg.norm(points - (low + high) / 2, axis=1) - (high[0] - low[0]) / 2


CLOSED_FORMS = {
    "box": box_distance,
    "box-nurbs": box_distance,
    "cylinder": cylinder_distance,
    "cylinder-nurbs": cylinder_distance,
    "sphere": sphere_distance,
    "sphere-nurbs": sphere_distance,
    "sphere-without-edges": sphere_distance,
}


@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_points_against_closed_forms(name):
    solid = body(name)
    low, high = solid.bounds
    rng = np.random.default_rng(53)
    margin = 0.3 * solid.size
    points = rng.uniform(low - margin, high + margin, (20_000, 3))
    # On the axis and in the planes of symmetry, where several boundary points are equally near.
    points[:100, :2] = 0
    points[100:200, 0] = 0
    expected = CLOSED_FORMS[name](points, low, high)
    distances = solid.signed_distance(points)
    assert distances.shape == (20_000,) and distances.dtype == np.float64
    assert distances == pytest.approx(expected, abs=1e-9)
    assert solid.contains(points).tolist() == (expected < 0).tolist()
    found = solid.nearest(points)
    assert found.dtype == feeler.nearest_point_dtype
    assert found["signed_distance"].tobytes() == distances.tobytes()
    assert (found["is_inside"] == (distances < 0)).all()
    assert np.linalg.norm(found["normal"], axis=1) == pytest.approx(1)
    assert found["point"] + found["normal"] * distances[:, None] == pytest.approx(points, abs=1e-6)
    assert solid.signed_distance(found["point"]) == pytest.approx(0, abs=1e-9)


SEMI_AXES = np.array([16.0, 10.0, 7.0])


def ellipsoid():
    """An ellipsoid as one NURBS face: control points of a sphere of radius 10, scaled along the axes."""

    def scaled(match):
        values = [float(v) * float(a) / 10 for v, a in zip(match.group(2).split(","), SEMI_AXES, strict=True)]
        return match.group(1) + ",".join(f"{v!r}".replace("e", "E") for v in values) + ")"

    text = re.sub(r"(CARTESIAN_POINT\('[^']*',\()([^()]*)\)", scaled, (DATA / "sphere-nurbs.step").read_text())
    return feeler.prepare_bytes(text.encode(), "ellipsoid.step").body()


def ellipsoid_distance(points):
    """Signed distance, by bisection of the equation for the multiplier of the footpoint."""
    y, squares = np.abs(points), SEMI_AXES**2
    low = np.max(SEMI_AXES * y - squares, axis=1)
    high = np.linalg.norm(SEMI_AXES * y, axis=1) - squares.min()
    for _ in range(120):
        middle = (low + high) / 2
        above = np.sum((SEMI_AXES * y / (middle[:, None] + squares)) ** 2, axis=1) > 1
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    feet = squares * y / (((low + high) / 2)[:, None] + squares)
    return np.where(np.sum((y / SEMI_AXES) ** 2, axis=1) < 1, -1, 1) * np.linalg.norm(y - feet, axis=1)


def test_distances_from_an_ellipsoid_with_poles():
    solid = ellipsoid()
    points = np.random.default_rng(1).uniform(-1.2 * SEMI_AXES, 1.2 * SEMI_AXES, (100_000, 3))
    assert np.abs(solid.signed_distance(points) - ellipsoid_distance(points)).max() <= 1e-9


def test_distances_of_points_close_to_the_poles_of_an_ellipsoid():
    solid, rng = ellipsoid(), np.random.default_rng(55)
    n = 20_000
    # Footpoints near the poles, from there along the normal, up to the smallest radius of curvature inside.
    close = np.stack([*(0.05 * rng.normal(size=(2, n))), np.tile([1.0, -1.0], n // 2)], axis=1)
    feet = SEMI_AXES * close / np.linalg.norm(close, axis=1)[:, None]
    normals = feet / SEMI_AXES**2
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    distances = rng.uniform(-49 / 16, 5, n)
    assert np.abs(solid.signed_distance(feet + distances[:, None] * normals) - distances).max() <= 1e-9


@pytest.mark.parametrize("name", ["cone", "half-cone", "loft", "wave", "socket", "perforated-plate", "void", "torus-nurbs"])
def test_signed_distances_have_their_normals_as_gradient(name):
    solid = body(name)
    low, high = solid.bounds
    points = np.random.default_rng(54).uniform(low - 3, high + 3, (2000, 3))
    found = solid.nearest(points)
    assert found["point"] + found["normal"] * found["signed_distance"][:, None] == pytest.approx(points, abs=1e-5)
    h = 1e-5
    steps = h * np.eye(3)
    differences = [(solid.signed_distance(points + s) - solid.signed_distance(points - s)) / (2 * h) for s in steps]
    error = np.abs(np.stack(differences, axis=1) - found["normal"]).max(axis=1)
    # Except where two boundary points are equally near.
    assert (error > 1e-4).sum() <= 4
    volume = found["is_inside"].mean() * np.prod(high - low + 6)
    assert volume == pytest.approx(solid.volume, abs=0.05 * np.prod(high - low + 6))


def test_points_of_a_sheet_have_no_inside():
    points = [[0, 0, 0], [6, 0, 0], [0, 5, 0], [0, 0, 4]]
    triangles = np.array([[0, 1, 3], [1, 2, 3], [2, 0, 3]])
    sheet = feeler.prepare_mesh(points, triangles, open_shells=True).body()
    inside, outside = sheet.signed_distance([[0.5, 0.5, 0.5], [-1, 1, 1]])
    assert inside == pytest.approx(0.5) and outside == pytest.approx(1)
    offsets, hits = sheet.ray_intersections([[1, 1, -1], [-5, 1, 1]], [[0, 0, 1], [1, 0, 0]])
    assert offsets.tolist() == [0, 1, 3] and hits["is_entering"].all()
    assert hits["t"][1:] == pytest.approx([5, 5 + 6 * (1 - 1 / 5 - 1 / 4)])


def test_rays_through_a_sphere():
    ball = body("sphere")
    rng = np.random.default_rng(55)
    n = 5000
    origins, directions = rng.uniform(-20, 20, (n, 3)), rng.normal(size=(n, 3))
    offsets, hits = ball.ray_intersections(origins, directions)
    assert offsets.dtype == np.int64 and hits.dtype == feeler.ray_intersection_dtype
    # Roots of |o + t d| = 10.
    a, b, c = (directions**2).sum(1), (origins * directions).sum(1), (origins**2).sum(1) - 100
    root = np.sqrt(np.maximum(b * b - a * c, 0))
    expected = [[t for t in ((-b[i] - root[i]) / a[i], (-b[i] + root[i]) / a[i]) if root[i] > 0 and t > 0] for i in range(n)]
    assert np.diff(offsets).tolist() == [len(t) for t in expected]
    assert hits["t"] == pytest.approx(np.concatenate(expected), abs=1e-10)
    assert hits["normal"] == pytest.approx(hits["point"] / 10, abs=1e-12)
    ray = np.repeat(np.arange(n), np.diff(offsets))
    assert hits["point"] == pytest.approx(origins[ray] + hits["t"][:, None] * directions[ray], abs=1e-10)
    assert (hits["is_entering"] == ((hits["normal"] * directions[ray]).sum(1) < 0)).all()


@pytest.mark.parametrize("name", ["box", "bore", "perforated-plate", "loft", "wave", "cone", "half-cone", "void", "plug"])
def test_rays_alternate_and_agree_with_containment(name):
    solid = body(name)
    low, high = solid.bounds
    rng = np.random.default_rng(56)
    n = 2000
    origins = rng.uniform(low - 2, high + 2, (n, 3))
    # A third of the rays aims at boundary points of edges and vertices, along whose normals the nearest points lie.
    directions = rng.normal(size=(n, 3))
    on_boundary = solid.nearest(origins[::-1])["point"]
    directions[::3] = (on_boundary - origins)[::3]
    directions[np.linalg.norm(directions, axis=1) < 1e-3] = [1, 2, 3]
    offsets, hits = solid.ray_intersections(origins, directions)
    inside = solid.contains(origins)
    for i in range(n):
        entering = hits["is_entering"][offsets[i] : offsets[i + 1]].tolist()
        # From the last one, which leaves.
        assert entering == [(len(entering) - k) % 2 == 0 for k in range(len(entering))], i
        assert len(entering) % 2 == inside[i], i
    assert (np.diff(hits["t"])[np.diff(np.repeat(np.arange(n), np.diff(offsets))) == 0] > 0).all()
    assert solid.signed_distance(hits["point"]) == pytest.approx(0, abs=1e-6)


def test_rays_through_edges_and_vertices():
    box = body("box")
    low, high = box.bounds
    middle = (low + high) / 2

    def of(origin, direction):
        _, hits = box.ray_intersections([origin], [direction])
        return [("in" if h["is_entering"] else "out", (h["point"].round(6) + 0.0).tolist()) for h in hits]

    # Through two opposite vertices, and from a vertex.
    diagonal = high - low
    through = [("in", low.round(6).tolist()), ("out", high.round(6).tolist())]
    assert of(low - diagonal, diagonal) == through and of(low, diagonal) == through
    # Through two opposite edges, and from one edge.
    flat = np.array([diagonal[0], diagonal[1], 0])
    start, end = np.array([low[0], low[1], middle[2]]), np.array([high[0], high[1], middle[2]])
    through = [("in", start.round(6).tolist()), ("out", end.round(6).tolist())]
    assert of(start - flat, flat) == through and of(start, flat) == through
    # Touches an edge and a vertex; runs along an edge and in a face.
    assert of(start - [1, -1, 0], [1, -1, 0]) == [] and of(low - [1, -1, 0], [1, -1, 0]) == []
    assert of(low - [1, 0, 0], [1, 0, 0]) == [] and of([low[0] - 1, middle[1], high[2]], [1, 0, 0]) == []
    # Starts inside, and on a face in both directions.
    on = np.array([middle[0], middle[1], high[2]])
    assert of(middle, [0, 0, 2]) == [("out", on.round(6).tolist())]
    assert of(on, [0, 0, 1]) == [] and len(of(on, [0, 0, -1])) == 2
    # Within less than the tolerance of an edge, from both sides.
    for off in (1e-9, -1e-9, 1e-7, -1e-7):
        assert len(of(start - flat + [off, -off, 0], flat)) == 2
    cone = body("cone")
    apex = np.array([0, 0, cone.bounds[1, 2]])
    assert cone.signed_distance([apex]) == pytest.approx(0, abs=1e-9)
    assert len(cone.ray_intersections([apex + [0, 0, 5]], [0, 0, -1])[1]) == 2
    assert len(cone.ray_intersections([apex - [5, 0, 0]], [1, 0, 0])[1]) == 0
    # Tangents of a ball, on it and within less than the tolerance.
    ball = body("sphere")
    for height in (10, 10 + 1e-8, 10 - 1e-8):
        assert len(ball.ray_intersections([[-20, 0, height]], [1, 0, 0])[1]) == 0
    assert len(ball.ray_intersections([[-20, 0, 9.999]], [1, 0, 0])[1]) == 2


def test_wrong_points_and_rays():
    ball = body("sphere")
    assert len(ball.signed_distance(np.empty((0, 3)))) == len(ball.nearest(np.empty((0, 3)))) == 0
    offsets, hits = ball.ray_intersections(np.empty((0, 3)), np.empty((0, 3)))
    assert offsets.tolist() == [0] and len(hits) == 0
    for call in (ball.signed_distance, ball.contains, ball.nearest):
        with pytest.raises(ValueError, match=r"points: expected shape \(n, 3\) and dtype float64, got shape \(2, 2\) .*int64"):
            call([[1, 2], [3, 4]])
        with pytest.raises(feeler.QueryError, match="point 1: the point is not finite"):
            call([[0, 0, 0], [math.nan, 0, 0]])
    with pytest.raises(ValueError, match=r"origins: expected shape \(n, 3\)"):
        ball.ray_intersections([0, 0, 0], [0, 0, 1])
    with pytest.raises(ValueError, match=r"directions: expected shape \(2, 3\) or \(3,\) .* got shape \(3, 3\)"):
        ball.ray_intersections(np.zeros((2, 3)), np.ones((3, 3)))
    with pytest.raises(feeler.QueryError, match="ray 300: the direction of the ray has no length"):
        ball.ray_intersections(np.zeros((400, 3)), np.where(np.arange(400)[:, None] < 300, 1.0, 0.0) * np.ones(3))
    with pytest.raises(feeler.QueryError, match="point 0: the coordinates reach"):
        ball.signed_distance([[1e13, 0, 0]])


PAIRS = [("box", "cylinder"), ("socket", "plug"), ("wave", "torus-nurbs"), ("blind-bore", "pin")]


def random_poses(a, b, n, seed):
    """Poses of B near A, about a half of which interfere."""
    rng = np.random.default_rng(seed)
    reach = 0.25 * (a.size + b.size)
    return np.hstack([rng.uniform(-reach, reach, (n, 3)) + 0.5 * (a.bounds.sum(0) - b.bounds.sum(0)), quaternions(rng, n)])


def near_poses(pair, a, b, n, seed):
    """Poses of B at which it is separated from A, but near it."""
    poses = random_poses(a, b, n, seed)
    center = 0.5 * (a.bounds.sum(0) - b.bounds.sum(0))
    scaled = np.tile(poses, (40, 1, 1))
    scaled[:, :, :3] = center + np.linspace(0.1, 4, 40)[:, None, None] * (poses[:, :3] - center)
    is_apart = (pair.verdicts(poses_b=scaled.reshape(-1, 7))["status"] == 0).reshape(40, n)
    return scaled[is_apart.argmax(axis=0), np.arange(n)][is_apart.any(axis=0)]


@pytest.mark.parametrize("names", PAIRS)
def test_many_poses_equal_single_queries(names):
    a, b = map(body, names)
    poses = random_poses(a, b, 100, 57)
    # Both bodies move by a common pose.
    shift = matrix(random_poses(a, b, 1, 58)[0])
    pair = feeler.ContactPair(a, b)
    before = pair.query(None, poses[0], 3).copy()
    d_max = 0.5 * a.size
    poses = np.array([shift @ matrix(pose) for pose in poses])
    options = {"penetration": 0.01 if a.min_thickness > 0.1 else 0}
    offsets, contacts = pair.contacts_at(shift, poses, d_max, **options)
    distances, verdicts = pair.distances(shift, poses, d_max, **options), pair.verdicts(shift, poses, d_max, **options)
    chunks = list(pair.iter_contacts(shift, poses, d_max, chunk=7, **options))
    assert len(offsets) == 101 and contacts.dtype == feeler.contact_dtype and verdicts.dtype == feeler.verdict_dtype
    found = 0
    for i, pose in enumerate(poses):
        single = feeler.ContactPair(a, b)
        expected = single.query(shift, pose, d_max, **options)
        assert contacts[offsets[i] : offsets[i + 1]].tobytes() == expected.tobytes() == chunks[i].tobytes(), i
        status = ["separated", "touching", "interfering", "undecided"][verdicts["status"][i]]
        assert status == single.status
        distance = math.inf if single.min_distance is None else single.min_distance
        assert verdicts["min_distance"][i] == distance
        if single.verdict.witness is None:
            assert np.isnan(verdicts["witness"][i]).all() and np.isnan(verdicts["inside_a"][i])
        else:
            assert verdicts["witness"][i].tobytes() == single.verdict.witness.tobytes()
            assert verdicts["inside_b"][i] == single.verdict.inside_b
        is_deep = status == "interfering" and distance > -2 * single.verdict.tolerance
        assert distances[i] == (-math.inf if is_deep else distance)
        found += len(expected)
    assert found >= 10 and len({*verdicts["status"].tolist()}) >= 2
    # The pair keeps its own results.
    assert pair.contacts.tobytes() == before.tobytes()


def test_forms_of_poses_and_many_pairs():
    ball, box = body("sphere"), body("box")
    pairs = [feeler.ContactPair(ball, box), feeler.ContactPair(ball, ball), feeler.ContactPair(box, ball)]
    shifts = np.array([[0, 0, 21.0], [22, 0, 0], [0, 23, 1], [30, 30, 30]])
    rows = np.hstack([shifts, np.tile([0, 0, 0, 1.0], (4, 1))])
    matrices = np.tile(np.eye(4), (4, 1, 1))
    matrices[:, :3, 3] = shifts
    expected = pairs[1].distances(poses_b=rows, d_max=5)
    assert expected == pytest.approx([1, 2, np.hypot(23, 1) - 20, math.inf])
    for poses in (shifts, matrices, rows.tolist()):
        assert pairs[1].distances(poses_b=poses, d_max=5).tobytes() == expected.tobytes()
    # Opposite motion of A; a single pose.
    assert pairs[1].distances(poses_a=-shifts, d_max=5) == pytest.approx(expected)
    assert pairs[1].distances(poses_b=shifts[0], d_max=5).tolist() == expected[:1].tolist()
    # Ranges from less than the distance to far more.
    for d_max in (1.5, 15, 1e4):
        expected_here = np.where(expected <= d_max, expected, math.inf)
        expected_here[3] = np.sqrt(2700) - 20 if d_max > 40 else math.inf
        assert pairs[1].distances(poses_b=rows, d_max=d_max) == pytest.approx(expected_here)
    assert len(pairs[1].distances(poses_b=np.empty((0, 7)))) == 0
    table = feeler.distances(pairs, poses_b=rows, d_max=5)
    assert table.shape == (3, 4)
    of_pairs = feeler.distances(pairs, poses_b=np.stack([rows, rows, rows]), d_max=5)
    assert table.tobytes() == of_pairs.tobytes() == b"".join(p.distances(poses_b=rows, d_max=5).tobytes() for p in pairs)
    assert feeler.distances([], poses_b=rows).shape[0] == 0
    with pytest.raises(ValueError, match=r"poses_b: expected shape \(n, 7\), \(n, 3\), .* got shape \(4, 5\)"):
        pairs[0].distances(poses_b=np.zeros((4, 5)))
    with pytest.raises(ValueError, match=r"expected equal numbers of poses, got 2 and 4"):
        pairs[0].contacts_at(rows[:2], rows)
    with pytest.raises(ValueError, match=r"poses_b: expected .*\(3, n, 7\)"):
        feeler.distances(pairs, poses_b=np.zeros((2, 4, 7)))
    with pytest.raises(ValueError, match="chunk"):
        pairs[0].iter_contacts(poses_b=rows, chunk=0)
    bad = rows.copy()
    bad[2, 0] = math.nan
    for call in (pairs[0].distances, pairs[0].verdicts, pairs[0].contacts_at, pairs[0].iter_contacts):
        with pytest.raises(feeler.QueryError, match=r"poses_b\[2\]"):
            call(poses_b=bad)
    far = rows.copy()
    far[3, 0] = 1e13
    with pytest.raises(feeler.QueryError, match="pose 3: the coordinates reach"):
        pairs[0].distances(poses_b=far, d_max=math.inf)
    with pytest.raises(feeler.QueryError, match="pair 0, pose 3: the coordinates reach"):
        feeler.distances(pairs, poses_b=far, d_max=math.inf)
    contacts = pairs[1].iter_contacts(poses_b=far, d_max=math.inf, chunk=2)
    assert len(next(contacts)) == len(next(contacts)) == 1
    with pytest.raises(feeler.QueryError, match="pose 3"):
        next(contacts)
    with pytest.raises(TypeError, match="no option 'depth'"):
        pairs[0].distances(poses_b=rows, depth=1)


BITS = """
import hashlib, sys
import numpy as np
import feeler

def body(name):
    return feeler.prepare_step(f"{sys.argv[1]}/{name}.step").body()

rng = np.random.default_rng(59)
digest = hashlib.sha256()
for name in ("plug", "wave", "perforated-plate"):
    solid = body(name)
    points = rng.uniform(*(solid.bounds + [[-2] * 3, [2] * 3]), (3000, 3))
    digest.update(solid.nearest(points).tobytes())
    for array in solid.ray_intersections(points, rng.normal(size=points.shape)):
        digest.update(array.tobytes())
a, b = body("socket"), body("plug")
q = rng.normal(size=(200, 4))
poses = np.hstack([rng.uniform(-40, 40, (200, 3)), q / np.linalg.norm(q, axis=1)[:, None]])
pair = feeler.ContactPair(a, b)
for array in (*pair.contacts_at(poses_b=poses, d_max=20), feeler.distances([pair, pair], poses_b=poses),
              pair.verdicts(poses_b=poses)):
    digest.update(array.tobytes())
print(digest.hexdigest())
"""


def test_the_number_of_threads_does_not_change_bits():
    def run(threads):
        environment = os.environ | {"RAYON_NUM_THREADS": str(threads)}
        done = subprocess.run([sys.executable, "-c", BITS, DATA], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run(1) == run(2) == run(3)


def exponential(twist):
    """4x4 matrix of a small twist: translation, then rotation."""
    generator = np.zeros((4, 4))
    generator[:3, :3] = np.cross(np.eye(3), twist[3:])
    generator[:3, 3] = twist[:3]
    term, total = np.eye(4), np.eye(4)
    for k in range(1, 12):
        term = term @ generator / k
        total = total + term
    return total


def matrix(pose):
    x, y, z, w = pose[3:]
    rotation = [[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]  # fmt: skip
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = rotation, pose[:3]
    return out


def gradients_of(contacts):
    """Gradients from footpoints and normals; A is at the identity."""
    return np.hstack([contacts["normal"], np.cross(contacts["point_b"], contacts["normal"])])


def same_contact(contact, moved):
    """Index of the contact between the same features with the nearest footpoints, or None."""
    same = np.full(len(moved), True)
    for side in ("feature_a", "feature_b"):
        same &= (moved[side]["kind"] == contact[side]["kind"]) & (moved[side]["index"] == contact[side]["index"])
    if not same.any():
        return None
    apart = np.linalg.norm(moved["local_a"] - contact["local_a"], axis=1)
    apart += np.linalg.norm(moved["local_b"] - contact["local_b"], axis=1)
    return int(np.where(same, apart, np.inf).argmin())


DERIVATIVE_PAIRS = [("box", "box"), ("box", "cylinder"), ("cone", "torus"), ("spool", "ball"), ("ring", "spool"),
                    ("socket", "plug"), ("wave", "torus-nurbs"), ("loft", "cone")]  # fmt: skip


def test_derivatives_agree_with_differences():
    """The gradient against differences of the gap, and the Hessian against differences of gradients: the symmetric part
    of their derivative is the Hessian, the antisymmetric part is a property of the exponential. A contact is skipped if
    it disappears or changes its features within the steps, or if differences of second and fourth order differ, because
    a radius of curvature or the distance from a degenerate pose is not large compared with the steps. FEELER_POSES is the
    number of poses of each pair."""
    count = int(os.environ.get("FEELER_POSES", "100"))
    compared = {}
    skipped = no_second = 0
    for names in DERIVATIVE_PAIRS:
        a, b = map(body, names)
        pair = feeler.ContactPair(a, b)
        length = max(a.size, b.size)
        scale = np.array([1, 1, 1, 1 / length, 1 / length, 1 / length])
        d_max, h = 0.15 * length, 2e-5 * length
        twists = [s * h * scale * np.eye(6)[i] for s in (-2, -1, 1, 2) for i in range(6)]
        for pose in map(matrix, near_poses(pair, a, b, count, 60)):
            contacts = pair.query(pose_b=pose, d_max=d_max)
            gradients, hessians = pair.gap_gradients(), pair.gap_hessians()
            assert gradients == pytest.approx(gradients_of(contacts), abs=1e-12 * length)
            offsets, moved = pair.contacts_at(poses_b=[exponential(x) @ pose for x in twists], d_max=1.1 * d_max)
            moved_gradients = gradients_of(moved)
            for contact, gradient, hessian in zip(contacts, gradients, hessians, strict=True):
                at = [same_contact(contact, moved[i:j]) for i, j in zip(offsets, offsets[1:])]
                if None in at:
                    skipped += 1
                    continue
                at = offsets[:-1] + at
                gaps = moved["gap"][at].reshape(4, 6) / h
                slopes = (moved_gradients[at] * scale).reshape(4, 6, 6) / h
                slopes = 0.5 * (slopes + slopes.transpose(0, 2, 1))
                narrow = [(x[2] - x[1]) / 2 for x in (gaps, slopes)]
                wide = [(x[3] - x[0]) / 4 for x in (gaps, slopes)]
                first, second = [(4 * x - y) / 3 for x, y in zip(narrow, wide)]
                # Curvatures (1/mm); second derivatives of at most the inverse length count as those.
                size = np.linalg.norm(second) + 1 / length
                if np.abs(second - narrow[1]).max() > 1e-4 * size or np.abs(first - narrow[0]).max() > 1e-6:
                    skipped += 1
                    continue
                assert first == pytest.approx(gradient * scale, abs=1e-6), (names, contact)
                if np.isnan(hessian).any():
                    no_second += 1
                    continue
                error = np.abs(second - hessian * np.outer(scale, scale)).max()
                assert error <= 1e-6 * size, (names, contact, error / size)
                kinds = tuple(sorted((int(contact["feature_a"]["kind"]), int(contact["feature_b"]["kind"]))))
                compared[names, kinds] = compared.get((names, kinds), 0) + 1
    total = sum(compared.values())
    print(f"{total} contacts compared, {skipped} skipped, {no_second} without second derivative: {compared}")
    assert total >= 8 * count and skipped <= total / 5 and no_second <= total / 100
    for kinds in ((0, 0), (0, 1), (0, 2), (1, 1)):
        assert sum(n for (_, k), n in compared.items() if k == kinds) >= count / 12, kinds


def test_derivatives_of_special_contacts():
    box, ball = body("box"), body("sphere")
    pair = feeler.ContactPair(box, box)
    assert pair.gap_gradients().shape == (0, 6) and pair.gap_hessians().shape == (0, 6, 6)
    # Parallel faces: samples of a conformal set.
    contacts = pair.query(pose_b=[1, 2, box.bounds[1, 2] - box.bounds[0, 2] + 0.5])
    assert (contacts["kind"] == 2).all() and np.isnan(pair.gap_hessians()).all()
    assert pair.gap_gradients()[:, :3] == pytest.approx(np.tile([0, 0, 1.0], (len(contacts), 1)))
    # In A's frame, whatever A's pose; the second derivative exists at gap 0.
    pair = feeler.ContactPair(box, ball)
    relative = np.array([3, 2, box.bounds[1, 2] + 10])
    pose_a = matrix([5, -3, 2, 0.5, 0.5, 0.5, 0.5])
    pose_b = pose_a @ matrix([*relative, 0, 0, 0, 1])
    pair.query(None, relative)
    gradient, hessian = pair.gap_gradients(), pair.gap_hessians()
    pair.query(pose_a, pose_b)
    assert pair.gap_gradients() == pytest.approx(gradient, abs=1e-9)
    assert pair.gap_hessians() == pytest.approx(hessian, abs=1e-9) and np.isfinite(hessian).all()


def test_examples_of_the_documentation(monkeypatch):
    """Examples in the docstrings of the stub. Every function and class has one."""
    monkeypatch.chdir(ROOT)
    stub = Path(feeler.__file__).parent / "__init__.pyi"
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
    tree = ast.parse(stub.read_text())
    kinds = (ast.FunctionDef, ast.ClassDef)
    for node in (n for n in tree.body if isinstance(n, kinds)):
        assert any(">>>" in (ast.get_docstring(n) or "") for n in ast.walk(node) if isinstance(n, kinds)), node.name
    for node in (n for n in ast.walk(tree) if isinstance(n, kinds)):
        text = ast.get_docstring(node) or ""
        if ">>>" in text:
            name = getattr(node, "name", "feeler")
            runner.run(parser.get_doctest(text, {"feeler": feeler, "np": np}, name, str(stub), 0))
    assert runner.summarize(verbose=False).failed == 0


def test_placement_example():
    """A pin that starts tilted at the wall of a bore ends on its axis."""
    pytest.importorskip("scipy")
    spec = importlib.util.spec_from_file_location("placement", Path(__file__).parents[1] / "examples" / "placement.py")
    placement = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(placement)
    bore, pin = body("bore"), body("pin")
    start = exponential(np.array([0.005, -0.003, 0.0, 1e-4, 0, 0]))
    pair = feeler.ContactPair(bore, pin)
    pair.query(pose_b=start, d_max=5)
    before = pair.min_distance
    pose, clearance = placement.place(bore, pin, start)
    on_axis = pair.query(pose_b=np.eye(4), d_max=5)["gap"].min()
    assert before < 0.9 * clearance and clearance == pytest.approx(on_axis, rel=1e-4)
    assert np.abs(pose[:2, 3]).max() < 1e-3
