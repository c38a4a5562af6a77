"""Sets of generated models on Dask and Ray: interruptions, overhead, growth, planted changes, random access.

    python benches/model_sets.py MODELS OUT [--count 20000] [--workers 2] [--engines dask,ray] [--largest 200000]

MODELS is a folder of STEP files, of which those up to `--largest` bytes are the originals. A variant has another
scale (all lengths of its text), other entity numbers and another name. The same set is prepared by each engine, once
killed three times at random; tables and the bytes of the stores must be equal. Three files are changed, and regress()
must find these. Growth is measured at a twentieth of the count. The exit status is 1 if a requirement is violated.
"""

import argparse
import hashlib
import json
import math
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from feeler import sets

NUMBER = r"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?"
# Entities whose last parameters are lengths, with the number of them.
LENGTHS = {
    "CIRCLE": 1, "ELLIPSE": 2, "CYLINDRICAL_SURFACE": 1, "SPHERICAL_SURFACE": 1, "TOROIDAL_SURFACE": 2, "VECTOR": 1,
}  # fmt: skip
# Largest share of the time of the workers that an engine may waste, and largest exponent of the growth of the time.
MAX_OVERHEAD, MAX_EXPONENT = 0.05, 1.05
MAX_ACCESS = 1e-3
"""Largest median time (s) of the access to one entry."""


def scaled(text, factor):
    """A STEP file with all lengths multiplied by a factor. It must not have conical surfaces."""

    def number(match):
        return f"{float(match.group()) * factor!r}".replace("e", "E")

    def points(match):
        inside = match.group(2)
        return (
            match.group(1) + (re.sub(NUMBER, number, inside) if inside.count(",") == 2 else inside) + match.group(3)
        )

    text = re.sub(r"(CARTESIAN_POINT\s*\('[^']*',\s*\()([^)]*)(\))", points, text)
    for name, count in LENGTHS.items():
        last = r"\s*,\s*".join([f"({NUMBER})"] * count)

        def lengths(match):
            values = ",".join(f"{float(v) * factor!r}" for v in match.groups()[1:])
            return f"{match.group(1)}{values})"

        text = re.sub(rf"(\b{name}\s*\('[^']*',\s*#\d+\s*,\s*){last}\s*\)", lengths, text)
    return text


def renumbered(text, offset):
    """A STEP file whose entities have other numbers."""
    head, data = text.split("DATA;", 1)
    return head + "DATA;" + re.sub(r"#(\d+)", lambda m: f"#{int(m.group(1)) + offset}", data)


def write_variants(originals, folder, count, seed):
    rng = random.Random(seed)
    folder.mkdir(parents=True)
    for k in range(count):
        name, text = originals[k % len(originals)]
        text = scaled(text, rng.uniform(0.5, 2.0))
        (folder / f"{k:06}-{name}.step").write_text(renumbered(text, rng.randrange(1, 10_000)))


def bytes_of(store):
    digest = hashlib.sha256()
    for shard in sorted(Path(store).glob("models/*.shard")):
        digest.update(shard.read_bytes())
    return digest.hexdigest()


def killed(folder, store, engine, workers, seconds):
    """Prepares a set in another process, which is killed three times, and then continues."""
    command = [sys.executable, "-c", (
        "import sys; from feeler import sets; "
        f"sets.prepare({str(folder)!r}, {str(store)!r}, client={engine!r}, workers={workers})"
    )]  # fmt: skip
    rng = random.Random(5)
    for _ in range(3):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(5.0 + rng.uniform(0.05, 0.3) * seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("models", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--engines", default="dask,ray")
    parser.add_argument("--largest", type=int, default=200_000)
    options = parser.parse_args()
    shutil.rmtree(options.out, ignore_errors=True)
    files = sorted(p for p in options.models.rglob("*.st*p") if p.stat().st_size <= options.largest)
    texts = [(p.stem, p.read_text(errors="replace")) for p in files]
    originals = [
        (n, t) for n, t in texts if "DATA;" in t and "CONICAL_SURFACE" not in t and "EXTERNAL_SOURCE" not in t
    ]
    folder, few = options.out / "models", options.out / "few"
    write_variants(originals, folder, options.count, 1)
    write_variants(originals, few, max(options.count // 20, len(originals)), 2)
    wrong, hashes = [], set()
    for engine in options.engines.split(","):
        client = "ray" if engine == "ray" else None
        small = sets.prepare(few, options.out / f"few-{engine}", client=client, workers=options.workers)
        store = options.out / engine
        report = sets.prepare(folder, store, client=client, workers=options.workers)
        overhead = 1.0 - report.worker_seconds / (report.seconds * options.workers)
        exponent = math.log(report.worker_seconds / small.worker_seconds) / math.log(
            report.table.num_rows / small.table.num_rows
        )
        killed(folder, options.out / f"{engine}-killed", client, options.workers, report.seconds)
        again = sets.prepare(folder, options.out / f"{engine}-killed", client=client, workers=options.workers)
        hashes |= {report.hash, again.hash, bytes_of(store), bytes_of(options.out / f"{engine}-killed")}
        print(
            f"{engine}: {report.table.num_rows} files, {len(report.failed)} failed, {report.seconds:.1f} s, overhead "
            f"{100 * overhead:.1f} %, exponent {exponent:.3f}; after three kills {again.reused} were in the store",
            flush=True,
        )
        if overhead > MAX_OVERHEAD or exponent > MAX_EXPONENT:
            wrong.append(f"{engine}: overhead or growth")
    if len(hashes) != 2:
        wrong.append(f"tables or stores differ: {len(hashes)} hashes")
    print(f"hashes of tables and stores: {len(hashes)} (2 if all are equal)")
    planted = sorted(random.Random(3).sample(sorted(p.name for p in folder.iterdir()), 3))
    for name in planted:
        (folder / name).write_text(scaled((folder / name).read_text(), 1.001))
    comparison = sets.regress(sets.prepare(folder, store, client=client, workers=options.workers), report.table)
    print(f"planted {json.dumps(planted)}, found {json.dumps(comparison.files)}")
    if list(comparison.files) != planted:
        wrong.append("planted changes")
    opened = sets.Store(store)
    times = []
    for key in random.Random(4).sample(opened.keys(), min(1000, len(opened))):
        begin = time.perf_counter()
        opened.read(key)
        times.append(time.perf_counter() - begin)
    access = sorted(times)[len(times) // 2]
    print(f"random access: median {1e6 * access:.0f} us")
    if access > MAX_ACCESS:
        wrong.append("random access")
    print("; ".join(wrong) or "all requirements met")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
