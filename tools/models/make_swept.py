"""Solids of revolution and prisms whose faces are written as swept surfaces, with their volumes in closed form.

    python tools/models/make_swept.py OUT_DIR [--count 1000] [--seed 1]      # writes swept.step and swept.json
    python tools/models/make_swept.py OUT_DIR --check FEELER                 # reads them back and compares

Standard library only. Every face is a SURFACE_OF_REVOLUTION or a SURFACE_OF_LINEAR_EXTRUSION, also where it is a plane, a
cylinder, a cone, a sphere or a torus; planes that close a partial turn are PLANEs. What varies: the solid (zones, domes,
dimples, spindles, rings, fillets, cones, bores, apples and lemons, ellipsoids, prisms), full and partial turns, the direction
of the profile and of the axis, the place of the profile around the axis and of its frame, whole circles and trimmed ones,
LINEs that begin on either side of the axis, arcs as rational splines whose ends are on the axis or up to 1e-7 of
the size beside it, faces with a seam and with one bound a rim, edges with and without PCURVEs,
`same_sense` with the senses of the bounds turned or not, and the place of the solid.

A volume is `theta * integral of r^2 / 2 dz` around the profile (Pappus), exact for lines and by Gauss-Legendre to rounding for
arcs. Solids whose file leaves open which half of a profile is meant (`"open": true`: no PCURVE, no seam, and whole profiles that
cross their axis) may be refused, or read with a warning that names the solid instead; all others must be right.
"""

import json
import math
import random
import subprocess
import sys
from pathlib import Path

TAU = 2 * math.pi
GAUSS = []


def gauss(n=40):
    """Nodes and weights on [0, 1], by Newton's method on Legendre polynomials."""
    if not GAUSS:
        for i in range(n):
            x = math.cos(math.pi * (i + 0.75) / (n + 0.5))
            for _ in range(100):
                p0, p1 = 1.0, x
                for k in range(2, n + 1):
                    p0, p1 = p1, ((2 * k - 1) * x * p1 - (k - 1) * p0) / k
                d = n * (x * p1 - p0) / (x * x - 1)
                x -= p1 / d
            GAUSS.append((0.5 * (1 + x), 1 / ((1 - x * x) * d * d)))
    return GAUSS


class Line:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def at(self, s):
        return tuple(p + (q - p) * s for p, q in zip(self.a, self.b))

    def derivative(self, _):
        return tuple(q - p for p, q in zip(self.a, self.b))


class Arc:
    """Part of an ellipse with its axes along r and z, from angle t0 to t1."""

    def __init__(self, centre, radii, t0, t1):
        self.c, self.radii, self.t0, self.t1 = centre, radii, t0, t1

    def angle(self, s):
        return self.t0 + (self.t1 - self.t0) * s

    def at(self, s):
        t = self.angle(s)
        return (self.c[0] + self.radii[0] * math.cos(t), self.c[1] + self.radii[1] * math.sin(t))

    def derivative(self, s):
        t, d = self.angle(s), self.t1 - self.t0
        return (-self.radii[0] * math.sin(t) * d, self.radii[1] * math.cos(t) * d)

    @property
    def a(self):
        return self.at(0)

    @property
    def b(self):
        return self.at(1)


def half_r2_dz(segment):
    return sum(w * 0.5 * segment.at(s)[0] ** 2 * segment.derivative(s)[1] for s, w in gauss())


def r_dz(segment):
    return sum(w * segment.at(s)[0] * segment.derivative(s)[1] for s, w in gauss())


def polyline(points):
    return [Line(a, b) for a, b in zip(points, points[1:])]


