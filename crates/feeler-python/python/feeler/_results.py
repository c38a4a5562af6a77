"""Results of checks: plain data that can be pickled. Missing values: None, in arrays of numbers nan. Distances beyond the
measured range: inf. Lengths are in mm, angles in rad."""

from __future__ import annotations

import importlib
import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _feeler, _show

_Array = NDArray[np.float64]
_StatusName = Literal["separated", "touching", "interfering", "undecided"]
_FindingName = Literal[
    "interferes", "undecided", "failed", "within-accuracy", "too-close", "touches", "does-not-touch"
]

_STATUS: tuple[_StatusName, ...] = ("separated", "touching", "interfering", "undecided")
_NOWHERE = np.full(3, np.nan)


def _package(name: str, user: str) -> Any:
    """Imports an optional package; the error says how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{user} needs the package {name}: pip install {name}", name=name) from error


class _Result:
    """Base class of results. Objects are equal if all their values are equal."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        pairs = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))  # type: ignore[arg-type]
        return all(_is_equal(a, b) for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]


def _is_equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and a.dtype.names is None:
        return isinstance(b, np.ndarray) and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, (np.ndarray, np.void)):
        return type(a) is type(b) and a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(_is_equal(a[k], b[k]) for k in a)
    return bool(a == b)


class _Table(_Result):
    """Result that is a table, with a row for each entry."""

    def _columns(self) -> dict[str, Any]:
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """Table as a pandas.DataFrame. Raises ImportError if pandas is not installed."""
        return _package("pandas", f"{type(self).__name__}.to_pandas()").DataFrame(self._columns())

    def to_arrow(self) -> Any:
        """Table as a pyarrow.Table. Raises ImportError if pyarrow is not installed."""
        return _package("pyarrow", f"{type(self).__name__}.to_arrow()").table(self._columns())

    def _summary(self) -> str:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        columns = self._columns()
        rows = list(zip(*(list(column) for column in columns.values()), strict=True))
        return _show.report_html(self._summary(), list(columns), rows)


def _numbers(values: Any) -> _Array:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def _points(prefix: str, points: list[_Array | None]) -> dict[str, _Array]:
    table = np.array([_NOWHERE if point is None else point for point in points]).reshape(-1, 3)
    return {f"{prefix}_{axis}": table[:, i].copy() for i, axis in enumerate("xyz")}


@dataclass(frozen=True, eq=False)
class Part(_Result):
    """Placed solid of an assembly.

    >>> report = feeler.clearance("data/assemblies/rack.step")
    >>> report.parts[0].path, report.parts[0].pose.shape
    ('rack/lower/block', (4, 4))
    """

    name: str
    """Name of the part's product."""
    path: str
    """Names from the root of the assembly to the part, joined by '/'; unique in a check."""
    model: int
    """Index of the part's input in the arguments."""
    solid: int
    """Index of the part's solid in its model."""
    pose: _Array
    """Pose of the solid in the world, 4x4."""


@dataclass(frozen=True, eq=False)
class Overlap(_Result):
    """Common part of two interfering solids.

    >>> ball = feeler.prepare_step("data/sphere.step").body()  # radius 10
    >>> overlap = feeler.ContactPair(ball, ball).overlap(pose_b=[19, 0, 0])
    >>> [float(point[0].round(6)) for point in (overlap.bbox_min, overlap.centroid, overlap.bbox_max)]
    [9.0, 9.5, 10.0]
    """

    volume: float
    """Volume (mm3)."""
    error: float
    """Estimated error of the volume (mm3); not a bound."""
    method: Literal["faces", "displaced", "lines"]
    """Method of the volume: integrals over faces; the same, extrapolated from small displacements of B, because faces
    coincide or are tangent; or, less exact, lengths of parallel lines."""
    centroid: _Array
    """Centroid, world coordinates (mm)."""
    bbox_min: _Array
    """Smallest coordinates of the box around the common part, world coordinates (mm)."""
    bbox_max: _Array
    """Largest coordinates of the box around the common part, world coordinates (mm)."""


