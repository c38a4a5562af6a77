"""Meshes cells of `feeler tessellate -o cells.geo` with tetrahedra of gmsh, and prints the shapes of the elements.

    pip install gmsh numpy
    python tools/oracle/mesh_cells.py CELLS.geo... [--size LENGTH]

The aspect ratio of a tetrahedron is its longest edge over its smallest altitude: 1.22 for a regular one. The exit status
is 1 if a cell of the last file has no elements, if its elements do not fill the box, or if one of them has an aspect
ratio above 20.
"""

import argparse
import sys
import time

import gmsh
import numpy as np

MAX_ASPECT_RATIO = 20.0
"""Largest permitted aspect ratio."""
SIDES = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
FACES = [(1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2)]


def aspect_ratios(corners):
    """Aspect ratios and volumes of tetrahedra, from an array of shape (n, 4, 3)."""
    longest = np.max([np.linalg.norm(corners[:, a] - corners[:, b], axis=1) for a, b in SIDES], axis=0)
    u, v, w = (corners[:, k] - corners[:, 0] for k in (1, 2, 3))
    volumes = np.abs(np.einsum("ij,ij->i", u, np.cross(v, w))) / 6
    areas = [
        0.5 * np.linalg.norm(np.cross(corners[:, b] - corners[:, a], corners[:, c] - corners[:, a]), axis=1)
        for a, b, c in FACES
    ]
    altitudes = 3 * volumes / np.max(areas, axis=0)
    return longest / np.maximum(altitudes, 1e-300), volumes


def mesh(path, size):
    """Meshes a file; returns the corners of the elements, and the number of elements of each volume."""
    gmsh.clear()
    if size is not None:
        gmsh.onelab.set_number("Parameters/size", [size])
        gmsh.parser.set_number("size", [size])
    gmsh.open(path)
    gmsh.model.mesh.generate(3)
    tags, points, _ = gmsh.model.mesh.get_nodes()
    order = np.zeros(int(tags.max()) + 1, dtype=int)
    order[tags.astype(int)] = np.arange(len(tags))
    points = points.reshape(-1, 3)
    volumes = gmsh.model.get_entities(3)
    counts, elements = {}, []
    for _, volume in volumes:
        _, _, nodes = gmsh.model.mesh.get_elements(3, volume)
        nodes = np.concatenate(nodes).astype(int).reshape(-1, 4) if nodes else np.zeros((0, 4), int)
        counts[volume] = len(nodes)
        elements.append(nodes)
    return points[order[np.concatenate(elements)]], counts, points


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--size", type=float, help="largest size of an element; default: that of the file")
    parser.add_argument("--worst", type=int, default=0, help="number of worst elements to print")
    arguments = parser.parse_args()
    gmsh.initialize()
    gmsh.option.set_number("General.Verbosity", 2)
    is_good = True
    print("file, elements, empty cells, volume / box, aspect ratio: median, 99 %, 99.99 %, largest, number above 20, seconds")
    for path in arguments.files:
        start = time.perf_counter()
        try:
            corners, counts, points = mesh(path, arguments.size)
        except Exception as error:
            print(f"{path}: gmsh fails: {error}")
            is_good = False
            continue
        seconds = time.perf_counter() - start
        ratios, volumes = aspect_ratios(corners)
        box = np.prod(points.max(axis=0) - points.min(axis=0))
        empty = sum(n == 0 for n in counts.values())
        above = int((ratios > MAX_ASPECT_RATIO).sum())
        quantiles = ", ".join(f"{q:.2f}" for q in np.quantile(ratios, [0.5, 0.99, 0.9999, 1.0]))
        print(f"{path}, {len(ratios)}, {empty}, {volumes.sum() / box:.6f}, {quantiles}, {above}, {seconds:.1f}")
        for k in np.argsort(-ratios)[: arguments.worst]:
            print(f"    aspect ratio {ratios[k]:.1f} at {corners[k].mean(axis=0).round(3).tolist()}, sides "
                  f"{[round(float(np.linalg.norm(corners[k, a] - corners[k, b])), 3) for a, b in SIDES]}")
        is_good = empty == 0 and above == 0 and abs(volumes.sum() / box - 1) < 1e-3
    gmsh.finalize()
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
