"""``dataprep build``: from a corpus to a dataset."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .batch import Batch
from .books import Books
from .errors import RunError, UsageError
from .inputs import Listing, list_inputs
from .plan import make_plan
from .policy import ErrorPolicy
from .pool import Done, Progress, StartMethod, run_shards, start_method
from .publish import finished, publish
from .readers import known_endings
from .settings import BuildSettings
from .shard import Job, marker_of
from .targets import check_targets
from .vocabulary import ends_of, vocabulary
from .workfolder import Outcome, WorkFolder, changed_from_outside

if TYPE_CHECKING:
    from .progress import Observer
    from .segment import Segmenter
    from .tokenizers.protocol import Tokenizer

__all__ = ["Result", "run_build"]


@dataclass(frozen=True)
class Result:
    """What came of a build."""

    manifest: dict[str, Any]
    """The content of ``NAME.json``."""
    existed: bool
    """Whether the dataset was there already, made of the same inputs with the same settings."""


def run_build(settings: BuildSettings, observer: Observer) -> Result:
    """Make the dataset, or go on making it; see BuildSettings for what can be told.

    Raises UsageError, DataError or RunError. Whatever was done before is kept, and a second run
    goes on from there.
    """
    try:
        return _run(settings, observer)
    except OSError as error:
        raise RunError(
            f"{error.filename2 or error.filename or settings.out}: {error.strerror or error}.",
            "What was done is kept: once this is mended, run the same command again to go on.",
        ) from error


def _run(settings: BuildSettings, observer: Observer) -> Result:
    method = start_method()  # before the tokenizer's engine starts threads of its own
    listing = list_inputs(settings.inputs)
    _note_passed_over(listing, observer)
    source = vocabulary(settings)
    segmenter, columns = _columns(settings)
    plan = make_plan(
        listing.inputs,
        tokenizer=source.identity,
        doc_per=settings.doc_per,
        text_key=settings.text_key,
        keep_rejects=settings.keep_rejects is not None,
        special_in_text=settings.special_in_text,
        add_bos=settings.add_bos,
        append_eod=settings.append_eod,
        convert=settings.convert,
        columns=columns,
    )
    check_targets(settings, listing)
    out = Path(settings.out)
    work = WorkFolder(out)
    with work.locked():
        if settings.overwrite:
            work.clear()
        elif manifest := finished(out, plan, work):
            _expect_rejects(settings)
            work.remove()
            return Result(manifest, existed=True)
        outcomes = work.adopt(plan)
        tokenizer = source.tokenizer(work, observer)
        ends = ends_of(tokenizer, settings)
        job = Job(plan, work, ErrorPolicy.of(settings), *ends, segmenter)
        # Compiles what is not compiled yet, before workers are forked.
        marker_of(job, tokenizer).encode(Batch.from_texts(["一"]))
        workers = settings.workers or _cores()
        outcomes = _tokenize(job, outcomes, tokenizer, workers, method, observer)
        manifest = publish(settings, listing, plan, work, outcomes, tokenizer)
        work.remove()
    return Result(manifest, existed=False)


def _columns(settings: BuildSettings) -> tuple[Segmenter | None, dict[str, str]]:
    """What cuts text into words, if that is wanted, and what decides the bits of each kind."""
    segmenter, columns = None, {}
    if settings.words:
        from .segment import SegmenterOptions, load_segmenter, words

        options = SegmenterOptions(user_dict=settings.user_dict, hmm=settings.hmm)
        segmenter = load_segmenter(settings.segmenter, options)
        columns["words"] = f"{words.IDENTITY}, {segmenter.identity}"
    if settings.sentences:
        from .segment import sentences

        columns["sentences"] = sentences.IDENTITY
    return segmenter, columns


def _expect_rejects(settings: BuildSettings) -> None:
    rejects = settings.keep_rejects
    if rejects is not None and not Path(rejects).exists():
        raise UsageError(
            f"{settings.out} is complete already, but its rejects are not in {rejects}.",
            "Make it again with --overwrite, or name the file that they are in.",
        )


def _note_passed_over(listing: Listing, observer: Observer) -> None:
    if listing.passed_over:
        kinds = ", ".join(f"{count:,} {what}" for what, count in listing.passed_over.items())
        observer.note(f"Files passed over: {kinds}. Known endings: {known_endings()}.")
    if listing.repeated:
        observer.note(f"Files named more than once, read once: {listing.repeated:,}.")


def _tokenize(
    job: Job,
    done_before: dict[int, Outcome],
    tokenizer: Tokenizer,
    workers: int,
    method: StartMethod,
    observer: Observer,
) -> dict[int, Outcome]:
    """Do the shards that are not done; the outcomes of all."""
    plan, outcomes = job.plan, dict(done_before)
    todo = [shard for shard in range(len(plan.shards)) if shard not in outcomes]
    books = Books()
    for outcome in outcomes.values():
        if outcome.tokenizer != tokenizer.fingerprint:
            raise changed_from_outside(job.work.tokenizer)
        books.add(outcome.books)
    job.policy.judge(books)
    observer.begin(plan.total_bytes, plan.total_bytes - sum(map(plan.shard_bytes, todo)))
    try:
        with closing(run_shards(job, tokenizer, todo, workers, method)) as events:
            for event in events:
                match event:
                    case Progress(documents, text_bytes):
                        observer.advance(documents, text_bytes)
                    case Done(shard, outcome):
                        job.work.record(shard, outcome)
                        outcomes[shard] = outcome
                        observer.complete(plan.shard_bytes(shard))
                        books.add(outcome.books)
                        job.policy.judge(books)
    finally:
        observer.end()
    return outcomes


def _cores() -> int:
    """Cores that this process may use, which under a scheduler are fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
