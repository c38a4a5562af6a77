"""Distance, containment, collision and time of impact beside trimesh, coal, python-fcl and Open CASCADE.

    python benches/peer_libraries.py MODELS [--scenario s1.json] [--budget 0.5] [--only NAME...] [--csv OUT] [--quick]

Needs the wheel and `pip install trimesh rtree scipy coal python-fcl cadquery-ocp`. MODELS is a folder with the files of
MODEL_FILES; --scenario adds the contact sets of an insertion. Ten models, each in five tasks with seeded inputs:

- distance and containment of points of a box a tenth larger than the model;
- distance and collision of the model and its copy at poses near contact;
- time of impact of the copy, which flies at the model.

Triangle libraries get meshes with chord errors of 1e-3 and 1e-4 of the size. Rates are inputs per second of processor
time on one thread; each library gets --budget seconds a task and answers a prefix of the inputs.

References: closed forms where the model has one (torus, cone, plate, ellipsoid); triangles, from which the exact
distance differs by at most the chord error; Open CASCADE, each difference being traced to the kernel that is wrong.
The exit status is 1 if one of these contradicts feeler, or if an aim is missed.
"""

import argparse
import csv
import os
import sys
from pathlib import Path

# Rates are those of one thread; set before feeler is imported.
os.environ["RAYON_NUM_THREADS"] = "1"

import numpy as np
import peers

import feeler

DATA = Path(__file__).resolve().parents[1] / "data"
MODEL_FILES = {
    "ctc-01": "nist-ctc-01-ap242.step",
    "coupler": "ur-tool-coupler.step",
    "flange": "io1-cocreate.step",
    "gear": "cycloidal-gear.step",
    "trigger": "so101-trigger.step",
}
CHORDS = (1e-3, 1e-4)
"""Chord errors of the meshes, as fractions of the size of the model."""
ROUNDING = 1e-9
"""Largest error compared with a closed form, as a fraction of the size."""
KERNELS = 1e-6
"""Largest difference of two exact kernels that is not traced, as a fraction of the size."""
REACH = 0.1
"""Range of distances of pairs, as a fraction of the size: feeler computes all minima up to it."""
POINT_AIM, SET_AIM = 1e6 / 10, 1e5 / 60
"""Smallest numbers of signed distances and of contact sets per second on one core."""
SEMI_AXES = np.array([16.0, 10.0, 7.0])


def torus(points, radius=20.0, tube=5.0):
    return np.hypot(np.hypot(points[:, 0], points[:, 1]) - radius, points[:, 2]) - tube


def cone(points, radius=12.0, height=30.0):
    """Cone with its base at z = 0, as a triangle in the plane of z and the distance from the axis."""
    r, z = np.hypot(points[:, 0], points[:, 1]), points[:, 2]
    slant = np.hypot(radius, height)
    along = np.clip(((radius - r) * radius + z * height) / slant, 0, slant)
    side = np.hypot(r - radius + along * radius / slant, z - along * height / slant)
    base = np.hypot(np.maximum(r - radius, 0), z)
    inside = (z > 0) & (r * height + z * radius < radius * height)
    return np.where(inside, -1, 1) * np.minimum(side, base)


def plate(points, half=45.0, thickness=6.0, hole=2.5):
    """Plate with 10 by 10 holes at a pitch of 8 mm, extruded from its section."""
    outside = np.abs(points[:, :2]) - half
    square = np.hypot(*np.maximum(outside, 0).T) + np.minimum(outside.max(axis=1), 0)
    centres = np.clip(np.round((points[:, :2] - 4) / 8) * 8 + 4, -36, 36)
    section = np.maximum(square, hole - np.hypot(*(points[:, :2] - centres).T))
    height = np.abs(points[:, 2]) - thickness / 2
    return np.hypot(np.maximum(section, 0), np.maximum(height, 0)) + np.minimum(np.maximum(section, height), 0)


