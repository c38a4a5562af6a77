"""HTML of results in notebooks."""

from collections.abc import Iterable, Iterator
from dataclasses import fields
from html import escape
from typing import Any

import numpy as np

_ROWS = 20
_KINDS = ("face", "edge", "vertex")
_CONTACT_KINDS = ("strict", "quasi", "conformal")
_STEP_KINDS = ("strict", "quasi", "sample", "extended")
_SIDES = (("curve", "curve"), ("curve", "itself"), ("curve", "body"))
_EVENTS = ("began", "persisted", "ended")


def _table(header: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    head = "".join(f"<th>{escape(str(name))}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _point(point: Any) -> str:
    return " ".join(f"{x:.6g}" for x in point)


def _cells(record: Any) -> Iterator[tuple[str, Any]]:
    names = record.dtype.names
    for name in ("bodies", "parts"):
        if name in names:
            yield name, " ".join(map(str, record[name]))
    if "other" in names:
        kind = record["kind"]
        yield "of", f"{_SIDES[kind][0]} {record['curve']}, {_SIDES[kind][1]} {record['other']}"
        yield "distance", f"{record['distance']:.9g}"
        yield "gap", f"{record['gap']:.9g}"
        yield "u", " ".join(f"{u:.6g}" for u in record["u"] if u == u)
        feature = record["feature_kind"]
        yield "feature", f"{_KINDS[feature]} {record['feature_index']}" if feature >= 0 else ""
        for side in "ab":
            yield f"point {side.upper()}", _point(record[f"point_{side}"])
        yield "set", record["set"] if record["set"] >= 0 else ""
    elif "gap_rate" in names:
        yield "gap", f"{record['gap']:.9g}"
        yield "kind", _STEP_KINDS[record["kind"]]
        for side in "ab":
            feature = record[f"feature_{side}"]
            yield f"feature {side.upper()}", f"{_KINDS[feature['kind']]} {feature['index']}"
        for side in "ab":
            yield f"point {side.upper()}", _point(record[f"point_{side}"])
    elif "distance" in names:
        yield "distance", f"{record['distance']:.9g}"
        yield "gap", f"{record['gap']:.9g}"
        yield "kind", _CONTACT_KINDS[record["kind"]]
        for side in "ab":
            feature = record[f"feature_{side}"]
            name = f"{_KINDS[feature['kind']]} {feature['index']} (#{feature['source']})"
            yield f"feature {side.upper()}", name
        for side in "ab":
            yield f"point {side.upper()}", _point(record[f"point_{side}"])
    else:
        yield "event", _EVENTS[record["kind"]]
    # Ids of trackers are small. Ids of queries encode features and are shorter in hexadecimal.
    yield "id", record["id"] if "gap_rate" in names else f"{record['id']:x}"


class Records(np.ndarray[Any, Any]):
    """Structured array that notebooks show as a table. Its fields are plain arrays."""

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if isinstance(found, Records) and found.dtype.names is None:
            return found.view(np.ndarray)
        return found

    def _repr_html_(self) -> str:
        if self.dtype.names is None or self.ndim != 1 or "id" not in self.dtype.names:
            return f"<pre>{escape(repr(self))}</pre>"
        rows = [dict(_cells(record)) for record in self[:_ROWS]]
        if not rows:
            return "<p>no records</p>"
        more = f"<p>and {len(self) - _ROWS} more</p>" if len(self) > _ROWS else ""
        return _table(rows[0], [row.values() for row in rows]) + more


def _cell(value: Any) -> Any:
    if value is None or value != value:
        return ""
    return f"{value:.9g}" if isinstance(value, float) else value


def report_html(summary: str, header: list[str], rows: list[tuple[Any, ...]]) -> str:
    """Summary of a report, and its first rows as a table."""
    text = f"<p>{escape(summary)}</p>"
    if not rows:
        return text
    more = f"<p>and {len(rows) - _ROWS} more</p>" if len(rows) > _ROWS else ""
    cells = [[_cell(value) for value in row] for row in rows[:_ROWS]]
    used = [i for i in range(len(header)) if any(row[i] != "" for row in cells)]
    return text + _table([header[i] for i in used], [[row[i] for i in used] for row in cells]) + more


def facts_html(result: Any) -> str:
    """Fields of a result as a table; a contact is shown by its point on A."""
    facts = {}
    for field in fields(result):
        value = getattr(result, field.name)
        facts[field.name] = _point(value["point_a"]) if isinstance(value, np.void) else value
    return _table(("", ""), [(name, _cell(value)) for name, value in facts.items() if value is not None])


def verdict_html(facts: dict[str, Any]) -> str:
    return _table(("", ""), [(name, value) for name, value in facts.items() if value is not None])
