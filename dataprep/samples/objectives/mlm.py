"""Masked language models: which words are hidden, and what stands in their place.

- Tokens: BERT (Devlin et al., 2019).
- Whole words: Google's whole-word BERT (2019); for Chinese, Cui et al., "Pre-training with
  whole word masking for Chinese BERT" (2021).
- N-grams of words: MacBERT (Cui et al., "Revisiting pre-trained models for Chinese natural
  language processing", 2020), with similar words in the place of [MASK] where a function gives
  them; ERNIE (Sun et al., 2019) hides phrases likewise.
- Spans of words: SpanBERT (Joshi et al., 2020), lengths geometric and cut at 10: 3.8 in the mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from dataprep.errors import UsageError
from dataprep.samples.objectives.checks import check_share
from dataprep.samples.rows import Objective, Rows
from dataprep.samples.vocabulary import Vocabulary

__all__ = ["MACBERT", "SPANBERT", "MlmSettings", "SimilarWords", "mlm", "mlm_objective"]

IGNORED = -100
"""The label of a token that is not predicted: what cross entropy leaves out by default."""

Per = Literal["token", "word", "span"]
Pairs = Literal["none", "nsp", "sop"]

SimilarWords: TypeAlias = Callable[
    [npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.uint64]], npt.NDArray[np.int64]
]
"""``(ids int64[n_tokens], offsets int64[n_words + 1], keys uint64[n_words]) -> int64[n_tokens]``:
words that were to become [MASK], and a random number for each; the answer has as many tokens for
each word. A negative id leaves the random token that MacBERT takes where no word is similar."""

MACBERT = (0.4, 0.3, 0.2, 0.1)
SPANBERT = tuple(0.2 * 0.8 ** (n - 1) for n in range(1, 11))


@dataclass(frozen=True, kw_only=True)
class MlmSettings:
    """How much is hidden, and how.

    Attributes:
        rate: share of the tokens of text that are to be predicted, at least one.
        max_predictions: the most of them in a sample; None for no other limit.
        whole_words: whether all tokens of a word share its fate.
        ngrams: how likely a span of 1, 2, … words is; any positive numbers, in proportion.
        shares: how many of the chosen become [MASK], a random token, or stay as they are.
        share_per: whether that is drawn for each token, word or span.
        similar: what gives similar words in the place of [MASK]; drawn for each word then.
        pairs: "nsp": two parts that follow one another or, half the time, the second from
            another document; "sop": half the time the two are swapped; "none": one stretch.
        short: with pairs, the share of samples that are cut to a random length.
    """

    rate: float = 0.15
    max_predictions: int | None = None
    whole_words: bool = False
    ngrams: tuple[float, ...] = (1.0,)
    shares: tuple[float, float, float] = (0.8, 0.1, 0.1)
    share_per: Per = "token"
    similar: SimilarWords | None = None
    pairs: Pairs = "none"
    short: float = 0.1

    def __post_init__(self) -> None:
        check_share("rate", self.rate)
        check_share("short", self.short, zero=True)
        if self.max_predictions is not None and self.max_predictions < 1:
            raise UsageError(f"max_predictions is {self.max_predictions}: it must be at least 1")
        if not self.ngrams or not all(math.isfinite(w) and w >= 0 for w in self.ngrams):
            raise UsageError(f"ngrams are {self.ngrams}: weights of 0 or more are needed")
        if not sum(self.ngrams) > 0:
            raise UsageError(f"ngrams are {self.ngrams}: one weight at least must be above 0")
        if len(self.shares) != 3 or min(self.shares) < 0 or not math.isclose(sum(self.shares), 1):
            raise UsageError(
                f"shares are {self.shares}: three numbers that add up to 1 are needed, for [MASK], "
                "random tokens and tokens as they are"
            )
        for name, value, kind in (("share_per", self.share_per, Per), ("pairs", self.pairs, Pairs)):
            if value not in get_args(kind):
                raise UsageError(f"{name} is {value!r}; known: {', '.join(get_args(kind))}.")
        if self.similar is not None and self.share_per == "token":
            raise UsageError(
                "similar words are put in the place of whole words: share_per must be 'word' or "
                "'span' with them",
            )


def mlm(
    tokens: npt.NDArray[np.int64],
    starts: npt.NDArray[np.bool_],
    keys: npt.NDArray[np.uint64],
    settings: MlmSettings,
    vocabulary: Vocabulary,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Mask rows that are laid out already, special tokens and all.

    ``tokens`` [n, length]; ``starts`` [n, length]: a word starts here or, at a special token, the
    word before it is whole. ``keys`` [n]. Words that are cut at an edge are never chosen. The
    number of chosen tokens is ``max(1, rate * tokens of text)``, rounded, and at most
    ``max_predictions``; it is less only where no word that is left would fit.

    Returns the masked tokens and the labels, -100 where nothing is predicted.
    """
    from dataprep.samples.objectives.mlm_kernel import PER_SPAN, PER_TOKEN, PER_WORD, mask

    masked = np.array(tokens, np.int64, order="C")
    labels = np.full(tokens.shape, IGNORED, np.int64)
    fates = np.zeros(tokens.shape, np.uint8)
    mask(
        masked,
        np.ascontiguousarray(starts) if settings.whole_words else np.ones(tokens.shape, bool),
        vocabulary.is_special,
        keys,
        settings.rate,
        settings.max_predictions or tokens.shape[1],
        np.cumsum(settings.ngrams) / math.fsum(settings.ngrams),
        settings.shares[0],
        settings.shares[1],
        {"token": PER_TOKEN, "word": PER_WORD, "span": PER_SPAN}[settings.share_per],
        vocabulary.role("mask"),
        vocabulary.ordinary,
        fates,
        labels,
    )
    if settings.similar is not None:
        _put_similar(masked, labels, fates, starts, keys, settings.similar, vocabulary)
    return masked, labels


