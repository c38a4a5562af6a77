#!/usr/bin/env python3
"""Compares the outputs of two versions of the program `feeler` on the models of data/.

    python3 tools/regression/same_outputs.py OLD NEW [--preset 0.1] [--rename OLD=NEW,…] [--only WORD] [--pages]

OLD and NEW are two programs. Each case runs in a copy of data/, with both programs. The exit status, the standard
output (JSON documents and tables) and the files that a case writes must be equal, apart from times. Messages on
standard error are not compared.

Renamed keys of JSON documents are given as `--rename OLD=NEW,…`, changed words of text as `--replace PATTERN=NEW`,
renamed options as `--old-option quasi-angle=quasi`, and keys whose texts were reworded as `--ignore KEY`. `schema` and
the widths of the columns of tables are not compared. `--preset 0.1` has the changes before version 0.1.0.

Exit status: 0 if all cases are equal, 1 if some differ.
"""

import argparse
import difflib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "data"

# Changes before version 0.1.0.
PRESETS = {
    "0.1": {
        "rename": {
            "lmds": "contacts",
            "lmds_left_out": "contacts_left_out",
            "lmds_median": "contacts_median",
            "class": "kind",
            "contact": "contact_regions",
            "wall": "min_thickness",
        },
        "replace": {
            r"\bwall (?=mm|\d|inf)": "min thickness ",
            "gap class ": "gap kind ",
            "is not there; put": "was not found; put",
            "boxes in mm, in place:": "boxes in mm, as placed:",
            "all in their places": "all instances as placed",
            "and its place in its parent": "and its pose in its parent",
            r"\bturned (?=\S+° about)": "rotated ",
            r"B moved by (.*) mm, is out of A": r"moving B by \1 mm, separates the solids",
            r"cross in (\d+) curves, (\S+) mm long; (\d+) places are left out":
                r"cross in \1 curves of \2 mm in total; \3 curves could not be traced",
            "free all the way: proven": "proven free all the way",
            "proven free at all times, all pairs": "all pairs are proven free at all times",
            "pairs are not free": "pairs are not proven free",
            "first grazes at": "first grazing contact at",
            "in contact from the start on": "in contact at all sampled times",
            "; undecided after that": ", undecided after that",
            "farther apart than was asked for": "farther apart than was measured",
            "may meet up to": "may intersect up to",
            r"(\d+) entries as they were, in TIME": r"\1 entries checked, no differences (TIME)",
            "<td>as it was</td>": "<td>no differences</td>",
        },
        "old_option": {"quasi-angle": "quasi"},
        "ignore": {"warnings", "left_out"},
    }
}

# Values that differ from run to run, and versions of documents.
IGNORED = {"wall_us", "wall_s", "wall_us_median", "wall_us_p95", "wall_us_max", "schema", "program", "bytes",
           "format_version", "golden_program", "other_input"}

# Durations in tables and summaries.
TIMES = [
    (re.compile(r"\(\d+\.\d+ ms\)"), "(TIME)"),
    (re.compile(r"in \d+\.\d+ s\b"), "in TIME"),
    (re.compile(r"\(\d+\.\d+ s\)"), "(TIME)"),
    (re.compile(r"time median .* us, 95 % .* us, max [\d.]+ us"), "TIMES"),
    (re.compile(r"; \d+\.\d+ s\b"), "; TIME"),
    (re.compile(r"format version \d+"), "format version"),
    # The next-to-last column of a table of `sweep`.
    (re.compile(r"(?m)^(\s*\d+\s+\w+\s+\S+\s+\d+)\s+\d+\.\d$"), r"\1 TIME"),
    # Warnings about models are worded by the import.
    (re.compile(r"(?m)^warning: .*\n"), ""),
]

RULES = """d_max = 2
ignore = ["washer*"]
[[rule]]
name = "play"
a = "pin*"
b = "block"
min = 0.2
[[rule]]
name = "lies"
a = "ball"
b = "block"
touching = "required"
"""


