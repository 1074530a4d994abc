from __future__ import annotations

import math

import numpy as np
import pytest
import slow_objectives as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from dataprep.errors import UsageError
from dataprep.samples.keys import keys_of
from dataprep.samples.objectives.mlm import MACBERT, SPANBERT, MlmSettings, mlm, mlm_objective
from dataprep.samples.rows import Rows
from dataprep.samples.vocabulary import Vocabulary

CLS, SEP, MASK, PAD, UNUSED = 0, 1, 2, 3, 9
VOCABULARY = Vocabulary(
    size=60,
    roles={"cls": CLS, "sep": SEP, "mask": MASK, "pad": PAD},
    special=frozenset({CLS, SEP, MASK, PAD, UNUSED}),
)
IGNORED = -100


def keys(n: int, seed: int = 0) -> np.ndarray:
    return keys_of(seed, np.zeros(n, np.int64), np.arange(n))


def rows(n: int, length: int, *, starts: float = 0.6, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Text between [CLS] and [SEP], with another [SEP] here and there, and starts of words."""
    rng = np.random.default_rng(seed)
    tokens = rng.integers(10, 60, (n, length))
    tokens[rng.random(tokens.shape) < 0.02] = SEP
    tokens[:, 0], tokens[:, -1] = CLS, SEP
    begins = rng.random(tokens.shape) < starts
    begins[:, :-1] |= VOCABULARY.is_special[tokens[:, :-1]]
    return tokens, begins


CHOICES = [
    MlmSettings(),
    MlmSettings(whole_words=True),
    MlmSettings(whole_words=True, ngrams=MACBERT, share_per="word"),
    MlmSettings(whole_words=True, ngrams=SPANBERT, share_per="span"),
    MlmSettings(whole_words=True, ngrams=(0, 0, 1), rate=0.5, max_predictions=7),
    MlmSettings(rate=0.9, shares=(0, 1, 0)),
]


@pytest.mark.parametrize("chosen", CHOICES)
@pytest.mark.parametrize("length", [4, 9, 64])
def test_as_the_reference_does(chosen: MlmSettings, length: int) -> None:
    tokens, starts = rows(60, length, seed=length)
    out, labels = mlm(tokens, starts, keys(60), chosen, VOCABULARY)
    for row in range(60):
        expected = reference.masked(
            tokens[row].tolist(),
            starts[row].tolist() if chosen.whole_words else [True] * length,
            set(VOCABULARY.special),
            keys(60)[row],
            rate=chosen.rate,
            most=chosen.max_predictions or length,
            cumulative=(np.cumsum(chosen.ngrams) / math.fsum(chosen.ngrams)).tolist(),
            shares=chosen.shares,
            per=chosen.share_per,
            mask_id=MASK,
            ordinary=VOCABULARY.ordinary.tolist(),
        )
        assert (out[row].tolist(), labels[row].tolist()) == expected


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**40),
    length=st.integers(3, 70),
    starts=st.floats(0.1, 1),
    rate=st.floats(0.01, 0.99),
    most=st.none() | st.integers(1, 20),
    ngrams=st.sampled_from([(1.0,), MACBERT, SPANBERT]),
)
def test_budget_and_words_are_whole(seed, length, starts, rate, most, ngrams) -> None:
    tokens, begins = rows(8, length, starts=starts, seed=seed)
    chosen = MlmSettings(rate=rate, max_predictions=most, whole_words=True, ngrams=ngrams)
    out, labels = mlm(tokens, begins, keys(8, seed), chosen, VOCABULARY)
    special = set(VOCABULARY.special)
    for row in range(8):
        hidden = labels[row] != IGNORED
        assert np.array_equal(labels[row][hidden], tokens[row][hidden])
        assert np.array_equal(out[row][~hidden], tokens[row][~hidden])
        assert not VOCABULARY.is_special[tokens[row][hidden]].any()
        text = sum(t not in special for t in tokens[row].tolist())
        budget = min(most or length, max(1, int(rate * text + 0.5)))
        words = reference.words_of(tokens[row].tolist(), begins[row].tolist(), special)
        assert hidden.sum() <= budget
        left = budget - int(hidden.sum())
        in_words = 0
        for word in words:
            assert hidden[word].all() or not hidden[word].any()
            in_words += int(hidden[word].sum())
            assert hidden[word].any() or len(word) > left  # what is left would not fit
        assert in_words == hidden.sum()  # no half word at an edge


def test_rates_over_many_samples() -> None:
    n, length = 100_000, 32
    tokens = np.random.default_rng(1).integers(10, 60, (n, length))
    tokens[:, 0], tokens[:, -1] = CLS, SEP
    out, labels = mlm(tokens, tokens >= 0, keys(n), MlmSettings(), VOCABULARY)
    hidden = labels != IGNORED
    assert (hidden.sum(1) == round(0.15 * 30 + 0.01)).all()
    total = hidden.sum()
    # Every place is as likely: five standard deviations of a binomial.
    by_place = hidden.sum(0)[1:-1]
    expected = total / 30
    assert np.abs(by_place - expected).max() < 5 * np.sqrt(expected)
    masked = (out == MASK).sum() / total
    same = (out == tokens)[hidden].sum() / total
    assert masked == pytest.approx(0.8, abs=5 * np.sqrt(0.16 / total))
    # A random token is the old one once in fifty-one times.
    assert same == pytest.approx(0.1 + 0.1 / 51, abs=5 * np.sqrt(0.09 / total))
    drawn = out[hidden & (out != MASK) & (out != tokens)]
    assert not VOCABULARY.is_special[drawn].any()
    counts = np.bincount(drawn, minlength=60)[10:]
    assert np.abs(counts - counts.mean()).max() < 5 * np.sqrt(counts.mean())


def test_lengths_of_spans() -> None:
    """As many spans fill a budget of 10 tokens as lengths drawn so would need."""
    n, length = 20_000, 402
    tokens = np.full((n, length), 20)
    for ngrams in (MACBERT, SPANBERT, (0, 1)):
        chances = np.array(ngrams) / sum(ngrams)
        needed = [0.0]  # spans that a budget of 0, 1, … takes in the mean, the last one cut
        for budget in range(1, 11):
            rest = [needed[max(budget - k, 0)] for k in range(1, len(chances) + 1)]
            needed.append(1 + float(chances @ rest))
        chosen = MlmSettings(ngrams=ngrams, rate=0.025)
        _, labels = mlm(tokens, tokens > 0, keys(n), chosen, VOCABULARY)
        hidden = labels != IGNORED
        assert (hidden.sum(1) == 10).all()
        ends = hidden & ~np.pad(hidden[:, 1:], ((0, 0), (0, 1)))
        # A few in a hundred touch and count as one, or are cut by one another.
        assert ends.sum(1).mean() == pytest.approx(needed[10], rel=0.06)
    weights = np.array(SPANBERT)
    assert weights @ np.arange(1, 11) / weights.sum() == pytest.approx(3.8, abs=0.01)


def test_a_sample_does_not_depend_on_its_batch_and_changes_with_the_epoch() -> None:
    tokens, starts = rows(40, 50)
    whole = mlm(tokens, starts, keys(40), CHOICES[2], VOCABULARY)
    some = mlm(tokens[7:9], starts[7:9], keys(40)[7:9], CHOICES[2], VOCABULARY)
    assert np.array_equal(whole[0][7:9], some[0])
    later = keys_of(0, np.ones(40, np.int64), np.arange(40))
    again = mlm(tokens, starts, later, CHOICES[2], VOCABULARY)
    assert (np.any(whole[0] != again[0], axis=1)).mean() > 0.9


def test_similar_words_take_the_place_of_masks() -> None:
    def similar(ids, offsets, draws):
        assert len(offsets) == len(draws) + 1
        answer = ids + 1
        first = np.zeros(len(ids), bool)
        first[offsets[:-1]] = True
        lengths = np.repeat(np.diff(offsets), np.diff(offsets))
        answer[lengths == 3] = -1  # none known of three tokens
        return answer

    tokens, starts = rows(3000, 40)
    tokens = np.where(VOCABULARY.is_special[tokens], tokens, np.minimum(tokens, 50))
    plain = MlmSettings(whole_words=True, share_per="word")
    base, labels = mlm(tokens, starts, keys(3000), plain, VOCABULARY)
    chosen = MlmSettings(whole_words=True, share_per="word", similar=similar)
    out, same_labels = mlm(tokens, starts, keys(3000), chosen, VOCABULARY)
    assert np.array_equal(labels, same_labels)
    was_mask = base == MASK
    assert not (out == MASK).any()
    assert np.array_equal(out[~was_mask], base[~was_mask])
    replaced = was_mask & (out == labels + 1)
    assert replaced.sum() / was_mask.sum() > 0.5
    drawn = out[was_mask & ~replaced]
    assert len(np.unique(drawn)) > 40
    assert not VOCABULARY.is_special[drawn].any()


def test_a_row_is_laid_out_and_edges_cut_words() -> None:
    objective = mlm_objective(
        MlmSettings(whole_words=True, rate=0.99), seq_len=8, vocabulary=VOCABULARY
    )
    assert (objective.width, objective.stride) == (6, 6)
    window = np.array([[20, 21, 22, SEP, 23, 24]] * 3, np.uint16)
    words = np.array([[1, 0, 1, 0, 1, 0, 1], [0, 0, 1, 0, 1, 0, 1], [1, 0, 1, 0, 1, 0, 0]], bool)
    made = objective.make(Rows(tokens=window, keys=keys(3), word_starts=words))
    assert made["tokens"][:, 0].tolist() == [CLS] * 3
    assert made["tokens"][:, -1].tolist() == [SEP] * 3
    assert made["attention_mask"].all()
    hidden = [np.flatnonzero(row != IGNORED).tolist() for row in made["labels"]]
    assert hidden == [[1, 2, 3, 5, 6], [3, 5, 6], [1, 2, 3]]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rate": 0}, "rate is 0: it must be a number above 0 to below 1"),
        ({"rate": float("nan")}, "rate is nan"),
        ({"max_predictions": 0}, "max_predictions is 0"),
        ({"ngrams": ()}, "ngrams are"),
        ({"ngrams": (0.0, 0.0)}, "one weight at least"),
        ({"shares": (0.5, 0.1, 0.1)}, "add up to 1"),
        ({"share_per": "letter"}, "share_per is 'letter'; known: token, word, span"),
        ({"pairs": "both"}, "pairs is 'both'; known: none, nsp, sop"),
        ({"similar": len}, "share_per must be 'word' or 'span'"),
    ],
)
def test_settings_that_cannot_be(values: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        MlmSettings(**values)


def test_a_tokenizer_without_a_mask_is_told() -> None:
    bare = Vocabulary(size=10, roles={"eod": 1})
    with pytest.raises(UsageError, match=r"no token for the role 'cls' or 'bos'.* it has: eod"):
        mlm_objective(MlmSettings(), seq_len=8, vocabulary=bare)
