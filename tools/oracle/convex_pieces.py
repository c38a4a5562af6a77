"""Compares convex pieces of feeler with those of CoACD or VHACD on meshes of STEP files.

    pip install coacd numpy
    cargo build --release -p feeler-cli; cargo build --release -p feeler-pieces --example compare
    python tools/oracle/convex_pieces.py FEELER COMPARE FILE.step... [--threshold T] [--vhacd PROGRAM]

FEELER is the program `feeler`, COMPARE the example. For each file, CoACD decomposes a mesh of the first solid, or VHACD:
PROGRAM is the program `vhacd` of feeler-benches, which writes the hulls of a mesh. The example measures these hulls, and
decomposes the same mesh with the measured convexity. Convexities are relative to the size.
"""

import argparse
import json
import struct
import subprocess
import tempfile
import time
from pathlib import Path

import coacd
import numpy as np

CHORD_PARTS = 500
"""Size of a solid divided by the chord error of its mesh."""
COMPONENTS = {"SCALAR": 1, "VEC3": 3}
TYPES = {5121: np.uint8, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}


def glb_mesh(path):
    """Points and triangles of the first node with a mesh in a binary glTF file, with equal points merged."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    gltf = json.loads(data[20 : 20 + length])
    binary = data[28 + length :]

    def array(index):
        accessor = gltf["accessors"][index]
        view = gltf["bufferViews"][accessor["bufferView"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        count = accessor["count"] * COMPONENTS[accessor["type"]]
        values = np.frombuffer(binary, TYPES[accessor["componentType"]], count, start)
        return values.reshape(accessor["count"], -1)

    points, triangles, base = [], [], 0
    for primitive in gltf["meshes"][0]["primitives"]:
        if primitive.get("mode", 4) != 4:
            continue
        corners = array(primitive["attributes"]["POSITION"])
        points.append(corners)
        triangles.append(array(primitive["indices"]).reshape(-1, 3).astype(np.int64) + base)
        base += len(corners)
    unique, inverse = np.unique(np.vstack(points).astype(float), axis=0, return_inverse=True)
    merged = inverse.reshape(-1)[np.vstack(triangles)]
    proper = (merged[:, 0] != merged[:, 1]) & (merged[:, 1] != merged[:, 2]) & (merged[:, 2] != merged[:, 0])
    return unique, merged[proper]


def write_obj(path, parts):
    """Writes objects, given as pairs of points and triangles; triangles are numbered within their object."""
    with path.open("w") as out:
        for k, (points, triangles) in enumerate(parts):
            out.write(f"o {k}\n")
            out.writelines("v {!r} {!r} {!r}\n".format(*map(float, p)) for p in points)
            out.writelines("f {} {} {}\n".format(*(int(i) + 1 for i in t)) for t in triangles)


def size_of(points):
    return float(np.linalg.norm(points.max(axis=0) - points.min(axis=0)))


def measured(compare, mesh, convexity, hulls=None):
    command = [compare, str(mesh), repr(convexity)] + ([str(hulls)] if hulls else [])
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def row(name, method, result, size, seconds):
    convexity, uncovered = result["convexity"] / size, result["uncovered"] / size
    print(
        f"| {name} | {method} | {result['pieces']} | {convexity:.4f} | {uncovered:.1e} | "
        f"{result['volume_ratio']:.3f} | {seconds:.2f} |",
        flush=True,
    )


def compare(args, file, folder):
    glb, mesh, hulls = folder / "mesh.glb", folder / "mesh.obj", folder / "hulls.obj"
    subprocess.run([args.feeler, "view", "-q", "--plain", str(file), "-o", str(glb)], check=True)
    points, _ = glb_mesh(glb)
    chord = repr(size_of(points) / CHORD_PARTS)
    subprocess.run([args.feeler, "view", "-q", "--plain", "--chord", chord, str(file), "-o", str(glb)], check=True)
    points, triangles = glb_mesh(glb)
    size = size_of(points)
    write_obj(mesh, [(points, triangles)])
    name = f"{file.stem} ({len(triangles)})"
    start = time.perf_counter()
    if args.vhacd:
        subprocess.run([args.vhacd, str(mesh), str(hulls)], check=True)
    else:
        write_obj(hulls, coacd.run_coacd(coacd.Mesh(points, triangles), threshold=args.threshold))
    seconds = time.perf_counter() - start
    theirs = measured(args.compare, mesh, args.threshold * size, hulls)
    row(name, "VHACD" if args.vhacd else "CoACD", theirs, size, seconds)
    ours = measured(args.compare, mesh, theirs["convexity"])
    row(name, "feeler", ours, size, ours["seconds"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("feeler")
    parser.add_argument("compare")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--threshold", type=float, default=0.05, help="concavity of CoACD")
    parser.add_argument("--vhacd", help="program that writes the hulls of VHACD")
    args = parser.parse_args()
    coacd.set_log_level("error")
    print("| solid (triangles) | method | pieces | convexity / size | uncovered / size | volume ratio | s |")
    print("|---|---|---|---|---|---|---|")
    for file in args.files:
        with tempfile.TemporaryDirectory() as folder:
            compare(args, file, Path(folder))


if __name__ == "__main__":
    main()
