"""Samples for Hugging Face's ``datasets``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from dataprep.errors import UsageError
from dataprep.samples.protocol import Samples

if TYPE_CHECKING:
    import datasets

__all__ = ["to_iterable_dataset"]

_AT_ONCE = 64


def to_iterable_dataset(
    samples: Samples, *, first: int = 0, n: int | None = None, shards: int = 1
) -> datasets.IterableDataset:
    """``n`` samples of a run from position ``first`` on, by default one epoch, a row each.

    They lie in ``shards`` parts of neighbours, which workers and nodes may share; read one after
    another they come in order. Its own ``state_dict`` resumes it.
    """
    import datasets

    n = len(samples) if n is None else n
    if not 1 <= shards <= n:
        raise UsageError(f"{n} samples in {shards} shards: 1 to {n} are possible")
    borders = [first + n * shard // shards for shard in range(shards + 1)]
    parts = list(pairwise(borders))
    return datasets.IterableDataset.from_generator(
        _rows, gen_kwargs={"samples": samples, "parts": parts}
    )


def _rows(samples: Samples, parts: Sequence[tuple[int, int]]) -> Iterator[dict[str, Any]]:
    for first, last in parts:
        for at in range(first, last, _AT_ONCE):
            batch = samples.batch(np.arange(at, min(at + _AT_ONCE, last)))
            for i in range(min(_AT_ONCE, last - at)):
                yield {name: array[i] for name, array in batch.items()}
