"""Samples for causal language models: windows over the packed token stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dataprep.errors import UsageError
from dataprep.samples.documents import DocumentOffsets
from dataprep.samples.opened import Opened
from dataprep.samples.order import order_of
from dataprep.samples.windows import Windows

__all__ = ["CausalSamples", "attention_of"]


class CausalSamples(Opened):
    """Windows of ``seq_len + 1`` tokens, ``seq_len`` apart, over streams of documents.

    Documents follow one another as stored, end-of-document tokens and all. Each window is read as
    ``seq_len`` inputs and, one token on, ``seq_len`` labels; neighbours share one token, so that
    each token of a stream but the first is predicted exactly once in an epoch. The tail of a stream
    that does not fill a window is left out. (GPT-2: Radford et al., "Language models are
    unsupervised multitask learners", 2019.)

    ``tokens`` is a flat array of ids, of any integer dtype, mapped or in memory; ``streams`` and
    ``joined`` are those of Windows. With a ``seed`` every epoch is shuffled in its own way, with
    ``None`` samples come in the order of the tokens; ``locality`` shuffles in blocks of as many
    neighbours. With ``documents``, samples also say which positions may see one another.
    """

    def __init__(
        self,
        tokens: npt.NDArray[np.integer[Any]],
        *,
        seq_len: int,
        seed: int | None = None,
        streams: Sequence[tuple[int, int]] | npt.NDArray[np.int64] | None = None,
        joined: bool = False,
        documents: DocumentOffsets | None = None,
        locality: int | None = None,
    ) -> None:
        if seq_len < 1:
            raise UsageError(f"seq_len is {seq_len}: it must be at least 1")
        self.seq_len = seq_len
        self._windows = Windows(
            tokens, width=seq_len + 1, stride=seq_len, streams=streams, joined=joined
        )
        self._documents = documents
        self._order = order_of(len(self), seed, locality)

    def __len__(self) -> int:
        """The number of samples in one epoch."""
        return len(self._windows)

    def __getitem__(self, position: int) -> dict[str, npt.NDArray[np.int64]]:
        """The sample at one position of a run: the arrays of ``batch`` without their first axis."""
        if self._documents is not None:
            return {name: array[0] for name, array in self.batch([position]).items()}
        window = self._windows.one(self._order.one(position)[1])
        return {"tokens": window[:-1].astype(np.int64), "labels": window[1:].astype(np.int64)}

    def batch(self, positions: npt.ArrayLike) -> dict[str, npt.NDArray[np.int64]]:
        """The samples at ``positions`` of a run: integers [n], from 0 upwards without end.

        Returns ``tokens`` and ``labels``, int64 [n, seq_len], and where documents were given those
        of ``attention_of``. Position ``len(self) + i`` lies in the second epoch. Raises
        ``IndexError`` for a negative position.
        """
        from dataprep.samples.windows_kernel import causal_windows

        starts = self._windows.starts(self._order(np.atleast_1d(np.asarray(positions, np.int64))))
        # One allocation: freed, the next batch gets it again without new pages from the system.
        both = np.empty((2, len(starts), self.seq_len), np.int64)
        if self._windows.joined:
            window_BS = self._windows.gather(starts)
            both[0], both[1] = window_BS[:, :-1], window_BS[:, 1:]
        else:
            causal_windows(self._windows.tokens, starts, both)
        arrays = {"tokens": both[0], "labels": both[1]}
        if self._documents is not None:
            places = self._windows.places(starts)[:, :-1]
            begins, _ = self._documents.mark(np.ascontiguousarray(places))
            arrays |= attention_of(begins)
        return arrays


def attention_of(starts_BS: npt.NDArray[np.bool_]) -> dict[str, npt.NDArray[np.int64]]:
    """Which positions may see one another, from where documents start, bool [n, seq_len].

    ``segments`` int64 [n, seq_len] numbers the documents of a sample from 0; attention stays within
    one number. ``positions`` int64 [n, seq_len] count from 0 in each.
    """
    places = np.arange(starts_BS.shape[1])
    begins = starts_BS.copy()
    begins[:, 0] = True
    segments = np.cumsum(begins, axis=1, dtype=np.int64) - 1
    latest = np.maximum.accumulate(np.where(begins, places, 0), axis=1)
    return {"segments": segments, "positions": places - latest}
