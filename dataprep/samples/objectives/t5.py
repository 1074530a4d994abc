"""Span corruption: Raffel et al., "Exploring the limits of transfer learning with a unified
text-to-text transformer" (2020).

Spans are cut out of the text, a sentinel in the place of each; the answer is every sentinel and
what it stands for. How many tokens go in and out is fixed by a formula, so that nothing is padded.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from dataprep.errors import UsageError
from dataprep.samples.objectives.checks import check_share
from dataprep.samples.rows import Objective, Rows
from dataprep.samples.vocabulary import Vocabulary

__all__ = ["T5Settings", "noise_of", "span_lengths", "t5", "t5_objective", "to_decoder"]

IGNORED = -100


@dataclass(frozen=True, kw_only=True)
class T5Settings:
    """How much is cut out.

    Attributes:
        rate: share of the tokens that are cut out.
        mean_span: tokens in a span, in the mean.
    """

    rate: float = 0.15
    mean_span: float = 3.0

    def __post_init__(self) -> None:
        check_share("rate", self.rate)
        if not self.mean_span >= 1:
            raise UsageError(f"mean_span is {self.mean_span}: it must be at least 1")


def noise_of(length: int, rate: float, mean_span: float) -> tuple[int, int]:
    """Tokens that are cut out of ``length`` (at least 2) and spans that they are in.

    At least one token is cut out and one kept, and no span is empty.
    """
    noise = min(max(round(length * rate), 1), length - 1)
    spans = min(max(round(noise / mean_span), 1), noise, length - noise)
    return noise, spans


def span_lengths(seq_len: int, rate: float, mean_span: float) -> tuple[int, int]:
    """``(width, targets)``: the most tokens whose encoder side fits into ``seq_len``, and labels.

    The encoder sees what is kept, a sentinel a span and an end; the labels are what is cut out, a
    sentinel a span and an end. UsageError when nothing fits.
    """
    if seq_len < 3:
        raise UsageError(f"seq_len is {seq_len}: a sample of spans needs at least 3 tokens")
    width = 2

    def needed(length: int) -> int:
        noise, spans = noise_of(length, rate, mean_span)
        return length - noise + spans + 1

    # What is needed grows with the length, if not with every token: 1 more at least for 1 / (1 -
    # rate) more, roughly.
    while needed(width * 2) <= seq_len:
        width *= 2
    low, high = width, width * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if needed(middle) <= seq_len else (low, middle)
    while needed(low + 1) <= seq_len:
        low += 1
    noise, spans = noise_of(low, rate, mean_span)
    return low, noise + spans + 1


def t5(
    tokens: npt.NDArray[np.integer[Any]],
    keys: npt.NDArray[np.uint64],
    settings: T5Settings,
    sentinels: npt.NDArray[np.int64],
    eos: int,
    start: int,
) -> dict[str, npt.NDArray[np.int64]]:
    """Spans out of ``tokens`` [n, width], by ``keys`` [n]; see ``t5_objective`` for the arrays."""
    from dataprep.samples.objectives.spans_kernel import corrupt

    n, width = tokens.shape
    noise, spans = noise_of(width, settings.rate, settings.mean_span)
    encoder = np.empty((n, width - noise + spans + 1), np.int64)
    labels = np.empty((n, noise + spans + 1), np.int64)
    corrupt(
        tokens.astype(np.int64),
        keys,
        np.full(n, noise),
        np.full(n, spans),
        sentinels,
        np.full(n, -1),
        eos,
        encoder,
        labels,
        np.empty((n, 2), np.int64),
    )
    return {"tokens": encoder, "decoder_tokens": to_decoder(labels, start), "labels": labels}


def to_decoder(labels: npt.NDArray[np.int64], start: int) -> npt.NDArray[np.int64]:
    """The labels one place on, ``start`` first: what a decoder reads."""
    decoder = np.empty_like(labels)
    decoder[:, 0] = start
    decoder[:, 1:] = labels[:, :-1]
    return decoder


def t5_objective(settings: T5Settings, *, seq_len: int, vocabulary: Vocabulary) -> Objective:
    """Samples for an encoder and a decoder.

    Makes ``tokens`` int64 [n, seq_len], for the encoder, and ``decoder_tokens`` and ``labels``
    int64 [n, targets], where ``targets`` follows from ``seq_len``. Where the formula cannot fill
    ``seq_len`` exactly, ``tokens`` are shorter.
    """
    width, _ = span_lengths(seq_len, settings.rate, settings.mean_span)
    _, spans = noise_of(width, settings.rate, settings.mean_span)
    make = partial(
        _make,
        settings=settings,
        sentinels=vocabulary.sentinels(spans),
        eos=vocabulary.role("eos", "eod", "sep"),
        start=vocabulary.role("pad", "bos"),
    )
    return Objective(make=make, width=width, stride=width)


def _make(rows: Rows, **given: Any) -> dict[str, npt.NDArray[Any]]:
    return t5(rows.tokens, rows.keys, **given)
