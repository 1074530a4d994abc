"""Tokens and their positions as vectors."""

from __future__ import annotations

from dataprep.errors import UsageError
from zoo.engine import F, Tensor, constrain, weight
from zoo.layers.dropout import Dropout
from zoo.layers.layer import Layer, normal

__all__ = ["Embedding"]


class Embedding(Layer):
    """A vector for each token plus one for each position.

    Gives the vectors and the token table itself, for a head that is tied to it. Raises UsageError
    for more positions than it has.
    """

    def __init__(
        self, *, vocab: int, positions: int, embed: int, std: float, dropout: float
    ) -> None:
        super().__init__()
        self.parameter("tokens", normal(std), vocab=vocab, embed=embed)
        self.parameter("positions", normal(std), positions=positions, embed=embed)
        self.longest = positions
        self.dropout = Dropout(dropout)

    def forward(self, tokens_BT: Tensor) -> tuple[Tensor, Tensor]:
        T = tokens_BT.shape[1]
        if self.longest < T:
            raise UsageError(f"A sequence of {T} tokens is longer than positions={self.longest}.")
        table_VE = weight(self.tokens)
        x_BTE = constrain(F.embedding(tokens_BT, table_VE), "batch", "seq", "embed")
        x_BTE = x_BTE + weight(self.positions)[:T]
        return self.dropout(x_BTE, "batch", "seq", "embed"), table_VE
