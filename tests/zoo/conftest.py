"""What the tests of the zoo share: which engine there is, tiny models and data, starting ranks."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dataprep
import zoo.engine
from zoo.launch import launch

ROOT = Path(__file__).parents[2]
SIZES = {"vocab": 61, "positions": 16, "embed": 32, "layers": 2, "heads": 4}
WORDS = ["the", "a", "sky", "moon", "light", "night", "quick", "fox", "jumps", "over", "lazy"]
WORDS += ["明月", "天气", "很好", "故乡", "思"]


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
    return lambda **sizes: zoo.build("gpt2-small", **{**SIZES, **sizes})


@pytest.fixture
def batch() -> dict[str, np.ndarray]:
    ids = np.random.default_rng(0).integers(0, SIZES["vocab"], (4, SIZES["positions"] + 1))
    return {"tokens": ids[:, :-1], "labels": ids[:, 1:]}


@pytest.fixture
def start_ranks(monkeypatch: pytest.MonkeyPatch) -> Callable:
    """Starts a script as several ranks; gives the exit code."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    monkeypatch.setenv("PYTHONPATH", path)
    return lambda ranks, *argv, timeout=300: launch(ranks, [str(arg) for arg in argv], timeout)


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Name of a dataset of 200 short documents with a vocabulary of 300."""
    folder = tmp_path_factory.mktemp("dataset")
    draw = random.Random(0)
    lines = [" ".join(draw.choices(WORDS, k=draw.randint(5, 60))) for _ in range(200)]
    (folder / "corpus.txt").write_text("\n".join(lines), encoding="utf-8")
    name = str(folder / "tiny")
    dataprep.build(
        folder / "corpus.txt", out=name, doc_per="line", tokenizer="train:bpe:300", workers=1
    )
    return name


RECIPE = """\
[model]
name = "gpt2-small"
layers = 2
embed = 16
heads = 2
positions = 16

[data]
seq_len = 16
split = [9, 1]

[optimizer]
lr = 1e-2

[optimizer.schedule]
max_steps = 10
warmup_steps = 2

[train]
steps = 10
batch_size = 8
micro_batch = 2
log_every = 5
eval_every = 5
eval_samples = 16
"""


@pytest.fixture(scope="session")
def tiny_recipe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Path of a recipe that trains on ``dataset`` in a second."""
    path = tmp_path_factory.mktemp("recipe") / "tiny.toml"
    path.write_text(RECIPE, encoding="utf-8")
    return str(path)