def profiles(rnd):
    """A closed profile in the half-plane of radius and height, counter-clockwise; its kind."""
    u = rnd.uniform
    kind = rnd.choice(["ball", "zone", "zone", "bored zone", "dome", "dimple", "spindle", "ring", "fillets", "cone", "apple",
                       "lemon", "ellipsoid", "ellipsoid zone", "bowl"])
    r = u(2, 10)
    sphere = lambda c, t0, t1: Arc((0, c), (r, r), t0, t1)
    if kind == "ball":
        return kind, [sphere(0, -math.pi / 2, math.pi / 2)]
    if kind in ("zone", "ellipsoid zone"):
        t0, t1 = sorted((u(-1.4, 1.4), u(-1.4, 1.4)))
        t1 = max(t1, t0 + 0.15)
        side = Arc((0, 0), (r, r if kind == "zone" else r * u(0.4, 2)), t0, t1)
        return kind, [Line((0, side.a[1]), side.a), side, Line(side.b, (0, side.b[1]))]
    if kind == "bored zone":
        t = u(0.3, 1.3)
        side = sphere(0, -t, t)
        return kind, [side, Line(side.b, side.a)]
    if kind == "dome":
        t, h = u(-0.9, 0.9), u(1, 8)
        cap = sphere(h - r * math.sin(t), t, math.pi / 2)
        return kind, [*polyline([(0, 0), (cap.a[0], 0), cap.a]), cap]
    if kind == "dimple":
        t = u(-0.2, 1.2)
        cap = Arc((0, 20 + r * math.sin(t)), (r, r), -t, -math.pi / 2)
        return kind, [*polyline([(0, 0), (12, 0), (12, 20), cap.a]), cap]
    if kind == "bowl":
        t, w = u(0.1, 1.2), u(0.3, 0.6)
        out, inner = sphere(0, -math.pi / 2, t), Arc((0, 0), (r * w, r * w), t, -math.pi / 2)
        return kind, [out, Line(out.b, inner.a), inner]
    if kind == "spindle":
        t, s, h = u(0.2, 1.2), u(0.5, 1.5), u(2, 6)
        q = r * math.cos(t)
        low = Arc((0, r * math.sin(t)), (r, r), -math.pi / 2, -t)
        top = Arc((0, low.b[1] + h), (q, q * s), 0, math.pi / 2)
        return kind, [low, Line(low.b, top.a), top]
    if kind == "ring":
        m = r * u(0.1, 0.95)
        return kind, [Arc((r, 0), (m, m), 0, TAU)]
    if kind == "fillets":
        f, h = r * u(0.1, 0.4), u(8, 12)
        convex = Arc((r - f, h - f), (f, f), 0, math.pi / 2)
        concave = Arc((r + f, f + 1), (f, f), 1.5 * math.pi, math.pi)
        return kind, [*polyline([(0, 0), (r + f + 1, 0), (r + f + 1, 1), concave.a]), concave, Line(concave.b, convex.a), convex,
                      Line(convex.b, (0, h))]
    if kind == "cone":
        if rnd.random() < 0.5:
            return kind, polyline([(0, 0), (r, 0), (0, u(1, 10)), (0, 0)])[:2]
        q = r * u(0.2, 0.8)
        return kind, polyline([(q, 0), (r, 0), (r * u(0.85, 1.3), 5), (q * u(0.3, 1), 5), (q, 0)])
    if kind == "apple":
        d = r * u(0.1, 0.8)
        t = math.acos(-d / r)
        return kind, [Arc((d, 0), (r, r), -t, t)]
    if kind == "lemon":
        d = r * u(0.1, 0.8)
        t = math.acos(d / r)
        return kind, [Arc((-d, 0), (r, r), -t, t)]
    return kind, [Arc((0, 0), (r, r * u(0.4, 2)), -math.pi / 2, math.pi / 2)]


class File:
    def __init__(self):
        self.lines, self.frame = [], None

    def add(self, text):
        self.lines.append(text)
        return f"#{len(self.lines)}"

    def point(self, p):
        o, axes = self.frame
        q = [o[k] + sum(p[i] * axes[i][k] for i in range(3)) for k in range(3)]
        return self.add(f"CARTESIAN_POINT('',({q[0]!r},{q[1]!r},{q[2]!r}))")

    def direction(self, d):
        axes = self.frame[1]
        q = [sum(d[i] * axes[i][k] for i in range(3)) for k in range(3)]
        return self.add(f"DIRECTION('',({q[0]!r},{q[1]!r},{q[2]!r}))")

    def placement(self, o, z, x):
        return self.add(f"AXIS2_PLACEMENT_3D('',{self.point(o)},{self.direction(z)},{self.direction(x)})")

    def line(self, p, d):
        vector = self.add(f"VECTOR('',{self.direction(d)},1.)")
        return self.add(f"LINE('',{self.point(p)},{vector})")

    def vertex(self, p):
        return self.add(f"VERTEX_POINT('',{self.point(p)})")

    def pcurve(self, surface, p, d):
        p = self.add(f"CARTESIAN_POINT('',({p[0]!r},{p[1]!r}))")
        d = self.add(f"DIRECTION('',({d[0]!r},{d[1]!r}))")
        vector = self.add(f"VECTOR('',{d},1.)")
        line = self.add(f"LINE('',{p},{vector})")
        holder = self.add(f"DEFINITIONAL_REPRESENTATION('',({line}),{self.context2})")
        return self.add(f"PCURVE('',{surface},{holder})")


