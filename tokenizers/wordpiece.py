"""WordPiece by tables: BERT's tokenizers, tens of times as fast as the reference."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from dataprep.batch import Batch
from dataprep.tokenizers.documents import valid_bytes
from dataprep.tokenizers.engine import splice
from dataprep.tokenizers.protocol import Encoded, Spans
from dataprep.tokenizers.reference import ReferenceEngine
from dataprep.tokenizers.wordpiece_tables import tables

__all__ = ["WordPieceEngine"]


class WordPieceEngine:
    """See Engine.

    Documents with one of the few dozen combining marks that NFD may move past a neighbour go to the
    reference: all that is known of other characters holds wherever they stand.
    """

    def __init__(self, json: str) -> None:
        from dataprep.tokenizers.wordpiece_kernel import encode

        self._json = json
        self._tables = tables(json)
        self._kernel = encode
        # Compiles, or loads what has been compiled: once, before workers are forked.
        self._run(Batch.from_texts([""]), with_spans=False)

    def encode(self, batch: Batch) -> Encoded:
        """See Engine."""
        ids, offsets, _, moves = self._run(batch, with_spans=False)
        if len(moves):
            ids, offsets = splice(ids, offsets, *self._reference.encode(_some(batch, moves)), moves)
        return ids, offsets

    def encode_spans(self, batch: Batch) -> Spans:
        """See Engine."""
        ids, offsets, spans, moves = self._run(batch, with_spans=True)
        if len(moves):
            their_ids, theirs, their_spans = self._reference.encode_spans(_some(batch, moves))
            ids, after = splice(ids, offsets, their_ids, theirs, moves)
            spans, offsets = splice(spans, offsets, their_spans, theirs, moves)[0], after
        return ids, offsets, spans

    def decode(self, ids: list[int]) -> str:
        """See Engine."""
        return self._reference.decode(ids)

    @cached_property
    def _reference(self) -> ReferenceEngine:
        return ReferenceEngine(self._json)

    def _run(
        self, batch: Batch, *, with_spans: bool
    ) -> tuple[
        npt.NDArray[np.uint32],
        npt.NDArray[np.int64],
        npt.NDArray[np.int64],
        npt.NDArray[np.int64],
    ]:
        """Ids, offsets, spans, and the numbers of the documents that need the reference."""
        data = valid_bytes(batch)
        offsets = np.ascontiguousarray(batch.offsets, np.int64)
        # Virtual memory: what is not written costs nothing.
        ids = np.empty(len(data), np.uint32)
        spans = np.empty((len(data) if with_spans else 0, 2), np.int64)
        ends = np.empty(len(offsets), np.int64)
        moves = np.zeros(len(offsets) - 1, np.bool_)
        word = np.empty((int(self._tables.limits[1]) + 1, 3), np.int64)
        self._kernel(data, offsets, *self._tables, word, ids, ends, spans, moves)
        n = int(ends[-1])
        return ids[:n].copy(), ends, spans[:n].copy(), np.flatnonzero(moves)


def _some(batch: Batch, documents: npt.NDArray[np.int64]) -> Batch:
    texts = batch.texts()
    return Batch.from_texts([texts[i] for i in documents.tolist()])
