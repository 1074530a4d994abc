"""One shard, from its pieces of input to its files in the work folder. Runs in a worker."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import filterfalse
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from .batch import Batch
from .books import Books, Problem, reject_line
from .convert import converter
from .disk import SegmentWriter, token_dtype
from .durable import flush
from .errors import DataError
from .plan import Piece, Plan
from .policy import ErrorPolicy
from .readers import FORMATS, DamagedError, Records, Source
from .specials import SpecialPolicy
from .words import Marker
from .workfolder import Outcome, WorkFolder, checksum

if TYPE_CHECKING:
    from .inputs import Input
    from .segment import Segmenter
    from .tokenizers.protocol import Tokenizer

__all__ = ["Job", "marker_of", "read_piece", "run_shard", "without_blank"]

Report = Callable[[int, int], None]
"""Called now and then with documents written and bytes read since the last call."""

_HASH_STEP = 1 << 20


@dataclass(frozen=True)
class Job:
    """What every worker is told once."""

    plan: Plan
    work: WorkFolder
    policy: ErrorPolicy
    bos_id: int | None
    """What starts every document, if anything."""
    eod_id: int | None
    """What ends every document, if anything."""
    segmenter: Segmenter | None = None
    """What cuts text into words, if they are wanted."""


def run_shard(job: Job, shard: int, tokenizer: Tokenizer, report: Report) -> Outcome:
    """Do one shard.

    The files of a shard have reached the disk under their final names when this returns. Raises
    DataError for a damaged file, or more bad records than the policy allows in a whole run.
    """
    return _Shard(job, shard, tokenizer, report).run()


def marker_of(job: Job, tokenizer: Tokenizer) -> Marker:
    """What encodes documents and keeps the bits of their tokens that the plan asks for."""
    return Marker(tokenizer, job.segmenter, sentences="sentences" in job.plan.columns)


def read_piece(plan: Plan, piece: Piece) -> Iterator[Records]:
    """The records of one piece of input."""
    entry = plan.inputs[piece.input]
    source = Source(Path(entry.path), piece.start, piece.end, plan.text_key)
    return FORMATS[entry.format].reader(plan.doc_per).read(source)


def without_blank(batch: Batch) -> Batch:
    """The documents that are more than blanks."""
    return Batch.from_texts(filterfalse(str.isspace, filter(None, batch.texts())))


class _Shard:
    def __init__(self, job: Job, shard: int, tokenizer: Tokenizer, report: Report) -> None:
        self._job, self._shard, self._tokenizer, self._report = job, shard, tokenizer, report
        marker = marker_of(job, tokenizer)
        self._specials = SpecialPolicy(job.plan.special_in_text, tokenizer, marker)
        self._convert = converter(job.plan.convert)
        self._books = Books()
        self._hashes: dict[int, str] = {}
        self._rejects: BinaryIO | None = None

    def run(self) -> Outcome:
        plan, work = self._job.plan, self._job.work
        kinds = ["bin", "lengths", *plan.columns, *(["rejects"] if plan.keep_rejects else [])]
        finals = {kind: work.segment(self._shard, kind) for kind in kinds}
        drafts = {kind: path.with_suffix(path.suffix + ".tmp") for kind, path in finals.items()}
        with ExitStack() as stack:
            writer = stack.enter_context(
                SegmentWriter(
                    drafts["bin"],
                    drafts["lengths"],
                    dtype=token_dtype(self._tokenizer.vocab_size),
                    bos_id=self._job.bos_id,
                    eod_id=self._job.eod_id,
                    vocab_size=self._tokenizer.vocab_size,
                    columns=[drafts[kind] for kind in plan.columns],
                )
            )
            if plan.keep_rejects:
                self._rejects = stack.enter_context(drafts["rejects"].open("wb"))
            for piece in plan.shards[self._shard]:
                entry = plan.inputs[piece.input]
                _check_unchanged(entry)
                self._piece(piece, entry, writer)
                _check_unchanged(entry)
            if self._rejects:
                flush(self._rejects)
        self._books.tokens = writer.tokens
        files = {}
        for kind, draft in drafts.items():
            files[kind] = (draft.stat().st_size, checksum(draft))
            draft.replace(finals[kind])
        return Outcome(self._books, files, self._hashes, self._tokenizer.fingerprint)

    def _piece(self, piece: Piece, entry: Input, writer: SegmentWriter) -> None:
        books = self._books
        origin = _Origin(entry, piece)
        try:
            if piece.start == 0:  # a file is hashed once, by whoever has its beginning
                self._hashes[piece.input] = _sha256(Path(entry.path))
            for records in read_piece(self._job.plan, piece):
                chunk = records.chunk
                batch = without_blank(records.batch)
                books.read += records.read
                books.bytes_read += len(chunk.data)
                if blank := len(records.batch) - len(batch):
                    books.dropped["blank"] += blank
                    self._keep_blank(records, origin)
                for failure in records.failures:
                    problem = origin.problem(failure.line, failure.byte, failure.cause)
                    self._fail(problem, failure.record)
                batch = self._convert(self._without_offences(batch, records, origin))
                books.written += len(batch)
                try:
                    encoded = self._specials.encode(batch)
                except DataError as error:
                    problem = origin.problem(chunk.line + 1, chunk.byte, f"from here on: {error}")
                    raise DataError(str(problem), error.hint) from error
                writer.add(*encoded)
                self._report(len(batch), len(chunk.data))
        except DamagedError as damage:
            problem = origin.problem(damage.line, damage.byte, str(damage))
            if not self._job.policy.skip_damaged:
                raise DataError(str(problem), damage.hint) from damage
            books.read += 1
            books.damaged_files += 1
            self._fail(problem, b"")

    def _without_offences(self, batch: Batch, records: Records, origin: _Origin) -> Batch:
        """The documents without those that --special-in-text error forbids."""
        offences = self._specials.offences(batch)
        if not offences:
            return batch
        chunk, texts = records.chunk, batch.texts()
        written = [i for i, text in enumerate(records.batch.texts()) if text and text.strip()]
        for number, token in offences.items():
            line = records.lines[written[number]]
            problem = origin.problem(
                chunk.line + line + 1,
                chunk.byte + int(chunk.line_starts[line]),
                f"the special token {token} stands in the text",
            )
            self._fail(problem, texts[number].encode())
        return Batch.from_texts(text for i, text in enumerate(texts) if i not in offences)

    def _fail(self, problem: Problem, record: bytes) -> None:
        self._books.fail(problem)
        if self._rejects:
            self._rejects.write(reject_line("failed", problem, record))
        self._job.policy.judge(self._books)

    def _keep_blank(self, records: Records, origin: _Origin) -> None:
        if not self._rejects:
            return
        starts = records.chunk.line_starts
        for text, line in zip(records.batch.texts(), records.lines, strict=True):
            if text.strip():
                continue
            problem = origin.problem(
                records.chunk.line + line + 1, records.chunk.byte + int(starts[line]), "blank"
            )
            self._rejects.write(reject_line("dropped", problem, text.encode()))


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


def _check_unchanged(entry: Input) -> None:
    hint = "Let the inputs come to rest, then start over with --overwrite."
    try:
        status = Path(entry.path).stat()
    except OSError as error:
        raise DataError(f"{entry.path} is gone: {error.strerror}.", hint) from error
    if (status.st_size, status.st_mtime_ns) != (entry.size, entry.mtime_ns):
        raise DataError(f"{entry.path} was changed while the build was running.", hint)


def _count_lines(path: Path, end: int) -> int:
    lines = 0
    with path.open("rb") as file:
        while end > 0 and (block := file.read(min(end, _HASH_STEP))):
            lines += block.count(b"\n")
            end -= len(block)
    return lines


def _sha256(path: Path) -> str:
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
