"""Imports OneFlow without its noise, when this rank may."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from zoo.engine.ranks import die_alone, end_with_launcher, rank, wait_for_master, world_size

__all__ = ["start"]


@contextlib.contextmanager
def _held_back_stderr() -> Iterator[None]:
    """Keeps what libraries write to file descriptor 2, and shows it only when the body fails."""
    sys.stderr.flush()
    real = os.dup(2)
    with tempfile.TemporaryFile() as kept:
        os.dup2(kept.fileno(), 2)
        try:
            yield
        except BaseException:
            kept.seek(0)
            os.write(real, kept.read())
            raise
        finally:
            os.dup2(real, 2)
            os.close(real)


def _name_the_processor() -> None:
    """Tells OneFlow's OpenBLAS (2022) which kernels an AMD processor takes.

    It knows none made since, and falls back to those of 2007, Barcelona: on a Zen 4 a matrix
    product takes 2.5 times as long.
    """
    cpuinfo = Path("/proc/cpuinfo")
    about = cpuinfo.read_text() if cpuinfo.exists() else ""
    if "AuthenticAMD" in about and " avx2 " in about:
        os.environ.setdefault("OPENBLAS_CORETYPE", "Zen")


def start() -> None:
    """Prepares the environment that OneFlow reads once, at its import, and imports it."""
    # Else a machine without a GPU is told so at every import.
    os.environ.setdefault("GLOG_minloglevel", "3")
    _name_the_processor()
    ranks = world_size()
    if ranks > 1:
        # The default lets ranks wait two hours for one that is gone; 120 s is too short for the
        # compilation of a deep graph on a busy machine.
        os.environ.setdefault("ONEFLOW_TIMEOUT_SECONDS", "600")
        end_with_launcher()
        die_alone()
        if rank() > 0:
            wait_for_master()
    before = set(os.environ)
    with _held_back_stderr():
        import oneflow  # noqa: F401
    if ranks == 1:
        # OneFlow sets these for a run of one, RANK to -1: children would take them for their own.
        for name in {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "LOCAL_RANK"} - before:
            del os.environ[name]
