"""Hashes of documents, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dataprep.samples.keys import GOLDEN, MIX_1
from dataprep.tokenizers.compiled import compiled

__all__ = ["hash_documents"]


@compiled
def hash_documents(
    tokens: npt.NDArray[Any], borders: npt.NDArray[Any], hashes: npt.NDArray[Any]
) -> None:
    """Fill ``hashes`` uint64[n] of the documents between ``borders`` int64[n + 1].

    One multiplication a token: it is to tell texts apart that nobody has made to collide.
    """
    for document in range(len(hashes)):
        state = np.uint64(borders[document + 1] - borders[document]) * GOLDEN
        for i in range(borders[document], borders[document + 1]):
            state = (state ^ np.uint64(tokens[i])) * MIX_1
            state ^= state >> np.uint64(29)
        state = (state ^ (state >> np.uint64(32))) * GOLDEN
        hashes[document] = state ^ (state >> np.uint64(31))