@dataclass(frozen=True, eq=False)
class Fit(_Result):
    """Standard fit of two parts: a shaft in a coaxial hole, or a thread.

    >>> feeler.Fit(kind="running", hole_in=0, hole_diameter=10.25, shaft_diameter=10.0).play
    0.25
    """

    kind: Literal["thread", "press", "running"]
    hole_in: int
    """Position of the part with the hole in the pair: 0 or 1."""
    hole_diameter: float | None
    """Diameter of the hole; None for threads with helical flanks."""
    shaft_diameter: float | None
    """Diameter of the shaft; None for threads with helical flanks."""

    @property
    def play(self) -> float | None:
        """Diameter of the hole minus that of the shaft: positive for play, negative for overlap."""
        if self.hole_diameter is None or self.shaft_diameter is None:
            return None
        return self.hole_diameter - self.shaft_diameter


@dataclass(frozen=True, eq=False)
class ClearancePair(_Result):
    """Pair of parts in a ClearanceReport.

    >>> pair = feeler.clearance("data/assemblies/rack.step", d_max=1).pairs[0]
    >>> pair.path_a, pair.path_b, pair.status, round(pair.distance, 9), len(pair.contacts) > 0
    ('rack/upper/block', 'rack/upper/pin_left:1', 'separated', 0.1, True)
    """

    part_a: int
    """Index of the first part in ClearanceReport.parts."""
    part_b: int
    """Index of the second part, larger than part_a."""
    path_a: str
    path_b: str
    status: _StatusName | None
    """Relation of the parts; None if the query failed, or if they are farther apart than d_max."""
    finding: _FindingName | None
    """What is wrong with the pair: the rule that is violated, or interference; None if nothing is."""
    is_known: bool
    """Whether the baseline contains the finding."""
    rule: str | None
    """Name of the rule that decides about the pair."""
    min: float | None
    """Smallest distance that the rule allows."""
    distance: float | None
    """Distance of the nearest contact; None if there is none within d_max. If the parts interfere, only a contact at a
    negative distance counts, because others are at other places."""
    point_a: _Array | None
    """Footpoint of the nearest contact on the first part, in the world."""
    point_b: _Array | None
    depth: float
    """Lower bound of the length of any translation that separates interfering parts; 0 for other parts."""
    witness: _Array | None
    """Point inside both parts, if they interfere."""
    accuracy: float
    """Accuracy of the geometry where the parts interfere: smaller depths are within the accuracy of the model."""
    tolerance: float | None
    """Tolerance of the query: lengths below it counted as zero."""
    decided_at: float | None
    """Tolerance, if it is coarser than the default one, which left the pair undecided."""
    fit: Fit | None
    overlap_volume: float | None
    """Volume (mm³) of the common part, if the parts interfere and the volume was measured."""
    overlap_error: float | None
    """Bound of the error of overlap_volume."""
    contact_count: int
    """Number of all contacts within d_max, including those that `contacts` omits."""
    contacts: NDArray[np.void]
    """The nearest contacts, an array of contact_dtype."""
    error: str | None
    """Reason why the query failed."""


@dataclass(frozen=True, eq=False)
class ClearanceReport(_Table):
    """Result of clearance(): pairs with new findings first, then those with known findings, then all other pairs
    within d_max, nearest first.

    >>> report = feeler.clearance("data/assemblies/rack.step", d_max=1)
    >>> report
    <ClearanceReport: 7 parts, 2 near pairs: 0 findings>
    >>> report.count("separated"), report.findings
    (2, ())
    """

    parts: tuple[Part, ...]
    pairs: tuple[ClearancePair, ...]
    pair_count: int
    """Number of all pairs of parts."""
    ignored_count: int
    """Number of pairs that the rules exclude."""
    near_count: int
    """Number of measured pairs: those within d_max that the rules do not exclude."""
    d_max: float
    """Distance up to which pairs were measured."""
    unmatched_rules: tuple[str, ...]
    """Names of rules that match no pair."""
    fixed_count: int
    """Number of findings of the baseline that were not found again."""
    left_out: tuple[str, ...]
    """Solids and components of the inputs that could not be prepared and were not checked, with the reasons."""

    @property
    def findings(self) -> tuple[ClearancePair, ...]:
        """Pairs with findings that the baseline does not contain, most severe first."""
        return tuple(pair for pair in self.pairs if pair.finding is not None and not pair.is_known)

    def count(self, status: _StatusName) -> int:
        """Number of measured pairs with this status."""
        return sum(pair.status == status for pair in self.pairs)

    def write_baseline(self, path: str | os.PathLike[str]) -> None:
        """Writes all findings, known ones included, to a file for the argument `baseline` of clearance(). Raises
        FileError."""
        from . import _feeler

        findings = [(p.path_a, p.path_b, p.finding) for p in self.pairs if p.finding is not None]
        _feeler.write_baseline(Path(path), findings)

    def _columns(self) -> dict[str, Any]:
        pairs = self.pairs
        columns: dict[str, Any] = {
            "part_a": [p.path_a for p in pairs],
            "part_b": [p.path_b for p in pairs],
            "status": [p.status for p in pairs],
            "finding": [p.finding for p in pairs],
            "is_known": np.array([p.is_known for p in pairs], dtype=bool),
            "rule": [p.rule for p in pairs],
            "min": _numbers(p.min for p in pairs),
            "distance": _numbers(p.distance for p in pairs),
            "depth": _numbers(p.depth for p in pairs),
            "overlap_volume": _numbers(p.overlap_volume for p in pairs),
            "fit": [p.fit and p.fit.kind for p in pairs],
            "play": _numbers(p.fit and p.fit.play for p in pairs),
        }
        # The location of an interference is its witness, as in feeler.h.
        columns |= _points("point_a", [p.point_a if p.witness is None else p.witness for p in pairs])
        columns |= _points("point_b", [p.point_b if p.witness is None else p.witness for p in pairs])
        return columns | {"error": [p.error for p in pairs]}

    def _summary(self) -> str:
        return f"{len(self.parts)} parts, {self.near_count} near pairs: {len(self.findings)} findings"

    def __repr__(self) -> str:
        return f"<ClearanceReport: {self._summary()}>"


