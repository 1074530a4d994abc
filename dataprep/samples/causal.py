"""Samples for causal language models: windows over the packed token stream."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dataprep.errors import DataError, UsageError
from dataprep.samples.order import Order

__all__ = ["CausalSamples"]


class CausalSamples:
    """Windows of ``seq_len + 1`` tokens, ``seq_len`` apart, over one stream of documents.

    Documents follow one another as stored, end-of-document tokens and all. Each window is read as
    ``seq_len`` inputs and, one token on, ``seq_len`` labels; neighbours share one token, so that
    each token but the first is predicted exactly once in an epoch. The tail that does not fill a
    window is left out.

    ``tokens`` is a flat array of ids, of any integer dtype, mapped or in memory. With a ``seed``
    every epoch is shuffled in its own way, with ``None`` samples come in the order of the stream.
    """

    def __init__(
        self, tokens: npt.NDArray[np.integer[Any]], *, seq_len: int, seed: int | None = None
    ) -> None:
        if seq_len < 1:
            raise UsageError(f"seq_len is {seq_len}: it must be at least 1")
        if len(tokens) <= seq_len:
            raise DataError(
                f"the dataset, or this part of it, has {len(tokens)} tokens: one sample of "
                f"seq_len {seq_len} takes {seq_len + 1}",
                hint="use a shorter seq_len or more text",
            )
        self.seq_len = seq_len
        self._windows = np.lib.stride_tricks.sliding_window_view(tokens, seq_len + 1)[::seq_len]
        self._order = Order(len(self._windows), seed)

    def __len__(self) -> int:
        """The number of samples in one epoch."""
        return len(self._windows)

    def batch(self, positions: npt.ArrayLike) -> dict[str, npt.NDArray[np.int64]]:
        """The samples at ``positions`` of a run: integers [n], from 0 upwards without end.

        Returns ``tokens`` and ``labels``, int64 [n, seq_len]. Position ``len(self) + i`` lies in
        the second epoch. Raises ``IndexError`` for a negative position.
        """
        window_BS = self._windows[self._order(positions)].astype(np.int64)
        return {
            "tokens": np.ascontiguousarray(window_BS[:, :-1]),
            "labels": np.ascontiguousarray(window_BS[:, 1:]),
        }
