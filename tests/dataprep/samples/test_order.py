from __future__ import annotations

import numpy as np
import pytest

from dataprep.errors import UsageError
from dataprep.samples import BlockOrder, Order


def test_each_epoch_meets_every_sample_once_in_its_own_order() -> None:
    order = Order(101, seed=1)
    epochs = order(np.arange(5 * 101)).reshape(5, 101)
    assert np.array_equal(np.sort(epochs, axis=1), np.tile(np.arange(101), (5, 1)))
    assert len({tuple(e) for e in epochs.tolist()}) == 5


def test_without_a_seed_samples_come_as_stored() -> None:
    assert Order(3, None)(np.arange(7)).tolist() == [0, 1, 2, 0, 1, 2, 0]


def test_positions_may_be_asked_in_any_grouping() -> None:
    order = Order(10, seed=4)
    whole = order(np.arange(40))
    asked = np.array([[39, 0], [11, 9], [10, 25]])
    assert np.array_equal(order(asked), whole[asked])
    assert not np.array_equal(whole, Order(10, seed=5)(np.arange(40)))


def test_a_huge_order_is_made_and_asked_at_once() -> None:
    order = Order(10**12, seed=0)
    late = 7 * 10**12 + np.arange(8)
    assert len(np.unique(order(late))) == 8


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(IndexError, match="position -2 "):
        Order(5, seed=0)([3, -2])
    with pytest.raises(ValueError, match="0 samples"):
        Order(0, seed=None)


@pytest.mark.parametrize("n", [5, 11])
def test_positions_and_neighbours_are_uniform(n: int) -> None:
    """Chi-square over many seeds: where a sample comes, and which one comes after which."""
    seeds = 4000
    orders = np.stack([Order(n, seed)(np.arange(n)) for seed in range(seeds)])
    places = np.stack([np.bincount(orders[:, i], minlength=n) for i in range(n)])
    chi2 = ((places - seeds / n) ** 2 / (seeds / n)).sum()
    freedom = (n - 1) ** 2
    assert abs(chi2 - freedom) < 6 * np.sqrt(2 * freedom)
    pairs = np.bincount((orders[:, :-1] * n + orders[:, 1:]).ravel(), minlength=n * n)
    pairs = pairs.reshape(n, n)
    assert not np.diag(pairs).any()
    expected = seeds / n  # n - 1 pairs of neighbours, n * (n - 1) pairs of samples
    off = pairs[~np.eye(n, dtype=bool)]
    chi2 = ((off - expected) ** 2 / expected).sum()
    # Rows and columns nearly add up: (n - 1)^2 - n degrees are sure, n (n - 1) at most.
    low, high = (n - 1) ** 2 - n, n * (n - 1)
    assert low - 6 * np.sqrt(2 * low) < chi2 < high + 6 * np.sqrt(2 * high)


def test_neighbours_of_a_large_order_are_uniform() -> None:
    n, cells = 200_000, 20
    order = Order(n, seed=3)(np.arange(n)) * cells // n
    pairs = np.bincount(order[:-1] * cells + order[1:], minlength=cells**2)
    expected = (n - 1) / cells**2
    chi2 = ((pairs - expected) ** 2 / expected).sum()
    freedom = cells**2 - 1
    assert abs(chi2 - freedom) < 6 * np.sqrt(2 * freedom)


@pytest.mark.parametrize("block", [1, 7, 30, 100, 1000])
def test_blocks_are_worked_through_one_after_another(block: int) -> None:
    n = 100
    order = BlockOrder.of_equal_blocks(n, block, seed=2)
    epochs = order(np.arange(3 * n)).reshape(3, n)
    assert np.array_equal(np.sort(epochs, axis=1), np.tile(np.arange(n), (3, 1)))
    for epoch in epochs:
        changes = np.count_nonzero(np.diff(epoch // block))
        assert changes == -(-n // block) - 1
    assert len({tuple(e) for e in epochs.tolist()}) == 3
    asked = np.array([[250, 3], [101, 99]])
    assert np.array_equal(order(asked), epochs.ravel()[asked])
    assert order.one(250) == (2, epochs[2, 50])
    with pytest.raises(UsageError, match="blocks of 0"):
        BlockOrder.of_equal_blocks(n, 0, seed=2)


def test_one_position_is_as_in_a_batch() -> None:
    for n in (1, 2, 9, 1000):
        order = Order(n, seed=6)
        epochs, samples = order.locate(np.arange(2 * n))
        both = list(zip(epochs.tolist(), samples.tolist(), strict=True))
        assert [order.one(p) for p in range(2 * n)] == both
