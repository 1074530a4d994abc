"""Samples of an opened dataset, by the name of their kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from dataprep.disk import IndexedDataset
from dataprep.errors import UsageError
from dataprep.samples.causal import CausalSamples
from dataprep.samples.split import split_documents

__all__ = ["DocumentOffsets", "open_samples"]

KINDS = {"causal": CausalSamples}
PARTS = ("train", "validation", "test")


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
        sequence = int(self._dataset.document_indices[document])
        if sequence == self._dataset.n_sequences:
            return self._dataset.n_tokens
        return int(self._dataset.pointers[sequence]) // self._dataset.dtype.itemsize


def open_samples(
    dataset: IndexedDataset,
    kind: str,
    *,
    seq_len: int,
    seed: int | None = None,
    split: str | None = None,
    weights: Sequence[float] = (99.0, 1.0),
) -> CausalSamples:
    """The samples of a dataset, or of one part of its documents.

    ``split`` names a part, "train", "validation" or "test", of those that ``weights`` cut the
    documents into; None takes all documents. See :class:`CausalSamples` for ``seq_len`` and
    ``seed``. Raises UsageError for an unknown kind or part, DataError where the tokens are too few.
    """
    if kind not in KINDS:
        raise UsageError(f"There are no samples of the kind {kind!r}; known: {', '.join(KINDS)}.")
    streams = None
    if split is not None:
        known = PARTS[: len(weights)]
        if split not in known:
            raise UsageError(f"There is no part {split!r} of a split; known: {', '.join(known)}.")
        offsets = DocumentOffsets(dataset)
        parts = split_documents(offsets, weights, at_least=seq_len + 1)
        streams = [(offsets[r.start], offsets[r.stop]) for r in parts[known.index(split)]]
    return KINDS[kind](dataset.tokens, seq_len=seq_len, seed=seed, streams=streams)
