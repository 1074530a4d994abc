"""One command as a whole process tree: CPU seconds and wall seconds."""

from __future__ import annotations

import os
import resource
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    """``cpu`` is user + system seconds of the process and all that it waited for."""

    cpu: float
    wall: float


def measure(command: list[str], log: Path, cwd: Path) -> Cost:
    """Run ``command`` to its end; RuntimeError with the end of its output when it fails."""
    # pip has compiled the peer; this would have ours compiled again at every start.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    with log.open("wb") as output:
        done = subprocess.run(
            command, cwd=cwd, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        tail = log.read_text(errors="replace")[-2000:]
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{tail}")
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Cost(cpu, wall)