@dataclass(frozen=True, eq=False)
class Passage(_Result):
    """First contact of two moving bodies, or the proof that there is none: result of time_of_contact().

    >>> ball = feeler.prepare_step("data/sphere.step").body()  # radius 10
    >>> path = feeler.Path.through([0, 1], [[0, 0, 30], [0, 0, 10]])
    >>> passage = feeler.time_of_contact(ball, ball, None, path)
    >>> passage.result, round(passage.time, 9), passage.contact["point_a"].round(9).tolist()
    ('contact', 0.5, [0.0, 0.0, 10.0])
    """

    result: Literal["free", "contact", "in-contact", "undecided"]
    """Proven to stay apart; in contact from `time` on; in contact at all sampled times; or proven to stay apart only
    until `free_until`."""
    time: float | None
    """Time of the first contact."""
    contact: Any
    """The contact at that time, a record of contact_dtype; None without a contact."""
    closing_speed: float | None
    """Speed (mm per unit of time) at which the distance decreases at the contact."""
    grazing: bool
    """Whether the bodies only graze each other."""
    free_until: float | None
    start: _StatusName | None
    """Relation of the bodies at time 0."""
    left: float | None
    """Time at which the bodies leave the contact in which the motion starts."""
    min_distance: float | None
    """Smallest distance that was computed; None if the bodies were always farther apart than the range."""
    min_time: float | None
    """Time of the smallest distance."""
    query_count: int

    @property
    def is_proven_free(self) -> bool:
        """Whether the bodies are proven to stay apart during the whole motion."""
        return self.result == "free" and self.left is None

    def _repr_html_(self) -> str:
        return _show.facts_html(self)


@dataclass(frozen=True, eq=False)
class ContactMotion(_Result):
    """First penetration of two moving bodies that may touch, or the proof that there is none: result of
    first_penetration().

    >>> bore, pin = (feeler.prepare_step(f"data/{name}.step").body() for name in ("bore", "pin"))
    >>> path = feeler.Path.through([0, 1], [[0, 0, 0], [0.02, 0, 0]])
    >>> feeler.first_penetration(bore, pin, None, path).result
    'free'
    """

    result: Literal["free", "contact", "penetration", "undecided"]
    """Proven to stay apart; proven to penetrate nowhere deeper than max_depth; deeper from `time` on; or proven only
    until `free_until`."""
    time: float | None
    """Time from which on the bodies penetrate each other deeper than max_depth."""
    contact: Any
    """Deepest contact at that time, a record of contact_dtype; None if none was found."""
    depth: float | None
    """Largest depth that was found while the penetration lasts, a lower bound of its maximum: the depth of the deepest
    contact, or the sum of the distances of a common point from both boundaries if that is larger."""
    depth_time: float | None
    max_depth: float
    """Depth that counts as contact."""
    contact_time: float | None
    """Time of the first contact that was found."""
    free_until: float | None
    min_distance: float | None
    """Smallest signed distance that was computed."""
    min_time: float | None
    query_count: int

    @property
    def is_proven_free(self) -> bool:
        """Whether the bodies are proven to stay apart during the whole motion."""
        return self.result == "free"

    def _repr_html_(self) -> str:
        return _show.facts_html(self)


