"""Many points and poses in one call, and derivatives of gaps.

    python benches/bulk_queries.py [--points 1000000] [--poses 100000] [--derivatives 10000] [--model FILE]

Needs only the wheel. Signed distances of points of a model (the perforated plate of `data` if none is given), and
distances and contacts of a pair at poses near contact are computed with one thread and with two: the bits must be the
same. Gradients and second derivatives of gaps are compared with central differences at generated poses of pairs with
curved faces, edges and vertices: the relative error must be at most 1e-6. The exit status is 1 if a requirement is
violated.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import feeler

DATA = Path(__file__).resolve().parents[1] / "data"
RELATIVE = 1e-6
"""Largest relative error of a derivative."""
STEP = 1e-5
"""Step of the differences: translation as a fraction of the size, rotation in rad."""
SAME_FOOTPOINT = 20 * STEP
"""Largest distance of the footpoints of one contact before and after a step, as a fraction of the size."""
PAIRS = (
    ("torus", "cone"),
    ("sphere", "box"),
    ("torus-nurbs", "wave"),
    ("cylinder-nurbs", "ring"),
    ("loft", "torus"),
    ("race", "box-nurbs"),
    ("bayonet-plug", "ball"),
)


def body(name):
    return feeler.prepare_step(DATA / f"{name}.step").body()


def rotations(rng, count):
    quaternions = rng.normal(size=(count, 4))
    return quaternions / np.linalg.norm(quaternions, axis=1)[:, None]


def poses_near(a, b, rng, count):
    """Poses of B in A's frame, with their bounding boxes in or near contact."""
    ways = rng.normal(size=(count, 3))
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    lengths = rng.uniform(0.1, 0.6, count) * (a.size + b.size)
    centre = a.bounds.mean(axis=0)
    return np.hstack([centre + ways * lengths[:, None], rotations(rng, count)])


def digest(*arrays):
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()


def measured(options):
    """Prints rates with the threads of this process, and the hash of all results on the last line."""
    model = feeler.prepare_step(options.model).body()
    rng = np.random.default_rng(1)
    low, high = model.bounds
    margin = 0.1 * (high - low)
    points = rng.uniform(low - margin, high + margin, (options.points, 3))
    a, b = body("race"), body("ball")
    pair = feeler.ContactPair(a, b)
    poses = poses_near(a, b, rng, options.poses)
    results = []
    for name, count, call in (
        ("signed distances", len(points), lambda: (model.signed_distance(points),)),
        ("distances of a pair", len(poses), lambda: (pair.distances(poses_b=poses, d_max=1),)),
        ("contact sets", len(poses), lambda: pair.contacts_at(poses_b=poses, d_max=1)),
    ):
        wall, processor = time.perf_counter(), time.process_time()
        results.extend(call())
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        print(f"{count} {name}: {wall:.1f} s, {processor:.1f} s of processor time, {count / processor:.4g} a second")
    print(digest(*results))