def cases():
    """Name, arguments, and the files that the run writes, for JSON and for tables."""
    out = []

    def add(name, *args, files=(), table=True):
        out.append((f"{name} json", [*args, "--json"], list(files)))
        if table:
            out.append((f"{name} table", list(args), list(files)))

    for file in ["box", "bore", "race", "wave", "loft", "spool", "swept", "torus", "void", "inch-bracket",
                 "bayonet-socket", "perforated-plate", "sphere-without-edges", "assemblies/rack",
                 "assemblies/frame", "assemblies/hands", "thread/bolt"]:
        add(f"inspect {file}", "inspect", f"{file}.step")
    add("inspect density", "inspect", "assemblies/rack.step", "--density", "*=7850", "--density", "ball=1000")

    def query(a, b, *more):
        add(f"query {a} {b} {' '.join(more)}", "query", f"{a}.step", f"{b}.step", "-q", *more)

    query("socket", "plug", "--d-max", "0.2", "--pose-b", "0.02,0.01,0.1,0.0002,0.0001,0,1")
    query("socket", "plug", "--d-max", "0.2", "--pose-b", "0,0,0.1", "--quasi-angle", "0.01")
    query("box", "cylinder", "--d-max", "1")
    query("box", "cylinder", "--d-max", "0.5", "--pose-b", "0,0,3", "--curves", "1e-3")
    query("bore", "pin", "--d-max", "1", "--pose-b", "0.05,0,0")
    query("bore", "pin", "--d-max", "1", "--pose-b", "0.02,0,0", "--conformal-spacing", "3")
    query("bore", "pin", "--d-max", "1", "--pose-b", "0.06,0,0", "--penetration", "0.05")
    query("stepped-seat", "stepped-cone", "--d-max", "0.5", "--pose-b", "0,0,0.2", "--top", "3")
    query("wave", "sphere", "--d-max", "8", "--pose-b", "0.5,2,20", "--certified")
    query("torus", "torus", "--d-max", "9", "--pose-b", "5,1,0")
    query("torus-nurbs", "torus", "--d-max", "9", "--pose-b", "10,0,0,0.7071067811865476,0,0,0.7071067811865476")
    query("race", "ball", "--d-max", "0.3", "--pose-b", "13,0,0", "--dilation-a", "0.1", "--dilation-b", "0.2")
    query("box", "sphere", "--d-max", "1", "--pose-b", "300,0,0")
    query("sphere", "torus", "--d-max", "inf", "--pose-b", "8,3,1", "--tolerance", "0.001")
    query("assemblies/rack", "pin", "--d-max", "30", "--solid-a", "2", "--pose-b", "10,0,0")
    query("box", "cone", "--d-max", "40", "--pose-b", "0,0,60", "--brute-force")
    query("thread/nut", "thread/bolt", "--d-max", "0.06")

    sweep = ["sweep", "bayonet-socket.step", "bayonet-plug.step", "-q", "--d-max", "0.3"]
    add("sweep bayonet", *sweep, "--trajectory", "bayonet.json")
    add("sweep bayonet cold", *sweep, "--trajectory", "bayonet.json", "--cold", "--top", "4")
    joint = ["sweep", "socket.step", "plug.step", "-q", "--d-max", "2", "--joint", "0,0,0,0,0,1"]
    add("sweep joint", *joint, "--slide", "20,1", "--turn", "0,30", "--steps", "12", "--proof")
    add("sweep hit", *joint, "--slide", "20,-6", "--steps", "12", "--proof")
    wave = ["sweep", "wave.step", "sphere.step", "-q", "--d-max", "8", "--joint", "0,0,20,1,0,0"]
    add("sweep certified", *wave, "--slide", "0,3", "--steps", "3", "--certified")

    files = ["out.csv", "out.xml"]
    rack = ["clearance", "assemblies/rack.step", "-q", "--csv", "out.csv", "--junit", "out.xml"]
    add("clearance rack", *rack, "--d-max", "30", files=files)
    add("clearance rules", *rack, "--rules", "rules.toml", "--all", files=files)
    add("clearance ignore", *rack, "--ignore", "block", "--only", "pin*", "--d-max", "40", files=files)
    add("clearance bless", *rack, "--rules", "rules.toml", "--baseline", "known.json", "--bless",
        files=["known.json"])
    add("clearance known", *rack, "--rules", "rules.toml", "--baseline", "known.json", files=files)
    add("clearance frame", "clearance", "assemblies/frame.step", "-q")
    for x in ["0.02", "0.05", "0.15", "1000"]:
        add(f"clearance bore pin {x}", "clearance", "bore.step", "pin.step", "box.step", "-q", "--pose", f"1={x},0,0",
            "--csv", "out.csv", files=["out.csv"])

    arm = ["mechanism", "arm/arm.toml", "-q"]
    add("mechanism arm", *arm, "--steps", "12", "--csv", "out.csv", "--plot", "out.svg", files=["out.csv", "out.svg"])
    add("mechanism no proof", *arm, "--no-proof", "--steps", "9", "--d-max", "200")
    add("mechanism grid", *arm, "--grid", "2", "--d-max", "50")

    add("diff pin", "diff", "pin.step", "pin-short.step", "-q")
    add("diff rack", "diff", "assemblies/rack.step", "assemblies/frame.step", "-q", "--all")
    add("diff same", "diff", "pin.step", "pin.step", "-q")
    add("diff folders", "diff", "thread", "contact", "-q")
    add("diff tolerance", "diff", "box.step", "box-nurbs.step", "-q", "--tolerance", "1e-3", "--relative", "1e-3")

    add("regress bless", "regress", "suite.toml", "-q", "--bless", files=["golden/suite.json"], table=False)
    add("regress", "regress", "suite.toml", "-q", "--junit", "out.xml", files=["out.xml"])
    # The suite with another pin and another plug.
    add("regress changed", "regress", "suite.toml", "-q", "--all", "--junit", "out.xml", "--only", "*pin*", "--only",
        "*plug*", "--only", "ring*", files=["out.xml"])
    return out