@dataclass(frozen=True, eq=False)
class SweepReport(_Table):
    """Result of sweep(): a row for each of n steps.

    >>> bore, pin = (feeler.prepare_step(f"data/{name}.step").body() for name in ("bore", "pin"))
    >>> report = feeler.sweep(bore, pin, poses_b=[[0, 0, 0], [0.02, 0, 0], [0.2, 0, 0]])
    >>> report.status
    ['separated', 'separated', 'interfering']
    >>> report.min_distances[:2].round(9).tolist(), len(report.contacts_at(1)) > 0
    ([0.05, 0.03], True)
    >>> (report.depths > 0).tolist()
    [False, False, True]
    """

    times: _Array
    """Time of each step: seconds if dt was given, else the index of the step."""
    verdicts: NDArray[np.void]
    """Verdict at each step, an array of verdict_dtype."""
    offsets: NDArray[np.int64]
    """Offsets into `contacts`, shape (n + 1,)."""
    contacts: NDArray[np.void]
    """Contacts of all steps, an array of contact_dtype. Those of step i are contacts[offsets[i] : offsets[i + 1]]."""
    tolerances: _Array
    """Tolerance of each verdict."""
    decided_at: _Array
    """Tolerance of the verdict, if it is coarser than the default one, which left the step undecided; else nan."""
    seconds: _Array
    """Duration of each query (s)."""
    motion: Passage | ContactMotion | None
    """Result between the steps; None without proof=True."""

    @property
    def status(self) -> list[_StatusName]:
        """Status at each step."""
        return [_STATUS[k] for k in self.verdicts["status"]]

    @property
    def min_distances(self) -> _Array:
        """Smallest distance at each step; inf if no contact is within d_max."""
        return np.asarray(self.verdicts["min_distance"])

    @property
    def depths(self) -> _Array:
        """Depth at each step: that of the deepest contact, or the sum of the distances of the witness from both
        boundaries if that is larger; 0 without interference."""
        witness = self.verdicts["inside_a"] + self.verdicts["inside_b"]
        depths = np.maximum(witness, -self.verdicts["min_distance"])
        return np.where(self.verdicts["status"] == _STATUS.index("interfering"), depths, 0.0)

    def contacts_at(self, step: int) -> NDArray[np.void]:
        """Contacts of a step, an array of contact_dtype; negative steps count from the end. Raises IndexError."""
        step = range(len(self.times))[step]
        return self.contacts[self.offsets[step] : self.offsets[step + 1]]

    def __len__(self) -> int:
        return len(self.times)

    def _columns(self) -> dict[str, Any]:
        columns = {
            "time": self.times,
            "status": self.status,
            "min_distance": self.min_distances,
            "contact_count": np.diff(self.offsets),
        }
        witness = np.asarray(self.verdicts["witness"])
        columns |= {f"witness_{axis}": witness[:, i].copy() for i, axis in enumerate("xyz")}
        return columns | {"tolerance": self.tolerances, "seconds": self.seconds}

    def _summary(self) -> str:
        status = self.status
        counts = ", ".join(f"{status.count(name)} {name}" for name in _STATUS if name in status)
        motion = f"; between the steps: {self.motion.result}" if self.motion else ""
        return f"{len(self)} steps: {counts}{motion}"

    def __repr__(self) -> str:
        return f"<SweepReport: {self._summary()}>"


@dataclass(frozen=True, eq=False)
class Joint(_Result):
    """Joint of a Mechanism.

    >>> joint = feeler.Mechanism.read("data/arm/arm.urdf").joints[0]
    >>> joint.name, joint.kind, joint.parent, joint.child, joint.axis.tolist(), joint.limits.round(3).tolist()
    ('waist', 'revolute', 'base', 'turret', [0.0, 0.0, 1.0], [-3.142, 3.142])
    """

    name: str
    kind: Literal["fixed", "revolute", "prismatic"]
    parent: str
    """Name of the parent link."""
    child: str
    """Name of the link that the joint moves."""
    origin: _Array
    """Pose of the child's frame in the parent's frame at value 0, 4x4."""
    axis: _Array | None
    """Unit direction of the axis, in the child's frame; None for a fixed joint."""
    point: _Array | None
    """Point of the axis of a revolute joint, in the child's frame."""
    limits: _Array | None
    """Smallest and largest value (rad; mm for prismatic joints)."""
    mimic: tuple[str, float, float] | None
    """Name of the joint that this one follows, ratio and offset: its value is ratio * value + offset."""


