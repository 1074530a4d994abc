from __future__ import annotations

import numpy as np
import pytest

from dataprep.errors import DataError, UsageError
from dataprep.samples import CausalSamples


@pytest.mark.parametrize("dtype", [np.uint16, np.int32])
@pytest.mark.parametrize("seq_len", [1, 2, 7, 64])
def test_windows_predict_each_token_once_in_order(dtype: type, seq_len: int) -> None:
    for n_tokens in (65, 66, 127, 128, 129, 500):
        tokens = np.random.default_rng(0).integers(0, 60_000, n_tokens).astype(dtype)
        samples = CausalSamples(tokens, seq_len=seq_len)
        assert len(samples) == (n_tokens - 1) // seq_len
        batch = samples.batch(np.arange(len(samples)))
        used = len(samples) * seq_len
        assert batch["tokens"].dtype == batch["labels"].dtype == np.int64
        assert batch["tokens"].shape == batch["labels"].shape == (len(samples), seq_len)
        assert np.array_equal(batch["tokens"].ravel(), tokens[:used])
        assert np.array_equal(batch["labels"].ravel(), tokens[1 : used + 1])


def test_a_shuffled_epoch_holds_the_same_windows() -> None:
    tokens = np.arange(1001, dtype=np.int32)
    stored = CausalSamples(tokens, seq_len=10).batch(np.arange(100))["tokens"]
    samples = CausalSamples(tokens, seq_len=10, seed=3)
    first, second = samples.batch(np.arange(200))["tokens"].reshape(2, 100, 10)
    for epoch in (first, second):
        assert not np.array_equal(epoch, stored)
        assert np.array_equal(epoch[np.argsort(epoch[:, 0])], stored)
    assert not np.array_equal(first, second)


def test_windows_stay_inside_their_streams() -> None:
    tokens = np.arange(100, dtype=np.int32)
    samples = CausalSamples(tokens, seq_len=5, streams=[(3, 20), (30, 32), (40, 46), (50, 50)])
    batch = samples.batch(np.arange(len(samples)))
    assert batch["tokens"][:, 0].tolist() == [3, 8, 13, 40]
    assert batch["labels"][:, -1].tolist() == [8, 13, 18, 45]
    shuffled = CausalSamples(tokens, seq_len=5, streams=[(3, 20), (40, 46)], seed=0)
    assert sorted(shuffled.batch(np.arange(4))["tokens"][:, 0].tolist()) == [3, 8, 13, 40]


def test_arrays_are_whole_and_leave_the_tokens_alone() -> None:
    tokens = np.arange(100, dtype=np.int64)
    batch = CausalSamples(tokens, seq_len=9).batch([0, 1])
    for array in batch.values():
        assert array.flags["C_CONTIGUOUS"]
        array[:] = -1
    assert np.array_equal(tokens, np.arange(100))


def test_too_few_tokens_are_named() -> None:
    with pytest.raises(DataError, match="has 8 tokens: one sample takes 9") as error:
        CausalSamples(np.arange(8), seq_len=8)
    assert error.value.hint
    assert len(CausalSamples(np.arange(9), seq_len=8)) == 1


def test_a_sequence_has_a_length() -> None:
    with pytest.raises(UsageError, match="seq_len is 0"):
        CausalSamples(np.arange(8), seq_len=0)


def test_a_negative_position_is_refused() -> None:
    with pytest.raises(IndexError, match="position -1 "):
        CausalSamples(np.arange(80), seq_len=8, seed=0).batch([-1])
