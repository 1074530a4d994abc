from __future__ import annotations

import random

import pytest

import dataprep

WORDS = ["the", "a", "sky", "moon", "light", "night", "quick", "fox", "jumps", "over", "lazy"]
WORDS += ["明月", "天气", "很好", "故乡", "思"]


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


TINY = """\
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
    path.write_text(TINY, encoding="utf-8")
    return str(path)
