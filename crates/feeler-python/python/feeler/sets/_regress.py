"""Comparison of the table of a set with that of an earlier run, and its page."""

from __future__ import annotations

import html
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ._run import SetReport


@dataclass(frozen=True)
class Change:
    """A value that differs from the baseline."""

    file: str
    what: str
    """Name of the column; "file" if the file is new or missing."""
    old: Any
    new: Any


@dataclass(frozen=True)
class SetComparison:
    """Result of regress()."""

    changes: tuple[Change, ...]
    """Differences, by file and column."""
    compared: int
    """Number of files in both tables."""

    @property
    def is_same(self) -> bool:
        """Whether nothing has changed."""
        return not self.changes

    @property
    def files(self) -> tuple[str, ...]:
        """Files with differences."""
        return tuple(dict.fromkeys(change.file for change in self.changes))

    def write_page(self, path: str | os.PathLike[str]) -> None:
        """Writes the differences as a page of HTML, which needs no other file."""
        rows = "\n".join(
            f"<tr><td>{html.escape(c.file)}</td><td>{html.escape(c.what)}</td>"
            f"<td>{html.escape(_shown(c.old))}</td><td>{html.escape(_shown(c.new))}</td></tr>"
            for c in self.changes
        )
        head = "<tr><th>file</th><th>what</th><th>before</th><th>now</th></tr>"
        table = f"<table>{head}{rows}</table>" if self.changes else ""
        style = (
            "body{font:15px system-ui;margin:2em;color:#222}table{border-collapse:collapse}"
            "td,th{border-bottom:1px solid #ccc;padding:.3em 1em .3em 0;text-align:left;vertical-align:top}"
        )
        Path(path).write_text(
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>What changed</title><style>{style}</style>'
            f"<h1>What changed</h1><p>{html.escape(self._summary())}</p>{table}</html>\n",
            encoding="utf-8",
        )

    def _summary(self) -> str:
        if self.is_same:
            return f"{self.compared} files compared, no differences"
        return f"{self.compared} files compared, {len(self.changes)} differences in {len(self.files)} files"

    def __repr__(self) -> str:
        return f"<SetComparison: {self._summary()}>"


def regress(
    report: SetReport | pa.Table, baseline: str | os.PathLike[str] | pa.Table, *, relative: float = 1e-6
) -> SetComparison:
    """Compares the table of a run with that of an earlier one.

    report: what prepare(), map() or clearance() returned.
    baseline: a file that SetReport.write() wrote, or a table.
    relative: numbers may differ by this fraction of the larger one.

    Keys, which change with every byte of a file, and sizes in the store are not compared.

    >>> import tempfile
    >>> report = feeler.sets.prepare(["data/pin.step"], tempfile.mkdtemp(), workers=1)
    >>> feeler.sets.regress(report, report.table)
    <SetComparison: 1 files compared, no differences>
    """
    new = _by_file(report.table if isinstance(report, SetReport) else report)
    old = _by_file(baseline if isinstance(baseline, pa.Table) else pq.read_table(os.fspath(baseline)))
    changes = []
    for file in sorted(old.keys() | new.keys()):
        if file not in old or file not in new:
            changes.append(
                Change(file, "file", "there" if file in old else "missing", "there" if file in new else "missing")
            )
            continue
        before, now = old[file], new[file]
        if len(before) != len(now):
            changes.append(Change(file, "rows", len(before), len(now)))
            continue
        for x, y in zip(before, now, strict=True):
            for what in dict.fromkeys([*x, *y]):
                if what not in ("file", "key", "bytes") and not _is_same(x.get(what), y.get(what), relative):
                    changes.append(Change(file, what, x.get(what), y.get(what)))
    return SetComparison(tuple(changes), len(old.keys() & new.keys()))


def _by_file(table: pa.Table) -> dict[str, list[dict[str, Any]]]:
    out: dict[str, list[dict[str, Any]]] = {}
    for row in table.to_pylist():
        out.setdefault(row["file"], []).append(row)
    return out


def _is_same(a: Any, b: Any, relative: float) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return a == b or math.isclose(a, b, rel_tol=relative) or (math.isnan(a) and math.isnan(b))
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(_is_same(x, y, relative) for x, y in zip(a, b, strict=True))
    return bool(a == b)


def _shown(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)
