"""Next sentence and sentence order prediction."""

from __future__ import annotations

import numpy as np
import pytest
import slow_objectives as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from dataprep.errors import UsageError
from dataprep.samples.keys import keys_of
from dataprep.samples.objectives.mlm import MlmSettings, mlm_objective
from dataprep.samples.rows import Rows
from dataprep.samples.vocabulary import Vocabulary

CLS, SEP, MASK, PAD, EOD = range(5)
SPECIAL = {CLS, SEP, MASK, PAD, EOD}
VOCABULARY = Vocabulary(
    size=400,
    roles={"cls": CLS, "sep": SEP, "mask": MASK, "pad": PAD},
    special=frozenset(SPECIAL),
)
IGNORED = -100


def keys(n: int, seed: int = 0) -> np.ndarray:
    return keys_of(seed, np.zeros(n, np.int64), np.arange(n))


def rows(n: int, width: int, seed: int, *, documents: float = 0.1, first: int = 10) -> Rows:
    """Windows in which each token tells its place: documents end in EOD or begin without."""
    rng = np.random.default_rng(seed)
    tokens = np.tile(first + np.arange(width), (n, 1))
    begins = rng.random((n, width)) < documents
    tokens[:, :-1][begins[:, 1:] & (rng.random((n, width - 1)) < 0.7)] = EOD
    sentences = rng.random((n, width + 1)) < 0.2
    sentences[:, :-1] |= begins
    words = sentences | (rng.random((n, width + 1)) < 0.6)
    return Rows(
        tokens=tokens,
        keys=keys(n, seed),
        word_starts=words,
        sentence_starts=sentences,
        document_starts=begins,
        documents=rng.integers(0, 30, n),
    )


def with_partners(of: Rows, partners: Rows) -> Rows:
    return Rows(**{**vars(of), "partners": partners})


def window(of: Rows, row: int) -> reference.Window:
    return reference.Window(
        of.tokens[row].tolist(),
        of.word_starts[row].tolist(),
        of.sentence_starts[row].tolist(),
        of.document_starts[row].tolist(),
        int(of.documents[row]),
    )


@settings(max_examples=120, deadline=None)
@given(
    seed=st.integers(0, 2**40),
    width=st.integers(2, 40),
    pairs=st.sampled_from(["nsp", "sop"]),
    short=st.sampled_from([0.0, 0.1, 0.9]),
    documents=st.sampled_from([0.0, 0.1, 0.6]),
)
def test_pairs_as_the_reference_lays_them_out(seed, width, pairs, short, documents) -> None:
    n = 8
    first = rows(n, width, seed, documents=documents)
    second = rows(n, width, seed + 1, documents=documents, first=200)
    chosen = MlmSettings(whole_words=True, pairs=pairs, short=short)
    objective = mlm_objective(chosen, seq_len=width + 3, vocabulary=VOCABULARY)
    assert objective.width == width
    made = objective.make(with_partners(first, second))
    assert {array.shape for name, array in made.items() if name != "pair_labels"} == {
        (n, width + 3)
    }
    for row in range(n):
        tokens, types, label = reference.paired(
            window(first, row),
            window(second, row),
            first.keys[row],
            short=short,
            swaps=pairs == "sop",
            special=SPECIAL,
            cls=CLS,
            sep=SEP,
        )
        length = len(tokens)
        assert made["attention_mask"][row].tolist() == [i < length for i in range(width + 3)]
        hidden = made["labels"][row] != IGNORED
        shown = np.where(hidden, made["labels"][row], made["tokens"][row])
        assert shown.tolist() == tokens + [PAD] * (width + 3 - length)
        assert made["token_types"][row].tolist() == types + [0] * (width + 3 - length)
        assert made["pair_labels"][row] == label
        # Masked words are whole: no edge of a part has cut them.
        starts = {}
        for part in (first, second):
            for token, begins, nxt in zip(
                part.tokens[row], part.word_starts[row], part.word_starts[row][1:], strict=False
            ):
                starts[int(token)] = (bool(begins), bool(nxt))
        for i in np.flatnonzero(hidden):
            begins, ends = starts[shown[i]]
            assert begins or hidden[i - 1]
            assert ends or hidden[i + 1]


@pytest.mark.parametrize("pairs", ["nsp", "sop"])
def test_rates(pairs: str) -> None:
    n, width = 100_000, 24
    first, second = rows(n, width, 1, documents=0.05), rows(n, width, 2, first=200)
    chosen = MlmSettings(pairs=pairs, short=0.25)
    made = mlm_objective(chosen, seq_len=width + 3, vocabulary=VOCABULARY).make(
        with_partners(first, second)
    )
    labels = made["pair_labels"][made["pair_labels"] != IGNORED]
    assert len(labels) > 0.8 * n
    if pairs == "nsp":  # where the partner is of the same document or empty, B follows A
        assert 0.4 < labels.mean() < 0.5
    else:
        assert labels.mean() == pytest.approx(0.5, abs=5 * np.sqrt(0.25 / len(labels)))
    whole = mlm_objective(
        MlmSettings(pairs=pairs, short=0), seq_len=width + 3, vocabulary=VOCABULARY
    )
    longer = whole.make(with_partners(first, second))["attention_mask"].sum(1)
    lengths = made["attention_mask"].sum(1)
    shorter = (lengths < longer).mean()
    assert 0.05 < shorter < 0.25


def test_a_window_of_one_word_has_no_pair() -> None:
    first = rows(1, 4, 0)
    first.word_starts[:] = False
    first.sentence_starts[:] = False
    first.document_starts[:] = [True, False, False, False]
    first.tokens[:] = [[10, 11, 12, EOD]]
    chosen = MlmSettings(pairs="sop", short=0)
    made = mlm_objective(chosen, seq_len=7, vocabulary=VOCABULARY).make(
        with_partners(first, rows(1, 4, 1))
    )
    assert made["pair_labels"].tolist() == [IGNORED]
    assert made["attention_mask"][0].tolist() == [True] * 5 + [False] * 2
    assert not made["token_types"].any()


def test_pairs_need_room_and_padding() -> None:
    with pytest.raises(UsageError, match="seq_len is 4: nsp pairs need more"):
        mlm_objective(MlmSettings(pairs="nsp"), seq_len=4, vocabulary=VOCABULARY)
    bare = Vocabulary(size=9, roles={"cls": 0, "sep": 1, "mask": 2})
    with pytest.raises(UsageError, match="no token for the role 'pad'"):
        mlm_objective(MlmSettings(pairs="nsp"), seq_len=9, vocabulary=bare)
