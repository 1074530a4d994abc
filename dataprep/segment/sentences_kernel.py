"""The rules of ``sentences``, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..tokenizers.compiled import compiled
from .characters import code_point
from .sentences import (
    APOSTROPHE,
    BLANK,
    CLOSER,
    COMMA,
    DIGIT,
    DOT,
    ELLIPSIS,
    HAN,
    LETTER,
    LOWER,
    MARK,
    NEWLINE,
    OPENER,
    QUOTE,
    STOP,
    TITLE,
    TITLE_END,
)  # fmt: skip

__all__ = ["split"]

Array = npt.NDArray[Any]

_LONGEST_TITLE = 100


@compiled
def split(
    data: Array,
    offsets: Array,
    table: Array,
    always: Array,
    before_numbers: Array,
    limit: int,
    starts: Array,
) -> None:
    """Set ``starts`` bool[len(data)], all False, where a sentence starts.

    ``table`` uint8[0x110000] is the kind of each code point; the next two are abbreviations.
    """
    size = 0
    for document in range(len(offsets) - 1):
        size = max(size, offsets[document + 1] - offsets[document])
    points = np.empty(size, np.int32)
    kinds = np.empty(size, np.uint8)
    places = np.empty(size, np.int64)
    for document in range(len(offsets) - 1):
        here = offsets[document]
        n = 0
        while here < offsets[document + 1]:
            point, width = code_point(data, here)
            points[n] = point
            kinds[n] = table[point]
            places[n] = here
            n += 1
            here += width
        _document(points[:n], kinds[:n], places, always, before_numbers, limit, starts)


@compiled
def _document(
    points: Array,
    kinds: Array,
    places: Array,
    always: Array,
    before_numbers: Array,
    limit: int,
    starts: Array,
) -> None:
    n = len(kinds)
    first = -1  # of the sentence; -1 before its first character
    soft = -1  # where it is cut if it gets too long
    quoted = False  # within "", which do not say whether they open or close
    at = 0
    while at < n:
        kind = kinds[at]
        if kind == NEWLINE:
            first = -1
            quoted = False
            at += 1
            continue
        if first < 0 and kind != BLANK:
            first = at
            soft = at
            starts[places[at]] = True
        if first >= 0 and at - first >= limit and kind != BLANK:
            cut = soft if soft > first else at
            starts[places[cut]] = True
            first = cut
            soft = cut
        if (kind in (COMMA, BLANK)) and at + 1 < n and kinds[at + 1] != BLANK:
            soft = at + 1
        if kind == TITLE:
            end = at
            last = min(n, at + _LONGEST_TITLE)
            while end < last and kinds[end] != TITLE_END and kinds[end] != NEWLINE:
                end += 1
            if end < last and kinds[end] == TITLE_END:
                at = end
        elif kind == QUOTE:
            quoted = not quoted
        elif points[at] == 0x201C or points[at] == 0x201D:
            quoted = points[at] == 0x201C  # “ is closed by " in careless typing
        elif kind in (STOP, MARK, DOT, ELLIPSIS):
            end = at
            while end < n and STOP <= kinds[end] <= ELLIPSIS:
                end += 1
            rest = end
            while rest < n and _closes(kinds, rest, quoted):
                if kinds[rest] == QUOTE or points[rest] == 0x201D:
                    quoted = False
                rest += 1
            if _ends(points, kinds, first, at, end, rest, always, before_numbers):
                first = -1
            at = rest
            continue
        at += 1


@compiled
def _closes(kinds: Array, at: int, quoted: bool) -> bool:
    """Whether this closes what was opened before the end of the sentence."""
    kind = kinds[at]
    if kind == QUOTE:
        return quoted
    if kind == APOSTROPHE:
        return at + 1 == len(kinds) or (kinds[at + 1] != LETTER and kinds[at + 1] != LOWER)
    return kind in (CLOSER, TITLE_END)


@compiled
def _ends(
    points: Array,
    kinds: Array,
    first: int,
    at: int,
    end: int,
    rest: int,
    always: Array,
    before_numbers: Array,
) -> bool:
    """Whether the marks from ``at`` to ``end``, and closers up to ``rest``, end a sentence."""
    n = len(kinds)
    if rest == n:
        return True
    then = rest
    while then < n and kinds[then] == BLANK:
        then += 1
    if then == n:
        return True
    following = kinds[then]
    spaced = then > rest
    if following == COMMA or (at > first and kinds[at - 1] == OPENER):
        return False
    full = False
    mark = False
    ellipsis = end - at > 1
    for k in range(at, end):
        full = full or kinds[k] == STOP
        mark = mark or kinds[k] == MARK
        ellipsis = ellipsis or kinds[k] == ELLIPSIS
    if full:
        return True
    if mark:
        return bool((spaced and following != LOWER) or following == HAN or kinds[rest] == OPENER)
    if ellipsis:
        if kinds[at] == DOT and spaced:
            return bool(following != LOWER)
        return bool(rest > end or kinds[rest] == OPENER or kinds[rest] == QUOTE)
    if not spaced:
        return bool(at > first and kinds[at - 1] == HAN and (following in (HAN, OPENER, QUOTE)))
    if following == LOWER:
        return False
    return not _belongs(points, kinds, first, at, following, always, before_numbers)


@compiled
def _belongs(
    points: Array,
    kinds: Array,
    first: int,
    at: int,
    following: int,
    always: Array,
    before_numbers: Array,
) -> bool:
    """Whether the dot is part of an abbreviation, an initial, or the number of a list item."""
    begin = at
    while begin > first and kinds[begin - 1] == DIGIT:
        begin -= 1
    if begin < at:
        return begin == first
    packed = np.int64(0)
    letters = 0
    while begin > first:
        letter = points[begin - 1] | 0x20
        if not 0x61 <= letter <= 0x7A or points[begin - 1] > 0x7F:
            break
        if letters < 12:
            packed |= np.int64(letter - 0x60) << (5 * letters)
        letters += 1
        begin -= 1
    if letters == 0:
        return False
    if begin > first and kinds[begin - 1] == DOT:
        return True
    if letters == 1 and kinds[at - 1] == LETTER:
        return begin == first or kinds[begin - 1] == BLANK or kinds[begin - 1] == OPENER
    for word in always:
        if word == packed:
            return True
    if following == DIGIT:
        for word in before_numbers:
            if word == packed:
                return True
    return False
