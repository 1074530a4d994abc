"""The memory-mapped indexed format: ``NAME.bin`` holds token ids, ``NAME.idx`` says where."""

from __future__ import annotations

from .format import MAX_SEQUENCE_TOKENS, token_dtype
from .origins import Block, Columns, Origins, OriginWriter, blocks_of, write_origins
from .reader import IndexedDataset
from .writer import SegmentWriter, Sink, write_index

__all__ = [
    "MAX_SEQUENCE_TOKENS",
    "Block",
    "Columns",
    "IndexedDataset",
    "OriginWriter",
    "Origins",
    "SegmentWriter",
    "Sink",
    "blocks_of",
    "token_dtype",
    "write_index",
    "write_origins",
]
