"""Hugging Face ``tokenizers``: the oracle, and the engine of what no other one does exactly."""

from __future__ import annotations

import itertools
import os
from typing import Any

import numpy as np
import numpy.typing as npt

from dataprep.batch import Batch
from dataprep.tokenizers.engine import bounds
from dataprep.tokenizers.protocol import Encoded, Spans

__all__ = ["ReferenceEngine"]


class ReferenceEngine:
    """See Engine."""

    def __init__(self, json: str) -> None:
        # Read at each call; without it, every worker process would start a thread for every core.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_str(json)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True

    def encode(self, batch: Batch) -> Encoded:
        """See Engine."""
        return _ids(self._tokenizer.encode_batch_fast(batch.texts(), add_special_tokens=False))

    def encode_spans(self, batch: Batch) -> Spans:
        """See Engine. Its own spans are of characters: of a byte-level token, the whole ones."""
        encodings = self._tokenizer.encode_batch(batch.texts(), add_special_tokens=False)
        ids, offsets = _ids(encodings)
        spans = np.empty((len(ids), 2), np.int64)
        for i, encoding in enumerate(encodings):
            characters = np.array(encoding.offsets, np.int64).reshape(-1, 2)
            data = batch.data[batch.offsets[i] : batch.offsets[i + 1]]
            spans[offsets[i] : offsets[i + 1]] = _starts(data)[characters]
        return ids, offsets, spans

    def decode(self, ids: list[int]) -> str:
        """See Engine."""
        text: str = self._tokenizer.decode(ids, skip_special_tokens=False)
        return text


def _ids(encodings: list[Any]) -> Encoded:
    lists = [encoding.ids for encoding in encodings]
    offsets = bounds(list(map(len, lists)))
    return np.fromiter(itertools.chain.from_iterable(lists), np.uint32, int(offsets[-1])), offsets


def _starts(data: bytes | memoryview) -> npt.NDArray[np.int64]:
    """Where each character starts in UTF-8, and where the last one ends."""
    array = np.frombuffer(data, np.uint8)
    return np.append(np.flatnonzero((array & 0xC0) != 0x80), len(array))
