"""jieba's algorithm over UTF-8, compiled: the loop that the tables of ``jieba_tables`` are for.

Sums are made in jieba's order, in float64, and ties fall as they fall there: the words are the same
to the last one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..tokenizers.compiled import compiled
from .jieba_markov import guess, is_alphanumeric

__all__ = ["cut"]

Array = npt.NDArray[Any]


@compiled
def cut(
    data: Array,
    offsets: Array,
    symbols: Array,
    links: Array,
    weights: Array,
    forced: Array,
    unknown: Array,
    start: Array,
    trans: Array,
    emit: Array,
    hmm: bool,
    starts: Array,
) -> None:
    """Set ``starts`` bool[len(data)] where a word starts; it comes in as all False.

    ``data`` uint8 is valid UTF-8 and ``offsets`` int64[n_docs + 1] its documents; the next eight
    are Tables; ``hmm`` asks for guesses at what the dictionary does not know.
    """
    size = 0
    for document in range(len(offsets) - 1):
        size = max(size, offsets[document + 1] - offsets[document])
    # Of a block: the symbol of each character, and where it stands in ``data``.
    block = np.empty(size, np.int16)
    places = np.empty(size, np.int64)
    # The best way from each character to the end of the block, and the first word's end on it.
    route = np.empty(size + 1, np.float64)
    ends = np.empty(size, np.int64)
    back = np.empty((size if hmm else 0, 4), np.uint8)
    for document in range(len(offsets) - 1):
        here = offsets[document]
        stop = offsets[document + 1]
        while here < stop:
            n = 0
            while here < stop:
                byte = data[here]
                if byte < 0x80:
                    symbol = symbols[byte]
                    width = 1
                elif byte < 0xE0:
                    symbol = -1
                    width = 2
                elif byte < 0xF0:
                    symbol = symbols[
                        (byte & 0x0F) << 12 | (data[here + 1] & 0x3F) << 6 | (data[here + 2] & 0x3F)
                    ]
                    width = 3
                else:
                    symbol = -1
                    width = 4
                if symbol < 0:
                    break
                block[n] = symbol
                places[n] = here
                n += 1
                here += width
            if n:
                find(block, n, links, weights, unknown[0], route, ends)
                if hmm:
                    mark_guessing(
                        data, block, places, n, ends, links, weights, forced,
                        start, trans, emit, back, starts,
                    )  # fmt: skip
                else:
                    mark(data, places, n, ends, starts)
            if here < stop:
                # A character that is a word, but for a line end of two.
                starts[here] = True
                if byte == 0x0D and here + 1 < stop and data[here + 1] == 0x0A:
                    width = 2
                here += width


@compiled
def find(
    block: Array,
    n: int,
    links: Array,
    weights: Array,
    unknown: float,
    route: Array,
    ends: Array,
) -> None:
    """The most probable way through the words of the dictionary, from the end to the beginning."""
    route[n] = 0.0
    for first in range(n - 1, -1, -1):
        node = 0
        best = -np.inf
        end = -1
        for at in range(first, n):
            child = links[node, 0] + block[at]
            if links[child, 1] != node:
                break
            node = child
            weight = weights[node, 1]
            if weight > -np.inf:
                weight += route[at + 1]
                if weight >= best:
                    best = weight
                    end = at + 1
        if end < 0:
            best = unknown + route[first + 1]
            end = first + 1
        route[first] = best
        ends[first] = end


@compiled
def mark(data: Array, places: Array, n: int, ends: Array, starts: Array) -> None:
    """Letters and digits that came out alone are joined; all else is as the way has it."""
    at = 0
    joining = False
    while at < n:
        alone = ends[at] - at == 1 and is_alphanumeric(data[places[at]])
        if not (alone and joining):
            starts[places[at]] = True
        joining = alone
        at = ends[at]


@compiled
def mark_guessing(
    data: Array,
    block: Array,
    places: Array,
    n: int,
    ends: Array,
    links: Array,
    weights: Array,
    forced: Array,
    start: Array,
    trans: Array,
    emit: Array,
    back: Array,
    starts: Array,
) -> None:
    """Runs of characters that came out alone go to the hidden Markov model."""
    at = 0
    run = 0  # where the run that ends here started
    while True:
        if at < n and ends[at] - at == 1:
            at += 1
            continue
        if at - run == 1:
            starts[places[run]] = True
        elif at > run:
            node = 0
            k = run
            while k < at:
                child = links[node, 0] + block[k]
                if links[child, 1] != node:
                    break
                node = child
                k += 1
            if k == at and weights[node, 1] > -np.inf:
                # A word of the dictionary whose characters are more probable: they stay alone.
                for k in range(run, at):
                    starts[places[k]] = True
            else:
                guess(data, block, places, run, at, links, forced, start, trans, emit, back, starts)
        if at >= n:
            break
        starts[places[at]] = True
        at = ends[at]
        run = at
