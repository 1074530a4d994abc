"""Which documents train and which only measure: no document is on two sides."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

from dataprep.errors import DataError, UsageError

__all__ = ["split_documents"]

# A corpus lies in order, one source or language after the other: parts that are cut out of the
# whole of it are alike, a tail is not.
_STRETCHES = 16
# Samples that a range should hold at least, so that little is lost at its end.
_SAMPLES = 4


def split_documents(
    offsets: Sequence[int], weights: Sequence[float], *, at_least: int
) -> list[list[range]]:
    """Cut the documents into parts by their tokens: for each weight, the ranges of its documents.

    The corpus is divided into up to 16 equal stretches, fewer where documents are few or long, and
    each stretch by the weights, in order; every cut falls on the document border nearest to its
    place. Each range holds at least ``at_least`` tokens, the length of one sample: in a corpus too
    small for that, the small parts are widened by whole documents.

    ``offsets`` holds ``n_documents + 1`` token numbers where documents start; any sequence will do,
    and only about a thousand of its elements are read. Raises ``UsageError`` for less than two
    weights and for weights that are not positive and finite, ``DataError`` when there are too few
    tokens or borders.
    """
    if len(weights) < 2 or not all(math.isfinite(w) and w > 0 for w in weights):
        raise UsageError(
            f"a split by {_listed(weights)}: two or more weights above 0 are needed",
            hint="for example 99,1: a hundredth of the tokens is for validation",
        )
    n_tokens = int(offsets[len(offsets) - 1])
    smallest_part = n_tokens * min(weights) / math.fsum(weights)
    stretches = max(1, min(_STRETCHES, int(smallest_part // (_SAMPLES * at_least))))
    while True:
        shares = [w / math.fsum(weights) / stretches for w in weights] * stretches
        cuts = _cuts(offsets, shares, at_least)
        if cuts is not None and (stretches == 1 or _is_fair(offsets, shares, cuts)):
            ranges = [range(first, last) for first, last in pairwise(cuts)]
            return [ranges[part :: len(weights)] for part in range(len(weights))]
        if stretches == 1:
            raise DataError(
                f"{len(offsets) - 1} documents with {n_tokens} tokens cannot be split by "
                f"{_listed(weights)}: no border between documents leaves {at_least} tokens, "
                "which one sample takes, on every side",
                hint="use a shorter seq_len, or a dataset with more or shorter documents",
            )
        stretches //= 2


def _cuts(offsets: Sequence[int], shares: Sequence[float], at_least: int) -> list[int] | None:
    """Documents where each share starts, and their number; None if a range would be too short."""
    n_documents = len(offsets) - 1
    n_tokens = int(offsets[n_documents])
    cuts = [0]
    for part in range(1, len(shares)):
        low = int(offsets[cuts[-1]]) + at_least
        high = n_tokens - at_least * (len(shares) - part)
        wanted = min(max(round(n_tokens * math.fsum(shares[:part])), low), high)
        after = bisect_left(offsets, wanted)
        allowed = [d for d in (after - 1, after) if low <= int(offsets[d]) <= high]
        if not allowed:
            return None
        cuts.append(min(allowed, key=lambda d: abs(int(offsets[d]) - wanted)))
    return [*cuts, n_documents]


def _is_fair(offsets: Sequence[int], shares: Sequence[float], cuts: Sequence[int]) -> bool:
    """Whether every range has between half and one and a half of the tokens of its share."""
    n_tokens = int(offsets[len(offsets) - 1])
    return all(
        abs(int(offsets[last]) - int(offsets[first]) - share * n_tokens) <= share * n_tokens / 2
        for share, (first, last) in zip(shares, pairwise(cuts), strict=True)
    )


def _listed(weights: Sequence[float]) -> str:
    return ",".join(f"{w:g}" for w in weights) or "no weights"
