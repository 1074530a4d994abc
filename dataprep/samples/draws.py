"""Drawing from a sample's key, compiled: number ``n`` of a key is asked for by ``n``.

These are called from loops that numba has kept on disk; numba compiles those again when their own
file has changed, not when this one has.
"""

from __future__ import annotations

import numpy as np

from dataprep.samples.keys import GOLDEN, MIX_1, MIX_2
from dataprep.tokenizers.compiled import compiled

__all__ = ["below", "number", "unit"]


@compiled
def number(key: np.uint64, n: int) -> np.uint64:
    """The ``n``-th number of a key, uint64."""
    x = key + np.uint64(n + 1) * GOLDEN
    x = (x ^ (x >> np.uint64(30))) * MIX_1
    x = (x ^ (x >> np.uint64(27))) * MIX_2
    return x ^ (x >> np.uint64(31))


@compiled
def below(key: np.uint64, n: int, limit: int) -> int:
    """An integer in ``[0, limit)``; ``limit`` is at most 2**31, the bias at most limit / 2**32."""
    drawn = ((number(key, n) >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32)
    return int(np.int64(drawn))  # numba makes a float of the sum of int64 and uint64


@compiled
def unit(key: np.uint64, n: int) -> float:
    """A float64 in ``[0, 1)``, a multiple of 2**-53."""
    return float(number(key, n) >> np.uint64(11)) * 2.0**-53
