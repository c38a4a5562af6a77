"""Shared code of the comparison with other libraries: meshes, solids of Open CASCADE, poses, and timing.

All functions of libraries take a batch of inputs and return an array, so that `timed` can run them on growing batches.
Poses are rows of x, y, z, qx, qy, qz, qw (mm) of the second of two equal bodies.
"""

import contextlib
import dataclasses
import functools
import json
import re
import tempfile
import time
from pathlib import Path

import coal
import fcl
import numpy as np
import trimesh
from OCP.BRep import BRep_Builder
from OCP.BRepBuilderAPI import BRepBuilderAPI_MakeVertex
from OCP.BRepClass3d import BRepClass3d_SolidClassifier
from OCP.BRepExtrema import BRepExtrema_DistShapeShape
from OCP.BRepGProp import BRepGProp
from OCP.gp import gp_Pnt, gp_Quaternion, gp_Trsf, gp_Vec
from OCP.GProp import GProp_GProps
from OCP.IFSelect import IFSelect_RetDone
from OCP.STEPControl import STEPControl_Reader
from OCP.TopAbs import TopAbs_IN, TopAbs_ON, TopAbs_SHELL, TopAbs_SOLID
from OCP.TopExp import TopExp_Explorer
from OCP.TopLoc import TopLoc_Location
from OCP.TopoDS import TopoDS_Compound

import feeler

SLACK = 1e-7
"""Rounding of triangle libraries, as a fraction of the size."""
FIRST_BATCH = 1
IMPACT_POSES = 1000
"""Number of poses of a motion at which python-fcl looks for a collision."""

processor_time = time.process_time


@dataclasses.dataclass
class Answers:
    """Answers to a prefix of the inputs, and the processor time."""

    values: np.ndarray
    seconds: float


def timed(function, inputs, budget, all_at_once=False):
    """Answers to batches of doubling size until the processor time exceeds the budget (s)."""
    function(inputs[:1])  # lazy structures of a library are built here
    done, seconds, values = 0, 0.0, []
    batch = len(inputs) if all_at_once else FIRST_BATCH
    while done < len(inputs) and seconds < budget:
        begin = processor_time()
        values.append(np.asarray(function(inputs[done : done + batch])))
        seconds += processor_time() - begin
        done += len(values[-1])
        batch *= 2
        if seconds > 0:
            batch = max(1, min(batch, int(1 + (budget - seconds) * done / seconds)))
    return Answers(np.concatenate(values), seconds)


class Triangles:
    """Mesh of a body in the forms of the libraries."""

    def __init__(self, body, chord):
        """chord: chord error as a fraction of the size of the body."""
        mesh = body.mesh(chord * body.size)
        # Faces of splines may deviate a little more.
        self.chord = max(chord * body.size, mesh.deviation)
        self.faces = int(mesh.faces.max()) + 1
        self.trimesh = trimesh.Trimesh(mesh.points, mesh.welded[mesh.triangles])
        self.trimesh.update_faces(self.trimesh.nondegenerate_faces())
        if not self.trimesh.is_watertight:
            raise ValueError(f"mesh of {body.name} is not closed: {mesh.open_sides} open sides")
        self.points, self.triangles = self.trimesh.vertices.view(np.ndarray), self.trimesh.faces.view(np.ndarray)

    @functools.cached_property
    def coal(self):
        model = coal.BVHModelOBBRSS()
        model.beginModel(len(self.triangles), len(self.points))
        model.addVertices(self.points)
        model.addTriangles(self.triangles.astype(np.int64))
        model.endModel()
        return model

    @functools.cached_property
    def fcl(self):
        model = fcl.BVHModel()
        model.beginModel(len(self.points), len(self.triangles))
        model.addSubModel(self.points, self.triangles)
        model.endModel()
        return model

    def contains(self, points):
        return self.trimesh.contains(points)

    @property
    def corners(self):
        return self.points[self.triangles]

    def brute_force_distance(self, point):
        """Distance of a point from all triangles: reference for those libraries."""
        corners = self.corners
        nearest = trimesh.triangles.closest_point(corners, np.broadcast_to(point, (len(corners), 3)))
        return np.linalg.norm(nearest - point, axis=1).min()

    def winding_number(self, point):
        """Solid angle of all triangles, by 4 pi: 1 inside, 0 outside."""
        a, b, c = np.moveaxis(self.corners - point, 1, 0)
        la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
        dot = functools.partial(np.einsum, "ij,ij->i")
        numerator = dot(a, np.cross(b, c))
        denominator = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb
        return np.sum(2 * np.arctan2(numerator, denominator)) / (4 * np.pi)


