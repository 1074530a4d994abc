"""What every word segmenter offers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from ..batch import Batch

__all__ = ["Bits", "Segmenter", "SegmenterOptions"]

Bits: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class SegmenterOptions:
    """What a user can ask of a segmenter. One that cannot do it raises UsageError."""

    user_dict: str | None = None
    """Path of a file of words that the segmenter is to know besides its own."""
    hmm: bool = False
    """Guess words that are in no dictionary."""


class Segmenter(Protocol):
    """Text to words, for text without blanks between them.

    Only words with a Chinese character in them are taken from it; it may do with other text what it
    likes. A segmenter can be pickled: that is how worker processes get theirs.
    """

    @property
    def identity(self) -> str:
        """All that decides its words, in a line: name, version, options, hash of dictionaries.

        It decides whether an unfinished build can be gone on with, and is kept in the manifest.
        """

    def word_starts(self, batch: Batch) -> Bits:
        """bool[len(batch.data)]: whether a word starts at each byte.

        The first byte of every document is one, a byte within a character never is. Raises
        UnicodeError when a document is not valid UTF-8.
        """