def ellipsoid(points, axes=SEMI_AXES):
    """Distance by bisection of the equation for the multiplier of the footpoint."""
    y, squares = np.abs(points), axes**2
    low = np.max(axes * y - squares, axis=1)
    high = np.linalg.norm(axes * y, axis=1) - squares.min()
    for _ in range(120):
        middle = (low + high) / 2
        above = np.sum((axes * y / (middle[:, None] + squares)) ** 2, axis=1) > 1
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    foot = squares * y / (((low + high) / 2)[:, None] + squares)
    return np.where(np.sum((y / axes) ** 2, axis=1) < 1, -1, 1) * np.linalg.norm(y - foot, axis=1)


def grain(folder):
    """Ellipsoid as one NURBS face: the control points of a sphere, scaled along the axes."""
    text = (DATA / "sphere-nurbs.step").read_text()
    path = Path(folder) / "grain.step"
    path.write_text(peers.with_scaled_points(text, SEMI_AXES / 10))
    return path


def parts(models, folder, names):
    """Parts by name: file and closed form of the signed distance."""
    files = {
        "torus": (DATA / "torus.step", torus),
        "cone": (DATA / "cone.step", cone),
        "plate": (DATA / "perforated-plate.step", plate),
        **{name: (models / file, None) for name, file in MODEL_FILES.items()},
        "block": (DATA / "assemblies" / "rack.step", None),
        "grain": (grain(folder), ellipsoid),
    }
    for name in names or files:
        file, closed_form = files[name]
        yield peers.Part(name, file, closed_form, CHORDS)


def points_of(part, rng, count):
    low, high = part.body.bounds
    margin = 0.1 * (high - low)
    return rng.uniform(low - margin, high + margin, (count, 3))


def rotations(rng, count):
    quaternions = rng.normal(size=(count, 4))
    return quaternions / np.linalg.norm(quaternions, axis=1)[:, None]


def directions(rng, count):
    vectors = rng.normal(size=(count, 3))
    return vectors / np.linalg.norm(vectors, axis=1)[:, None]


def about_centre(part, quaternions, offsets):
    """Poses that turn the part about the centre of its box and then move it."""
    centre = part.body.bounds.mean(axis=0)
    turned = np.array([peers.matrix(q) @ centre for q in quaternions])
    return np.hstack([centre - turned + offsets, quaternions])


def poses_near(part, rng, count):
    """Poses of the copy, from deep interference to some gap."""
    quaternions, ways = rotations(rng, count), directions(rng, count)
    lengths = part.body.size * rng.uniform(0.1, 0.7, count)
    return about_centre(part, quaternions, ways * lengths[:, None])


def flights(part, rng, count):
    """Straight flights, shape (count, 2, 7): first and last pose, both with one orientation."""
    size = part.body.size
    quaternions, ways = rotations(rng, count), directions(rng, count)
    ends = directions(rng, count) * rng.uniform(0, 0.3, count)[:, None] * size
    return np.stack([about_centre(part, quaternions, offsets) for offsets in (1.2 * size * ways, ends)], axis=1)


class Table:
    """Rows of the report, and what contradicts feeler."""

    HEADER = ("model", "faces", "task", "library", "chord", "per second", "answers", "median error", "largest error")

    def __init__(self):
        self.rows, self.wrong, self.remarks = [], [], []

    def add(self, part, task, library, chord, answers, errors):
        errors = np.asarray(errors, dtype=float)
        errors = errors[np.isfinite(errors)]
        spread = (float(np.median(errors)), float(errors.max())) if len(errors) else (np.nan, np.nan)
        rate = len(answers.values) / max(answers.seconds, 1e-9)
        row = (part.name, part.faces, task, library, chord, rate, len(answers.values), *spread)
        self.rows.append(row)
        chord_text = f"{chord:.0e}" if chord else ""
        print(
            f"{part.name:8} {task:12} {library:16} {chord_text:6} {rate:12.4g} /s {row[6]:7} "
            f"{spread[0]:10.2e} {spread[1]:10.2e}",
            flush=True,
        )

    def require(self, is_right, message):
        if not is_right:
            self.wrong.append(message)
            print(f"WRONG: {message}", flush=True)

    def remark(self, message):
        self.remarks.append(message)
        print(f"  {message}", flush=True)


