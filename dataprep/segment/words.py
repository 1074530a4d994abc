"""Where words start in any text: Chinese by a segmenter, the rest by kinds of characters."""

from __future__ import annotations

from unicodedata import unidata_version

import numpy as np

from ..batch import Batch
from .protocol import Bits, Segmenter

__all__ = ["IDENTITY", "word_starts"]

IDENTITY = f"jimu-words 1, Unicode {unidata_version}"
"""The number is counted up with any change to what a word is."""


def word_starts(batch: Batch, segmenter: Segmenter) -> Bits:
    """bool[len(batch.data)]: whether a word, or a run of white space, starts at each byte.

    A word is one of the segmenter's that has a Chinese character in it; a run of letters and
    digits; a punctuation mark or symbol. Accents, variation selectors and what is joined by U+200D
    belong to what stands before them, and two regional indicators are one flag.
    """
    from .characters import kinds, merge

    starts = segmenter.word_starts(batch).copy()
    offsets = np.ascontiguousarray(batch.offsets, np.int64)
    merge(np.frombuffer(batch.data, np.uint8), offsets, kinds(), starts)
    return starts
