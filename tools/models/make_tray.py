"""Prints data/pour/tray.stl: a closed container of 100 x 100 x 60 mm as twelve triangles that look outwards.

    python make_tray.py > tray.stl
"""


def cross(u, v):
    return [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]


points = [(x, y, z) for z in (0, 60) for y in (-50, 50) for x in (-50, 50)]
quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
print("solid tray")
for q in quads:
    for corners in ([q[0], q[1], q[2]], [q[0], q[2], q[3]]):
        a, b, c = (points[k] for k in corners)
        normal = cross([x - y for x, y in zip(b, a)], [x - y for x, y in zip(c, a)])
        length = sum(x * x for x in normal) ** 0.5
        print("facet normal {:g} {:g} {:g}\nouter loop".format(*(x / length for x in normal)))
        for p in (a, b, c):
            print("vertex {:g} {:g} {:g}".format(*p))
        print("endloop\nendfacet")
print("endsolid tray")
