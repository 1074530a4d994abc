"""``dataprep doctor``: what it counts, and how it is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dataprep.checkup import examine
from dataprep.languages import language_of
from dataprep.tokenizers.load import load_tokenizer

ROOT = Path(__file__).parents[2]


@pytest.fixture
def word_piece(tmp_path: Path) -> Path:
    """Knows 天 and all, and would truncate, pad and add [CLS]."""
    import tokenizers
    from tokenizers import models, pre_tokenizers, processors

    vocabulary = {"[UNK]": 0, "[CLS]": 1, "天": 2, "all": 3, "b": 4}
    made = tokenizers.Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing("[CLS] $A", special_tokens=[("[CLS]", 1)])
    made.add_special_tokens(["[UNK]", "[CLS]"])
    made.enable_truncation(512)
    made.enable_padding(length=9)
    path = tmp_path / "wp" / "tokenizer.json"
    path.parent.mkdir()
    made.save(str(path))
    return path


def test_counts_of_a_vocabulary_with_holes(word_piece: Path) -> None:
    found = examine(load_tokenizer(word_piece), ["天 地", "all bad b", "龘 龘 地"])
    zh, en = found.languages["zh"], found.languages["en"]
    assert (zh.documents, zh.tokens, zh.unknown) == (2, 5, 4)
    assert (en.tokens, en.unknown, en.bytes, en.characters) == (3, 1, 9, 9)
    assert found.unknown_characters == [("地", 2), ("龘", 2), ("a", 1), ("d", 1)]
    assert [what.split()[0] for what in found.ignored] == [
        "truncation",
        "padding",
        "post-processor",
    ]
    assert zh.rates()["unknown"] == 0.8
    assert zh.rates()["tokens_per_byte"] == pytest.approx(5 / 18)


def test_counts_of_a_vocabulary_of_bytes(tokenizer_file: Path) -> None:
    found = examine(load_tokenizer(tokenizer_file), ["龘", "Call me Ishmael.", "ы ж"])
    assert found.ignored == []
    assert found.unknown_characters == []
    assert found.languages["zh"].fragments == found.languages["zh"].tokens == 3
    assert found.languages["en"].fragments == 0
    assert all(counts.rates()["round_trip"] == 1.0 for counts in found.languages.values())
    assert list(found.languages) == ["zh", "en", "other"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("今天", "zh"),
        ("today", "en"),
        ("使用 Git 工具", "zh"),
        ("use 工 in English", "en"),
        ("сегодня", "other"),
        ("きょうは", "other"),
        ("𠮷野", "zh"),
        ("123 !?", "other"),
        ("", "other"),
    ],
)
def test_language_by_script(text: str, language: str) -> None:
    assert language_of(text) == language


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dataprep", "doctor", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"},
    )


def test_two_side_by_side(word_piece: Path, tokenizer_file: Path, corpus: Path) -> None:
    done = run(word_piece, tokenizer_file, "--sample", corpus)
    assert done.returncode == 0, done.stderr
    for part in ("truncation to 512 tokens", "zh: ", "en: ", "decodes to itself", "100.00%"):
        assert part in done.stdout
    both = json.loads(run(word_piece, tokenizer_file, "--sample", corpus, "--json").stdout)
    assert [one["name"] for one in both] == [str(word_piece), str(tokenizer_file)]
    assert both[1]["languages"]["zh"]["round_trip"] == 1.0
    assert both[0]["languages"]["zh"]["unknown"] > 0.5
    missing = run("nowhere.json")
    assert missing.returncode == 2
    assert "Traceback" not in missing.stderr
