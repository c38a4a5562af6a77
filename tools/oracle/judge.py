"""Status of two solids by an independent kernel (Open CASCADE), from distance, common volume and points in both.

Shared by `verdicts.py` and `assemblies.py`. Lengths are in mm. A pose is tx, ty, tz, qx, qy, qz, qw and moves B; A has the pose
of its file.

The verdict, where `size` is the longer diagonal of the two boxes:

* `interfering`: the common volume is above 1e-9 size³ and points confirm it, or it is above 1e-14 size³ and many points confirm
  it, or the boolean failed and points are in both solids;
* `separated`: the distance is above 1e-6 size and nothing is common;
* `touching`: everything else.

A row whose three results contradict each other is marked with the reason and must not be used as a reference.
"""

import math
import multiprocessing
import time

import numpy as np
from OCP.Bnd import Bnd_Box
from OCP.BRep import BRep_Tool
from OCP.BRepAlgoAPI import BRepAlgoAPI_Common
from OCP.BRepBndLib import BRepBndLib
from OCP.BRepClass3d import BRepClass3d_SolidClassifier
from OCP.BRepExtrema import BRepExtrema_DistShapeShape
from OCP.BRepGProp import BRepGProp
from OCP.gp import gp_Pnt, gp_Quaternion, gp_Trsf, gp_Vec
from OCP.GProp import GProp_GProps
from OCP.STEPControl import STEPControl_Reader
from OCP.TopAbs import TopAbs_IN, TopAbs_SOLID, TopAbs_VERTEX
from OCP.TopExp import TopExp_Explorer
from OCP.TopLoc import TopLoc_Location
from OCP.TopoDS import TopoDS

KERNEL = "Open CASCADE 7.9.3 (cadquery-ocp 7.9.3.1.1)"
HERE = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
# Relative to the size: the largest distance of touching solids. Relative to its cube: volumes of
# rounding, and clear ones.
TOUCH, NOISE, CLEAR = 1e-6, 1e-14, 1e-9
# Number of random points for each row, its maximum if the common part fills little of its box, the number
# of hits that is expected then, and the number of corners of each solid that are classified in the other
# one.
POINTS, MAX_POINTS, HITS, CORNERS = 100, 2000, 25, 24


