"""The order in which an endless run meets a finite number of samples."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dataprep.samples.permutation import Permutation

__all__ = ["Order"]


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
        at = np.asarray(positions, dtype=np.int64)
        if at.size and at.min() < 0:
            raise IndexError(f"position {at.min()} of a run: positions start at 0")
        epochs, within = np.divmod(at, self.n)
        if self.seed is None:
            return within
        samples = np.empty_like(within)
        for epoch in np.unique(epochs):
            here = epochs == epoch
            samples[here] = Permutation(self.n, self.seed, int(epoch))(within[here])
        return samples
