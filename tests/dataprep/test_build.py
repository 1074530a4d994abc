"""Whole builds: what comes out, that it is always the same, and that the books add up."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dataprep
from dataprep import plan as plan_module
from dataprep.errors import DataError, RunError, UsageError


@pytest.fixture(autouse=True)
def _small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_module, "MIN_SHARD", 4096)


def hashes(out: Path) -> dict[str, str]:
    names = (".bin", ".idx", ".origins", ".tokenizer.json")
    return {
        ending: hashlib.sha256(Path(f"{out}{ending}").read_bytes()).hexdigest() for ending in names
    }


def texts(dataset: dataprep.Dataset) -> list[str]:
    tokenizer = dataset.tokenizer()
    return [tokenizer.decode(dataset[number][:-1]) for number in range(len(dataset))]


def test_what_comes_out(corpus: Path, tmp_path: Path, tokenizer_file: Path) -> None:
    dataset = dataprep.build(corpus, out=tmp_path / "d", tokenizer=tokenizer_file)
    lines = [line for line in (corpus / "a.txt").read_text("utf-8").split("\n") if line]
    assert texts(dataset) == [*lines, (corpus / "b.md").read_text("utf-8"), *lines * 3]
    assert (dataset.tokens[dataset.pointers[1:] // 2 - 1] == dataset.eod_id).all()

    manifest = json.loads((tmp_path / "d.json").read_text())
    assert manifest["documents"] == manifest["sequences"] == 1201
    assert manifest["tokens"] == len(dataset.tokens)
    assert manifest["dtype"] == "uint16"
    books = manifest["books"]
    assert (books["read"], books["dropped"], books["failed"]) == (1501, {"blank": 300}, 0)
    for entry in manifest["inputs"]:
        content = Path(entry["path"]).read_bytes()
        assert (entry["size"], entry["sha256"]) == (
            len(content),
            hashlib.sha256(content).hexdigest(),
        )
    for ending, about in manifest["files"].items():
        content = (tmp_path / f"d{ending}").read_bytes()
        assert about == {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    assert not (tmp_path / "d.partial").exists()


def test_workers_do_not_show(corpus: Path, tmp_path: Path) -> None:
    """1, 2 and 4 workers, and the same corpus under another path, give the same bytes."""
    moved = tmp_path / "elsewhere"
    corpus.rename(moved)
    moved.rename(corpus)
    outs = []
    for workers in (1, 2, 4):
        out = tmp_path / f"w{workers}"
        dataprep.build(corpus, out=out, tokenizer="train:bpe:300", workers=workers)
        outs.append(hashes(out))
    corpus.rename(moved)
    dataprep.build(moved, out=tmp_path / "moved", tokenizer="train:bpe:300")
    assert outs[0] == outs[1] == outs[2] == hashes(tmp_path / "moved")


def test_shard_size_does_not_show(
    corpus: Path, tmp_path: Path, tokenizer_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for size in (100, 3000, 1 << 20):
        monkeypatch.setattr(plan_module, "MIN_SHARD", size)
        monkeypatch.setattr(plan_module, "MAX_SHARD", size)
        data = dataprep.build(corpus, out=tmp_path / f"s{size}", tokenizer=tokenizer_file)
        own = hashes(tmp_path / f"s{size}")
        del own[".origins"]  # its blocks end where shards do; what is in them is compared
        origins = [data.origin(number) for number in range(data.n_documents)]
        found.append((own, origins, data.manifest["books"]))
    assert found[0] == found[1] == found[2]


def test_literal_end_of_document_forges_none(tmp_path: Path, tokenizer_file: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one<|endoftext|>two\n")
    dataset = dataprep.build(path, out=tmp_path / "d", tokenizer=tokenizer_file)
    assert np.count_nonzero(dataset.tokens == dataset.eod_id) == 1
    assert texts(dataset) == ["one<|endoftext|>two"]


def test_complete_already(corpus: Path, tmp_path: Path, tokenizer_file: Path) -> None:
    settings: dict[str, Any] = {"out": tmp_path / "d", "tokenizer": tokenizer_file}
    dataprep.build(corpus, **settings)
    before = (tmp_path / "d.bin").stat().st_mtime_ns
    dataprep.build(corpus, **settings, workers=1)
    assert (tmp_path / "d.bin").stat().st_mtime_ns == before
    with pytest.raises(UsageError, match="text_key was text, is body") as caught:
        dataprep.build(corpus, **settings, text_key="body")
    assert "--overwrite" in str(caught.value.hint)
    with pytest.raises(UsageError, match="tokenizer was"):
        dataprep.build(corpus, out=tmp_path / "d", tokenizer="train:bpe:300")
    assert not (tmp_path / "d.partial").exists()
    again = dataprep.build(corpus, **settings, doc_per="block", overwrite=True)
    assert again.manifest["identity"]["doc_per"] == "block"
    (tmp_path / "d.bin").unlink()
    with pytest.raises(UsageError, match=r"d\.bin is missing"):
        dataprep.build(corpus, **settings, doc_per="block")


def test_files_of_others_are_not_replaced(
    corpus: Path, tmp_path: Path, tokenizer_file: Path
) -> None:
    (tmp_path / "d.bin").write_bytes(b"precious")
    with pytest.raises(UsageError, match="not made here"):
        dataprep.build(corpus, out=tmp_path / "d", tokenizer=tokenizer_file)
    assert (tmp_path / "d.bin").read_bytes() == b"precious"


def test_unfinished_work_of_another_kind(
    corpus: Path, tmp_path: Path, tokenizer_file: Path
) -> None:
    """A failed run leaves its work; other settings are refused, the same go on."""
    bad = corpus / "z.txt"
    bad.write_bytes(b"ok\n\xff\n")
    settings: dict[str, Any] = {"out": tmp_path / "d", "tokenizer": tokenizer_file}
    with pytest.raises(DataError, match="Bad records: 1; allowed: 0"):
        dataprep.build(corpus, **settings, on_error="fail")
    assert (tmp_path / "d.partial").is_dir()
    with pytest.raises(UsageError, match="doc_per was None, is block") as caught:
        dataprep.build(corpus, **settings, doc_per="block")
    assert "--overwrite" in str(caught.value.hint)
    new = corpus / "new.txt"
    new.write_text("new\n")
    with pytest.raises(UsageError, match=r"1 input\(s\) new \(new.txt\)"):
        dataprep.build(corpus, **settings)
    new.unlink()
    os.utime(bad)
    with pytest.raises(UsageError, match=r"1 input\(s\) changed \(z.txt\)"):
        dataprep.build(corpus, **settings)
    assert dataprep.build(corpus, **settings, overwrite=True).manifest["books"]["failed"] == 1


def test_resumed_books_are_whole(corpus: Path, tmp_path: Path, tokenizer_file: Path) -> None:
    (corpus / "a0.txt").write_bytes(b"bad \xff\n")
    (corpus / "z.txt").write_bytes(b"bad \xff\nbad \xfe\n")
    settings: dict[str, Any] = {"out": tmp_path / "d", "tokenizer": tokenizer_file}
    rejects = tmp_path / "rejects.jsonl"
    with pytest.raises(DataError, match="Bad records: 3; allowed: 2"):
        dataprep.build(corpus, **settings, keep_rejects=rejects, max_errors=2, workers=1)
    assert not rejects.exists()
    dataset = dataprep.build(corpus, **settings, keep_rejects=rejects)
    undisturbed = dataprep.build(
        corpus, out=tmp_path / "u", tokenizer=tokenizer_file, keep_rejects=tmp_path / "r2"
    )
    assert dataset.manifest["books"] == undisturbed.manifest["books"]
    assert hashes(tmp_path / "d") == hashes(tmp_path / "u")
    assert rejects.read_bytes() == (tmp_path / "r2").read_bytes()
    kept = [json.loads(line) for line in rejects.read_text().splitlines()]
    assert [entry["record"] for entry in kept if entry["outcome"] == "failed"] == [
        "bad \\xff",
        "bad \\xff",
        "bad \\xfe",
    ]
    blank = [entry for entry in kept if entry["outcome"] == "dropped"]
    assert len(blank) == 300
    first = blank[0]
    assert (Path(first["file"]).name, first["line"], first["cause"]) == ("a.txt", 3, "blank")
    content = (corpus / "a.txt").read_bytes()
    assert content[: first["byte"]].count(b"\n") == 2
    assert content[first["byte"] : first["byte"] + 1] == b"\n"


def test_places_in_a_file_cut_into_ranges(tmp_path: Path, tokenizer_file: Path) -> None:
    rows = [b'{"text": "row %d"}' % number for number in range(2_000)]
    rows[1_500] = b"broken"
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join(rows))
    dataset = dataprep.build(path, out=tmp_path / "d", tokenizer=tokenizer_file)
    (problem,) = dataset.manifest["books"]["problems"]
    assert problem["line"] == 1_501
    assert path.read_bytes()[problem["byte"] :].startswith(b"broken")
    assert dataset.n_documents == 1_999


def test_damaged_file(corpus: Path, tmp_path: Path, tokenizer_file: Path) -> None:
    path = corpus / "sub" / "d.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-30])
    settings: dict[str, Any] = {"out": tmp_path / "d", "tokenizer": tokenizer_file}
    with pytest.raises(DataError, match=r"d\.jsonl\.gz.* is cut"):
        dataprep.build(corpus, **settings)
    dataset = dataprep.build(corpus, **settings, on_error="skip")
    books = dataset.manifest["books"]
    assert (books["damaged_files"], books["failed"]) == (1, 1)
    assert books["read"] == books["written"] + sum(books["dropped"].values()) + 1
    with pytest.raises(
        DataError, match="Damaged files left out by an earlier run: 1"
    ):  # the work of a lenient run, judged strictly
        _rebuild_strictly(corpus, tmp_path / "e", tokenizer_file)


def test_file_that_may_not_be_read(
    corpus: Path, tmp_path: Path, tokenizer_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Path.open

    def closed(path: Path, *arguments: Any, **settings: Any) -> Any:
        if path.name == "b.md":
            raise PermissionError(13, "Permission denied", str(path))
        return original(path, *arguments, **settings)

    monkeypatch.setattr(Path, "open", closed)
    settings: dict[str, Any] = {"out": tmp_path / "d", "tokenizer": tokenizer_file}
    with pytest.raises(DataError, match=r"b\.md cannot be read: Permission denied"):
        dataprep.build(corpus, **settings)
    books = dataprep.build(corpus, **settings, on_error="skip").manifest["books"]
    assert (books["written"], books["damaged_files"], books["failed"]) == (1200, 1, 1)


def _rebuild_strictly(corpus: Path, out: Path, tokenizer_file: Path) -> None:
    """Shards done leniently, then the rest under the default."""
    from dataprep import publish

    original = publish.write_index

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    publish.write_index = interrupted
    try:
        with pytest.raises(KeyboardInterrupt):
            dataprep.build(corpus, out=out, tokenizer=tokenizer_file, on_error="skip")
    finally:
        publish.write_index = original
    dataprep.build(corpus, out=out, tokenizer=tokenizer_file)


def test_nothing_left(tmp_path: Path, tokenizer_file: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("全是国标码\n".encode("gbk") * 3)
    with pytest.raises(DataError, match=r"No document is left: 3 read = 0 written") as caught:
        dataprep.build(path, out=tmp_path / "d", tokenizer=tokenizer_file)
    assert f"{path}, line 1, byte 2: byte 0xCA is not UTF-8" in str(caught.value)


def test_empty_corpus(tmp_path: Path, tokenizer_file: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\n \n")
    dataset = dataprep.build(path, out=tmp_path / "d", tokenizer=tokenizer_file)
    assert dataset.n_documents == 0
    assert dataset.manifest["books"]["dropped"] == {"blank": 2}


def test_input_changed_underneath(
    corpus: Path, tmp_path: Path, tokenizer_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataprep import builder

    original = builder.make_plan

    def late_change(*arguments: Any, **settings: Any) -> Any:
        made = original(*arguments, **settings)
        (corpus / "a.txt").write_text("changed\n")
        return made

    monkeypatch.setattr(builder, "make_plan", late_change)
    with pytest.raises(DataError, match=r"a\.txt was changed while the build was running"):
        dataprep.build(corpus, out=tmp_path / "d", tokenizer=tokenizer_file)


def test_tokenizer_without_end_of_document(tmp_path: Path, tokenizer_file: Path) -> None:
    values = json.loads(tokenizer_file.read_text())
    values["added_tokens"] = []
    values["model"]["vocab"]["<|nothing|>"] = values["model"]["vocab"].pop("<|endoftext|>")
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(values))
    (tmp_path / "a.txt").write_text("x\n")
    with pytest.raises(UsageError, match="no end-of-document token"):
        dataprep.build(tmp_path / "a.txt", out=tmp_path / "d", tokenizer=path)


def test_two_builds_of_one_name(corpus: Path, tmp_path: Path, tokenizer_file: Path) -> None:
    from dataprep.workfolder import WorkFolder

    with WorkFolder(tmp_path / "d").locked(), pytest.raises(UsageError, match="Another build"):
        dataprep.build(corpus, out=tmp_path / "d", tokenizer=tokenizer_file)
    assert not (tmp_path / "d.partial").exists()
    dataprep.build(corpus, out=tmp_path / "d", tokenizer=tokenizer_file)


def test_trainer_that_dies(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(RunError, match="exit code 1") as caught:
        dataprep.build(corpus, out=tmp_path / "d")
    assert caught.value.hint
    assert not (tmp_path / "d.partial" / "tokenizer.json").exists()
