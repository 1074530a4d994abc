"""The engines of SentencePiece models: sentencepiece itself, and a fast one for its BPE."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from dataprep.batch import Batch
from dataprep.tokenizers.engine import bounds, splice
from dataprep.tokenizers.fast_bpe import FastokensEngine
from dataprep.tokenizers.protocol import Encoded, Spans
from dataprep.tokenizers.sp_bpe import json_of_bpe
from dataprep.tokenizers.sp_model import parse_model

__all__ = ["FastSentencePieceEngine", "SentencePieceEngine"]


_BYTE_PIECE = "<0x"


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


class FastSentencePieceEngine:
    """See Engine. fastokens, for the BPE models that ``unfit`` has nothing against.

    It may take a literal ``<0x41>`` in the text for the byte piece of that name, so documents with
    the beginning of one go to sentencepiece.
    """

    def __init__(self, model: bytes) -> None:
        self._model = model
        self._fast = FastokensEngine(json_of_bpe(parse_model(model, "the model")))

    def encode(self, batch: Batch) -> Encoded:
        """See Engine."""
        ids, offsets = self._fast.encode(batch)
        texts = batch.texts()
        bad = [i for i, text in enumerate(texts) if _BYTE_PIECE in text]
        if not bad:
            return ids, offsets
        others = self._exact.encode(Batch.from_texts([texts[i] for i in bad]))
        spliced, offsets = splice(ids, offsets, *others, np.array(bad))
        return spliced.astype(np.uint32, copy=False), offsets

    def encode_spans(self, batch: Batch) -> Spans:
        """See Engine; by sentencepiece, at its speed."""
        return self._exact.encode_spans(batch)

    def decode(self, ids: list[int]) -> str:
        """See SentencePieceEngine."""
        return self._exact.decode(ids)

    @cached_property
    def _exact(self) -> SentencePieceEngine:
        return SentencePieceEngine(self._model)
