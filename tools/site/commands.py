"""Runs the commands of the documents of the site in a scratch folder with a copy of data/, and reports failures.

    python tools/site/commands.py FEELER [--only DOCUMENT]... [--seconds N]

Runs the `feeler` commands of blocks marked `sh`, of indented blocks, and of code within the text that names a file.
Commands of one document run in order in one folder. Documents whose commands a test of the workspace runs are only
listed. Commands with placeholders in capitals or angle brackets, and commands of other programs, are skipped and
listed with the reason; files of the repository that they name must exist. The exit status is 1 if a command fails or
exceeds its time. Needs only the standard library.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent

# Documents whose commands a test of the workspace runs and compares with the text.
COVERED = {
    "README.md": "crates/feeler-cli/tests/it/documents.rs",
    "docs/GUIDE.md": "crates/feeler-cli/tests/it/documents.rs",
}
# Files that a document expects the reader to have: commands that make them.
INPUTS = {
    "docs/TESSELLATIONS.md": [
        "grains.py grains.nrrd",
        "grains.py slices",
        "grains.py grains.raw 160 --repeat 4",
    ],
}
# Commands that need a file which another program of the document writes: words of the command, and the reason.
DEPENDENT = {"feeler mechanism hinge.toml": "needs the output of a program that is skipped"}
# Commands that end with exit status 1 because they report findings.
FINDINGS = ("feeler diff ",)

# Reasons why commands of other programs are not run.
REASONS = {
    "cargo": "builds with cargo",
    "cmake": "builds with cmake",
    "cc": "builds with a C compiler",
    "pip": "installs packages",
    "python": "runs a script of the project, which needs the wheel or other packages",
    "maturin": "builds the wheel",
}

PLACEHOLDER = re.compile(r"<[A-Za-z][^<>|]*>|(?<![\w/.=$-])[A-Z][A-Z0-9_]{2,}(?:\.[a-z]+|/\S*)?(?![\w=])|\.\.\.$|…$")
OTHER = re.compile(r"^(?:[A-Z_]+=\S* )?([\w./-]+)")
SHELL = {"mkdir", "cp", "rm", "cat", "sed", "printf", "echo", "export"}


class Command(NamedTuple):
    document: str
    line: int
    text: str


def blocks(text: str) -> list[tuple[int, str, str]]:
    """Blocks of code: number of the first line, language (`indented` without fence), and text."""
    out = []
    lines = text.splitlines()
    k = 0
    while k < len(lines):
        fence = re.match(r"( *)(```+)(\S*)", lines[k])
        if fence:
            end = next(i for i in range(k + 1, len(lines)) if lines[i].strip().startswith(fence[2]))
            indent = len(fence[1])
            out.append((k + 2, fence[3], "\n".join(line[indent:] for line in lines[k + 1 : end])))
            k = end + 1
        elif lines[k].startswith("    ") and (k == 0 or not lines[k - 1].strip()):
            end = next(
                (i for i in range(k, len(lines)) if lines[i].strip() and not lines[i].startswith("    ")), len(lines)
            )
            out.append((k + 1, "indented", "\n".join(line[4:] for line in lines[k:end])))
            k = end
        else:
            k += 1
    return out


def split(block: str) -> list[tuple[int, str]]:
    """Commands of a block, with continuation lines and here-documents; offsets of their first lines."""
    out: list[tuple[int, str]] = []
    end_word = None
    for offset, line in enumerate(block.splitlines()):
        continues = end_word is not None or bool(out and out[-1][1].endswith("\\"))
        if end_word is not None and line == end_word:
            end_word = None
        if here := re.search(r"<<'?(\w+)'?", line):
            end_word = here[1]
        if continues:
            out[-1] = (out[-1][0], out[-1][1] + "\n" + line)
        elif line.strip() and not line.startswith("#"):
            out.append((offset, line))
    return out


def commands(document: str) -> list[Command]:
    """Commands of a document in order."""
    text = (ROOT / document).read_text(encoding="utf-8")
    out = []
    for line, language, block in blocks(text):
        if language == "sh":
            out += [Command(document, line + offset, command) for offset, command in split(block)]
        elif language == "indented":
            known = re.compile(r"(?:feeler|cargo|pip|python|cmake|maturin|tools/|target/)")
            out += [Command(document, line + o, c) for o, c in split(block) if known.match(c)]
    # Code within the text; code in blocks is masked by spaces.
    masked = re.sub(r"^( *)```.*?^\1```", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.DOTALL | re.MULTILINE)
    for code in re.finditer(r"`(feeler [a-z]+ [^`]*\.[^`]*)`", masked):
        out.append(Command(document, masked.count("\n", 0, code.start()) + 1, " ".join(code[1].split())))
    return sorted(out, key=lambda command: command.line)


def reason_to_skip(command: str) -> str | None:
    """Reason why a command is not run."""
    for words, reason in DEPENDENT.items():
        if command.startswith(words):
            return reason
    plain = re.sub(r"(^|\s)#.*", "", command).strip()
    program = OTHER.match(plain)
    path = program[1] if program else "another program"
    name = Path(path).name
    if path.startswith("tools/"):
        return "runs a script of the project, which builds or installs programs"
    if path.startswith(("target/", "examples/")):
        return "runs a program that a skipped command makes"
    if name != "feeler" and name not in SHELL:
        return REASONS.get(name, f"needs {name}")
    found = PLACEHOLDER.search(plain)
    return "has a placeholder" if found else None


def missing(command: str) -> list[str]:
    """Files of the repository that a command names but that do not exist."""
    plain = re.sub(r"(^|\s)#.*", "", command)
    paths = re.findall(r"(?<![\w./-])(?:benches|crates|data|tests|tools)/[\w./-]+", plain)
    out = [path for path in paths if not (ROOT / path).exists()]
    bins = re.findall(r"-p feeler-benches --bin ([a-z_]+)", plain)
    folder = ROOT / "benches" / "src" / "bin"
    return out + [name for name in bins if not (folder / f"{name}.rs").exists() and not (folder / name).is_dir()]


def run(command: str, feeler: Path, folder: Path, seconds: float) -> str | None:
    """Runs a command in a folder and returns the reason of its failure."""
    script = 'feeler() { "$FEELER" "$@"; }\n' + command
    environment = os.environ | {"FEELER": str(feeler)}
    process = subprocess.Popen(
        ["bash", "-c", script], cwd=folder, env=environment, text=True, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()
        return f"takes more than {seconds:g} s"
    allowed = (0, 1) if command.startswith(FINDINGS) else (0,)
    if process.returncode in allowed:
        return None
    return f"exit status {process.returncode}: {output.strip()[-300:]}"


def documents() -> list[str]:
    """Documents whose commands are examined: the chapters of the site."""
    names = [str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("docs/*.md"))]
    return ["README.md", *names, "benches/README.md", "benches/RESULTS.md", "crates/README.md", "data/README.md",
            "data/evaluation/README.md", "CHANGELOG.md"]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs the commands of the documents of the site.")
    parser.add_argument("feeler", type=Path)
    parser.add_argument(
        "--only", action="append", default=[], metavar="DOCUMENT", help="run only those of a document"
    )
    parser.add_argument("--seconds", type=float, default=120, help="limit of each command")
    options = parser.parse_args()
    feeler = options.feeler.resolve()
    start = time.monotonic()
    ran, failed = 0, 0
    skipped: list[tuple[Command, str]] = []
    for document in options.only or documents():
        found = commands(document)
        if document in COVERED:
            print(f"{document}: {len(found)} commands; {COVERED[document]} runs those of feeler in blocks")
            continue
        needed = [(command, reason_to_skip(command.text)) for command in found]
        skipped += [(command, reason) for command, reason in needed if reason]
        for command, _ in needed:
            for name in missing(command.text):
                failed += 1
                print(f"{document}:{command.line}: {name}: does not exist", file=sys.stderr)
        to_run = [command for command, reason in needed if not reason]
        if not to_run:
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            shutil.copytree(ROOT / "data", folder / "data")
            for arguments in INPUTS.get(document, []):
                script, *rest = arguments.split()
                subprocess.run([sys.executable, HERE / script, *rest], cwd=folder, check=True)
            for command in to_run:
                begin = time.monotonic()
                fault = run(command.text, feeler, folder, options.seconds)
                ran += 1
                shown = " ".join(command.text.split())
                print(f"{document}:{command.line}: {shown} ({time.monotonic() - begin:.1f} s)")
                if fault:
                    failed += 1
                    print(f"{document}:{command.line}: {shown}: {fault}", file=sys.stderr)
    print("skipped:")
    for command, reason in skipped:
        print(f"  {command.document}:{command.line}: {' '.join(command.text.split())[:90]}: {reason}")
    seconds = time.monotonic() - start
    print(f"{ran} commands ran, {failed} failed, {len(skipped)} skipped ({seconds:.0f} s)")
    return 1 if failed else 0


sys.exit(main())
