from __future__ import annotations

import pytest

import dataprep
from dataprep.batch import Batch
from dataprep.tokenizers.spec import TrainSpec
from dataprep.tokenizers.train import train_tokenizer

TEXTS = [
    "床前明月光，疑是地上霜。举头望明月，低头思故乡。",
    "Call me Ishmael. Some years ago - never mind how long precisely.",
    "今天天气很好。我们去公园散步吧！The quick brown fox jumps over the lazy dog.",
]


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> dataprep.Dataset:
    folder = tmp_path_factory.mktemp("kinds")
    tokenizer = folder / "tokenizer.json"
    spec = TrainSpec(vocab_size=300, kind="wordpiece")
    tokenizer.write_bytes(train_tokenizer(spec, iter([Batch.from_texts(TEXTS)])))
    lines = [f"{TEXTS[n % 3]} {TEXTS[n % 2]} {'月' * (n % 50)}" for n in range(300)]
    (folder / "c.txt").write_text("\n".join(lines), "utf-8")
    return dataprep.build(
        folder / "c.txt", out=folder / "d", tokenizer=tokenizer, words=True, sentences=True
    )


@pytest.fixture(scope="session")
def roles(dataset: dataprep.Dataset) -> dict[str, int]:
    """Special ids behind the vocabulary, for what BERT's does not have."""
    names = ["fim_prefix", "fim_middle", "fim_suffix", "sop", "eop", "gmask"]
    names += [f"extra_id_{i}" for i in range(32)]
    return {name: dataset.vocab_size + i for i, name in enumerate(names)}
