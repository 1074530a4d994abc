"""``NAME.origins``: where in the inputs each document comes from, in a few bytes a document.

Little-endian throughout::

    bytes     content
    12        magic ``JMORIGIN``, version, uint32: 1
    ...       blocks, one after another, each a zstd frame
    40 * B    the index: for each block its first document, where its frame starts in this file,
              and of the first document the input, the line and the start, uint64 each
    16        documents, blocks (B), uint64 each

A block has up to 4,096 documents in four columns of int64: by how much the number of its input and
its line (from 0) are more than those of the document before; how far after the end of that it
starts; and its size. The first three are 0 for the first document of a block, which the index has.
Starts and sizes are bytes of the input, decompressed, or rows. The columns are stored byte by byte,
all lowest bytes first, which lets zstd find that most are zero.

So one document is found by reading one block, and blocks can be copied from one file to another:
only the index knows which input, and which document, they begin with.
"""

from __future__ import annotations

import bisect
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import zstandard

from ..errors import DataError, RunError

__all__ = [
    "BLOCK_DOCUMENTS",
    "Block",
    "Columns",
    "OriginWriter",
    "Origins",
    "blocks_of",
    "write_origins",
]

MAGIC = b"JMORIGIN"
VERSION = 1
HEAD = struct.Struct("<8sI")
TAIL = struct.Struct("<QQ")
BLOCK_DOCUMENTS = 4096
_ENTRY = np.dtype([(name, "<u8") for name in ("document", "offset", "input", "line", "start")])
_BLOCK_HEAD = struct.Struct(
    "<IIQQQ"
)  # in the file of a shard: documents, bytes, input, line, start

Column = npt.NDArray[np.int64]


class Sink(Protocol):
    """What bytes can be written to."""

    def write(self, data: bytes, /) -> int:
        """Take them all."""


class Columns(NamedTuple):
    """Where documents come from, int64[n] each."""

    inputs: Column
    lines: Column
    """From 0."""
    starts: Column
    ends: Column

    def part(self, which: slice) -> Columns:
        """Those of some of the documents."""
        return Columns(*(column[which] for column in self))


@dataclass(frozen=True)
class Block:
    """Up to 4,096 documents, packed, and the input, line and start of the first."""

    documents: int
    input: int
    line: int
    start: int
    frame: bytes

    @classmethod
    def pack(cls, columns: Columns) -> Block:
        """A block of at least one document."""
        inputs, lines, starts, ends = columns
        before = np.concatenate((starts[:1], ends[:-1]))
        table = np.stack(
            [
                np.diff(inputs, prepend=inputs[0]),
                np.diff(lines, prepend=lines[0]),
                starts - before,
                ends - starts,
            ]
        ).astype("<i8")
        planes = np.ascontiguousarray(table.view(np.uint8).reshape(-1, 8).T)
        frame = zstandard.ZstdCompressor(level=3, write_checksum=True).compress(planes.tobytes())
        return cls(len(inputs), int(inputs[0]), int(lines[0]), int(starts[0]), frame)

    def unpack(self) -> Columns:
        """The reverse of pack; ValueError where the frame is not what it should be."""
        size = 32 * self.documents
        try:
            if zstandard.frame_content_size(self.frame) != size:  # before memory is taken
                raise ValueError("it unpacks to another size")
            planes = zstandard.ZstdDecompressor().decompress(self.frame)
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error
        table = np.frombuffer(planes, np.uint8).reshape(8, -1).T.copy().view("<i8").reshape(4, -1)
        inputs, lines, gaps, sizes = table
        ends = self.start + np.cumsum(gaps + sizes)
        return Columns(
            self.input + np.cumsum(inputs), self.line + np.cumsum(lines), ends - sizes, ends
        )