class Kernel:
    """The same solid, read by Open CASCADE."""

    def __init__(self, file, volume):
        """volume: that of the solid in question, if the file has several."""
        reader = STEPControl_Reader()
        if reader.ReadFile(str(file)) != IFSelect_RetDone:
            raise ValueError(f"{file}: Open CASCADE cannot read it")
        reader.TransferRoots()
        explorer, solids = TopExp_Explorer(reader.OneShape(), TopAbs_SOLID), []
        while explorer.More():
            solids.append(explorer.Current())
            explorer.Next()
        # Parts of an assembly in their own coordinates, as those of feeler.
        self.solid = min(solids, key=lambda s: abs(volume_of(s) - volume)).Located(TopLoc_Location())

    def point_distance(self, points):
        return np.array(
            [distance(BRepBuilderAPI_MakeVertex(gp_Pnt(*p)).Vertex(), boundary(self.solid)) for p in points]
        )

    def contains(self, points):
        classifier, inside = BRepClass3d_SolidClassifier(self.solid), []
        for point in points:
            classifier.Perform(gp_Pnt(*np.asarray(point, dtype=float).tolist()), 1e-9)
            inside.append(classifier.State() in (TopAbs_IN, TopAbs_ON))
        return np.array(inside)

    def pair_distance(self, poses):
        """Distances of the solid and its copy; 0 if they intersect."""
        return np.array([distance(self.solid, self.solid.Moved(location(pose))) for pose in poses])


def volume_of(solid):
    properties = GProp_GProps()
    BRepGProp.VolumeProperties_s(solid, properties)
    return properties.Mass()


@functools.lru_cache(maxsize=1)
def boundary(solid):
    """All shells of a solid: the distance of a solid is 0 for points inside."""
    builder, shells = BRep_Builder(), TopoDS_Compound()
    builder.MakeCompound(shells)
    explorer = TopExp_Explorer(solid, TopAbs_SHELL)
    while explorer.More():
        builder.Add(shells, explorer.Current())
        explorer.Next()
    return shells


def distance(a, b):
    extrema = BRepExtrema_DistShapeShape(a, b)
    return extrema.Value() if extrema.IsDone() else np.nan


def location(pose):
    transformation = gp_Trsf()
    transformation.SetTransformation(gp_Quaternion(*pose[3:].tolist()), gp_Vec(*pose[:3].tolist()))
    return TopLoc_Location(transformation)


class Part:
    """A model in the forms of all libraries."""

    def __init__(self, name, file, closed_form, chords):
        """closed_form: function of points to signed distances, or None."""
        self.name, self.closed_form = name, closed_form
        self.body = feeler.prepare_step(file).body()
        self.kernel = Kernel(file, self.body.volume)
        self.meshes = [Triangles(self.body, chord) for chord in chords]
        self.faces = self.meshes[0].faces


def matrix(quaternion):
    """Rotation of a unit quaternion x, y, z, w."""
    x, y, z, w = quaternion
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def into(pose, point):
    """A point of the world in the coordinates of a body with this pose."""
    return matrix(pose[3:]).T @ (np.asarray(point) - pose[:3])


def along(motion, times):
    """Poses at times from 0 to 1 of a straight motion without rotation."""
    return motion[0] + np.asarray(times)[:, None] * (motion[1] - motion[0])


def between(poses, count):
    """Poses at equal steps of a sequence, with normalised linear interpolation of the quaternions."""
    at = np.linspace(0, len(poses) - 1, count)
    first = np.minimum(at.astype(int), len(poses) - 2)
    a, b, share = poses[first], poses[first + 1].copy(), (at - first)[:, None]
    b[:, 3:] *= np.where(np.sum(a[:, 3:] * b[:, 3:], axis=1) < 0, -1, 1)[:, None]
    found = a + share * (b - a)
    found[:, 3:] /= np.linalg.norm(found[:, 3:], axis=1)[:, None]
    return found


