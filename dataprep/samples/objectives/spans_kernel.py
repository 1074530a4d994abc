"""Cutting spans out of windows, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dataprep.samples.draws import below
from dataprep.tokenizers.compiled import compiled

__all__ = ["choose", "corrupt"]

Array = npt.NDArray[Any]


@compiled
def choose(key: np.uint64, n: int, count: int, total: int, out: Array) -> int:
    """``count`` different numbers below ``total``, ascending, all sets equally likely.

    They go to ``out``; returns how many numbers were drawn, by selection sampling (Knuth's
    algorithm S), from the ``n``-th on.
    """
    found = 0
    at = 0
    while found < count:
        if below(key, n + at, total - at) < count - found:
            out[found] = at
            found += 1
        at += 1
    return at


@compiled
def corrupt(
    tokens: Array,
    keys: Array,
    noise: Array,
    spans: Array,
    sentinels: Array,
    prefixes: Array,
    eos: int,
    encoder: Array,
    labels: Array,
    lengths: Array,
) -> None:
    """Fill ``encoder`` and ``labels``, int64, row by row; ``lengths`` int64[n, 2] gets theirs.

    Of each window ``noise`` tokens, in ``spans`` spans, go to the labels. Kept and cut stretches
    alternate, a kept one first, and no stretch is empty. ``prefixes`` int64[n] stands before the
    encoder's tokens where it is not negative.
    """
    width = tokens.shape[1]
    kept_ends = np.empty(width + 1, np.int64)
    noise_ends = np.empty(width + 1, np.int64)
    for row in range(len(tokens)):
        key = keys[row]
        n_spans = spans[row]
        n_kept = width - noise[row]
        # Cuts between the n - 1 pairs of neighbours make n tokens into parts.
        n = choose(key, 0, n_spans - 1, n_kept - 1, kept_ends)
        choose(key, n, n_spans - 1, noise[row] - 1, noise_ends)
        kept_ends[n_spans - 1] = n_kept - 1
        noise_ends[n_spans - 1] = noise[row] - 1
        to_encoder = 0
        to_labels = 0
        if prefixes[row] >= 0:
            encoder[row, 0] = prefixes[row]
            to_encoder = 1
        at = 0
        kept = 0
        cut = 0
        for span in range(n_spans):
            while kept <= kept_ends[span]:
                encoder[row, to_encoder] = tokens[row, at]
                to_encoder += 1
                at += 1
                kept += 1
            encoder[row, to_encoder] = sentinels[span]
            to_encoder += 1
            labels[row, to_labels] = sentinels[span]
            to_labels += 1
            while cut <= noise_ends[span]:
                labels[row, to_labels] = tokens[row, at]
                to_labels += 1
                at += 1
                cut += 1
        encoder[row, to_encoder] = eos
        labels[row, to_labels] = eos
        lengths[row, 0] = to_encoder + 1
        lengths[row, 1] = to_labels + 1
