"""fastokens: 20 to 80 times the reference on byte-level BPE."""

from __future__ import annotations

import os
from functools import cached_property

import msgspec
import numpy as np

from dataprep.batch import Batch
from dataprep.tokenizers.engine import splice
from dataprep.tokenizers.protocol import Encoded, Spans
from dataprep.tokenizers.reference import ReferenceEngine
from dataprep.tokenizers.spelling import Spelling

__all__ = ["FastokensEngine"]

_DOUBTFUL = "\u180e"
"""White space until Unicode 6.3, and to the reference's expressions still: CLIP's ids differ."""


def _encoder_only(json: str) -> str:
    """Without what is never applied here, parts of which fastokens refuses, such as RoBERTa's."""
    parts = msgspec.json.decode(json, type=dict[str, msgspec.Raw])
    nothing = msgspec.Raw(b"null")
    parts.update(dict.fromkeys(("truncation", "padding", "post_processor"), nothing))
    return msgspec.json.encode(parts).decode()


class FastokensEngine:
    """See Engine."""

    def __init__(self, json: str) -> None:
        # It starts helper threads at the first encode unless told not to.
        os.environ.setdefault("FASTOKENS_BPE_THREADS", "1")
        import fastokens  # type: ignore[import-untyped]

        self._json = json
        self._tokenizer = fastokens.Tokenizer.from_json_str(_encoder_only(json))

    def encode(self, batch: Batch) -> Encoded:
        """See Engine. Documents with a character in doubt go to the reference."""
        texts = batch.texts()
        data, bounds = self._tokenizer.encode_batch_flat(texts, split_special_tokens=True)
        ids, offsets = np.frombuffer(data, np.uint32), np.frombuffer(bounds, np.int64)
        doubtful = [i for i, text in enumerate(texts) if _DOUBTFUL in text]
        if not doubtful:
            return ids, offsets
        theirs = self._reference.encode(Batch.from_texts([texts[i] for i in doubtful]))
        return splice(ids, offsets, *theirs, np.array(doubtful))

    def encode_spans(self, batch: Batch) -> Spans:
        """See Engine. Documents that their tokens do not spell get the reference's spans.

        Those are the ones that a normaliser such as NFC changes.
        """
        ids, offsets = self.encode(batch)
        return self._spelling.spans(batch, ids, offsets)

    def decode(self, ids: list[int]) -> str:
        """See Engine."""
        text: str = self._tokenizer.decode(ids, skip_special_tokens=False)
        return text

    @cached_property
    def _spelling(self) -> Spelling:
        return Spelling(self._json, self._reference)

    @cached_property
    def _reference(self) -> ReferenceEngine:
        return ReferenceEngine(self._json)
