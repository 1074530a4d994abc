"""Best-fit packing of whole documents."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataprep.errors import DataError
from dataprep.samples import PackedSamples
from dataprep.samples.pack import pack, pieces_of
from dataprep.samples.pack_kernel import best_fit


class Offsets:
    """Borders of documents in memory."""

    def __init__(self, lengths) -> None:
        self.all = np.concatenate(([0], np.cumsum(np.array(lengths, np.int64))))

    def __len__(self) -> int:
        return len(self.all)

    def range(self, first: int, last: int) -> np.ndarray:
        return self.all[first:last]


def slow_best_fit(lengths: list[int], capacity: int) -> list[int]:
    """Room left in each bin, by looking at all of them for each piece."""
    rooms: list[int] = []
    for length in sorted(lengths, reverse=True):
        fitting = [room for room in rooms if room >= length]
        if fitting:
            rooms.remove(min(fitting))
            rooms.append(min(fitting) - length)
        else:
            rooms.append(capacity - length)
    return sorted(rooms)


@settings(max_examples=200, deadline=None)
@given(
    capacity=st.integers(1, 40), lengths=st.lists(st.integers(1, 40), max_size=80), data=st.data()
)
def test_best_fit_as_the_reference_does(capacity: int, lengths: list[int], data) -> None:
    lengths = [min(length, capacity) for length in lengths]
    bins = np.empty(len(lengths), np.int64)
    count = best_fit(np.array(lengths, np.int64), capacity, bins)
    rooms = [capacity] * count
    for length, number in zip(lengths, bins.tolist(), strict=True):
        rooms[number] -= length
    assert sorted(rooms) == slow_best_fit(lengths, capacity)


@settings(max_examples=100, deadline=None)
@given(
    lengths=st.lists(st.integers(0, 60), min_size=1, max_size=60),
    seq_len=st.integers(1, 30),
    seed=st.none() | st.integers(0, 9),
)
def test_every_input_is_there_once_with_its_label(lengths, seq_len, seed) -> None:
    tokens = np.arange(sum(lengths), dtype=np.int32)
    expected = []  # pairs of input and label
    low = 0
    for length in lengths:
        expected += [(t, t + 1) for t in range(low, low + length - 1)]
        low += length
    if not expected:
        with pytest.raises(DataError, match="nothing to predict"):
            PackedSamples(tokens, Offsets(lengths), seq_len=seq_len, seed=seed)
        return
    samples = PackedSamples(tokens, Offsets(lengths), seq_len=seq_len, seed=seed, pad=-7)
    batch = samples.batch(np.arange(len(samples)))
    used = batch["segments"] >= 0
    found = zip(batch["tokens"][used].tolist(), batch["labels"][used].tolist(), strict=True)
    assert sorted(found) == expected
    assert (batch["tokens"][~used] == -7).all()
    assert (batch["labels"][~used] == -100).all()
    # Only documents longer than a sample are cut, and then at whole samples.
    starts = batch["tokens"][used & (batch["positions"] == 0)]
    borders = np.concatenate(([0], np.cumsum(lengths)))
    cut = [
        int(low) + at
        for low, length in zip(borders[:-1], lengths, strict=True)
        for at in range(0, length - 1, seq_len)
    ]
    assert sorted(starts.tolist()) == cut
    one = samples[len(samples) + 1]
    for name, array in samples.batch([len(samples) + 1]).items():
        assert np.array_equal(array[0], one[name])


def test_little_is_left_over() -> None:
    lengths = np.random.default_rng(0).geometric(1 / 300, 20_000)
    offsets = Offsets(lengths)
    pieces = pack(*pieces_of(offsets.all, 1024), 1024)
    filled = pieces.lengths.sum() / (1024 * (len(pieces.first) - 1))
    assert filled > 0.999


def test_a_run_goes_through_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dataprep.samples.pack._BLOCK", 10)
    tokens = np.arange(1000, dtype=np.uint16)
    samples = PackedSamples(tokens, Offsets([10] * 100), seq_len=20, seed=1)
    assert len(samples) == 50
    for epoch in range(2):
        blocks = samples.batch(epoch * 50 + np.arange(50))["tokens"][:, 0].reshape(10, 5) // 100
        assert (blocks == blocks[:, :1]).all()
        assert sorted(blocks[:, 0].tolist()) == list(range(10))
        assert blocks[:, 0].tolist() != list(range(10))
