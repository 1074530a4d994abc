"""GLM's blank filling, prefix language models and fill-in-the-middle."""

from __future__ import annotations

import math
from itertools import chain, pairwise

import numpy as np
import pytest
import slow_objectives as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from dataprep.errors import UsageError
from dataprep.samples.keys import keys_of
from dataprep.samples.objectives.fim import FimIds, FimSettings, fim, fim_objective
from dataprep.samples.objectives.glm import (
    GlmIds,
    GlmSettings,
    _spans,
    glm,
    glm_objective,
    poisson,
)
from dataprep.samples.objectives.prefix import PrefixSettings, prefix, prefix_objective
from dataprep.samples.rows import Rows
from dataprep.samples.vocabulary import Vocabulary

MASK, LONG, START, END, PAD = 1, 2, 3, 4, 5
IDS = GlmIds(mask=MASK, long=LONG, start=START, end=END, pad=PAD)
FIM = FimIds(prefix=1, middle=2, suffix=3, eod=9)
VOCABULARY = Vocabulary(
    size=400,
    roles={
        "mask": MASK,
        "gmask": LONG,
        "sop": START,
        "eop": END,
        "pad": PAD,
        "fim_prefix": 1,
        "fim_middle": 2,
        "fim_suffix": 3,
        "eod": 9,
    },
)
IGNORED = -100


def keys(n: int, seed: int = 0) -> np.ndarray:
    return keys_of(seed, np.zeros(n, np.int64), np.arange(n))


def windows(n: int, width: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(10, 400, (n, width)).astype(np.int32)


@pytest.mark.parametrize("long_share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("width", [2, 5, 40])
def test_glm_as_the_reference_does(long_share: float, width: int) -> None:
    chosen = GlmSettings(long_share=long_share, rate=0.4)
    budget, most = _spans(width, chosen)
    tokens = windows(50, width)
    seq_len = width + 2 * most + 2
    made = glm(tokens, keys(50), chosen, seq_len, IDS)
    for row in range(50):
        out, labels, positions, context = reference.blanked(
            tokens[row].tolist(),
            keys(50)[row],
            long_share=long_share,
            long_least=math.ceil(width / 2),
            budget=budget,
            most=most,
            cumulative=poisson(3.0).tolist(),
            ids=(MASK, LONG, START, END),
        )
        n = len(out)
        assert made["attention_mask"][row].sum() == n
        assert made["tokens"][row].tolist() == [*out, *[PAD] * (seq_len - n)]
        assert made["labels"][row].tolist() == [*labels, *[IGNORED] * (seq_len - n)]
        assert made["positions"][row][:, :n].T.tolist() == [list(p) for p in positions]
        assert made["context_lengths"][row] == context


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 2**40),
    seq_len=st.integers(6, 90),
    rate=st.floats(0.02, 0.8),
    mean=st.floats(0.2, 12),
    long_share=st.sampled_from([0.0, 0.5, 1.0]),
)
def test_glm_loses_nothing(seed, seq_len, rate, mean, long_share) -> None:
    chosen = GlmSettings(rate=rate, mean_span=mean, long_share=long_share)
    objective = glm_objective(chosen, seq_len=seq_len, vocabulary=VOCABULARY)
    tokens = windows(4, objective.width, seed % 1000)
    made = objective.make(Rows(tokens=tokens, keys=keys(4, seed)))
    budget, _ = _spans(objective.width, chosen)
    for row in range(4):
        context = int(made["context_lengths"][row])
        text = made["tokens"][row][:context].tolist()
        spans: dict[int, list[int]] = {}
        for place in range(context, int(made["attention_mask"][row].sum())):
            blank, within = made["positions"][row][:, place].tolist()
            if made["tokens"][row][place] == START:
                spans[blank] = []
                assert within == 1
            else:
                spans[blank].append(int(made["tokens"][row][place]))
                assert within == 1 + len(spans[blank])
                # What is read here was to be written one place before.
                assert made["labels"][row][place - 1] == made["tokens"][row][place]
        is_long = LONG in text
        blanks = [i for i, t in enumerate(text) if t in (MASK, LONG)]
        assert sorted(spans) == blanks
        assert all(b - a > 1 for a, b in pairwise(blanks))
        assert is_long or sum(map(len, spans.values())) <= budget
        parts = [spans.get(i, [t]) for i, t in enumerate(text)]
        assert list(chain.from_iterable(parts)) == tokens[row].tolist()


def test_glm_rates() -> None:
    n = 100_000
    objective = glm_objective(GlmSettings(long_share=0), seq_len=128, vocabulary=VOCABULARY)
    made = objective.make(Rows(tokens=windows(n, objective.width), keys=keys(n)))
    spans = (made["tokens"] == MASK).sum(1)
    blanked = (made["labels"] != IGNORED).sum(1) - spans
    budget = round(0.15 * objective.width)
    assert (blanked == budget).mean() > 0.9999
    # A Poisson distribution of 3 without its zero has the mean 3 / (1 - exp(-3)). The last length
    # is cut by the budget: half a span more than the budget would give.
    assert spans.mean() == pytest.approx(budget / 3.157 + 0.5, abs=0.3)
    long = glm_objective(GlmSettings(), seq_len=128, vocabulary=VOCABULARY)
    made = long.make(Rows(tokens=windows(n, long.width), keys=keys(n)))
    is_long = (made["tokens"] == LONG).any(1)
    assert is_long.mean() == pytest.approx(0.5, abs=5 * np.sqrt(0.25 / n))
    lengths = (made["labels"] != IGNORED).sum(1)[is_long] - 1
    assert (lengths.min(), lengths.max()) == (math.ceil(long.width / 2), long.width - 1)