def compare_points(part, table, points, budget):
    ours = peers.timed(part.body.signed_distance, points, budget, all_at_once=True)
    contained = peers.timed(part.body.contains, points, budget, all_at_once=True)
    exact, size = ours.values, part.body.size
    errors = part.closed_form(points) - exact if part.closed_form else []
    table.add(part, "distance", "feeler", None, ours, np.abs(errors))
    if part.closed_form:
        worst = np.abs(errors).max()
        table.require(worst <= ROUNDING * size, f"{part.name}: {worst:.2e} mm from the closed form")
    table.add(part, "containment", "feeler", None, contained, [])
    table.require(
        np.array_equal(contained.values, exact < 0), f"{part.name}: contains() is not the sign of the distance"
    )
    for mesh in part.meshes:
        for library, function in peers.point_distances(mesh).items():
            answers = peers.timed(function, points, budget)
            n = len(answers.values)
            signed = library == "trimesh"
            errors = np.abs(answers.values - (exact[:n] if signed else np.abs(exact[:n])))
            table.add(part, "distance", library, mesh.chord, answers, errors)
            beyond = np.flatnonzero(errors > mesh.chord * 1.001 + peers.SLACK * size)
            for i in beyond:
                trace_mesh_point(part, mesh, table, library, points[i], exact[i], answers.values[i])
        answers = peers.timed(mesh.contains, points, budget)
        n = len(answers.values)
        differ = answers.values != (exact[:n] < 0)
        table.add(part, "containment", "trimesh", mesh.chord, answers, np.where(differ, np.abs(exact[:n]), 0))
        for i in np.flatnonzero(differ & (np.abs(exact[:n]) > mesh.chord * 1.001 + peers.SLACK * size)):
            inside = mesh.winding_number(points[i]) > 0.5
            table.require(
                inside != (exact[i] < 0), f"{part.name}: containment of {points[i]} differs from the mesh's"
            )
            table.remark(f"trimesh errs about containment at {points[i]}, {exact[i]:.3g} mm from the boundary")
    answers = peers.timed(part.kernel.point_distance, points, budget)
    n = len(answers.values)
    errors = np.abs(answers.values - np.abs(exact[:n]))
    table.add(part, "distance", "Open CASCADE", None, answers, errors)
    for i in np.flatnonzero(errors > KERNELS * size):
        trace_kernel_point(part, table, points[i], exact[i], answers.values[i])
    answers = peers.timed(part.kernel.contains, points, budget)
    n = len(answers.values)
    differ = answers.values != (exact[:n] < 0)
    table.add(part, "containment", "Open CASCADE", None, answers, np.where(differ, np.abs(exact[:n]), 0))
    for i in np.flatnonzero(differ & (np.abs(exact[:n]) > KERNELS * size)):
        inside = part.meshes[-1].winding_number(points[i]) > 0.5
        table.require(
            inside == (exact[i] < 0), f"{part.name}: containment of {points[i]} differs from Open CASCADE's"
        )
        table.remark(f"Open CASCADE errs about containment at {points[i]}, {exact[i]:.3g} mm from the boundary")


def trace_mesh_point(part, mesh, table, library, point, ours, theirs):
    """A difference beyond the chord error: the distance from all triangles and the winding number decide."""
    distance = mesh.brute_force_distance(point)
    inside = mesh.winding_number(point) > 0.5
    is_near = abs(distance - abs(ours)) <= mesh.chord * 1.001 + peers.SLACK * part.body.size
    is_right = is_near and (inside == (ours < 0) or abs(ours) <= mesh.chord)
    table.require(
        is_right, f"{part.name}: distance {ours:.9g} at {point}, triangles {distance:.9g}, {library} {theirs:.9g}"
    )
    table.remark(f"{library} errs about the distance at {point}: {theirs:.9g}, all triangles {distance:.9g}")


