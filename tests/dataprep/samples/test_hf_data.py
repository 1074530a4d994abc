from __future__ import annotations

import numpy as np
import pytest

from dataprep.errors import UsageError
from dataprep.samples import CausalSamples

pytest.importorskip("datasets", reason="Hugging Face's datasets is not installed")
from dataprep.samples.hf_data import to_iterable_dataset

SAMPLES = CausalSamples(np.arange(900, dtype=np.int32), seq_len=9, seed=11)  # 99 an epoch


def test_rows_and_shards() -> None:
    rows = to_iterable_dataset(SAMPLES, first=4, shards=3)
    assert rows.num_shards == 3
    found = np.array([row["tokens"] for row in rows])
    assert np.array_equal(found, SAMPLES.batch(4 + np.arange(99))["tokens"])
    parts = [np.array([row["labels"] for row in rows.shard(3, i)]) for i in range(3)]
    assert np.array_equal(np.concatenate(parts), SAMPLES.batch(4 + np.arange(99))["labels"])


def test_it_resumes() -> None:
    rows = to_iterable_dataset(SAMPLES, n=80, shards=2)
    iterator = iter(rows)
    for _ in range(50):
        next(iterator)
    state = rows.state_dict()
    again = to_iterable_dataset(SAMPLES, n=80, shards=2)
    again.load_state_dict(state)
    assert np.array_equal(next(iter(again))["tokens"], SAMPLES[50]["tokens"])


def test_shards_have_rows() -> None:
    with pytest.raises(UsageError, match="5 samples in 6 shards: 1 to 5 are possible"):
        to_iterable_dataset(SAMPLES, n=5, shards=6)
