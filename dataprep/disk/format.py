"""Layout of ``.idx`` files, little-endian throughout.

========================  ==========================================================
bytes                     content
========================  ==========================================================
9                         magic ``MMIDIDX\\0\\0``
8                         version, uint64: 1
1                         dtype code of the ids in ``.bin``, uint8
8                         number of sequences S, uint64
8                         number of document indices D, uint64 (documents + 1)
4 * S                     length of each sequence in tokens, int32
8 * S                     where each sequence starts in ``.bin`` in bytes, int64
8 * D                     first sequence of each document and, last, S, int64
========================  ==========================================================

This is what Megatron-LM, GPT-NeoX, NeMo and LiBai read. ``.bin`` has no header: it is the ids of
all sequences, one after another.
"""

from __future__ import annotations

import struct

import numpy as np

__all__ = [
    "CODE_OF_DTYPE",
    "DTYPE_OF_CODE",
    "HEADER",
    "MAGIC",
    "MAX_SEQUENCE_TOKENS",
    "VERSION",
    "token_dtype",
]

MAGIC = b"MMIDIDX\x00\x00"
VERSION = 1
HEADER = struct.Struct("<9sQBQQ")
MAX_SEQUENCE_TOKENS = 2**31 - 1

DTYPE_OF_CODE: dict[int, np.dtype[np.generic]] = {
    1: np.dtype("u1"),
    2: np.dtype("i1"),
    3: np.dtype("<i2"),
    4: np.dtype("<i4"),
    5: np.dtype("<i8"),
    8: np.dtype("<u2"),
}
"""Codes 6 and 7 are float64 and float32 in that format; no token id is a fraction."""
CODE_OF_DTYPE = {dtype: code for code, dtype in DTYPE_OF_CODE.items()}


def token_dtype(vocab_size: int) -> np.dtype[np.generic]:
    """The smallest dtype that holds the vocabulary and that other readers expect: uint16 or int32.

    The border is 65,500, not 65,536: readers that are told a vocabulary size decide by it.
    """
    return np.dtype("<u2") if vocab_size < 65_500 else np.dtype("<i4")
