"""Where documents start: token numbers computed as they are read, and those inside of windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np
import numpy.typing as npt

from dataprep.disk import IndexedDataset
from dataprep.errors import DataError

__all__ = ["DocumentOffsets"]


class DocumentOffsets(Sequence[int]):
    """Token numbers where the documents of a dataset start, and at last the number of all tokens.

    Computed as they are read: a dataset of 10**9 documents costs nothing to open.
    """

    def __init__(self, dataset: IndexedDataset) -> None:
        self._dataset = dataset

    def __len__(self) -> int:
        return self._dataset.n_documents + 1

    @overload
    def __getitem__(self, document: int) -> int: ...
    @overload
    def __getitem__(self, document: slice) -> list[int]: ...
    def __getitem__(self, document: int | slice) -> int | list[int]:
        if isinstance(document, slice):
            return [self[d] for d in range(*document.indices(len(self)))]
        if not -len(self) <= document < len(self):
            raise IndexError(f"document {document} of {self._dataset.n_documents}")
        return int(self.range(document % len(self), document % len(self) + 1)[0])

    def range(self, first: int, last: int) -> npt.NDArray[np.int64]:
        """Where documents ``first`` to ``last - 1`` start, int64."""
        sequences = np.asarray(self._dataset.document_indices[first:last])
        n_sequences, n_tokens = self._dataset.n_sequences, self._dataset.n_tokens
        if len(sequences) and not 0 <= sequences.min() <= sequences.max() <= n_sequences:
            raise self._damaged(first)
        offsets = np.full(len(sequences), n_tokens, np.int64)
        inside = sequences < n_sequences
        offsets[inside] = self._dataset.pointers[sequences[inside]] // self._dataset.dtype.itemsize
        # Compiled loops go by these.
        rising = (np.diff(offsets, prepend=0, append=n_tokens) >= 0).all()
        if not rising:
            raise self._damaged(first)
        return offsets

    def _damaged(self, document: int) -> DataError:
        return DataError(
            f"{self._dataset.prefix}.idx is damaged near document {document:,}: its documents do "
            "not follow one another.",
            "Copy it again, or build again.",
        )

    def mark(
        self, places: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
        """Which tokens begin a document, bool as ``places``, and the document of each row's first.

        ``places`` int64[n, width] are token numbers, each row a window.
        """
        from dataprep.samples.documents_kernel import mark

        starts = np.zeros(places.shape, bool)
        documents = np.empty(len(places), np.int64)
        mark(
            places,
            np.asarray(self._dataset.document_indices),
            np.asarray(self._dataset.pointers),
            self._dataset.dtype.itemsize,
            self._dataset.n_tokens,
            starts,
            documents,
        )
        return starts, documents