def with_threads(count):
    """Runs this program with a number of threads and returns the hash of its results."""
    command = [sys.executable, *sys.argv, "--measure"]
    environment = os.environ | {"RAYON_NUM_THREADS": str(count)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    *lines, found = done.stdout.splitlines()
    print(f"threads: {count}", *lines, sep="\n  ", flush=True)
    return found


def exponential(twist):
    """Pose of a twist: translation, then rotation vector; by scaling and squaring of the series."""
    generator = np.zeros((4, 4))
    x, y, z = twist[3:]
    generator[:3, :3] = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
    generator[:3, 3] = twist[:3]
    term, total = np.eye(4), np.eye(4)
    for k in range(1, 12):
        term = term @ generator / k
        total = total + term
    return total


def matching(contacts, contact, radius):
    """Index of the contact with the same features and nearly the same footpoints; None without one."""
    same = np.ones(len(contacts), dtype=bool)
    for feature in ("feature_a", "feature_b"):
        for key in ("kind", "index"):
            same &= contacts[feature][key] == contact[feature][key]
    for point in ("local_a", "local_b"):
        same &= np.linalg.norm(contacts[point] - contact[point], axis=1) <= radius
    found = np.flatnonzero(same)
    return found[0] if len(found) else None


def derivative_errors(a, b, pose, rng):
    """Relative errors of the gradient and of the second derivatives of one contact; None without a regular one.

    The error of a second derivative is relative to the largest one, or to that of two bodies that are as curved as a
    ball of their size. Contacts whose footpoints move far or change their features in a step are left out, because
    differences are not valid there. If an error is too large, a smaller step decides, which has a smaller truncation
    error.
    """
    pair = feeler.ContactPair(a, b)
    reach = 0.05 * (a.size + b.size)
    contacts = pair.query(None, pose, reach, detect_interference=False)
    regular = np.flatnonzero((contacts["kind"] == 0) & np.isfinite(pair.gap_hessians()).all(axis=(1, 2)))
    if len(regular) == 0:
        return None
    chosen = rng.choice(regular)
    found = contacts[chosen], pair.gap_gradients()[chosen], pair.gap_hessians()[chosen]
    errors = difference_errors(a, b, pose, found, STEP)
    if errors is not None and max(errors) > RELATIVE:
        errors = difference_errors(a, b, pose, found, STEP / 8)
    return errors


def difference_errors(a, b, pose, expected, step):
    """Relative errors with one step; None if the contact is lost."""
    contact, gradient, hessian = expected
    other, size = feeler.ContactPair(a, b), max(a.size, b.size)
    scale = np.array([step * size] * 3 + [step] * 3)
    numeric, numeric_second = np.empty(6), np.empty((6, 6))
    for k in range(6):
        gaps, gradients = [], []
        for sign in (-1, 1):
            twist = np.zeros(6)
            twist[k] = sign * scale[k]
            range_now = contact["gap"] + 100 * STEP * size
            found = other.query(None, exponential(twist) @ pose, range_now, detect_interference=False)
            match = matching(found, contact, SAME_FOOTPOINT * size)
            if match is None:
                return None
            gaps.append(found["gap"][match])
            gradients.append(other.gap_gradients()[match])
        numeric[k] = (gaps[1] - gaps[0]) / (2 * scale[k])
        numeric_second[k] = (gradients[1] - gradients[0]) / (2 * scale[k])
    # The second derivatives along two twists one after the other differ from the Hessian by half their commutator.
    numeric_second = (numeric_second + numeric_second.T) / 2
    # In units of a step of the size and of a radian.
    units = np.array([size] * 3 + [1.0] * 3)
    first = np.abs((numeric - gradient) * units).max() / np.abs(gradient * units).max()
    weights = np.outer(units, units)
    second = np.abs((numeric_second - hessian) * weights).max() / max(np.abs(hessian * weights).max(), size)
    return first, second


def check_derivatives(count):
    """Number of violations."""
    rng, violations = np.random.default_rng(3), 0
    for names in PAIRS:
        a, b = map(body, names)
        errors, tried = [], 0
        while len(errors) < count // len(PAIRS) and tried < 20 * count:
            (row,) = poses_near(a, b, rng, 1)
            tried += 1
            pose = np.eye(4)
            x, y, z, w = row[3:]
            pose[:3, :3] = [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
            pose[:3, 3] = row[:3]
            found = derivative_errors(a, b, pose, rng)
            if found:
                errors.append(found)
                if max(found) > RELATIVE:
                    print(f"  {names} at {row.tolist()}: {found[0]:.1e}, {found[1]:.1e}", flush=True)
        largest = np.max(errors, axis=0)
        beyond = int((np.array(errors) > RELATIVE).any(axis=1).sum())
        violations += beyond
        print(
            f"{names[0]}, {names[1]}: {len(errors)} contacts of {tried} poses, largest relative errors "
            f"{largest[0]:.1e} (gradient), {largest[1]:.1e} (second derivatives), {beyond} beyond {RELATIVE}",
            flush=True,
        )
    return violations


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--poses", type=int, default=100_000)
    parser.add_argument("--derivatives", type=int, default=10_000)
    parser.add_argument("--model", type=Path, default=DATA / "perforated-plate.step")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measured(options)
        return 0
    wrong = []
    if (options.points or options.poses) and len({with_threads(count) for count in (1, 2)}) != 1:
        wrong.append("results with one and with two threads differ")
    if options.derivatives and (violations := check_derivatives(options.derivatives)):
        wrong.append(f"{violations} derivatives")
    print("; ".join(wrong) or "all requirements met")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
