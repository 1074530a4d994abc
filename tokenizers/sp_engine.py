"""The engines of SentencePiece models: sentencepiece, and compiled loops that do the same."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dataprep.batch import Batch
from dataprep.tokenizers.documents import valid_bytes
from dataprep.tokenizers.engine import bounds
from dataprep.tokenizers.protocol import Encoded, Spans
from dataprep.tokenizers.sp_model import parse_model

__all__ = ["CompiledSentencePieceEngine", "SentencePieceEngine"]

_KEPT = 64 << 20
"""Bytes of a buffer above which it is not kept for the next batch."""


class SentencePieceEngine:
    """See Engine. Built from the bytes of a ``.model``; ids are the model's own."""

    def __init__(self, model: bytes) -> None:
        import sentencepiece

        self._processor = sentencepiece.SentencePieceProcessor(model_proto=model)

    def encode(self, batch: Batch) -> Encoded:
        """See Engine."""
        parts = self._processor.encode(batch.texts(), return_type="numpy", num_threads=1)
        if not parts:
            return np.empty(0, np.uint32), np.zeros(1, np.int64)
        return np.concatenate(parts).view(np.uint32), bounds(list(map(len, parts)))

    def encode_spans(self, batch: Batch) -> Spans:
        """See Engine.

        Of the byte pieces that stand for one character, the last has its bytes and the others have
        none; so has a prefix that the model adds.
        """
        ids, offsets = self.encode(batch)
        texts = [text.encode() for text in batch.texts()]
        mapped = self._processor.encode(texts, return_type="offset_mapping", num_threads=1)
        pairs = [np.array(one["offsets"], np.int64).reshape(-1, 2) for one in mapped]
        spans = np.concatenate([np.empty((0, 2), np.int64), *pairs])
        return ids, offsets, spans

    def decode(self, ids: list[int]) -> str:
        """Text of pieces that are no control pieces."""
        text: str = self._processor.decode(ids)
        return text


class CompiledSentencePieceEngine:
    """See Engine. For the models that ``unfit`` has nothing against; spans are as above."""

    def __init__(self, model: bytes) -> None:
        from dataprep.tokenizers import sp_kernel, sp_tables

        self._model = model
        facts = parse_model(model, "the model")
        self._rules, self._pieces = sp_tables.rules(facts), sp_tables.pieces(facts)
        self._normalize, self._spell = sp_kernel.normalize, sp_kernel.spell
        letters = self._pieces.letters
        self._kernel: Callable[..., None]
        self._tables: tuple[Any, ...]
        if facts.kind == "bpe":
            self._kernel = sp_kernel.encode_bpe
            self._tables = (sp_tables.pairs(facts, letters), sp_tables.cache())
        else:
            self._kernel = sp_kernel.encode_unigram
            self._tables = sp_tables.trie_of_unigram(facts, letters)
        # The loops let other threads run, and write to the cache and to these.
        self._lock = threading.Lock()
        self._buffers: dict[str, npt.NDArray[Any]] = {}
        # Compiles, or loads what has been compiled: once, before workers are forked.
        self.encode(Batch.from_texts(["a"]))

    def encode(self, batch: Batch) -> Encoded:
        """See Engine."""
        with self._lock:
            ids, offsets, _ = self._run(self._normalized(batch, traced=False), with_spans=False)
        return ids, offsets

    def encode_spans(self, batch: Batch) -> Spans:
        """See Engine."""
        with self._lock:
            text = self._normalized(batch, traced=True)
            ids, offsets, spans = self._run(text, with_spans=True)
            # From bytes of the normalised text to those of the document; the end of one normalised
            # document is the beginning of the next.
            document = np.repeat(np.arange(len(batch)), np.diff(offsets))
            at_end = spans[:, 1] == text.offsets[1:][document]
            spans[:, 1] = np.where(at_end, text.finals[document], text.origins[spans[:, 1]])
            spans[:, 0] = text.origins[spans[:, 0]]
        return ids, offsets, spans

    def decode(self, ids: list[int]) -> str:
        """See SentencePieceEngine."""
        return self._reference.decode(ids)

    @cached_property
    def _reference(self) -> SentencePieceEngine:
        return SentencePieceEngine(self._model)

    def _normalized(self, batch: Batch, *, traced: bool) -> _Normalized:
        data = valid_bytes(batch)
        offsets = np.ascontiguousarray(batch.offsets, np.int64)
        finals = np.empty(len(batch) if traced else 0, np.int64)
        ends = np.empty(len(offsets), np.int64)
        room = 2 * len(data) + 64
        while True:
            out = self._buffer("out", room, np.uint8)
            origins = np.zeros(room if traced else 0, np.int64)
            if self._normalize(
                *(data, offsets, self._rules, self._pieces.own, self._pieces.letters),
                *(out, ends, origins, finals),
            ):
                return _Normalized(out[: ends[-1]], ends, origins, finals)
            room *= 4

    def _run(self, text: _Normalized, *, with_spans: bool) -> Spans:
        size = len(text.data)
        tokens = self._buffer("tokens", size, np.int32)
        stops = self._buffer("stops", size, np.int32)
        token_ends, ends = np.empty_like(text.offsets), np.empty_like(text.offsets)
        self._kernel(*text[:2], self._pieces, *self._tables, tokens, stops, token_ends)
        ids = self._buffer("ids", size, np.uint32)
        spans = np.empty((size if with_spans else 0, 2), np.int64)
        self._spell(*text[:2], tokens, stops, token_ends, self._pieces, ids, ends, spans)
        n = int(ends[-1])
        return ids[:n].copy(), ends, spans[:n].copy()

    def _buffer(self, name: str, size: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Room for ``size`` values, kept: fresh memory costs as much as the work in it."""
        found = self._buffers.get(name)
        if found is None or len(found) < size:
            found = np.empty(size, dtype)
            if found.nbytes <= _KEPT:
                self._buffers[name] = found
        return found[:size]


class _Normalized(NamedTuple):
    """Documents as a model wants them; the last two are empty unless spans are asked for."""

    data: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int64]
    origins: npt.NDArray[np.int64]
    """The byte of the document that each byte comes from."""
    finals: npt.NDArray[np.int64]
    """The byte behind the last one that is left of each document."""
