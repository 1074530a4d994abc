"""The examples of docs/samples.md run as they stand, one after another."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from dataprep.samples.objectives import KINDS

PAGE = Path(__file__).parents[3] / "docs" / "samples.md"


def test_examples(tmp_path: Path, tokenizer_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(tokenizer_file, tmp_path / "tokenizer.json")
    (tmp_path / "corpus").mkdir()
    lines = [f"床前明月光，疑是地上霜。Line {n} of many. {'月' * (n % 40)}\n" for n in range(600)]
    (tmp_path / "corpus" / "a.txt").write_text("".join(lines), "utf-8")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)
    assert len(blocks) == 6
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    assert names["state"] == {"consumed": 24}


def test_every_kind_is_in_the_table() -> None:
    listed = re.findall(r"^\| `([a-z0-9-]+)` \|", PAGE.read_text("utf-8"), re.M)
    assert listed == ["causal", *KINDS]
