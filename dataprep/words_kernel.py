"""From starts by byte to starts by token, compiled."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from .tokenizers.compiled import compiled

__all__ = ["mark"]

Array = npt.NDArray[Any]


@compiled
def mark(
    data: Array, documents: Array, offsets: Array, spans: Array, starts: Array, marks: Array
) -> None:
    """Fill ``marks`` bool[n_tokens], all False, by the rules of ``token_starts``.

    ``documents`` int64[n_docs + 1] are offsets into ``data`` and ``starts``, ``offsets`` likewise
    into ``spans`` int64[n_tokens, 2] and ``marks``.
    """
    for document in range(len(documents) - 1):
        origin = documents[document]
        size = documents[document + 1] - origin
        first = offsets[document]
        reach = 0  # where the bytes of the tokens so far end
        held = -1  # the first of the tokens that go with the next one
        for token in range(first, offsets[document + 1]):
            end = spans[token, 1]
            if end <= spans[token, 0]:
                if held < 0:
                    held = token
                continue
            end = max(end, reach)
            found = False
            for byte in range(origin + reach, origin + end):
                if starts[byte]:
                    found = True
                    break
            blank = end - reach == 1 and data[origin + reach] == 0x20
            if blank and end < size and starts[origin + end]:
                if held < 0:
                    held = token
            else:
                if found:
                    marks[held if held >= 0 else token] = True
                held = -1
            reach = end
        if first < offsets[document + 1]:
            marks[first] = True
