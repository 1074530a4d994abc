"""The tokenizer that a build trains on its own corpus."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from .apart import apart
from .batch import Batch
from .convert import converter
from .intake import read_piece, without_blank
from .plan import Plan
from .readers import DamagedError, Records
from .workfolder import WorkFolder

if TYPE_CHECKING:
    from .tokenizers.spec import TrainSpec

__all__ = ["first_documents", "readable", "train_apart", "train_on_plan"]

TRAINING_BYTES = 16 << 20
"""Text that a tokenizer is trained on: BPE training slows down with the number of distinct words,
and frequent words are what it learns from."""
_TRAINING_SHARDS = 32


def train_apart(spec: TrainSpec, work: WorkFolder) -> bytes:
    """The ``tokenizer.json`` trained on a sample of what the plan in the work folder reads."""
    return apart(train_on_plan, spec, work.plan.read_bytes())


def train_on_plan(spec: TrainSpec, plan: bytes) -> bytes:
    """The same, in this process, from the bytes of the plan."""
    from .tokenizers.train import train_tokenizer

    return train_tokenizer(spec, first_documents(Plan.from_json(plan)))


def first_documents(plan: Plan, size: int = TRAINING_BYTES) -> Iterator[Batch]:
    """The first documents of up to so many shards, evenly spread; about ``size`` bytes in all."""
    count = len(plan.shards)
    convert = converter(plan.convert)
    chosen = sorted({count * part // _TRAINING_SHARDS for part in range(_TRAINING_SHARDS)})
    for shard in chosen:
        left = size // len(chosen)
        for records in readable(plan, shard):
            batch = convert(without_blank(records.batch))
            yield _first_bytes(batch, left)
            left -= len(batch.data)
            if left <= 0:
                break


def readable(plan: Plan, shard: int) -> Iterator[Records]:
    """The records of a shard, those of a damaged file up to the damage."""
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
