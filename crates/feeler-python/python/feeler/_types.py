"""Types of results that are defined in Python."""

from typing import NamedTuple


class StepBound(NamedTuple):
    """Bound of the motion of B relative to A in one step."""

    rotation: float
    displacement: float