def trace_kernel_point(part, table, point, ours, theirs):
    """A difference of exact kernels: the smaller distance is right if its footpoint is on the boundary."""
    foot = part.body.nearest([point])["point"][0]
    off = part.kernel.point_distance([foot])[0]
    mesh = part.meshes[-1]
    triangles = mesh.brute_force_distance(point)
    is_right = abs(triangles - abs(ours)) <= mesh.chord * 1.001 and off <= KERNELS * part.body.size
    is_right &= abs(ours) < theirs or abs(triangles - theirs) > mesh.chord * 1.001
    table.require(
        is_right,
        f"{part.name}: distance {ours:.9g} at {point}, Open CASCADE {theirs:.9g}, triangles {triangles:.9g}, "
        f"footpoint {off:.2e} mm from the other kernel's boundary",
    )
    if is_right:
        table.remark(f"Open CASCADE misses the nearest point at {point}: {theirs:.9g} instead of {abs(ours):.9g}")


def compare_poses(part, table, poses, budget):
    pair, size = feeler.ContactPair(part.body, part.body), part.body.size
    reach = REACH * size
    ours = peers.timed(lambda p: pair.distances(poses_b=p, d_max=reach), poses, budget)
    verdicts = peers.timed(lambda p: pair.verdicts(poses_b=p), poses, budget)
    n = min(len(ours.values), len(verdicts.values))
    exact, verdict = ours.values[:n], verdicts.values[:n]
    status = verdict["status"]
    interferes = status == 2
    table.add(part, "pair", "feeler", None, ours, [])
    table.add(part, "collision", "feeler", None, verdicts, [])
    table.require(np.array_equal(np.isneginf(exact), interferes), f"{part.name}: distances and verdicts disagree")
    table.require(not (status == 3).any(), f"{part.name}: {np.sum(status == 3)} undecided verdicts")
    for i in np.flatnonzero(interferes):
        witness = verdict["witness"][i]
        both = np.array([witness, peers.into(poses[i], witness)])
        if not part.kernel.contains(both).all():
            trace_witness(part, table, both, i)
    apart = np.where(interferes, 0.0, exact)
    for mesh in part.meshes:
        allowed = 2 * mesh.chord * 1.001 + peers.SLACK * size
        for library, (distance, collide) in peers.pair_queries(mesh).items():
            answers = peers.timed(distance, poses[:n], budget)
            theirs = np.maximum(answers.values, 0)
            here = apart[: len(theirs)]
            comparable = ~interferes[: len(theirs)] & np.isfinite(here)
            errors = np.abs(theirs - here)
            table.add(part, "pair", library, mesh.chord, answers, errors[comparable])
            for i in np.flatnonzero((errors > allowed) & comparable):
                trace_pose(part, table, library, poses[i], here[i], theirs[i], i)
            too_near = ~interferes[: len(theirs)] & np.isinf(here) & (theirs < reach - allowed)
            table.require(
                not too_near.any(), f"{part.name}: {library} is nearer than the range at {np.flatnonzero(too_near)}"
            )
            answers = peers.timed(collide, poses[:n], budget)
            differ = answers.values != interferes[: len(answers.values)]
            depth = np.where(interferes, verdict["inside_a"] + verdict["inside_b"], exact)[: len(differ)]
            table.add(part, "collision", library, mesh.chord, answers, np.where(differ, depth, 0))
            false_alarms = differ & ~interferes[: len(differ)] & (depth > allowed)
            table.require(
                not false_alarms.any(), f"{part.name}: {library} collides at poses {np.flatnonzero(false_alarms)}"
            )
            missed = np.flatnonzero(differ & interferes[: len(differ)] & (depth > allowed))
            if len(missed):
                table.remark(f"{library} misses {len(missed)} collisions: no triangles intersect")
    answers = peers.timed(part.kernel.pair_distance, poses[:n], budget)
    theirs = answers.values
    here = apart[: len(theirs)]
    comparable = np.isfinite(here)
    errors = np.where(comparable, np.abs(theirs - np.where(comparable, here, 0)), 0)
    table.add(part, "pair", "Open CASCADE", None, answers, errors[comparable])
    for i in np.flatnonzero(errors > KERNELS * size):
        trace_pose(part, table, "Open CASCADE", poses[i], here[i], theirs[i], i)


