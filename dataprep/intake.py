"""What becomes of each record of the input: a document, dropped, or failed.

The books are kept here, in records and in bytes: every byte of a piece is in a record or is framing
that the reader has a name for, one chunk follows the other without a gap, and the last one ends
where the piece does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import filterfalse
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .batch import Batch
from .books import Books, Problem
from .disk import Columns
from .errors import DataError, RunError
from .plan import Piece, Plan
from .readers import FORMATS, DamagedError, Records, Source, codec_of

if TYPE_CHECKING:
    from .inputs import Input
    from .policy import ErrorPolicy
    from .specials import SpecialPolicy

__all__ = ["Documents", "Intake", "Reject", "read_piece", "sha256_of", "without_blank"]

Reject = Callable[[str, Problem, bytes], None]
"""Called with ``failed`` or ``dropped``, where and why, and the record."""

_HASH_STEP = 1 << 20
_LONGEST_MARK = 4  # bytes of a byte order mark


@dataclass(frozen=True)
class Documents:
    """The documents of one chunk."""

    batch: Batch
    chosen: npt.NDArray[np.int64]
    """Number of each among those of ``records``."""
    records: Records
    origins: Columns
    """Where they come from, counted from where the shard's part of the file starts."""


@dataclass
class Intake:
    """Reads the pieces of one shard, one after another, and keeps the books of it."""

    plan: Plan
    policy: ErrorPolicy
    specials: SpecialPolicy | None
    """What must not stand in a text, if anything."""
    reject: Reject
    books: Books = field(default_factory=Books)
    hashes: dict[int, str] = field(default_factory=dict)
    """Hex sha256 of the inputs that start in the shard, by their number."""
    extents: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Lines and bytes (or rows) that the shard has of each input that is cut."""

    def piece(self, piece: Piece) -> Iterator[Documents]:
        """The documents of one piece. Raises DataError for what the policy does not allow."""
        entry = self.plan.inputs[piece.input]
        self._origin = origin = _Origin(entry, piece)
        self._before = self.extents.get(piece.input, (0, 0))
        self._end = (0, 0)
        unit = FORMATS[entry.format].reader(self.plan.doc_per).unit
        try:
            if piece.start == 0:  # a file is hashed once, by whoever has its beginning
                self.hashes[piece.input] = sha256_of(Path(entry.path))
            for records in read_piece(self.plan, piece):
                yield self._sorted(records, piece, unit)
            if (
                unit == "byte"
                and _is_plain(piece, entry)
                and self._end[1] != piece.size(self.plan.inputs)
            ):
                raise self._fault(piece.size(self.plan.inputs) - self._end[1], self._end[1])
        except DamagedError as damage:
            problem = origin.problem(damage.line, damage.byte, str(damage))
            if not self.policy.skip_damaged:
                raise DataError(str(problem), damage.hint) from damage
            self.books.read += 1
            self.books.damaged_files += 1
            self.books.bytes_read += damage.size
            amounts = self.books.of_unit(unit)
            amounts.read += damage.size
            amounts.failed += damage.size
            self._fail(problem, b"")
        if piece.end is not None:
            self.extents[piece.input] = (
                self._before[0] + self._end[0],
                self._before[1] + self._end[1],
            )

    def problem(self, documents: Documents, cause: str) -> Problem:
        """What went wrong with the documents of a chunk."""
        chunk = documents.records.chunk
        return self._origin.problem(chunk.line + 1, chunk.byte, cause)

    def _sorted(self, records: Records, piece: Piece, unit: str) -> Documents:
        """The documents of a chunk, after everything in it was put down in the books."""
        chunk, books, amounts = records.chunk, self.books, self.books.of_unit(unit)
        gap = chunk.byte - self._end[1]
        if gap and (gap > _LONGEST_MARK or gap < 0 or self._end[1] or piece.start):
            raise self._fault(gap, self._end[1])
        if gap:
            amounts.framing["byte order mark"] += gap
        lines = chunk.data.count(b"\n") if piece.end is not None else 0
        self._end = (chunk.line + lines, chunk.byte + chunk.size)
        sizes = records.ends - records.starts
        failed = sum(failure.end - failure.start for failure in records.failures)
        unexplained = chunk.size - int(sizes.sum()) - failed - sum(records.framing.values())
        if unexplained:
            raise self._fault(unexplained, chunk.byte)
        books.read += records.read
        if unit == "byte":
            books.bytes_read += gap + chunk.size
        amounts.read += gap + chunk.size
        amounts.framing.update(records.framing)
        chosen = self._filled(records)
        if blank := len(records.batch) - len(chosen):
            books.dropped["blank"] += blank
            amounts.dropped["blank"] += int(sizes.sum() - sizes[chosen].sum())
        for failure in records.failures:
            amounts.failed += failure.end - failure.start
            problem = self._origin.problem(failure.line, failure.byte, failure.cause)
            self._fail(problem, failure.record)
        chosen = self._allowed(records, chosen, unit)
        batch = records.batch
        if len(chosen) < len(batch):
            texts = batch.texts()
            batch = Batch.from_texts(texts[number] for number in chosen.tolist())
        books.written += len(batch)
        amounts.written += int(sizes[chosen].sum())
        line, start = self._before[0] + chunk.line, self._before[1] + chunk.byte
        origins = Columns(
            np.full(len(chosen), piece.input, np.int64),
            np.asarray(records.lines, np.int64)[chosen] + line,
            records.starts[chosen] + start,
            records.ends[chosen] + start,
        )
        return Documents(batch, chosen, records, origins)

    def _filled(self, records: Records) -> npt.NDArray[np.int64]:
        """The documents that are more than blanks; the others are rejected."""
        texts = records.batch.texts()
        blank = np.fromiter(map(str.isspace, texts), bool, len(texts))
        blank |= np.fromiter(map(len, texts), np.int64, len(texts)) == 0
        chunk = records.chunk
        for number in np.flatnonzero(blank).tolist() if self.plan.keep_rejects else ():
            line, byte = chunk.line + records.lines[number], chunk.byte + records.starts[number]
            problem = self._origin.problem(line + 1, int(byte), "blank")
            self.reject("dropped", problem, texts[number].encode())
        return np.flatnonzero(~blank)

    def _allowed(
        self, records: Records, chosen: npt.NDArray[np.int64], unit: str
    ) -> npt.NDArray[np.int64]:
        """The documents without those that --special-in-text error forbids."""
        offences = self.specials.offences(records.batch) if self.specials else {}
        chunk, texts = records.chunk, records.batch.texts()
        for number, token in offences.items():
            start, end = int(records.starts[number]), int(records.ends[number])
            problem = self._origin.problem(
                chunk.line + records.lines[number] + 1,
                chunk.byte + start,
                f"the special token {token} stands in the text",
            )
            self.books.of_unit(unit).failed += end - start
            self._fail(problem, texts[number].encode())
        return np.setdiff1d(chosen, list(offences)) if offences else chosen

    def _fail(self, problem: Problem, record: bytes) -> None:
        self.books.fail(problem)
        self.reject("failed", problem, record)
        self.policy.judge(self.books)

    def _fault(self, count: int, byte: int) -> RunError:
        problem = self._origin.problem(1, byte, f"{count:,} bytes are unexplained after this one")
        return RunError(
            f"The books do not add up: {problem.file}, byte {problem.byte:,}: {problem.cause}.",
            "This is a fault of the program; nothing was published. Please report it.",
        )


def read_piece(plan: Plan, piece: Piece) -> Iterator[Records]:
    """The records of one piece of input."""
    entry = plan.inputs[piece.input]
    source = Source(Path(entry.path), piece.start, piece.end, plan.text_key)
    return FORMATS[entry.format].reader(plan.doc_per).read(source)


def without_blank(batch: Batch) -> Batch:
    """The documents that are more than blanks."""
    return Batch.from_texts(filterfalse(str.isspace, filter(None, batch.texts())))


def sha256_of(path: Path) -> str:
    """Hex sha256 of a file; DamagedError when it cannot be read."""
    digest = hashlib.sha256()
    buffer = memoryview(bytearray(_HASH_STEP))
    try:
        with path.open("rb", buffering=0) as file:
            while size := file.readinto(buffer):
                digest.update(buffer[:size])
    except OSError as error:
        raise DamagedError(
            f"{path} cannot be read: {error.strerror}.",
            "Allow reading it, or go on without it with --on-error skip.",
        ) from error
    return digest.hexdigest()


class _Origin:
    """Turns places within a piece into places within its file."""

    def __init__(self, entry: Input, piece: Piece) -> None:
        self._entry, self._piece = entry, piece
        self._lines_before: int | None = None

    def problem(self, line: int, byte: int, cause: str) -> Problem:
        if self._lines_before is None:  # counted only when a record is bad
            start = self._piece.start
            self._lines_before = _count_lines(Path(self._entry.path), start) if start else 0
        return Problem(self._entry.path, line + self._lines_before, byte + self._piece.start, cause)


def _is_plain(piece: Piece, entry: Input) -> bool:
    return piece.end is not None or codec_of(Path(entry.path)) is None


def _count_lines(path: Path, end: int) -> int:
    lines = 0
    with path.open("rb") as file:
        while end > 0 and (block := file.read(min(end, _HASH_STEP))):
            lines += block.count(b"\n")
            end -= len(block)
    return lines
