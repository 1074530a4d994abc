"""Starts the ranks of a run on this machine: ``python -m zoo.launch -n 4 zoo/train.py …``.

Rank 0 speaks for the run. What the other ranks print is kept, and shown of the first that fails;
the others are then ended, since a rank waits for a lost one until OneFlow's own time limit.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import FrameType
from typing import IO

from dataprep.errors import UsageError
from zoo.engine.ranks import LAUNCHER

__all__ = ["TIMED_OUT", "launch", "main"]

TIMED_OUT = 124  # exit code, that of timeout(1)
_POLL_SECONDS = 0.05
_USAGE = 2
_SHOWN_BYTES = 20_000


@dataclass
class _Rank:
    number: int
    process: subprocess.Popen[bytes]
    output: IO[bytes] | None  # what it printed; None for rank 0, which prints here

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def last_output(self) -> str:
        if self.output is None:
            return ""
        start = max(0, self.output.seek(0, os.SEEK_END) - _SHOWN_BYTES)
        self.output.seek(start)
        return self.output.read().decode(errors="replace")


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _start(number: int, ranks: int, port: int, argv: Sequence[str]) -> _Rank:
    environment = {
        # More threads than cores spin, and ranks share the cores of this machine.
        "OMP_NUM_THREADS": "1",
        **os.environ,
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "WORLD_SIZE": str(ranks),
        "RANK": str(number),
        "LOCAL_RANK": str(number),
        LAUNCHER: str(os.getpid()),
    }
    output = tempfile.TemporaryFile() if number else None  # noqa: SIM115
    process = subprocess.Popen(
        [sys.executable, *argv],
        env=environment,
        stdin=subprocess.DEVNULL if number else None,
        stdout=output,
        stderr=output,
        start_new_session=True,
    )
    return _Rank(number, process, output)


def _say(text: str) -> None:
    sys.stderr.write(text.rstrip() + "\n")
    sys.stderr.flush()


def _tell_failure(failed: _Rank, ranks: int, code: int) -> None:
    # An impossible setting is one on all ranks, and rank 0 has told it.
    output = "" if code == _USAGE else failed.last_output()
    if output:
        _say(f"--- rank {failed.number} of {ranks} printed:\n{output}\n---")
    how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
    _say(f"Rank {failed.number} of {ranks} ended {how}; the other ranks were stopped.")


def _watch(running: list[_Rank], ranks: int, deadline: float) -> int:
    while running:
        for one in list(running):
            code = one.process.poll()
            if code is None:
                continue
            running.remove(one)
            if code == _USAGE and running and running[0].number == 0:
                # Time for rank 0 to tell the same.
                with contextlib.suppress(subprocess.TimeoutExpired):
                    running[0].process.wait(timeout=10)
            if code != 0:
                _tell_failure(one, ranks, code)
                return code if code > 0 else 128 - code
        if time.monotonic() > deadline:
            still = ", ".join(str(one.number) for one in running)
            _say(f"The time limit is over; rank {still} of {ranks} was still running.")
            return TIMED_OUT
        time.sleep(_POLL_SECONDS)
    return 0


def launch(ranks: int, argv: Sequence[str], timeout: float | None = None) -> int:
    """Runs ``python *argv`` as this many ranks and waits for them.

    Returns 0 when all end well; else the exit code of the first that failed (128 + number of the
    signal that killed it), or TIMED_OUT after ``timeout`` seconds. No rank is left running.
    """
    if ranks < 1:
        raise UsageError(f"{ranks} ranks cannot be started: there is at least 1.")
    if not argv:
        raise UsageError("No script was given to start.", hint="python -m zoo.launch -n 2 FILE.py")
    deadline = time.monotonic() + (float("inf") if timeout is None else timeout)
    port = _free_port()
    started: list[_Rank] = []
    try:
        for number in range(ranks):
            started.append(_start(number, ranks, port, argv))
        return _watch(list(started), ranks, deadline)
    finally:
        for one in started:
            one.kill()
            if one.output is not None:
                one.output.close()


def _terminated(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + signal.SIGTERM)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m zoo.launch", description="Runs a script as several ranks on this machine."
    )
    parser.add_argument("-n", "--ranks", type=int, required=True, help="number of ranks")
    parser.add_argument("--timeout", type=float, help="seconds after which all are stopped")
    parser.add_argument("argv", nargs=argparse.REMAINDER, metavar="[--] SCRIPT …")
    given = parser.parse_args(arguments)
    # argparse leaves the -- that parts its own options from those after it.
    argv = given.argv[1:] if given.argv[:1] == ["--"] else given.argv
    signal.signal(signal.SIGTERM, _terminated)
    try:
        return launch(given.ranks, argv, given.timeout)
    except UsageError as error:
        _say(f"error: {error}")
        if error.hint:
            _say(error.hint)
        return error.exit_code
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


if __name__ == "__main__":
    sys.exit(main())
