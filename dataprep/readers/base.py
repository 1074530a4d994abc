"""What every reader gives: documents in batches, and where the bad records were."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from ..batch import Batch
from ..errors import DataError

if TYPE_CHECKING:
    from .source import Boundary, Source

__all__ = ["Chunk", "DamagedError", "Failure", "Reader", "Records", "Unit"]

Unit = Literal["byte", "row"]
"""What extents are told in: bytes of the file as decompressed, or rows where a format has no bytes
of its own for each record, as Parquet."""


class DamagedError(DataError):
    """A file cannot be read on from some point, as opposed to one record that is bad.

    ``line`` (from 1) and ``byte`` (from 0) say where, in the piece of the file that was read;
    ``size`` bytes from there on were still read, and are no whole record.
    """

    def __init__(self, message: str, hint: str | None = None, line: int = 1, byte: int = 0) -> None:
        super().__init__(message, hint)
        self.line, self.byte, self.size = line, byte, 0


@dataclass(frozen=True)
class Chunk:
    """Several whole records as they stand in a file, decompressed."""

    data: bytes
    line: int
    """Lines of the piece before this chunk."""
    byte: int
    """Bytes of the piece before this chunk; rows, where that is the unit of its reader."""
    size: int = -1
    """Bytes of the piece, or rows, that it stands for: by default those of ``data``."""

    def __post_init__(self) -> None:
        if self.size < 0:
            object.__setattr__(self, "size", len(self.data))

    @cached_property
    def line_starts(self) -> npt.NDArray[np.int64]:
        """Where each line of ``data`` starts, int64[lines + 1 if the last has a line end]."""
        return np.concatenate(([0], self._line_feeds + 1))

    @cached_property
    def line_ends(self) -> npt.NDArray[np.int64]:
        """Where each line ends, before its ``\\n`` and a ``\\r`` before that; as line_starts."""
        ends = np.append(self._line_feeds, len(self.data))
        if b"\r" not in self.data:
            return ends
        before = np.frombuffer(self.data, np.uint8)[np.maximum(ends - 1, 0)]
        returns = (before == ord("\r")) & (ends > self.line_starts)
        without: npt.NDArray[np.int64] = ends - returns
        return without

    @cached_property
    def _line_feeds(self) -> npt.NDArray[np.int64]:
        return np.flatnonzero(np.frombuffer(self.data, np.uint8) == ord("\n"))


@dataclass(frozen=True)
class Failure:
    """A record that could not become a document."""

    line: int
    """Line within the piece, from 1."""
    byte: int
    """Byte within the piece, from 0; in a compressed file, of what it decompresses to."""
    cause: str
    record: bytes
    start: int
    """Where the record starts within the piece, in the reader's unit."""
    end: int
    """Where it ends within the piece."""


@dataclass(frozen=True)
class Records:
    """The records of one chunk: documents, and failures."""

    batch: Batch
    lines: Sequence[int]
    """Line within the chunk, from 0, on which each document starts."""
    failures: Sequence[Failure]
    chunk: Chunk
    starts: npt.NDArray[np.int64]
    """Where the record of each document starts within the chunk, int64[n], in the reader's unit."""
    ends: npt.NDArray[np.int64]
    """Where it ends, without what separates it from the next, int64[n]."""
    framing: Mapping[str, int]
    """Bytes of the chunk that are in no record, by what they are. With the records and failures
    they are all of the chunk; counted apart, so that a loss shows."""

    @classmethod
    def of_lines(
        cls,
        chunk: Chunk,
        batch: Batch,
        lines: Sequence[int],
        failures: Sequence[Failure],
        blank_lines: int = 0,
    ) -> Records:
        """Records of a line each; ``blank_lines`` bytes are in lines that are no records."""
        starts, ends = chunk.line_starts, chunk.line_ends
        left = chunk.size - int((ends - starts).sum())
        framing = {"line ends": left} if left else {}
        if blank_lines:
            framing["blank lines"] = blank_lines
        own = slice(lines.start, lines.stop) if isinstance(lines, range) else list(lines)
        return cls(batch, lines, failures, chunk, starts[own], ends[own], framing)

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
    unit: Unit = "byte"
    """What the extents of its records are told in."""
