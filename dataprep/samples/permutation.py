"""A keyed permutation of ``range(n)`` that is computed, never stored.

A Feistel network over pairs ``(left, right)`` of numbers below ``side = ceil(sqrt(n))`` permutes
``range(side * side)``; numbers that land at ``n`` or above are sent through it again until they
land below ("cycle walking": Black and Rogaway, "Ciphers with arbitrary finite domains", 2002).
Adding modulo ``side``, rather than xor-ing bits, keeps the domain within ``2 * sqrt(n) + 1`` of
``n``, so that walking is rare.
"""

from __future__ import annotations

import hashlib
import math

import numpy as np
import numpy.typing as npt

from dataprep.samples.keys import MIX_1, MIX_2

__all__ = ["Permutation"]

# Four rounds make a Feistel network a strong pseudo-random permutation of large domains only, and
# ours may hold a dozen samples. Eight pass the tests of uniformity from two elements upwards, on a
# side of at least four: on three, no number of rounds reaches all orders equally often.
_ROUNDS = 8
_SMALLEST_SIDE = 4
_LOW_64 = 2**64 - 1
_MIX_1, _MIX_2 = int(MIX_1), int(MIX_2)


class Permutation:
    """The permutation of ``range(n)`` that belongs to the integers ``key``.

    The same ``n`` and ``key`` give the same permutation on every machine and with every NumPy.
    Constant memory, whatever ``n`` (at most 2**62).
    """

    def __init__(self, n: int, *key: int) -> None:
        if not 1 <= n <= 2**62:
            raise ValueError(f"a permutation of {n} elements: 1 to 2**62 are allowed")
        self.n = n
        self._side = np.uint64(max(math.isqrt(n - 1) + 1, _SMALLEST_SIDE))
        digest = hashlib.blake2b(repr(key).encode(), digest_size=8 * _ROUNDS).digest()
        self._round_keys = np.frombuffer(digest, dtype="<u8")
        self._whole_side, self._whole_keys = int(self._side), self._round_keys.tolist()

    def __call__(self, positions: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Where the permutation sends each of ``positions``, integers in ``[0, n)`` of any shape.

        Raises ``IndexError`` when one lies outside.
        """
        start = np.asarray(positions, dtype=np.int64)
        if start.size and not (start.min() >= 0 and start.max() < self.n):
            raise IndexError(f"positions must lie in [0, {self.n})")
        from dataprep.samples.permutation_kernel import permute

        image = np.empty(start.size, np.int64)
        permute(start.ravel(), np.uint64(self.n), self._side, self._round_keys, image)
        return image.reshape(start.shape)

    def one(self, position: int) -> int:
        """The same for one position, without anything compiled."""
        if not 0 <= position < self.n:
            raise IndexError(f"positions must lie in [0, {self.n})")
        side, keys = self._whole_side, self._whole_keys
        image = position
        while True:
            left, right = divmod(image, side)
            for key in keys:
                x = right ^ key
                x = (x ^ (x >> 30)) * _MIX_1 & _LOW_64
                x = (x ^ (x >> 27)) * _MIX_2 & _LOW_64
                left, right = right, (left + (x ^ (x >> 31)) % side) % side
            image = left * side + right
            if image < self.n:
                return image
