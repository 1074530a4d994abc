"""One command as a whole process tree: CPU seconds and wall seconds."""

from __future__ import annotations

import os
import resource
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    """``cpu`` is user + system seconds of the process and all that it waited for."""

    cpu: float
    wall: float


def measure(command: list[str], log: Path, cwd: Path) -> Cost:
    """Run ``command`` to its end; RuntimeError with the end of its output when it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    with _started(command, log, cwd) as process:
        _ended(process, command, log)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Cost(cpu, wall)


def first_byte(command: list[str], log: Path, cwd: Path, written: Callable[[], bool]) -> float:
    """Wall seconds from the start of ``command`` until ``written`` says that there is output."""
    start = time.perf_counter()
    with _started(command, log, cwd) as process:
        while not written() and process.poll() is None:
            time.sleep(0.005)
        seconds = time.perf_counter() - start
        _ended(process, command, log)
    return seconds


def _started(command: list[str], log: Path, cwd: Path) -> subprocess.Popen[bytes]:
    # pip has compiled the peer; this would have ours compiled again at every start.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with log.open("wb") as output:
        return subprocess.Popen(
            command, cwd=cwd, env=environment, stdout=output, stderr=subprocess.STDOUT
        )


def _ended(process: subprocess.Popen[bytes], command: list[str], log: Path) -> None:
    if process.wait():
        tail = log.read_text(errors="replace")[-2000:]
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}:\n{tail}")
