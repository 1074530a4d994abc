"""The memory-mapped indexed format: ``NAME.bin`` holds token ids, ``NAME.idx`` says where."""

from __future__ import annotations

from .format import MAX_SEQUENCE_TOKENS, token_dtype
from .reader import IndexedDataset
from .writer import SegmentWriter, Sink, write_index

__all__ = [
    "MAX_SEQUENCE_TOKENS",
    "IndexedDataset",
    "SegmentWriter",
    "Sink",
    "token_dtype",
    "write_index",
]
