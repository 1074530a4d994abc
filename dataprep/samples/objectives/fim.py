"""Fill in the middle: Bavarian et al., "Efficient training of language models to fill in the
middle" (2022).

A document is cut in three at two random places, and its middle put last: a causal model then
learns to write what stands between. Two layouts: prefix, suffix, middle (PSM) and suffix, prefix,
middle (SPM, the paper's second variant, which begins as PSM does).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from dataprep.errors import UsageError
from dataprep.samples.objectives.checks import check_share
from dataprep.samples.rows import Objective, Rows, given
from dataprep.samples.vocabulary import Vocabulary

__all__ = ["FimIds", "FimSettings", "fim", "fim_objective"]


@dataclass(frozen=True, kw_only=True)
class FimSettings:
    """How often.

    Attributes:
        rate: share of the documents whose middle is moved.
        spm: share of those that get the layout suffix, prefix, middle.
    """

    rate: float = 0.5
    spm: float = 0.5

    def __post_init__(self) -> None:
        check_share("rate", self.rate, zero=True, one=True)
        check_share("spm", self.spm, zero=True, one=True)


@dataclass(frozen=True, kw_only=True)
class FimIds:
    """Ids that stand before the parts, and the end of a document, -1 where there is none."""

    prefix: int
    middle: int
    suffix: int
    eod: int


def fim(
    tokens: npt.NDArray[np.integer[Any]],
    document_starts: npt.NDArray[np.bool_],
    keys: npt.NDArray[np.uint64],
    settings: FimSettings,
    ids: FimIds,
) -> npt.NDArray[np.int64]:
    """``tokens`` [n, width] with middles moved, int64 [n, width].

    ``document_starts`` [n, width]. An end-of-document token stays at the end. Each document that is
    moved takes three tokens more; as many are cut off at the end of the window, before the document
    there is moved.
    """
    from dataprep.samples.objectives.fim_kernel import rearrange

    out = np.empty(tokens.shape, np.int64)
    rearrange(
        tokens.astype(np.int64),
        document_starts,
        keys,
        settings.rate,
        settings.spm,
        ids.eod,
        ids.prefix,
        ids.middle,
        ids.suffix,
        out,
    )
    return out


def fim_objective(settings: FimSettings, *, seq_len: int, vocabulary: Vocabulary) -> Objective:
    """One causal sequence: ``tokens`` and ``labels`` int64 [n, seq_len], as of ``causal``."""
    if seq_len < 4:
        raise UsageError(f"seq_len is {seq_len}: three parts and their tokens need at least 4")
    ids = FimIds(
        prefix=vocabulary.role("fim_prefix"),
        middle=vocabulary.role("fim_middle"),
        suffix=vocabulary.role("fim_suffix"),
        eod=vocabulary.roles.get("eod", -1),
    )
    make = partial(_make, settings=settings, ids=ids)
    return Objective(make=make, width=seq_len + 1, stride=seq_len, documents=True)


def _make(rows: Rows, settings: FimSettings, ids: FimIds) -> dict[str, npt.NDArray[Any]]:
    window = fim(rows.tokens, given(rows.document_starts), rows.keys, settings, ids)
    return {"tokens": window[:, :-1].copy(), "labels": window[:, 1:].copy()}
