"""Volumes of the common parts of interfering solids, by an independent kernel (Open CASCADE) and by meshes.

    pip install -r tools/oracle/requirements.txt
    python tools/oracle/overlaps.py FEELER OUT.jsonl [--count N] [--touching M] [--seed S] [FILE.step...]

FEELER is the program. Pairs are N (350) pairs of single-solid files of data/ at random poses, every fourth one parallel
to the axes and shifted by whole millimetres, so that faces coincide, and then pairs of the assemblies FILE.step: all
interfering ones as placed, and M (12) touching ones of each file, with one part moved by 2 to 20 % of the smaller
part's diagonal so that they interfere. The volume of `feeler query --volume` is compared with the Boolean intersection
of the kernel, and with the smaller volume minus that of its Boolean difference with the other solid.

The kernel's error is estimated as the difference of its two values, plus the error of its integrals, plus 1e-6 of the
volume. If the volumes differ by more than both errors, the kernel's volume of the same solids without splines decides
which one is wrong, or the limit of refined meshes (booleans of manifold3d, Richardson extrapolation).

OUT.jsonl has one line for each pair; existing pairs are skipped, so that an interrupted run can be continued. Prints
one line for each pair: files, volume, relative difference, relative stated error, estimated relative error of the
kernel, method, seconds of the volume without the verdict; for pairs that differ also the pose, the volume of the meshes
and the conclusion. Then a summary by method.
"""

import argparse
import json
import math
import subprocess
import tempfile
import time
from pathlib import Path

import manifold3d
import numpy as np
from OCP.BRepAlgoAPI import BRepAlgoAPI_Common, BRepAlgoAPI_Cut
from OCP.BRepGProp import BRepGProp
from OCP.BRepMesh import BRepMesh_IncrementalMesh
from OCP.BRepTools import BRepTools
from OCP.BRepPrimAPI import BRepPrimAPI_MakeBox
from OCP.gp import gp_Pnt
from OCP.GProp import GProp_GProps
from OCP.TopoDS import TopoDS
from OCP.TopAbs import TopAbs_FACE

import judge
from assemblies import match, placed, prepared
from judge import HERE, Reference, Solid, moved
from mesh_volume import explore, triangles

DATA = Path(__file__).resolve().parents[2] / "data"
NAMES = """ball blind-bore bore box box-nurbs cone cone-nurbs cylinder cylinder-nurbs half-cone loft perforated-plate
 pin plug race ring shaft shaft-nurbs socket sphere sphere-nurbs spool stepped-cone stepped-seat torus torus-nurbs void
 wave""".split()
LIMIT = 200.0  # seconds for each question to the kernel
# Relative error of a volume of the kernel, even if its values agree.
KERNEL_ERROR = 1e-6
MAX_TRIANGLES = 2_000_000  # of both meshes
# Chord errors of the meshes, relative to the diagonal of the overlap's box.
DEFLECTIONS = [4e-4, 1e-4, 2.5e-5, 6.25e-6, 1.5625e-6]


def integral(shape):
    """Volume of a shape, and the estimated error of the integral."""
    props = GProp_GProps()
    error = BRepGProp.VolumeProperties_s(shape, props, 1e-9, True, True)
    return props.Mass(), abs(error * props.Mass())


def booleans(a, b, pose):
    """Volume of the intersection, that of the smaller solid minus that of the difference, and the integrals' error."""
    smaller, larger = a.shape, moved(b.shape, pose)
    common = integral(BRepAlgoAPI_Common(smaller, larger).Shape())
    if b.volume < a.volume:
        smaller, larger = larger, smaller
    whole, rest = integral(smaller), integral(BRepAlgoAPI_Cut(smaller, larger).Shape())
    return common[0], whole[0] - rest[0], common[1]


