"""Writing ``.bin`` and ``.idx`` as streams: memory holds one batch, never a corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Protocol

import numpy as np
import numpy.typing as npt

from ..durable import flush
from ..errors import DataError, RunError
from .bits import BitPacker
from .format import CODE_OF_DTYPE, HEADER, MAGIC, MAX_SEQUENCE_TOKENS, VERSION

__all__ = ["SegmentWriter", "Sink", "write_index"]

_STEP = 1 << 20  # sequences handled at once while an index is written


class SegmentWriter:
    """Writes the documents of one shard: ids to one file, int32 lengths to another.

    Every document becomes one sequence that starts with ``bos_id`` and ends in ``eod_id``, where
    these are not None. ``columns`` are files for a bit of each token, packed; those two tokens have
    it set. Used as a context manager; on a clean exit all files have reached the disk.
    """

    def __init__(
        self,
        ids: Path,
        lengths: Path,
        *,
        dtype: np.dtype[np.generic],
        eod_id: int | None,
        vocab_size: int,
        bos_id: int | None = None,
        columns: Sequence[Path] = (),
    ) -> None:
        self.documents = 0
        self.tokens = 0
        self._dtype, self._vocab_size = dtype, vocab_size
        self._bos_id, self._eod_id = bos_id, eod_id
        self._ids: BinaryIO = ids.open("wb")
        self._lengths: BinaryIO = lengths.open("wb")
        self._columns: list[tuple[BinaryIO, BitPacker]] = [
            (path.open("wb"), BitPacker()) for path in columns
        ]

    def add(
        self,
        ids: npt.NDArray[np.uint32],
        offsets: npt.NDArray[np.int64],
        marks: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        """Append documents: uint32[n_tokens] and int64[n_docs + 1], as a tokenizer gives them.

        ``marks`` is bool[n_columns, n_tokens], and not needed where there are no columns.
        """
        n_docs = len(offsets) - 1
        if n_docs == 0:
            return
        if len(ids) and int(ids.max()) >= self._vocab_size:
            raise RunError(
                f"The tokenizer gave id {int(ids.max())}, beyond its vocabulary of "
                f"{self._vocab_size}."
            )
        has_bos, has_eod = int(self._bos_id is not None), int(self._eod_id is not None)
        lengths = np.diff(offsets) + has_bos + has_eod
        if int(lengths.max()) > MAX_SEQUENCE_TOKENS:
            raise DataError(
                f"A document has {int(lengths.max()):,} tokens; the format holds at most "
                f"{MAX_SEQUENCE_TOKENS:,} in one.",
                "Split the document, for example with --doc-per line.",
            )
        ends = np.cumsum(lengths)
        out = np.empty(int(ends[-1]), self._dtype)
        is_text = np.ones(len(out), bool)
        for token, places in ((self._bos_id, ends - lengths), (self._eod_id, ends - 1)):
            if token is not None:
                is_text[places] = False
                out[places] = token
        out[is_text] = ids
        self._ids.write(out.data)
        self._lengths.write(lengths.astype("<i4").data)
        for number, (file, packer) in enumerate(self._columns):
            assert marks is not None  # noqa: S101
            bits = np.ones(len(out), np.bool_)
            bits[is_text] = marks[number]
            file.write(packer.add(bits))
        self.documents += n_docs
        self.tokens += len(out)

    def __enter__(self) -> SegmentWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            for file, packer in self._columns:
                file.write(packer.end())
        for file in (self._ids, self._lengths, *(file for file, _ in self._columns)):
            if kind is None:
                flush(file)
            file.close()


class Sink(Protocol):
    """What bytes can be written to."""

    def write(self, data: bytes | memoryview, /) -> int:
        """Take them all."""


def write_index(
    file: Sink,
    lengths: Callable[[], Iterable[npt.NDArray[np.int32]]],
    *,
    n_sequences: int,
    dtype: np.dtype[np.generic],
) -> None:
    """Write an ``.idx`` in which every sequence is a document of its own.

    ``lengths()`` yields int32 arrays of sequence lengths in tokens, ``n_sequences`` in all; it is
    asked twice, since the format wants all lengths before all pointers.
    """
    file.write(HEADER.pack(MAGIC, VERSION, CODE_OF_DTYPE[dtype], n_sequences, n_sequences + 1))
    for part in lengths():
        file.write(part.data)
    start = 0
    for part in lengths():
        ends = start + np.cumsum(part, dtype=np.int64) * dtype.itemsize
        pointers = np.concatenate(([start], ends[:-1])).astype("<i8") if len(part) else ends
        file.write(pointers.data)
        start = int(ends[-1]) if len(part) else start
    for first in range(0, n_sequences + 1, _STEP):
        file.write(np.arange(first, min(first + _STEP, n_sequences + 1), dtype="<i8").data)
