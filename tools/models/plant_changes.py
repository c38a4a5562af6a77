#!/usr/bin/env python3
"""Changes one thing in each STEP file of a folder and checks that `feeler regress` reports it.

    python tools/models/plant_changes.py MODELS [target/dist/feeler]

A suite over a copy of the folder is blessed and run again with 1 and 2 threads; nothing may differ. Then the script
changes each file, always starting from the original: it enlarges the radius of one cylinder by a micrometre, or removes
one face from a shell. A change is *found* if the file's entry differs. It is *named* if a difference describes it: the
cylinder with its entity and its new radius; a missing face, or a solid that is open or left out.
The exit status is 1 if a change is missed. Files without a cylinder or without a shell are counted separately.
"""

import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

SUITE = '[[model]]\nfile = "*.step"\n'
MICROMETRE = 1e-3


def regress(feeler, suite, *more):
    run = subprocess.run(
        [feeler, "regress", str(suite), "--json", "-q", *more], capture_output=True, text=True, check=False
    )
    if run.returncode not in (0, 1):
        sys.exit(run.stderr)
    return json.loads(run.stdout)


def unit_of(text):
    """Length unit of a file in millimetres, from the usual forms of its declaration."""
    if re.search(r"INCH", text):
        return 25.4
    if re.search(r"SI_UNIT\s*\(\s*\.MILLI\.\s*,\s*\.METRE\.", text):
        return 1.0
    return 1000.0 if re.search(r"SI_UNIT\s*\(\s*\$\s*,\s*\.METRE\.", text) else 1.0


def wider(text, rng):
    """The text with one cylinder wider by a micrometre, the faces on it, and its new radius (mm)."""
    surface = r"#(\d+)\s*=\s*CYLINDRICAL_SURFACE\s*\(\s*'[^']*'\s*,\s*#\d+\s*,\s*([0-9.Ee+-]+)\s*\)"
    found = list(re.finditer(surface, text))
    if not found:
        return None
    m, mm = rng.choice(found), unit_of(text)
    radius = float(m.group(2)) + MICROMETRE / mm
    on_it = rf"#(\d+)\s*=\s*ADVANCED_FACE\s*\([^;]*,\s*#{m.group(1)}\s*,\s*\.[TF]\."
    faces = [f.group(1) for f in re.finditer(on_it, text)]
    return text[: m.start(2)] + repr(radius) + text[m.end(2) :], faces, radius * mm


def opened(text, rng):
    """The text without one face of a shell, and the entity of the face."""
    found = list(re.finditer(r"CLOSED_SHELL\s*\(\s*'[^']*'\s*,\s*\(([^()]*)\)", text))
    found = [m for m in found if m.group(1).count(",") > 2]
    if not found:
        return None
    m = rng.choice(found)
    faces = m.group(1).split(",")
    gone = rng.randrange(len(faces))
    rest = ",".join(f for k, f in enumerate(faces) if k != gone)
    return text[: m.start(1)] + rest + text[m.end(1) :], faces[gone].strip()


def main():
    models = pathlib.Path(sys.argv[1])
    feeler = sys.argv[2] if len(sys.argv) > 2 else "target/dist/feeler"
    rng = random.Random(7)
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        files = sorted(f for f in models.glob("*.step"))
        for f in files:
            shutil.copy(f, folder / f.name)
        suite = folder / "suite.toml"
        suite.write_text(SUITE)
        subprocess.run([feeler, "regress", str(suite), "--bless", "-q"], check=True)
        golden = json.loads((folder / "suite.golden.json").read_text())["entries"]
        for threads in ("1", "2"):
            same = regress(feeler, suite, "--threads", threads)
            print(f"repeated with {threads} threads: {same['differing']} of {len(files)} differ")
            missed += same["differing"]
        rows = {"radius + 1 um": [0, 0, 0, 0], "face dropped": [0, 0, 0, 0]}
        for f in files:
            text = f.read_bytes().decode("latin-1")
            for what, plant in (("radius + 1 um", wider), ("face dropped", opened)):
                planted = plant(text, rng) if "model" in golden[f.name]["found"] else None
                if planted is None:
                    rows[what][3] += 1
                    continue
                (folder / f.name).write_bytes(planted[0].encode("latin-1"))
                differences = regress(feeler, suite, "--only", f.name)["entries"][0]["differences"]
                lines = [f"{d['kind']} {d['subject']} {d['what']}" for d in differences]
                if what == "face dropped":
                    named = [t for t in lines if "gone" in t or "open" in t or "left out" in t or "faces" in t]
                else:
                    entity = re.compile("#(" + "|".join(planted[1]) + r")\b")
                    named = [t for t in lines if "radius" in t and entity.search(t)]
                found = bool(lines)
                rows[what][0] += 1
                rows[what][1] += found
                rows[what][2] += bool(named)
                if not named:
                    print(f"{f.name}: {what} {planted[1:]}: {'not named' if found else 'MISSED'}: {lines[:4]}")
                missed += not found
            shutil.copy(f, folder / f.name)
    print("| change | planted | found | named | nothing to change |\n|---|---|---|---|---|")
    for what, row in rows.items():
        print(f"| {what} | {' | '.join(map(str, row))} |")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
