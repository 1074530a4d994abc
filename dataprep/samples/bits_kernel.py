"""Reading single bits out of packed bytes, compiled."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from dataprep.tokenizers.compiled import compiled

__all__ = ["unpack"]


@compiled
def unpack(packed: npt.NDArray[Any], places: npt.NDArray[Any], bits: npt.NDArray[Any]) -> None:
    """Fill ``bits`` bool with the bits at ``places`` int64, both [n, width]."""
    for row in range(len(places)):
        for i in range(places.shape[1]):
            place = places[row, i]
            bits[row, i] = (packed[place >> 3] >> (place & 7)) & 1