@dataclass(frozen=True, eq=False)
class MechanismPair(_Result):
    """Two parts of a mechanism that move relative to each other, at n moments.

    >>> report = feeler.Mechanism.read("data/linkage/four-bar.toml").check(steps=5, proof=False)
    >>> pair = report.pairs[0]
    >>> pair.part_a, pair.part_b, pair.distances.shape, pair.points_a.shape
    ('crank', 'rocker', (5,), (5, 3))
    """

    part_a: str
    part_b: str
    distances: _Array
    """Smallest distance of a minimum at each moment; inf beyond d_max. It can be positive while the parts interfere
    elsewhere."""
    interferes: NDArray[np.bool_]
    """Whether the parts interfere at each moment."""
    undecided: NDArray[np.bool_]
    """Whether the verdict at each moment is undecided."""
    depths: _Array
    """Depth at each moment: that of the deepest contact, or the sum of the distances of a common point from both
    boundaries if that is larger; 0 without interference."""
    points_a: _Array
    """Footpoints of the nearest contact on the first part (world), shape (n, 3); nan without a contact."""
    points_b: _Array
    min_distance: float | None
    """Smallest distance of the moments without interference; None if the parts are within d_max at none of them."""
    min_index: int | None
    """Index of the moment with the smallest distance."""
    max_depth: float | None
    """Largest depth of all moments; None without interference."""
    max_depth_index: int | None
    """Index of the moment with the largest depth."""
    is_proven_free: bool
    """Whether the parts are proven to stay apart also between the moments."""
    is_proven_allowed: bool
    """Whether the motion is proven to be as demanded: free, or with allow_touching free of penetration."""
    motion: Passage | ContactMotion | None
    """Result between the moments; None without a proof and for grids."""


@dataclass(frozen=True, eq=False)
class Linkage(_Result):
    """Results for the closed loops of a mechanism.

    >>> linkage = feeler.Mechanism.read("data/linkage/four-bar.toml").check(steps=5, proof=False).linkage
    >>> linkage.dependent, linkage.closure_error < 1e-9
    (('rocker', 'coupler', 'pin'), True)
    """

    dependent: tuple[str, ...]
    """Names of the joints whose values were computed."""
    values: _Array
    """Values of all joints at each moment (rad, mm), shape (n, joints)."""
    branches: _Array
    """Values of all joints at the start of the motion for each branch that was found, shape (branches, joints)."""
    branch: int
    """Index of the branch that the motion follows."""
    size: float
    """Size of the loops."""
    piece_count: int
    """Number of pieces of the motion."""
    closure_error: float
    """Largest error of all closures at the ends of all pieces."""
    deviation: float
    """Upper bound of the deviation of all points of all parts from the exact motion."""


