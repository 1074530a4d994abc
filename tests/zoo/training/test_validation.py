from __future__ import annotations

import numpy as np
import pytest

from dataprep.samples import CausalSamples
from zoo.training.validation import Validation

SAMPLES = CausalSamples(np.arange(201), seq_len=10)  # 20 samples; the first tokens are 0, 10, …


def seen(limit: int, batch_size: int, passes: int, ranks: int) -> tuple[list[int], float]:
    """First tokens of the rows that all ranks together see, and their mean as the loss."""
    rows: list[int] = []
    means = []
    for rank in range(ranks):

        def step(batch) -> float:
            rows.extend(batch["tokens"][:, 0].tolist())
            return float(batch["tokens"][:, 0].mean())

        validate = Validation(
            SAMPLES,
            step,
            limit=limit,
            batch_size=batch_size,
            passes=passes,
            rank=rank,
            ranks=ranks,
        )
        means.append(validate())
        assert validate() == means[-1]
    return sorted(rows[: len(rows)]), float(np.mean(means))


@pytest.mark.parametrize(("passes", "ranks"), [(1, 1), (2, 1), (1, 2), (2, 2), (4, 1), (1, 4)])
def test_every_layout_sees_the_same_samples(passes: int, ranks: int) -> None:
    rows, mean = seen(12, 4, passes, ranks)
    assert rows == sorted(2 * [10 * n for n in range(12)])  # each of the two calls saw them all
    assert mean == 55.0


def test_whole_batches_up_to_the_limit() -> None:
    assert seen(100, 8, 1, 1)[0] == sorted(2 * [10 * n for n in range(16)])
    assert seen(5, 4, 1, 1)[0] == sorted(2 * [10 * n for n in range(4)])


def test_a_part_smaller_than_a_batch_is_repeated_to_fill_it() -> None:
    rows, _ = seen(100, 32, 1, 2)
    assert rows == sorted(2 * ([10 * n for n in range(20)] + [10 * n for n in range(12)]))
