"""Healthy STEP files with planted faults, and whether they are repaired.

    python tools/models/damage_step.py FEELER OUT_DIR FILE... [--seeds 3] [--kinds swap,sense,...]

Standard library only. Each file is damaged in each way with each seed, read by `FEELER inspect --json`, and its solids'
areas and volumes are compared with those of the healthy file, as it is read by the same program. Printed are the damaged
files that are read as something else (kept in OUT_DIR), the number repaired, refused, and read without a warning.

Kinds: `swap` exchanges the vertices of one to all edges that are arcs or lines; `sense` inverts `same_sense` of arcs;
`bound` inverts the orientation of inner bounds (FACE_BOUND), one or all of a file; `order` lists the edges of loops in
another order; `line` moves the LINEs of straight edges between planes away from their vertices; `face` inverts the
`same_sense` of one face; `flag` inverts the orientation of one use of an edge (ORIENTED_EDGE); `mixed` is two of the
others.
"""

import json
import math
import random
import re
import subprocess
import sys
from pathlib import Path

RECORD = re.compile(r"#(\d+)\s*=\s*([A-Z_0-9]+)\s*\((.*?)\)\s*;", re.S)


def records(text):
    """Entity by number: name, attributes as text, place in the file."""
    return {int(m[1]): (m[2], m[3], m.span(3)) for m in RECORD.finditer(text)}


def replaced(text, changes):
    for (a, b), new in sorted(changes, reverse=True):
        text = text[:a] + new + text[b:]
    return text


def reference(s):
    return int(s.strip()[1:])


