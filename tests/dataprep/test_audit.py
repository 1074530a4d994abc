"""Auditing: the ledger is recounted from the inputs, and every change of them or of it is named."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import dataprep
from dataprep import plan as plan_module
from dataprep.audit import audit
from dataprep.errors import DataError, RunError, UsageError
from dataprep.manifest import sealed


@pytest.fixture
def name(
    corpus: Path, tmp_path: Path, tokenizer_file: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    monkeypatch.setattr(plan_module, "MIN_SHARD", 4096)
    (corpus / "f.jsonl").write_bytes(b'\xef\xbb\xbf{"text": "a"}\r\n\n{"text": ""}\nbad\n \n')
    (corpus / "g.txt").write_bytes(b"one\n<|endoftext|>\n\xff\n \nlast")
    path = tmp_path / "d"
    dataprep.build(corpus, out=path, tokenizer=tokenizer_file, special_in_text="error")
    return path


def relie(name: Path, change: Any) -> None:
    path = Path(f"{name}.json")
    manifest = json.loads(path.read_text())
    del manifest["sha256"]
    change(manifest)
    path.write_text(json.dumps(sealed(manifest)))


def test_every_byte_is_accounted_for(name: Path, corpus: Path) -> None:
    found = audit(name)
    manifest = dataprep.open(name).manifest
    assert found["documents"] == manifest["documents"] == 1204
    assert found["amounts"] == manifest["books"]["amounts"]
    byte = found["amounts"]["byte"]
    assert byte["framing"]["byte order mark"] == 3
    assert byte["framing"]["blank lines"] == 1
    assert byte["failed"] == len(b"bad") + len(b"<|endoftext|>") + 1
    assert byte["read"] == byte["written"] + byte["failed"] + sum(
        sum(byte[part].values()) for part in ("dropped", "framing")
    )
    plain = [path for path in corpus.rglob("*") if path.suffix in (".txt", ".md", ".jsonl")]
    unpacked = sum(len((corpus / other).read_bytes()) for other in ("a.txt", "c.jsonl"))
    assert byte["read"] == sum(path.stat().st_size for path in plain) + unpacked
    assert len(manifest["ledger"]) > 10


def test_changed_inputs_are_named(name: Path, corpus: Path) -> None:
    path = corpus / "c.jsonl"
    status, content = path.stat(), path.read_bytes()
    path.write_bytes(content.replace(b"Ishmael", b"Isabell"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(DataError, match=r"c\.jsonl has other content"):
        audit(name)
    path.write_bytes(content[:-1])
    with pytest.raises(DataError, match=r"c\.jsonl has .* bytes; it had"):
        audit(name)
    path.unlink()
    with pytest.raises(DataError, match=r"c\.jsonl cannot be read"):
        audit(name)


def test_ledgers_that_lie(name: Path) -> None:
    def one_byte(manifest: dict[str, Any]) -> None:
        row = manifest["ledger"][3]["amounts"]["byte"]
        row["written"], row["framing"]["line ends"] = (
            row["written"] + 1,
            row["framing"]["line ends"] - 1,
        )

    relie(name, one_byte)
    with pytest.raises(DataError, match=r"shard 3 .*amounts was .* when counted again"):
        audit(name)


def test_origins_that_lie(name: Path) -> None:
    def swap(manifest: dict[str, Any]) -> None:
        shards = manifest["plan"]["shards"]
        first = next(i for i, shard in enumerate(shards) if shard[0]["input"] == 0 and i)
        shards[first - 1], shards[first] = shards[first], shards[first - 1]

    relie(name, swap)
    with pytest.raises(
        DataError, match=r"a\.txt, line \d+, byte .*: this record would be document"
    ):
        audit(name)


def test_damaged_files_that_were_skipped(
    corpus: Path, tmp_path: Path, tokenizer_file: Path
) -> None:
    path = corpus / "sub" / "d.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-30])
    data = dataprep.build(corpus, out=tmp_path / "d", tokenizer=tokenizer_file, on_error="skip")
    assert data.manifest["books"]["amounts"]["byte"]["failed"] >= 0
    assert audit(tmp_path / "d")["documents"] == data.n_documents


def test_max_dropped(tmp_path: Path, tokenizer_file: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "x"}\n' * 98 + '{"txxt": "x"}\n' * 2 + "\n\n")
    settings: dict[str, Any] = {"out": tmp_path / "d", "tokenizer": tokenizer_file}
    with pytest.raises(DataError, match=r"2 % of the bytes in records .* allowed: 1.9 %") as caught:
        dataprep.build(path, **settings, max_dropped=1.9)
    assert "Nothing was published" in str(caught.value.hint)
    assert not (tmp_path / "d.json").exists()
    assert dataprep.build(path, **settings, max_dropped=2).n_documents == 98
    with pytest.raises(UsageError, match="a percentage"):
        dataprep.build(path, **settings, max_dropped=101)


def test_readers_that_lose_bytes_are_found(
    tmp_path: Path, tokenizer_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that ends early, skips a record or a part of one: nothing is published."""
    from dataprep.readers import source as source_module

    path = tmp_path / "a.txt"
    path.write_text("line\n" * 100)
    monkeypatch.setattr(source_module, "CHUNK_BYTES", 64)
    original = source_module.Source.chunks

    def losing(which: Any) -> Any:
        def chunks(source: Any, boundary: Any) -> Any:
            return which(list(original(source, boundary)))

        return chunks

    for which in (lambda c: c[:-1], lambda c: c[:2] + c[3:], lambda c: c[1:], lambda c: c[::-1]):
        monkeypatch.setattr(source_module.Source, "chunks", losing(which))
        with pytest.raises(RunError, match=r"books do not add up: .*a\.txt, byte"):
            dataprep.build(path, out=tmp_path / "d", tokenizer=tokenizer_file, overwrite=True)
        assert not (tmp_path / "d.json").exists()
