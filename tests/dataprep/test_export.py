"""Exports: every token and text arrives, in order, in the form that was asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from test_dataprep_cli import run

import dataprep
from dataprep.disk import IndexedDataset
from dataprep.errors import UsageError
from dataprep.export import FORMATS, export


@pytest.fixture
def name(corpus: Path, tmp_path: Path, tokenizer_file: Path) -> Path:
    dataprep.build(corpus, out=tmp_path / "d", tokenizer=tokenizer_file)
    return tmp_path / "d"


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]


@pytest.mark.parametrize("shard_size", [1, 10_000, 1 << 30])
def test_json_lines_build_the_same_tokens(
    name: Path, tmp_path: Path, tokenizer_file: Path, shard_size: int
) -> None:
    files = export(name, tmp_path / "x", "jsonl", shard_size)
    assert len(files) == {1: 1201, 10_000: len(files), 1 << 30: 1}[shard_size]
    again = dataprep.build(tmp_path / "x", out=tmp_path / "e", tokenizer=tokenizer_file)
    dataset = dataprep.open(name)
    np.testing.assert_array_equal(again.tokens, dataset.tokens)
    np.testing.assert_array_equal(again.lengths, dataset.lengths)
    rows = [row for file in files for row in rows_of(tmp_path / "x" / file)]
    assert [row["document"] for row in rows] == list(range(1201))
    origin = dataset.origin(500)
    assert (rows[500]["file"], rows[500]["line"]) == (origin.file, origin.line)
    assert (rows[500]["start"], rows[500]["end"]) == (origin.start, origin.end)


def test_parquet(name: Path, tmp_path: Path) -> None:
    files = export(name, tmp_path / "x", "parquet", 20_000)
    assert len(files) > 2
    dataset = dataprep.open(name)
    rows = [row for file in files for row in pq.read_table(tmp_path / "x" / file).to_pylist()]
    assert len(rows) == 1201
    tokenizer = dataset.tokenizer()
    for number in (0, 1, 300, 1200):
        assert rows[number]["tokens"] == dataset[number].tolist()
        assert rows[number]["text"] == tokenizer.decode(dataset[number][:-1])
        assert rows[number]["line"] == dataset.origin(number).line


def test_megatron_shards(name: Path, tmp_path: Path) -> None:
    export(name, tmp_path / "x", "megatron-shards", 10_000)
    dataset = dataprep.open(name)
    weights = [line.split() for line in (tmp_path / "x" / "data-path.txt").read_text().splitlines()]
    parts = [IndexedDataset(tmp_path / "x" / prefix) for _, prefix in weights]
    assert [int(weight) for weight, _ in weights] == [part.n_tokens for part in parts]
    assert all(part.tokens.nbytes <= 10_000 or len(part) == 1 for part in parts)
    assert min(part.tokens.nbytes for part in parts[:-1]) > 5_000
    for part in parts:
        part.check()
    np.testing.assert_array_equal(np.concatenate([p.tokens for p in parts]), dataset.tokens)
    np.testing.assert_array_equal(np.concatenate([p.lengths for p in parts]), dataset.lengths)
    assert dataprep.load_tokenizer(tmp_path / "x" / "tokenizer.json").vocab_size == 400


def test_npy(name: Path, tmp_path: Path) -> None:
    export(name, tmp_path / "x", "npy", 1)
    dataset = dataprep.open(name)
    tokens = np.load(tmp_path / "x" / "tokens.npy", mmap_mode="r")
    starts = np.load(tmp_path / "x" / "documents.npy")
    assert tokens.dtype == dataset.dtype
    np.testing.assert_array_equal(tokens, dataset.tokens)
    assert len(starts) == 1202
    for number in (0, 600, 1200):
        np.testing.assert_array_equal(tokens[starts[number] : starts[number + 1]], dataset[number])


@pytest.mark.parametrize("form", FORMATS)
def test_no_documents(tmp_path: Path, tokenizer_file: Path, form: str) -> None:
    (tmp_path / "a.txt").write_text("\n")
    dataprep.build(tmp_path / "a.txt", out=tmp_path / "d", tokenizer=tokenizer_file)
    assert export(tmp_path / "d", tmp_path / "x", form, 100)


def test_bos_is_no_text(tmp_path: Path, tokenizer_file: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n两\n")
    values = json.loads(tokenizer_file.read_text())
    number = len(values["model"]["vocab"])
    values["model"]["vocab"]["<s>"] = number
    values["added_tokens"].append(
        {**values["added_tokens"][0], "id": number, "content": "<s>", "special": True}
    )
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(values))
    dataset = dataprep.build(tmp_path / "a.txt", out=tmp_path / "d", tokenizer=path, add_bos=True)
    assert dataset[0][0] == number
    export(tmp_path / "d", tmp_path / "x", "jsonl", 1 << 20)
    rows = rows_of(tmp_path / "x" / "00000.jsonl")
    assert [row["text"] for row in rows] == ["one", "两"]


def test_what_cannot_be(name: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "mine.partial").mkdir()
    (tmp_path / "mine.partial" / "precious").touch()
    for folder, form, size, message in (
        ("x", "xml", 1, "--format xml is unknown"),
        ("x", "npy", 0, "--shard-size 0"),
        ("there", "npy", 1, "there exists"),
        ("mine", "npy", 1, "is not ours"),
    ):
        with pytest.raises(UsageError, match=message):
            export(name, tmp_path / folder, form, size)
    assert (tmp_path / "mine.partial" / "precious").exists()


def test_interrupted(name: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing under the name before all is there; what a killed export left is removed."""
    from dataprep import export as module

    draft = tmp_path / "x.partial"

    def interrupted(*_: object) -> None:
        assert draft.exists()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(module, "_copy_tokenizer", interrupted)
        with pytest.raises(KeyboardInterrupt):
            export(name, tmp_path / "x", "npy", 1)
    assert not draft.exists()
    assert not (tmp_path / "x").exists()
    draft.mkdir()
    (draft / "export").touch()
    (draft / "tokens.npy.tmp").touch()
    assert export(name, tmp_path / "x", "npy", 1) == [
        "documents.npy",
        "tokenizer.json",
        "tokens.npy",
    ]
    assert not draft.exists()


def test_on_the_command_line(name: Path, tmp_path: Path) -> None:
    done = run("export", name, "-o", tmp_path / "x", "--format", "npy")
    assert (done.returncode, done.stdout) == (0, f"{tmp_path / 'x'}: 3 files\n")
    done = run("export", name, "-o", tmp_path / "y", "--json")
    assert json.loads(done.stdout)["files"] == ["00000.jsonl"]