def mesh(shape, deflection):
    """Closed mesh of a solid, with vertices of neighbouring faces merged."""
    BRepTools.Clean_s(shape)
    BRepMesh_IncrementalMesh(shape, deflection, False, 0.3, True)
    t = np.concatenate([triangles(TopoDS.Face_s(f)) for f in explore(shape, TopAbs_FACE)]).reshape(-1, 3)
    grain = 1e-9 * float(np.abs(t).max())
    _, first, index = np.unique(np.round(t / grain).astype(np.int64), axis=0, return_index=True, return_inverse=True)
    index = index.reshape(-1, 3)
    proper = (index[:, 0] != index[:, 1]) & (index[:, 1] != index[:, 2]) & (index[:, 0] != index[:, 2])
    data = manifold3d.Mesh64(vert_properties=t[first], tri_verts=index[proper].astype(np.uint64))
    data.merge()
    return manifold3d.Manifold(data)


def cropped(shape, size, low, high):
    """The part of a solid in a box that is larger than the overlap, if the solid is much larger."""
    margin = 0.05 * (high - low).max()
    if size < 3.0 * np.linalg.norm(high - low):
        return shape
    box = BRepPrimAPI_MakeBox(gp_Pnt(*(low - margin)), gp_Pnt(*(high + margin))).Shape()
    return BRepAlgoAPI_Common(shape, box).Shape()


def meshes(a, b, pose, low, high):
    """Volumes of the intersections of meshes at the chord errors; `None` where a mesh is not closed."""
    low, high = np.array(low), np.array(high)
    shapes = [cropped(shape, s.size, low, high) for shape, s in ((a.shape, a), (moved(b.shape, pose), b))]
    out, count = [], 0
    for d in DEFLECTIONS:
        # A mesh has four times as many triangles as the one before.
        if count > MAX_TRIANGLES / 4:
            break
        x, y = (mesh(shape, d * np.linalg.norm(high - low)) for shape in shapes)
        count = x.num_tri() + y.num_tri()
        bad = x.status() != manifold3d.Error.NoError or y.status() != manifold3d.Error.NoError
        out.append(None if bad else (x ^ y).volume())
    return out


judge.STAGES["booleans"] = booleans
judge.STAGES["meshes"] = meshes


def limit(volumes):
    """Extrapolated volume of refined meshes, and its error."""
    if volumes is None or None in volumes or len(volumes) < 3:
        return None
    ratio = DEFLECTIONS[0] / DEFLECTIONS[1] - 1.0
    x, y, z = volumes[-3:]
    first, second = y + (y - x) / ratio, z + (z - y) / ratio
    return second, abs(second - first) + 1e-9 * abs(second)


def query(feeler, files, solids, pose, *more):
    """Output of `feeler query`, and the seconds of it."""
    text = ",".join(repr(float(x)) for x in pose)
    args = [feeler, "query", *files, "--solid-a", solids[0], "--solid-b", solids[1], "--d-max", "0.01", "--json", "-q"]
    clock = time.monotonic()
    run = subprocess.run([*map(str, args), "--pose-b", text, *more], capture_output=True, text=True, check=False)
    return (json.loads(run.stdout) if run.stdout else {}), time.monotonic() - clock


