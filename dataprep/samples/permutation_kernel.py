"""The Feistel network of Permutation, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dataprep.samples.keys import MIX_1, MIX_2
from dataprep.tokenizers.compiled import compiled

__all__ = ["permute"]

Array = npt.NDArray[Any]


@compiled
def permute(positions: Array, limit: np.uint64, side: np.uint64, keys: Array, out: Array) -> None:
    """Fill ``out`` int64[n] with the images of ``positions`` int64[n], all below ``limit``."""
    for i in range(len(positions)):
        image = np.uint64(positions[i])
        while True:
            left = image // side
            right = image - left * side
            for key in keys:
                x = right ^ key
                x = (x ^ (x >> np.uint64(30))) * MIX_1
                x = (x ^ (x >> np.uint64(27))) * MIX_2
                x = (x ^ (x >> np.uint64(31))) % side + left
                left = right
                right = x - side if x >= side else x
            image = left * side + right
            if image < limit:
                break
        out[i] = image