def trace_witness(part, table, points, index):
    """A witness that Open CASCADE finds outside: the closed form or the triangles decide."""
    if part.closed_form:
        is_inside = (part.closed_form(points) < 0).all()
    else:
        is_inside = all(part.meshes[-1].winding_number(point) > 0.5 for point in points)
    table.require(is_inside, f"{part.name}: the witness of pose {index} is outside")
    if is_inside:
        table.remark(f"Open CASCADE errs about containment of the witness of pose {index}: {points.tolist()}")


def trace_pose(part, table, library, pose, ours, theirs, index):
    """A difference of distances of pairs. The footpoints of the smaller distance must be on both boundaries."""
    pair, size = feeler.ContactPair(part.body, part.body), part.body.size
    contacts = pair.query(pose_b=pose, d_max=REACH * size)
    if ours == 0.0:
        # Interfering, and the witness was confirmed: a positive distance is wrong.
        table.remark(f"{library} reports {theirs:.6g} mm at pose {index}, where the solids interfere")
        return
    contact = contacts[0]
    off = part.kernel.point_distance([contact["point_a"], peers.into(pose, contact["point_b"])]).max()
    length = np.linalg.norm(contact["point_b"] - contact["point_a"])
    is_right = ours < theirs and off <= KERNELS * size and abs(length - ours) <= KERNELS * size
    table.require(
        is_right, f"{part.name}: distance {ours:.9g} at pose {index}, {library} {theirs:.9g}, off {off:.2e} mm"
    )
    if is_right:
        table.remark(f"{library} misses the smallest distance at pose {index}: {theirs:.9g} instead of {ours:.9g}")


def compare_flights(part, table, motions, budget):
    body = part.body

    def impacts(some):
        paths = [feeler.Path.through([0, 1], motion) for motion in some]
        times = [feeler.time_of_contact(body, body, None, path).time for path in paths]
        return np.array([np.nan if time is None else time for time in times])

    ours = peers.timed(impacts, motions, budget)
    table.add(part, "impact", "feeler", None, ours, [])
    lengths = np.linalg.norm(motions[:, 1, :3] - motions[:, 0, :3], axis=1)
    begin = peers.processor_time()
    for i in np.flatnonzero(np.isfinite(ours.values)):
        check_impact(part, table, motions[i], ours.values[i], lengths[i])
        if peers.processor_time() - begin > budget:
            break
    for mesh in part.meshes:
        for solver, function in peers.impacts(mesh).items():
            answers = peers.timed(function, motions[: len(ours.values)], budget)
            n = len(answers.values)
            errors = np.abs(answers.values - ours.values[:n]) * lengths[:n]
            table.add(part, "impact", solver, mesh.chord, answers, errors)
            lost = np.isfinite(ours.values[:n]) != np.isfinite(answers.values)
            if lost.any():
                table.remark(f"{solver} and feeler disagree about {lost.sum()} of {n} impacts")
    check_flights(part, table, motions, ours.values)


def check_flights(part, table, motions, times):
    """At impacts triangles are within their error; free flights have a gap for Open CASCADE where it is smallest."""
    mesh = part.meshes[-1]
    distance = peers.pair_queries(mesh)["coal"][0]
    allowed = 2 * mesh.chord * 1.001 + peers.SLACK * part.body.size
    for i, time in enumerate(times):
        if np.isfinite(time):
            (gap,) = distance(peers.along(motions[i], [time]))
            table.require(gap <= allowed, f"{part.name}: triangles are {gap:.3g} mm apart at impact {i}")
        else:
            poses = peers.along(motions[i], np.linspace(0, 1, 65))
            (gap,) = part.kernel.pair_distance(poses[[np.argmin(distance(poses))]])
            table.require(gap > 0, f"{part.name}: Open CASCADE finds contact in free flight {i}")


