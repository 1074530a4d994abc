"""Self-attention, each position seeing itself and those before it."""

from __future__ import annotations

import math

from zoo.engine import F, Tensor, flow, replicated
from zoo.layers.dropout import Dropout
from zoo.layers.layer import Layer
from zoo.layers.linear import Linear

__all__ = ["CausalAttention"]


class CausalAttention(Layer):
    """Multi-head attention (https://arxiv.org/abs/1706.03762), causal always.

    B batch, T positions, S positions that are looked at, E embed, H heads, D width of a head.

    Query, key and value come from one matrix whose rows go head by head, (H, 3, D): so cutting
    the rows cuts between heads.
    """

    def __init__(
        self, *, embed: int, heads: int, std: float, out_std: float, dropout: float
    ) -> None:
        super().__init__()
        self.heads = heads
        self.pieces = {"heads": heads}
        self.qkv = Linear(("embed", embed), ("heads", 3 * embed), std=std)
        self.out = Linear(("heads", embed), ("embed", embed), std=out_std)
        self.share_dropout, self.out_dropout = Dropout(dropout), Dropout(dropout)

    def forward(self, x_BTE: Tensor) -> Tensor:
        B, T, E = x_BTE.shape
        H, D = self.heads, E // self.heads
        qkv_BTHC = self.qkv(x_BTE).reshape(B, T, H, 3 * D)
        q_BHTD, k_BHSD, v_BHSD = qkv_BTHC.permute(0, 2, 1, 3).chunk(3, dim=-1)
        scores_BHTS = flow.matmul(q_BHTD, k_BHSD.transpose(2, 3)) * (1.0 / math.sqrt(D))
        hidden_TS = flow.triu(replicated(x_BTE, (T, T), -math.inf), 1)
        shares_BHTS = F.softmax(scores_BHTS + hidden_TS, dim=-1)
        shares_BHTS = self.share_dropout(shares_BHTS, "batch", "heads", "seq", "seq")
        y_BHTD = flow.matmul(shares_BHTS, v_BHSD)
        y_BTE = self.out(y_BHTD.permute(0, 2, 1, 3).reshape(B, T, E))
        return self.out_dropout(y_BTE, "batch", "seq", "embed")