PAGES = [
    ["clearance", "assemblies/rack.step", "-q", "--d-max", "30", "--html", "out.html"],
    ["mechanism", "arm/arm.toml", "-q", "--no-proof", "--steps", "5", "--html", "out.html"],
    ["sweep", "socket.step", "plug.step", "-q", "--d-max", "2", "--joint", "0,0,0,0,0,1", "--slide", "20,1", "--steps",
     "7", "--html", "out.html"],
    ["diff", "pin.step", "pin-short.step", "-q", "--html", "out.html"],
    ["regress", "suite.toml", "-q", "--only", "*plug*", "--html", "out.html"],
    ["view", "assemblies/rack.step", "-q", "--d-max", "30", "-o", "out.html"],
]


def change(folder, case):
    """Prepares the inputs of a case, and removes the outputs of the last one."""
    for file in folder.glob("out.*"):
        file.unlink()
    if case.startswith("regress bless"):
        (folder / "golden/suite.json").unlink()
    if case.startswith("regress changed"):
        shutil.copy(folder / "pin-short.step", folder / "pin.step")
        shutil.copy(folder / "cylinder.step", folder / "ring.step")


class Normal:
    """Outputs without times, with the names of the new program."""

    def __init__(self, keys, words, ignored):
        self.keys, self.words, self.ignored = keys, words, ignored

    def text(self, text):
        for pattern, word in TIMES:
            text = pattern.sub(word, text)
        text = re.sub(r" +", " ", text)
        for old, new in self.words.items():
            text = re.sub(old, new, text)
        return text

    def value(self, value):
        if isinstance(value, dict):
            return {self.keys.get(k, k): self.value(v) for k, v in value.items() if k not in self.ignored}
        if isinstance(value, list):
            return [self.value(v) for v in value]
        return self.text(value) if isinstance(value, str) else value

    def output(self, data):
        text = data.decode(errors="replace")
        try:
            # Numbers stay text, so that every digit counts.
            document = json.loads(text, parse_float=lambda x: f"float {x}")
        except ValueError:
            return self.text(text)
        return json.dumps(self.value(document), indent=1, sort_keys=True, ensure_ascii=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--preset", choices=PRESETS)
    parser.add_argument("--rename", default="", metavar="OLD=NEW,…")
    parser.add_argument("--replace", action="append", default=[], metavar="PATTERN=NEW")
    parser.add_argument("--old-option", action="append", default=[], metavar="NEW=OLD")
    parser.add_argument("--ignore", action="append", default=[], metavar="KEY")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--pages", action="store_true", help="also compare pages")
    args = parser.parse_args()
    preset = PRESETS.get(args.preset, {})
    pairs = lambda texts: dict(text.split("=", 1) for text in texts if text)
    keys = preset.get("rename", {}) | pairs(args.rename.split(","))
    words = preset.get("replace", {}) | pairs(args.replace)
    renamed = preset.get("old_option", {}) | pairs(args.old_option)
    options = {f"--{new}": f"--{old}" for new, old in renamed.items()}
    ignored = IGNORED | preset.get("ignore", set()) | set(args.ignore)
    all_cases = cases()
    if args.pages:
        all_cases += [(f"page {' '.join(page)}", page, ["out.html"]) for page in PAGES]
    wanted = [case for case in all_cases if args.only in case[0]]
    different = 0
    with tempfile.TemporaryDirectory() as temporary:
        sides = []
        for side, program in (("old", args.old), ("new", args.new)):
            folder = Path(temporary) / side / "data"
            shutil.copytree(DATA, folder)
            (folder / "rules.toml").write_text(RULES)
            normal = Normal(keys, words, ignored) if side == "old" else Normal({}, {}, ignored)
            sides.append((program.resolve(), folder, normal, options if side == "old" else {}))
        for name, arguments, files in wanted:
            found = []
            for program, folder, normal, renamed in sides:
                change(folder, name)
                command = [program, *(renamed.get(a, a) for a in arguments)]
                run = subprocess.run(command, cwd=folder, capture_output=True, timeout=600)
                parts = [f"exit status {run.returncode}", normal.output(run.stdout)]
                if run.returncode == 2:
                    print(f"{name}: {run.stderr.decode(errors='replace').strip()}")
                for file in files:
                    path = folder / file
                    parts.append(f"--- {file}")
                    parts.append(normal.output(path.read_bytes()) if path.exists() else "missing")
                found.append("\n".join(parts))
            if found[0] != found[1]:
                different += 1
                print(f"DIFFERENT: {name}")
                lines = difflib.unified_diff(found[0].split("\n"), found[1].split("\n"), "old", "new", lineterm="", n=1)
                for line, _ in zip(lines, range(14)):
                    print("   ", line[:160])
    print(f"{len(wanted)} cases, {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
