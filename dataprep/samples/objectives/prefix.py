"""Prefix language model: a beginning that is seen at once, and the rest, which is predicted.

Raffel et al., "Exploring the limits of transfer learning with a unified text-to-text transformer"
(2020), section 3.2.3, after Liu et al., "Generating Wikipedia by summarizing long sequences"
(2018).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from dataprep.errors import UsageError
from dataprep.samples.keys import GOLDEN, mix
from dataprep.samples.rows import Objective, Rows
from dataprep.samples.vocabulary import Vocabulary

__all__ = ["PrefixSettings", "prefix", "prefix_objective"]

IGNORED = -100


@dataclass(frozen=True, kw_only=True)
class PrefixSettings:
    """How long the beginning is.

    Attributes:
        shortest, longest: shares of ``seq_len``; lengths in between are equally likely.
    """

    shortest: float = 0.0
    longest: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.shortest <= self.longest <= 1:
            raise UsageError(
                f"shortest is {self.shortest} and longest {self.longest}: shares from 0 to 1 are "
                "needed, the shortest first"
            )


def prefix(
    tokens: npt.NDArray[np.integer[Any]], keys: npt.NDArray[np.uint64], settings: PrefixSettings
) -> dict[str, npt.NDArray[np.int64]]:
    """``tokens`` [n, seq_len + 1] in two by ``keys`` [n]; see ``prefix_objective``."""
    seq_len = tokens.shape[1] - 1
    least = max(1, round(settings.shortest * seq_len))
    most = min(max(least, round(settings.longest * seq_len)), seq_len)
    draw = (mix(keys + GOLDEN) >> np.uint64(32)) * np.uint64(most - least + 1) >> np.uint64(32)
    lengths = draw.astype(np.int64) + least
    labels = tokens[:, 1:].astype(np.int64, order="C")
    labels[np.arange(seq_len) < lengths[:, None] - 1] = IGNORED
    return {
        "tokens": tokens[:, :-1].astype(np.int64, order="C"),
        "labels": labels,
        "context_lengths": lengths,
    }


def prefix_objective(
    settings: PrefixSettings, *, seq_len: int, vocabulary: Vocabulary
) -> Objective:
    """One sequence for one decoder.

    Makes ``tokens`` and ``labels`` int64 [n, seq_len], labels -100 inside the beginning, and
    ``context_lengths`` int64 [n]: its tokens, 1 to ``seq_len``, which see one another.
    """
    del vocabulary  # no token is added
    if seq_len < 1:
        raise UsageError(f"seq_len is {seq_len}: it must be at least 1")
    return Objective(make=partial(_make, settings=settings), width=seq_len + 1, stride=seq_len)


def _make(rows: Rows, settings: PrefixSettings) -> dict[str, npt.NDArray[Any]]:
    return prefix(rows.tokens, rows.keys, settings)
