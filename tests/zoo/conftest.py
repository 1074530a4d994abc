"""What the tests of the zoo share: which engine there is, tiny models, starting ranks."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import zoo.engine
from zoo.launch import launch

ROOT = Path(__file__).parents[2]
TINY = {"vocab": 61, "positions": 16, "embed": 32, "layers": 2, "heads": 4}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if not item.path.is_relative_to(here):
            continue
        for engine in ("oneflow", "torch"):
            if item.get_closest_marker(engine) and zoo.engine.name != engine:
                item.add_marker(pytest.mark.skip(reason=f"runs with the {engine} engine"))


@pytest.fixture
def tiny() -> Callable:
    """Builds a tiny GPT-2; keywords replace its sizes."""
    return lambda **sizes: zoo.build("gpt2-small", **{**TINY, **sizes})


@pytest.fixture
def batch() -> dict[str, np.ndarray]:
    ids = np.random.default_rng(0).integers(0, TINY["vocab"], (4, TINY["positions"] + 1))
    return {"tokens": ids[:, :-1], "labels": ids[:, 1:]}


@pytest.fixture
def start_ranks(monkeypatch: pytest.MonkeyPatch) -> Callable:
    """Starts a script as several ranks; gives the exit code."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    monkeypatch.setenv("PYTHONPATH", path)
    return lambda ranks, *argv, timeout=300: launch(ranks, [str(arg) for arg in argv], timeout)