def unit(v):
    n = math.sqrt(sum(x * x for x in v))
    return [x / n for x in v]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def random_frame(rnd):
    z = unit([rnd.gauss(0, 1) for _ in range(3)])
    x = unit(cross(z, [rnd.gauss(0, 1) for _ in range(3)]))
    return [rnd.uniform(-50, 50) for _ in range(3)], [x, cross(z, x), z]


FLAG = {True: ".T.", False: ".F."}


class Profile:
    """A segment as a curve of the file in the half-plane at angle `phi`."""

    def __init__(self, f, rnd, segment, phi, trimmed, spline):
        e, z = [math.cos(phi), math.sin(phi), 0.0], [0.0, 0.0, 1.0]
        place = lambda p: [e[0] * p[0], e[1] * p[0], p[1]]
        self.along = rnd.random() < 0.5
        if isinstance(segment, Line):
            d = unit(segment.derivative(0))
            # Its point is anywhere on it.
            at = segment.at(rnd.uniform(-2, 2))
            self.begins = at[0] > 0
            sign = 1 if self.along else -1
            self.parameter = lambda s: sign * ((segment.at(s)[0] - at[0]) * d[0] + (segment.at(s)[1] - at[1]) * d[1])
            self.id = f.line(place(at), [sign * x for x in place(d)])
            # A horizontal line continues beyond the axis.
            self.crosses = abs(d[0]) > 1e-12
        elif spline and abs(segment.t1 - segment.t0) < TAU - 1e-9:
            self.id, n = self.spline(f, rnd, segment, place)
            self.parameter = lambda s: n * s if self.along else n * (1 - s)
            self.crosses = False
        else:
            grows = (segment.t1 > segment.t0) == self.along
            n = cross(e, z) if grows else cross(z, e)
            circle = segment.radii[0] == segment.radii[1]
            shift = rnd.uniform(0, TAU) if circle else rnd.choice([0, math.pi / 2, math.pi, 1.5 * math.pi])
            x = [math.cos(shift) * p + math.sin(shift) * q for p, q in zip(e, z)]
            sign = 1 if grows else -1
            self.parameter = lambda s: sign * (segment.angle(s) - shift)
            radii = segment.radii if shift in (0, math.pi) or circle else segment.radii[::-1]
            frame = f.placement(place(segment.c), n, x)
            name = f"CIRCLE('',{frame},{radii[0]!r})" if circle else f"ELLIPSE('',{frame},{radii[0]!r},{radii[1]!r})"
            self.id = f.add(name)
            self.crosses = segment.c[0] < segment.radii[0] * 0.999
            if trimmed and abs(segment.t1 - segment.t0) < TAU - 1e-9:
                a, b = (0, 1) if self.along else (1, 0)
                t0, t1 = self.parameter(a), self.parameter(b)
                self.id = f.add(f"TRIMMED_CURVE('',{self.id},(PARAMETER_VALUE({t0!r})),(PARAMETER_VALUE({t1!r})),.T.,"
                                ".PARAMETER.)")
                self.crosses = False

    def spline(self, f, rnd, arc, place):
        """The arc as a rational spline; ends on the axis are off it by rounding of the writer. Its number of spans."""
        n = max(1, math.ceil(abs(arc.t1 - arc.t0) / (math.pi / 2) - 1e-9))
        half = 0.5 * abs(arc.t1 - arc.t0) / n
        size = max(arc.radii)
        points, weights = [], []
        for k in range(2 * n + 1):
            t, far = arc.t0 + (arc.t1 - arc.t0) * k / (2 * n), k % 2
            scale = 1 / math.cos(half) if far else 1.0
            p = [arc.c[i] + arc.radii[i] * (math.cos, math.sin)[i](t) * scale for i in (0, 1)]
            if k in (0, 2 * n) and abs(p[0]) < 1e-9:
                p[0] = size * rnd.choice([0.0, 1.0, -1.0]) * 10.0 ** rnd.randint(-15, -7)
            points.append(place(p))
            weights.append(math.cos(half) if far else 1.0)
        if not self.along:
            points, weights = points[::-1], weights[::-1]
        ids = ",".join(f.point(p) for p in points)
        multiplicities = ",".join(["3", *["2"] * (n - 1), "3"])
        knots = ",".join(f"{k}." for k in range(n + 1))
        return f.add(f"(BOUNDED_CURVE() B_SPLINE_CURVE(2,({ids}),.UNSPECIFIED.,.F.,.F.) "
                     f"B_SPLINE_CURVE_WITH_KNOTS(({multiplicities}),({knots}),.UNSPECIFIED.) CURVE() "
                     "GEOMETRIC_REPRESENTATION_ITEM() "
                     f"RATIONAL_B_SPLINE_CURVE(({','.join(repr(w) for w in weights)})) REPRESENTATION_ITEM(''))"), n


