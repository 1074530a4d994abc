"""The sizes of a GPT-2."""

from __future__ import annotations

from dataclasses import dataclass

from dataprep.errors import UsageError

__all__ = ["SIZES", "GPT2Config"]


@dataclass(frozen=True, kw_only=True)
class GPT2Config:
    """Sizes of a GPT-2; the defaults are those of the smallest published one.

    Attributes:
        vocab: number of token ids.
        positions: longest sequence, in tokens.
        embed: width of the vectors between layers.
        layers: number of blocks.
        heads: attention heads; they divide ``embed``.
        mlp: width inside the MLP; None is four times ``embed``.
        eps: added to the variance in norms.
        dropout: share of entries zeroed in training: of vectors, attention and block outputs.
        std: standard deviation of the first weights.
        seed: decides the first weights.
    """

    vocab: int = 50257
    positions: int = 1024
    embed: int = 768
    layers: int = 12
    heads: int = 12
    mlp: int | None = None
    eps: float = 1e-5
    dropout: float = 0.0
    std: float = 0.02
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("vocab", "positions", "embed", "layers", "heads"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name}={getattr(self, name)} cannot be: it is at least 1.")
        if self.mlp is not None and self.mlp < 1:
            raise UsageError(f"mlp={self.mlp} cannot be: it is at least 1, or None.")
        if not 0 <= self.dropout < 1:
            raise UsageError(f"dropout={self.dropout} cannot be: it is at least 0 and below 1.")
        if self.embed % self.heads:
            raise UsageError(
                f"embed={self.embed} cannot be shared by heads={self.heads}: heads must divide it."
            )

    @property
    def mlp_width(self) -> int:
        """Width inside the MLP."""
        return self.mlp or 4 * self.embed


# name -> sizes (Radford et al. 2019, table 2; parameters counted as published on the model hub)
SIZES: dict[str, dict[str, int]] = {
    "gpt2-small": {"embed": 768, "layers": 12, "heads": 12},
    "gpt2-medium": {"embed": 1024, "layers": 24, "heads": 16},
    "gpt2-large": {"embed": 1280, "layers": 36, "heads": 20},
    "gpt2-xl": {"embed": 1600, "layers": 48, "heads": 25},
}
