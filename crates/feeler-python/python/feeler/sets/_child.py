"""Child processes that compute one result at a time and are killed beyond limits of time and memory."""

from __future__ import annotations

import collections
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any, NoReturn

import cloudpickle
import psutil

_START_LIMIT = 120.0
"""Longest time (s) in which a child process starts."""
_POLL = 0.02
"""Interval (s) at which the memory of a child is measured."""


@dataclass(frozen=True)
class Limits:
    """Limits of one task: its time (s) and the memory of its process (bytes)."""

    seconds: float = 60.0
    memory: int = 4 << 30


class TaskError(Exception):
    """A task failed; the text is the reason."""


class Child:
    """A process for the tasks of one thread. It starts with the first task, and again after it was killed."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.Queue[Any] = queue.Queue()
        self._last_lines: collections.deque[bytes] = collections.deque(maxlen=5)

    def run(self, task: Callable[[], Any]) -> Any:
        """Calls a function in the child process and returns its result. Raises TaskError if the function raises, or if
        the process ends or exceeds a limit."""
        if self._process is None or self._process.poll() is not None:
            self._start()
        assert self._process is not None and self._process.stdin is not None
        try:
            _send(self._process.stdin, cloudpickle.dumps(task))
        except OSError:
            self._fail_with_exit()
        is_right, value = self._wait(self._limits.seconds)
        if not is_right:
            raise TaskError(value)
        return value

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _start(self) -> None:
        self._answers, self._last_lines = queue.Queue(), collections.deque(maxlen=5)
        paths = os.pathsep.join(path for path in sys.path if path)
        # A queue of workers uses all processors already.
        environment = os.environ | {"RAYON_NUM_THREADS": "1", "PYTHONPATH": paths}
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from feeler.sets._child import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            # Ctrl-C interrupts the caller only.
            start_new_session=True,
        )
        threading.Thread(target=_collect, args=(self._process.stdout, self._answers), daemon=True).start()
        threading.Thread(target=_drain, args=(self._process.stderr, self._last_lines), daemon=True).start()
        self._wait(_START_LIMIT)

    def _wait(self, seconds: float) -> tuple[bool, Any]:
        assert self._process is not None
        end = time.monotonic() + seconds
        process = psutil.Process(self._process.pid)
        while True:
            try:
                answer = self._answers.get(timeout=_POLL)
            except queue.Empty:
                if time.monotonic() > end:
                    self.close()
                    raise TaskError(f"took longer than {seconds:g} s") from None
                try:
                    used = process.memory_info().rss
                except psutil.Error:
                    used = 0
                if used > self._limits.memory:
                    self.close()
                    raise TaskError(f"needed more than {self._limits.memory >> 20} MiB of memory") from None
                continue
            if answer is None:
                self._fail_with_exit()
            is_right, value = answer
            return is_right, value

    def __del__(self) -> None:
        self.close()

    def _fail_with_exit(self) -> NoReturn:
        assert self._process is not None
        code = self._process.wait()
        self._process = None
        what = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        lines = b"".join(self._last_lines).decode(errors="replace").strip()
        raise TaskError(f"its process ended with {what}" + (f": {lines[-500:]}" if lines else ""))


def _send(file: IO[bytes], data: bytes) -> None:
    file.write(len(data).to_bytes(8, "little") + data)
    file.flush()


def _receive(file: IO[bytes]) -> bytes | None:
    head = file.read(8)
    if len(head) < 8:
        return None
    length = int.from_bytes(head, "little")
    data = file.read(length)
    return data if len(data) == length else None


def _collect(file: IO[bytes], answers: queue.Queue[Any]) -> None:
    while (data := _receive(file)) is not None:
        answers.put(pickle.loads(data))
    answers.put(None)


def _drain(file: IO[bytes], lines: collections.deque[bytes]) -> None:
    while line := file.readline(1000):
        lines.append(line)


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(1)


def main() -> None:
    """Runs the tasks that arrive on standard input."""
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    answers = os.fdopen(os.dup(1), "wb")
    # What tasks print is not part of the answers.
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    _send(answers, pickle.dumps((True, None)))
    while (data := _receive(sys.stdin.buffer)) is not None:
        try:
            answer = (True, pickle.loads(data)())
            packed = pickle.dumps(answer)
        except BaseException as error:  # noqa: BLE001 - whatever a task raises is its result
            text = str(error) or type(error).__name__
            if not type(error).__module__.startswith("feeler"):
                text = f"{type(error).__name__}: {text}"
            packed = pickle.dumps((False, text))
        _send(answers, packed)


_of_thread = threading.local()


def run(task: Callable[[], Any], limits: Limits) -> Any:
    """Calls a function in the child process of this thread. Raises TaskError."""
    child = getattr(_of_thread, "child", None)
    if child is None or child._limits != limits:
        if child is not None:
            child.close()
        child = _of_thread.child = Child(limits)
    return child.run(task)
