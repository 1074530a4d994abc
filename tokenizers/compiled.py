"""Loops compiled by numba, kept on disk where that can be done."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

__all__ = ["compiled", "inlined"]

Function = TypeVar("Function", bound=Callable[..., Any])


def inlined(function: Function) -> Function:
    """Compile into whatever calls it: a call costs more than what small functions do."""
    return cast("Function", njit(forceinline=True)(function))


def compiled(function: Function) -> Function:
    """Compile at the first call; the machine code is kept for later processes.

    numba puts it beside the source, or in the user's cache where that cannot be written, or in
    ``NUMBA_CACHE_DIR``. Where none of these can be written, each start compiles again, for seconds.
    """
    dispatcher = njit(nogil=True)(function)
    with contextlib.suppress(RuntimeError):  # "no locator available"
        dispatcher.enable_caching()
    return cast("Function", dispatcher)
