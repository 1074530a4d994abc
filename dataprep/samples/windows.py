"""Windows over streams of tokens: from a sample's number to its tokens, by arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dataprep.errors import DataError, UsageError

__all__ = ["Windows"]


class Windows:
    """``width`` tokens each, ``stride`` apart, over parts of a flat array of ids.

    ``streams`` are the parts to use, as ``(first, last)`` token numbers, by default all of it. A
    window lies within one stream; the tail of a stream that does not fill one is left out. With
    ``joined`` the streams follow one another as one, and windows may begin in one and end in the
    next: for parts made of many short documents.
    """

    def __init__(
        self,
        tokens: npt.NDArray[np.integer[Any]],
        *,
        width: int,
        stride: int,
        streams: Sequence[tuple[int, int]] | npt.NDArray[np.int64] | None = None,
        joined: bool = False,
    ) -> None:
        if width < 1 or stride < 1:
            raise UsageError(f"windows of {width} tokens, {stride} apart: both must be at least 1")
        bounds = np.array([(0, len(tokens))] if streams is None else streams, np.int64)
        bounds = bounds.reshape(-1, 2)
        lengths = bounds[:, 1] - bounds[:, 0]
        self.width, self.stride, self.joined = width, stride, joined
        self.tokens = np.asarray(tokens)  # slices of a memmap are slow to make
        self._starts = bounds[:, 0]
        if joined:
            self._before = np.concatenate(([0], np.cumsum(lengths)))
            self._n = int(max(self._before[-1] - width + stride, 0) // stride)
        else:
            per_stream = np.maximum(lengths - width + stride, 0) // stride
            self._before = np.concatenate(([0], np.cumsum(per_stream)))
            self._n = int(self._before[-1])
        if self._n == 0:
            raise DataError(
                f"the dataset, or this part of it, has {lengths.sum()} tokens: one sample takes "
                f"{width} in a row",
                hint="use a shorter seq_len or more text",
            )
        if not joined:
            self._views = np.lib.stride_tricks.sliding_window_view(self.tokens, width)

    def __len__(self) -> int:
        return self._n

    def starts(self, samples: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Number of the first token of each window, int64 as ``samples``.

        Where streams are joined: its number in the joined stream.
        """
        if self.joined:
            return samples * self.stride
        stream = np.searchsorted(self._before, samples, side="right") - 1
        found: npt.NDArray[np.int64] = (
            self._starts[stream] + (samples - self._before[stream]) * self.stride
        )
        return found

    def one(self, sample: int) -> npt.NDArray[np.integer[Any]]:
        """The tokens of one window, in the dtype of ``tokens``, a view where that can be."""
        if self.joined:
            first: npt.NDArray[np.integer[Any]] = self.gather(np.array([sample * self.stride]))[0]
            return first
        if len(self._starts) == 1:
            start = int(self._starts[0]) + sample * self.stride
        else:
            stream = int(np.searchsorted(self._before, sample, side="right")) - 1
            start = int(self._starts[stream] + (sample - self._before[stream]) * self.stride)
        window: npt.NDArray[np.integer[Any]] = self.tokens[start : start + self.width]
        return window

    def gather(self, starts: npt.NDArray[np.int64]) -> npt.NDArray[np.integer[Any]]:
        """The tokens of windows, [n, width] in the dtype of ``tokens``, copied."""
        if not self.joined:
            return self._views[starts]
        return self.tokens[self.places(starts)]

    def places(self, starts: npt.NDArray[np.int64], extra: int = 0) -> npt.NDArray[np.int64]:
        """Token numbers of windows, int64 [n, width + extra]; past the last token they stay there.

        ``starts`` are what ``starts()`` gave.
        """
        if not self.joined:
            return np.minimum(starts[:, None] + np.arange(self.width + extra), len(self.tokens) - 1)
        from dataprep.samples.windows_kernel import joined_places

        places = np.empty((len(starts), self.width + extra), np.int64)
        joined_places(starts, self._before, self._starts, places)
        return places
