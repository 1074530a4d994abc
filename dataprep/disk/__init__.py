"""The memory-mapped indexed format: ``NAME.bin`` holds token ids, ``NAME.idx`` says where.

``NAME.words`` and ``NAME.sentences`` hold a bit for each token.
"""

from __future__ import annotations

from .bits import BitColumn, write_bits
from .format import MAX_SEQUENCE_TOKENS, token_dtype
from .origins import Block, Columns, Origins, OriginWriter, blocks_of, write_origins
from .reader import IndexedDataset
from .writer import SegmentWriter, Sink, write_index

__all__ = [
    "MAX_SEQUENCE_TOKENS",
    "BitColumn",
    "Block",
    "Columns",
    "IndexedDataset",
    "OriginWriter",
    "Origins",
    "SegmentWriter",
    "Sink",
    "blocks_of",
    "token_dtype",
    "write_bits",
    "write_index",
    "write_origins",
]
