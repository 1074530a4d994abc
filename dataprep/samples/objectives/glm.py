"""Blank filling: Du et al., "GLM: General language model pretraining with autoregressive blank
infilling" (2022).

Spans are blanked; behind the text stand the spans, in random order, each to be written from its
start token on. A position is two numbers: the place of the blank, and the place within the span.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from dataprep.errors import UsageError
from dataprep.samples.objectives.checks import check_share
from dataprep.samples.rows import Objective, Rows
from dataprep.samples.vocabulary import Vocabulary

__all__ = ["GlmIds", "GlmSettings", "glm", "glm_objective", "poisson"]

IGNORED = -100


@dataclass(frozen=True, kw_only=True)
class GlmSettings:
    """What is blanked.

    Attributes:
        rate: share of the tokens that are blanked, in short spans.
        mean_span: the parameter of the Poisson distribution of their lengths, of which 0 is left
            out.
        long_share: share of the samples with one long span in their place, the end of the text.
        long_least: that span is at least this share of the text, and at most all but one token.
    """

    rate: float = 0.15
    mean_span: float = 3.0
    long_share: float = 0.5
    long_least: float = 0.5

    def __post_init__(self) -> None:
        check_share("rate", self.rate)
        check_share("long_share", self.long_share, zero=True, one=True)
        check_share("long_least", self.long_least)
        if not 0 < self.mean_span <= 50:
            raise UsageError(f"mean_span is {self.mean_span}: above 0 and up to 50 are allowed")


@dataclass(frozen=True, kw_only=True)
class GlmIds:
    """Ids: ``[MASK]``, ``[gMASK]`` for the long span, and what starts and ends a span."""

    mask: int
    long: int
    start: int
    end: int
    pad: int


def glm(
    tokens: npt.NDArray[np.integer[Any]],
    keys: npt.NDArray[np.uint64],
    settings: GlmSettings,
    seq_len: int,
    ids: GlmIds,
) -> dict[str, npt.NDArray[Any]]:
    """Blank ``tokens`` [n, width] by ``keys`` [n]; see ``glm_objective`` for the arrays."""
    from dataprep.samples.objectives.glm_kernel import blank

    n, width = tokens.shape
    budget, most_spans = _spans(width, settings)
    out = np.full((n, seq_len), ids.pad, np.int64)
    labels = np.full((n, seq_len), IGNORED, np.int64)
    positions = np.zeros((n, 2, seq_len), np.int64)
    contexts, lengths = np.empty(n, np.int64), np.empty(n, np.int64)
    blank(
        tokens.astype(np.int64),
        keys,
        settings.long_share,
        max(1, math.ceil(settings.long_least * width)),
        budget,
        most_spans,
        poisson(settings.mean_span),
        ids.mask,
        ids.long,
        ids.start,
        ids.end,
        out,
        labels,
        positions,
        contexts,
        lengths,
    )
    return {
        "tokens": out,
        "labels": labels,
        "positions": positions,
        "context_lengths": contexts,
        "attention_mask": np.arange(seq_len) < lengths[:, None],
    }


def poisson(mean: float) -> npt.NDArray[np.float64]:
    """The chance of at most 1, 2, … of what is Poisson distributed, and not 0: float64."""
    most = math.ceil(mean + 12 * math.sqrt(mean) + 12)
    log_chances = [k * math.log(mean) - mean - math.lgamma(k + 1) for k in range(1, most + 1)]
    chances = np.exp(log_chances)
    return np.cumsum(chances / chances.sum())


def _spans(width: int, settings: GlmSettings) -> tuple[int, int]:
    """Tokens to blank, and the most spans they may be in."""
    budget = min(max(round(width * settings.rate), 1), width - 1)
    mean = settings.mean_span / -math.expm1(-settings.mean_span)
    # Five standard deviations above the mean number: a sample that needs more blanks fewer tokens.
    expected = budget / mean
    most = min(budget, math.ceil(expected + 5 * math.sqrt(expected) / mean + 1), width - budget + 1)
    return budget, max(most, 1)


def glm_objective(settings: GlmSettings, *, seq_len: int, vocabulary: Vocabulary) -> Objective:
    """One sequence for one decoder.

    Makes ``tokens`` and ``labels`` int64 [n, seq_len], labels -100 in the text and in padding;
    ``positions`` int64 [n, 2, seq_len]; ``context_lengths`` int64 [n], the tokens of the text,
    which see one another and nothing else, while the spans see the text and what is before them;
    ``attention_mask`` bool [n, seq_len], False on padding.
    """
    width = seq_len - 2
    while width >= 2 and width + 2 * _spans(width, settings)[1] > seq_len:
        width -= 1
    if width < 2:
        raise UsageError(f"seq_len is {seq_len}: blank filling needs more")
    mask = vocabulary.role("mask", "gmask")
    ids = GlmIds(
        mask=mask,
        long=vocabulary.roles.get("gmask", mask),
        start=vocabulary.role("sop", "bos", "cls"),
        end=vocabulary.role("eop", "eos", "eod", "sep"),
        pad=vocabulary.role("pad", "eod"),
    )
    make = partial(_make, settings=settings, seq_len=seq_len, ids=ids)
    return Objective(make=make, width=width, stride=width)


def _make(rows: Rows, **given: Any) -> dict[str, npt.NDArray[Any]]:
    return glm(rows.tokens, rows.keys, **given)
