"""Which documents train and which only measure: contiguous ranges, no document on two sides."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

from dataprep.errors import DataError, UsageError

__all__ = ["split_documents"]


def split_documents(
    offsets: Sequence[int], weights: Sequence[float], *, at_least: int
) -> list[range]:
    """Cut the documents into one contiguous range per weight, in order, by their tokens.

    ``offsets`` holds ``n_documents + 1`` token numbers where documents start; any sequence will do,
    and only a few dozen of its elements are read. Each cut falls on the document border nearest to
    its share of the tokens that leaves ``at_least`` tokens in every range: a share too small for
    that is widened, by whole documents. Raises ``UsageError`` for weights that are not positive and
    finite, ``DataError`` when there are too few tokens or no such border.
    """
    if not weights or not all(math.isfinite(w) and w > 0 for w in weights):
        raise UsageError(
            f"a split by {_listed(weights)}: every weight must be a number above 0",
            hint="for example 99,1: the last hundredth of the tokens is for validation",
        )
    n_documents = len(offsets) - 1
    n_tokens = int(offsets[n_documents])
    cuts = [0]
    for part in range(1, len(weights)):
        low = int(offsets[cuts[-1]]) + at_least
        high = n_tokens - at_least * (len(weights) - part)
        share = round(n_tokens * math.fsum(weights[:part]) / math.fsum(weights))
        cut = _nearest_border(offsets, min(max(share, low), high), low, high)
        if cut is None:
            raise DataError(
                f"{n_documents} documents with {n_tokens} tokens cannot be split by "
                f"{_listed(weights)}: no border between documents leaves {at_least} tokens, "
                "which one sample takes, on every side",
                hint="use a shorter seq_len, or a dataset with more or shorter documents",
            )
        cuts.append(cut)
    cuts.append(n_documents)
    return [range(first, last) for first, last in pairwise(cuts)]


def _nearest_border(offsets: Sequence[int], wanted: int, low: int, high: int) -> int | None:
    """The document whose start lies nearest to token ``wanted`` and within ``[low, high]``."""
    after = bisect_left(offsets, wanted)
    allowed = [d for d in (after - 1, after) if low <= int(offsets[d]) <= high]
    return min(allowed, key=lambda d: abs(int(offsets[d]) - wanted), default=None)


def _listed(weights: Sequence[float]) -> str:
    return ",".join(f"{w:g}" for w in weights) or "no weights"
