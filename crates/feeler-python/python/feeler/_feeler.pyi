"""What is behind the package: its classes, and the doors of feeler.mujoco."""

from numpy.typing import NDArray

import numpy as np

from . import Body as Body
from . import Model as Model
from . import prepare as prepare

def mujoco_functions() -> list[int]:
    """Addresses of the functions for the entries of MuJoCo's table."""

def mujoco_begin(earlier: list[int], room: int, offsets: list[int]) -> None:
    """What stood in the table, where mj_maxContact is, and where time, positions, rotations, the length of a step
    and gravity are."""

def mujoco_register(
    model: int,
    geoms: list[tuple[int, str, Body, NDArray[np.float64], bool]],
    max_displacement: float | None,
    gap: float,
    depth: float,
) -> None:
    """Registers geoms of a model: number, name, solid, frame, and whether joints do not guide it, of each. `max_displacement` (mm) limits the bound
    of a step; `gap` (m) has been added to the gaps of each two geoms."""

def mujoco_forget(model: int) -> int:
    """Forgets a model; how many are left."""

def mujoco_states() -> int:
    """How many states are kept: of two geoms of one MjData each."""

def mujoco_counts(model: int) -> tuple[int, int, int, int, int] | None:
    """Of a model: failed calls, updates with unexplained interference, updates, steps that were not covered, and
    contacts that were dropped."""