def solid_of_revolution(f, rnd, name):
    kind, segments = profiles(rnd)
    full = rnd.random() < 0.6
    theta = TAU if full else rnd.uniform(0.3, 5.9)
    phi = rnd.uniform(0, TAU)
    pcurves, trimmed, seams = rnd.random() < 0.5, rnd.random() < 0.4, rnd.random() < 0.6
    splines = rnd.random() < 0.3
    # Which of two sheets a whole circle stands for must be written somewhere.
    trimmed |= kind in ("apple", "lemon")
    if kind == "ring":
        seams = True
    at = lambda p, phi: [p[0] * math.cos(phi), p[0] * math.sin(phi), p[1]]
    n = len(segments)
    ends = [s.a for s in segments] + [segments[-1].b]
    closed = math.dist(ends[0], ends[-1]) < 1e-9
    if closed:
        ends[-1] = ends[0]
    vertices, rims = {}, {}
    key = lambda p: (round(p[0], 9) + 0.0, round(p[1], 9) + 0.0)
    on_axis = lambda p: p[0] < 1e-9

    def vertex(p, which):
        k = (key(p), 0 if full or on_axis(p) else which)
        if k not in vertices:
            vertices[k] = f.vertex(at(p, phi + (theta if k[1] else 0)))
        return vertices[k]

    swept, witnesses = [], {}
    for s in segments:
        profile = Profile(f, rnd, s, phi, trimmed, splines)
        up = rnd.random() < 0.5
        axis = f.add(f"AXIS1_PLACEMENT('',{f.point([0, 0, rnd.uniform(-9, 9)])},{f.direction([0, 0, 1 if up else -1])})")
        surface = f.add(f"SURFACE_OF_REVOLUTION('',{profile.id},{axis})")
        swept.append((profile, up, surface))
    # Which surfaces an edge lies on, and its line in their parameters.
    for k, (profile, up, surface) in enumerate(swept):
        turn = 1.0 if up else -1.0
        for s, end in ((0, segments[k].a), (1, segments[k].b)):
            if not on_axis(end):
                witnesses.setdefault(("rim", key(end)), []).append(f.pcurve(surface, (0.0, profile.parameter(s)), (turn, 0.0)))
        for which in (0, 1):
            d = (0.0, 1.0 if profile.parameter(1) > profile.parameter(0) else -1.0)
            p = (turn * theta * which, profile.parameter(0))
            witnesses.setdefault(("side", k, 0 if full else which), []).append(f.pcurve(surface, p, d))

    def edge(a, b, curve, key):
        found = witnesses.get(key, [])
        if pcurves and found:
            curve = f.add(f"SURFACE_CURVE('',{curve},({','.join(found)}),.CURVE_3D.)")
        return f.add(f"EDGE_CURVE('',{a},{b},{curve},.T.)")

    for p in ends:
        if not on_axis(p) and key(p) not in rims:
            x = at((1, 0), phi)
            circle = f.add(f"CIRCLE('',{f.placement([0, 0, p[1]], [0, 0, 1], x)},{p[0]!r})")
            rims[key(p)] = edge(vertex(p, 0), vertex(p, 1), circle, ("rim", key(p)))
    sides = {}

    def side(k, which):
        which = 0 if full else which
        if (k, which) not in sides:
            s, turned = segments[k], phi + theta * which
            if isinstance(s, Line):
                curve = f.line(at(s.a, turned), at(unit(s.derivative(0)), turned))
            else:
                e, z = [math.cos(turned), math.sin(turned), 0.0], [0.0, 0.0, 1.0]
                frame = f.placement(at(s.c, turned), cross(e, z) if s.t1 > s.t0 else cross(z, e), e)
                curve = (f.add(f"CIRCLE('',{frame},{s.radii[0]!r})") if s.radii[0] == s.radii[1]
                         else f.add(f"ELLIPSE('',{frame},{s.radii[0]!r},{s.radii[1]!r})"))
            sides[k, which] = edge(vertex(s.a, which), vertex(s.b, which), curve, ("side", k, which))
        return sides[k, which]

    def face(loops, surface, same):
        """Loops are lists of (edge, forward), or the vertex of a vertex loop, along the outward normal."""
        # A face against its surface has bounds along its own normal all the same.
        bounds = []
        for loop in loops:
            if isinstance(loop, str):
                loop = f.add(f"VERTEX_LOOP('',{loop})")
                bounds.append(f.add(f"FACE_BOUND('',{loop},.T.)"))
                continue
            turned = rnd.random() < 0.5
            uses = [(e, forward != turned) for e, forward in (loop[::-1] if turned else loop)]
            k = rnd.randrange(len(uses))
            ids = [f.add(f"ORIENTED_EDGE('',*,*,{e},{FLAG[forward]})") for e, forward in uses[k:] + uses[:k]]
            loop = f.add(f"EDGE_LOOP('',({','.join(ids)}))")
            bounds.append(f.add(f"FACE_BOUND('',{loop},{FLAG[not turned]})"))
        return f.add(f"ADVANCED_FACE('',({','.join(bounds)}),{surface},{FLAG[same]})")

    faces, is_open = [], False
    for k, (profile, up, surface) in enumerate(swept):
        s = segments[k]
        low = [] if on_axis(s.a) else [(rims[key(s.a)], True)]
        high = [] if on_axis(s.b) else [(rims[key(s.b)], False)]
        # The profile along its segment and the axis upwards give the outward normal.
        same = profile.along == up
        if full and not seams:
            loops = [x for x in (low, high) if x] or [vertex(s.a if on_axis(s.a) else s.b, 0)]
            is_open |= profile.crosses and not pcurves
        else:
            loops = [low + [(side(k, 1), True)] + high + [(side(k, 0), False)]]
            is_open |= profile.crosses and not pcurves and not full
        faces.append(face(loops, surface, same))
    if not full:
        for which in (0, 1):
            walk = [(side(k, which), True) for k in range(n)]
            n_ = [-math.sin(phi + theta * which), math.cos(phi + theta * which), 0.0]
            if not closed and not (on_axis(ends[0]) and on_axis(ends[-1])):
                raise AssertionError("open profile")
            if not closed:
                b, a = vertex(ends[-1], which), vertex(ends[0], which)
                if ("axis",) not in sides:
                    curve = f.line([0, 0, ends[-1][1]], [0, 0, math.copysign(1, ends[0][1] - ends[-1][1])])
                    sides["axis",] = f.add(f"EDGE_CURVE('',{b},{a},{curve},.T.)")
                walk.append((sides["axis",], True))
            # At the start the material is behind: outward is against the turn.
            e = [math.cos(phi + theta * which), math.sin(phi + theta * which), 0.0]
            # In the half-plane (e, z) the profile runs counter-clockwise about e x z = -(turn).
            if which == 0:
                plane = f.add(f"PLANE('',{f.placement([0, 0, 0], [-x for x in n_], e)})")
                faces.append(face([walk], plane, True))
            else:
                plane = f.add(f"PLANE('',{f.placement([0, 0, 0], n_, e)})")
                faces.append(face([[(x, not forward) for x, forward in walk[::-1]]], plane, True))
    rnd.shuffle(faces)
    shell = f.add(f"CLOSED_SHELL('',({','.join(faces)}))")
    solid = f.add(f"MANIFOLD_SOLID_BREP('{name}',{shell})")
    volume = theta * sum(half_r2_dz(s) for s in segments)
    what = (f"{kind}, {'full' if full else f'{theta:.2f}'}, {'pcurves' if pcurves else 'no pcurves'}, "
            f"{'spline' if splines else 'trimmed' if trimmed else 'whole'}, {'seams' if seams else 'rims'}")
    return solid, volume, is_open, what


