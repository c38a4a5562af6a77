"""Compares the results of queries in the program, Rust, C, Python and a web page: equal to the bit, in the page to 1e-12.

    python same.py FEELER RUST_EXAMPLE C_EXAMPLE PAGE_FOLDER CHROMIUM

Run it with a Python that has the wheel installed. An empty string skips a program.
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
# Steps of trackers: the bound holds a rotation (rad) and a displacement (mm), powers of two as in a scene.
TRACKED = [
    {"a": "blind-bore", "b": "pin", "options": {"reach": 0.5}, "bound": [2**-13, 2**-6],
     "poses": [[0.03, 0, z, 0, 0, 0, 1] for z in (20.01, 20.004, 19.998, 20.002, 23)]},
    {"a": "box", "b": "sphere", "options": {"dilation_a": 0.01, "max_step": [0.01, 0.1]}, "bound": [2**-10, 2**-5],
     "poses": [[3 + 0.01 * k, 2, 20.02, 0, 0, 0.6, 0.8] for k in range(4)]},
]  # fmt: skip
STEP_NAMES = ["gap", "point_a", "point_b", "normal", "local_a", "local_b", "local_normal", "gap_rate"]
KINDS = ["strict", "quasi", "conformal", "sample", "extended"]
FEATURES = ["face", "edge", "vertex"]
REFUSALS = ["no option 'speed'", "max_step", "max_contacts", "reach", "got 1 numbers", "7", "bound of a body", "body 3 does not exist"]
NAMES = ["distance", "point_a", "point_b", "normal", "curvature_a", "curvature_b", "id"]


def flat(answer):
    """Status and all numbers of the contacts. JSON has no infinity; null represents it."""
    numbers = []
    for contact in answer["contacts"]:
        for name in NAMES:
            value = contact[name]
            for x in value if isinstance(value, list) else [value]:
                numbers.append(math.inf if x is None else float(x))
    return answer["status"], numbers


def by_place(answer):
    """The same with the contacts ordered by position. Samples of a conformal set have equal distances, so that their
    order and ids depend on rounding."""
    def place(contact):
        return [round(x, 6) + 0.0 for x in contact["point_a"] + contact["point_b"]]

    contacts = [{**contact, "id": 0} if contact["kind"] == "conformal" else contact for contact in answer["contacts"]]
    return flat({**answer, "contacts": sorted(contacts, key=place)})


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
    a, b = (feeler.prepare_step(DATA / f"{c[name]}.step").body() for name in "ab")
    pair = feeler.ContactPair(a, b)
    contacts = pair.query(None, c["pose_b"], c["d_max"])
    contacts = [{name: x[name].tolist() for name in NAMES} for x in contacts]
    return {"status": pair.status, "contacts": contacts}


def python_tracker(c):
    """Contacts of each step, and the counts at the end."""
    tracker = feeler.ContactTracker(
        *(feeler.prepare_step(DATA / f"{c[name]}.step").body() for name in "ab"), **c["options"])  # fmt: skip
    steps = []
    for pose in c["poses"]:
        covered = tracker.covers(None, pose)
        report = tracker.update(None, pose, *c["bound"])
        steps.append({"covered": covered, **report, "status": tracker.status, "depth": tracker.depth,
                      "contacts": tracker.contacts})  # fmt: skip
    return {"steps": steps, "counts": tracker.counts, "expected": tracker.expected_bound(None, c["poses"][0], 0, 1)}


def tracker_differences(c, drawn):
    """Differences between the steps of the tracker in Python and in the page, which also has a scene of both bodies."""
    alone = python_tracker(c)
    found = [f"{name} {drawn[name]}" for name in ("counts", "sum") if drawn[name] != alone["counts"]]
    for value, ours in zip(drawn["expected"].values(), alone["expected"], strict=True):
        found += [f"expected bound {value}"] if abs(value - ours) > 1e-12 else []
    for k, (step, page_step) in enumerate(zip(alone["steps"], drawn["steps"], strict=True)):
        for name in ("covered", "jumped", "decided", "dropped", "status"):
            if step[name] != page_step[name]:
                found.append(f"step {k}: {name} {page_step[name]}")
        if abs(step["depth"] - page_step["depth"]) > 1e-12 or not page_step["covers"]:
            found.append(f"step {k}: depth {page_step['depth']}")
        # A pair that is not near is missing.
        (pair,) = page_step["pairs"] or [{"contacts": [], "bodies": [0, 1], "status": "separated"}]
        if pair["bodies"] != [0, 1] or pair["status"] != step["status"]:
            found.append(f"step {k}: pair {pair}")
        if not len(step["contacts"]) == len(page_step["contacts"]) == len(pair["contacts"]):
            found.append(f"step {k}: {len(page_step['contacts'])} and {len(pair['contacts'])} contacts")
            continue
        for ours, its in zip(step["contacts"], page_step["contacts"], strict=True):
            pairs = [(ours[n].tolist(), its[n]) for n in STEP_NAMES]
            pairs += [(ours[f]["uv"].tolist(), its[f]["uv"]) for f in ("feature_a", "feature_b")]
            off = max(abs(x - y) for a, b in pairs for x, y in zip(listed(a), listed(b), strict=True))
            named = (int(ours["id"]), KINDS[ours["kind"]], bool(ours["is_active"]), FEATURES[ours["feature_a"]["kind"]])
            if off > 1e-9 or named != (its["id"], its["kind"], its["is_active"], its["feature_a"]["kind"]):
                found.append(f"step {k}: contact {its['id']} by {off}")
        if [x["gap"] for x in pair["contacts"]] != [x["gap"] for x in page_step["contacts"]]:
            found.append(f"step {k}: the scene has other gaps")
    if not any(len(step["contacts"]) for step in alone["steps"]):
        found.append("no contacts to compare")
    return found


def listed(value):
    return value if isinstance(value, list) else [value]


class Site(http.server.SimpleHTTPRequestHandler):
    """Serves a folder and stores what the page posts."""

    posted = queue.Queue()

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.posted.put(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()


def page(folder, chromium):
    """Results of the page in a browser."""
    with tempfile.TemporaryDirectory() as place:
        site = Path(place) / "site"
        copytree(folder, site)
        copytree(Path(__file__).parent / "page", site, dirs_exist_ok=True)
        (site / "cases.json").write_text(json.dumps(CASES))
        (site / "tracked.json").write_text(json.dumps(TRACKED))
        for name in {c[k] for c in CASES + TRACKED for k in "ab"}:
            feeler.prepare_step(DATA / f"{name}.step").write(site / f"{name}.feeler")
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
                posted = json.loads(Site.posted.get(timeout=120))
            except queue.Empty:
                sys.exit("the page did not post results within two minutes")
            finally:
                browser.kill()
                browser.wait()
                server.shutdown()
    if "error" in posted:
        sys.exit(f"the page failed: {posted['error']}")
    if not posted["refused"]:
        sys.exit("the page accepted invalid bytes")
    if "allows at most" not in posted["far"]:
        sys.exit(f"the page accepted a pose whose rounding exceeds the tolerance: {posted['far']}")
    for wanted, text in zip(REFUSALS, posted["refusals"], strict=True):
        if wanted not in text:
            sys.exit(f"the page's error for {wanted} is '{text}'")
    return posted["answers"], posted["tracked"]


def main():
    feeler_program, rust, c_example, folder, chromium = sys.argv[1:6]
    drawn, tracked = page(folder, chromium) if folder else ([None] * len(CASES), [])
    failed = 0
    for c, in_page in zip(TRACKED, tracked):
        differences = tracker_differences(c, in_page)
        failed += len(differences)
        print(f"{c['a']} / {c['b']}, tracked: {'; '.join(differences) or 'the same in Python and the page'}")
    for c, in_page in zip(CASES, drawn, strict=True):
        expected = program(feeler_program, c)
        status, numbers = flat(expected)
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
            (_, ours), (its_status, its) = by_place(expected), by_place(in_page)
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
