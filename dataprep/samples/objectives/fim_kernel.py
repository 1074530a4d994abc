"""Moving the middles of documents behind them, compiled."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from dataprep.samples.draws import below, unit
from dataprep.tokenizers.compiled import compiled

__all__ = ["rearrange"]

Array = npt.NDArray[Any]


@compiled
def rearrange(
    tokens: Array,
    begins: Array,
    keys: Array,
    rate: float,
    spm_share: float,
    eod: int,
    prefix_id: int,
    middle_id: int,
    suffix_id: int,
    out: Array,
) -> None:
    """Fill ``out`` int64[n, width] from ``tokens`` [n, width], document by document."""
    width = tokens.shape[1]
    for row in range(len(tokens)):
        key = keys[row]
        n = 0
        to = 0
        low = 0
        while to < width:
            high = low + 1
            while high < width and not begins[row, high]:
                high += 1
            moves = unit(key, n) < rate
            swapped = unit(key, n + 1) < spm_share
            n += 2
            ends = tokens[row, high - 1] == eod
            stop = high - 1 if ends else high
            # An empty document has no middle; one of which nothing would fit stays as it is.
            moves = moves and stop > low and to + 3 < width
            # What is cut off is cut before anything is moved: every middle stays whole.
            room = width - to - (3 if moves else 0)
            if stop - low > room:
                stop = low + room
                ends = False
            if not moves:
                for i in range(low, stop):
                    out[row, to] = tokens[row, i]
                    to += 1
            else:
                one = low + below(key, n, stop - low + 1)
                two = low + below(key, n + 1, stop - low + 1)
                n += 2
                first, second = min(one, two), max(one, two)
                out[row, to] = prefix_id
                to += 1
                if swapped:
                    out[row, to] = suffix_id
                    to += 1
                else:
                    for i in range(low, first):
                        out[row, to] = tokens[row, i]
                        to += 1
                    out[row, to] = suffix_id
                    to += 1
                for i in range(second, stop):
                    out[row, to] = tokens[row, i]
                    to += 1
                out[row, to] = middle_id
                to += 1
                if swapped:
                    for i in range(low, first):
                        out[row, to] = tokens[row, i]
                        to += 1
                for i in range(first, second):
                    out[row, to] = tokens[row, i]
                    to += 1
            if ends and to < width:
                out[row, to] = eod
                to += 1
            low = high
