"""Stores of prepared models: shards of compressed entries in a directory or bucket.

A shard is a sequence of zstd frames, one for each entry, followed by a footer: a zstd frame with JSON (`entries`: key
to offset and length; `records`: key to a dict of values), its length (8 bytes, little endian) and `MAGIC`. A shard is
written under a temporary name and renamed, so that it is complete or absent. Its name is the hash of its footer, so
that it never changes. The same entry may be in several shards; a record of success precedes one of failure.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

import fsspec
import zstandard

import feeler

MAGIC = b"FEELERS1"
MAX_SHARD_BYTES = 1 << 30
"""Size of the shards that compact() writes."""
_LEVEL = 9
_REFERENCES = (b"DOCUMENT_FILE", b"EXTERNAL_SOURCE")
"""Entities of STEP files that refer to other files."""


class StoreError(feeler.FeelerError):
    """A store cannot be read or written, or has no such entry."""


class Shards:
    """Entries and records below one folder of a store."""

    def __init__(self, url: str) -> None:
        self.files, self.root = fsspec.core.url_to_fs(url)
        self.index: dict[str, tuple[str, int, int]] = {}
        self.records: dict[str, dict[str, Any]] = {}
        self._seen: set[str] = set()
        self._local = threading.local()

    def __getstate__(self) -> dict[str, Any]:
        return {"files": self.files, "root": self.root}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.files, self.root = state["files"], state["root"]
        self.index, self.records, self._seen, self._local = {}, {}, set(), threading.local()

    def refresh(self) -> None:
        """Reads the footers of shards that have been added, and forgets those that have been removed."""
        try:
            names = sorted(name for name in self.files.ls(self.root, detail=False) if name.endswith(".shard"))
        except FileNotFoundError:
            names = []
        if not self._seen <= set(names):
            self.index, self.records, self._seen = {}, {}, set()
        for name in names:
            if name in self._seen:
                continue
            footer = self._footer(name)
            for key, (offset, length) in footer["entries"].items():
                self.index[key] = (name, offset, length)
            for key, record in footer["records"].items():
                if record["status"] == "ok" or key not in self.records:
                    self.records[key] = record
            self._seen.add(name)

    def write_whole(self, name: str, data: bytes) -> str:
        """Writes a file of this folder: complete or not at all. Returns its path."""
        path = f"{self.root}/{name}"
        self.files.makedirs(self.root, exist_ok=True)
        partial = f"{path}.{uuid.uuid4().hex}.part"
        self.files.pipe_file(partial, data)
        self.files.mv(partial, path)
        return path

    def _footer(self, name: str) -> dict[str, Any]:
        tail = self.files.cat_file(name, start=-16)
        if len(tail) != 16 or tail[8:] != MAGIC:
            raise StoreError(f"{name}: not a complete shard; delete it and prepare its files again")
        length = int.from_bytes(tail[:8], "little")
        packed = self.files.cat_file(name, start=-16 - length, end=-16)
        footer: dict[str, Any] = json.loads(zstandard.ZstdDecompressor().decompress(packed))
        return footer

    def write(self, entries: Mapping[str, bytes], records: Mapping[str, dict[str, Any]]) -> str:
        """Writes a shard and returns its path."""
        packer = zstandard.ZstdCompressor(level=_LEVEL)
        packed = {key: packer.compress(entries[key]) for key in sorted(entries)}
        name, footer = _footer_of({key: len(data) for key, data in packed.items()}, records)
        return self.write_whole(name, b"".join(packed.values()) + footer)

    def read(self, key: str) -> bytes:
        """Data of the entry with this key. Raises StoreError."""
        try:
            packed = self._packed(*self.index[key])
        except (KeyError, FileNotFoundError):
            # Another process may have added shards, or joined them.
            self.refresh()
            if key not in self.index:
                raise StoreError(f"{self.root}: no entry {key}") from None
            packed = self._packed(*self.index[key])
        return zstandard.ZstdDecompressor().decompress(packed)

    def _packed(self, name: str, offset: int, length: int) -> bytes:
        # An open file for each shard and thread: opening takes longer than reading.
        open_files = self._local.__dict__.setdefault("open_files", {})
        file = open_files.get(name)
        if file is None:
            if len(open_files) > 64:
                for other in open_files.values():
                    other.close()
                open_files.clear()
            file = open_files[name] = self.files.open(name, "rb")
        file.seek(offset)
        packed: bytes = file.read(length)
        return packed

    def compact(self) -> None:
        """Joins the shards into larger ones, in the order of their keys; the result does not depend on how the entries
        were divided. An interrupted call loses nothing."""
        self.refresh()
        old = set(self._seen)
        new = set()
        for keys in self._groups():
            there = [key for key in keys if key in self.index]
            lengths = {key: self.index[key][2] for key in there}
            name, footer = _footer_of(lengths, {key: self.records[key] for key in keys})
            path = f"{self.root}/{name}"
            if path not in old:
                self.write_whole(name, b"".join(self._packed(*self.index[key]) for key in there) + footer)
            new.add(path)
        self._local = threading.local()
        for name in old - new:
            self.files.rm_file(name)
        self._seen = set()
        self.index, self.records = {}, {}
        self.refresh()

    def _groups(self) -> Iterator[list[str]]:
        group: list[str] = []
        size = 0
        for key in sorted(self.records):
            length = self.index[key][2] if key in self.index else 0
            if group and size + length > MAX_SHARD_BYTES:
                yield group
                group, size = [], 0
            group.append(key)
            size += length
        if group:
            yield group


def _footer_of(lengths: Mapping[str, int], records: Mapping[str, dict[str, Any]]) -> tuple[str, bytes]:
    """File name and footer of a shard whose entries have these lengths, in this order."""
    places, at = {}, 0
    for key, length in lengths.items():
        places[key] = [at, length]
        at += length
    footer = json.dumps({"entries": places, "records": records}, sort_keys=True).encode()
    packed = zstandard.ZstdCompressor(level=_LEVEL).compress(footer)
    name = f"{hashlib.sha256(footer).hexdigest()[:32]}.shard"
    return name, packed + len(packed).to_bytes(8, "little") + MAGIC


class Store:
    """Prepared models of a set of files, by the hash of their contents and the version.

    url: directory, or the address of a bucket for which fsspec has a driver.

    >>> import tempfile
    >>> store = feeler.sets.Store(tempfile.mkdtemp())
    >>> report = feeler.sets.prepare(["data/pin.step", "data/bore.step"], store, workers=1)
    >>> len(store), store.model(store.key("data/pin.step")).solids
    (2, ['pin'])
    """

    def __init__(self, url: str) -> None:
        self.url = str(url)
        self.models = Shards(f"{self.url}/models")
        self.models.refresh()

    def __len__(self) -> int:
        return len(self.models.index)

    def keys(self) -> list[str]:
        """Keys of the prepared models, in ascending order."""
        return sorted(self.models.index)

    @staticmethod
    def key(path: str | os.PathLike[str]) -> str:
        """Key of a file, whether or not it has been prepared."""
        return key_of(path)

    def model(self, key: str) -> feeler.Model:
        """Prepared model with this key. Raises StoreError."""
        return feeler.Model.from_bytes(self.models.read(key))

    def read(self, key: str) -> bytes:
        """Bytes of the `.feeler` file with this key. Raises StoreError."""
        return self.models.read(key)

    def failed(self) -> dict[str, str]:
        """Keys of files that could not be prepared, with the reasons."""
        records = self.models.records.items()
        return {key: record["reason"] for key, record in sorted(records) if record["status"] == "failed"}

    def results(self, name: str) -> Shards:
        """Results of map() under this name."""
        shards = Shards(f"{self.url}/results/{name}")
        shards.refresh()
        return shards


def key_of(path: str | os.PathLike[str]) -> str:
    """Hash of a file's contents and the version of feeler. If the file refers to parts in other files, those in its
    folder whose names it contains count as well."""
    return _key_of(os.path.abspath(path), frozenset())


def _key_of(path: str, above: frozenset[str]) -> str:
    digest = hashlib.sha256(f"feeler {feeler.__version__}\n".encode())
    with open(path, "rb") as file:
        contents = file.read()
    digest.update(contents)
    if any(word in contents for word in _REFERENCES):
        for other in _named_files(os.path.dirname(path), contents):
            if other != path and other not in above:
                name = os.path.relpath(other, os.path.dirname(path))
                digest.update(f"{name} {_key_of(other, above | {path})}\n".encode())
    return digest.hexdigest()[:32]


def _named_files(folder: str, contents: bytes) -> Iterator[str]:
    """Files of a folder, and of those of its subfolders that are named in the contents, whose names occur there."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if os.path.splitext(entry.name)[0].encode() not in contents:
            continue
        if entry.is_dir():
            yield from _named_files(entry.path, contents)
        elif entry.is_file():
            yield entry.path
