"""A mixture of denoisers: Tay et al., "UL2: Unifying language learning paradigms" (2023).

R: short spans, a small share; X: long spans or a large share; S: the end of the text after its
beginning. A token that names the kind stands first, where the tokenizer has one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dataprep.errors import UsageError
from dataprep.samples.keys import GOLDEN, mix
from dataprep.samples.objectives.checks import check_share
from dataprep.samples.objectives.t5 import IGNORED, noise_of, to_decoder
from dataprep.samples.rows import Objective, Rows
from dataprep.samples.vocabulary import Vocabulary

__all__ = ["PAPER", "Denoiser", "Ul2Settings", "ul2", "ul2_objective"]


@dataclass(frozen=True, kw_only=True)
class Denoiser:
    """One way to cut.

    Attributes:
        kind: "R", "X" or "S".
        rate: share of the tokens that are cut out; of "S" in the mean, uniform up to twice of it.
        mean_span: tokens in a span; "S" has one, at the end.
        weight: how often it is taken, in proportion.
    """

    kind: Literal["R", "X", "S"]
    rate: float
    mean_span: float = math.inf
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in ("R", "X", "S"):
            raise UsageError(f"A denoiser is of kind R, X or S, not {self.kind!r}.")
        check_share("rate", self.rate)
        if not (self.mean_span >= 1 and 0 < self.weight < math.inf):
            raise UsageError(
                f"mean_span {self.mean_span} and weight {self.weight}: at least 1 and above 0"
            )
        if self.kind == "S" and self.rate > 0.5:
            raise UsageError(f"The rate of an S denoiser is {self.rate}: at most 0.5, its mean")


PAPER = (
    Denoiser(kind="R", rate=0.15, mean_span=3),
    Denoiser(kind="R", rate=0.15, mean_span=8),
    Denoiser(kind="X", rate=0.5, mean_span=3),
    Denoiser(kind="X", rate=0.5, mean_span=8),
    Denoiser(kind="X", rate=0.15, mean_span=64),
    Denoiser(kind="X", rate=0.5, mean_span=64),
    Denoiser(kind="S", rate=0.25),
)
"""The seven of the paper, equally often."""


@dataclass(frozen=True, kw_only=True)
class Ul2Settings:
    """Which denoisers there are.

    Attributes:
        denoisers: the mixture.
        mode_tokens: put the token of the kind first; the tokenizer needs the roles ``mode_r``,
            ``mode_x`` and ``mode_s``.
    """

    denoisers: tuple[Denoiser, ...] = PAPER
    mode_tokens: bool = False

    def __post_init__(self) -> None:
        if not self.denoisers:
            raise UsageError("A mixture needs at least one denoiser.")


def ul2(
    tokens: npt.NDArray[np.integer[Any]],
    keys: npt.NDArray[np.uint64],
    settings: Ul2Settings,
    shape: tuple[int, int],
    sentinels: npt.NDArray[np.int64],
    modes: npt.NDArray[np.int64],
    eos: int,
    pad: int,
) -> dict[str, npt.NDArray[Any]]:
    """Cut ``tokens`` [n, width] by ``keys`` [n]; see ``ul2_objective`` for the arrays.

    ``shape`` is the length of the encoder's and the decoder's side; ``modes`` int64[denoisers] are
    the ids that stand first, -1 for none.
    """
    from dataprep.samples.objectives.spans_kernel import corrupt

    n, width = tokens.shape
    which = _which(keys, settings)
    noise = np.empty(n, np.int64)
    spans = np.ones(n, np.int64)
    for number, denoiser in enumerate(settings.denoisers):
        here = which == number
        if denoiser.kind == "S":
            most = max(1, min(round(2 * denoiser.rate * width), width - 1))
            drawn = mix(~keys[here] + GOLDEN) % np.uint64(most)
            noise[here] = drawn.astype(np.int64) + 1
        else:
            noise[here], spans[here] = noise_of(width, denoiser.rate, denoiser.mean_span)
    encoder = np.full((n, shape[0]), pad, np.int64)
    labels = np.full((n, shape[1]), pad, np.int64)
    lengths = np.empty((n, 2), np.int64)
    corrupt(
        tokens.astype(np.int64), keys, noise, spans, sentinels, modes[which], eos,
        encoder, labels, lengths,
    )  # fmt: skip
    decoder = to_decoder(labels, pad)
    labels[np.arange(shape[1]) >= lengths[:, 1:]] = IGNORED
    return {
        "tokens": encoder,
        "attention_mask": np.arange(shape[0]) < lengths[:, :1],
        "decoder_tokens": decoder,
        "labels": labels,
        "denoisers": which,
    }


def _which(keys: npt.NDArray[np.uint64], settings: Ul2Settings) -> npt.NDArray[np.int64]:
    weights = np.array([d.weight for d in settings.denoisers])
    # Numbers that the kernel never draws: it counts from the key upwards.
    u = (mix(~keys) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.searchsorted(np.cumsum(weights / weights.sum())[:-1], u, side="right")


def ul2_objective(settings: Ul2Settings, *, seq_len: int, vocabulary: Vocabulary) -> Objective:
    """Samples for an encoder and a decoder, of windows that fit whichever denoiser is drawn.

    Makes ``tokens`` int64 and ``attention_mask`` bool [n, seq_len], ``decoder_tokens`` and
    ``labels`` int64 [n, seq_len], padded, labels with -100, and ``denoisers`` int64 [n], the number
    of what was drawn.
    """
    extra = int(settings.mode_tokens)
    if seq_len < 6:
        raise UsageError(f"seq_len is {seq_len}: a mixture of denoisers needs at least 6 tokens")
    # Whichever is drawn, an end and a sentinel a span must fit on both sides.
    width = seq_len - 2 - extra
    while any(max(_sides(d, width, extra)) > seq_len for d in settings.denoisers):
        width -= 1
    spans = max(
        1 if d.kind == "S" else noise_of(width, d.rate, d.mean_span)[1] for d in settings.denoisers
    )
    modes = [
        vocabulary.role(f"mode_{d.kind.lower()}") if settings.mode_tokens else -1
        for d in settings.denoisers
    ]
    make = partial(
        _make,
        settings=settings,
        shape=(seq_len, seq_len),
        sentinels=vocabulary.sentinels(spans),
        modes=np.array(modes),
        eos=vocabulary.role("eos", "eod", "sep"),
        pad=vocabulary.role("pad"),
    )
    return Objective(make=make, width=width, stride=width)


def _sides(denoiser: Denoiser, width: int, extra: int) -> tuple[int, int]:
    """The most tokens on the encoder's and the decoder's side."""
    if denoiser.kind == "S":
        return extra + width - 1 + 2, width - 1 + 2
    noise, spans = noise_of(width, denoiser.rate, denoiser.mean_span)
    return extra + width - noise + spans + 1, noise + spans + 1


def _make(rows: Rows, **given: Any) -> dict[str, npt.NDArray[Any]]:
    return ul2(rows.tokens, rows.keys, **given)
