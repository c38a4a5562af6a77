"""Runs over the models of a set: preparation, functions, clearance, and the comparison with a baseline."""

from __future__ import annotations

import concurrent.futures
import functools
import hashlib
import json
import os
import pickle
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cloudpickle
import pyarrow as pa
import pyarrow.parquet as pq

import feeler
from feeler._checks import _callback

from . import _child
from ._child import Limits, TaskError
from ._engines import engine
from ._store import Shards, Store, StoreError, key_of

BATCH_SECONDS = 2.0
"""Intended duration of a batch: long compared with the overhead of an engine, short compared with a run."""
MAX_BATCH = 500
"""Maximum number of models of a batch."""
FIRST_RATE = 2e-6
"""Assumed time (s) per byte of a file until batches have been measured."""
SUFFIXES = (".step", ".stp", ".p21", ".stpz", ".step.gz", ".stp.gz", ".step.zip", ".stp.zip")
"""Endings of the files that prepare() takes from a folder, in lower case."""

_Progress = Callable[[int, int], object] | bool | None


@dataclass(frozen=True, eq=False)
class SetReport:
    """Result of a run over a set: a table with a row for each file, or several for map() and clearance().

    The order of the rows and all values depend only on the files and the function, not on workers, interruptions or
    earlier runs. `hash` is that of the table.
    """

    table: pa.Table
    failed: tuple[tuple[str, str], ...]
    """Files that failed, with the reasons."""
    reused: int
    """Number of files whose results were in the store."""
    seconds: float
    """Duration of the run (s)."""
    worker_seconds: float
    """Sum of the durations of all batches on the workers (s)."""

    @functools.cached_property
    def hash(self) -> str:
        """SHA-256 of the rows of the table, in JSON."""
        rows = json.dumps(self.table.to_pylist(), sort_keys=True, allow_nan=True)
        return hashlib.sha256(rows.encode()).hexdigest()

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame."""
        return self.table.to_pandas()

    def to_arrow(self) -> pa.Table:
        """The table."""
        return self.table

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the table as a Parquet file: complete or not at all. It can be the baseline of regress()."""
        path = Path(path)
        partial = path.with_name(f"{path.name}.{os.getpid()}.part")
        pq.write_table(self.table, partial)
        partial.replace(path)

    def __repr__(self) -> str:
        return f"<SetReport: {self.table.num_rows} rows, {len(self.failed)} files failed>"


@dataclass(frozen=True)
class _Item:
    """A model of a batch."""

    key: str
    source: str
    """Path of the file; for results, the key again."""


@dataclass(frozen=True)
class _Job:
    """Work on a batch, as it is sent to a worker."""

    shards: Shards | None
    """Where the results are written; None if they are only returned."""
    task: bytes
    """Pickled function from an item's source to (data or None, record)."""
    limits: Limits


def _work(job: _Job, batch: list[_Item]) -> tuple[dict[str, dict[str, Any]], float]:
    """Runs a batch on a worker and writes its shard. Returns the records by key and the duration (s)."""
    begin = time.monotonic()
    task = pickle.loads(job.task)
    entries, records = {}, {}
    for item in batch:
        try:
            data, record = _child.run(functools.partial(task, item.source), job.limits)
            records[item.key] = {"status": "ok", "reason": ""} | record
            if data is not None:
                entries[item.key] = data
        except TaskError as error:
            records[item.key] = {"status": "failed", "reason": str(error)}
    if job.shards is not None:
        job.shards.write(entries, records)
    return records, time.monotonic() - begin


