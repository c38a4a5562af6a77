"""Writes voxel images of synthetic grains, the inputs of docs/TESSELLATIONS.md: Voronoi cells of random points.

    python tools/site/grains.py IMAGE.nrrd [SIZE [GRAINS]]    # SIZE³ voxels (40), number of grains (30)
    python tools/site/grains.py IMAGE.raw 160 --repeat 4      # each voxel is repeated, unsigned 16-bit
    python tools/site/grains.py FOLDER                        # one .tif file for each slice

Needs only the standard library; repeated runs write the same bytes.
"""

import argparse
import random
import struct
from pathlib import Path


def labels(size: int, grains: int, is_periodic: bool) -> list[bytearray]:
    """Slices of labels, the x axis fastest. The label of a voxel is that of the nearest of the random points."""
    rng = random.Random(20)
    points = [[rng.uniform(0, size) for _ in range(3)] for _ in range(grains)]
    out = []
    for z in range(size):
        piece = bytearray()
        for y in range(size):
            # Squared distances of points within a row, without x.
            row = []
            for k, (px, py, pz) in enumerate(points):
                dy, dz = abs(y + 0.5 - py), abs(z + 0.5 - pz)
                if is_periodic:
                    dy, dz = min(dy, size - dy), min(dz, size - dz)
                row.append((dy * dy + dz * dz, px, k + 1))
            row.sort()
            for x in range(size):
                best, label = float("inf"), 0
                for rest, px, k in row:
                    if rest >= best:
                        break
                    dx = abs(x + 0.5 - px)
                    if is_periodic:
                        dx = min(dx, size - dx)
                    if rest + dx * dx < best:
                        best, label = rest + dx * dx, k
                piece.append(label)
        out.append(piece)
    return out


def tiff(piece: bytes, size: int) -> bytes:
    """Uncompressed TIFF of one slice, 8 bits a pixel."""
    entries = [(256, 3, size), (257, 3, size), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, 8), (277, 3, 1),
               (278, 3, size), (279, 4, len(piece))]  # fmt: skip
    directory = struct.pack("<H", len(entries))
    directory += b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in entries)
    return struct.pack("<2sHI", b"II", 42, 8 + len(piece)) + piece + directory + struct.pack("<I", 0)


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes a voxel image of synthetic grains.")
    parser.add_argument("out", type=Path, help="IMAGE.nrrd, IMAGE.raw, or a folder of .tif slices")
    parser.add_argument("size", nargs="?", type=int, default=40, help="number of voxels along an edge")
    parser.add_argument("grains", nargs="?", type=int, default=30, help="number of grains, at most 255")
    parser.add_argument("--repeat", type=int, default=1, help="edge length of a voxel in voxels of the image (raw)")
    options = parser.parse_args()
    is_folder = not options.out.suffix
    slices = labels(options.size // options.repeat, options.grains, is_periodic=is_folder)
    if is_folder:
        options.out.mkdir(parents=True, exist_ok=True)
        for k, piece in enumerate(slices):
            (options.out / f"{k:03}.tif").write_bytes(tiff(bytes(piece), options.size))
    elif options.out.suffix == ".raw":
        n = options.size // options.repeat
        with options.out.open("wb") as file:
            for piece in slices:
                rows = (piece[y * n : (y + 1) * n] for y in range(n))
                wide = (b"".join(struct.pack("<H", v) * options.repeat for v in row) for row in rows)
                file.write(b"".join(row * options.repeat for row in wide) * options.repeat)
    else:
        sizes = " ".join([str(options.size)] * 3)
        header = f"NRRD0004\ntype: uint8\ndimension: 3\nsizes: {sizes}\nencoding: raw\n\n"
        options.out.write_bytes(header.encode() + b"".join(slices))


if __name__ == "__main__":
    main()
