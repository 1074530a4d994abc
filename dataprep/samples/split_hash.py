"""A split by what documents say: equal texts are on one side, wherever they stand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dataprep.errors import DataError, UsageError
from dataprep.samples.documents import DocumentOffsets

__all__ = ["documents_by_hash", "parts_of"]

_STEP = 1 << 18  # documents at once


def parts_of(
    tokens: npt.NDArray[np.integer[Any]], offsets: DocumentOffsets, weights: Sequence[float]
) -> npt.NDArray[np.uint8]:
    """The part of each document, uint8[n_documents], in proportion to ``weights``.

    It depends on the document's tokens alone: a hash of all of them is compared with the weights.
    Every token is read once. Raises UsageError for less than two weights or more than 255, and for
    weights that are not positive and finite.
    """
    if not 2 <= len(weights) <= 255 or not all(math.isfinite(w) and w > 0 for w in weights):
        raise UsageError(
            f"a split by {','.join(f'{w:g}' for w in weights) or 'no weights'}: two or more "
            "weights above 0 are needed",
            hint="for example 99,1: a hundredth of the documents is for validation",
        )
    from dataprep.samples.split_kernel import hash_documents

    # Bounds in 2**32: the same on every machine.
    bounds = np.cumsum(weights)[:-1] / math.fsum(weights)
    limits = np.array([round(b * 2**32) for b in bounds], np.uint64)
    n = len(offsets) - 1
    parts = np.empty(n, np.uint8)
    for first in range(0, n, _STEP):
        borders = offsets.range(first, min(first + _STEP, n) + 1)
        hashes = np.empty(len(borders) - 1, np.uint64)
        hash_documents(np.asarray(tokens), borders, hashes)
        part = np.searchsorted(limits, hashes >> np.uint64(32), side="right")
        parts[first : first + len(part)] = part
    return parts


def documents_by_hash(
    tokens: npt.NDArray[np.integer[Any]], offsets: DocumentOffsets, weights: Sequence[float]
) -> list[npt.NDArray[np.int64]]:
    """For each weight the token numbers ``(first, last)`` of its documents, int64[n, 2].

    Neighbours of one part are put together. DataError where a part has no tokens.
    """
    parts = parts_of(tokens, offsets, weights)
    (changes,) = np.nonzero(np.diff(parts))
    cuts = np.concatenate(([0], changes + 1, [len(parts)])) if len(parts) else np.array([0])
    places = np.array([offsets[int(c)] for c in cuts], np.int64)
    found = []
    for number, weight in enumerate(weights):
        (runs,) = np.nonzero(parts[cuts[:-1]] == number)
        streams = np.stack([places[runs], places[runs + 1]], axis=1)
        streams = streams[streams[:, 1] > streams[:, 0]]
        if not len(streams):
            raise DataError(
                f"{len(parts)} documents leave none for the part of weight {weight:g}",
                hint="use a larger weight, or a dataset with more documents",
            )
        found.append(streams)
    return found
