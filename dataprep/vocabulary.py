"""The tokenizer of a build: given by the user, or trained on the corpus itself."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from .batch import Batch
from .durable import replace
from .errors import UsageError
from .plan import Plan
from .readers import DamagedError, Records
from .shard import read_piece, without_blank
from .workfolder import WorkFolder

if TYPE_CHECKING:
    from .progress import Observer
    from .tokenizers.protocol import Tokenizer
    from .tokenizers.spec import TrainSpec

__all__ = ["Vocabulary", "eod_of", "vocabulary"]

TRAINING_BYTES = 16 << 20
"""Text that a tokenizer is trained on: BPE training slows down with the number of distinct words,
and frequent words are what it learns from."""
_TRAINING_SHARDS = 32


class Vocabulary(Protocol):
    """Where the tokenizer comes from."""

    @property
    def identity(self) -> str:
        """All that decides ids."""

    def tokenizer(self, plan: Plan, work: WorkFolder, observer: Observer) -> Tokenizer:
        """The tokenizer, of which the work folder has a copy afterwards."""


def vocabulary(asked_for: str) -> Vocabulary:
    """What --tokenizer asks for. Raises UsageError or DataError when it cannot be had."""
    from .tokenizers.spec import parse_tokenizer_spec

    spec = parse_tokenizer_spec(asked_for)
    return _Given(spec) if isinstance(spec, Path) else _Trained(spec)


def eod_of(tokenizer: Tokenizer) -> int:
    """The id that ends a document; UsageError when the vocabulary has none."""
    if tokenizer.eod_id is None:
        raise UsageError(
            f"Tokenizer {tokenizer.name} has no end-of-document token.",
            "Add one to the file as a special token, for example <|endoftext|>.",
        )
    return tokenizer.eod_id


class _Given:
    def __init__(self, path: Path) -> None:
        from .tokenizers.load import load_tokenizer

        self._tokenizer = load_tokenizer(path)
        eod_of(self._tokenizer)

    @property
    def identity(self) -> str:
        return f"sha256 {self._tokenizer.fingerprint}"

    def tokenizer(self, plan: Plan, work: WorkFolder, observer: Observer) -> Tokenizer:  # noqa: ARG002
        self._tokenizer.save(work.tokenizer)
        return self._tokenizer


class _Trained:
    def __init__(self, spec: TrainSpec) -> None:
        self._spec = spec

    @property
    def identity(self) -> str:
        import tokenizers

        return f"{self._spec} by tokenizers {tokenizers.__version__}"

    def tokenizer(self, plan: Plan, work: WorkFolder, observer: Observer) -> Tokenizer:
        from .tokenizers.load import load_tokenizer
        from .tokenizers.train import train_tokenizer

        if not work.tokenizer.exists():
            observer.note(f"Training the tokenizer ({self._spec}) on the corpus.")
            replace(work.tokenizer, train_tokenizer(self._spec, _sample(plan)))
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


def _readable(plan: Plan, shard: int) -> Iterator[Records]:
    for piece in plan.shards[shard]:
        # When the file's turn comes, its damage is an error; until then, what there is will do.
        with suppress(DamagedError):
            yield from read_piece(plan, piece)


def _first_bytes(batch: Batch, size: int) -> Batch:
    """The documents in the first bytes of a batch, the last of them cut."""
    if size >= len(batch.data):
        return batch
    whole = bisect_right(batch.offsets.tolist(), size) - 1
    part = bytes(batch.data[batch.offsets[whole] : size]).decode("utf-8", "ignore")
    return Batch.from_texts([*batch.texts()[:whole], part])
