"""Special tokens that stand in the text as they are written: text, the token, or an error."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .batch import Batch

if TYPE_CHECKING:
    from .settings import SpecialInText
    from .tokenizers.protocol import Tokenizer
    from .words import Marked, Marker

__all__ = ["SpecialPolicy"]


class SpecialPolicy:
    """What --special-in-text asks for, on one tokenizer and the marks of its tokens.

    With ``special``, what stands between two of them is encoded as a text of its own: a
    SentencePiece model that puts a space before a text puts one before each.
    """

    def __init__(self, kind: SpecialInText, tokenizer: Tokenizer, marker: Marker) -> None:
        self._marker = marker
        self._ids = dict(tokenizer.special_tokens)
        self._becomes_special = kind == "special" and bool(self._ids)
        # The longest first, where one begins with another.
        written = sorted(filter(None, self._ids), key=len, reverse=True)
        self._pattern = re.compile(f"({'|'.join(map(re.escape, written))})") if written else None
        self._refuses = kind == "error" and bool(written)

    def offences(self, batch: Batch) -> dict[int, str]:
        """Number of each document that must not be, and the special token in it."""
        if not self._refuses or self._pattern is None:
            return {}
        found = ((i, self._pattern.search(text)) for i, text in enumerate(batch.texts()))
        return {i: match[0] for i, match in found if match}

    def encode(self, batch: Batch) -> Marked:
        """Ids of the documents, as Tokenizer.encode_batch gives them, and their marks.

        A special token has all marks: no word or sentence goes beyond it.
        """
        if not self._becomes_special or self._pattern is None:
            return self._marker.encode(batch)
        parts = [self._pattern.split(text) for text in batch.texts()]
        if all(len(split) == 1 for split in parts):
            return self._marker.encode(batch)
        # Every second part is a special token; the others, in a row, are encoded at once.
        plain = Batch.from_texts(part for split in parts for part in split[::2])
        ids, offsets, marks = self._marker.encode(plain)
        pieces: list[npt.NDArray[np.uint32]] = []
        marked: list[npt.NDArray[np.bool_]] = []
        lengths = np.zeros(len(parts), np.int64)
        k = 0
        for i, split in enumerate(parts):
            for number, part in enumerate(split):
                if number % 2:
                    pieces.append(np.array([self._ids[part]], np.uint32))
                    marked.append(np.ones((len(marks), 1), np.bool_))
                else:
                    pieces.append(ids[offsets[k] : offsets[k + 1]])
                    marked.append(marks[:, offsets[k] : offsets[k + 1]])
                    k += 1
                lengths[i] += len(pieces[-1])
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        return np.concatenate(pieces), offsets, np.concatenate(marked, axis=1)
