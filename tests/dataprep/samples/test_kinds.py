"""Every kind of samples, of a dataset that was built with words and sentences."""

from __future__ import annotations

import pickle
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import dataprep
from dataprep.errors import DataError, UsageError
from dataprep.samples import BlockOrder, CausalSamples, Loader
from dataprep.samples.objectives import KINDS

IGNORED = -100


@pytest.mark.parametrize("kind", ["causal", *KINDS])
def test_samples_depend_on_their_position_alone(kind: str, dataset, roles) -> None:
    samples = dataset.samples(kind, seq_len=48, seed=5, roles=roles)
    n = len(samples)
    whole = samples.batch(np.arange(n + 20))  # into the second epoch
    asked = np.array([n + 3, 0, n - 1, 7])
    for name, array in samples.batch(asked).items():
        assert array.dtype in (np.int64, bool), name
        assert np.array_equal(array, whole[name][asked]), name
    for name, array in samples[7].items():
        assert np.array_equal(array, whole[name][7]), name
    again = pickle.dumps(samples)
    assert len(again) < 4000  # what is mapped does not travel
    for name, array in pickle.loads(again).batch(asked).items():
        assert np.array_equal(array, whole[name][asked]), name
    loaders = [Loader(samples, batch_size=12, rank=r, ranks=3, consumed=24) for r in range(3)]
    parts = [next(loader)["tokens"] for loader in loaders]
    assert np.array_equal(np.concatenate(parts), whole["tokens"][24:36])


@pytest.mark.parametrize("kind", ["mlm", "mlm-wwm", "mlm-ngram", "mlm-span"])
def test_windows_and_words_come_from_the_dataset(kind: str, dataset) -> None:
    samples = dataset.samples(kind, seq_len=32)
    made = samples.batch(np.arange(len(samples)))
    hidden = made["labels"] != IGNORED
    text = np.where(hidden, made["labels"], made["tokens"])[:, 1:-1]
    assert np.array_equal(text.ravel(), dataset.tokens[: text.size])
    starts = dataset.word_starts[: text.size + 1]
    masked = hidden[:, 1:-1].ravel()
    assert 0.1 < masked.mean() < 0.16
    if kind == "mlm":
        return
    # A boundary of what is hidden is a boundary of words.
    (changes,) = np.nonzero(np.diff(masked))
    assert starts[changes + 1].all()


def test_epochs_are_masked_anew(dataset) -> None:
    samples = dataset.samples("mlm-wwm", seq_len=32)
    n = len(samples)
    first, second = samples.batch(np.arange(2 * n))["labels"].reshape(2, n, 32)
    assert (first != second).any(axis=1).mean() > 0.95
    assert np.array_equal(
        first, dataset.samples("mlm-wwm", seq_len=32).batch(np.arange(n))["labels"]
    )
    other = dataset.samples("mlm-wwm", seq_len=32, seed=9)
    assert not np.array_equal(other.batch(np.arange(n))["labels"], first)


def test_documents_as_segments(dataset) -> None:
    samples = dataset.samples("causal", seq_len=40, reset_attention=True)
    made = samples.batch(np.arange(len(samples)))
    eod = dataset.eod_id
    for tokens, segments, positions in zip(
        made["tokens"], made["segments"], made["positions"], strict=True
    ):
        segment = position = 0
        for i, token in enumerate(tokens.tolist()):
            assert (segments[i], positions[i]) == (segment, position)
            position += 1
            if token == eod:
                segment, position = segment + 1, 0
    assert samples[3]["segments"].tolist() == made["segments"][3].tolist()


def test_best_fit_keeps_documents_whole(dataset) -> None:
    samples = dataset.samples("causal", seq_len=256, packing="best-fit", seed=1)
    made = samples.batch(np.arange(len(samples)))
    used = made["segments"] >= 0
    assert used.sum() == dataset.n_tokens - dataset.n_documents
    assert (made["tokens"][~used] == dataset.eod_id).all()
    assert np.count_nonzero(used & (made["positions"] == 0)) == dataset.n_documents
    held_out = dataset.samples("causal", seq_len=256, packing="best-fit", split="validation")
    assert 0 < len(held_out) < len(samples) / 10
    for settings in ({"split": "train", "split_by": "hash"}, {"locality": 4}):
        with pytest.raises(UsageError, match="works through documents in blocks"):
            dataset.samples("causal", seq_len=256, packing="best-fit", **settings)


