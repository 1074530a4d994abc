"""Samples that an objective makes of windows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dataprep.samples.documents import DocumentOffsets
from dataprep.samples.keys import GOLDEN, keys_of, mix
from dataprep.samples.opened import Opened
from dataprep.samples.order import Order
from dataprep.samples.rows import Bits, Objective, Rows
from dataprep.samples.windows import Windows

__all__ = ["WindowSamples"]


class WindowSamples(Opened):
    """An endless run over windows, each made into a sample by ``objective``.

    With a ``seed`` every epoch is shuffled in its own way, with ``None`` samples come in the order
    of the tokens; what is drawn inside of a sample depends on seed (``None`` draws as 0), epoch and
    sample alone. ``words`` and ``sentences`` are bits by token number, ``documents`` the starts of
    documents; those that the objective reads must be given. ``order`` replaces the plain shuffle.
    """

    def __init__(
        self,
        windows: Windows,
        objective: Objective,
        *,
        seed: int | None = None,
        words: Bits | None = None,
        sentences: Bits | None = None,
        documents: DocumentOffsets | None = None,
        order: Order | None = None,
    ) -> None:
        self._windows = windows
        self._objective = objective
        self._seed = seed
        self._words = words if objective.words else None
        self._sentences = sentences if objective.sentences else None
        self._documents = documents if objective.documents else None
        self._order = order or Order(len(windows), seed)

    def __len__(self) -> int:
        """The number of samples in one epoch."""
        return len(self._windows)

    def __getitem__(self, position: int) -> dict[str, npt.NDArray[Any]]:
        """The sample at one position of a run: the arrays of ``batch`` without their first axis."""
        return {name: array[0] for name, array in self.batch([position]).items()}

    def batch(self, positions: npt.ArrayLike) -> dict[str, npt.NDArray[Any]]:
        """The samples at ``positions`` of a run: integers [n], from 0 upwards without end.

        Returns what the objective makes, one row each. Position ``len(self) + i`` lies in the
        second epoch. Raises ``IndexError`` for a negative position.
        """
        epochs, samples = self._order.locate(positions)
        keys = keys_of(self._seed or 0, epochs, samples)
        partners = None
        if self._objective.partners:
            others = mix(keys + GOLDEN)
            partners = self._rows((others % np.uint64(len(self))).astype(np.int64), others)
        return self._objective.make(self._rows(samples, keys, partners))

    def _rows(
        self,
        samples: npt.NDArray[np.int64],
        keys: npt.NDArray[np.uint64],
        partners: Rows | None = None,
    ) -> Rows:
        starts = self._windows.starts(samples)
        word_starts = sentence_starts = document_starts = documents = None
        if self._words or self._sentences or self._documents:
            places = self._windows.places(starts, extra=1)
            # What does not follow the token before it starts anew, and so does the end of all.
            cuts = np.diff(places, axis=1, prepend=places[:, :1] - 1) != 1
            if self._words:
                word_starts = self._words.at(places) | cuts
            if self._sentences:
                sentence_starts = self._sentences.at(places) | cuts
            if self._documents:
                inside = np.ascontiguousarray(places[:, :-1])
                document_starts, documents = self._documents.mark(inside)
        return Rows(
            tokens=self._windows.gather(starts),
            keys=keys,
            word_starts=word_starts,
            sentence_starts=sentence_starts,
            document_starts=document_starts,
            documents=documents,
            partners=partners,
        )
