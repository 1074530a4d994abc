"""Matrix product between two named axes."""

from __future__ import annotations

from zoo.engine import F, Tensor, constrain, weight
from zoo.layers.layer import Layer, constant, normal

__all__ = ["Linear"]


class Linear(Layer):
    """y = x · weightᵀ + bias over the last axis of x[batch, seq, source].

    ``source`` and ``target`` are (name, size) of the axes. Naming them is all it takes to cut the
    layer: by its rows where the target is cut, by its columns where the source is.
    """

    def __init__(self, source: tuple[str, int], target: tuple[str, int], *, std: float) -> None:
        super().__init__()
        self.source, self.target = source[0], target[0]
        self.parameter("weight", normal(std), **dict([target, source]))
        self.parameter("bias", constant(0.0), **dict([target]))

    def forward(self, x_BTI: Tensor) -> Tensor:
        x_BTI = constrain(x_BTI, "batch", "seq", self.source)
        y_BTO = constrain(F.linear(x_BTI, weight(self.weight)), "batch", "seq", self.target)
        return y_BTO + weight(self.bias)
