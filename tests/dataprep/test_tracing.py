"""From a token to its bytes in the inputs, and from a line to its tokens."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest
import zstandard
from test_dataprep_cli import run

import dataprep
from dataprep import plan as plan_module
from dataprep.errors import UsageError
from dataprep.tracing import describe_place, whence, where


@pytest.fixture
def name(
    corpus: Path, tmp_path: Path, tokenizer_file: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    monkeypatch.setattr(plan_module, "MIN_SHARD", 4096)
    dataprep.build(corpus, out=tmp_path / "d", tokenizer=tokenizer_file)
    return tmp_path / "d"


def unpacked(path: str) -> bytes:
    content = Path(path).read_bytes()
    if path.endswith(".gz"):
        return gzip.decompress(content)
    return zstandard.decompress(content) if path.endswith(".zst") else content


def test_whence_and_back(name: Path) -> None:
    """The bytes that a token is said to come from are the record that its document was."""
    dataset = dataprep.open(name)
    tokenizer = dataset.tokenizer()
    documents = set()
    for token in random.Random(1).sample(range(dataset.n_tokens), 60):
        found = whence(f"{name}:{token}")
        document, origin = found["document"], found["origin"]
        documents.add(document)
        assert found["first_token"] <= token <= found["last_token"]
        content = unpacked(origin["file"])
        record = content[origin["start"] : origin["end"]].decode()
        if ".jsonl" in origin["file"]:
            record = json.loads(record)["text"]
        if dataset.tokens[token] != dataset.eod_id:
            assert tokenizer.decode(dataset[document][:-1]) == record
        assert content[: origin["start"]].count(b"\n") + 1 == origin["line"]
        line = f"{Path(origin['file']).name}:{origin['line']}"
        assert [there["document"] for there in where(str(name), line)] == [document]
        assert where(str(name), str(document))[0]["origin"] == origin
    assert len(documents) >= 40


def test_first_and_last_token(name: Path) -> None:
    dataset = dataprep.open(name)
    assert whence(f"{name}:0")["document"] == 0
    last = whence(f"{name}.bin:{dataset.n_tokens - 1}")
    assert last["document"] == dataset.n_documents - 1
    assert last["last_token"] == dataset.n_tokens - 1
    assert "<|endoftext|>" in last["text_of_token"]


def test_lines_within_a_document(name: Path) -> None:
    """b.md is one document: each of its lines is in it."""
    (found,) = where(str(name), "corpus/b.md:100")
    assert found["origin"]["line"] == 1
    assert found["text"].startswith("# Title")
    assert found["text"].endswith("…")
    assert f"document    {found['document']:,}" in describe_place(found)


def test_what_cannot_be_found(name: Path, corpus: Path) -> None:
    n_tokens = dataprep.open(name).n_tokens
    for target, message in (
        (f"{name}", "is not NAME:TOKEN"),
        (f"{name}:-1", "is not NAME:TOKEN"),
        (f"{name}:{n_tokens}", "There is no token"),
    ):
        with pytest.raises(UsageError, match=message):
            whence(target)
    for target, message in (
        ("1201", "There is no document 1,201"),
        ("a.txt", "neither the number of a document nor FILE:LINE"),
        ("a.txt:0", "neither the number"),
        ("z.txt:1", r"z\.txt is not among the 5 inputs"),
        ("txt:1", "not among"),
    ):
        with pytest.raises(UsageError, match=message):
            where(str(name), target)


def test_paths_of_one_ending(tmp_path: Path, tokenizer_file: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / "c" / folder).mkdir(parents=True)
        (tmp_path / "c" / folder / "a.txt").write_text(f"{folder}\n")
    dataprep.build(tmp_path / "c", out=tmp_path / "d", tokenizer=tokenizer_file)
    with pytest.raises(UsageError, match=r"2 inputs end in a\.txt") as caught:
        where(str(tmp_path / "d"), "a.txt:1")
    assert "more of the path" in str(caught.value.hint)
    (found,) = where(str(tmp_path / "d"), "y/a.txt:1")
    assert found["document"] == 1


def test_on_the_command_line(name: Path) -> None:
    shown = run("whence", f"{name}:3")
    assert shown.returncode == 0, shown.stderr
    assert "a.txt, line 1, bytes 0 to " in shown.stdout
    found = json.loads(run("where", name, "a.txt:1", "--json").stdout)
    assert found["documents"][0]["document"] == 0
    audited = run("audit", name)
    assert (audited.returncode, audited.stderr) == (0, "")
    assert "1,201 documents from 5 inputs" in audited.stdout
    assert "failed + " in audited.stdout
    assert json.loads(run("audit", name, "--json").stdout)["ok"] is True
    refused = run("where", name, "none.txt:1", "--json")
    assert (refused.returncode, json.loads(refused.stdout)["exit_code"]) == (2, 2)
