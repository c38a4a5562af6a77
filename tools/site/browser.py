"""Drives headless Chromium through its debugging pipe: opens pages, runs scripts in them, and takes pictures.

    python tools/site/browser.py PAGE.html PICTURE.png [WIDTH HEIGHT [SCRIPT]]

Needs Chromium (Debian: chromium) and only the standard library.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Self

OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--hide-scrollbars",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
]


class Browser:
    """Headless Chromium with one tab."""

    def __init__(self, seconds: float = 60) -> None:
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        if program is None:
            sys.exit("chromium is missing: install it (Debian: chromium)")
        self.seconds = seconds
        self.number = 0
        self.buffer = b""
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()
        # The pipe has the descriptors 3 (commands) and 4 (answers) in Chromium.
        script = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        arguments = [*OPTIONS, f"--user-data-dir={self.profile.name}", "about:blank"]
        command = ["bash", "-c", script, "bash", program, *arguments]
        self.process = subprocess.Popen(
            command, pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_browser)
        os.close(from_browser)
        target = self.call("Target.getTargets")["targetInfos"][0]["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session: str | None = attached["sessionId"]
        self.call("Page.enable")
        self.call("Runtime.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(10)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self.profile.cleanup()

    def call(self, method: str, **parameters: Any) -> dict:
        """Sends a command and returns its result."""
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": parameters}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.output, data) :]
        end = time.monotonic() + self.seconds
        while True:
            while b"\0" not in self.buffer:
                if not select.select([self.input], [], [], max(0.0, end - time.monotonic()))[0]:
                    raise RuntimeError(f"{method}: no answer of the browser within {self.seconds} s")
                piece = os.read(self.input, 1 << 20)
                if not piece:
                    raise RuntimeError("the browser has ended")
                self.buffer += piece
            line, _, self.buffer = self.buffer.partition(b"\0")
            answer = json.loads(line)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def run(self, script: str) -> Any:
        """Runs a script in the page, waits for its promise, and returns its value."""
        done = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in done:
            details = done["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return done["result"].get("value")

    def wait(self, condition: str) -> None:
        """Waits until an expression is true in the page."""
        end = time.monotonic() + self.seconds
        while not self.run(condition):
            if time.monotonic() > end:
                raise RuntimeError(f"not true within {self.seconds} s: {condition}")
            time.sleep(0.05)

    def resize(self, width: int, height: int, scale: float = 1) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False
        )

    def open(self, page: Path | str) -> None:
        """Opens a page and waits until it is loaded."""
        url = page if isinstance(page, str) else page.resolve().as_uri()
        self.call("Page.navigate", url=url)
        self.wait(f"document.readyState === 'complete' && location.href.startsWith({json.dumps(url.split('#')[0])})")

    def frames(self, count: int = 3) -> None:
        """Waits for some frames, so that the page has drawn its last change."""
        script = "new Promise(r => { let n = %d; const f = () => n-- ? requestAnimationFrame(f) : r(1); f(); })"
        self.run(script % count)

    def picture(self, path: Path) -> None:
        done = self.call("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(done["data"]))


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    with Browser() as browser:
        browser.resize(*(int(n) for n in sys.argv[3:5] or (1280, 900)))
        browser.open(Path(sys.argv[1]))
        if sys.argv[5:]:
            print(browser.run(sys.argv[5]))
        browser.frames()
        browser.picture(Path(sys.argv[2]))


if __name__ == "__main__":
    main()
