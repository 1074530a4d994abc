from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from dataprep.errors import DataError, UsageError
from dataprep.samples import split_documents


def offsets_of(lengths: Sequence[int]) -> list[int]:
    return [0, *np.cumsum(lengths).tolist()]


def documents(part: Sequence[range]) -> list[int]:
    return [document for stretch in part for document in stretch]


def test_parts_share_no_document_and_leave_none_out() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        lengths = rng.integers(1, 50, size=rng.integers(40, 2000)).tolist()
        weights = rng.integers(1, 9, size=rng.integers(2, 5)).tolist()
        parts = split_documents(offsets_of(lengths), weights, at_least=60)
        assert sorted(d for part in parts for d in documents(part)) == list(range(len(lengths)))
        assert all(sum(lengths[d] for d in stretch) >= 60 for part in parts for stretch in part)


def test_a_small_corpus_is_cut_on_the_nearest_border() -> None:
    offsets = offsets_of([10] * 100)
    assert split_documents(offsets, (99, 1), at_least=5) == [[range(99)], [range(99, 100)]]
    assert split_documents(offsets, (0.5, 0.25, 0.25), at_least=50) == [
        [range(50)],
        [range(50, 75)],
        [range(75, 100)],
    ]
    assert split_documents(offsets_of([100, 30, 70, 100]), (1, 1), at_least=100)[0] == [range(2)]


def test_a_share_too_small_for_a_sample_is_widened() -> None:
    offsets = offsets_of([10] * 100)
    assert split_documents(offsets, (99, 1), at_least=35)[1] == [range(96, 100)]
    assert split_documents(offsets, (1, 9999), at_least=35)[0] == [range(4)]


def test_parts_of_a_large_corpus_come_from_all_over_it() -> None:
    lengths = np.random.default_rng(1).integers(1, 200, size=50_000)
    train, validation = split_documents(offsets_of(lengths.tolist()), (99, 1), at_least=65)
    assert len(train) == len(validation) == 16
    tokens = [int(lengths[list(stretch)].sum()) for stretch in validation]
    assert sum(tokens) == pytest.approx(lengths.sum() / 100, rel=0.05)
    middles = [(stretch.start + stretch.stop) / 2 / 50_000 for stretch in validation]
    assert middles == pytest.approx([(n + 0.995) / 16 for n in range(16)], abs=0.01)


def test_long_documents_leave_the_shares_fair() -> None:
    """Ten documents: sixteen stretches would give every second one to validation."""
    train, validation = split_documents(offsets_of([10_000] * 10), (9, 1), at_least=65)
    assert (len(documents(train)), len(documents(validation))) == (9, 1)


def test_only_a_few_offsets_are_read() -> None:
    class Counted(Sequence):
        read = 0

        def __len__(self) -> int:
            return 10**9 + 1

        def __getitem__(self, document):
            self.read += 1
            return 700 * document

    offsets = Counted()
    train, validation = split_documents(offsets, (99, 1), at_least=1025)
    assert len(train) == 16
    assert validation[-1].stop == 10**9
    assert sum(map(len, validation)) == pytest.approx(10**7, rel=1e-3)
    assert offsets.read < 2500


@pytest.mark.parametrize("lengths", [[1000], [1, 998, 1], [30, 30]])
def test_no_border_for_a_sample_on_both_sides(lengths: list[int]) -> None:
    with pytest.raises(DataError, match="no border between documents leaves 33 tokens") as error:
        split_documents(offsets_of(lengths), (99, 1), at_least=33)
    assert f"{len(lengths)} documents with {sum(lengths)} tokens" in str(error.value)
    assert error.value.hint


@pytest.mark.parametrize(
    "weights", [(), (1,), (99, 0), (99, -1), (1, float("nan")), (1, float("inf"))]
)
def test_weights_must_be_positive(weights: tuple[float, ...]) -> None:
    with pytest.raises(UsageError, match="above 0"):
        split_documents([0, 10, 20], weights, at_least=1)
