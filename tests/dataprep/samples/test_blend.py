from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataprep.errors import UsageError
from dataprep.samples import Blend, CausalSamples, Loader


class View:
    """``n`` samples, each its own number and the number of the view."""

    def __init__(self, n: int, number: int = 0) -> None:
        self.n, self.number = n, number

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, position: int) -> dict[str, np.ndarray]:
        return {name: array[0] for name, array in self.batch([position]).items()}

    def batch(self, positions) -> dict[str, np.ndarray]:
        at = np.asarray(positions)
        return {"tokens": np.stack([np.full(len(at), self.number), at], axis=1)}


def walked(views: np.ndarray) -> np.ndarray:
    """Position in each view's own run, by counting."""
    seen: dict[int, int] = {}
    own = []
    for view in views.tolist():
        own.append(seen.get(view, 0))
        seen[view] = own[-1] + 1
    return np.array(own)


@settings(max_examples=100, deadline=None)
@given(
    weights=st.lists(st.floats(0.01, 100), min_size=1, max_size=7),
    seed=st.integers(0, 100),
)
def test_weights_hold_everywhere_and_nothing_is_skipped(weights: list[float], seed: int) -> None:
    blend = Blend([View(10)] * len(weights), weights=weights, seed=seed)
    n = 3000
    views, own = blend.locate(np.arange(n))
    assert np.array_equal(own, walked(views))
    shares = np.array(weights) / math.fsum(weights)
    counts = np.cumsum(views[:, None] == np.arange(len(weights)), axis=0)
    # A random order would be off by about sqrt(n) / 2 = 27.
    assert np.abs(counts - np.arange(1, n + 1)[:, None] * shares).max() < 6
    for stop in (0, 1, 17, n):
        assert np.array_equal(blend.counts(stop), counts[stop - 1] if stop else 0 * counts[0])


@settings(max_examples=100, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 60), min_size=1, max_size=6),
    turns=st.lists(st.sampled_from([0.5, 1.0, 2.0, 3.3]), min_size=6, max_size=6),
    seed=st.integers(0, 100),
)
def test_an_epoch_has_exactly_what_was_asked(sizes, turns, seed) -> None:
    turns = turns[: len(sizes)]
    wanted = [round(size * turn) for size, turn in zip(sizes, turns, strict=True)]
    views = [View(size) for size in sizes]
    if 0 in wanted:
        with pytest.raises(UsageError, match="no share"):
            Blend(views, epochs=turns)
        return
    blend = Blend(views, epochs=turns, seed=seed)
    n = sum(wanted)
    assert len(blend) == n
    for epoch in range(3):
        found, own = blend.locate(epoch * n + np.arange(n))
        for number, count in enumerate(wanted):
            here = np.sort(own[found == number])
            assert np.array_equal(here, epoch * count + np.arange(count))
    assert blend.epochs(2 * n) == pytest.approx(
        [2 * w / s for w, s in zip(wanted, sizes, strict=True)]
    )


def test_far_away_positions_follow_on() -> None:
    blend = Blend([View(5)] * 3, weights=[5, 3, 0.001], seed=4)
    for first in (2**32 - 50, 10**12, 2**50):
        views, own = blend.locate(first + np.arange(100))
        before = blend.counts(first)
        assert np.array_equal(own, before[views] + walked(views))
        assert before.sum() == first
        assert before / first == pytest.approx(np.array([5, 3, 0.001]) / 8.001, abs=1e-8)


def test_shares_by_temperature() -> None:
    views = [View(900), View(100)]
    assert Blend(views, temperature=1).counts(1000).tolist() == pytest.approx([900, 100], abs=2)
    assert Blend(views, temperature=2).counts(1000).tolist() == pytest.approx([750, 250], abs=2)
    assert Blend(views, temperature=1e9).counts(1000).tolist() == pytest.approx([500, 500], abs=2)


def test_one_epoch_of_each_by_default() -> None:
    blend = Blend([View(7, 1), View(3, 2)], seed=1)
    batch = blend.batch(np.arange(10))["tokens"]
    assert sorted(map(tuple, batch.tolist())) == [(1, i) for i in range(7)] + [
        (2, i) for i in range(3)
    ]
    assert np.array_equal(blend[4]["tokens"], batch[4])
    assert not np.array_equal(batch, Blend([View(7, 1), View(3, 2)], seed=2).batch(range(10)))


def test_blends_of_real_views_go_on_under_other_ranks() -> None:
    tokens = np.arange(1000, dtype=np.int32)
    views = [
        CausalSamples(tokens[:700], seq_len=9, seed=1),
        CausalSamples(tokens[700:], seq_len=9, seed=1),
    ]
    blend = Blend(views, weights=[1, 2])
    whole = np.concatenate([next(loader)["tokens"] for loader in [Loader(blend, batch_size=60)]])
    assert (whole[:, 0] >= 700).sum() == pytest.approx(40, abs=2)
    ranks = [Loader(blend, batch_size=12, rank=r, ranks=3, consumed=24) for r in range(3)]
    parts = np.concatenate([next(loader)["tokens"] for loader in ranks])
    assert np.array_equal(parts, whole[24:36])


def test_what_cannot_be_blended() -> None:
    view = View(5)
    with pytest.raises(UsageError, match="at least one dataset"):
        Blend([])
    with pytest.raises(UsageError, match="one of weights, epochs and temperature"):
        Blend([view], weights=[1], epochs=[1])
    for weights in ([1], [1, 0], [1, float("inf")]):
        with pytest.raises(UsageError, match=r"one finite number above 0 .* each of 2 datasets"):
            Blend([view, view], weights=weights)
    with pytest.raises(UsageError, match=r"temperature is 0\.5"):
        Blend([view], temperature=0.5)
    with pytest.raises(UsageError, match="less than 1 in 2"):
        Blend([view, view], weights=[1, 1e-12])
    with pytest.raises(IndexError, match="position -1"):
        Blend([view]).locate([-1])
    tokens = np.arange(100)
    unlike = Blend(
        [CausalSamples(tokens, seq_len=4), CausalSamples(tokens, seq_len=5)], weights=[1, 1]
    )
    with pytest.raises(UsageError, match="other names or lengths"):
        unlike.batch(np.arange(10))
