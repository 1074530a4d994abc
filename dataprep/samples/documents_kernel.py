"""Finding documents in an index, compiled: binary search in a memory map."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from dataprep.tokenizers.compiled import compiled

__all__ = ["mark"]

Array = npt.NDArray[Any]


@compiled
def _offset(document: int, indices: Array, pointers: Array, itemsize: int, n_tokens: int) -> int:
    # The last one ends with the tokens; a damaged index must not lead outside of it either.
    if document >= len(indices) or not 0 <= indices[document] < len(pointers):
        return int(n_tokens)
    sequence = indices[document]
    return int(pointers[sequence] // itemsize)


@compiled
def _document_of(token: int, indices: Array, pointers: Array, itemsize: int, n_tokens: int) -> int:
    """The last document that starts at ``token`` or before."""
    # Documents of like lengths lie near a guess: a search over all would wait for memory at each
    # of its steps. The stretch around the guess doubles until it holds the token.
    count = len(indices) - 1
    low = min(count - 1, int(count * (token / n_tokens)))
    high = low + 1
    step = 1
    while low > 0 and _offset(low, indices, pointers, itemsize, n_tokens) > token:
        high = low
        low = max(0, low - step)
        step *= 2
    step = 1
    while high < count and _offset(high, indices, pointers, itemsize, n_tokens) <= token:
        low = high
        high = min(count, high + step)
        step *= 2
    while high - low > 1:
        middle = (low + high) // 2
        if _offset(middle, indices, pointers, itemsize, n_tokens) <= token:
            low = middle
        else:
            high = middle
    return low


@compiled
def mark(
    places: Array,
    indices: Array,
    pointers: Array,
    itemsize: int,
    n_tokens: int,
    starts: Array,
    documents: Array,
) -> None:
    """Fill ``starts`` bool[n, width] and ``documents`` int64[n]; see DocumentOffsets.mark."""
    for row in range(len(places)):
        document = 0
        next_start = 0
        for i in range(places.shape[1]):
            token = places[row, i]
            if i == 0 or token != places[row, i - 1] + 1:
                document = _document_of(token, indices, pointers, itemsize, n_tokens)
                starts[row, i] = _offset(document, indices, pointers, itemsize, n_tokens) == token
                next_start = _offset(document + 1, indices, pointers, itemsize, n_tokens)
                if i == 0:
                    documents[row] = document
            elif token == next_start:
                starts[row, i] = True
                while next_start <= token and document < len(indices):
                    document += 1
                    next_start = _offset(document + 1, indices, pointers, itemsize, n_tokens)
