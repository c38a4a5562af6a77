"""Extension module of the package: its classes, and the functions of feeler.mujoco and of the package's checks."""

from collections.abc import Callable, Sequence
from pathlib import Path as FilePath
from typing import Any

from numpy.typing import ArrayLike, NDArray

import numpy as np

from . import Body as Body
from . import (
    ClearanceReport,
    ContactMotion,
    ModelComparison,
    Passage,
    PourReport,
    RegressReport,
    SweepReport,
    Tessellation,
)
from . import Model as Model
from . import PourScene as PourScene
from . import Rules as Rules
from . import prepare_step as prepare_step

deformable: Any
"""Classes of feeler.deformable."""

def mujoco_functions() -> list[int]:
    """Addresses of the functions for the entries of MuJoCo's table."""

def mujoco_begin(earlier: list[int], max_contacts: int, offsets: list[int]) -> None:
    """Stores the earlier entries of the table, the address of mj_maxContact, and the offsets of the time and of the
    positions and rotations of geoms in MjData and of the time step and gravity in MjModel."""

def mujoco_register(
    model: int,
    geoms: list[tuple[int, str, Body, NDArray[np.float64], bool]],
    max_displacement: float | None,
    gap: float,
    depth: float,
) -> None:
    """Registers geoms of a model, each with its number, name, solid and frame, and whether it is fixed or has a free
    joint. `max_displacement` (mm) limits the bound of a step; `gap` (m) is the sum that was added to the gaps of two
    geoms."""

def mujoco_forget(model: int) -> int:
    """Removes a model and the states of its data; returns the number of remaining models."""

def mujoco_states() -> int:
    """Number of states, each of two geoms of one MjData."""

def mujoco_counts(model: int) -> tuple[int, int, int, int, int] | None:
    """Counts of a model: failed calls, updates with unexplained interference, updates, uncovered steps, and dropped
    contacts. None for an unknown model."""

def run_program(arguments: list[str]) -> tuple[int, str, str]:
    """Runs the program as feeler.run, in a process that a signal ends."""

def clearance(
    inputs: list[Any],
    poses: list[ArrayLike | None] | None,
    rules: Any,
    d_max: float | None,
    tolerance: float | None,
    volume: bool,
    max_contacts: int,
    baseline: FilePath | None,
    threads: int | None,
    progress: Callable[[int, int], object] | None,
) -> ClearanceReport:
    """Clearance of assemblies, as feeler.clearance. This and the following functions have no default values."""

def write_baseline(path: FilePath, findings: Sequence[tuple[str, str, str]]) -> None:
    """Writes findings, each with the paths of its parts, as a baseline file."""

def sweep(
    a: Body,
    b: Body,
    poses_a: ArrayLike | None,
    poses_b: ArrayLike | None,
    d_max: float,
    dt: float | None,
    proof: bool,
    allow_touching: bool,
    progress: Callable[[int, int], object] | None,
    **options: Any,
) -> SweepReport:
    """Queries along a trajectory, as feeler.sweep."""

def time_of_contact(
    a: Body,
    b: Body,
    path_a: Any,
    path_b: Any,
    distance: float,
    max_queries: int | None,
    d_max: float,
    **options: Any,
) -> Passage:
    """First contact of a motion, as feeler.time_of_contact."""

def first_penetration(
    a: Body,
    b: Body,
    path_a: Any,
    path_b: Any,
    depth: float,
    max_queries: int | None,
    d_max: float,
    **options: Any,
) -> ContactMotion:
    """First penetration of a motion, as feeler.first_penetration."""

def joint_poses(
    point: ArrayLike, direction: ArrayLike, angles: list[float], lengths: list[float], steps: int
) -> NDArray[np.float64]:
    """Poses of a joint, as feeler.joint_poses."""

def diff(old: Any, new: Any, length: float, relative: float, angle: float) -> ModelComparison:
    """Comparison of two models, as feeler.diff."""

def regress(
    suite: FilePath,
    only: list[str],
    bless: bool,
    threads: int | None,
    progress: Callable[[int, int], object] | None,
) -> RegressReport:
    """Comparison with golden results, as feeler.regress."""

def pour(
    scene: PourScene,
    folder: FilePath,
    fresh: bool,
    threads: int | None,
    progress: Callable[[int, int], object] | None,
) -> PourReport:
    """Simulation of a scene, as feeler.pour."""

def tessellate(
    image: FilePath | NDArray[Any],
    spacing: list[float] | None,
    origin: list[float] | None,
    periodic: list[bool],
    voronoi: bool,
    derivative_free: bool,
    tolerance: float,
    max_iterations: int,
    min_edge: float | None,
    threads: int | None,
    progress: Callable[[int, int], object] | None,
) -> Tessellation:
    """Cells of a voxel image, as feeler.tessellate."""

def write_cells(
    path: FilePath,
    labels: NDArray[np.uint32],
    weights: NDArray[np.float64],
    vertices: NDArray[np.float64],
    cell_offsets: NDArray[np.int64],
    face_neighbours: NDArray[np.int64],
    face_offsets: NDArray[np.int64],
    face_vertices: NDArray[np.uint32],
) -> None:
    """Writes the cells of a Tessellation to a file; the extension of the name selects the format."""