def _put_similar(
    masked: npt.NDArray[np.int64],
    labels: npt.NDArray[np.int64],
    fates: npt.NDArray[np.uint8],
    starts: npt.NDArray[np.bool_],
    keys: npt.NDArray[np.uint64],
    similar: SimilarWords,
    vocabulary: Vocabulary,
) -> None:
    from dataprep.samples.keys import GOLDEN, mix
    from dataprep.samples.objectives.mlm_kernel import MASKED

    rows, columns = np.nonzero(fates == MASKED)
    if not len(rows):
        return
    follows = np.diff(columns, prepend=-2) == 1
    follows[1:] &= np.diff(rows) == 0
    (first,) = np.nonzero(~follows | starts[rows, columns])
    offsets = np.append(first, len(rows))
    # Numbers that the kernel never draws: it counts from the key upwards.
    drawn = mix(~keys[rows] + columns.astype(np.uint64) * GOLDEN)
    ids = similar(labels[rows, columns], offsets, drawn[first])
    if np.shape(ids) != rows.shape:
        raise UsageError(
            f"similar gave an array of shape {np.shape(ids)} for {len(rows)} tokens: a word and "
            "its similar one must have as many tokens"
        )
    ordinary = vocabulary.ordinary
    chance = ordinary[(drawn % np.uint64(len(ordinary))).astype(np.int64)]
    masked[rows, columns] = np.where(np.asarray(ids) < 0, chance, ids)


def mlm_objective(settings: MlmSettings, *, seq_len: int, vocabulary: Vocabulary) -> Objective:
    """Rows ``[CLS] text [SEP]``, or with pairs ``[CLS] A [SEP] B [SEP]`` and padding.

    Makes ``tokens`` and ``labels`` int64 [n, seq_len], ``attention_mask`` bool [n, seq_len], False
    on padding; with pairs also ``token_types`` int64 [n, seq_len], 1 on B, and ``pair_labels``
    int64 [n]: 1 where B is not what follows A, -100 where a sample has no two parts.
    """
    from dataprep.samples.objectives.pairs import pair_rows

    cls, sep = vocabulary.role("cls", "bos"), vocabulary.role("sep", "eos", "eod")
    vocabulary.role("mask")
    room = seq_len - (2 if settings.pairs == "none" else 3)
    if room < 2:
        raise UsageError(f"seq_len is {seq_len}: {settings.pairs} pairs need more")
    if settings.pairs == "none":
        make = partial(_one_stretch, settings=settings, vocabulary=vocabulary, cls=cls, sep=sep)
    else:
        pad = vocabulary.role("pad")
        make = partial(
            pair_rows, settings=settings, vocabulary=vocabulary, cls=cls, sep=sep, pad=pad
        )
    paired = settings.pairs != "none"
    return Objective(
        make=make,
        width=room,
        stride=room,
        words=settings.whole_words,
        sentences=paired,
        documents=paired,
        partners=paired,
    )


def _one_stretch(
    rows: Rows, *, settings: MlmSettings, vocabulary: Vocabulary, cls: int, sep: int
) -> dict[str, npt.NDArray[Any]]:
    n, width = rows.tokens.shape
    tokens = np.empty((n, width + 2), np.int64)
    tokens[:, 0], tokens[:, -1] = cls, sep
    tokens[:, 1:-1] = rows.tokens
    starts = np.ones((n, width + 2), bool)
    if rows.word_starts is not None:
        starts[:, 1:] = rows.word_starts
        # An end-of-document token ends a word; only the window's edge may cut one.
        starts[:, 1:-1] |= vocabulary.is_special[rows.tokens]
    masked, labels = mlm(tokens, starts, rows.keys, settings, vocabulary)
    return {"tokens": masked, "labels": labels, "attention_mask": np.ones(tokens.shape, bool)}
