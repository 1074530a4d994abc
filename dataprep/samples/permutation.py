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

__all__ = ["Permutation"]

# Four rounds make a Feistel network a strong pseudo-random permutation of large domains only, and
# ours may hold a dozen samples. Eight pass the tests of uniformity from two elements upwards, on a
# side of at least four: on three, no number of rounds reaches all orders equally often.
_ROUNDS = 8
_SMALLEST_SIDE = 4
# Multipliers of the finaliser of splitmix64 (Steele, Lea, Flood, OOPSLA 2014; Stafford's mix 13).
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


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

    def __call__(self, positions: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Where the permutation sends each of ``positions``, integers in ``[0, n)`` of any shape.

        Raises ``IndexError`` when one lies outside.
        """
        start = np.asarray(positions, dtype=np.int64)
        if start.size and not (start.min() >= 0 and start.max() < self.n):
            raise IndexError(f"positions must lie in [0, {self.n})")
        image = self._network(start.astype(np.uint64).ravel())
        limit = np.uint64(self.n)
        (outside,) = np.nonzero(image >= limit)
        while outside.size:
            image[outside] = self._network(image[outside])
            outside = outside[image[outside] >= limit]
        return image.astype(np.int64).reshape(start.shape)

    def _network(self, x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        left, right = np.divmod(x, self._side)
        for key in self._round_keys:
            left, right = right, (left + _mix(right ^ key) % self._side) % self._side
        image: npt.NDArray[np.uint64] = left * self._side + right
        return image


def _mix(x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    x = (x ^ (x >> np.uint64(30))) * _MIX_1
    x = (x ^ (x >> np.uint64(27))) * _MIX_2
    return x ^ (x >> np.uint64(31))