def prism(f, rnd, name):
    """A profile pushed along a line: its sides are surfaces of linear extrusion."""
    u = rnd.uniform
    r = u(2, 10)
    kind = rnd.choice(["cylinder", "D", "stadium", "triangle", "ellipse"])
    if kind in ("cylinder", "ellipse"):
        segments = [Arc((0, 0), (r, r if kind == "cylinder" else r * u(0.3, 2)), 0, TAU)]
    elif kind == "D":
        t = u(0.3, 2.8)
        arc = Arc((0, 0), (r, r), -t, t)
        segments = [arc, Line(arc.b, arc.a)]
    elif kind == "stadium":
        w = u(1, 9)
        right, left = Arc((w, 0), (r, r), -math.pi / 2, math.pi / 2), Arc((-w, 0), (r, r), math.pi / 2, 1.5 * math.pi)
        segments = [right, Line(right.b, left.a), left, Line(left.b, right.a)]
    else:
        segments = polyline([(0, 0), (r, 0), (u(-5, 5), u(2, 9)), (0, 0)])
    h, n = u(1, 20), len(segments)
    up3 = [0.0, 0.0, 1.0]
    at = lambda p, z: [p[0], p[1], z]

    def curve(s, z, forward=True):
        if isinstance(s, Line):
            d = unit(s.derivative(0))
            a = s.at(u(-2, 2))
            return f.line(at(a, z), [d[0], d[1], 0.0] if forward else [-d[0], -d[1], 0.0])
        shift = 0 if kind == "ellipse" else u(0, TAU)
        frame = f.placement(at(s.c, z), up3 if forward else [0, 0, -1.0], [math.cos(shift), math.sin(shift), 0.0])
        if s.radii[0] == s.radii[1]:
            return f.add(f"CIRCLE('',{frame},{s.radii[0]!r})")
        return f.add(f"ELLIPSE('',{frame},{s.radii[0]!r},{s.radii[1]!r})")

    vertices = [[f.vertex(at(s.a, z)) for s in segments] for z in (0.0, h)]
    edges = [[f.add(f"EDGE_CURVE('',{vertices[i][k]},{vertices[i][(k + 1) % n]},{curve(s, z)},.T.)")
              for k, s in enumerate(segments)] for i, z in enumerate((0.0, h))]
    uprights = [f.add(f"EDGE_CURVE('',{vertices[0][k]},{vertices[1][k]},{f.line(at(s.a, 0.0), up3)},.T.)")
                for k, s in enumerate(segments)]

    def face(loops, surface, same):
        bounds = []
        for loop in loops:
            ids = [f.add(f"ORIENTED_EDGE('',*,*,{e},{FLAG[forward]})") for e, forward in loop]
            loop = f.add(f"EDGE_LOOP('',({','.join(ids)}))")
            bounds.append(f.add(f"FACE_BOUND('',{loop},.T.)"))
        return f.add(f"ADVANCED_FACE('',({','.join(bounds)}),{surface},{FLAG[same]})")

    faces, seams = [], rnd.random() < 0.5
    for k, s in enumerate(segments):
        forward, up = rnd.random() < 0.5, rnd.random() < 0.5
        d = f.direction([0, 0, 1.0 if up else -1.0])
        vector = f.add(f"VECTOR('',{d},{u(0.5, 3)!r})")
        surface = f.add(f"SURFACE_OF_LINEAR_EXTRUSION('',{curve(s, u(-5, 5), forward)},{vector})")
        low, high = [(edges[0][k], True)], [(edges[1][k], False)]
        if n == 1 and not seams:
            loops = [low, high]
        else:
            loops = [low + [(uprights[(k + 1) % n], True)] + high + [(uprights[k], False)]]
        faces.append(face(loops, surface, forward == up))
    bottom = f.add(f"PLANE('',{f.placement([0, 0, 0], [0, 0, -1.0], [1.0, 0, 0])})")
    top = f.add(f"PLANE('',{f.placement([0, 0, h], [0, 0, 1.0], [1.0, 0, 0])})")
    faces.append(face([[(e, False) for e in edges[0][::-1]]], bottom, True))
    faces.append(face([[(e, True) for e in edges[1]]], top, True))
    shell = f.add(f"CLOSED_SHELL('',({','.join(faces)}))")
    solid = f.add(f"MANIFOLD_SOLID_BREP('{name}',{shell})")
    return solid, h * sum(r_dz(s) for s in segments), False, f"prism, {kind}, {'seams' if seams else 'rims'}"


