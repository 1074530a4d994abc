"""Choosing words to mask and what stands in their place, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dataprep.samples.draws import below, unit
from dataprep.tokenizers.compiled import compiled

__all__ = ["KEPT", "MASKED", "NOT_CHOSEN", "PER_SPAN", "PER_TOKEN", "PER_WORD", "RANDOM", "mask"]

Array = npt.NDArray[Any]

NOT_CHOSEN, MASKED, RANDOM, KEPT = 0, 1, 2, 3
PER_TOKEN, PER_WORD, PER_SPAN = 0, 1, 2


@compiled
def mask(
    tokens: Array,
    starts: Array,
    special: Array,
    keys: Array,
    rate: float,
    most: int,
    cumulative: Array,
    mask_share: float,
    random_share: float,
    per: int,
    mask_id: int,
    ordinary: Array,
    fates: Array,
    labels: Array,
) -> None:
    """Mask ``tokens`` int64[n, length] in place.

    ``starts`` bool[n, length]: a word starts here; at a special token: the word before it is whole.
    ``special`` bool[vocabulary]. ``cumulative`` float64[k]: chance that a span has at most so many
    words. ``fates`` uint8[n, length] is all zeros and gets what became of each token; ``labels``
    int64[n, length] gets the ids of those that were chosen.
    """
    length = tokens.shape[1]
    first = np.empty(length, np.int64)  # of each word
    last = np.empty(length, np.int64)  # one after its last token
    taken = np.empty(length, np.bool_)
    order = np.empty(length, np.int64)
    for row in range(len(tokens)):
        key = keys[row]
        n = 0  # numbers drawn
        words = 0
        maskable = 0
        begun = -1
        for i in range(length):
            is_special = special[tokens[row, i]]
            if not is_special:
                maskable += 1
            if begun >= 0 and starts[row, i]:
                first[words] = begun
                last[words] = i
                words += 1
            if is_special:
                begun = -1
            elif starts[row, i]:
                begun = i
        if begun >= 0:
            first[words] = begun
            last[words] = length
            words += 1
        for w in range(words):
            order[w] = w
            taken[w] = False
        left = min(most, max(1, int(rate * maskable + 0.5)))
        for turn in range(words):
            if left == 0:
                break
            other = turn + below(key, n, words - turn)
            n += 1
            word = order[other]
            order[other] = order[turn]
            order[turn] = word
            if taken[word]:
                continue
            wanted = 1
            if len(cumulative) > 1:
                u = unit(key, n)
                n += 1
                while wanted < len(cumulative) and u >= cumulative[wanted - 1]:
                    wanted += 1
            stop = word
            while (
                stop < words
                and stop - word < wanted
                and not taken[stop]
                and (stop == word or first[stop] == last[stop - 1])
                and last[stop] - first[stop] <= left
            ):
                left -= last[stop] - first[stop]
                taken[stop] = True
                stop += 1
            fate = NOT_CHOSEN
            for w in range(word, stop):
                for i in range(first[w], last[w]):
                    if (
                        per == PER_TOKEN
                        or (per == PER_WORD and i == first[w])
                        or (per == PER_SPAN and i == first[word])
                    ):
                        u = unit(key, n)
                        n += 1
                        if u < mask_share:
                            fate = MASKED
                        elif u < mask_share + random_share:
                            fate = RANDOM
                        else:
                            fate = KEPT
                    labels[row, i] = tokens[row, i]
                    fates[row, i] = fate
                    if fate == MASKED:
                        tokens[row, i] = mask_id
                    elif fate == RANDOM:
                        tokens[row, i] = ordinary[below(key, n, len(ordinary))]
                        n += 1
