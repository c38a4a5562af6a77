"""Extension module of the package: its classes, and the functions of feeler.mujoco."""

from numpy.typing import NDArray

import numpy as np

from . import Body as Body
from . import Model as Model
from . import prepare_step as prepare_step

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