class _Batches:
    """Divides items into batches of about BATCH_SECONDS, with the rate that finished batches have shown."""

    def __init__(self, items: Sequence[tuple[_Item, int]]) -> None:
        self._items = items
        self._rate = FIRST_RATE
        self._sizes = {item.key: size for item, size in items}

    def __iter__(self) -> Iterator[list[_Item]]:
        batch: list[_Item] = []
        size = 0
        for item, length in self._items:
            if batch and (len(batch) == MAX_BATCH or (size + length) * self._rate > BATCH_SECONDS):
                yield batch
                batch, size = [], 0
            batch.append(item)
            size += length
        if batch:
            yield batch

    def measured(self, keys: Iterable[str], seconds: float) -> None:
        """Takes the duration of a finished batch into account."""
        size = sum(self._sizes[key] for key in keys)
        if size > 0:
            self._rate += 0.2 * (seconds / size - self._rate)


def _run(
    job: _Job, items: Sequence[tuple[_Item, int]], client: Any, workers: int | None, progress: _Progress, total: int
) -> tuple[dict[str, dict[str, Any]], float]:
    """Runs a job on all items. Returns the records by key and the sum of the durations of the batches (s)."""
    report = _callback(progress)
    records: dict[str, dict[str, Any]] = {}
    busy = 0.0
    done = total - len(items)
    if report is not None:
        report(done, total)
    if not items:
        return records, busy
    batches = _Batches(items)
    with engine(client, workers) as run:
        for found, seconds in run(functools.partial(_work, job), batches):
            batches.measured(found, seconds)
            records.update(found)
            busy += seconds
            if report is not None:
                report(done + len(records), total)
    return records, busy


def _prepared(path: str) -> tuple[bytes, dict[str, Any]]:
    """Prepares a file, in a child process."""
    try:
        model = feeler.prepare_step(path)
    except feeler.FeelerError as error:
        # Results do not depend on the folder.
        raise type(error)(str(error).replace(path, os.path.basename(path))) from None
    bodies = [model.body(k) for k in range(len(model))]
    data = model.to_bytes()
    return data, {
        "solids": len(model),
        "instances": len(model.instances),
        "volume": sum(body.volume for body in bodies),
        "area": sum(body.area for body in bodies),
        "warnings": len(model.remarks),
        "left_out": len(model.left_out),
        "bytes": len(data),
    }


_PREPARED = pa.schema(
    [
        ("file", pa.string()),
        ("key", pa.string()),
        ("status", pa.string()),
        ("reason", pa.string()),
        ("solids", pa.int64()),
        ("instances", pa.int64()),
        ("volume", pa.float64()),
        ("area", pa.float64()),
        ("warnings", pa.int64()),
        ("left_out", pa.int64()),
        ("bytes", pa.int64()),
    ]
)


