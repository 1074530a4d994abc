"""One bit a token, asked for by token number."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dataprep.errors import DataError

__all__ = ["PackedBits", "bits_of"]


class PackedBits:
    """Bits packed as in ``numpy.packbits(bitorder="little")``, mapped or in memory.

    ``packed`` uint8 holds at least ``n`` bits.
    """

    def __init__(self, packed: npt.NDArray[np.uint8], n: int) -> None:
        self._packed = packed
        self.n = n

    def __len__(self) -> int:
        return self.n

    def at(self, places: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """The bits of these token numbers, in their shape."""
        from dataprep.samples.bits_kernel import unpack

        bits = np.empty(places.shape, bool)
        unpack(np.asarray(self._packed), places, bits)
        return bits


def bits_of(starts: npt.ArrayLike, n_tokens: int) -> PackedBits:
    """Bits of an array, bool[n_tokens]."""
    bits = np.asarray(starts, dtype=bool)
    if bits.shape != (n_tokens,):
        raise DataError(f"starts of words have shape {bits.shape}, for {n_tokens} tokens")
    return PackedBits(np.packbits(bits, bitorder="little"), n_tokens)
