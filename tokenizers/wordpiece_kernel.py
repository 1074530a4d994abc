"""WordPiece over UTF-8, compiled: the loop that the tables of ``wordpiece_tables`` are made for."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from dataprep.tokenizers.compiled import compiled
from dataprep.tokenizers.wordpiece_tables import ALONE, DROP, MOVES, PART, SPACE

__all__ = ["encode"]

Array = npt.NDArray[Any]


@compiled
def encode(
    data: Array,
    offsets: Array,
    codes: Array,
    expansions: Array,
    nodes: Array,
    limits: Array,
    word: Array,
    ids: Array,
    ends: Array,
    spans: Array,
    moves: Array,
) -> None:
    """Fill ``ids`` and, document by document, ``ends``.

    ``data`` uint8 is valid UTF-8 and ``offsets`` int64[n_docs + 1] its documents; the next four are
    Tables. ``word`` int64[limit + 1, 3] is room for one word. ``ids`` uint32 has room for as many
    tokens as there are bytes; ``ends`` int64[n_docs + 1] gets their offsets; ``spans`` int64[_, 2]
    has the room of ``ids``, or none when they are not wanted. ``moves`` bool[n_docs] is set for
    documents that have to go to the reference.
    """
    unknown = limits[0]
    limit = limits[1]
    with_spans = len(spans) > 0
    n = 0
    ends[0] = 0
    for document in range(len(offsets) - 1):
        first = offsets[document]
        here = first  # where the next character starts
        start = first  # where this one does
        stop = offsets[document + 1]
        queue = 0  # codes of an expansion that are still to come
        place = 0  # and where they stand
        length = 0  # characters of the word so far; those over the limit share the last row
        while True:
            ending = False
            if queue:
                code = expansions[place]
                place += 1
                queue -= 1
            elif here < stop:
                start = here
                byte = data[here]
                if byte < 0x80:
                    point = int(byte)
                    here += 1
                elif byte < 0xE0:
                    point = (byte & 0x1F) << 6 | (data[here + 1] & 0x3F)
                    here += 2
                elif byte < 0xF0:
                    point = (
                        (byte & 0x0F) << 12 | (data[here + 1] & 0x3F) << 6 | (data[here + 2] & 0x3F)
                    )
                    here += 3
                else:
                    point = (
                        (byte & 0x07) << 18
                        | (data[here + 1] & 0x3F) << 12
                        | (data[here + 2] & 0x3F) << 6
                        | (data[here + 3] & 0x3F)
                    )
                    here += 4
                code = codes[point]
                if code < 0:
                    if code == MOVES:
                        moves[document] = True
                        code = DROP
                    else:
                        place = -2 - code
                        queue = expansions[place]
                        place += 1
                        continue
            else:
                ending = True
                code = SPACE
            kind = code & 3
            if kind == PART:
                row = min(length, limit)
                word[row, 0] = code >> 2
                if with_spans:
                    word[row, 1] = start - first
                    word[row, 2] = here - first
                length += 1
                continue
            if kind == DROP:
                continue
            if length:
                begun = n
                cut = 0
                while cut < length <= limit:
                    # The longest token from here on.
                    node = 0 if cut == 0 else 1
                    token = -1
                    reach = cut
                    at = cut
                    while at < length:
                        child = nodes[node, 0] + word[at, 0]
                        if nodes[child, 1] != node:
                            break
                        node = child
                        at += 1
                        if nodes[node, 2] >= 0:
                            token = nodes[node, 2]
                            reach = at
                    if token < 0:
                        break
                    ids[n] = token
                    if with_spans:
                        spans[n, 0] = word[cut, 1]
                        spans[n, 1] = word[reach - 1, 2]
                    n += 1
                    cut = reach
                if cut < length:
                    n = begun
                    ids[n] = unknown
                    if with_spans:
                        spans[n, 0] = word[0, 1]
                        spans[n, 1] = word[min(length - 1, limit), 2]
                    n += 1
                length = 0
            if kind == ALONE:
                ids[n] = code >> 2
                if with_spans:
                    spans[n, 0] = start - first
                    spans[n, 1] = here - first
                n += 1
            if ending:
                break
        ends[document + 1] = n