def point_distances(mesh):
    """Distance of points from a mesh, by library. trimesh gives a sign; the others get balls without a radius."""
    ball, place = (
        fcl.CollisionObject(fcl.Sphere(0.0), fcl.Transform()),
        fcl.CollisionObject(mesh.fcl, fcl.Transform()),
    )

    def of_fcl(points):
        found = []
        for point in points:
            ball.setTranslation(point)
            found.append(fcl.distance(ball, place, fcl.DistanceRequest(), fcl.DistanceResult()))
        return np.abs(found)

    shape, still, request = coal.Sphere(0.0), coal.Transform3s.Identity(), coal.DistanceRequest()

    def of_coal(points):
        found = []
        for point in points:
            pose = coal.Transform3s(np.eye(3), point)
            found.append(coal.distance(shape, pose, mesh.coal, still, request, coal.DistanceResult()))
        return np.abs(found)

    def of_trimesh(points):
        return -trimesh.proximity.signed_distance(mesh.trimesh, points)

    return {"trimesh": of_trimesh, "coal": of_coal, "python-fcl": of_fcl}


def pair_queries(mesh):
    """Functions of poses to distances and to collisions of a mesh and its copy, by library."""
    still = coal.Transform3s.Identity()

    def coal_pose(pose):
        return coal.Transform3s(matrix(pose[3:]), pose[:3].copy())

    def coal_distance(poses):
        request = coal.DistanceRequest()
        return np.array([
            coal.distance(mesh.coal, still, mesh.coal, coal_pose(pose), request, coal.DistanceResult())
            for pose in poses
        ])  # fmt: skip

    def coal_collide(poses):
        request = coal.CollisionRequest()
        return np.array([
            coal.collide(mesh.coal, still, mesh.coal, coal_pose(pose), request, coal.CollisionResult()) > 0
            for pose in poses
        ])  # fmt: skip

    a, b = (fcl.CollisionObject(mesh.fcl, fcl.Transform()) for _ in range(2))

    def placed(pose):
        b.setTransform(fcl.Transform(matrix(pose[3:]), pose[:3]))
        return b

    def fcl_distance(poses):
        return np.array([fcl.distance(a, placed(p), fcl.DistanceRequest(), fcl.DistanceResult()) for p in poses])

    def fcl_collide(poses):
        return np.array([
            fcl.collide(a, placed(p), fcl.CollisionRequest(), fcl.CollisionResult()) > 0 for p in poses
        ])  # fmt: skip

    # The collision manager of trimesh is python-fcl.
    return {"coal": (coal_distance, coal_collide), "python-fcl": (fcl_distance, fcl_collide)}


def impacts(mesh):
    """Functions of straight motions to times of impact, nan for a free motion. Only python-fcl has one.

    Its solver of equal steps is used, because its conservative advancement reports all motions of meshes as free.
    """
    a, b = (fcl.CollisionObject(mesh.fcl, fcl.Transform()) for _ in range(2))
    request = fcl.ContinuousCollisionRequest(
        num_max_iterations=IMPACT_POSES,
        ccd_motion_type=fcl.CCDMotionType.CCDM_TRANS,
        ccd_solver_type=fcl.CCDSolverType.CCDC_NAIVE,
    )

    def of_fcl(motions):
        found = []
        for first, last in motions:
            b.setTransform(fcl.Transform(matrix(first[3:]), first[:3]))
            result = fcl.ContinuousCollisionResult()
            end = fcl.Transform(matrix(last[3:]), last[:3])
            fcl.continuousCollide(a, fcl.Transform(), b, end, request, result)
            found.append(result.time_of_contact if result.is_collide else np.nan)
        return np.array(found)

    return {"python-fcl": of_fcl}


def scenario(file):
    """Text of an insertion, and its two bodies."""
    text = json.loads(file.read_text())
    return text, [feeler.prepare_step(file.parent / text[key]).body() for key in "ab"]


def with_scaled_points(text, factors):
    """A STEP file with the coordinates of all points multiplied by factors, which keeps B-splines exact."""

    def scaled(match):
        values = [float(v) * float(f) for v, f in zip(match.group(2).split(","), factors, strict=True)]
        return match.group(1) + ",".join(f"{v!r}".replace("e", "E") for v in values) + ")"

    return re.sub(r"(CARTESIAN_POINT\s*\('[^']*',\s*\()([^()]*,[^()]*,[^()]*)\)", scaled, text)


@contextlib.contextmanager
def scratch():
    """Folder for the time of a run."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)
