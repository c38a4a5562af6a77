"""Assembles the sources of the documentation site from the documents of the repository, and checks their links.

    python tools/site/assemble.py target/site     # writes target/site/src, book.toml, site.css and links.json
    python tools/site/assemble.py --check         # checks all links of all documents; writes nothing

A link to a document that is a chapter leads to the chapter. A link to another file of the repository leads to
the repository of `[workspace.package]`, or to a copy below `files/` if Cargo.toml names no repository. A link
without a target is an error that states document, line and target; the exit status is then 1. Addresses of other
sites are checked for their syntax only. Needs only the standard library.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent

# Chapters of the site in reading order: heading of a part, and its documents. Titles are those of the documents.
# `try.md`, `gallery.md` and `benchmarks.md` are written by build.sh, gallery.py and figures.py.
FIRST = "README.md"
MADE = {"try.md": "Try it in the browser", "gallery.md": "Gallery", "benchmarks.md": "Headline figures"}
PARTS = {
    "Guide": [
        "docs/GUIDE.md",
        "docs/INTERFACE.md",
        "docs/MECHANISMS.md",
        "docs/ENGINES.md",
        "docs/SETS.md",
        "docs/POUR.md",
        "docs/PARTICLES.md",
        "docs/CURVES.md",
        "docs/GRAINS.md",
        "docs/NURBS.md",
        "docs/DEFORMABLE.md",
        "docs/PIECES.md",
        "docs/TESSELLATIONS.md",
    ],
    "Reference": [
        "docs/MATH.md",
        "docs/TOLERANCES.md",
        "docs/CONSTANTS.md",
        "docs/BINDINGS.md",
        "docs/EVALUATION.md",
        "benches/RESULTS.md",
        "benches/README.md",
        "docs/SOURCES.md",
        "docs/RELEASE.md",
    ],
    "Project": ["crates/README.md", "data/README.md", "data/evaluation/README.md", "CHANGELOG.md"],
}
# Documents of docs/ that are not chapters, with the reason.
LEFT_OUT: dict[str, str] = {}

FENCE = re.compile(r"^ *(```+|~~~+)")
LINK = re.compile(r"(?<=\]\()[^()\s]+(?=(?: \"[^\"]*\")?\))|(?<=\bsrc=\")[^\"]+|(?<=\bhref=\")[^\"]+")


def chapters() -> list[str]:
    """Documents of the site in reading order."""
    return [FIRST, *(document for part in PARTS.values() for document in part)]


def address(document: str) -> str:
    """Path of a chapter below `src`. mdBook renames README.md itself; links need the new name."""
    return re.sub(r"README\.md$", "index.md", document)


def without_code(text: str) -> str:
    """The text with code replaced by spaces; positions and lines are unchanged."""
    out, fence = [], ""
    for line in text.splitlines(keepends=True):
        mark = FENCE.match(line)
        if fence:
            out.append(re.sub(r"[^\n]", " ", line))
            if mark and mark[1].startswith(fence):
                fence = ""
        elif mark:
            fence = mark[1]
            out.append(re.sub(r"[^\n]", " ", line))
        else:
            out.append(line)
    blank = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
    return blank.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), "".join(out))


def slug(heading: str) -> str:
    """Anchor of a heading, as mdBook and code hosts form it."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip().rstrip("#").strip())
    kept = [c for c in words if c.isalnum() or c in "_- "]
    return "".join("-" if c == " " else c.lower() for c in kept)


def anchors(text: str) -> set[str]:
    """Anchors of all headings of a document; repeated ones are numbered."""
    found: dict[str, int] = {}
    out = set()
    fence = ""
    for line in text.splitlines():
        mark = FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif not fence and (heading := re.match(r"#{1,6} +(.*)", line)):
            name = slug(heading[1])
            count = found.get(name, 0)
            out.add(f"{name}-{count}" if count else name)
            found[name] = count + 1
    return out | set(re.findall(r"\b(?:id|name)=\"([^\"]+)\"", text))


def links(text: str) -> list[tuple[int, str, int]]:
    """Links of a document: position, target and line."""
    masked = without_code(text)
    return [(m.start(), m[0], text.count("\n", 0, m.start()) + 1) for m in LINK.finditer(masked)]


def is_external(target: str) -> bool:
    return re.match(r"[a-z][a-z+.-]*:", target) is not None


def fault(document: str, target: str) -> str | None:
    """Reason why a link of a document is broken."""
    if is_external(target):
        parts = urlsplit(target)
        if parts.scheme == "mailto":
            return None if "@" in parts.path else "is not an e-mail address"
        is_address = parts.scheme in {"http", "https"} and re.fullmatch(r"[\w.-]+\.[a-z]{2,}(:\d+)?", parts.netloc)
        return None if is_address else "is not a valid address"
    name, _, anchor = target.partition("#")
    path = (ROOT / document).parent / unquote(name) if name else ROOT / document
    if not path.exists():
        return "the file does not exist"
    if not path.resolve().is_relative_to(ROOT):
        return "the file is outside of the repository"
    if anchor and path.suffix == ".md" and anchor not in anchors(path.read_text(encoding="utf-8")):
        return f"{path.resolve().relative_to(ROOT)} has no heading for this anchor"
    return None


