"""Runs the programs of docs/BINDINGS.md as they stand, from the project's folder, and those for MuJoCo of
docs/ENGINES.md where it is installed.

    python guide.py PREFIX

PREFIX is where the C library is installed; Python is the one that runs this.
"""

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def main():
    prefix = Path(sys.argv[1])
    text = (ROOT / "docs" / "BINDINGS.md").read_text()
    blocks = re.findall(r"^```(c|cpp|python)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    if {language for language, _ in blocks} != {"c", "cpp", "python"}:
        sys.exit("docs/BINDINGS.md lacks a program")
    library = next(prefix.glob("lib*"))
    environment = os.environ | {"LD_LIBRARY_PATH": str(library)}
    with tempfile.TemporaryDirectory() as folder:
        for i, (language, code) in enumerate(blocks):
            source = Path(folder) / f"{i}.{ {'python': 'py'}.get(language, language) }"
            source.write_text(code)
            command = [sys.executable, source]
            if language != "python":
                compiler = ["cc", "-std=c99"] if language == "c" else ["c++", "-std=c++17"]
                program = Path(folder) / str(i)
                subprocess.run(
                    [*compiler, "-Wall", "-Wextra", "-Werror", source, f"-I{prefix}/include", f"-L{library}",
                     "-lfeeler_c", "-o", program], check=True)  # fmt: skip
                command = [program]
            done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
            if done.returncode or not done.stdout:
                sys.exit(f"the {language} program of the guide failed: {done.stderr}")
            print(f"guide, {language}: {done.stdout.splitlines()[-1]}")


def mujoco():
    text = (ROOT / "docs" / "ENGINES.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    if not blocks:
        sys.exit("docs/ENGINES.md lacks a program in Python")
    if importlib.util.find_spec("mujoco") is None:
        print("LEFT OUT: the program of docs/ENGINES.md needs MuJoCo", file=sys.stderr)
        return
    for code in blocks:
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
        if done.returncode or not done.stdout:
            sys.exit(f"the program of docs/ENGINES.md failed: {done.stderr}")
        print(f"engines, python: {done.stdout.splitlines()[-1]}")


main()
mujoco()
