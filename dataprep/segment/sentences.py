"""Where sentences begin, in Chinese, English and text of both."""

from __future__ import annotations

from functools import cache
from unicodedata import unidata_version

import numpy as np
import numpy.typing as npt

from ..batch import Batch
from ..tokenizers.documents import valid_bytes
from .protocol import Bits

__all__ = ["IDENTITY", "MAX_CHARACTERS", "sentence_starts"]

MAX_CHARACTERS = 500
"""A longer sentence is cut after its last comma, semicolon or blank, or just there."""

IDENTITY = f"jimu-sentences 1, at most {MAX_CHARACTERS} characters, Unicode {unidata_version}"
"""The number is counted up with any change to what a sentence is."""

(
    OTHER, LETTER, LOWER, DIGIT, HAN, BLANK, NEWLINE, STOP, MARK, DOT, ELLIPSIS,
    OPENER, CLOSER, QUOTE, APOSTROPHE, COMMA, TITLE, TITLE_END,
) = range(18)  # fmt: skip

_KINDS = {
    NEWLINE: "\n\r\u2028\u2029\x85\x0b\x0c",
    STOP: "。！？｡‼⁇⁈⁉",
    MARK: "!?",
    DOT: ".．",
    ELLIPSIS: "…⋯",
    OPENER: "“‘「『（【〈〔［｛([{«",
    CLOSER: "”’」』）】〉〕］｝)]}»\ufe0e\ufe0f\u20e3",
    QUOTE: '"',
    APOSTROPHE: "'",
    COMMA: "，、；：,;:—–",
    TITLE: "《",
    TITLE_END: "》",
}

_ABBREVIATIONS = """
    mr mrs ms dr prof sr jr st mt rev hon gen col capt lt sgt cmdr adm gov sen rep pres messrs mme
    mlle vs viz cf al approx ca dept est inc ltd co corp bros univ assn ave blvd rd
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun
"""
_BEFORE_NUMBERS = "no nos fig figs vol vols p pp sec ch chap art eq eqs ed par tab ref refs"


def sentence_starts(batch: Batch) -> Bits:
    """bool[len(batch.data)]: whether a sentence starts at each byte.

    A sentence ends after 。！？ and their like, with the closing quotes and brackets that follow,
    and at a line end. ``!`` and ``?`` end one before a blank or a Chinese character; ``.`` before a
    blank and anything but a small letter, unless it belongs to an abbreviation, an initial or the
    number of a list item, and between two Chinese characters; …… before a closing or opening quote.
    Nothing ends within 《》, before a comma, or right after an opening bracket. White space belongs
    to the sentence before it.
    """
    from .sentences_kernel import split

    data = valid_bytes(batch)
    starts = np.zeros(len(data), np.bool_)
    offsets = np.ascontiguousarray(batch.offsets, np.int64)
    split(data, offsets, _table(), *_abbreviations(), MAX_CHARACTERS, starts)
    return starts


@cache
def _table() -> npt.NDArray[np.uint8]:
    from . import characters

    table = np.full(0x110000, OTHER, np.uint8)
    for point in range(0x20000):
        character = chr(point)
        if character.isspace():
            table[point] = BLANK
        elif character.isalpha():
            table[point] = LOWER if character.islower() else LETTER
        elif character.isdigit():
            table[point] = DIGIT
    table[characters.kinds() == characters.HAN] = HAN
    for kind, members in _KINDS.items():
        table[list(map(ord, members))] = kind
    return table


@cache
def _abbreviations() -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    always, before = (
        np.array([_packed(word) for word in words.split()])
        for words in (_ABBREVIATIONS, _BEFORE_NUMBERS)
    )
    return always, before


def _packed(word: str) -> int:
    """Small letters in base 32, as the kernel reads them from the end."""
    return sum((ord(letter) - 96) << 5 * place for place, letter in enumerate(reversed(word)))
