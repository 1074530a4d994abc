"""One layer of a transformer."""

from __future__ import annotations

from zoo.engine import Tensor
from zoo.layers.attention import CausalAttention
from zoo.layers.layer import Layer
from zoo.layers.mlp import MLP
from zoo.layers.norm import LayerNorm

__all__ = ["Block"]


class Block(Layer):
    """Attention, then MLP, each added to what it read, which is normalised first.

    ``out_std`` is for the two matrices whose products are added: smaller in deeper models.
    """

    def __init__(
        self,
        *,
        embed: int,
        heads: int,
        mlp: int,
        std: float,
        out_std: float,
        eps: float,
        dropout: float,
    ) -> None:
        super().__init__()
        self.attention_norm = LayerNorm(embed, eps=eps)
        self.attention = CausalAttention(
            embed=embed, heads=heads, std=std, out_std=out_std, dropout=dropout
        )
        self.mlp_norm = LayerNorm(embed, eps=eps)
        self.mlp = MLP(embed=embed, mlp=mlp, std=std, out_std=out_std, dropout=dropout)

    def forward(self, x_BTE: Tensor) -> Tensor:
        x_BTE = x_BTE + self.attention(self.attention_norm(x_BTE))
        return x_BTE + self.mlp(self.mlp_norm(x_BTE))
