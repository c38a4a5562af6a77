"""Where batches run: on Dask, on a Ray cluster, or in this process."""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

_OUTSTANDING = 3
"""Number of batches per worker that are submitted at a time."""


@contextlib.contextmanager
def engine(client: Any, workers: int | None) -> Iterator[Callable[..., Iterator[Any]]]:
    """Yields a function that runs a function on batches and yields the results as they are completed.

    client: None (this machine), a dask.distributed.Client, or an address: of a Dask scheduler ("tcp://host:8786") or
    of a Ray cluster ("ray://host:10001"; "ray" is this machine or the cluster of this machine).
    """
    if isinstance(client, str) and (client == "ray" or client.startswith("ray:")):
        with _ray(client, workers) as run:
            yield run
        return
    # Without types of its own.
    distributed: Any = importlib.import_module("dask.distributed")
    if client is None:
        # The work is done by child processes, one for each thread.
        count = workers or os.cpu_count() or 1
        with (
            distributed.LocalCluster(
                n_workers=1,
                threads_per_worker=count,
                processes=False,
                dashboard_address=None,
                memory_limit=None,
                silence_logs=logging.CRITICAL,
            ) as cluster,
            distributed.Client(cluster) as own,
        ):
            yield _dask(own, distributed)
    elif isinstance(client, str):
        with distributed.Client(client) as own:
            yield _dask(own, distributed)
    else:
        yield _dask(client, distributed)


def _dask(client: Any, distributed: Any) -> Callable[..., Iterator[Any]]:
    def run(function: Callable[[Any], Any], batches: Iterable[Any]) -> Iterator[Any]:
        slots = max(sum(client.nthreads().values()), 1)
        batches = iter(batches)

        def submitted() -> Any:
            for batch in batches:
                return client.submit(function, batch, pure=False, retries=3)
            return None

        first = [future for _ in range(_OUTSTANDING * slots) if (future := submitted()) is not None]
        pending = distributed.as_completed(first)
        for future in pending:
            yield future.result()
            if (following := submitted()) is not None:
                pending.add(following)

    return run


@contextlib.contextmanager
def _ray(address: str, workers: int | None) -> Iterator[Callable[..., Iterator[Any]]]:
    # Without types of its own.
    ray: Any = importlib.import_module("ray")
    was_running = ray.is_initialized()
    if not was_running:
        if address == "ray":
            ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="warning")
        else:
            ray.init(address, log_to_driver=False)

    def run(function: Callable[[Any], Any], batches: Iterable[Any]) -> Iterator[Any]:
        def call(batch: Any) -> Any:
            return function(batch)

        remote = ray.remote(num_cpus=1, max_retries=3)(call)
        slots = max(int(ray.cluster_resources().get("CPU", 1)), 1)
        batches = iter(batches)
        pending: list[Any] = []
        while True:
            while len(pending) < _OUTSTANDING * slots:
                batch = next(batches, None)
                if batch is None:
                    break
                pending.append(remote.remote(batch))
            if not pending:
                return
            done, pending = ray.wait(pending, num_returns=1)
            yield ray.get(done[0])

    try:
        yield run
    finally:
        if not was_running:
            ray.shutdown()
