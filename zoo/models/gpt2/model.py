"""GPT-2 (Radford et al. 2019): B batch, T positions, E embed, V vocabulary."""

from __future__ import annotations

import math

from zoo.engine import F, Tensor, constrain, nn
from zoo.layers import Block, Embedding, Layer, LayerNorm, initialise, lm_loss
from zoo.models.gpt2.config import GPT2Config

__all__ = ["GPT2"]


class Head(Layer):
    """Last norm, then a score for each token by the embedding's own table."""

    def __init__(self, embed: int, *, eps: float) -> None:
        super().__init__()
        self.norm = LayerNorm(embed, eps=eps)

    def forward(self, x_BTE: Tensor, table_VE: Tensor, labels_BT: Tensor | None = None) -> Tensor:
        x_BTE = constrain(self.norm(x_BTE), "batch", "seq", "embed")
        logits_BTV = constrain(F.linear(x_BTE, table_VE), "batch", "seq", "vocab")
        return logits_BTV if labels_BT is None else lm_loss(logits_BTV, labels_BT)


class GPT2(Layer):
    """tokens int64[B, T] -> logits float32[B, T, V]; with labels int64[B, T], their mean loss."""

    def __init__(self, config: GPT2Config) -> None:
        super().__init__()
        self.config = config
        c = config
        # Each block adds twice, so the sum of all keeps its size.
        out_std = c.std / math.sqrt(2 * c.layers)
        self.embedding = Embedding(
            vocab=c.vocab, positions=c.positions, embed=c.embed, std=c.std, dropout=c.dropout
        )
        self.blocks = nn.ModuleList(
            [
                Block(
                    embed=c.embed,
                    heads=c.heads,
                    mlp=c.mlp_width,
                    std=c.std,
                    out_std=out_std,
                    eps=c.eps,
                    dropout=c.dropout,
                )
                for _ in range(c.layers)
            ]
        )
        self.head = Head(c.embed, eps=c.eps)
        initialise(self, c.seed)

    def units(self) -> list[nn.Module]:
        """The parts in the order that data runs through them; a pipeline is cut between them."""
        return [self.embedding, *self.blocks, self.head]

    def forward(self, tokens_BT: Tensor, labels_BT: Tensor | None = None) -> Tensor:
        x_BTE, table_VE = self.embedding(tokens_BT)
        for block in self.blocks:
            x_BTE = block(x_BTE)
        return self.head(x_BTE, table_VE, labels_BT)
