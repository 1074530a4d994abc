"""The order in which an endless run meets a finite number of samples."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dataprep.errors import UsageError
from dataprep.samples.permutation import Permutation

__all__ = ["BlockOrder", "Order", "order_of"]

Located = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]


class Order:
    """Maps positions in a run (0, 1, 2, … without end) to sample numbers in ``[0, n)``.

    Each epoch of ``n`` positions meets every sample once. With a ``seed`` each epoch is shuffled in
    its own way; with ``None`` each runs from 0 to ``n - 1``. Nothing depends on the length of the
    run: a longer one begins with the shorter one.
    """

    def __init__(self, n: int, seed: int | None) -> None:
        if n < 1:
            raise ValueError(f"an order of {n} samples: at least 1 is needed")
        self.n = n
        self.seed = seed

    def __call__(self, positions: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Sample numbers, int64, of ``positions``, integers of any shape from 0 upwards."""
        return self.locate(positions)[1]

    def locate(self, positions: npt.ArrayLike) -> Located:
        """Epochs and sample numbers, both int64 in the shape of ``positions``."""
        at = np.asarray(positions, dtype=np.int64)
        if at.size and at.min() < 0:
            raise IndexError(f"position {at.min()} of a run: positions start at 0")
        epochs, within = np.divmod(at, self.n)
        if self.seed is None or not at.size:
            return epochs, within
        first = int(epochs.flat[0])
        if (epochs == first).all():  # most batches
            return epochs, self._shuffled(self.seed, first, within)
        samples = np.empty_like(within)
        for epoch in np.unique(epochs):
            here = epochs == epoch
            samples[here] = self._shuffled(self.seed, int(epoch), within[here])
        return epochs, samples

    def one(self, position: int) -> tuple[int, int]:
        """Epoch and sample number of one position: the same, without the cost of arrays."""
        if position < 0:
            raise IndexError(f"position {position} of a run: positions start at 0")
        epoch, within = divmod(position, self.n)
        if self.seed is None:
            return epoch, within
        return epoch, _permutation(self.n, self.seed, epoch).one(within)

    def _shuffled(
        self, seed: int, epoch: int, within: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        return _permutation(self.n, seed, epoch)(within)


class BlockOrder(Order):
    """Blocks of neighbouring samples are shuffled, and the samples within each block.

    For data that is far away or expensive to open, where neighbours are read at once: a run works
    through one block after another. ``counts`` are the numbers of samples in each block, int64; a
    table of as many numbers is made for each epoch that is asked for.
    """

    def __init__(self, counts: npt.NDArray[np.int64], seed: int | None) -> None:
        super().__init__(int(counts.sum()), seed)
        self._counts = counts
        self._firsts = np.cumsum(counts) - counts
        self._epochs: dict[int, tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]] = {}

    @classmethod
    def of_equal_blocks(cls, n: int, block: int, seed: int | None) -> BlockOrder:
        """``n`` samples in blocks of ``block`` neighbours, the last one shorter."""
        if block < 1:
            raise UsageError(f"blocks of {block} samples: at least 1 is needed")
        counts = np.full(-(-n // block), block, np.int64)
        counts[-1] = n - block * (len(counts) - 1)
        return cls(counts, seed)

    def one(self, position: int) -> tuple[int, int]:
        """See Order."""
        epoch, sample = self.locate([position])
        return int(epoch[0]), int(sample[0])

    def _shuffled(
        self, seed: int, epoch: int, within: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        blocks, before = self._of_epoch(seed, epoch)
        turn = np.searchsorted(before, within, side="right") - 1
        samples = np.empty_like(within)
        for t in np.unique(turn):
            here = turn == t
            block = int(blocks[t])
            # A key of three numbers: never one of those that whole epochs are shuffled by.
            order = _permutation(int(self._counts[block]), seed, epoch, block)
            samples[here] = self._firsts[block] + order(within[here] - before[t])
        return samples

    def _of_epoch(
        self, seed: int, epoch: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The blocks in the order of their turns, and the number of samples before each turn."""
        found = self._epochs.get(epoch)
        if found is None:
            n = len(self._counts)
            blocks = Permutation(n, seed, epoch, -1)(np.arange(n))
            counts = self._counts[blocks]
            found = blocks, np.cumsum(counts) - counts
            # A batch touches two epochs at most; a run never goes back.
            self._epochs = {**dict(list(self._epochs.items())[-1:]), epoch: found}
        return found


def order_of(n: int, seed: int | None, locality: int | None) -> Order:
    """Plain, or shuffled in blocks of ``locality`` neighbouring samples."""
    if locality is None or seed is None:
        return Order(n, seed)
    return BlockOrder.of_equal_blocks(n, locality, seed)


@lru_cache(maxsize=64)
def _permutation(n: int, *key: int) -> Permutation:
    return Permutation(n, *key)
