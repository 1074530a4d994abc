"""Dropout whose mask is the same under every layout, eager or as a graph, and on every engine."""

from __future__ import annotations

from zoo.engine import Tensor, constrain, numbered, step_key
from zoo.engine.randomness import PRIME
from zoo.layers.layer import Layer

__all__ = ["Dropout"]


def _stir(x: Tensor, factor: int, offset: int | Tensor) -> Tensor:
    """A permutation of 0..PRIME-1 that takes neighbours far apart.

    x⁵ is one, since 5 does not divide PRIME - 1, and unlike a linear map it lets two keys that
    differ by a constant give unlike masks. All products stay below 2⁶².
    """
    x = (x * factor + offset) % PRIME
    square = x * x % PRIME
    return square * square % PRIME * x % PRIME


class Dropout(Layer):
    """Zeroes entries with probability ``rate`` in training, and scales the others up to match.

    Whether an entry stays follows from its place, the layer's ``site`` and the key of the step by
    arithmetic: no generator has a state that could differ between ranks or be lost at a resume.
    ``site`` is set when the model is initialised, from its seed and the layer's name.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate
        self.site = 0

    def forward(self, x: Tensor, *axes: str) -> Tensor:
        if not self.training or self.rate == 0:
            return x
        place = constrain(numbered(x, x.shape), *axes)
        drawn = _stir(_stir(place, 1_103_515_245, self.site), 48_271, step_key(x))
        kept = (drawn >= int(self.rate * PRIME)).to(x.dtype)
        return x * kept * (1.0 / (1.0 - self.rate))