@dataclass(frozen=True, eq=False)
class MechanismReport(_Table):
    """Result of Mechanism.check() at n moments. The table has a row for each pair of parts.

    >>> report = feeler.Mechanism.read("data/linkage/four-bar.toml").check(steps=5)
    >>> report
    <MechanismReport: 5 moments, 1 pairs: 0 interfering, 1 proven free, smallest margin 2 mm>
    >>> report.link_poses.shape, report.margins.round(6).tolist()
    ((5, 5, 4, 4), [5.165412, inf, 2.0, 2.0, 5.165412])
    """

    links: tuple[str, ...]
    joints: tuple[str, ...]
    times: _Array
    """Time of each moment (s); for a grid the number of the combination of joint values."""
    link_poses: _Array
    """Poses of all links (world), shape (n, links, 4, 4)."""
    pairs: tuple[MechanismPair, ...]
    margins: _Array
    """Smallest distance of all pairs at each moment, 0 if a pair interferes; inf if no pair is within d_max."""
    margin_pairs: NDArray[np.int64]
    """Index of the nearest pair at each moment; -1 if no pair is within d_max."""
    linkage: Linkage | None
    """Results for closed loops; None for a mechanism without loops."""

    @property
    def is_proven_free(self) -> bool:
        """Whether all pairs are proven to stay apart during the whole motion."""
        return all(pair.is_proven_free for pair in self.pairs)

    @property
    def interferes(self) -> NDArray[np.bool_]:
        """Whether any pair interferes at each moment."""
        interferes: NDArray[np.bool_] = np.any([pair.interferes for pair in self.pairs], axis=0)
        return interferes

    def _columns(self) -> dict[str, Any]:
        pairs = self.pairs
        return {
            "part_a": [p.part_a for p in pairs],
            "part_b": [p.part_b for p in pairs],
            "min_distance": _numbers(p.min_distance for p in pairs),
            "min_time": _numbers(None if p.min_index is None else self.times[p.min_index] for p in pairs),
            "interfering_count": np.array([int(p.interferes.sum()) for p in pairs], dtype=np.int64),
            "max_depth": _numbers(p.max_depth for p in pairs),
            "result": [p.motion.result if p.motion else None for p in pairs],
            "result_time": _numbers(p.motion.time if p.motion else None for p in pairs),
            "is_proven_free": np.array([p.is_proven_free for p in pairs], dtype=bool),
        }

    def _summary(self) -> str:
        bad = sum(bool(p.interferes.any()) for p in self.pairs)
        free = sum(p.is_proven_free for p in self.pairs)
        margin = float(self.margins.min(initial=np.inf))
        smallest = f"smallest margin {margin:.6g} mm" if margin < np.inf else "no pair within d_max"
        proven = f", {free} proven free" if any(p.motion for p in self.pairs) else ""
        return f"{len(self.times)} moments, {len(self.pairs)} pairs: {bad} interfering{proven}, {smallest}"

    def __repr__(self) -> str:
        return f"<MechanismReport: {self._summary()}>"


@dataclass(frozen=True, eq=False)
class Difference(_Result):
    """Difference between two versions of a model or a result.

    >>> feeler.diff("data/pin.step", "data/pin-short.step").differences[0].kind
    'area'
    """

    kind: Literal["import", "part", "verdict", "minimum", "face", "count", "area", "mass", "size", "time"]
    subject: str
    """Part, solid or step that differs; empty for the whole model."""
    what: str
    """Description with the old and the new value."""


class _Differences(_Table):
    differences: tuple[Difference, ...]

    def _columns(self) -> dict[str, Any]:
        names = ("kind", "subject", "what")
        return {name: [getattr(d, name) for d in self.differences] for name in names}


@dataclass(frozen=True, eq=False)
class ModelComparison(_Differences):
    """Result of diff(): differences between two versions of a model.

    >>> feeler.diff("data/pin.step", "data/pin.step")
    <ModelComparison: 1 parts the same, no differences>
    """

    same_count: int
    """Number of parts with equal path, solid and pose in both versions."""
    added_count: int
    removed_count: int
    renamed_count: int
    moved_count: int
    changed_count: int
    """Number of parts whose solids differ; a part may be moved and changed."""
    differences: tuple[Difference, ...]

    def __bool__(self) -> bool:
        """Whether there are differences."""
        return bool(self.differences)

    def _summary(self) -> str:
        names = ("added", "removed", "renamed", "moved", "changed")
        counts = ((getattr(self, f"{name}_count"), name) for name in names)
        changes = "".join(f", {count} {name}" for count, name in counts if count)
        n = len(self.differences)
        return f"{self.same_count} parts the same{changes}, {f'{n} differences' if n else 'no differences'}"

    def __repr__(self) -> str:
        return f"<ModelComparison: {self._summary()}>"


@dataclass(frozen=True, eq=False)
class EntryComparison(_Differences):
    """Comparison of one entry of a suite with its golden result.

    >>> feeler.regress("data/suite.toml", only=["bore*"]).entries[0].differences
    ()
    """

    name: str
    differences: tuple[Difference, ...]
    """Differences, at most 1,000."""
    more_count: int
    """Number of further differences."""
    other_input: bool
    """Whether the golden result was computed from files with other bytes."""

    def _summary(self) -> str:
        return f"{self.name}: {len(self.differences) + self.more_count} differences"

    def __repr__(self) -> str:
        return f"<EntryComparison: {self._summary()}>"


