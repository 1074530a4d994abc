"""Two matrix products with a bend between them."""

from __future__ import annotations

from zoo.engine import F, Tensor
from zoo.layers.dropout import Dropout
from zoo.layers.layer import Layer
from zoo.layers.linear import Linear

__all__ = ["MLP"]


class MLP(Layer):
    """embed -> mlp -> embed, with GELU in its tanh form (https://arxiv.org/abs/1606.08415)."""

    def __init__(self, *, embed: int, mlp: int, std: float, out_std: float, dropout: float) -> None:
        super().__init__()
        self.up = Linear(("embed", embed), ("mlp", mlp), std=std)
        self.down = Linear(("mlp", mlp), ("embed", embed), std=out_std)
        self.dropout = Dropout(dropout)

    def forward(self, x_BTE: Tensor) -> Tensor:
        y_BTE = self.down(F.gelu(self.up(x_BTE), approximate="tanh"))
        return self.dropout(y_BTE, "batch", "seq", "embed")
