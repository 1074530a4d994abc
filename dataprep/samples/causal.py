"""Samples for causal language models: windows over the packed token stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dataprep.errors import DataError, UsageError
from dataprep.samples.order import Order

__all__ = ["CausalSamples"]


class CausalSamples:
    """Windows of ``seq_len + 1`` tokens, ``seq_len`` apart, over streams of documents.

    Documents follow one another as stored, end-of-document tokens and all. Each window is read as
    ``seq_len`` inputs and, one token on, ``seq_len`` labels; neighbours share one token, so that
    each token of a stream but the first is predicted exactly once in an epoch. The tail of a stream
    that does not fill a window is left out.

    ``tokens`` is a flat array of ids, of any integer dtype, mapped or in memory; ``streams`` are
    the parts of it to use, as ``(first, last)`` token numbers, by default all of it. With a
    ``seed`` every epoch is shuffled in its own way, with ``None`` samples come in the order of the
    tokens.
    """

    def __init__(
        self,
        tokens: npt.NDArray[np.integer[Any]],
        *,
        seq_len: int,
        seed: int | None = None,
        streams: Sequence[tuple[int, int]] | None = None,
    ) -> None:
        if seq_len < 1:
            raise UsageError(f"seq_len is {seq_len}: it must be at least 1")
        bounds = np.array([(0, len(tokens))] if streams is None else streams, np.int64)
        lengths = bounds[:, 1] - bounds[:, 0]
        # Number of windows before each stream, and in all
        self._before = np.cumsum([0, *np.maximum(lengths - 1, 0) // seq_len])
        if self._before[-1] == 0:
            raise DataError(
                f"the dataset, or this part of it, has {lengths.sum()} tokens: one sample of "
                f"seq_len {seq_len} takes {seq_len + 1}",
                hint="use a shorter seq_len or more text",
            )
        self.seq_len = seq_len
        self._starts = bounds[:, 0]
        self._windows = np.lib.stride_tricks.sliding_window_view(tokens, seq_len + 1)
        self._order = Order(len(self), seed)

    def __len__(self) -> int:
        """The number of samples in one epoch."""
        return int(self._before[-1])

    def batch(self, positions: npt.ArrayLike) -> dict[str, npt.NDArray[np.int64]]:
        """The samples at ``positions`` of a run: integers [n], from 0 upwards without end.

        Returns ``tokens`` and ``labels``, int64 [n, seq_len]. Position ``len(self) + i`` lies in
        the second epoch. Raises ``IndexError`` for a negative position.
        """
        sample_B = self._order(positions)
        stream_B = np.searchsorted(self._before, sample_B, side="right") - 1
        start_B = self._starts[stream_B] + (sample_B - self._before[stream_B]) * self.seq_len
        window_BS = self._windows[start_B].astype(np.int64)
        return {
            "tokens": np.ascontiguousarray(window_BS[:, :-1]),
            "labels": np.ascontiguousarray(window_BS[:, 1:]),
        }
