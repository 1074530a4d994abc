"""Tokens and their positions as vectors."""

from __future__ import annotations

from zoo.engine import F, Tensor, constrain, weight
from zoo.layers.layer import Layer, normal

__all__ = ["Embedding"]


class Embedding(Layer):
    """A vector for each token plus one for each position.

    Gives the vectors and the token table itself, for a head that is tied to it.
    """

    def __init__(self, *, vocab: int, positions: int, embed: int, std: float) -> None:
        super().__init__()
        self.parameter("tokens", normal(std), vocab=vocab, embed=embed)
        self.parameter("positions", normal(std), positions=positions, embed=embed)

    def forward(self, tokens_BT: Tensor) -> tuple[Tensor, Tensor]:
        table_VE = weight(self.tokens)
        x_BTE = constrain(F.embedding(tokens_BT, table_VE), "batch", "seq", "embed")
        return x_BTE + weight(self.positions)[: tokens_BT.shape[1]], table_VE