def files_of(files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[tuple[str, str]]:
    """Names and paths of files: those below a folder with one of SUFFIXES, named relative to it, or the listed
    ones under their paths. Raises FileNotFoundError."""
    if isinstance(files, (str, os.PathLike)):
        root = Path(files)
        if not root.is_dir():
            raise FileNotFoundError(f"{root}: not a folder; give a folder, or a list of files")
        paths = (p for p in root.rglob("*") if p.name.lower().endswith(SUFFIXES) and p.is_file())
        return sorted((p.relative_to(root).as_posix(), str(p.resolve())) for p in paths)
    named = [(os.fspath(path), os.path.abspath(path)) for path in files]
    missing = [name for name, path in named if not os.path.isfile(path)]
    if missing:
        raise FileNotFoundError(
            f"{missing[0]}: no such file" + (f", and {len(missing) - 1} more" if missing[1:] else "")
        )
    return sorted(set(named))


def prepare(
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    store: Store | str,
    *,
    client: Any = None,
    workers: int | None = None,
    limits: Limits = Limits(),
    retry_failed: bool = False,
    progress: _Progress = None,
) -> SetReport:
    """Prepares the STEP files of a set and keeps the models in a store.

    files: a folder, which is searched with its subfolders, or paths.
    store: a Store, or its directory or address. Files whose contents are in the store are not prepared again,
    whatever their names; failed ones only with `retry_failed`. Files with equal contents are one model, under the
    name of the first one.
    client: where the work is done: None for the processors of this machine, a dask.distributed.Client, the address of
    a Dask scheduler, or that of a Ray cluster ("ray://host:10001", "ray" for this machine). Workers need
    feeler[sets], the files under the same paths, and the store.
    workers: number of workers on this machine; default: one for each processor.
    limits: limits for each file. A file that exceeds one, or crashes its process, is a failed one; the others are
    prepared.
    progress: function that is called with the numbers of finished and of all files; True for a bar on standard error.

    The run can be interrupted or killed at any time: the next one continues. The table has the columns file, key,
    status, reason, solids, instances, volume (mm³), area (mm²), warnings, left_out and bytes.

    >>> import tempfile
    >>> report = feeler.sets.prepare(["data/pin.step", "data/bore.step"], tempfile.mkdtemp(), workers=1)
    >>> report.table.column("file").to_pylist(), report.failed
    (['data/bore.step', 'data/pin.step'], ())
    """
    begin = time.monotonic()
    store = store if isinstance(store, Store) else Store(os.fspath(store))
    named = files_of(files)
    # Hashing waits for the disk most of the time.
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        keys = list(pool.map(lambda entry: key_of(entry[1]), named))
    store.models.refresh()
    known = dict(store.models.records)
    if retry_failed:
        known = {key: record for key, record in known.items() if record["status"] == "ok"}
    open_keys: dict[str, tuple[_Item, int]] = {}
    for (_, path), key in zip(named, keys, strict=True):
        if key not in known:
            open_keys.setdefault(key, (_Item(key, path), max(os.path.getsize(path), 1)))
    job = _Job(store.models, cloudpickle.dumps(_prepared), limits)
    records, busy = _run(job, list(open_keys.values()), client, workers, progress, len(set(keys)))
    store.models.compact()
    every = known | records
    rows = [{"file": name, "key": key} | every[key] for (name, _), key in zip(named, keys, strict=True)]
    table = pa.Table.from_pylist(rows, schema=_PREPARED)
    reused = sum(key in known for key in keys)
    report = SetReport(table, _failures(rows), reused, time.monotonic() - begin, busy)
    packed = pa.BufferOutputStream()
    pq.write_table(table, packed)
    store.models.write_whole("files.parquet", packed.getvalue().to_pybytes())
    return report


def _failures(rows: Iterable[Mapping[str, Any]]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted({(row["file"], row["reason"]) for row in rows if row["status"] == "failed"}))


def _files_of_store(store: Store) -> list[tuple[str, str]]:
    """Names and keys of the prepared files of the last run of prepare()."""
    try:
        with store.models.files.open(f"{store.models.root}/files.parquet", "rb") as file:
            table = pq.read_table(file)
    except FileNotFoundError:
        raise StoreError(f"{store.url}: no set has been prepared completely; run feeler.sets.prepare first") from None
    return [(row["file"], row["key"]) for row in table.to_pylist() if row["status"] == "ok"]


def _applied(store_url: str, function: bytes, key: str) -> tuple[None, dict[str, Any]]:
    """Calls a function with a model of a store, in a child process."""
    store = _store_of_process(store_url)
    result = pickle.loads(function)(store.model(key))
    rows = [result] if isinstance(result, Mapping) else result
    if not isinstance(rows, Sequence) or not all(isinstance(row, Mapping) for row in rows):
        raise TypeError(f"the function returned {type(result).__name__}; return a dict, or a list of dicts")
    plain = [{str(name): _plain(name, value) for name, value in row.items()} for row in rows]
    return None, {"rows": plain}


@functools.cache
def _store_of_process(url: str) -> Store:
    return Store(url)


def _plain(name: object, value: Any) -> Any:
    """A number, text, bool or None, also from numpy; lists of them as lists."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(name, entry) for entry in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"column {name!r} is a {type(value).__name__}; return numbers, texts, or lists of them")


def map(  # noqa: A001 - feeler.sets.map, as the builtin for sets
    function: Callable[[feeler.Model], Mapping[str, Any] | Sequence[Mapping[str, Any]]],
    store: Store | str,
    *,
    name: str | None = None,
    client: Any = None,
    workers: int | None = None,
    limits: Limits = Limits(),
    progress: _Progress = None,
) -> SetReport:
    """Calls a function with each model of a store and collects what it returns in a table.

    function: takes a Model and returns a dict, or a list of dicts, of numbers, texts and lists of them. It is sent to
    the workers by cloudpickle, and runs in child processes; see `limits` of prepare().
    store: store of the last run of prepare(), whose files are the rows of the table.
    name: results are kept in the store under this name, and an interrupted run continues. Take another name for
    another function. Without a name nothing is kept.
    client, workers, limits, progress: as for prepare().

    The table has the columns file, status and reason, and those of the dicts.

    >>> import tempfile
    >>> store = feeler.sets.Store(tempfile.mkdtemp())
    >>> _ = feeler.sets.prepare(["data/pin.step", "data/bore.step"], store, workers=1)
    >>> report = feeler.sets.map(lambda model: {"thickness": model.body().min_thickness}, store, workers=1)
    >>> [round(x, 6) for x in report.table.column("thickness").to_pylist()]
    [15.0, 19.9]
    """
    begin = time.monotonic()
    store = store if isinstance(store, Store) else Store(os.fspath(store))
    named = _files_of_store(store)
    shards = store.results(name) if name is not None else None
    known = {} if shards is None else dict(shards.records)
    open_keys: dict[str, tuple[_Item, int]] = {}
    for _, key in named:
        if key not in known:
            open_keys[key] = (_Item(key, key), max(store.models.index[key][2], 1))
    task = functools.partial(_applied, store.url, cloudpickle.dumps(function))
    job = _Job(shards, cloudpickle.dumps(task), limits)
    items = list(open_keys.values())
    records, busy = _run(job, items, client, workers, progress, len({key for _, key in named}))
    every = known | records
    if shards is not None:
        shards.compact()
    rows = []
    for file, key in named:
        record = every[key]
        head = {"file": file, "status": record["status"], "reason": record["reason"]}
        rows += [head | row for row in record.get("rows", [{}])]
    columns = dict.fromkeys(["file", "status", "reason", *(column for row in rows for column in row)])
    table = pa.table({column: [row.get(column) for row in rows] for column in columns})
    reused = sum(key in known for _, key in named)
    return SetReport(table, _failures(rows), reused, time.monotonic() - begin, busy)


def _clearances(rules: str | None, d_max: float | None, volume: bool, model: feeler.Model) -> list[dict[str, Any]]:
    report = feeler.clearance(
        model, rules=None if rules is None else feeler.Rules(rules), d_max=d_max, volume=volume, threads=1
    )
    pairs = report.pairs
    names = ("path_a", "path_b", "status", "distance", "finding")
    return [{name: getattr(pair, name) for name in names} for pair in pairs]


def clearance(
    store: Store | str,
    *,
    rules: str | None = None,
    d_max: float | None = None,
    volume: bool = False,
    name: str | None = None,
    client: Any = None,
    workers: int | None = None,
    limits: Limits = Limits(),
    progress: _Progress = None,
) -> SetReport:
    """Checks the clearances of the parts of each model of a store, as feeler.clearance does.

    rules: the text of rules. d_max, volume: as for feeler.clearance. The other arguments are those of map(). The
    table has a row for each pair of near parts, with the columns file, status, reason, path_a, path_b, pair_status,
    distance (mm) and finding.

    >>> import tempfile
    >>> store = feeler.sets.Store(tempfile.mkdtemp())
    >>> _ = feeler.sets.prepare(["data/assemblies/rack.step"], store, workers=1)
    >>> feeler.sets.clearance(store, workers=1).table.num_rows
    2
    """

    def function(model: feeler.Model) -> list[dict[str, Any]]:
        rows = _clearances(rules, d_max, volume, model)
        return [{"pair_status" if key == "status" else key: value for key, value in row.items()} for row in rows]

    return map(function, store, name=name, client=client, workers=workers, limits=limits, progress=progress)