def documents() -> list[str]:
    """All documents of the repository."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return [name for name in done.stdout.split() if (ROOT / name).is_file()]
    paths = (p.relative_to(ROOT) for p in ROOT.rglob("*.md"))
    return sorted(str(p) for p in paths if p.parts[0] != "target" and not p.parts[0].startswith("."))


def check() -> list[str]:
    """Faults of the documents: links without target, and documents that are in no chapter."""
    faults = []
    for document in documents():
        for _, target, line in links((ROOT / document).read_text(encoding="utf-8")):
            if reason := fault(document, target):
                faults.append(f"{document}:{line}: {target}: {reason}")
    listed = set(chapters())
    for path in sorted(ROOT.glob("docs/*.md")):
        document = str(path.relative_to(ROOT))
        if document not in listed and document not in LEFT_OUT:
            faults.append(f"{document}: is not a chapter of the site (PARTS in tools/site/assemble.py)")
    faults += [f"{name}: a chapter without file" for name in chapters() if not (ROOT / name).is_file()]
    return faults


def repository() -> str | None:
    """Address of the repository according to Cargo.toml."""
    found = re.search(r"^repository = \"([^\"]+)\"", (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)
    return found[1].rstrip("/") if found else None


def title(document: str) -> str:
    """First heading of a document."""
    found = re.search(r"^# +(.*)$", (ROOT / document).read_text(encoding="utf-8"), re.MULTILINE)
    return found[1].strip() if found else document


def first_page(text: str) -> str:
    """The README with the paragraph about its audience, and its first figure beside the text."""
    figure = re.search(r"^<img [^>]*>\n\n", text, re.MULTILINE)
    audience = (HERE / "audience.md").read_text(encoding="utf-8")
    if not figure or "## Two commands" not in text:
        sys.exit("README.md: no figure before the section “Two commands”")
    image = re.sub(r" width=\"\d+\"", ' class="first-figure"', figure[0].strip())
    text = text.replace(figure[0], "", 1).replace("## Two commands", audience + "\n## Two commands", 1)
    heading, rest = text.split("\n", 1)
    return f"{heading}\n\n{image}\n{rest}"


def rewrite(document: str, source: Path, files: set[str], base: str | None) -> tuple[str, list[list]]:
    """The text of a chapter with links for the site, and a list of its links: target in the site, line, target."""
    text = (ROOT / document).read_text(encoding="utf-8")
    in_book = {name: address(name) for name in chapters()}
    folder = Path(address(document)).parent
    out, moved, end = [], [], 0
    for start, target, line in links(text):
        new = target
        name, hash_, anchor = target.partition("#")
        if not is_external(target) and name:
            path = ((ROOT / document).parent / unquote(name)).resolve().relative_to(ROOT).as_posix()
            if path in in_book:
                new = os.path.relpath(in_book[path], folder) + hash_ + anchor
            elif (ROOT / path).is_dir():
                sys.exit(f"{document}:{line}: {target}: a folder; the site needs a link to a file")
            elif base and Path(path).suffix not in {".svg", ".png", ".jpg"}:
                new = f"{base}/blob/HEAD/{path}{hash_}{anchor}"
            else:
                # mdBook copies Markdown only if it is a chapter.
                copy = f"files/{re.sub(r'[.]md$', '.txt', path)}"
                (source / copy).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / path, source / copy)
                files.add(copy)
                new = os.path.relpath(copy, folder)
        moved.append([new, line, target])
        before = text[end:start]
        if not is_external(target) and name.endswith(".md") and path in in_book:
            # A link that shows the name of a file shows the title of its chapter.
            before = re.sub(r"\[[\w./-]+\.md\]\($", lambda _, path=path: f"[{title(path)}](", before)
        out += [before, new]
        end = start + len(target)
    return "".join(out) + text[end:], moved


def assemble(place: Path) -> None:
    source = place / "src"
    # Pictures and figures of an earlier run are kept.
    for path in source.glob("*") if source.exists() else []:
        if path.is_dir() and path.name != "gallery":
            shutil.rmtree(path)
        elif path.is_file() and path.name not in MADE:
            path.unlink()
    source.mkdir(parents=True, exist_ok=True)
    files: set[str] = set()
    record = {}
    base = repository()
    for document in chapters():
        text, moved = rewrite(document, source, files, base)
        if document == FIRST:
            text = first_page(text)
        out = source / address(document)
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text, encoding="utf-8")
        record[address(document).removesuffix(".md") + ".html"] = {"document": document, "links": moved}
    lines = ["# Summary", "", f"[feeler]({address(FIRST)})"]
    for name, heading in MADE.items():
        if not (source / name).exists():
            (source / name).write_text(f"# {heading}\n\nNot made in this build.\n", encoding="utf-8")
        lines.append(f"[{heading}]({name})")
    for part, names in PARTS.items():
        lines += ["", f"# {part}", ""]
        lines += [f"- [{title(name)}]({address(name)})" for name in names]
    (source / "SUMMARY.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (place / "links.json").write_text(json.dumps(record, indent=1), encoding="utf-8")
    for name in ("book.toml", "site.css"):
        shutil.copyfile(HERE / name, place / name)
    print(f"{len(record)} chapters, {sum(len(r['links']) for r in record.values())} links, {len(files)} files copied")


def main() -> int:
    parser = argparse.ArgumentParser(description="Assembles the sources of the site and checks their links.")
    parser.add_argument("place", nargs="?", type=Path, help="folder of the site, such as target/site")
    parser.add_argument("--check", action="store_true", help="only check the links of all documents")
    options = parser.parse_args()
    faults = check()
    for text in faults:
        print(text, file=sys.stderr)
    if faults:
        print(f"{len(faults)} faults", file=sys.stderr)
        return 1
    if options.check:
        count = sum(len(links((ROOT / d).read_text(encoding="utf-8"))) for d in documents())
        print(f"{len(documents())} documents, {count} links: no fault")
    elif options.place:
        assemble(options.place)
    else:
        parser.error("a folder or --check is needed")
    return 0


sys.exit(main())
