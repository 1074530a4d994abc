"""Layer normalisation."""

from __future__ import annotations

from zoo.engine import Tensor, layer_norm, weight
from zoo.layers.layer import Layer, constant

__all__ = ["LayerNorm"]


class LayerNorm(Layer):
    """Each position scaled to mean 0 and variance 1, then by learnt factors and offsets.

    https://arxiv.org/abs/1607.06450
    """

    def __init__(self, embed: int, *, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.parameter("weight", constant(1.0), embed=embed)
        self.parameter("bias", constant(0.0), embed=embed)

    def forward(self, x_BTE: Tensor) -> Tensor:
        return layer_norm(x_BTE, weight(self.weight), weight(self.bias), self.eps)
