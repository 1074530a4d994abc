"""Best-fit packing, and laying out what was packed, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dataprep.tokenizers.compiled import compiled

__all__ = ["best_fit", "lay_out"]

Array = npt.NDArray[Any]


@compiled
def best_fit(lengths: Array, capacity: int, bins: Array) -> int:
    """Put pieces into bins: the longest first, each where the least room is left that holds it.

    ``lengths`` int64[n] are 1 to ``capacity``; ``bins`` int64[n] gets the bin of each. Returns the
    number of bins. Pieces of one length are taken in order. Time grows with n + capacity.
    """
    n = len(lengths)
    # Pieces by falling length: a counting sort that keeps the order of equals.
    at = np.zeros(capacity + 2, np.int64)
    for i in range(n):
        at[capacity - lengths[i] + 1] += 1
    for c in range(capacity + 1):
        at[c + 1] += at[c]
    order = np.empty(n, np.int64)
    for i in range(n):
        place = capacity - lengths[i]
        order[at[place]] = i
        at[place] += 1
    # Bins by the room that is left in them, as stacks: the top of each, and what is below a bin.
    top = np.full(capacity + 1, -1)
    below = np.empty(n, np.int64)
    most = 0  # no bin has more room than this
    count = 0
    for k in range(n):
        piece = order[k]
        length = lengths[piece]
        room = length
        while room <= most and top[room] < 0:
            room += 1
        if room > most:
            most = min(most, length - 1)
            target = count
            count += 1
            left = capacity - length
        else:
            target = top[room]
            top[room] = below[target]
            left = room - length
        bins[piece] = target
        if left:
            below[target] = top[left]
            top[left] = target
            most = max(most, left)
    return count


@compiled
def lay_out(
    stream: Array,
    learnt: Array,
    first: Array,
    starts: Array,
    lengths: Array,
    tokens: Array,
    labels: Array,
    segments: Array,
    positions: Array,
) -> None:
    """Fill rows int64[n, seq_len] with the pieces ``first[row]`` to ``first[row + 1]`` of each.

    ``stream`` holds all tokens; ``learnt`` packed bits, or nothing where all labels count. What no
    piece fills is left as it is.
    """
    for row in range(len(tokens)):
        at = 0
        for piece in range(first[row], first[row + 1]):
            for i in range(lengths[piece]):
                token = starts[piece] + i
                tokens[row, at] = stream[token]
                label = token + 1
                if len(learnt) == 0 or (learnt[label >> 3] >> (label & 7)) & 1:
                    labels[row, at] = stream[label]
                segments[row, at] = piece - first[row]
                positions[row, at] = i
                at += 1
