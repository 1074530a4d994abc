"""This process among the processes of a run, by the environment that its launcher set.

MASTER_ADDR, MASTER_PORT, WORLD_SIZE and RANK: all four in a run of several processes, none in a run
of one. Imports no engine, so that a rank can be known before one is loaded.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import sys
import threading
import time
import traceback
from types import TracebackType
from typing import NoReturn

from dataprep.errors import JimuError, RunError, UsageError

__all__ = [
    "LAUNCHER",
    "die_alone",
    "end_with_launcher",
    "leave",
    "rank",
    "wait_for_master",
    "world_size",
]

LAUNCHER = "JIMU_LAUNCHER"  # process number of zoo.launch
_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_NAMES = ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK")


def _environment() -> dict[str, str]:
    found = {name: os.environ[name] for name in _NAMES if name in os.environ}
    if found and len(found) < len(_NAMES):
        missing = ", ".join(name for name in _NAMES if name not in found)
        raise UsageError(
            f"{', '.join(found)} set, but not {missing}: a rank needs all four or none.",
            hint="Start several ranks with: python -m zoo.launch -n RANKS script.py",
        )
    return found


def world_size() -> int:
    """Number of processes of this run, 1 when it was not launched as several."""
    return int(_environment().get("WORLD_SIZE", "1"))


def rank() -> int:
    """Number of this process in its run, from 0."""
    return int(_environment().get("RANK", "0"))


def wait_for_master(seconds: float = 120.0) -> None:
    """Returns once rank 0 listens; OneFlow sleeps a fixed 10 s when it asks too early."""
    environment = _environment()
    address = (environment["MASTER_ADDR"], int(environment["MASTER_PORT"]))
    deadline = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(address, timeout=1.0).close()
        except OSError as error:
            if time.monotonic() > deadline:
                raise RunError(
                    f"Rank {rank()} found no rank 0 at {address[0]}:{address[1]} "
                    f"within {seconds:.0f} s: {error}."
                ) from error
            time.sleep(0.05)
        else:
            return


def leave(code: int) -> NoReturn:
    """Ends this process now, without the engine's farewell.

    A rank that ends by an exception or ``sys.exit`` waits for the others, and they for it.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def end_with_launcher() -> None:
    """Lets the kernel end this rank when its launcher is gone, however that ended."""
    launcher = os.environ.get(LAUNCHER)
    if launcher is None:
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(launcher):  # gone before
        leave(1)


def die_alone() -> None:
    """Lets an uncaught error end this rank at once, told with its number, instead of hanging all.

    The launcher sees the exit code and ends the others.
    """

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        print(f"rank {rank()} of {world_size()} failed:", file=sys.stderr)  # noqa: T201
        if isinstance(error, JimuError):
            print(f"error: {error}", file=sys.stderr)  # noqa: T201
            if error.hint:
                print(error.hint, file=sys.stderr)  # noqa: T201
            leave(error.exit_code)
        traceback.print_exception(kind, error, trace)
        leave(130 if isinstance(error, KeyboardInterrupt) else 1)

    def thread_hook(arguments: threading.ExceptHookArgs) -> None:
        error = arguments.exc_value or arguments.exc_type()
        hook(arguments.exc_type, error, arguments.exc_traceback)

    sys.excepthook = hook
    threading.excepthook = thread_hook