class Solid:
    """A solid in the pose of its file."""

    def __init__(self, shape):
        self.shape = shape
        self.box = tight_box(shape)
        props = GProp_GProps()
        BRepGProp.VolumeProperties_s(shape, props, 1e-6)
        self.volume = props.Mass()
        c = props.CentreOfMass()
        self.centroid = np.array([c.X(), c.Y(), c.Z()])
        self.size = float(np.linalg.norm(self.box[1] - self.box[0]))
        self._classifier = None

    def holds(self, p, tolerance):
        """Whether a point is inside by more than the tolerance."""
        if self._classifier is None:
            self._classifier = BRepClass3d_SolidClassifier(self.shape)
        self._classifier.Perform(gp_Pnt(*map(float, p)), tolerance)
        return self._classifier.State() == TopAbs_IN

    def corners(self):
        """Some of the solid's vertices, evenly chosen."""
        explorer, points = TopExp_Explorer(self.shape, TopAbs_VERTEX), []
        while explorer.More():
            p = BRep_Tool.Pnt_s(TopoDS.Vertex_s(explorer.Current()))
            points.append((p.X(), p.Y(), p.Z()))
            explorer.Next()
        points = sorted(set(points))
        return np.array(points[:: max(1, len(points) // CORNERS)][:CORNERS]).reshape(-1, 3)


def opened(path):
    """Reader of a STEP file with all roots transferred."""
    reader = STEPControl_Reader()
    assert reader.ReadFile(str(path)) == 1, path
    reader.TransferRoots()
    return reader


def solids_of(shape):
    """The solids of a shape, in the kernel's order."""
    explorer, out = TopExp_Explorer(shape, TopAbs_SOLID), []
    while explorer.More():
        out.append(explorer.Current())
        explorer.Next()
    return out


def read(path):
    """All placed solids of a STEP file."""
    return solids_of(opened(path).OneShape())


def tight_box(shape):
    """Smallest and largest coordinates; `None` for an empty shape."""
    box = Bnd_Box()
    BRepBndLib.AddOptimal_s(shape, box, False, False)
    if box.IsVoid():
        return None
    x = box.Get()
    return np.array([x[:3], x[3:]])


def trsf(pose):
    t = gp_Trsf()
    t.SetRotation(gp_Quaternion(*pose[3:]))
    t.SetTranslationPart(gp_Vec(*pose[:3]))
    return t


def rotation(pose):
    """Rotation of a pose as a matrix."""
    t = trsf(pose)
    return np.array([[t.Value(i, j) for j in (1, 2, 3)] for i in (1, 2, 3)])


def moved(shape, pose):
    return shape if tuple(pose) == HERE else shape.Moved(TopLoc_Location(trsf(pose)))


def distance(a, b, pose):
    """Distance, direction from A's footpoint to B's, and whether the kernel reports one solid inside the other."""
    e = BRepExtrema_DistShapeShape(a.shape, moved(b.shape, pose))
    if not e.IsDone():
        return None
    p, q = e.PointOnShape1(1), e.PointOnShape2(1)
    return e.Value(), (q.X() - p.X(), q.Y() - p.Y(), q.Z() - p.Z()), bool(e.InnerSolution())


def common(a, b, pose):
    """Volume and box of the intersection."""
    op = BRepAlgoAPI_Common(a.shape, moved(b.shape, pose))
    if not op.IsDone():  # it is not done after errors
        return None
    props = GProp_GProps()
    BRepGProp.VolumeProperties_s(op.Shape(), props, 1e-6)
    box = tight_box(op.Shape())
    return props.Mass(), None if box is None else box.tolist()


def points(a, b, pose, box, n, seed):
    """Random points of a box, and corners: the numbers of those inside both solids."""
    tolerance = 1e-7 * max(a.size, b.size)
    r, t = rotation(pose), np.array(pose[:3])
    low, high = np.array(box)
    rng = np.random.default_rng([2026, *seed])
    inside = 0
    for _ in range(n):
        p = low + (high - low) * rng.random(3)
        inside += a.holds(p, tolerance) and b.holds(r.T @ (p - t), tolerance)
    corners = sum(b.holds(r.T @ (p - t), tolerance) for p in a.corners())
    corners += sum(a.holds(r @ p + t, tolerance) for p in b.corners())
    return int(inside), int(corners)


STAGES = {"distance": distance, "common": common, "points": points, "box": lambda a, b, pose: tight_box(moved(b.shape, pose))}


def _serve(solids, pipe, other):
    other.close()
    while True:
        try:
            stage, i, j, rest = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(STAGES[stage](solids[i], solids[j], *rest))
        except Exception:  # exceptions of the kernel have no common class
            pipe.send(None)


class Reference:
    """Queries of the kernel about pairs of solids, in a process that is killed if a query takes too long."""

    def __init__(self, solids, limit):
        self.solids, self.limit, self.child = solids, limit, None

    def query(self, stage, i, j, *rest):
        """Result of a stage; `None` if the kernel fails, crashes or takes too long."""
        if self.child is None:
            context = multiprocessing.get_context("fork")
            self.pipe, end = context.Pipe()
            self.child = context.Process(target=_serve, args=(self.solids, end, self.pipe), daemon=True)
            self.child.start()
            end.close()
        try:
            self.pipe.send((stage, i, j, rest))
            if self.pipe.poll(self.limit):
                return self.pipe.recv()
        except (EOFError, ConnectionError):
            pass
        self.close()
        return None

    def close(self):
        """Ends the process."""
        if self.child is not None:
            self.child.kill()
            self.child.join()
            self.child = None

    def row(self, i, j, pose, seed):
        """All results for a pair in a pose, and the verdict."""
        clock = time.perf_counter()
        a, b = self.solids[i], self.solids[j]
        size = max(a.size, b.size)
        box_b = b.box if tuple(pose) == HERE else self.query("box", i, j, pose)
        low, high = np.maximum(a.box[0], box_b[0]), np.minimum(a.box[1], box_b[1])
        result = self.query("distance", i, j, pose)
        d = None if result is None else result[0]
        volume, inside, corners, fraction, n = 0.0, 0, 0, None, POINTS
        if (low < high).all():
            result = self.query("common", i, j, pose)
            volume = None if result is None else result[0]
            box = [low.tolist(), high.tolist()]
            if result is not None and result[1] is not None and volume > NOISE * size**3:
                box = result[1]
                extent = math.prod(max(h - l, 0.0) for l, h in zip(*box))
                fraction = min(volume / extent, 1.0) if extent > 0.0 else 1.0
                n = min(max(POINTS, round(HITS / fraction)), MAX_POINTS)
            result = self.query("points", i, j, pose, box, n, seed)
            inside, corners = result if result is not None else (None, None)
        row = {"distance": d, "common": volume, "points": inside, "of": n, "corners": corners}
        row["verdict"], row["marked"] = verdict(row, size, min(a.volume, b.volume), fraction)
        row["seconds"] = round(time.perf_counter() - clock, 3)
        return row


def verdict(row, size, smaller, fraction):
    """The verdict, and the reason if it is not reliable. `smaller`: the smaller volume, `fraction`: its part of the sampled box."""
    d, volume, inside, corners = row["distance"], row["common"], row["points"], row["corners"]
    hits = None if inside is None else inside + corners
    near = d is not None and d <= TOUCH * size
    if volume is not None and volume < -NOISE * size**3:
        return "interfering", "the common volume is negative"
    if volume is None:
        if hits is not None and hits >= 5 and d is not None:
            return "interfering", None if near else "the boolean failed; points are in both, the distance is positive"
        if d is not None and not near and hits == 0:
            return "separated", None
        return "touching", "the boolean failed"
    if volume > NOISE * size**3:
        if volume <= CLEAR * size**3:
            if near and inside is not None and inside >= 10:
                return "interfering", None  # a small common volume of a large solid; all three agree
            return "interfering", "the common volume is between noise and threshold"
        if inside is None:
            return "interfering", "the classification of points failed"
        expected = row["of"] * fraction
        spread = 6.0 * math.sqrt(max(expected * (1.0 - fraction), 0.0)) + 3.0
        if abs(inside - expected) > spread:
            return "interfering", f"of {row['of']} points {inside} are in both, {expected:.0f} expected by the common volume"
        if hits == 0:
            return "interfering", "no point is in both, though there is common volume"
        if d is None:
            return "interfering", None
        if not near and abs(volume - smaller) > 1e-6 * smaller:
            return "interfering", "the distance is positive, and so is the common volume"
        return "interfering", None
    if hits is None:
        return "touching" if near else "separated", "the classification of points failed"
    if hits >= 5 and near:
        # The boolean missed the intersection; the other two agree.
        return "interfering", None if inside >= 10 else "a few points are in both, without common volume"
    if hits > 0:
        return "interfering", "points are in both, without common volume"
    if d is None:
        return "touching", "the distance failed"
    return ("touching" if near else "separated"), None
