from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataprep.errors import DataError, UsageError
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
    ("values", "message"),
    [
        ({"batch_size": 10, "ranks": 4}, "batch of 10 samples .* 4 data-parallel ranks"),
        ({"batch_size": 0}, "batch of 0 samples"),
        ({"batch_size": 4, "ranks": 2, "rank": 2}, "rank 2 of 2"),
        ({"batch_size": 4, "consumed": -1}, "-1 samples consumed"),
        ({"batch_size": 4, "workers": -1}, "-1 workers that read 4 batches ahead"),
        ({"batch_size": 4, "read_ahead": 0}, "0 workers that read 0 batches ahead"),
    ],
)
def test_what_cannot_be_is_refused(values: dict[str, int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Loader(SAMPLES, **values)


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("read_ahead", [1, 5])
def test_workers_change_nothing(workers: int, read_ahead: int) -> None:
    expected = steps(1, 30)
    with Loader(SAMPLES, batch_size=12, workers=workers, read_ahead=read_ahead) as loader:
        for step in range(30):
            assert np.array_equal(next(loader)["tokens"], expected[step])
            assert loader.consumed == 12 * (step + 1)
        loader.consumed = 36  # what was read ahead is not what comes next
        assert np.array_equal(next(loader)["tokens"], expected[3])
    assert np.array_equal(next(loader)["tokens"], expected[4])  # closed, it can go on
    loader.close()


@settings(max_examples=50, deadline=None)
@given(
    ranks=st.tuples(*[st.sampled_from([1, 2, 3, 6])] * 2),
    workers=st.tuples(*[st.sampled_from([0, 2])] * 2),
    before=st.integers(0, 25),
)
def test_a_state_gives_the_very_next_sample(ranks, workers, before) -> None:
    straight = steps(1, before + 2)
    old = Loader(SAMPLES, batch_size=12, rank=ranks[0] - 1, ranks=ranks[0], workers=workers[0])
    for _ in range(before):
        next(old)
    state = json.loads(json.dumps(old.state_dict()))
    old.close()
    assert state == {"consumed": 12 * before}
    for step in (before, before + 1):
        parts = []
        for rank in range(ranks[1]):
            new = Loader(SAMPLES, batch_size=12, rank=rank, ranks=ranks[1], workers=workers[1])
            new.load_state_dict({"consumed": 12 * step})
            parts.append(next(new)["tokens"])
            new.close()
        assert np.array_equal(np.concatenate(parts), straight[step])


def test_an_error_in_a_worker_is_raised() -> None:
    class Broken:
        def __len__(self) -> int:
            return 9

        def batch(self, positions):
            raise DataError("the disk is gone")

    with (
        Loader(Broken(), batch_size=3, workers=2) as loader,
        pytest.raises(DataError, match="the disk is gone"),
    ):
        next(loader)


def test_a_state_of_something_else_is_refused() -> None:
    with pytest.raises(DataError, match="The state of a loader is"):
        Loader(SAMPLES, batch_size=3).load_state_dict({"epoch": 3})
