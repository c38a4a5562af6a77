"""Area and volume of each solid of a STEP file, extrapolated from refined meshes: a third method if the integrals of an
import and of another kernel differ.

    pip install -r tools/oracle/requirements.txt
    python tools/oracle/mesh_volume.py FILE.step [DEFLECTION …]
"""

import sys

import numpy as np
from OCP.BRep import BRep_Tool
from OCP.BRepGProp import BRepGProp
from OCP.BRepMesh import BRepMesh_IncrementalMesh
from OCP.BRepTools import BRepTools
from OCP.GProp import GProp_GProps
from OCP.STEPControl import STEPControl_Reader
from OCP.TopAbs import TopAbs_FACE, TopAbs_REVERSED, TopAbs_SOLID
from OCP.TopExp import TopExp_Explorer
from OCP.TopLoc import TopLoc_Location
from OCP.TopoDS import TopoDS


def explore(shape, kind):
    explorer = TopExp_Explorer(shape, kind)
    while explorer.More():
        yield explorer.Current()
        explorer.Next()


def triangles(face):
    location = TopLoc_Location()
    mesh = BRep_Tool.Triangulation_s(face, location)
    if mesh is None:
        return np.zeros((0, 3, 3))
    points = np.array([[p.X(), p.Y(), p.Z()] for p in
                       (mesh.Node(i).Transformed(location.Transformation()) for i in range(1, mesh.NbNodes() + 1))])
    index = np.array([mesh.Triangle(i).Get() for i in range(1, mesh.NbTriangles() + 1)]) - 1
    if face.Orientation() == TopAbs_REVERSED:
        index = index[:, ::-1]
    return points[index]


def main():
    reader = STEPControl_Reader()
    assert reader.ReadFile(sys.argv[1]) == 1
    reader.TransferRoots()
    shape = reader.OneShape()
    deflections = [float(d) for d in sys.argv[2:]] or [0.04, 0.01, 0.0025]
    for k, solid in enumerate(explore(shape, TopAbs_SOLID)):
        area, volume = GProp_GProps(), GProp_GProps()
        BRepGProp.SurfaceProperties_s(solid, area, 1e-9)
        BRepGProp.VolumeProperties_s(solid, volume, 1e-9)
        print(f"solid {k}: integrals of the kernel: area {area.Mass():.9f} volume {volume.Mass():.9f}")
        previous = None
        for d in deflections:
            BRepTools.Clean_s(solid)
            BRepMesh_IncrementalMesh(solid, d, False, 20 * d, True)
            t = np.concatenate([triangles(TopoDS.Face_s(f)) for f in explore(solid, TopAbs_FACE)])
            cross = np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0])
            center = t.reshape(-1, 3).mean(axis=0)
            now = np.array([0.5 * np.linalg.norm(cross, axis=1).sum(),
                            np.einsum("ij,ij->", t[:, 0] - center, cross) / 6])
            # The error of both is proportional to the deflection: one step of Richardson extrapolation.
            better = now if previous is None else now + (now - previous[1]) / (previous[0] / d - 1)
            print(f"  deflection {d}: {len(t)} triangles, area {now[0]:.6f} volume {now[1]:.6f}; "
                  f"extrapolated {better[0]:.6f} {better[1]:.6f}", flush=True)
            previous = (d, now)


if __name__ == "__main__":
    main()
