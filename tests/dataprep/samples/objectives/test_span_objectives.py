"""T5's span corruption and UL2's mixture."""

from __future__ import annotations

import numpy as np
import pytest
import slow_objectives as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from dataprep.errors import UsageError
from dataprep.samples.keys import keys_of
from dataprep.samples.objectives.t5 import T5Settings, noise_of, span_lengths, t5, t5_objective
from dataprep.samples.objectives.ul2 import Denoiser, Ul2Settings, ul2_objective
from dataprep.samples.rows import Rows
from dataprep.samples.vocabulary import Vocabulary

EOS, PAD, FIRST = 1, 0, 1000
VOCABULARY = Vocabulary(
    size=2000,
    roles={
        "eos": EOS,
        "pad": PAD,
        "mode_r": 500,
        "mode_x": 501,
        "mode_s": 502,
        **{f"extra_id_{i}": FIRST - i for i in range(200)},
    },
)
SENTINELS = VOCABULARY.sentinels(200)
IGNORED = -100


def keys(n: int, seed: int = 0) -> np.ndarray:
    return keys_of(seed, np.zeros(n, np.int64), np.arange(n))


def windows(n: int, width: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(10, 400, (n, width)).astype(np.uint16)


def restored(encoder: list[int], labels: list[int]) -> list[int]:
    """The text, from what a model reads and what it is to write."""
    answers: dict[int, list[int]] = {}
    for token in labels[:-1]:
        if token >= FIRST - 200:
            answers[token] = []
            last = token
        else:
            answers[last].append(token)
    text: list[int] = []
    for token in encoder[:-1]:
        text += answers.pop(token) if token >= FIRST - 200 else [token]
    assert not answers
    return text


def test_lengths_that_t5_published() -> None:
    """512 tokens for the encoder come of 568, and 114 go to the decoder."""
    assert span_lengths(512, 0.15, 3.0) == (568, 114)
    assert span_lengths(1024, 0.15, 3.0) == (1137, 229)


@pytest.mark.parametrize("rate", [0.05, 0.15, 0.5, 0.9])
@pytest.mark.parametrize("mean", [1.0, 3.0, 8.0, 64.0])
def test_the_longest_window_that_fits(rate: float, mean: float) -> None:
    for seq_len in [3, 4, 5, 16, 17, 100, 511]:
        width, targets = span_lengths(seq_len, rate, mean)

        def needed(length: int) -> int:
            noise, spans = noise_of(length, rate, mean)
            return length - noise + spans + 1

        slow = max(n for n in range(2, 20 * seq_len + 50) if needed(n) <= seq_len)
        assert width == slow
        assert targets == sum(noise_of(width, rate, mean)) + 1


@pytest.mark.parametrize(("seq_len", "rate", "mean"), [(16, 0.15, 3), (64, 0.5, 2), (40, 0.3, 50)])
def test_t5_as_the_reference_does(seq_len: int, rate: float, mean: float) -> None:
    chosen = T5Settings(rate=rate, mean_span=mean)
    width, targets = span_lengths(seq_len, rate, mean)
    noise, spans = noise_of(width, rate, mean)
    tokens = windows(50, width)
    made = t5(tokens, keys(50), chosen, SENTINELS, EOS, PAD)
    assert made["tokens"].shape[1] <= seq_len
    assert made["labels"].shape == (50, targets)
    for row in range(50):
        expected = reference.corrupted(
            tokens[row].tolist(), keys(50)[row], noise, spans, SENTINELS.tolist(), -1, EOS
        )
        assert (made["tokens"][row].tolist(), made["labels"][row].tolist()) == expected
    assert np.array_equal(made["decoder_tokens"][:, 1:], made["labels"][:, :-1])
    assert (made["decoder_tokens"][:, 0] == PAD).all()


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**40),
    seq_len=st.integers(3, 90),
    rate=st.floats(0.01, 0.99),
    mean=st.floats(1, 20),
)
def test_t5_loses_nothing(seed: int, seq_len: int, rate: float, mean: float) -> None:
    chosen = T5Settings(rate=rate, mean_span=mean)
    width, _ = span_lengths(seq_len, rate, mean)
    tokens = windows(4, width, seed % 1000)
    made = t5(tokens, keys(4, seed), chosen, SENTINELS, EOS, PAD)
    for row in range(4):
        text = restored(made["tokens"][row].tolist(), made["labels"][row].tolist())
        assert text == tokens[row].tolist()


