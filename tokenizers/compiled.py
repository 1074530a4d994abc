"""Loops compiled by numba, kept on disk where that can be done."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

__all__ = ["compiled"]

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile at the first call; the machine code is kept for later processes.

    numba puts it beside the source, or in the user's cache where that cannot be written, or in
    ``NUMBA_CACHE_DIR``. Where none of these can be written, each start compiles again, for seconds.
    """
    dispatcher = njit(nogil=True)(function)
    with contextlib.suppress(RuntimeError):  # "no locator available"
        dispatcher.enable_caching()
    return cast("Function", dispatcher)
