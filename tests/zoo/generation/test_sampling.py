from __future__ import annotations

import numpy as np
import pytest

from dataprep.errors import UsageError
from zoo.generation import Sampler

SCORES = np.log(np.array([0.1, 0.2, 0.0625, 0.4, 0.2375], np.float32))


def shares(sampler: Sampler, draws: int = 20_000) -> np.ndarray:
    generator = sampler.generator()
    chosen = [sampler.choose(SCORES, generator) for _ in range(draws)]
    return np.bincount(chosen, minlength=len(SCORES)) / draws


def test_tokens_come_as_often_as_their_scores_say() -> None:
    assert shares(Sampler(temperature=1.0, top_k=None)) == pytest.approx(np.exp(SCORES), abs=0.015)
    assert shares(Sampler(temperature=1.0, top_k=99)) == pytest.approx(np.exp(SCORES), abs=0.015)


def test_temperature_sharpens() -> None:
    squared = np.exp(2 * SCORES)
    assert shares(Sampler(temperature=0.5, top_k=None)) == pytest.approx(
        squared / squared.sum(), abs=0.015
    )


def test_only_the_best_are_drawn_from() -> None:
    found = shares(Sampler(temperature=1.0, top_k=2))
    assert found == pytest.approx([0, 0, 0, 0.4 / 0.6375, 0.2375 / 0.6375], abs=0.015)


def test_zero_takes_the_best() -> None:
    sampler = Sampler(temperature=0.0)
    assert sampler.choose(SCORES, sampler.generator()) == 3


def test_extreme_scores_do_not_overflow() -> None:
    scores = np.array([-1e30, 1e30, 0.0], np.float32)
    sampler = Sampler(temperature=1e-3, top_k=None)
    assert sampler.choose(scores, sampler.generator()) == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"temperature": -1.0}, "temperature=-1.0 cannot be"),
        ({"temperature": float("nan")}, "temperature=nan cannot be"),
        ({"top_k": 0}, "top_k=0 cannot be"),
        ({"seed": -1}, "seed=-1 cannot be"),
    ],
)
def test_what_cannot_be_is_refused(settings: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Sampler(**settings)
