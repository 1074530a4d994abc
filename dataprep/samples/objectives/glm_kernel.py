"""Blanking spans and laying them out behind the text, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dataprep.samples.draws import below, unit
from dataprep.samples.objectives.spans_kernel import choose
from dataprep.tokenizers.compiled import compiled

__all__ = ["blank"]

Array = npt.NDArray[Any]


@compiled
def blank(
    tokens: Array,
    keys: Array,
    long_share: float,
    long_least: int,
    budget: int,
    most_spans: int,
    lengths_cumulative: Array,
    mask_id: int,
    long_id: int,
    start_id: int,
    end_id: int,
    out: Array,
    labels: Array,
    positions: Array,
    contexts: Array,
    lengths: Array,
) -> None:
    """Fill ``out``, ``labels`` int64[n, length], ``positions`` int64[n, 2, length] and the rest."""
    width = tokens.shape[1]
    span_lengths = np.empty(max(most_spans, 1), np.int64)
    slots = np.empty(max(most_spans, 1), np.int64)
    begins = np.empty(max(most_spans, 1), np.int64)
    masks = np.empty(max(most_spans, 1), np.int64)
    for row in range(len(tokens)):
        key = keys[row]
        is_long = unit(key, 0) < long_share
        n = 1
        spans = 0
        blanked = 0
        if is_long:
            blanked = long_least + below(key, n, width - long_least)
            n += 1
            span_lengths[0] = blanked
            slots[0] = width - blanked
            spans = 1
        else:
            while blanked < budget and spans < most_spans:
                u = unit(key, n)
                n += 1
                length = 1
                while length < len(lengths_cumulative) and u >= lengths_cumulative[length - 1]:
                    length += 1
                length = min(length, budget - blanked)
                span_lengths[spans] = length
                blanked += length
                spans += 1
            # The last one may have been cut: it shall not always be the last in the text.
            for i in range(spans - 1, 0, -1):
                j = below(key, n, i + 1)
                n += 1
                length = span_lengths[i]
                span_lengths[i] = span_lengths[j]
                span_lengths[j] = length
            # A span between any two tokens that stay, at most one at a place.
            n += choose(key, n, spans, width - blanked + 1, slots)
        mask = long_id if is_long else mask_id
        at = 0  # in the window
        to = 0  # in the sample
        kept = 0
        for span in range(spans + 1):
            until = slots[span] if span < spans else width - blanked
            while kept < until:
                out[row, to] = tokens[row, at]
                positions[row, 0, to] = to
                to += 1
                at += 1
                kept += 1
            if span < spans:
                begins[span] = at
                masks[span] = to
                out[row, to] = mask
                positions[row, 0, to] = to
                to += 1
                at += span_lengths[span]
        contexts[row] = to
        for turn in range(spans):
            other = turn + below(key, n, spans - turn)
            n += 1
            begin, length, place = begins[other], span_lengths[other], masks[other]
            begins[other] = begins[turn]
            span_lengths[other] = span_lengths[turn]
            masks[other] = masks[turn]
            for i in range(length + 1):
                out[row, to] = start_id if i == 0 else tokens[row, begin + i - 1]
                labels[row, to] = end_id if i == length else tokens[row, begin + i]
                positions[row, 0, to] = place
                positions[row, 1, to] = i + 1
                to += 1
        lengths[row] = to