@pytest.mark.parametrize("kind", ["causal", "mlm-wwm", "fim"])
def test_equal_texts_are_on_one_side_of_a_split_by_hash(kind: str, dataset, roles) -> None:
    given = {"seq_len": 24, "weights": (60, 20, 20), "split_by": "hash", "roles": roles}
    if kind == "fim":
        given["rate"] = 0.0
    documents: list[set[str]] = []
    for part in ("train", "validation", "test"):
        samples = dataset.samples(kind, split=part, **given)
        made = samples.batch(np.arange(len(samples)))
        labels = made["labels"]
        shown = np.where(labels != IGNORED, labels, made["tokens"]) if "mlm" in kind else None
        text = made["tokens"] if shown is None else shown[:, 1:-1]
        ids = text.ravel().tolist()
        ends = [i for i, token in enumerate(ids) if token == dataset.eod_id]
        assert len(ends) > 10
        documents.append({str(ids[a + 1 : b]) for a, b in pairwise(ends)})
    train, validation, test = documents
    for one, other in ((train, validation), (train, test), (validation, test)):
        assert not one & other
    every = {str(dataset[i][:-1].tolist()) for i in range(len(dataset))}
    assert len(every) < len(dataset)  # there are equal ones
    assert train | validation | test <= every
    shuffled = dataset.samples(kind, split="test", seed=1, **given)
    assert len(shuffled.batch([0, 5])["tokens"]) == 2


def test_shares_of_a_split_by_hash(dataset) -> None:
    from dataprep.samples import DocumentOffsets
    from dataprep.samples.split_hash import parts_of

    class Unequal:
        """100,000 documents of three tokens each."""

        def __init__(self) -> None:
            self.tokens = np.random.default_rng(0).integers(0, 9999, 300_000).astype(np.uint16)

        def __len__(self) -> int:
            return 100_001

        def range(self, first: int, last: int) -> np.ndarray:
            return 3 * np.arange(first, last)

    many = Unequal()
    counts = np.bincount(parts_of(many.tokens, many, (98, 1, 1))) / 100_000
    assert counts == pytest.approx([0.98, 0.01, 0.01], abs=5 * np.sqrt(0.02 / 100_000))
    # By tokens, whatever their dtype and place.
    whole = parts_of(dataset.tokens, DocumentOffsets(dataset), (1, 1))
    wide = parts_of(dataset.tokens.astype(np.int64), DocumentOffsets(dataset), (1, 1))
    assert np.array_equal(whole, wide)
    for i in range(60):
        for j in range(i):
            if np.array_equal(dataset[i], dataset[j]):
                assert whole[i] == whole[j]


def test_neighbours_stay_together_in_blocks(dataset) -> None:
    """Tokens that tell their place, in a view opened like that of the dataset."""
    samples = CausalSamples(np.arange(1601), seq_len=16, seed=1, locality=10)
    places = samples.batch(np.arange(100))["tokens"][:, 0] // 16
    blocks = places.reshape(10, 10) // 10
    assert (blocks == blocks[:, :1]).all()
    assert sorted(places.tolist()) == list(range(100))
    opened = dataset.samples("causal", seq_len=16, seed=1, locality=10)
    order = BlockOrder.of_equal_blocks(len(opened), 10, 1)
    expected = dataset.samples("causal", seq_len=16).batch(order([0, 55]))
    assert np.array_equal(opened.batch([0, 55])["tokens"], expected["tokens"])


def test_what_a_kind_needs_is_told(dataset, tmp_path: Path, tokenizer_file: Path) -> None:
    (tmp_path / "t.txt").write_text("one\ntwo three\n" * 9, "utf-8")
    plain = dataprep.build(tmp_path / "t.txt", out=tmp_path / "d", tokenizer=tokenizer_file)
    roles = {"cls": 400, "sep": 401, "mask": 402, "pad": 403}
    with pytest.raises(DataError, match="does not say where its words start"):
        plain.samples("mlm-wwm", seq_len=16, roles=roles)
    with pytest.raises(DataError, match="does not say where its sentences start"):
        plain.samples("mlm", seq_len=16, pairs="nsp", roles=roles)
    assert len(plain.samples("mlm", seq_len=16, roles=roles))
    with pytest.raises(UsageError, match="no token for the role 'cls'"):
        plain.samples("mlm", seq_len=16)
    with pytest.raises(UsageError, match="no setting 'rat'; known: rate, max_predictions"):
        dataset.samples("mlm", seq_len=16, rat=0.1)
    with pytest.raises(UsageError, match="kind 'mlm-wmm'; known: causal, mlm, mlm-wwm"):
        dataset.samples("mlm-wmm", seq_len=16)
    with pytest.raises(UsageError, match="split_by is 'text'; known: place, hash"):
        dataset.samples("causal", seq_len=16, split="train", split_by="text")
    with pytest.raises(UsageError, match="packing is 'tight'; known: stream, best-fit"):
        dataset.samples("causal", seq_len=16, packing="tight")
    foreign = dataprep.disk.IndexedDataset(dataset.prefix)
    with pytest.raises(UsageError, match="was opened without its tokenizer, which 'mlm' samples"):
        dataprep.samples.open_samples(foreign, "mlm", seq_len=16)
