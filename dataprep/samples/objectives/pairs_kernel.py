"""Laying out pairs of parts of documents, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dataprep.samples.draws import below, unit
from dataprep.tokenizers.compiled import compiled

__all__ = ["NO_PAIR", "lay_out"]

Array = npt.NDArray[Any]

NO_PAIR = -100


@compiled
def _piece(
    row: int,
    point: int,
    tokens: Array,
    starts: Array,
    sentences: Array,
    begins: Array,
    special: Array,
) -> tuple[int, int]:
    """``[low, high)``: the text of the document around ``point``, from the start of a sentence."""
    width = tokens.shape[1]
    low = point
    while low > 0 and not begins[row, low]:
        low -= 1
    high = point + 1
    while high < width and not begins[row, high]:
        high += 1
    whole = begins[row, low]
    while high > low and special[tokens[row, high - 1]]:
        high -= 1
    while low < high and special[tokens[row, low]]:
        low += 1
        whole = True
    if not whole:
        for bits in (sentences, starts):
            at = low
            while at < high and not bits[row, at]:
                at += 1
            # Where the first sentence starts late, most of the text would be lost.
            if at < low + (high - low + 1) // 2:
                return at, high
    return low, high


@compiled
def _longest(
    row: int, tokens: Array, starts: Array, sentences: Array, begins: Array, special: Array
) -> tuple[int, int]:
    best_low, best_high = 0, 0
    at = 0
    width = tokens.shape[1]
    while at < width:
        low, high = _piece(row, at, tokens, starts, sentences, begins, special)
        if high - low > best_high - best_low:
            best_low, best_high = low, high
        at += 1
        while at < width and not begins[row, at]:
            at += 1
    return best_low, best_high


@compiled
def _cut(row: int, low: int, high: int, bits: Array, key: np.uint64, n: int) -> int:
    """A random one of the bits within ``(low, high)``; -1 if none is set."""
    found = 0
    for i in range(low + 1, high):
        if bits[row, i]:
            found += 1
    if not found:
        return -1
    skip = below(key, n, found)
    for i in range(low + 1, high):
        if bits[row, i]:
            if skip == 0:
                return i
            skip -= 1
    return -1


@compiled
def lay_out(
    parts: tuple[Array, ...],
    parts_2: tuple[Array, ...],
    keys: Array,
    special: Array,
    short: float,
    swaps: bool,
    cls: int,
    sep: int,
    out: Array,
    out_starts: Array,
    types: Array,
    lengths: Array,
    labels: Array,
) -> None:
    """Fill ``out`` int64[n, length], ``out_starts`` bool, ``types`` and the rest, row by row.

    ``parts`` are tokens int64, word starts, sentence starts, document starts, all [n, width] or one
    more, and documents int64[n]. ``out`` is filled with padding before, ``out_starts`` with True.
    ``swaps``: sentence order, else next sentence.
    """
    tokens, starts, sentences, begins, documents = parts
    tokens_2, starts_2, sentences_2, begins_2, documents_2 = parts_2
    room = out.shape[1] - 3
    width = tokens.shape[1]
    for row in range(len(tokens)):
        key = keys[row]
        n = 0
        target = room
        if unit(key, n) < short:
            target = 2 + below(key, n + 1, room - 1)
        point = below(key, n + 2, width)
        n += 3
        low, high = _piece(row, point, tokens, starts, sentences, begins, special)
        if high - low < 2:
            low, high = _longest(row, tokens, starts, sentences, begins, special)
        high = min(high, low + target)
        label = 0
        middle = _cut(row, low, high, sentences, key, n)
        if middle < 0:
            middle = _cut(row, low, high, starts, key, n)
        n += 1
        other = unit(key, n) < 0.5
        n += 1
        # Two parts as (source, low, high)
        source = 0
        low_b, high_b = middle, high
        if middle < 0:
            label = NO_PAIR
            middle = high
            low_b = high
        elif other and not swaps:
            point = below(key, n, tokens_2.shape[1])
            n += 1
            low_2, high_2 = _piece(row, point, tokens_2, starts_2, sentences_2, begins_2, special)
            document = documents[row]
            for i in range(1, low + 1):
                if begins[row, i]:
                    document += 1
            document_2 = documents_2[row]
            for i in range(1, low_2 + 1):
                if begins_2[row, i]:
                    document_2 += 1
            if document != document_2 and high_2 > low_2:
                source = 1
                label = 1
                low_b = low_2
                high_b = min(high_2, low_2 + target - (middle - low))
        flip = swaps and other and label != NO_PAIR
        if flip:
            label = 1
        at = 0
        out[row, at] = cls
        at += 1
        for part in range(2):
            second = (part == 1) != flip
            from_low = low_b if second else low
            from_high = high_b if second else middle
            if part == 1 and from_high == from_low:
                break
            for i in range(from_low, from_high):
                if second and source == 1:
                    out[row, at] = tokens_2[row, i]
                    out_starts[row, at] = starts_2[row, i]
                else:
                    out[row, at] = tokens[row, i]
                    out_starts[row, at] = starts[row, i]
                types[row, at] = part
                at += 1
            out[row, at] = sep
            if second and source == 1:
                out_starts[row, at] = starts_2[row, from_high]
            else:
                out_starts[row, at] = starts[row, from_high]
            types[row, at] = part
            at += 1
        lengths[row] = at
        labels[row] = label
