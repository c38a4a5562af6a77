"""The same queries from the program, Rust, C, Python and a web page: equal to the bit, in the page to 1e-12.

    python same.py FEELER RUST_EXAMPLE C_EXAMPLE PAGE_FOLDER CHROMIUM

Run with a Python that has the wheel. An empty string leaves one out.
"""

import functools
import http.server
import json
import math
import queue
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from shutil import copytree

import feeler

DATA = Path(__file__).parents[2] / "data"
H = 0.7071067811865476
CASES = [
    {"a": "sphere", "b": "sphere", "d_max": 5, "pose_b": [22.5, 0, 0, 0, 0, 0, 1]},
    {"a": "socket", "b": "plug", "d_max": 7, "pose_b": [0.5, 0, 20, 0, 0.0261769, 0, 0.9996573]},
    {"a": "bore", "b": "pin", "d_max": 1, "pose_b": [0.05, 0, 0, 0, 0, 0, 1]},
    {"a": "torus", "b": "torus", "d_max": 9, "pose_b": [10, 0, 0, H, 0, 0, H]},
    {"a": "wave", "b": "torus", "d_max": 8, "pose_b": [0, 0, 24, 0, 0, 0, 1]},
    {"a": "race", "b": "ball", "d_max": 0.3, "pose_b": [13, 0, 0, 0, 0, 0, 1]},
    {"a": "box", "b": "cylinder", "d_max": 1, "pose_b": [0, 0, 0, 0, 0, 0, 1]},
]
NAMES = ["distance", "point_a", "point_b", "normal", "curvature_a", "curvature_b", "id"]


def flat(answer):
    """Status and all numbers of the minima. JSON has no infinity: null stands for it."""
    numbers = []
    for lmd in answer["lmds"]:
        for name in NAMES:
            value = lmd[name]
            for x in value if isinstance(value, list) else [value]:
                numbers.append(math.inf if x is None else float(x))
    return answer["status"], numbers


def by_place(answer):
    """The same with minima in the order of their places. Samples of a conformal set are equally far: which of
    them comes first, and so which number it has, is a matter of rounding."""
    def place(lmd):
        return [round(x, 6) + 0.0 for x in lmd["point_a"] + lmd["point_b"]]

    lmds = [{**lmd, "id": 0} if lmd["class"] == "conformal" else lmd for lmd in answer["lmds"]]
    return flat({**answer, "lmds": sorted(lmds, key=place)})


def program(feeler_program, c):
    pose = ",".join(map(repr, c["pose_b"]))
    done = subprocess.run(
        [feeler_program, "query", DATA / f"{c['a']}.step", DATA / f"{c['b']}.step", "--json",
         "--d-max", str(c["d_max"]), "--pose-b", pose],
        capture_output=True, text=True)  # fmt: skip
    return json.loads(done.stdout)


def example(path, c):
    files = [DATA / f"{c['a']}.step", DATA / f"{c['b']}.step"]
    done = subprocess.run(
        [path, *files, str(c["d_max"]), *map(repr, c["pose_b"])], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def python(c):
    a, b = (feeler.prepare(DATA / f"{c[name]}.step").body() for name in "ab")
    pair = feeler.ContactPair(a, b)
    contacts = pair.query(None, c["pose_b"], c["d_max"])
    lmds = [{name: x[name].tolist() for name in NAMES} for x in contacts]
    return {"status": pair.status, "lmds": lmds}


class Site(http.server.SimpleHTTPRequestHandler):
    """Serves a folder and keeps what the page says."""

    told = queue.Queue()

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.told.put(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()


def page(folder, chromium):
    """What the page says, in a real browser."""
    with tempfile.TemporaryDirectory() as place:
        site = Path(place) / "site"
        copytree(folder, site)
        copytree(Path(__file__).parent / "page", site, dirs_exist_ok=True)
        (site / "cases.json").write_text(json.dumps(CASES))
        for name in {c[k] for c in CASES for k in "ab"}:
            feeler.prepare(DATA / f"{name}.step").write(site / f"{name}.feeler")
        handler = functools.partial(Site, directory=site)
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            browser = subprocess.Popen(
                [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update", "--disable-sync",
                 "--remote-debugging-port=0", f"--user-data-dir={place}/profile",
                 f"http://127.0.0.1:{server.server_port}/index.html"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
            try:
                told = json.loads(Site.told.get(timeout=120))
            except queue.Empty:
                sys.exit("the page said nothing in two minutes")
            finally:
                browser.kill()
                browser.wait()
                server.shutdown()
    if "error" in told:
        sys.exit(f"the page failed: {told['error']}")
    if not told["refused"]:
        sys.exit("the page took bytes that are no file")
    if "allows at most" not in told["far"]:
        sys.exit(f"the page took a pose whose rounding exceeds the tolerance: {told['far']}")
    return told["answers"]


def main():
    feeler_program, rust, c_example, folder, chromium = sys.argv[1:6]
    drawn = page(folder, chromium) if folder else [None] * len(CASES)
    failed = 0
    for c, in_page in zip(CASES, drawn, strict=True):
        told = program(feeler_program, c)
        status, numbers = flat(told)
        others = {"Python": flat(python(c))}
        if rust:
            others["Rust"] = flat(example(rust, c))
        if c_example:
            others["C"] = flat(example(c_example, c))
        for name, other in others.items():
            if other != (status, numbers):
                failed += 1
                print(f"{c['a']} / {c['b']}: {name} differs")
        if in_page:
            (_, ours), (its_status, its) = by_place(told), by_place(in_page)
            same = status == its_status and len(its) == len(ours)
            off = max(
                (abs(x - y) / max(1.0, abs(x)) for x, y in zip(ours, its) if x != y), default=0.0
            ) if same else math.inf
            if not off <= 1e-12 or in_page["triangles"] < 4:
                failed += 1
                print(f"{c['a']} / {c['b']}: the page differs by {off}")
            others["page"] = its
        print(f"{c['a']} / {c['b']}: {status}, {len(numbers)} numbers, the same in {', '.join(others)}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