def compare(feeler, files, solids, reference, numbers, pose, canonical=None):
    """Row of a pair with the volumes and the conclusion; `None` if the solids do not interfere. `canonical` are the
    numbers of the same solids without splines, if there are any, which the kernel computes more exactly."""
    verdict, before = query(feeler, files, solids, pose)
    if verdict.get("status") != "interfering":
        return None
    answer, seconds = query(feeler, files, solids, pose, "--volume")
    found = answer.get("overlap")
    if found is None:
        return None
    row = {key: found[key] for key in ("volume", "error", "method")}
    row["seconds"] = max(seconds - before, 0.0)
    kernel = reference.query("booleans", *numbers, pose)
    row["kernel"] = kernel
    volume, error = found["volume"], found["error"]
    usable = kernel is not None and kernel[0] > 0.0
    if usable:
        row["kernel_error"] = abs(kernel[0] - kernel[1]) + kernel[2] + KERNEL_ERROR * kernel[0]
        row["off"] = abs(volume - kernel[0]) / kernel[0]
        if abs(volume - kernel[0]) <= error + row["kernel_error"]:
            row["result"] = "agrees"
            # A small difference is not a coincidence, even if the two values of the kernel differ.
            if min(row["kernel_error"], abs(volume - kernel[0]) - error) <= 10 * KERNEL_ERROR * kernel[0]:
                return row
    if usable and canonical not in (None, numbers):
        row["kernel_canonical"] = exact = reference.query("booleans", *canonical, pose)
        if exact is not None:
            exact_error = abs(exact[0] - exact[1]) + exact[2] + KERNEL_ERROR * exact[0]
            if abs(volume - exact[0]) <= error + exact_error:
                row.setdefault("result", "kernel is wrong")
                return row
    row["meshes"] = reference.query("meshes", *numbers, pose, found["bbox_min"], found["bbox_max"])
    best = limit(row["meshes"])
    if best is None:
        row.setdefault("result", "undecided")
        return row
    row["mesh_error"] = best[1]
    is_near = abs(best[0] - volume) <= best[1] + error
    if "result" in row:
        row["result"] = "agrees with meshes" if is_near else "differs from meshes"
    elif not is_near:
        row["result"] = "feeler is wrong"
    elif usable and abs(best[0] - kernel[0]) <= best[1] + row["kernel_error"]:
        row["result"] = "undecided"
    else:
        row["result"] = "kernel is wrong"
    return row


def shown(row):
    volume = row["volume"]
    off = f"{row['off']:.1e}" if "off" in row else "-"
    kernel = f"{row['kernel_error'] / volume:.1e}" if "kernel_error" in row else "-"
    error = f"{row['error'] / volume:.1e}"
    text = f"{row['a']} {row['b']} {volume:.9g} {off} {error} {kernel} {row['method']} {row['seconds']:.2f}"
    if not row["result"].startswith("agrees"):
        best = limit(row.get("meshes"))
        meshes = f"meshes {best[0]:.9g} ± {best[1]:.1e}" if best else f"without splines {row.get('kernel_canonical')}"
        text += f"  {row['result'].upper()}: kernel {row['kernel']}, {meshes}, pose {','.join(map(str, row['pose']))}"
    return text


def generated(feeler, folder, done, count, seed):
    """Rows of random pairs of data/."""
    solids = [Solid(placed(DATA / f"{name}.step")[0][0]) for name in NAMES]
    for name in NAMES:
        prepared(feeler, DATA / f"{name}.step", folder / f"{name}.feeler")
    reference = Reference(solids, LIMIT)
    rng = np.random.default_rng(seed)
    found = 0
    for k in range(100 * count):
        if found >= count:
            break
        i, j = map(int, rng.choice(len(NAMES), 2))
        q, t = rng.normal(size=4), rng.uniform(-8, 8, 3)
        if k % 4 == 3:
            # A quarter turn about one axis, or none.
            axis, t = rng.integers(0, 4), np.round(t)
            q = np.array([0.0, 0.0, 0.0, 1.0])
            if axis < 3:
                q[axis] = 1.0
        pose = [*t.tolist(), *(q / np.linalg.norm(q)).tolist()]
        key = (NAMES[i], NAMES[j], str(pose))
        if key in done:
            found += done[key]["volume"] is not None
            continue
        files = [folder / f"{NAMES[n]}.feeler" for n in (i, j)]
        canonical = tuple(NAMES.index(NAMES[n].removesuffix("-nurbs")) for n in (i, j))
        row = compare(feeler, files, (0, 0), reference, (i, j), pose, canonical)
        found += row is not None
        yield {"a": NAMES[i], "b": NAMES[j], "pose": pose, **(row or {"volume": None})}
    reference.close()