class OriginWriter:
    """Writes the origins of one shard: blocks, each after what the index will say of it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._waiting: list[Columns] = []
        self._count = 0

    def add(self, columns: Columns) -> None:
        """Append documents."""
        self._waiting.append(columns)
        self._count += len(columns.starts)
        if self._count >= BLOCK_DOCUMENTS:
            self._write(BLOCK_DOCUMENTS)

    def flush(self) -> None:
        """End a block here: what follows is counted from another beginning."""
        if self._count:
            self._write(1)

    def _write(self, at_least: int) -> None:
        """Write blocks until fewer documents than that are left."""
        columns = Columns(*map(np.concatenate, zip(*self._waiting, strict=True)))
        done = 0
        while self._count - done >= at_least:
            block = Block.pack(columns.part(slice(done, done + BLOCK_DOCUMENTS)))
            head = (block.documents, len(block.frame), block.input, block.line, block.start)
            self._file.write(_BLOCK_HEAD.pack(*head) + block.frame)
            done += block.documents
        self._waiting = [columns.part(slice(done, None))]
        self._count -= done


def blocks_of(content: Iterable[bytes], before: Mapping[int, tuple[int, int]]) -> Iterator[Block]:
    """The blocks in the file of a shard, which comes in parts.

    ``before`` has lines and bytes of those inputs of which the shard does not have the beginning.
    """
    data = b""
    for part in content:
        data, at = data + part, 0
        while len(data) >= at + _BLOCK_HEAD.size:
            documents, size, number, line, start = _BLOCK_HEAD.unpack_from(data, at)
            begin = at + _BLOCK_HEAD.size
            if len(data) < begin + size:
                break
            at = begin + size
            lines, units = before.get(number, (0, 0))
            yield Block(documents, number, line + lines, start + units, data[begin:at])
        data = data[at:]


def write_origins(file: Sink, blocks: Iterable[Block], n_documents: int) -> None:
    """Write the origins of a dataset. Raises RunError unless they are of so many documents."""
    file.write(HEAD.pack(MAGIC, VERSION))
    offset, document = HEAD.size, 0
    entries = []
    for block in blocks:
        entries.append((document, offset, block.input, block.line, block.start))
        file.write(block.frame)
        offset += len(block.frame)
        document += block.documents
    if document != n_documents:
        raise RunError(
            f"There are origins of {document:,} documents, but {n_documents:,} documents.",
            "This is a fault of the program; nothing was published. Please report it.",
        )
    file.write(np.array(entries, _ENTRY).tobytes())
    file.write(TAIL.pack(document, len(entries)))


class Origins:
    """The origins of a dataset, read block by block. Raises DataError for what cannot be."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._data = np.memmap(path, np.uint8, mode="r")
        except (OSError, ValueError) as error:  # ValueError: it is empty
            raise DataError(
                f"{path} is missing or empty.", "Copy it along with the others."
            ) from error
        size = len(self._data)
        if size < HEAD.size + TAIL.size or HEAD.unpack(self._bytes(0, HEAD.size)) != (
            MAGIC,
            VERSION,
        ):
            raise self._damaged("it does not start as such a file does")
        n_blocks: int
        self.n_documents: int
        self.n_documents, n_blocks = TAIL.unpack(self._bytes(size - TAIL.size, size))
        self._end = size - TAIL.size - _ENTRY.itemsize * n_blocks
        if self._end < HEAD.size:
            raise self._damaged(f"it promises {n_blocks:,} blocks, for which it is too small")
        self._index = self._data[self._end : size - TAIL.size].view(_ENTRY)

    def __len__(self) -> int:
        return self.n_documents

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return len(self._index)

    def block(self, number: int) -> tuple[int, Block]:
        """One block, and the number of its first document."""
        entry, last = self._index[number], number + 1 == self.n_blocks
        first, offset = int(entry["document"]), int(entry["offset"])
        end = self._end if last else int(self._index[number + 1]["offset"])
        after = self.n_documents if last else int(self._index[number + 1]["document"])
        if not (
            HEAD.size <= offset < end <= self._end and first < after <= first + BLOCK_DOCUMENTS
        ):
            raise self._damaged(f"what its index says of block {number:,} cannot be")
        number, line, start = (int(entry[name]) for name in ("input", "line", "start"))
        return first, Block(after - first, number, line, start, self._bytes(offset, end))

    def columns(self, number: int) -> tuple[int, Columns]:
        """One block, unpacked, and the number of its first document."""
        first, block = self.block(number)
        try:
            return first, block.unpack()
        except ValueError as error:
            raise self._damaged(f"block {number:,}: {error}") from error

    def of(self, document: int) -> tuple[int, int, int, int]:
        """Input, line (from 0), start and end of a document."""
        number = bisect.bisect_right(range(self.n_blocks), document, key=self._first) - 1
        first, columns = self.columns(max(number, 0))
        at = document - first
        if not 0 <= at < len(columns.starts):
            raise self._damaged(f"document {document:,} is not where its index says")
        return tuple(int(column[at]) for column in columns)  # type: ignore[return-value]

    def blocks(self, first: int, last: int) -> Iterator[Block]:
        """The documents ``[first, last)``, whole blocks as they are."""
        for number in range(self.n_blocks):
            begin, block = self.block(number)
            end = begin + block.documents
            if end <= first or begin >= last:
                continue
            if first <= begin and end <= last:
                yield block
            else:
                inside = slice(max(first - begin, 0), last - begin)
                yield Block.pack(self.columns(number)[1].part(inside))

    def find(self, number: int, line: int) -> list[int]:
        """The documents of an input that start on a line (from 0), or else the one around it."""
        wanted = (number, line)
        block = max(bisect.bisect_left(range(self.n_blocks), wanted, key=self._place) - 1, 0)
        found: list[int] = []
        around: int | None = None
        for at in range(block, self.n_blocks):
            if self._place(at) > wanted:
                break
            first, columns = self.columns(at)
            here = np.flatnonzero((columns.inputs == number) & (columns.lines <= line))
            if len(here):
                around = first + int(here[-1])
                found += (first + here[columns.lines[here] == line]).tolist()
        return found or ([] if around is None else [around])

    def check(self, n_inputs: int) -> None:
        """Raise DataError unless every block can be read and names inputs that there are."""
        expected = 0
        for number in range(self.n_blocks):
            first, columns = self.columns(number)
            wrong = (columns.inputs < 0) | (columns.inputs >= n_inputs) | (columns.lines < 0)
            wrong |= (columns.starts < 0) | (columns.ends < columns.starts)
            if first != expected or wrong.any():
                raise self._damaged(f"block {number:,} holds what cannot be")
            expected += len(columns.starts)
        if expected != self.n_documents:
            raise self._damaged(f"its blocks have {expected:,} documents, not {self.n_documents:,}")

    def _first(self, block: int) -> int:
        return int(self._index[block]["document"])

    def _place(self, block: int) -> tuple[int, int]:
        return int(self._index[block]["input"]), int(self._index[block]["line"])

    def _bytes(self, start: int, end: int) -> bytes:
        return self._data[start:end].tobytes()

    def _damaged(self, why: str) -> DataError:
        return DataError(f"{self._path} is damaged: {why}.", "Copy it again, or build again.")


def moved(block: Block, inputs: int) -> Block:
    """The same block among inputs of which so many come before its own."""
    return replace(block, input=block.input + inputs)
