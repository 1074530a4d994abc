"""The loss on samples that the run does not train on."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dataprep.samples import Loader, Samples
from zoo.engine.arrays import Array

__all__ = ["Validation"]


class Validation:
    """The mean loss over the first samples of the validation part, in the order of the stream.

    The first ``limit`` samples, in whole batches: the same under every layout. A part smaller than
    one batch is repeated until it fills one. A call takes ``passes`` portions per batch, each of
    which gives every one of ``ranks`` data-parallel ranks its rows.
    """

    def __init__(
        self,
        samples: Samples,
        step: Callable[[Mapping[str, Array]], float],
        *,
        limit: int,
        batch_size: int,
        passes: int,
        rank: int,
        ranks: int,
    ) -> None:
        self._samples = samples
        self._step = step
        self._rows = batch_size // passes
        self._calls = max(1, min(limit, len(samples)) // batch_size) * passes
        self._rank, self._ranks = rank, ranks

    def __call__(self) -> float:
        """Mean loss in nats per token, the same on all ranks."""
        loader = Loader(self._samples, batch_size=self._rows, rank=self._rank, ranks=self._ranks)
        return sum(self._step(next(loader)) for _ in range(self._calls)) / self._calls
