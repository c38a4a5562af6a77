"""Area and volume of a STEP file's solids by the divergence theorem, with an independent quadrature.

    python tools/models/quadrature.py FILE.step

Only points and derivatives of surfaces and parameter curves are from Open CASCADE. For each face, by Green's theorem,
the integral of f over the trimmed domain is the integral of F dv along its boundary, where F is the integral of f over u
from the middle of the face. Both integrals use Gauss-Legendre quadrature between the knots, in pieces.
"""

import sys

import numpy as np
from OCP.BRepAdaptor import BRepAdaptor_Curve2d, BRepAdaptor_Surface
from OCP.GeomAbs import GeomAbs_CN
from OCP.gp import gp_Pnt, gp_Pnt2d, gp_Vec, gp_Vec2d
from OCP.STEPControl import STEPControl_Reader
from OCP.TColStd import TColStd_Array1OfReal
from OCP.TopAbs import TopAbs_EDGE, TopAbs_FACE, TopAbs_REVERSED
from OCP.TopExp import TopExp_Explorer
from OCP.TopoDS import TopoDS

ORDER = 10
X, W = np.polynomial.legendre.leggauss(ORDER)


def explore(shape, kind):
    explorer = TopExp_Explorer(shape, kind)
    while explorer.More():
        yield explorer.Current()
        explorer.Next()


def breaks(count, fill, lo, hi, parts):
    knots = TColStd_Array1OfReal(1, count + 1)
    fill(knots)
    inner = [knots.Value(i) for i in range(1, count + 2)]
    ends = [lo] + [k for k in inner if lo + 1e-12 < k < hi - 1e-12] + [hi]
    return np.concatenate([np.linspace(a, b, parts + 1)[:-1] for a, b in zip(ends, ends[1:])] + [[hi]])


def density(surface, u, v, about):
    """Densities of area and of the flux of (x - about) / 3 with respect to the parameters."""
    p, du, dv = gp_Pnt(), gp_Vec(), gp_Vec()
    surface.D1(u, v, p, du, dv)
    n = du.Crossed(dv)
    flux = ((p.X() - about[0]) * n.X() + (p.Y() - about[1]) * n.Y() + (p.Z() - about[2]) * n.Z()) / 3
    return np.array([n.Magnitude(), flux])


def along_u(surface, u_breaks, start, end, v, about):
    """Integral over u from start to end at v."""
    sign = 1.0 if end >= start else -1.0
    lo, hi = min(start, end), max(start, end)
    cuts = [lo] + [b for b in u_breaks if lo < b < hi] + [hi]
    total = np.zeros(2)
    for a, b in zip(cuts, cuts[1:]):
        for x, w in zip(X, W):
            total += w * (b - a) / 2 * density(surface, (a + b) / 2 + x * (b - a) / 2, v, about)
    return sign * total


def face_integrals(face, about, parts):
    surface = BRepAdaptor_Surface(face, True)
    lo, hi = surface.FirstUParameter(), surface.LastUParameter()
    vlo, vhi = surface.FirstVParameter(), surface.LastVParameter()
    u_breaks = breaks(surface.NbUIntervals(GeomAbs_CN), lambda a: surface.UIntervals(a, GeomAbs_CN), lo, hi, parts)
    v_breaks = breaks(surface.NbVIntervals(GeomAbs_CN), lambda a: surface.VIntervals(a, GeomAbs_CN), vlo, vhi, parts)
    middle = (lo + hi) / 2
    total = np.zeros(2)
    for edge in explore(face, TopAbs_EDGE):
        edge = TopoDS.Edge_s(edge)
        curve = BRepAdaptor_Curve2d(edge, face)
        a, b = curve.FirstParameter(), curve.LastParameter()
        cuts = list(breaks(curve.NbIntervals(GeomAbs_CN), lambda t: curve.Intervals(t, GeomAbs_CN), a, b, parts))
        cuts += crossings(curve, cuts, v_breaks)
        cuts = sorted(cuts)
        own = np.zeros(2)
        for s, e in zip(cuts, cuts[1:]):
            for x, w in zip(X, W):
                p, d = gp_Pnt2d(), gp_Vec2d()
                curve.D1((s + e) / 2 + x * (e - s) / 2, p, d)
                if d.Y() != 0.0:
                    own += w * (e - s) / 2 * d.Y() * along_u(surface, u_breaks, middle, p.X(), p.Y(), about)
        total += -own if edge.Orientation() == TopAbs_REVERSED else own
    return total


def crossings(curve, cuts, values):
    """Parameters at which the curve crosses one of the values of v, by bisection."""
    out = []
    at = lambda t: curve.Value(t).Y()
    for s, e in zip(cuts, cuts[1:]):
        ts = np.linspace(s, e, 5)
        vs = [at(t) for t in ts]
        for (t0, v0), (t1, v1) in zip(zip(ts, vs), zip(ts[1:], vs[1:])):
            for v in values:
                if (v0 - v) * (v1 - v) < 0:
                    lo, hi, below = t0, t1, v0 < v
                    for _ in range(50):
                        mid = (lo + hi) / 2
                        lo, hi = (mid, hi) if (at(mid) < v) == below else (lo, mid)
                    out.append((lo + hi) / 2)
    return out


def integrals(path, parts=1):
    reader = STEPControl_Reader()
    reader.ReadFile(str(path))
    reader.TransferRoots()
    shape = reader.OneShape()
    faces = [TopoDS.Face_s(f) for f in explore(shape, TopAbs_FACE)]
    p = BRepAdaptor_Surface(faces[0], True).Value(0.0, 0.0)
    area = volume = 0.0
    for f in faces:
        # Faces are explored in forward orientation, in which outer loops are counter-clockwise.
        turned = f.Orientation() == TopAbs_REVERSED
        a, flux = face_integrals(TopoDS.Face_s(f.Oriented(f.Orientation().TopAbs_FORWARD)), (p.X(), p.Y(), p.Z()), parts)
        area += a
        volume += -flux if turned else flux
    return area, volume


if __name__ == "__main__":
    print("area {:.12g}, volume {:.12g}".format(*integrals(sys.argv[1])))