def write(folder, count, seed):
    rnd = random.Random(seed)
    f = File()
    f.context2 = f.add("(GEOMETRIC_REPRESENTATION_CONTEXT(2) PARAMETRIC_REPRESENTATION_CONTEXT() "
                       "REPRESENTATION_CONTEXT('',''))")
    length = f.add("(LENGTH_UNIT() NAMED_UNIT(*) SI_UNIT(.MILLI.,.METRE.))")
    angle = f.add("(NAMED_UNIT(*) PLANE_ANGLE_UNIT() SI_UNIT($,.RADIAN.))")
    context = f.add(f"(GEOMETRIC_REPRESENTATION_CONTEXT(3) GLOBAL_UNIT_ASSIGNED_CONTEXT(({length},{angle})) "
                    "REPRESENTATION_CONTEXT('',''))")
    solids, facts = [], {}
    for i in range(count):
        f.frame = random_frame(rnd)
        name = f"s{i:04}"
        make = prism if rnd.random() < 0.15 else solid_of_revolution
        solid, volume, is_open, what = make(f, rnd, name)
        solids.append(solid)
        facts[name] = {"volume": volume, "open": is_open, "what": what, "id": int(solid[1:])}
    f.add(f"ADVANCED_BREP_SHAPE_REPRESENTATION('',({','.join(solids)}),{context})")
    data = "".join(f"#{i + 1}={line};\n" for i, line in enumerate(f.lines))
    head = ("ISO-10303-21;\nHEADER;\nFILE_DESCRIPTION((''),'2;1');\nFILE_NAME('swept','2000-01-01T00:00:00',(''),(''),'','','');\n"
            "FILE_SCHEMA(('AUTOMOTIVE_DESIGN'));\nENDSEC;\nDATA;\n")
    (folder / "swept.step").write_text(f"{head}{data}ENDSEC;\nEND-ISO-10303-21;\n")
    (folder / "swept.json").write_text(json.dumps(facts, indent=1))


