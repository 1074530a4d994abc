"""What every reader gives: documents in batches, and where the bad records were."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..batch import Batch
from ..errors import DataError

if TYPE_CHECKING:
    from .source import Boundary, Source

__all__ = ["Chunk", "DamagedError", "Failure", "Reader", "Records"]


class DamagedError(DataError):
    """A file cannot be read on from some point, as opposed to one record that is bad.

    ``line`` (from 1) and ``byte`` (from 0) say where, in the piece of the file that was read.
    """

    def __init__(self, message: str, hint: str | None = None, line: int = 1, byte: int = 0) -> None:
        super().__init__(message, hint)
        self.line, self.byte = line, byte


@dataclass(frozen=True)
class Chunk:
    """Several whole records as they stand in a file, decompressed."""

    data: bytes
    line: int
    """Lines of the piece before this chunk."""
    byte: int
    """Bytes of the piece before this chunk."""

    @cached_property
    def line_starts(self) -> npt.NDArray[np.int64]:
        """Where each line starts within the chunk, int64[lines]; only asked about bad records."""
        ends = np.flatnonzero(np.frombuffer(self.data, np.uint8) == ord("\n"))
        return np.concatenate(([0], ends + 1))


@dataclass(frozen=True)
class Failure:
    """A record that could not become a document."""

    line: int
    """Line within the piece, from 1."""
    byte: int
    """Byte within the piece, from 0; in a compressed file, of what it decompresses to."""
    cause: str
    record: bytes


@dataclass(frozen=True)
class Records:
    """The records of one chunk: documents, and failures."""

    batch: Batch
    lines: Sequence[int]
    """Line within the chunk, from 0, on which each document starts."""
    failures: Sequence[Failure]
    chunk: Chunk

    @property
    def read(self) -> int:
        """Number of records, good and bad."""
        return len(self.batch) + len(self.failures)


@dataclass(frozen=True)
class Reader:
    """How files of one kind become documents."""

    read: Callable[[Source], Iterator[Records]]
    boundary: Boundary | None
    """Where a plain file may be cut between two records; None when it may not."""
