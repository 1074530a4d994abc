"""Counting the points of a rotation that fall into intervals, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dataprep.tokenizers.compiled import compiled

__all__ = ["counts", "locate"]

Array = npt.NDArray[Any]


@compiled
def _floor_sum(n: np.uint64, m: np.uint64, a: np.uint64, b: np.uint64) -> np.uint64:
    """The sum of ``floor((a * i + b) / m)`` over ``0 <= i < n``, modulo 2**64.

    All below 2**32, but ``b`` below 2 * m. The sum may overflow, what it is made of never does; a
    difference of two such sums that is small is exact.
    """
    one = np.uint64(1)
    total = np.uint64(0)
    while True:
        if a >= m:
            pairs = (n >> one) * (n - one) if n % np.uint64(2) == 0 else n * ((n - one) >> one)
            total += pairs * (a // m)
            a %= m
        if b >= m:
            total += n * (b // m)
            b %= m
        last = a * n + b
        if last < m:
            return total
        n = last // m
        b = last % m
        m, a = a, m


@compiled
def _before(p: int, modulus: int, step: int, shift: int, bound: int) -> int:
    """How many of the first ``p`` points lie below ``bound``."""
    turns = p // modulus
    rest = np.uint64(p % modulus)
    if rest == 0 or bound == 0:
        return turns * bound
    if bound == modulus:
        return p
    # A point x is below the bound when x + (modulus - bound) does not reach the modulus.
    m, a = np.uint64(modulus), np.uint64(step)
    over = _floor_sum(rest, m, a, np.uint64(shift + modulus - bound))
    over -= _floor_sum(rest, m, a, np.uint64(shift))
    return int(turns * bound + np.int64(rest - over))


@compiled
def locate(
    positions: Array, modulus: int, step: int, shift: int, bounds: Array, views: Array, own: Array
) -> None:
    """Fill ``views`` and ``own`` int64[n]; ``bounds`` int64[views + 1] rise from 0 to modulus."""
    for i in range(len(positions)):
        p = positions[i]
        point = (np.uint64(p % modulus) * np.uint64(step) + np.uint64(shift)) % np.uint64(modulus)
        low = 0
        high = len(bounds) - 1
        while high - low > 1:
            middle = (low + high) // 2
            if np.uint64(bounds[middle]) <= point:
                low = middle
            else:
                high = middle
        views[i] = low
        own[i] = _before(p, modulus, step, shift, bounds[low + 1]) - _before(
            p, modulus, step, shift, bounds[low]
        )


@compiled
def counts(p: int, modulus: int, step: int, shift: int, bounds: Array, found: Array) -> None:
    """Fill ``found`` int64[views] with the points before ``p`` in each interval."""
    for view in range(len(bounds) - 1):
        found[view] = _before(p, modulus, step, shift, bounds[view + 1]) - _before(
            p, modulus, step, shift, bounds[view]
        )
