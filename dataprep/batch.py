"""What crosses every border of the flow: many documents at once, as bytes plus offsets."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Batch"]


@dataclass(frozen=True)
class Batch:
    """Documents in the Arrow layout.

    ``data`` is the concatenated UTF-8 of all documents; document ``i`` is
    ``data[offsets[i]:offsets[i + 1]]``. ``offsets`` is int64[n_docs + 1], starts at 0, never
    falls and ends at ``len(data)``.
    """

    data: bytes | memoryview
    offsets: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def from_parts(cls, parts: list[bytes]) -> Batch:
        """One document for each bytes object, which must hold valid UTF-8."""
        offsets = np.zeros(len(parts) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), out=offsets[1:])
        return cls(b"".join(parts), offsets)

    @classmethod
    def from_texts(cls, texts: Iterable[str]) -> Batch:
        """One document for each string; raises UnicodeEncodeError on a lone surrogate."""
        return cls.from_parts(list(map(str.encode, texts)))

    def texts(self) -> list[str]:
        """Every document as a string."""
        data, bounds = bytes(self.data), self.offsets.tolist()
        return [data[start:end].decode() for start, end in itertools.pairwise(bounds)]
