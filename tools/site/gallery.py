"""Makes the gallery of the documentation site: runs the commands of gallery.toml, opens the pages that they write, and
takes a picture of each.

    python tools/site/gallery.py FEELER target/site [--only NAME]... [--fresh]

Writes `src/gallery.md` and, below `src/gallery`, a picture and the interactive page of each entry. An entry is made
again only if its text in gallery.toml, view.js or the program has changed. Commands run side by side in a scratch
folder with a copy of `data/` and of `tools/site`. Needs Chromium (Debian: chromium) and only the standard library.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from browser import Browser

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
SIZE = (1200, 800)
SECONDS = 120

INTRODUCTION = """# Gallery

Pictures of pages that feeler writes. Each page is one file that works from disk without a network: the parts can be
turned, cut and measured in it. A click on a picture opens its page. The commands run from the root of the repository.
"""


def scratch(folder: Path) -> None:
    """Copies what commands read to a folder."""
    shutil.copytree(ROOT / "data", folder / "data")
    shutil.copytree(HERE, folder / "tools" / "site", ignore=shutil.ignore_patterns("__pycache__"))


def run(entry: dict, feeler: Path, folder: Path) -> str:
    """Runs the commands of an entry in its folder and returns their output."""
    place = folder / entry["name"]
    place.mkdir()
    for name in ("data", "tools"):
        (place / name).symlink_to(folder / name)
    script = 'feeler() { "$FEELER" "$@"; }\n'
    output = ""
    for number, command in enumerate(entry["commands"]):
        done = subprocess.run(
            ["bash", "-c", script + command], cwd=place, env=os.environ | {"FEELER": str(feeler)}, timeout=SECONDS,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        expected = entry.get("status", 0) if number + 1 == len(entry["commands"]) else 0
        if done.returncode != expected:
            sys.exit(f"gallery.toml: {entry['name']}: exit status {done.returncode} of\n{command}\n{done.stderr}")
        output = done.stdout
    return output


def picture(browser: Browser, page: Path, script: str, out: Path) -> None:
    """Opens a page, operates it, and takes a picture."""
    browser.open(page)
    browser.wait("document.getElementById('view')?.dataset.ready === 'true'")
    functions = (HERE / "view.js").read_text(encoding="utf-8")
    browser.run(f"(() => {{ {functions}\n{script}\n }})()")
    browser.frames(4)
    browser.picture(out)


def key(entry: dict, feeler: Path) -> str:
    """Hash of everything that a picture depends on."""
    digest = hashlib.sha256(json.dumps(entry, sort_keys=True).encode())
    for path in (feeler, HERE / "view.js", HERE / "grains.py"):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def section(entry: dict, number: int, lines: list[str]) -> str:
    """Section of the gallery page."""
    name = entry["name"]
    shown = "\n".join(entry["commands"])
    out = f"## {number}. {entry['title']}\n\n{entry['text'].strip()}\n\n```sh\n{shown}\n```\n\n"
    if lines:
        out += "```text\n" + "\n".join(lines) + "\n```\n\n"
    width, height = SIZE
    image = f'<img src="gallery/{name}.png" width="{width}" height="{height}" loading="lazy" alt="{entry["title"]}">'
    return out + f'<a href="gallery/{name}.html">{image}</a>\n'


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes the gallery of the documentation site.")
    parser.add_argument("feeler", type=Path)
    parser.add_argument("place", type=Path, help="folder of the site, such as target/site")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="make only these pictures")
    parser.add_argument("--fresh", action="store_true", help="make all pictures, also those that are up to date")
    options = parser.parse_args()
    feeler = options.feeler.resolve()
    start = time.monotonic()
    with (HERE / "gallery.toml").open("rb") as file:
        entries = tomllib.load(file)["picture"]
    out = options.place / "src" / "gallery"
    out.mkdir(parents=True, exist_ok=True)
    known_file = options.place / "gallery.json"
    known = json.loads(known_file.read_text(encoding="utf-8")) if known_file.exists() else {}

    def is_needed(entry: dict) -> bool:
        if options.only:
            return entry["name"] in options.only
        is_known = known.get(entry["name"], {}).get("key") == key(entry, feeler)
        files = [out / f"{entry['name']}.{suffix}" for suffix in ("png", "html")]
        return options.fresh or not is_known or not all(path.exists() for path in files)

    needed = [entry for entry in entries if is_needed(entry)]
    if needed:
        with (
            tempfile.TemporaryDirectory() as name,
            ThreadPoolExecutor(os.cpu_count() or 1) as pool,
            Browser() as browser,
        ):
            folder = Path(name)
            scratch(folder)
            browser.resize(*SIZE)
            jobs: list[tuple[dict, Future[str]]] = [(e, pool.submit(run, e, feeler, folder)) for e in needed]
            for entry, job in jobs:
                output = job.result()
                page = out / f"{entry['name']}.html"
                shutil.copyfile(folder / entry["name"] / entry["page"], page)
                picture(browser, page, entry.get("script", ""), out / f"{entry['name']}.png")
                lines = output.rstrip().splitlines()[: entry.get("lines", 0)]
                known[entry["name"]] = {"key": key(entry, feeler), "lines": lines}
                known_file.write_text(json.dumps(known, indent=1), encoding="utf-8")
    text = INTRODUCTION
    for number, entry in enumerate(entries, 1):
        if entry["name"] in known:
            text += "\n" + section(entry, number, known[entry["name"]]["lines"])
    (options.place / "src" / "gallery.md").write_text(text, encoding="utf-8")
    print(f"gallery: {len(entries)} pictures, {len(needed)} made ({time.monotonic() - start:.0f} s)")


main()
