"""Several datasets as one run, in an order that is computed.

Position ``p`` of a run is the point ``(step * p + shift) mod m`` of a rotation of ``[0, m)``, with
``step / m`` close to the golden ratio, and each dataset has an interval of ``[0, m)`` as long as
its share: the points of such a rotation are spread evenly (Kronecker's sequence), so that every
dataset has its share of every stretch of the run, to within a few samples. How many points of an
interval came before ``p`` is a difference of sums of ``floor((step * q + c) / m)``, which take a
logarithm of steps, as the greatest common divisor does. So a position is turned into a dataset and
a sample of it without a table and without a state.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dataprep.errors import UsageError
from dataprep.samples.keys import keys_of
from dataprep.samples.protocol import Samples

__all__ = ["Blend"]

_MODULUS = 1 << 32
_GOLDEN = (math.sqrt(5) - 1) / 2


class Blend:
    """Samples of several views, mixed.

    One of three says how: ``weights``, in proportion to which samples are taken for ever;
    ``epochs``, how often each view is gone through in one epoch of the blend, which need not be
    whole numbers; ``temperature`` T, in proportion to ``len(view) ** (1 / T)``: 1 as they are,
    larger for more even shares. Without any it is one epoch of each.

    Weights count samples. All views must make the same arrays; of one ``seq_len`` weights are then
    shares of the tokens. Each view goes on in its own order, whatever the others are, epoch after
    epoch.
    """

    def __init__(
        self,
        views: Sequence[Samples],
        *,
        weights: Sequence[float] | None = None,
        epochs: Sequence[float] | None = None,
        temperature: float | None = None,
        seed: int = 0,
    ) -> None:
        if not views:
            raise UsageError("A blend needs at least one dataset.")
        if sum(given is not None for given in (weights, epochs, temperature)) > 1:
            raise UsageError("Give one of weights, epochs and temperature, not several of them.")
        self._views = list(views)
        sizes = [len(view) for view in views]
        if temperature is not None:
            if not 1 <= temperature < math.inf:
                raise UsageError(f"temperature is {temperature}: it must be at least 1")
            weights = [size ** (1 / temperature) for size in sizes]
        if weights is not None:
            shares = _checked("weights", weights, len(views))
            self._modulus = _MODULUS
            bounds = [round(_MODULUS * s) for s in np.cumsum(shares) / math.fsum(shares)]
            self._n = sum(sizes)
        else:
            turns = _checked("epochs", [1.0] * len(views) if epochs is None else epochs, len(views))
            bounds = np.cumsum([round(s * t) for s, t in zip(sizes, turns, strict=True)]).tolist()
            self._n = bounds[-1]
            if self._n > _MODULUS:  # beyond 32 bits products would not fit: shares to 1 in 2**32
                bounds = [round(_MODULUS * b / self._n) for b in bounds]
            self._modulus = bounds[-1]
        self._bounds = np.array([0, *bounds], np.int64)
        if (np.diff(self._bounds) <= 0).any():
            raise UsageError("A dataset of the blend has no share, or less than 1 in 2**32 of it.")
        self._step = _step(self._modulus)
        zero = np.zeros(1, np.int64)
        self._shift = int(keys_of(seed, zero, zero)[0]) % self._modulus

    def __len__(self) -> int:
        """Samples in one epoch: with weights, as many as the views have together."""
        return self._n

    def locate(
        self, positions: npt.ArrayLike
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The view of each position, and the position in that view's own run, both int64."""
        from dataprep.samples.blend_kernel import locate

        at = np.atleast_1d(np.asarray(positions, dtype=np.int64))
        if at.size and at.min() < 0:
            raise IndexError(f"position {at.min()} of a run: positions start at 0")
        views, own = np.empty_like(at), np.empty_like(at)
        locate(at, self._modulus, self._step, self._shift, self._bounds, views, own)
        return views, own

    def counts(self, n: int) -> npt.NDArray[np.int64]:
        """How many of the first ``n`` samples of a run each view gives, int64[views]."""
        from dataprep.samples.blend_kernel import counts

        found = np.empty(len(self._views), np.int64)
        counts(n, self._modulus, self._step, self._shift, self._bounds, found)
        return found

    def epochs(self, n: int) -> npt.NDArray[np.float64]:
        """How often each view has been gone through after ``n`` samples, float64[views]."""
        gone: npt.NDArray[np.float64] = self.counts(n) / np.array([len(v) for v in self._views])
        return gone

    def __getitem__(self, position: int) -> Mapping[str, npt.NDArray[Any]]:
        """The arrays of one sample."""
        views, own = self.locate([position])
        return self._views[int(views[0])][int(own[0])]

    def batch(self, positions: npt.ArrayLike) -> dict[str, npt.NDArray[Any]]:
        """The samples at ``positions`` of a run: integers [n], from 0 upwards without end.

        Returns the arrays of the views. Raises ``IndexError`` for a negative position.
        """
        views, own = self.locate(positions)
        arrays: dict[str, npt.NDArray[Any]] = {}
        for view in np.unique(views):
            here = views == view
            part = self._views[view].batch(own[here])
            if not arrays:
                arrays = {k: np.empty((len(views), *v.shape[1:]), v.dtype) for k, v in part.items()}
            if {k: v.shape[1:] for k, v in part.items()} != {
                k: v.shape[1:] for k, v in arrays.items()
            }:
                raise UsageError(
                    f"Dataset {view} of the blend makes arrays of other names or lengths than "
                    f"those before it: {', '.join(f'{k} {v.shape[1:]}' for k, v in part.items())}.",
                    "Open all with the same kind, seq_len and settings.",
                )
            for name, array in part.items():
                arrays[name][here] = array
        return arrays


def _checked(name: str, values: Sequence[float], n: int) -> list[float]:
    if len(values) != n or not all(math.isfinite(v) and v > 0 for v in values):
        raise UsageError(
            f"{name} are {list(values)}: one finite number above 0 is needed for each of {n} "
            "datasets"
        )
    return list(values)


def _step(modulus: int) -> int:
    """The step nearest to the golden ratio of ``modulus`` that meets every residue."""
    wanted = round(modulus * _GOLDEN)
    for away in range(modulus):
        for step in (wanted - away, wanted + away):
            if step > 0 and math.gcd(step, modulus) == 1:
                return step
    return 1
