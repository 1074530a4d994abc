from __future__ import annotations

import os
from pathlib import Path

import pytest

from dataprep.batch import Batch
from dataprep.tokenizers.spec import TrainSpec
from dataprep.tokenizers.train import train_tokenizer

TEXTS = [
    "床前明月光，疑是地上霜。举头望明月，低头思故乡。",
    "Call me Ishmael. Some years ago - never mind how long precisely.",
    "The quick brown fox jumps over the lazy dog. 今天天气很好。",
]


@pytest.fixture(scope="session")
def tokenizer_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    path.write_bytes(train_tokenizer(TrainSpec(vocab_size=400), iter([Batch.from_texts(TEXTS)])))
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A small corpus in every format and compression, with blank lines and no bad records."""
    import gzip
    import json

    import zstandard

    folder = tmp_path / "corpus"
    (folder / "sub").mkdir(parents=True)
    lines = "".join(f"{TEXTS[n % 3]} {n}\n" + "\n" * (n % 2) for n in range(300))
    records = "".join(
        json.dumps({"id": n, "text": f"{TEXTS[n % 3]} {n}"}, ensure_ascii=n % 2 == 0) + "\n"
        for n in range(300)
    )
    (folder / "a.txt").write_text(lines, "utf-8")
    (folder / "b.md").write_text(f"# Title\n\n{lines}", "utf-8")
    (folder / "c.jsonl").write_text(records, "utf-8")
    (folder / "sub" / "d.jsonl.gz").write_bytes(gzip.compress(records.encode()))
    (folder / "sub" / "e.txt.zst").write_bytes(zstandard.compress(lines.encode()))
    return folder


@pytest.fixture(scope="session")
def nasty() -> Path:
    shared = os.environ.get("JIMU_SHARED")
    if not shared:
        pytest.skip("JIMU_SHARED is not set: it names the folder with the hostile inputs")
    return Path(shared) / "nasty"
