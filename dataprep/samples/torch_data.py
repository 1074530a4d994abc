"""Samples for PyTorch's DataLoader: map-style, or as a stream of whole batches.

What arrives does not depend on the number of its workers. Order and sharding are those of the
samples: give the DataLoader neither ``shuffle`` nor a sampler.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from torch.utils.data import Dataset, IterableDataset, get_worker_info

from dataprep.samples.loader import Loader
from dataprep.samples.protocol import Samples

__all__ = ["SampleDataset", "SampleStream"]


class SampleDataset(Dataset):  # type: ignore[misc]
    """Map-style: ``n`` samples of a run from position ``first`` on, by default one epoch."""

    def __init__(self, samples: Samples, *, first: int = 0, n: int | None = None) -> None:
        self._samples = samples
        self._first = first
        self._n = len(samples) if n is None else n

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, index: int) -> Mapping[str, npt.NDArray[Any]]:
        """One sample; the DataLoader makes tensors of the arrays."""
        if not 0 <= index < self._n:
            raise IndexError(f"sample {index} of {self._n}")
        return self._samples[self._first + index]

    def __getitems__(self, indices: Sequence[int]) -> list[dict[str, npt.NDArray[Any]]]:
        """Several samples, made at once: what the DataLoader asks for when there is this method."""
        at = np.asarray(indices, np.int64)
        if at.size and not (at.min() >= 0 and at.max() < self._n):
            raise IndexError(f"samples {at.min()} to {at.max()} of {self._n}")
        batch = self._samples.batch(self._first + at)
        return [{name: array[i] for name, array in batch.items()} for i in range(len(at))]


class SampleStream(IterableDataset):  # type: ignore[misc]
    """One rank's batches, without end, for ``DataLoader(stream, batch_size=None)``.

    Arguments are those of Loader. Worker ``w`` of ``W`` makes every ``W``-th batch, and the
    DataLoader takes them by turns. Each batch has one entry more, ``consumed``: to go on after it,
    under any number of ranks and workers, start a stream with this number.
    """

    def __init__(
        self,
        samples: Samples,
        *,
        batch_size: int,
        rank: int = 0,
        ranks: int = 1,
        consumed: int = 0,
    ) -> None:
        self._samples = samples
        self._given = {"batch_size": batch_size, "rank": rank, "ranks": ranks}
        self._consumed = consumed
        self._loader(consumed)  # refuses what cannot be, before workers start

    def _loader(self, consumed: int) -> Loader:
        return Loader(self._samples, consumed=consumed, **self._given)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        worker = get_worker_info()
        turn, workers = (0, 1) if worker is None else (worker.id, worker.num_workers)
        batch_size = self._given["batch_size"]
        loader = self._loader(self._consumed + turn * batch_size)
        while True:
            batch = next(loader)
            yield {**batch, "consumed": loader.consumed}
            loader.consumed += (workers - 1) * batch_size
