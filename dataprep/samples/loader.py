"""Which rows of which step belong to one data-parallel rank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt

from dataprep.errors import UsageError

__all__ = ["Loader", "Samples"]


class Samples(Protocol):
    """What a loader needs of a view: a batch of arrays, one row a position of the run."""

    def batch(self, positions: npt.ArrayLike) -> Mapping[str, npt.NDArray[np.int64]]:
        """Arrays whose first axis follows ``positions``."""


class Loader:
    """An endless iterator over one rank's rows of each global batch.

    ``batch_size`` counts rows over all ``ranks``; rank ``r`` takes the ``r``-th of ``ranks`` equal
    blocks of the batch, so that the blocks in rank order are the batch, whatever their number.
    ``consumed``, the number of samples that the run has used so far over all ranks, is the whole
    state: set it to go on exactly there, under any number of ranks and with any batch size.
    """

    def __init__(
        self, samples: Samples, *, batch_size: int, rank: int = 0, ranks: int = 1, consumed: int = 0
    ) -> None:
        if ranks < 1 or batch_size < 1 or batch_size % ranks:
            raise UsageError(
                f"a batch of {batch_size} samples cannot be shared equally by {ranks} "
                "data-parallel ranks",
                hint="the batch size must be a multiple of dp",
            )
        if not 0 <= rank < ranks:
            raise UsageError(f"data-parallel rank {rank} of {ranks}: ranks count from 0")
        if consumed < 0:
            raise UsageError(f"{consumed} samples consumed: the count starts at 0")
        self.batch_size = batch_size
        self.consumed = consumed
        self._samples = samples
        self._block = np.arange(batch_size // ranks) + rank * (batch_size // ranks)

    def __iter__(self) -> Loader:
        return self

    def __next__(self) -> Mapping[str, npt.NDArray[np.int64]]:
        """This rank's rows of the next global batch."""
        batch = self._samples.batch(self.consumed + self._block)
        self.consumed += self.batch_size
        return batch