def check_impact(part, table, motion, time, length):
    """At the impact Open CASCADE finds contact, and a micrometre or so before, a gap."""
    size = part.body.size
    gaps = part.kernel.pair_distance(peers.along(motion, [time, time - 1e-3 * size / length, 0.9 * time]))
    table.require(gaps[0] <= KERNELS * size, f"{part.name}: Open CASCADE finds {gaps[0]:.3g} mm at the impact")
    table.require((gaps[1:] > 0).all(), f"{part.name}: Open CASCADE finds contact before the impact")


def contact_sets(scenario, table, count):
    """Contacts of an insertion within two clearances, at poses between those of the file, in order."""
    text, bodies = peers.scenario(scenario)
    poses = peers.between(np.array(text["poses_b"], dtype=float), count)
    reach = 2 * text["clearance"]
    for name, verdict in (("contacts", False), ("contacts and verdicts", True)):
        pair, found = feeler.ContactPair(*bodies), np.empty(count)
        begin = peers.processor_time()
        for i, pose in enumerate(poses):
            contacts = pair.query(None, pose, reach, detect_interference=verdict)
            found[i] = contacts["distance"][0] if len(contacts) else np.inf
        rate = count / (peers.processor_time() - begin)
        print(f"{scenario.stem}: {rate:.0f} sets of {name} a second (aim {SET_AIM:.0f}), {count} poses in order")
        table.require(rate >= SET_AIM, f"{scenario.stem}: {rate:.0f} sets of {name} a second")
        cold = pair.distances(None, poses[:: max(count // 300, 1)], reach, detect_interference=False)
        warm = found[:: max(count // 300, 1)]
        same = (cold == warm) | (np.abs(cold - warm) <= 1e-12 * bodies[0].size)
        table.require(same.all(), f"{scenario.stem}: warm and cold distances differ at {np.flatnonzero(~same)}")


def point_rate(part, table, count):
    """Rate of the fastest of ten batches, because other programs slow down the others."""
    batches = np.split(points_of(part, np.random.default_rng(7), count), 10)
    seconds = [peers.timed(part.body.signed_distance, batch, 1e9, all_at_once=True).seconds for batch in batches]
    rate = count / 10 / min(seconds)
    print(
        f"{part.name}, {part.faces} faces: {count} signed distances in {sum(seconds):.2f} s of processor time, "
        f"at most {rate:.4g} a second (aim {POINT_AIM:.0e})"
    )
    table.require(rate >= POINT_AIM, f"{part.name}: {rate:.4g} signed distances a second")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path)
    parser.add_argument("--scenario", type=Path, help="insertion whose contact sets are timed")
    parser.add_argument("--budget", type=float, default=0.5, help="processor time of a library in a task (s)")
    parser.add_argument("--only", nargs="*", default=[], help="names of models")
    parser.add_argument("--csv", type=Path, help="file for the rows of the table")
    parser.add_argument("--quick", action="store_true", help="a tenth of the inputs of the two aims")
    options = parser.parse_args()
    table = Table()
    scale = 10 if options.quick else 1
    with peers.scratch() as folder:
        for part in parts(options.models, folder, options.only):
            rng = np.random.default_rng(1)
            compare_points(part, table, points_of(part, rng, 10_000), options.budget)
            compare_poses(part, table, poses_near(part, rng, 1_000), options.budget)
            compare_flights(part, table, flights(part, rng, 100), options.budget)
            if part.name in ("plate", "ctc-01"):
                point_rate(part, table, 1_000_000 // scale)
    if options.scenario:
        contact_sets(options.scenario, table, 100_000 // scale)
    if options.csv:
        with options.csv.open("w", newline="") as file:
            csv.writer(file).writerows([Table.HEADER, *table.rows])
    print("; ".join(table.wrong) or "nothing contradicts feeler, all aims met")
    return int(bool(table.wrong))


if __name__ == "__main__":
    sys.exit(main())
