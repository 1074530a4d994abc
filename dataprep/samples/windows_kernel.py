"""Copying windows out of tokens, compiled."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from dataprep.tokenizers.compiled import compiled

__all__ = ["causal_windows", "joined_places"]

Array = npt.NDArray[Any]


@compiled
def causal_windows(tokens: Array, starts: Array, out: Array) -> None:
    """Fill ``out`` int64[2, n, seq_len]: tokens from ``starts`` int64[n], and from one token on."""
    seq_len = out.shape[2]
    for row in range(len(starts)):
        start = starts[row]
        # Slices, so that the compiler sees indices that cannot be negative.
        inputs = tokens[start : start + seq_len]
        labels = tokens[start + 1 : start + 1 + seq_len]
        inputs_out, labels_out = out[0, row], out[1, row]
        for i in range(seq_len):
            inputs_out[i] = inputs[i]
        for i in range(seq_len):
            labels_out[i] = labels[i]


@compiled
def joined_places(at: Array, before: Array, stream_starts: Array, places: Array) -> None:
    """Fill ``places`` int64[n, width]: token numbers of windows over joined streams.

    ``at`` int64[n] are places in the joined stream, of which stream ``s`` covers ``before[s]`` to
    ``before[s + 1]``. Past the end of all, the last token stays.
    """
    end = before[len(before) - 1]
    for row in range(len(at)):
        low = 0
        high = len(stream_starts)
        while high - low > 1:
            middle = (low + high) // 2
            if before[middle] <= at[row]:
                low = middle
            else:
                high = middle
        for i in range(places.shape[1]):
            joined = min(at[row] + i, end - 1)
            while joined >= before[low + 1]:
                low += 1
            places[row, i] = stream_starts[low] + joined - before[low]