def some(rnd, things):
    """One, a few or all of them, in the order of the file."""
    n = rnd.choice([1, max(1, len(things) // 4), len(things)])
    return sorted(rnd.sample(sorted(things), n))


def curve_of(found, edge):
    """The curve in space of an edge."""
    at = reference(found[edge][1].split(",")[3])
    while found.get(at, ("",))[0] in ("SURFACE_CURVE", "SEAM_CURVE", "INTERSECTION_CURVE"):
        at = reference(found[at][1].split(",")[1])
    return at


def parts_of(found, edge):
    return [x.strip() for x in found[edge][1].rsplit(",", 4)]


def swap(text, rnd):
    found = records(text)
    edges = [e for e, r in found.items() if r[0] == "EDGE_CURVE" and parts_of(found, e)[1] != parts_of(found, e)[2]
             and found.get(curve_of(found, e), ("",))[0] in ("LINE", "CIRCLE")]
    if not edges:
        return None
    changes = []
    for e in some(rnd, edges):
        name, a, b, curve, sense = parts_of(found, e)
        changes.append((found[e][2], f"{name},{b},{a},{curve},{sense}"))
    return replaced(text, changes)


def sense(text, rnd):
    found = records(text)
    edges = [e for e, r in found.items() if r[0] == "EDGE_CURVE" and parts_of(found, e)[1] != parts_of(found, e)[2]
             and found.get(curve_of(found, e), ("",))[0] == "CIRCLE"]
    if not edges:
        return None
    changes = []
    for e in rnd.sample(sorted(edges), rnd.choice([1, min(3, len(edges))])):
        name, a, b, curve, same = parts_of(found, e)
        changes.append((found[e][2], f"{name},{a},{b},{curve},{'.F.' if same == '.T.' else '.T.'}"))
    return replaced(text, changes)


def bound(text, rnd):
    found = records(text)
    inner = []
    for r in found.values():
        if r[0] == "ADVANCED_FACE":
            bounds = [int(x) for x in re.findall(r"#(\d+)", r[1].split(")")[0])]
            surface = found.get(int(re.findall(r"#(\d+)", r[1])[-1]), ("",))[0]
            if len(bounds) > 1 and surface == "PLANE":
                inner += [b for b in bounds if found.get(b, ("",))[0] == "FACE_BOUND"]
    if not inner:
        return None
    changes = []
    for b in some(rnd, inner):
        head, flag = found[b][1].rsplit(",", 1)
        changes.append((found[b][2], f"{head},{'.F.' if flag.strip() == '.T.' else '.T.'}"))
    return replaced(text, changes)


def order(text, rnd):
    found = records(text)
    loops = [i for i, r in found.items() if r[0] == "EDGE_LOOP" and r[1].count("#") > 2]
    if not loops:
        return None
    changes = []
    for i in some(rnd, loops):
        head, edges = found[i][1].split("(", 1)
        ids = [x.strip() for x in edges.rstrip(") \n").split(",")]
        listed = ids[:]
        # A loop may begin with any of its edges.
        rotations = [listed[k:] + listed[:k] for k in range(len(listed))]
        rnd.shuffle(ids)
        if ids in rotations:
            ids = [ids[1], ids[0], *ids[2:]] if len(ids) > 2 else ids
        changes.append((found[i][2], f"{head}({','.join(ids)})"))
    return replaced(text, changes)


def with_inverted_flag(text, rnd, kind):
    """Inverts the last attribute, a flag, of one entity of this kind."""
    found = records(text)
    entities = [i for i, r in found.items() if r[0] == kind]
    if not entities:
        return None
    changed = rnd.choice(sorted(entities))
    head, value = found[changed][1].rsplit(",", 1)
    return replaced(text, [(found[changed][2], f"{head},{'.F.' if value.strip() == '.T.' else '.T.'}")])


def face(text, rnd):
    return with_inverted_flag(text, rnd, "ADVANCED_FACE")


def flag(text, rnd):
    return with_inverted_flag(text, rnd, "ORIENTED_EDGE")


def line(text, rnd):
    found = records(text)
    planes = {}
    for r in found.values():
        if r[0] == "ADVANCED_FACE":
            surface = found.get(int(re.findall(r"#(\d+)", r[1])[-1]), ("",))[0]
            for b in re.findall(r"#(\d+)", r[1].split(")")[0]):
                loop = found[reference(found[int(b)][1].split(",")[1])]
                for use in re.findall(r"#(\d+)", loop[1]):
                    if found[int(use)][0] == "ORIENTED_EDGE":
                        edge = reference(found[int(use)][1].split(",")[3])
                        planes.setdefault(edge, []).append(surface == "PLANE")
    edges = [e for e, flat in planes.items() if all(flat) and found.get(curve_of(found, e), ("",))[0] == "LINE"]
    lines = sorted({curve_of(found, e) for e in edges})
    used = {e: curve_of(found, e) for e, r in found.items() if r[0] == "EDGE_CURVE"}
    lines = [i for i in lines if sum(c == i for c in used.values()) == 1]
    if not lines:
        return None
    changes, n = [], max(found) + 1
    extra = []
    for i in some(rnd, lines):
        name, point, vector = [x.strip() for x in found[i][1].split(",")]
        xyz = [float(x) for x in re.findall(r"[-+.\dE]+(?=[,)\s]|$)", found[reference(point)][1].split("(")[1])]
        moved = [x + rnd.uniform(0.3, 1) * rnd.choice([-1, 1]) for x in xyz]
        extra.append(f"#{n}=CARTESIAN_POINT('',({','.join(repr(x) for x in moved)}));\n")
        changes.append((found[i][2], f"{name},#{n},{vector}"))
        n += 1
    text = replaced(text, changes)
    at = text.rindex("ENDSEC")
    return text[:at] + "".join(extra) + text[at:]


KINDS = {"swap": swap, "sense": sense, "bound": bound, "order": order, "line": line, "face": face,
         "flag": flag}


def mixed(text, rnd):
    for kind in rnd.sample(["bound", "line", "order", "sense", "swap"], 2):
        text = KINDS[kind](text, rnd) or text
    return text


def inspected(feeler, path):
    try:
        run = subprocess.run([feeler, "inspect", str(path), "--json"], capture_output=True, text=True, timeout=120)
        report = json.loads(run.stdout)
    except (subprocess.TimeoutExpired, json.JSONDecodeError):
        return None, None
    return sorted((s["area"], s["volume"]) for s in report["solids"]), report["warnings"] + report["left_out"]


def main():
    arguments, seeds, kinds = sys.argv[1:], 3, [*KINDS, "mixed"]
    for option in ("--seeds", "--kinds"):
        if option in arguments:
            k = arguments.index(option)
            value = arguments[k + 1]
            del arguments[k:k + 2]
            seeds, kinds = (int(value), kinds) if option == "--seeds" else (seeds, value.split(","))
    if len(arguments) < 3:
        sys.exit(__doc__)
    feeler, out = arguments[0], Path(arguments[1])
    out.mkdir(parents=True, exist_ok=True)
    totals = {}
    for name in arguments[2:]:
        text = Path(name).read_text(errors="replace")
        healthy, before = inspected(feeler, name)
        if not healthy or before:
            continue
        for kind in kinds:
            for seed in range(seeds):
                rnd = random.Random(f"{kind} {seed} {len(text)}")
                damaged = (mixed if kind == "mixed" else KINDS[kind])(text, rnd)
                if damaged is None or damaged == text:
                    continue
                path = out / f"{Path(name).stem}-{kind}-{seed}.step"
                path.write_text(damaged)
                solids, warnings = inspected(feeler, path)
                total = totals.setdefault(kind, {"repaired": 0, "silent": 0, "refused": 0, "wrong": 0})
                if not solids or len(solids) < len(healthy):
                    total["refused"] += 1
                    path.unlink()
                elif len(solids) == len(healthy) and all(
                        math.isclose(x, y, rel_tol=1e-6) for a, b in zip(healthy, solids) for x, y in zip(a, b)):
                    total["repaired" if warnings else "silent"] += 1
                    if warnings:
                        path.unlink()
                    else:
                        print(f"{path}: read without a warning")
                else:
                    total["wrong"] += 1
                    print(f"{path}: {solids} instead of {healthy}; {warnings[:2]}")
    for kind, total in totals.items():
        print(f"{kind}: " + ", ".join(f"{n} {what}" for what, n in total.items()))
    sys.exit(1 if any(t["wrong"] for t in totals.values()) else 0)


if __name__ == "__main__":
    main()
