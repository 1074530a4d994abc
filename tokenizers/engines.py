"""The engines that turn text into ids, behind one small face.

Each is built from the text of a ``tokenizer.json``. Both are kept to one thread: documents are
spread over processes, and a process without threads may fork.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from importlib.metadata import version
from typing import Protocol

import numpy as np

from dataprep.tokenizers.protocol import Encoded

__all__ = ["ENGINES", "ENGINES_OF_MODEL", "REFERENCE", "Engine"]


class Engine(Protocol):
    """What is asked of an engine; texts hold no lone surrogates."""

    def encode(self, texts: list[str]) -> Encoded:
        """Ids of plain text: nothing added, truncated or padded, no special token recognised."""

    def decode(self, ids: list[int]) -> str:
        """Text of ids, special tokens written out."""


class FastokensEngine:
    """fastokens: 20 to 80 times the reference on byte-level BPE."""

    def __init__(self, json: str) -> None:
        # It starts helper threads at the first encode unless told not to.
        os.environ.setdefault("FASTOKENS_BPE_THREADS", "1")
        import fastokens  # type: ignore[import-untyped]

        self._tokenizer = fastokens.Tokenizer.from_json_str(json)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def encode(self, texts: list[str]) -> Encoded:
        """See Engine."""
        ids, offsets = self._tokenizer.encode_batch_flat(texts, split_special_tokens=True)
        return np.frombuffer(ids, np.uint32), np.frombuffer(offsets, np.int64)

    def decode(self, ids: list[int]) -> str:
        """See Engine."""
        text: str = self._tokenizer.decode(ids, skip_special_tokens=False)
        return text


class ReferenceEngine:
    """Hugging Face ``tokenizers``: the oracle, and the engine of what no other one does exactly."""

    def __init__(self, json: str) -> None:
        # Read at each call; without it, every worker process would start a thread for every core.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_str(json)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True

    def encode(self, texts: list[str]) -> Encoded:
        """See Engine."""
        encodings = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        lists = [encoding.ids for encoding in encodings]
        offsets = np.zeros(len(lists) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, lists), np.int64, len(lists)), out=offsets[1:])
        ids = np.fromiter(itertools.chain.from_iterable(lists), np.uint32, int(offsets[-1]))
        return ids, offsets

    def decode(self, ids: list[int]) -> str:
        """See Engine."""
        text: str = self._tokenizer.decode(ids, skip_special_tokens=False)
        return text


REFERENCE = "tokenizers"
ENGINES: dict[str, Callable[[str], Engine]] = {
    "fastokens": FastokensEngine,
    REFERENCE: ReferenceEngine,
}
"""By the name of the package on PyPI, whose version stands beside it in manifests."""

ENGINES_OF_MODEL: dict[str, tuple[str, ...]] = {
    "BPE": ("fastokens",),
}
"""Engines to try before the reference, best first, by ``model.type``."""


def label(engine: str) -> str:
    """``fastokens 0.3.5``: what the manifest says of the engine that ran."""
    return f"{engine} {version(engine)}"