@dataclass(frozen=True, eq=False)
class RegressReport(_Table):
    """Result of regress(). The table has a row for each difference.

    >>> report = feeler.regress("data/suite.toml", only=["bore*"])
    >>> report.is_same, report.differing
    (True, ())
    """

    entries: tuple[EntryComparison, ...]
    """Entries that were run, by name."""
    stale: tuple[str, ...]
    """Names of golden results without an entry in the suite."""
    without_golden_count: int
    """Number of entries without golden results."""
    other_program: str | None
    """Program that computed the golden results, if it is another version."""
    golden: str
    """File with the golden results."""
    recorded_count: int | None
    """Number of entries that bless=True has written; else None."""
    seconds: float
    """Duration of the run (s)."""

    @property
    def differing(self) -> tuple[EntryComparison, ...]:
        """Entries with differences."""
        return tuple(entry for entry in self.entries if entry.differences)

    @property
    def is_same(self) -> bool:
        """Whether no entry has differences."""
        return not self.differing

    def _columns(self) -> dict[str, Any]:
        rows = [(entry.name, d.kind, d.subject, d.what) for entry in self.entries for d in entry.differences]
        names = ("entry", "kind", "subject", "what")
        return {name: [row[i] for row in rows] for i, name in enumerate(names)}

    def _summary(self) -> str:
        n = len(self.differing)
        return f"{len(self.entries)} entries, {f'{n} with differences' if n else 'no differences'}"

    def __repr__(self) -> str:
        return f"<RegressReport: {self._summary()}>"


@dataclass(frozen=True, eq=False)
class Outflow(_Result):
    """Particles that have left a simulation by one outlet.

    >>> feeler.Outflow(name="gate", count=3, mass=0.25).mass
    0.25
    """

    name: str
    """Name of the outlet; 'lost' for particles that left otherwise."""
    count: int
    mass: float
    """Total mass (kg)."""


@dataclass(frozen=True, eq=False)
class PourReport(_Table):
    """Result of pour(): the series of a simulation, with a row for each time, and its final state.

    >>> text = '''end = 0.02
    ... law.steel = { normal = 500.0, restitution = 0.5 }
    ... wall = [{ name = 'floor', plane = { point = [0, 0, 0], normal = [0, 0, 1] } }]
    ... grains = [{ sphere = { diameter = 4 }, density = 2500, number = 2,
    ...             region = { box = [[-9, -9, 1], [9, 9, 19]] } }]
    ... output = { rows = 0.01 }'''
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = feeler.pour(feeler.PourScene(text), folder)
    >>> report.particle_count, report.series["time_s"].tolist()
    (2, [0.0, 0.01, 0.02])
    """

    folder: os.PathLike[str]
    """Folder of the run, with series.csv, frames for ParaView and checkpoints."""
    time: float
    """Simulated time (s)."""
    particle_count: int
    """Number of particles in the domain."""
    mass: float
    """Mass of the particles in the domain (kg)."""
    kinetic_energy: float
    """Kinetic energy (µJ)."""
    potential_energy: float
    """Potential energy in gravity (µJ)."""
    outflows: tuple[Outflow, ...]
    """Outflow by each outlet, then out of the domain ('lost')."""
    blocked_sources: tuple[str, ...]
    """Names of sources without a free position for the next particle."""
    series: dict[str, _Array]
    """Columns of series.csv, one value for each row (docs/POUR.md)."""
    mass_flow: _Array
    """Mass flow (kg/s) through all outlets, for each row the mean since the previous row."""
    notes: tuple[str, ...]
    """Messages about the scene."""

    def _columns(self) -> dict[str, Any]:
        return {**self.series, "mass_flow_kg_s": self.mass_flow}

    def _summary(self) -> str:
        left = sum(outflow.count for outflow in self.outflows)
        return f"{self.time:.6g} s, {self.particle_count} particles in the domain, {left} have left"

    def __repr__(self) -> str:
        return f"<PourReport: {self._summary()}>"


@dataclass(frozen=True, eq=False)
class Regularisation(_Result):
    """Result of the removal of short edges from the cells of a Tessellation.

    >>> labels = np.ones((8, 8, 8), int)
    >>> labels[4:] = 2
    >>> feeler.tessellate(labels, min_edge=2).regularisation.merged_count
    0
    """

    min_edge_before: float
    """Length of the shortest edge before."""
    min_edge_after: float
    """Length of the shortest edge afterwards."""
    merged_count: int
    """Number of edges that were merged into vertices."""
    remaining_count: int
    """Number of shorter edges that remain, because merging them would make a face too uneven or remove a cell."""
    vanished_face_count: int
    max_volume_change: float
    """Largest change of a cell's volume, relative to the volume."""


