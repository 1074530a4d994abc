"""A command watched from outside: CPU and wall seconds, and the memory of all its processes."""

from __future__ import annotations

import os
import resource
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_EVERY = 0.02  # seconds between looks


@dataclass(frozen=True)
class Watched:
    """What a command and all processes that it started have cost."""

    cpu: float
    wall: float
    together: int
    """The most bytes that were resident in all its processes at a time; shared ones count in each.
    """
    largest: int
    """The most bytes that were resident in one of them."""


def watch(command: list[str], log: Path) -> Watched:
    """Run ``command`` to its end; RuntimeError with the end of its output when it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    together = largest = 0
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        while process.poll() is None:
            sizes = [_resident(number) for number in _tree(process.pid)]
            together, largest = max(together, sum(sizes)), max([largest, *sizes])
            time.sleep(_EVERY)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        tail = log.read_text(errors="replace")[-2000:]
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}:\n{tail}")
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Watched(cpu, wall, together, largest)


def _tree(process: int) -> Iterator[int]:
    yield process
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:  # it has ended
        return
    for child in children:
        yield from _tree(int(child))


def _resident(process: int) -> int:
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
