"""One shard, from its pieces of input to its files in the work folder. Runs in a worker."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from .books import Problem, reject_line
from .convert import converter
from .disk import OriginWriter, SegmentWriter, token_dtype
from .durable import flush
from .errors import DataError
from .intake import Documents, Intake
from .plan import Plan
from .policy import ErrorPolicy
from .specials import SpecialPolicy
from .words import Marker
from .workfolder import Outcome, WorkFolder, checksum

if TYPE_CHECKING:
    from .inputs import Input
    from .segment import Segmenter
    from .tokenizers.protocol import Tokenizer

__all__ = ["Job", "marker_of", "run_shard"]

Report = Callable[[int, int], None]
"""Called now and then with documents written and bytes read since the last call."""


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


class _Shard:
    def __init__(self, job: Job, shard: int, tokenizer: Tokenizer, report: Report) -> None:
        self._job, self._shard, self._tokenizer, self._report = job, shard, tokenizer, report
        marker = marker_of(job, tokenizer)
        self._specials = SpecialPolicy(job.plan.special_in_text, tokenizer, marker)
        self._convert = converter(job.plan.convert)
        self._rejects: BinaryIO | None = None

    def run(self) -> Outcome:
        plan, work = self._job.plan, self._job.work
        kinds = ["bin", "lengths", "origins", *plan.columns]
        kinds += ["rejects"] if plan.keep_rejects else []
        finals = {kind: work.segment(self._shard, kind) for kind in kinds}
        drafts = {kind: path.with_suffix(path.suffix + ".tmp") for kind, path in finals.items()}
        intake = Intake(plan, self._job.policy, self._specials, self._reject)
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
            origins_file = stack.enter_context(drafts["origins"].open("wb"))
            origins = OriginWriter(origins_file)
            if plan.keep_rejects:
                self._rejects = stack.enter_context(drafts["rejects"].open("wb"))
            for piece in plan.shards[self._shard]:
                entry = plan.inputs[piece.input]
                _check_unchanged(entry)
                for documents in intake.piece(piece):
                    self._write(documents, intake, writer)
                    origins.add(documents.origins)
                if piece.start:
                    origins.flush()  # lines of the file before it are added when blocks are joined
                _check_unchanged(entry)
            origins.flush()
            for file in filter(None, (origins_file, self._rejects)):
                flush(file)
        intake.books.tokens = writer.tokens
        intake.books.check()
        files = {}
        for kind, draft in drafts.items():
            files[kind] = (draft.stat().st_size, checksum(draft))
            draft.replace(finals[kind])
        return Outcome(
            intake.books, files, intake.hashes, intake.extents, self._tokenizer.fingerprint
        )

    def _write(self, documents: Documents, intake: Intake, writer: SegmentWriter) -> None:
        try:
            encoded = self._specials.encode(self._convert(documents.batch))
        except DataError as error:
            problem = intake.problem(documents, f"from here on: {error}")
            raise DataError(str(problem), error.hint) from error
        writer.add(*encoded)
        self._report(len(documents.batch), len(documents.records.chunk.data))

    def _reject(self, outcome: str, problem: Problem, record: bytes) -> None:
        if self._rejects:
            self._rejects.write(reject_line(outcome, problem, record))


def _check_unchanged(entry: Input) -> None:
    hint = "Let the inputs come to rest, then start over with --overwrite."
    try:
        status = Path(entry.path).stat()
    except OSError as error:
        raise DataError(f"{entry.path} is gone: {error.strerror}.", hint) from error
    if (status.st_size, status.st_mtime_ns) != (entry.size, entry.mtime_ns):
        raise DataError(f"{entry.path} was changed while the build was running.", hint)
