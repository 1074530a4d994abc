"""Kinds of characters, and where words begin in text that is not Chinese, compiled."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ..tokenizers.compiled import compiled

__all__ = ["HAN", "code_point", "kinds", "merge"]

Array = npt.NDArray[Any]

LETTER, ALONE, EXTEND, BLANK, HAN, FLAG = range(6)
"""Letters and digits form words with their like; ALONE is punctuation and symbols; EXTEND belongs
to what stands before it, as accents do; of FLAGs, two are one; HAN is left to the segmenter."""

_HAN = (
    (0x2E80, 0x2FDF), (0x3005, 0x3005), (0x3007, 0x3007), (0x3021, 0x3029), (0x3038, 0x303B),
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFD),
)  # fmt: skip
"""The script Han, with the blocks that are kept for it."""

_JOINER = 0x200D
"""Makes one emoji of the two beside it."""


@cache
def kinds() -> npt.NDArray[np.uint8]:
    """uint8[0x110000]: the kind of each code point."""
    table = np.full(0x110000, LETTER, np.uint8)
    for point in (*range(0x20000), *range(0xE0000, 0xE0200)):
        table[point] = _kind(point)
    table[0x1F1E6:0x1F200] = FLAG
    table[0x1F3FB:0x1F400] = EXTEND  # tones of skin
    for first, last in _HAN:
        table[first : last + 1] = HAN
    return table


def _kind(point: int) -> int:
    category = unicodedata.category(chr(point))
    if category[0] == "Z" or chr(point).isspace():
        return BLANK
    if category[0] == "M" or category in ("Cc", "Cf"):
        return EXTEND
    return ALONE if category[0] in "PS" else LETTER


@compiled
def code_point(data: Array, at: int) -> tuple[int, int]:
    """The code point that starts at byte ``at`` of valid UTF-8, and how many bytes it takes."""
    byte = int(data[at])
    if byte < 0x80:
        return byte, 1
    if byte < 0xE0:
        return (byte & 0x1F) << 6 | (data[at + 1] & 0x3F), 2
    if byte < 0xF0:
        return (byte & 0x0F) << 12 | (data[at + 1] & 0x3F) << 6 | (data[at + 2] & 0x3F), 3
    return (
        (byte & 0x07) << 18
        | (data[at + 1] & 0x3F) << 12
        | (data[at + 2] & 0x3F) << 6
        | (data[at + 3] & 0x3F)
    ), 4


@compiled
def merge(data: Array, offsets: Array, table: Array, starts: Array) -> None:
    """Keep the segmenter's words that have a Chinese character; cut the rest by kind.

    ``starts`` bool[len(data)] comes in as the segmenter's words and goes out as all words; runs of
    white space count as words. ``table`` is ``kinds()``.
    """
    for document in range(len(offsets) - 1):
        here = offsets[document]
        stop = offsets[document + 1]
        before = -1
        joined = False
        flags = 0
        while here < stop:
            # A word of the segmenter: has it a Chinese character?
            end = here
            han = False
            while True:
                point, width = code_point(data, end)
                end += width
                if table[point] == HAN:
                    han = True
                if end >= stop or starts[end]:
                    break
            if han:
                before = HAN
                joined = False
                here = end
                continue
            while here < end:
                point, width = code_point(data, here)
                kind = table[point]
                if kind == EXTEND:
                    start = before < 0 or before == BLANK
                    if start:
                        before = LETTER
                else:
                    if kind == FLAG:
                        flags = flags + 1 if before == FLAG else 1
                        start = flags % 2 == 1
                    elif kind == ALONE:
                        start = not (joined and before == ALONE)
                    else:
                        start = kind != before
                    before = kind
                starts[here] = start
                joined = point == _JOINER
                here += width
