"""One key for each sample: what is drawn for it depends on nothing else.

A key is made of the seed, the epoch and the sample's number; number ``n`` of what is drawn from it
is a function of the key and ``n``. So a sample is the same in whatever batch, worker or rank it is
made, and another one in the next epoch. The mixing is the finaliser of splitmix64 (Steele, Lea,
Flood, OOPSLA 2014).
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

__all__ = ["GOLDEN", "MIX_1", "MIX_2", "keys_of", "mix"]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""2**64 over the golden ratio, made odd: the step between the states of splitmix64."""
# Multipliers of Stafford's mix 13.
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)


def mix(x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """A bijection of uint64 that spreads every bit over all."""
    x = (x ^ (x >> np.uint64(30))) * MIX_1
    x = (x ^ (x >> np.uint64(27))) * MIX_2
    return x ^ (x >> np.uint64(31))


def keys_of(
    seed: int, epochs: npt.NDArray[np.int64], samples: npt.NDArray[np.int64]
) -> npt.NDArray[np.uint64]:
    """uint64 keys, in the shape of ``epochs`` and ``samples``."""
    digest = hashlib.blake2b(repr(("sample", seed)).encode(), digest_size=8).digest()
    base = np.frombuffer(digest, "<u8")
    of_epoch = mix(base + epochs.astype(np.uint64) * GOLDEN)
    return mix(of_epoch + samples.astype(np.uint64) * GOLDEN)
