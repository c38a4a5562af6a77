"""What is behind the package: its classes, and the doors of feeler.mujoco."""

from numpy.typing import NDArray

import numpy as np

from . import Body as Body
from . import Model as Model
from . import prepare as prepare

def mujoco_functions() -> list[int]:
    """Addresses of the functions for the entries of MuJoCo's table."""

def mujoco_begin(earlier: list[int], room: int, offsets: list[int]) -> None:
    """What stood in the table, where mj_maxContact is, and where time, positions, rotations and the length of a
    step are."""

def mujoco_register(
    model: int,
    geoms: list[tuple[int, str, Body, NDArray[np.float64]]],
    reach: float,
    grows: bool,
    gap: float,
    depth: float,
) -> None:
    """Registers geoms of a model: number, name, solid and frame of each. The reach (mm) grows with the
    relative speed of a pair if `grows`; `gap` (m) has been added to the gaps of each two geoms."""

def mujoco_forget(model: int) -> int:
    """Forgets a model; how many are left."""

def mujoco_states() -> int:
    """How many states are kept: of two geoms of one MjData each."""

def mujoco_counts(model: int) -> tuple[int, int] | None:
    """Of a model: queries that failed, and those whose contacts do not tell how the solids stand."""
