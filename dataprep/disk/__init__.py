"""The memory-mapped indexed format: ``NAME.bin`` holds token ids, ``NAME.idx`` says where."""

from __future__ import annotations

from .format import MAX_SEQUENCE_TOKENS, token_dtype
from .reader import IndexedDataset
from .writer import SegmentWriter, write_index

__all__ = [
    "MAX_SEQUENCE_TOKENS",
    "IndexedDataset",
    "SegmentWriter",
    "token_dtype",
    "write_index",
]
