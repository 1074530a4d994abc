from __future__ import annotations

import numpy as np
import pytest

from dataprep.samples import Order


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
