"""Which token comes next, given the scores of all."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dataprep.errors import UsageError

__all__ = ["Sampler"]


@dataclass(frozen=True, kw_only=True)
class Sampler:
    """How tokens are drawn.

    Attributes:
        temperature: scores are divided by it; 0 always takes the best.
        top_k: only so many of the best are drawn from; None draws from all.
        seed: decides the draws; the same seed gives the same text.
    """

    temperature: float = 0.8
    top_k: int | None = 40
    seed: int = 0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.temperature) and self.temperature >= 0):
            raise UsageError(f"temperature={self.temperature} cannot be: it is at least 0.")
        if self.top_k is not None and self.top_k < 1:
            raise UsageError(f"top_k={self.top_k} cannot be: it is at least 1.")
        if self.seed < 0:
            raise UsageError(f"seed={self.seed} cannot be: it is at least 0.")

    def generator(self) -> np.random.Generator:
        """The source of the draws of one text."""
        return np.random.default_rng(self.seed)

    def choose(self, scores: npt.NDArray[Any], generator: np.random.Generator) -> int:
        """An index into ``scores``, float[n]."""
        if self.temperature == 0:
            return int(scores.argmax())
        scaled = scores.astype(np.float64) / self.temperature
        if self.top_k is not None and self.top_k < len(scaled):
            kth = np.partition(scaled, -self.top_k)[-self.top_k]
            scaled[scaled < kth] = -np.inf
        weights = np.exp(scaled - scaled.max()).cumsum()
        return int(np.searchsorted(weights, generator.random() * weights[-1], side="right"))
