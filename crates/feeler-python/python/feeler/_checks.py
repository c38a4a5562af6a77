"""Checks of assemblies, motions and versions, which return values."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path as _FilePath
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _feeler
from ._results import (
    ClearanceReport,
    ContactMotion,
    ModelComparison,
    Passage,
    PourReport,
    RegressReport,
    SweepReport,
    Tessellation,
)

if TYPE_CHECKING:
    from . import Body, Model, Path, PourScene, Rules

_Input: TypeAlias = "str | os.PathLike[str] | Model"
_Motion: TypeAlias = "Path | ArrayLike | None"
_Progress: TypeAlias = "Callable[[int, int], object] | bool | None"

_BAR = 30


def _bar(done: int, total: int) -> None:
    """Progress bar on standard error."""
    filled = _BAR * done // total if total else 0
    end = "\n" if done == total and total else ""
    print(f"\r[{'#' * filled}{' ' * (_BAR - filled)}] {done}/{total}", end=end, file=sys.stderr, flush=True)


def _callback(progress: _Progress) -> Callable[[int, int], object] | None:
    if progress is None or progress is False:
        return None
    if progress is True:
        return _bar
    if not callable(progress):
        raise TypeError(f"progress: expected a function of two numbers, True or None, got {type(progress).__name__}")
    return progress


def _file(path: str | os.PathLike[str] | None) -> _FilePath | None:
    return None if path is None else _FilePath(path)


def clearance(
    *inputs: _Input,
    poses: Sequence[ArrayLike | None] | None = None,
    rules: Rules | str | os.PathLike[str] | None = None,
    d_max: float | None = None,
    tolerance: float | None = None,
    volume: bool = False,
    max_contacts: int = 50,
    baseline: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    progress: _Progress = None,
) -> ClearanceReport:
    """Checks which parts of assemblies touch, interfere or come too close, as the command `feeler clearance` does.

    inputs: paths of STEP or .feeler files, or Models. Parts of several inputs have paths that begin with the name of
    their file.
    poses: pose of each input in the world, None for those that stay where they are.
    rules: Rules, or the path of a file with rules; without rules, only interference is a finding.
    d_max: largest distance (mm) that is measured; default: that of the rules, or else 1 mm.
    tolerance: lengths (mm) below it count as zero; default: 1e-7 of the larger part.
    volume: whether to measure the overlap of all interfering pairs.
    max_contacts: maximum number of contacts that are kept for each pair.
    baseline: file with known findings, from ClearanceReport.write_baseline.
    threads: number of threads; default: one for each processor.
    progress: function that is called with the numbers of finished and of all pairs; True for a bar on standard error.

    A violated rule is not an error. Raises FileError, BodyError and QueryError. Ctrl-C interrupts the check.

    >>> rules = feeler.Rules("[[rule]]\\nname = 'play'\\na = 'pin*'\\nb = 'block'\\nmin = 0.2")
    >>> report = feeler.clearance("data/assemblies/rack.step", rules=rules)
    >>> [(p.path_b.split("/")[-1], p.finding, round(p.distance, 9)) for p in report.findings]
    [('pin_left:1', 'too-close', 0.1), ('pin_left:1', 'too-close', 0.1)]
    """
    if not inputs:
        raise TypeError("clearance: give at least one file or Model")
    return _feeler.clearance(
        list(inputs), None if poses is None else list(poses), rules, d_max, tolerance, volume, max_contacts,
        _file(baseline), threads, _callback(progress),
    )  # fmt: skip


def sweep(
    a: Body,
    b: Body,
    poses_a: ArrayLike | None = None,
    poses_b: ArrayLike | None = None,
    d_max: float = 1.0,
    *,
    dt: float | None = None,
    proof: bool = False,
    allow_touching: bool = False,
    progress: _Progress = None,
    **options: Any,
) -> SweepReport:
    """Queries two bodies at n successive poses; each query reuses the results of the previous one, so that contacts
    keep their ids along the motion.

    poses_a, poses_b: poses of A and B, as of ContactPair.contacts_at; a single pose stands for all steps.
    d_max: largest distance (mm) of contacts.
    dt: duration (s) of a step. It only scales the times of the result.
    proof: whether to prove that the bodies do not touch between the steps either, or to find the first contact.
    Successive poses are joined by screw motions.
    allow_touching: the proof excludes penetration instead of contact.
    progress: function that is called with the numbers of finished and of all steps; True for a bar.
    options: as of ContactPair.query, without detect_interference and verdict_unless_pressed.

    Raises QueryError with the step. Ctrl-C interrupts the sweep.

    >>> bore, pin = (feeler.prepare_step(f"data/{name}.step").body() for name in ("bore", "pin"))
    >>> slide = feeler.joint_poses([0, 0, 0], [0, 0, 1], lengths=[0, 30], steps=10)
    >>> feeler.sweep(bore, pin, poses_b=slide, proof=True)
    <SweepReport: 11 steps: 11 separated; between the steps: free>
    """
    return _feeler.sweep(
        a, b, poses_a, poses_b, d_max, dt, proof, allow_touching, _callback(progress), **options
    )


def time_of_contact(
    a: Body,
    b: Body,
    path_a: _Motion = None,
    path_b: _Motion = None,
    *,
    distance: float = 0.0,
    max_queries: int | None = None,
    d_max: float = 0.0,
    **options: Any,
) -> Passage:
    """First time at which the distance of two moving bodies falls to `distance`, or the proof that it never does.

    path_a, path_b: Path of each body, or the pose of a body at rest.
    distance: distance (mm) that counts as contact.
    max_queries: maximum number of queries; the motion after the last one is undecided.
    d_max: range (mm) of the queries beyond `distance`; 0 for a fiftieth of the sizes of both bodies.
    options: `tolerance`, `certified` and `parallel` as of ContactPair.query.

    Raises QueryError. Ctrl-C raises KeyboardInterrupt at once; the computation then ends in the background.

    >>> ball = feeler.prepare_step("data/sphere.step").body()  # radius 10
    >>> path = feeler.Path.through([0, 2], [[30, 0, 0], [-30, 0, 0]])
    >>> round(feeler.time_of_contact(ball, ball, None, path).time, 9)
    0.333333333
    """
    return _feeler.time_of_contact(
        a, b, path_a, path_b, distance, max_queries, d_max, **options
    )


def first_penetration(
    a: Body,
    b: Body,
    path_a: _Motion = None,
    path_b: _Motion = None,
    *,
    depth: float = 0.0,
    max_queries: int | None = None,
    d_max: float = 0.0,
    **options: Any,
) -> ContactMotion:
    """First time at which two moving bodies penetrate each other deeper than `depth`, or the proof that they do not.
    Contact is allowed.

    depth: depth (mm) that counts as contact; 0 for twice the tolerance. Other arguments as of time_of_contact.

    Raises QueryError. Ctrl-C raises KeyboardInterrupt at once; the computation then ends in the background.

    >>> ball = feeler.prepare_step("data/sphere.step").body()  # radius 10
    >>> path = feeler.Path.through([0, 1], [[0, 0, 30], [0, 0, 10]])
    >>> motion = feeler.first_penetration(ball, ball, None, path)
    >>> motion.result, round(motion.time, 5)
    ('penetration', 0.5)
    """
    return _feeler.first_penetration(
        a, b, path_a, path_b, depth, max_queries, d_max, **options
    )


def joint_poses(
    point: ArrayLike,
    direction: ArrayLike,
    *,
    angles: Sequence[float] = (0.0, 0.0),
    lengths: Sequence[float] = (0.0, 0.0),
    steps: int,
) -> NDArray[np.float64]:
    """Poses of a body that a joint moves in equal steps, shape (steps + 1, 7): x, y, z, and a quaternion x, y, z, w.

    point, direction: axis of the joint (mm, world); the direction has any length above 0.
    angles: rotation (rad) about the axis at the start and at the end, at most a quarter turn in a step.
    lengths: translation (mm) along the axis at the start and at the end.

    Raises QueryError.

    >>> feeler.joint_poses([0, 0, 0], [0, 0, 1], lengths=[0, 10], steps=2)[:, :3].tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 5.0], [0.0, 0.0, 10.0]]
    """
    return _feeler.joint_poses(point, direction, list(angles), list(lengths), steps)


def diff(
    old: _Input,
    new: _Input,
    *,
    length: float = 1e-6,
    relative: float = 1e-9,
    angle: float = 1e-6,
) -> ModelComparison:
    """Differences between two versions of a model: parts that are new, gone, renamed or moved, and changes of their
    faces, counts, areas, volumes and inertia.

    old, new: paths of STEP or .feeler files, or Models.
    length: tolerance (mm) of positions and sizes. relative: tolerance of areas, volumes and inertia, relative to the
    larger value. angle: tolerance (rad) of directions.

    Raises FileError and QueryError. Ctrl-C interrupts the comparison.

    >>> found = feeler.diff("data/pin.step", "data/pin-short.step")
    >>> found.changed_count, any(d.kind == "mass" for d in found.differences)
    (1, True)
    """
    return _feeler.diff(old, new, length, relative, angle)


def regress(
    suite: str | os.PathLike[str],
    *,
    only: Sequence[str] = (),
    bless: bool = False,
    threads: int | None = None,
    progress: _Progress = None,
) -> RegressReport:
    """Compares models and pairs of a suite with golden results, as the command `feeler regress` does.

    suite: path of the suite (docs/INTERFACE.md, "regress").
    only: patterns of the names of the entries that are run; all entries if empty.
    bless: whether to record the results as golden results. The report then compares them with the earlier ones.
    threads, progress: as of clearance, for entries.

    A difference is not an error. Raises FileError. Ctrl-C interrupts the run.

    >>> feeler.regress("data/suite.toml", only=["bore*"]).is_same
    True
    """
    if isinstance(only, str):
        only = [only]
    return _feeler.regress(_FilePath(suite), list(only), bless, threads, _callback(progress))


def pour(
    scene: PourScene | str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    fresh: bool = False,
    threads: int | None = None,
    progress: _Progress = None,
) -> PourReport:
    """Simulates the pouring of grains, and writes rows, frames for ParaView and checkpoints to a folder.

    scene: PourScene, or the path of a scene file (docs/POUR.md).
    folder: folder of the run. A run that was interrupted continues from its checkpoint.
    fresh: whether to start at the beginning and remove earlier results in the folder.
    threads, progress: as of clearance, for rows.

    Raises FileError. Ctrl-C raises KeyboardInterrupt at once; the run finishes its current row in the background and
    writes a checkpoint, from which the next call continues.

    >>> text = '''end = 0.02
    ... law.steel = { normal = 500.0, restitution = 0.5 }
    ... wall = [{ name = 'floor', plane = { point = [0, 0, 0], normal = [0, 0, 1] } }]
    ... grains = [{ sphere = { diameter = 4 }, density = 2500, number = 2,
    ...             region = { box = [[-9, -9, 1], [9, 9, 19]] } }]
    ... output = { rows = 0.01 }'''
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = feeler.pour(feeler.PourScene(text), folder)
    >>> report.time, report.particle_count, report.series["grains"].tolist()
    (0.02, 2, [2.0, 2.0, 2.0])
    """
    if isinstance(scene, (str, os.PathLike)):
        scene = _feeler.PourScene.read(scene)
    return _feeler.pour(scene, _FilePath(folder), fresh, threads, _callback(progress))


def tessellate(
    labels: ArrayLike | str | os.PathLike[str],
    *,
    spacing: float | Sequence[float] | None = None,
    origin: Sequence[float] | None = None,
    periodic: bool | Sequence[bool] = False,
    voronoi: bool = False,
    min_edge: float | None = None,
    tolerance: float = 1e-6,
    max_iterations: int = 1000,
    derivative_free: bool = False,
    threads: int | None = None,
    progress: _Progress = None,
) -> Tessellation:
    """Fits convex cells to the grains of a voxel image, as the command `feeler tessellate` does (docs/TESSELLATIONS.md).

    labels: array of integers, shape (nx, ny, nz): labels[i, j, k] is the grain of a voxel, 0 a voxel outside of all
    grains. Stacks of slices usually have the shape (nz, ny, nx): pass stack.T. Or the path of an image file.
    spacing: edge lengths of a voxel; default: those of the file, otherwise 1.
    origin: position of the lower corner of the image; default: that of the file, otherwise 0.
    periodic: whether the image repeats along each axis.
    voronoi: whether to fit ordinary Voronoi cells, without weights.
    min_edge: length below which edges are merged into vertices.
    tolerance: the fit ends when an iteration decreases the root mean square distance by less than this, in mean grain
    diameters.
    max_iterations: maximum number of iterations; the result then has is_converged = False.
    derivative_free: whether to fit site by site without derivatives, which is slower.
    threads, progress: as of clearance, for iterations; the total is max_iterations.

    Raises ValueError, FileError and QueryError. Ctrl-C interrupts the fit after the current iteration.

    >>> x, y, z = np.indices((12, 12, 12))
    >>> cells = feeler.tessellate(np.where(x + y < 12, 1, 2), spacing=0.5)
    >>> cells.volumes.round().tolist(), cells.is_converged
    ([117.0, 99.0], True)
    """
    edges = None if spacing is None else np.broadcast_to(np.asarray(spacing, dtype=float), 3).tolist()
    axes = np.broadcast_to(np.asarray(periodic, dtype=bool), 3).tolist()
    corner = None if origin is None else np.asarray(origin, dtype=float).tolist()
    image = _FilePath(labels) if isinstance(labels, (str, os.PathLike)) else np.asarray(labels)
    return _feeler.tessellate(
        image, edges, corner, axes, voronoi, derivative_free, tolerance, max_iterations, min_edge, threads,
        _callback(progress),
    )  # fmt: skip