def of_assembly(feeler, folder, done, path, count, seed):
    """Rows of the interfering pairs of an assembly, and of `count` touching pairs with a part moved."""
    target = folder / f"{path.stem}.feeler"
    instances = prepared(feeler, path, target)
    if len(instances) < 2:
        return
    args = [feeler, "clearance", target, "--d-max", "0.001", "--json", "-q"]
    run = subprocess.run(args, capture_output=True, text=True, check=False)
    results = json.loads(run.stdout)["results"] if run.stdout else []

    def of_status(status):
        return sorted((r["index_a"], r["index_b"]) for r in results if r.get("status") == status)

    tries = [(pair, [[*HERE]]) for pair in of_status("interfering")]
    print(f"{path.name}: {len(instances)} instances, {len(tries)} interfering pairs", flush=True)
    touching = of_status("touching")
    for k, l in touching[:: max(1, math.ceil(len(touching) / max(count, 1)))][:count]:
        rng = np.random.default_rng([seed, k, l])
        size = min(math.dist(instances[n]["bbox_min"], instances[n]["bbox_max"]) for n in (k, l))
        shifts = rng.normal(size=(6, 3))
        shifts *= (rng.uniform(0.02, 0.2, 6) * size / np.linalg.norm(shifts, axis=1))[:, None]
        tries.append(((k, l), [[*shift.tolist(), *HERE[3:]] for shift in shifts]))
    if not tries:
        return
    solids = [(Solid(s), source) for s, source in placed(path)]
    partner = {k: i for i, (k, _) in match(solids, instances).items()}
    reference = Reference([s for s, _ in solids], LIMIT)
    for (k, l), poses in tries:
        if k not in partner or l not in partner:
            print(f"{path.name} {k} {l}: the kernel has no such solid", flush=True)
            continue
        for pose in poses:
            row = done.get((f"{path.name}:{k}", f"{path.name}:{l}", str(pose)))
            if row is None:
                row = compare(feeler, [target, target], (k, l), reference, (partner[k], partner[l]), pose)
                row = {"a": f"{path.name}:{k}", "b": f"{path.name}:{l}", "pose": pose, **(row or {"volume": None})}
                yield row
            if row["volume"] is not None:
                break
    reference.close()


def summary(rows):
    for method in sorted({r["method"] for r in rows}):
        these = [r for r in rows if r["method"] == method]
        offs = sorted(r["off"] for r in these if "off" in r and r["result"] == "agrees") or [math.nan]
        seconds = sorted(r["seconds"] for r in these)
        results = {x: sum(r["result"] == x for r in these) for x in sorted({r["result"] for r in these})}
        print(f"{method}: {len(these)} pairs, difference median {offs[len(offs) // 2]:.1e}, largest {offs[-1]:.1e}; "
              f"stated error median {sorted(r['error'] / r['volume'] for r in these)[len(these) // 2]:.1e}; "
              f"seconds median {seconds[len(seconds) // 2]:.2f}, largest {seconds[-1]:.1f}; {results}")
    print(f"{len(rows)} pairs")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("feeler", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--count", type=int, default=350)
    parser.add_argument("--touching", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("files", type=Path, nargs="*")
    args = parser.parse_intermixed_args()
    lines = args.out.read_text().splitlines() if args.out.exists() else []
    done = {(r["a"], r["b"], str(r["pose"])): r for r in map(json.loads, lines)}
    rows = [r for r in done.values() if r["volume"] is not None]
    with args.out.open("a") as out, tempfile.TemporaryDirectory() as folder:
        sources = [generated(args.feeler, Path(folder), done, args.count, args.seed)]
        sources += [of_assembly(args.feeler, Path(folder), done, path, args.touching, args.seed) for path in args.files]
        for row in (row for source in sources for row in source):
            out.write(json.dumps(row) + "\n")
            out.flush()
            if row["volume"] is not None:
                rows.append(row)
                print(shown(row), flush=True)
    summary(rows)


if __name__ == "__main__":
    main()
