"""Checks the links of the built site: files and anchors exist, and pages load nothing from a network.

    python tools/site/check_html.py target/site

Reads `html` and `links.json` of the folder, which assemble.py and mdBook have written. Each fault states document,
line and target; the exit status is then 1. The interactive pages of the gallery are self-contained and are only
searched for addresses that a browser would load. Needs only the standard library.
"""

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes that name another file, and whether the browser loads it with the page.
LOADS = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("video", "src")}
FOLLOWS = {("a", "href"), ("area", "href")}


class Page(HTMLParser):
    """Anchors and links of a page; links with the line of the HTML file."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.anchors: set[str] = set()
        self.links: list[tuple[int, str, bool]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif (tag, name) in LOADS | FOLLOWS:
                self.links.append((self.getpos()[0], value, (tag, name) in LOADS))


def is_loaded_elsewhere(text: str) -> bool:
    """Whether a style or a self-contained page names an address that a browser loads."""
    return re.search(r"(?:url\(|@import|\bsrc=)\s*['\"]?(?:https?:)?//", text) is not None


def check(place: Path) -> tuple[list[str], int]:
    """Faults of the site, and the number of its links."""
    html = place / "html"
    record = json.loads((place / "links.json").read_text(encoding="utf-8"))
    faults: list[str] = []
    pages: dict[str, Page] = {}
    for path in sorted(html.rglob("*.html")):
        name = path.relative_to(html).as_posix()
        text = path.read_text(encoding="utf-8")
        if name.startswith("gallery/"):
            if is_loaded_elsewhere(text[:100_000]):
                faults.append(f"{name}: loads a file from another site")
        elif not name.startswith("files/"):
            pages[name] = Page(text)
    faults += [
        f"{path.relative_to(html)}: loads a file from another site"
        for path in html.rglob("*.css")
        if is_loaded_elsewhere(path.read_text(encoding="utf-8"))
    ]
    missing = sorted(set(record) - set(pages))
    faults += [f"{record[name]['document']}: mdBook wrote no page {name}" for name in missing]

    def where(page: str, target: str, line: int) -> str:
        """Document, line and target of a link, or those of the page if it is not from a document."""
        source = record.get(page, {"links": [], "document": page})
        for new, at, old in source["links"]:
            if re.sub(r"\.md(?=#|$)", ".html", new) == target or new == target:
                return f"{source['document']}:{at}: {old}"
        return f"{page}:{line}: {target}"

    count = 0
    for name, page in pages.items():
        for line, target, is_loaded in page.links:
            count += 1
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if is_loaded and parts.scheme != "data":
                    faults.append(f"{where(name, target, line)}: is loaded from another site")
                continue
            path = (html / name).parent / unquote(parts.path) if parts.path else html / name
            path = path.resolve()
            if path.is_dir():
                path = path / "index.html"
            if not path.is_file() or not path.is_relative_to(html.resolve()):
                faults.append(f"{where(name, target, line)}: the file does not exist in the site")
                continue
            other = pages.get(path.relative_to(html.resolve()).as_posix())
            if parts.fragment and other is not None and unquote(parts.fragment) not in other.anchors:
                faults.append(f"{where(name, target, line)}: the page has no such anchor")
    return faults, count


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    faults, count = check(Path(sys.argv[1]))
    for text in faults:
        print(text, file=sys.stderr)
    print(f"{count} links in the built site, {len(faults)} faults")
    return 1 if faults else 0


sys.exit(main())