def test_prefix_hides_the_beginning() -> None:
    n, seq_len = 100_000, 16
    tokens = windows(n, seq_len + 1)
    made = prefix(tokens, keys(n), PrefixSettings())
    assert np.array_equal(made["tokens"], tokens[:, :-1])
    for row in range(200):
        length = int(made["context_lengths"][row])
        expected = [IGNORED] * (length - 1) + tokens[row][length:].tolist()
        assert made["labels"][row].tolist() == expected
    counts = np.bincount(made["context_lengths"])
    assert counts[0] == 0
    assert len(counts) == seq_len + 1
    assert np.abs(counts[1:] - n / seq_len).max() < 5 * np.sqrt(n / seq_len)
    bounded = prefix(tokens[:1000], keys(1000), PrefixSettings(shortest=0.25, longest=0.5))
    assert set(bounded["context_lengths"].tolist()) == {4, 5, 6, 7, 8}


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**40),
    width=st.integers(1, 60),
    rate=st.sampled_from([0.0, 0.5, 1.0]),
    spm=st.sampled_from([0.0, 0.5, 1.0]),
    starts=st.floats(0, 0.5),
    with_eod=st.booleans(),
)
def test_fim_as_the_reference_does(seed, width, rate, spm, starts, with_eod) -> None:
    rng = np.random.default_rng(seed)
    tokens = rng.integers(10, 400, (6, width))
    begins = rng.random((6, width)) < starts
    if with_eod:
        tokens[:, :-1][begins[:, 1:]] = FIM.eod
    made = fim(tokens, begins, keys(6, seed), FimSettings(rate=rate, spm=spm), FIM)
    for row in range(6):
        expected = reference.filled(
            tokens[row].tolist(),
            begins[row].tolist(),
            keys(6, seed)[row],
            rate=rate,
            spm=spm,
            eod=FIM.eod,
            ids=(FIM.prefix, FIM.middle, FIM.suffix),
        )
        assert made[row].tolist() == expected


def test_fim_keeps_the_text_and_its_rates() -> None:
    n, width = 100_000, 12
    tokens = np.arange(20, 20 + width)[None].repeat(n, 0)
    begins = np.zeros((n, width), bool)
    begins[:, 0] = True
    made = fim(tokens, begins, keys(n), FimSettings(rate=0.5, spm=0.25), FIM)
    moved = (made == FIM.middle).any(1)
    assert moved.mean() == pytest.approx(0.5, abs=5 * np.sqrt(0.25 / n))
    spm = moved & (made[:, 1] == FIM.suffix) & (made[:, 0] == FIM.prefix)
    # An empty prefix looks alike in both layouts: 9 tokens are left, cut at two of 10 places.
    empty = 1 - (9 / 10) ** 2
    expected = 0.25 + 0.75 * empty
    assert spm.sum() / moved.sum() == pytest.approx(expected, abs=0.01)
    for row in made[moved][:500].tolist():
        middle, suffix = row.index(FIM.middle), row.index(FIM.suffix)
        assert row[0] == FIM.prefix
        parts = [row[1:suffix], row[middle + 1 :], row[suffix + 1 : middle]]
        if suffix == 1 and parts[1] and parts[1][0] == 20:  # SPM: the prefix is in the last part
            parts = [[], parts[1], parts[2]]
        assert list(chain.from_iterable(parts)) == list(range(20, 20 + width - 3))


def test_fim_is_causal() -> None:
    objective = fim_objective(FimSettings(), seq_len=20, vocabulary=VOCABULARY)
    assert (objective.width, objective.stride, objective.documents) == (21, 20, True)
    rows = Rows(tokens=windows(9, 21), keys=keys(9), document_starts=np.zeros((9, 21), bool))
    made = objective.make(rows)
    assert made["tokens"].shape == made["labels"].shape == (9, 20)
    assert np.array_equal(made["tokens"][:, 1:], made["labels"][:, :-1])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GlmSettings(rate=0), "rate is 0"),
        (lambda: GlmSettings(long_share=1.5), "long_share is 1.5"),
        (lambda: GlmSettings(mean_span=0), "mean_span is 0"),
        (lambda: glm_objective(GlmSettings(), seq_len=3, vocabulary=VOCABULARY), "seq_len is 3"),
        (lambda: PrefixSettings(shortest=0.7, longest=0.2), "the shortest first"),
        (lambda: prefix_objective(PrefixSettings(), seq_len=0, vocabulary=VOCABULARY), "is 0"),
        (lambda: FimSettings(rate=-0.1), "rate is -0.1"),
        (lambda: fim_objective(FimSettings(), seq_len=3, vocabulary=VOCABULARY), "at least 4"),
        (
            lambda: fim_objective(
                FimSettings(), seq_len=30, vocabulary=Vocabulary(size=9, roles={})
            ),
            "'fim_prefix'.* it has: none",
        ),
    ],
)
def test_settings_that_cannot_be(make, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()
