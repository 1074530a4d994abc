"""What crosses every border of the flow: many documents at once, as bytes plus offsets."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from functools import cached_property

import numpy as np
import numpy.typing as npt

__all__ = ["Batch"]


class Batch:
    """Documents in the Arrow layout.

    ``data`` is the concatenated UTF-8 of all documents; document ``i`` is
    ``data[offsets[i]:offsets[i + 1]]``. ``offsets`` is int64[n_docs + 1], starts at 0, never
    falls and ends at ``len(data)``.

    A batch made of strings keeps them and makes the layout when it is first asked for: both the
    readers and the engines speak in strings, and the way through bytes costs a tenth of a run.
    """

    def __init__(self, data: bytes | memoryview, offsets: npt.NDArray[np.int64]) -> None:
        self._layout = (data, offsets)

    def __len__(self) -> int:
        texts = self.__dict__.get("_texts")
        return len(self.offsets) - 1 if texts is None else len(texts)

    @property
    def data(self) -> bytes | memoryview:
        """The concatenated UTF-8 of all documents."""
        return self._layout[0]

    @property
    def offsets(self) -> npt.NDArray[np.int64]:
        """Where each document starts and, last, where the last one ends: int64[n_docs + 1]."""
        return self._layout[1]

    @classmethod
    def from_texts(cls, texts: Iterable[str]) -> Batch:
        """One document for each string; a lone surrogate raises once the bytes are asked for."""
        batch = cls.__new__(cls)
        batch.__dict__["_texts"] = list(texts)
        return batch

    def texts(self) -> list[str]:
        """Every document as a string."""
        return self._texts

    @property
    def is_text(self) -> bool:
        """Whether the documents have been strings: their bytes are valid UTF-8, each alone."""
        return "_texts" in self.__dict__

    @cached_property
    def _layout(self) -> tuple[bytes | memoryview, npt.NDArray[np.int64]]:
        parts = list(map(str.encode, self._texts))
        offsets = np.zeros(len(parts) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), out=offsets[1:])
        return b"".join(parts), offsets

    @cached_property
    def _texts(self) -> list[str]:
        data, bounds = bytes(self.data), self.offsets.tolist()
        return [data[start:end].decode() for start, end in itertools.pairwise(bounds)]
