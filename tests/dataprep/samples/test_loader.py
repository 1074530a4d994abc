from __future__ import annotations

import numpy as np
import pytest

from dataprep.errors import UsageError
from dataprep.samples import CausalSamples, Loader

SAMPLES = CausalSamples(np.arange(1000, dtype=np.int32), seq_len=9, seed=11)


def steps(ranks: int, count: int, *, batch_size: int = 12, consumed: int = 0) -> np.ndarray:
    """Global batches as all ranks together see them: [count, batch_size, seq_len]."""
    loaders = [
        Loader(SAMPLES, batch_size=batch_size, rank=r, ranks=ranks, consumed=consumed)
        for r in range(ranks)
    ]
    return np.stack([np.concatenate([next(x)["tokens"] for x in loaders]) for _ in range(count)])


@pytest.mark.parametrize("ranks", [2, 3, 4, 6, 12])
def test_the_batches_do_not_depend_on_the_ranks(ranks: int) -> None:
    # 111 samples an epoch: 25 steps of 12 cross two borders of epochs.
    assert np.array_equal(steps(ranks, 25), steps(1, 25))


def test_one_integer_resumes_under_other_ranks_and_batches() -> None:
    straight = steps(1, 30).reshape(-1, 9)
    first = Loader(SAMPLES, batch_size=12, rank=1, ranks=4)
    for _ in range(10):
        next(first)
    assert first.consumed == 120
    rest = steps(3, 5, batch_size=6, consumed=first.consumed).reshape(-1, 9)
    assert np.array_equal(rest, straight[120:150])


def test_an_epoch_misses_and_repeats_nothing() -> None:
    seen = steps(4, 111, batch_size=4)[:, :, 0].ravel()
    epochs = np.sort(seen.reshape(4, 111), axis=1)
    assert np.array_equal(epochs, np.tile(np.arange(111) * 9, (4, 1)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batch_size": 10, "ranks": 4}, "batch of 10 samples .* 4 data-parallel ranks"),
        ({"batch_size": 0}, "batch of 0 samples"),
        ({"batch_size": 4, "ranks": 2, "rank": 2}, "rank 2 of 2"),
        ({"batch_size": 4, "consumed": -1}, "-1 samples consumed"),
    ],
)
def test_what_cannot_be_is_refused(settings: dict[str, int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Loader(SAMPLES, **settings)
