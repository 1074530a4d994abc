"""``dataprep build``: from a corpus to a dataset."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from .batch import Batch
from .books import Books
from .durable import replace
from .errors import DataError, RunError, UsageError
from .inputs import Listing, list_inputs
from .plan import Plan, make_plan
from .pool import Done, Progress, StartMethod, run_shards, start_method
from .publish import finished, publish
from .readers import DamagedError, Records, known_endings
from .settings import BuildSettings
from .shard import TOO_MANY_HINT, Job, read_piece, too_many, without_blank
from .workfolder import WorkFolder

if TYPE_CHECKING:
    from .tokenizers.protocol import Tokenizer
    from .tokenizers.spec import TrainSpec

__all__ = ["Observer", "Result", "run_build"]

TRAINING_BYTES = 16 << 20
"""Text that a tokenizer is trained on: BPE training slows down with the number of distinct words,
and frequent words are what it learns from."""
_TRAINING_SHARDS = 32


class Observer(Protocol):
    """Who watches a build: a progress bar, a log, nobody."""

    def note(self, text: str) -> None:
        """Something worth a line."""

    def begin(self, total_bytes: int, done_bytes: int) -> None:
        """Tokenizing starts; so much of the input was done by earlier runs."""

    def advance(self, documents: int, text_bytes: int) -> None:
        """Documents were written, bytes of text were read."""

    def complete(self, input_bytes: int) -> None:
        """A part of the input, so many bytes on disk, is done."""

    def end(self) -> None:
        """Tokenizing has ended, in one way or another."""


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
            f"{error.filename or settings.out}: {error.strerror or error}.",
            "What was done is kept: run the same command again to go on.",
        ) from error


def _run(settings: BuildSettings, observer: Observer) -> Result:
    method = start_method()  # before the tokenizer's engine starts threads of its own
    listing = list_inputs(settings.inputs)
    _note_passed_over(listing, observer)
    out = Path(settings.out)
    work = WorkFolder(out)
    given, spec = _tokenizer_asked_for(settings)
    plan = make_plan(
        listing.inputs,
        tokenizer=_identity(given, spec),
        doc_per=settings.doc_per,
        text_key=settings.text_key,
        keep_rejects=settings.keep_rejects is not None,
    )
    if settings.keep_rejects is not None:
        Path(settings.keep_rejects).parent.mkdir(parents=True, exist_ok=True)
    with work.locked():
        if settings.overwrite:
            work.clear()
        elif manifest := finished(out, plan, work):
            work.remove()
            return Result(manifest, existed=True)
        journal = work.adopt(plan)
        tokenizer = given or _trained(spec, plan, work, observer)
        if given:
            given.save(work.tokenizer)
        journal = _tokenize(settings, plan, work, journal, tokenizer, method, observer)
        manifest = publish(settings, listing, plan, work, journal, tokenizer)
        work.remove()
    return Result(manifest, existed=False)


def _note_passed_over(listing: Listing, observer: Observer) -> None:
    if listing.passed_over:
        kinds = ", ".join(f"{count:,} {what}" for what, count in listing.passed_over.items())
        observer.note(f"Files passed over: {kinds}. Known endings: {known_endings()}.")
    if listing.repeated:
        observer.note(f"Files named more than once, read once: {listing.repeated:,}.")


def _tokenizer_asked_for(settings: BuildSettings) -> tuple[Tokenizer | None, TrainSpec | None]:
    from .tokenizers.load import load_tokenizer
    from .tokenizers.spec import parse_tokenizer_spec

    spec = parse_tokenizer_spec(settings.tokenizer)
    if not isinstance(spec, Path):
        return None, spec
    tokenizer = load_tokenizer(spec)
    if tokenizer.eod_id is None:
        raise UsageError(
            f"Tokenizer {settings.tokenizer} has no end-of-document token.",
            "Add one to the file as a special token, for example <|endoftext|>.",
        )
    return tokenizer, None


def _identity(given: Tokenizer | None, spec: TrainSpec | None) -> str:
    """All that decides ids."""
    if given:
        return f"sha256 {given.fingerprint}"
    import tokenizers

    return f"{spec} by tokenizers {tokenizers.__version__}"


def _trained(spec: TrainSpec | None, plan: Plan, work: WorkFolder, observer: Observer) -> Tokenizer:
    from .tokenizers.load import load_tokenizer
    from .tokenizers.train import train_tokenizer

    assert spec is not None, "a tokenizer is either given or trained"  # noqa: S101
    if not work.tokenizer.exists():
        size = min(plan.total_bytes, TRAINING_BYTES) / 1e6
        observer.note(f"Training the tokenizer ({spec}) on {size:,.1f} MB of the corpus.")
        replace(work.tokenizer, train_tokenizer(spec, _sample(plan)))
    return load_tokenizer(work.tokenizer)


def _sample(plan: Plan) -> Iterator[Batch]:
    """The first documents of up to so many shards, evenly spread over the corpus."""
    count = len(plan.shards)
    chosen = sorted({count * part // _TRAINING_SHARDS for part in range(_TRAINING_SHARDS)})
    for shard in chosen:
        left = TRAINING_BYTES // len(chosen)
        for records in _readable(plan, shard):
            batch = without_blank(records.batch)
            yield _first_bytes(batch, left)
            left -= len(batch.data)
            if left <= 0:
                break


def _first_bytes(batch: Batch, size: int) -> Batch:
    """The documents in the first bytes of a batch, the last of them cut."""
    if size >= len(batch.data):
        return batch
    whole = bisect_right(batch.offsets.tolist(), size) - 1
    part = bytes(batch.data[batch.offsets[whole] : size]).decode("utf-8", "ignore")
    return Batch.from_texts([*batch.texts()[:whole], part])


def _readable(plan: Plan, shard: int) -> Iterator[Records]:
    for piece in plan.shards[shard]:
        # When the file's turn comes, its damage is an error; until then, what there is will do.
        with suppress(DamagedError):
            yield from read_piece(plan, piece)


def _tokenize(
    settings: BuildSettings,
    plan: Plan,
    work: WorkFolder,
    journal: dict[int, dict[str, Any]],
    tokenizer: Tokenizer,
    method: StartMethod,
    observer: Observer,
) -> dict[int, dict[str, Any]]:
    """Do the shards that are not done; the whole journal."""
    limit = {"limit": settings.max_errors, "fail": 0, "skip": None}[settings.on_error]
    job = Job(plan, work, settings.on_error == "skip", limit)
    todo = [shard for shard in range(len(plan.shards)) if shard not in journal]
    books = Books()
    for entry in journal.values():
        books.add(Books.from_json(entry["books"]))
    _judge(books, job)
    observer.begin(plan.total_bytes, plan.total_bytes - sum(map(plan.shard_bytes, todo)))
    workers = settings.workers or _cores()
    try:
        with closing(run_shards(job, tokenizer, todo, workers, method)) as events:
            for event in events:
                match event:
                    case Progress(documents, text_bytes):
                        observer.advance(documents, text_bytes)
                    case Done(shard, entry):
                        work.record(shard, entry)
                        observer.complete(plan.shard_bytes(shard))
                        journal[shard] = entry
                        books.add(Books.from_json(entry["books"]))
                        _judge(books, job)
    finally:
        observer.end()
    return journal


def _cores() -> int:
    """Cores that this process may use, which under a scheduler are fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _judge(books: Books, job: Job) -> None:
    """Stop when the books of the whole run hold more that is bad than was allowed."""
    if job.max_failures is not None and books.failed > job.max_failures:
        raise DataError(too_many(books, job.max_failures), TOO_MANY_HINT)
    if books.damaged_files and not job.skip_damaged:
        raise DataError(
            f"{books.damaged_files:,} damaged file(s) were left out by an earlier run.",
            "Go on with --on-error skip, or start over with --overwrite.",
        )