@dataclass(frozen=True, eq=False)
class Tessellation(_Table):
    """Result of tessellate(): a polyhedron for each grain of an image. Lengths are in the unit of the spacing.

    Faces cell_offsets[k] to cell_offsets[k + 1] belong to cell k, and vertices
    face_vertices[face_offsets[f]:face_offsets[f + 1]] to face f, counter-clockwise seen from outside. The faces of two
    adjacent cells have the same vertices in opposite order.

    >>> labels = np.ones((8, 8, 8), int)
    >>> labels[5:] = 7
    >>> cells = feeler.tessellate(labels)
    >>> cells.labels.tolist(), cells.volumes.round().tolist(), cells.neighbours(0).tolist()
    ([1, 7], [320.0, 192.0], [1])
    >>> [len(polygon) for polygon in cells.polygons(0)]
    [4, 4, 4, 4, 4, 4]
    """

    labels: NDArray[np.uint32]
    """Label of each cell, ascending."""
    sites: _Array
    """Positions of the sites, shape (n, 3)."""
    weights: _Array
    """Weights of the sites (squared lengths): a cell contains the points x whose |x - site|^2 - weight is smaller than
    for all other sites."""
    voxel_counts: NDArray[np.int64]
    """Number of voxels of each grain."""
    volumes: _Array
    """Volume of each cell; 0 for a cell without points."""
    centroids: _Array
    """Centre of mass of each cell, shape (n, 3)."""
    vertices: _Array
    """Positions of the vertices of all cells, shape (m, 3)."""
    cell_offsets: NDArray[np.int64]
    """Index of the first face of each cell, and the number of all faces."""
    face_neighbours: NDArray[np.int64]
    """Index of the cell on the other side of each face; -1 to -6 for the walls at the lower and the upper end of x, y
    and z."""
    face_offsets: NDArray[np.int64]
    """Index of the first vertex of each face in face_vertices, and the length of face_vertices."""
    face_vertices: NDArray[np.uint32]
    """Indices of vertices."""
    voxel_edge: float
    """Smallest edge length of a voxel."""
    is_converged: bool
    """Whether the fit ended before the maximum number of iterations."""
    iteration_count: int
    objective: float
    """Root mean square of the distances of the boundary voxels of the grains to their cells, in mean grain diameters."""
    rms_distance: float
    """The same as a length."""
    history: _Array
    """Objective after each iteration."""
    rand_index: float
    """Fraction of pairs of voxels that the cells join or separate as the image does. It and the distances belong to the
    cells before short edges are merged."""
    regularisation: Regularisation | None
    """Result of the merging of short edges; None without min_edge."""

    def neighbours(self, cell: int) -> NDArray[np.int64]:
        """Indices of the cells at the faces of a cell, ascending."""
        faces = self.face_neighbours[self.cell_offsets[cell] : self.cell_offsets[cell + 1]]
        return np.unique(faces[faces >= 0])

    def polygons(self, cell: int) -> list[_Array]:
        """Positions of the vertices of each face of a cell."""
        faces = range(self.cell_offsets[cell], self.cell_offsets[cell + 1])
        return [self.vertices[self.face_vertices[self.face_offsets[f] : self.face_offsets[f + 1]]] for f in faces]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the cells for ParaView (.vtu), as triangles (.stl) or for the mesh generator gmsh (.geo). Raises
        FileError."""
        _feeler.write_cells(
            Path(path), self.labels, self.weights, self.vertices, self.cell_offsets, self.face_neighbours,
            self.face_offsets, self.face_vertices,
        )  # fmt: skip

    def _columns(self) -> dict[str, Any]:
        neighbour_counts = np.array([len(self.neighbours(k)) for k in range(len(self.labels))], dtype=np.int64)
        return {
            "label": self.labels, **_points("site", list(self.sites)), "weight": self.weights,
            "voxel_count": self.voxel_counts, "volume": self.volumes, **_points("centroid", list(self.centroids)),
            "neighbour_count": neighbour_counts,
        }  # fmt: skip

    def _summary(self) -> str:
        return (
            f"{len(self.labels)} cells, boundary voxels within {self.rms_distance / self.voxel_edge:.3g} voxels (rms), "
            f"Rand index {self.rand_index:.6f}"
        )

    def __repr__(self) -> str:
        return f"<Tessellation: {self._summary()}>"
