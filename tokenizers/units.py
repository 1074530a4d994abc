"""Bytes or characters, each an id of its own: one look into a table."""

from __future__ import annotations

from functools import cached_property

import msgspec
import numpy as np

from dataprep.batch import Batch
from dataprep.tokenizers.documents import valid_bytes
from dataprep.tokenizers.engine import bounds
from dataprep.tokenizers.protocol import Encoded, Spans
from dataprep.tokenizers.reference import ReferenceEngine
from dataprep.tokenizers.spelling import byte_alphabet

__all__ = ["BytesEngine", "CharactersEngine"]


class _Model(msgspec.Struct):
    vocab: dict[str, int]
    unk_token: str | None = None


class _File(msgspec.Struct):
    model: _Model


class _Units:
    """What both share."""

    def __init__(self, json: str) -> None:
        self._json = json
        self._model = msgspec.json.decode(json, type=_File).model

    def decode(self, ids: list[int]) -> str:
        """See Engine."""
        return self._reference.decode(ids)

    @cached_property
    def _reference(self) -> ReferenceEngine:
        return ReferenceEngine(self._json)


class BytesEngine(_Units):
    """See Engine. A byte-level BPE without merges."""

    def __init__(self, json: str) -> None:
        super().__init__(json)
        self._table = np.array([self._model.vocab[c] for c in byte_alphabet()], np.uint32)

    def encode(self, batch: Batch) -> Encoded:
        """See Engine."""
        return self._table[valid_bytes(batch)], batch.offsets

    def encode_spans(self, batch: Batch) -> Spans:
        """See Engine."""
        ids, offsets = self.encode(batch)
        starts = np.arange(len(ids)) - np.repeat(offsets[:-1], np.diff(offsets))
        return ids, offsets, np.stack([starts, starts + 1], axis=1)


class CharactersEngine(_Units):
    """See Engine. Code points that the vocabulary lacks become its unknown token."""

    def __init__(self, json: str) -> None:
        super().__init__(json)
        vocab, unknown = self._model.vocab, self._model.unk_token
        self._table = np.full(0x110000, vocab[unknown or ""], np.uint32)
        for character, i in vocab.items():
            if len(character) == 1:
                self._table[ord(character)] = i

    def encode(self, batch: Batch) -> Encoded:
        """See Engine."""
        texts = batch.texts()
        points = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
        return self._table[points], bounds(list(map(len, texts)))

    def encode_spans(self, batch: Batch) -> Spans:
        """See Engine."""
        ids, offsets = self.encode(batch)
        data = np.frombuffer(batch.data, np.uint8)
        edges = np.append(np.flatnonzero((data & 0xC0) != 0x80), len(data))
        firsts = np.repeat(batch.offsets[:-1], np.diff(offsets))
        return ids, offsets, np.stack([edges[:-1] - firsts, edges[1:] - firsts], axis=1)