def check(folder, feeler):
    facts = json.loads((folder / "swept.json").read_text())
    run = subprocess.run([feeler, "inspect", str(folder / "swept.step"), "--json"], capture_output=True, text=True)
    report = json.loads(run.stdout)
    found, warnings = {s["name"]: s for s in report["solids"]}, report["warnings"]
    wrong, warned, refused = 0, 0, 0
    for name, fact in facts.items():
        s = found.get(name)
        if s is None:
            refused += 1
            wrong += not fact["open"]
            print(f"{name} (#{fact['id']}, {fact['what']}{', open' if fact['open'] else ''}): refused")
            continue
        if abs(s["volume"] - fact["volume"]) <= 1e-6 * fact["volume"]:
            continue
        if fact["open"] and any(f"#{fact['id']}" in w for w in warnings):
            warned += 1
            continue
        wrong += 1
        print(f"{name} (#{fact['id']}, {fact['what']}{', open' if fact['open'] else ''}): {s['volume']:.6f} instead of "
              f"{fact['volume']:.6f}")
    print(f"{wrong} of {len(facts)} wrong ({refused} refused); {warned} with a warning that the file leaves it open")
    sys.exit(1 if wrong else 0)


def main():
    arguments = sys.argv[1:]
    option = lambda name, default: arguments[arguments.index(name) + 1] if name in arguments else default
    if not arguments:
        sys.exit(__doc__)
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    if "--check" in arguments:
        check(folder, option("--check", ""))
    else:
        write(folder, int(option("--count", 1000)), int(option("--seed", 1)))


if __name__ == "__main__":
    main()
