"""What an objective gets: tokens of some windows, and what is known about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = ["Arrays", "Bits", "Objective", "Rows", "given"]

Part = TypeVar("Part")

Arrays = Mapping[str, npt.NDArray[Any]]
"""One row a sample; which arrays there are is told by each objective."""


class Bits(Protocol):
    """One bit a token."""

    def at(self, places: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """The bits of these token numbers, in their shape."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """``n`` windows of ``width`` tokens.

    Attributes:
        tokens: any integer dtype [n, width].
        keys: uint64[n], what the samples' random numbers are drawn from.
        word_starts: bool[n, width + 1], whether a word starts here; the last is the token after
            the window.
        sentence_starts: bool[n, width + 1].
        document_starts: bool[n, width].
        documents: int64[n], the document of each window's first token.
        partners: another window for each, drawn at random.
    """

    tokens: npt.NDArray[np.integer[Any]]
    keys: npt.NDArray[np.uint64]
    word_starts: npt.NDArray[np.bool_] | None = None
    sentence_starts: npt.NDArray[np.bool_] | None = None
    document_starts: npt.NDArray[np.bool_] | None = None
    documents: npt.NDArray[np.int64] | None = None
    partners: Rows | None = None


def given(part: Part | None) -> Part:
    """A part of Rows that an objective has asked for."""
    if part is None:
        raise ValueError("a part of Rows is missing that this objective reads")
    return part


@dataclass(frozen=True, kw_only=True, eq=False)
class Objective:
    """How samples are made of windows.

    Attributes:
        make: the function that does it.
        width: tokens that one sample is made of.
        stride: tokens from one window to the next.
        words, sentences, documents, partners: which parts of Rows ``make`` reads.
    """

    make: Callable[[Rows], dict[str, npt.NDArray[Any]]]
    width: int
    stride: int
    words: bool = False
    sentences: bool = False
    documents: bool = False
    partners: bool = False