def test_every_cut_is_as_likely() -> None:
    """Of 4 kept and 4 cut tokens in 2 spans each there are 3 · 3 ways."""
    n = 90_000
    tokens = np.arange(10, 18)[None].repeat(n, 0)
    made = t5(tokens, keys(n), T5Settings(rate=0.5, mean_span=2), SENTINELS, EOS, PAD)
    ways, counts = np.unique(made["tokens"], axis=0, return_counts=True)
    assert len(ways) == 9
    assert np.abs(counts - n / 9).max() < 5 * np.sqrt(n / 9)


@pytest.mark.parametrize("mode_tokens", [False, True])
def test_ul2_restores_what_each_denoiser_cut(mode_tokens: bool) -> None:
    chosen = Ul2Settings(mode_tokens=mode_tokens)
    objective = ul2_objective(chosen, seq_len=128, vocabulary=VOCABULARY)
    n = 700
    tokens = windows(n, objective.width)
    made = objective.make(Rows(tokens=tokens, keys=keys(n)))
    assert made["tokens"].shape == made["labels"].shape == (n, 128)
    assert set(made["denoisers"].tolist()) == set(range(7))
    for row in range(n):
        encoder = made["tokens"][row][made["attention_mask"][row]].tolist()
        labels = made["labels"][row][made["labels"][row] != IGNORED].tolist()
        kind = chosen.denoisers[made["denoisers"][row]].kind
        if mode_tokens:
            assert encoder.pop(0) == {"R": 500, "X": 501, "S": 502}[kind]
        assert restored(encoder, labels) == tokens[row].tolist()
        if kind == "S":
            assert encoder[-2:] == [FIRST, EOS]
        assert made["decoder_tokens"][row][1 : len(labels)].tolist() == labels[:-1]


def test_ul2_takes_denoisers_by_weight() -> None:
    mixture = (
        Denoiser(kind="R", rate=0.15, mean_span=3, weight=3),
        Denoiser(kind="S", rate=0.25, weight=1),
    )
    objective = ul2_objective(Ul2Settings(denoisers=mixture), seq_len=34, vocabulary=VOCABULARY)
    n = 100_000
    made = objective.make(Rows(tokens=windows(n, objective.width), keys=keys(n)))
    suffix = made["denoisers"] == 1
    assert suffix.mean() == pytest.approx(0.25, abs=5 * np.sqrt(0.19 / n))
    cut = (made["labels"] != IGNORED).sum(1) - 2  # without sentinel and end
    most = round(0.5 * objective.width)
    counts = np.bincount(cut[suffix])[1:]
    assert len(counts) == most
    assert np.abs(counts - counts.mean()).max() < 5 * np.sqrt(counts.mean())
    noise, spans = noise_of(objective.width, 0.15, 3)
    assert (cut[~suffix] + 1 == noise + spans).all()


def test_too_few_sentinels_are_told() -> None:
    bare = Vocabulary(size=99, roles={"eos": 1, "pad": 0, "extra_id_0": 5, "extra_id_2": 6})
    with pytest.raises(UsageError, match="up to 28 spans, and the tokenizer 1 sentinels"):
        t5_objective(T5Settings(), seq_len=512, vocabulary=bare)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: T5Settings(rate=1), "rate is 1"),
        (lambda: T5Settings(mean_span=0.5), "mean_span is 0.5"),
        (lambda: Denoiser(kind="Q", rate=0.1), "not 'Q'"),
        (lambda: Denoiser(kind="S", rate=0.6), "at most 0.5"),
        (lambda: Ul2Settings(denoisers=()), "at least one denoiser"),
        (lambda: span_lengths(2, 0.15, 3), "seq_len is 2"),
    ],
)
def test_settings_that_cannot_be(make, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()
