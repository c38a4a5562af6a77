"""Sets of models in a shell: python -m feeler.sets."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import feeler
from feeler import sets


def main(arguments: list[str] | None = None) -> int:
    """Runs a command. Returns the exit status: 0, 1 if a file failed or changed, 2 for wrong usage or input."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except KeyboardInterrupt:
        print("interrupted; the next run continues", file=sys.stderr)
        return 130
    except (feeler.FeelerError, OSError, ValueError) as error:
        print(f"feeler.sets: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m feeler.sets", description="Sets of CAD models.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, function: Any, text: str) -> argparse.ArgumentParser:
        out = commands.add_parser(name, help=text, description=text)
        out.set_defaults(command=function)
        out.add_argument("--store", required=True, help="directory or address of the store")
        return out

    def workers(out: argparse.ArgumentParser) -> None:
        out.add_argument("--workers", type=int, help="number of workers on this machine (default: its processors)")
        out.add_argument(
            "--client", help="address of a Dask scheduler (tcp://HOST:8786) or Ray cluster (ray://HOST:10001)"
        )
        out.add_argument("--seconds", type=float, default=60.0, help="time limit of a file (default: 60)")
        out.add_argument("--memory", type=int, default=4096, help="memory limit of a file in MiB (default: 4096)")
        out.add_argument("--table", type=Path, help="Parquet file for the table")
        out.add_argument("--quiet", action="store_true", help="no progress bar")

    prepare = command("prepare", _prepare, "Prepares the STEP files of a folder and names those that fail.")
    prepare.add_argument("folder", help="folder with STEP files")
    prepare.add_argument("--retry-failed", action="store_true", help="try files that failed before again")
    prepare.add_argument("--baseline", type=Path, help="table of an earlier run: report what changed")
    prepare.add_argument("--page", type=Path, help="HTML page with what changed")
    workers(prepare)
    clearance = command("clearance", _clearance, "Checks the clearances of the parts of each model.")
    clearance.add_argument("--rules", type=Path, help="file with rules")
    clearance.add_argument("--d-max", type=float, help="largest distance in mm")
    clearance.add_argument("--baseline", type=Path, help="table of an earlier run: report what changed")
    clearance.add_argument("--page", type=Path, help="HTML page with what changed")
    workers(clearance)
    extract = command("extract", _extract, "Writes the .feeler file of a STEP file that has been prepared.")
    extract.add_argument("file", help="STEP file")
    extract.add_argument("output", type=Path, help=".feeler file")
    return parser


def _common(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "client": options.client,
        "workers": options.workers,
        "limits": sets.Limits(options.seconds, options.memory << 20),
        "progress": not options.quiet and sys.stderr.isatty() or None,
    }


def _prepare(options: argparse.Namespace) -> int:
    report = sets.prepare(options.folder, options.store, retry_failed=options.retry_failed, **_common(options))
    return _finished(options, report)


def _clearance(options: argparse.Namespace) -> int:
    rules = None if options.rules is None else options.rules.read_text(encoding="utf-8")
    report = sets.clearance(options.store, rules=rules, d_max=options.d_max, **_common(options))
    findings = sum(finding not in ("", None) for finding in report.table.column("finding").to_pylist())
    print(f"{findings} findings")
    return max(_finished(options, report), int(findings > 0))


def _finished(options: argparse.Namespace, report: sets.SetReport) -> int:
    for file, reason in report.failed:
        print(f"{file}: {reason}")
    if options.table is not None:
        report.write(options.table)
    files = len(set(report.table.column("file").to_pylist()))
    print(f"{files} files, {len(report.failed)} failed, {report.reused} from the store, {report.seconds:.1f} s")
    status = int(bool(report.failed))
    if options.baseline is not None:
        comparison = sets.regress(report, pq.read_table(options.baseline))
        for change in comparison.changes:
            print(f"{change.file}: {change.what}: {change.old} before, {change.new} now")
        print(repr(comparison).strip("<>"))
        if options.page is not None:
            comparison.write_page(options.page)
        status = max(status, int(not comparison.is_same))
    return status


def _extract(options: argparse.Namespace) -> int:
    store = sets.Store(options.store)
    options.output.write_bytes(store.read(store.key(options.file)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
