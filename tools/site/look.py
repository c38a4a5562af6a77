"""Opens pages of the built site from disk in headless Chromium, at the widths of a screen and of a phone.

    python tools/site/look.py target/site

Reports pages that are wider than the window, pictures that are missing or cut off, and a search without results.
Screenshots for inspection are written to `look` in the folder. The exit status is 1 if there is a fault. Needs
Chromium (Debian: chromium) and only the standard library.
"""

import sys
from pathlib import Path

from browser import Browser

PAGES = ["index.html", "gallery.html", "benchmarks.html", "docs/GUIDE.html", "docs/INTERFACE.html", "docs/MATH.html",
         "docs/CONSTANTS.html", "docs/BINDINGS.html", "benches/RESULTS.html", "crates/index.html"]  # fmt: skip
SIZES = [(1280, 800), (400, 800)]
# Words that are searched for, and the page that must be among the results.
SEARCHES = {"separated": "docs/GUIDE.html", "supermaximal": "docs/MATH.html", "pour": "docs/POUR.html"}

PICTURES = """Promise.all([...document.querySelectorAll('main img')].map(async image => {
  image.loading = 'eager';
  try { await image.decode(); } catch { return image.src + ' is missing'; }
  const box = image.getBoundingClientRect();
  return box.right > innerWidth + 1 ? image.src + ' is cut off' : '';
})).then(texts => texts.filter(text => text))"""
OVERFLOW = "document.documentElement.scrollWidth - innerWidth"


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    html = Path(sys.argv[1]) / "html"
    out = Path(sys.argv[1]) / "look"
    out.mkdir(exist_ok=True)
    faults = []
    with Browser() as browser:
        for width, height in SIZES:
            browser.resize(width, height)
            for name in PAGES:
                browser.open(html / name)
                faults += [f"{name} at {width} px: {text}" for text in browser.run(PICTURES)]
                if (beyond := browser.run(OVERFLOW)) > 0:
                    faults.append(f"{name} at {width} px: {beyond} px wider than the window")
                browser.frames()
                browser.picture(out / f"{Path(name).with_suffix('').as_posix().replace('/', '-')}-{width}.png")
            for word, expected in SEARCHES.items():
                browser.open((html / "index.html").resolve().as_uri() + f"?search={word}")
                try:
                    browser.wait("document.querySelectorAll('#mdbook-searchresults li a').length > 0")
                except RuntimeError:
                    faults.append(f"search for “{word}” at {width} px: no result")
                    continue
                found = browser.run(
                    "[...document.querySelectorAll('#mdbook-searchresults li a')].map(a => a.href).join()"
                )
                if expected not in found:
                    faults.append(f"search for “{word}”: {expected} is not among the results")
                browser.frames()
                browser.picture(out / f"search-{word}-{width}.png")
    for text in faults:
        print(text, file=sys.stderr)
    print(f"{len(PAGES)} pages and {len(SEARCHES)} searches at {len(SIZES)} widths: {len(faults)} faults")
    return 1 if faults else 0


sys.exit(main())
