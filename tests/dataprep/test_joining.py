"""Merging and splitting: the bytes of the parts in order, and books that can be audited."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_dataprep_cli import run

import dataprep
from dataprep import plan as plan_module
from dataprep.audit import audit
from dataprep.errors import DataError, UsageError
from dataprep.joining import merge, split
from dataprep.manifest import COLUMNS, FILE_ENDINGS
from dataprep.parts import ELSEWHERE
from dataprep.tracing import where
from dataprep.verify import verify

Build = Any


@pytest.fixture
def names(
    corpus: Path, tmp_path: Path, tokenizer_file: Path, monkeypatch: pytest.MonkeyPatch
) -> list[Path]:
    """Two datasets of the corpus, cut into small shards, the second with bad records."""
    monkeypatch.setattr(plan_module, "MIN_SHARD", 4096)
    (corpus / "z.jsonl").write_text('{"text": "one"}\nbad\n{"text": "two"}\n')
    made = []
    for name, inputs in (("a", [corpus / "a.txt", corpus / "b.md"]), ("b", [corpus])):
        dataprep.build(
            inputs, out=tmp_path / name, tokenizer=tokenizer_file, words=True, sentences=True
        )
        made.append(tmp_path / name)
    return made


def content(name: Path | str, ending: str) -> bytes:
    return Path(f"{name}{ending}").read_bytes()


def places(name: Path | str) -> list[tuple[Any, ...]]:
    dataset = dataprep.open(name)
    origins = (dataset.origin(document) for document in range(dataset.n_documents))
    return [(o.file, o.line, o.start, o.end) for o in origins]


def test_merge(names: list[Path], tmp_path: Path) -> None:
    manifest = merge(names, tmp_path / "c")
    a, b, c = (dataprep.open(name) for name in (*names, tmp_path / "c"))
    assert content(tmp_path / "c", ".bin") == content(names[0], ".bin") + content(names[1], ".bin")
    assert c.n_documents == a.n_documents + b.n_documents == 301 + 1203
    np.testing.assert_array_equal(c[301 + 700], b[700])
    assert places(tmp_path / "c") == places(names[0]) + places(names[1])
    for kind in COLUMNS:
        bits = [each.column(kind)[:] for each in (a, b, c)]
        np.testing.assert_array_equal(bits[2], np.concatenate(bits[:2]))
        assert manifest[kind] == np.count_nonzero(bits[2])
    books = manifest["books"]
    assert books["read"] == books["written"] + sum(books["dropped"].values()) + books["failed"]
    assert (books["failed"], books["written"]) == (1, 1504)
    assert [problem["cause"][:4] for problem in books["problems"]]
    assert verify(tmp_path / "c")["documents"] == 1504
    assert audit(tmp_path / "c")["documents"] == 1504
    assert not (tmp_path / "c.partial").exists()
    merge([tmp_path / "c", names[0]], tmp_path / "d")
    assert audit(tmp_path / "d")["documents"] == 1805
    assert len(dataprep.open(tmp_path / "d").manifest["parts"]) == 3


def test_merging_one_is_a_copy(names: list[Path], tmp_path: Path) -> None:
    merge([names[1]], tmp_path / "c")
    for ending in FILE_ENDINGS:
        assert content(tmp_path / "c", ending) == content(names[1], ending)
    manifests = [dataprep.open(name).manifest for name in (names[1], tmp_path / "c")]
    assert manifests[0]["fingerprint"] == manifests[1]["fingerprint"]


def test_split_by_weights_and_back(names: list[Path], tmp_path: Path) -> None:
    merge(names, tmp_path / "c")
    whole = dataprep.open(tmp_path / "c")
    made = split(tmp_path / "c", tmp_path / "s", by="8,1,3")
    parts = [dataprep.open(name) for name, _ in made]
    assert [Path(name).name for name, _ in made] == ["s-0", "s-1", "s-2"]
    longest = int(whole.lengths.max())
    for part, share in zip(parts, (8 / 12, 1 / 12, 3 / 12), strict=True):
        assert abs(part.n_tokens - share * whole.n_tokens) <= longest
        verify(part.prefix)
        audit(part.prefix)
    assert sum(part.n_documents for part in parts) == whole.n_documents
    joined = b"".join(content(part.prefix, ".bin") for part in parts)
    assert joined == content(whole.prefix, ".bin")
    books = parts[1].manifest["books"]
    assert books["dropped"][ELSEWHERE] > 0
    assert books["read"] == books["written"] + sum(books["dropped"].values()) + books["failed"]

    again = merge([part.prefix for part in parts], tmp_path / "again")
    assert again["books"] == whole.manifest["books"]
    assert again["fingerprint"] == whole.manifest["fingerprint"]
    assert again["inputs"] == whole.manifest["inputs"]
    for ending in (".bin", ".idx", ".tokenizer.json"):
        assert content(tmp_path / "again", ending) == content(whole.prefix, ending)
    assert places(tmp_path / "again") == places(whole.prefix)
    assert audit(tmp_path / "again")["amounts"] == audit(whole.prefix)["amounts"]


@pytest.mark.parametrize("bounds", [(0, 1), (300, 302), (300, 1504), (301, 302), (1400, 1504)])
def test_split_by_documents(names: list[Path], tmp_path: Path, bounds: tuple[int, int]) -> None:
    merge(names, tmp_path / "c")
    first, last = bounds
    split(tmp_path / "c", tmp_path / "s", documents=f"{first}:{last}")
    whole, part = dataprep.open(tmp_path / "c"), dataprep.open(tmp_path / "s")
    assert part.n_documents == last - first
    for number in range(0, last - first, 97):
        np.testing.assert_array_equal(part[number], whole[first + number])
    assert places(part.prefix) == places(whole.prefix)[first:last]
    verify(part.prefix)
    assert audit(part.prefix)["documents"] == last - first
    file, line, *_ = places(part.prefix)[-1]
    found = where(str(part.prefix), f"{file}:{line}")
    assert part.n_documents - 1 in [each["document"] for each in found]


def test_cuts_of_cuts(names: list[Path], tmp_path: Path) -> None:
    """Whatever is cut and joined: what was one build is one again."""
    split(names[1], tmp_path / "x", by="1,1,1")
    split(tmp_path / "x-1", tmp_path / "y", by="1,2")
    pieces = ["x-0", "y-0", "y-1", "x-2"]
    manifest = merge([tmp_path / piece for piece in pieces], tmp_path / "z")
    whole = dataprep.open(names[1]).manifest
    assert (manifest["fingerprint"], manifest["books"]) == (whole["fingerprint"], whole["books"])
    backwards = merge([tmp_path / piece for piece in pieces[::-1]], tmp_path / "r")
    assert len(backwards["parts"]) == 4
    assert backwards["documents"] == whole["documents"]
    assert audit(tmp_path / "r")["documents"] == whole["documents"]


def test_empty_datasets(names: list[Path], tmp_path: Path, tokenizer_file: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n")
    dataprep.build(
        tmp_path / "empty.txt",
        out=tmp_path / "e",
        tokenizer=tokenizer_file,
        words=True,
        sentences=True,
    )
    merge([tmp_path / "e", names[0], tmp_path / "e"], tmp_path / "c")
    assert content(tmp_path / "c", ".bin") == content(names[0], ".bin")
    assert audit(tmp_path / "c")["documents"] == 301
    assert dataprep.open(tmp_path / "c").manifest["books"]["dropped"]["blank"] == 152
    with pytest.raises(UsageError, match="would have no document"):
        split(tmp_path / "e", tmp_path / "s", by="1,1")


def test_what_does_not_fit(
    names: list[Path], corpus: Path, tmp_path: Path, tokenizer_file: Path
) -> None:
    settings: dict[str, Any] = {"tokenizer": tokenizer_file}
    dataprep.build(corpus / "b.md", out=tmp_path / "t", tokenizer="train:bpe:300")
    dataprep.build(corpus / "b.md", out=tmp_path / "n", append_eod=False, **settings)
    for other, message in (
        ("t", "different tokenizers"),
        ("n", r"eod_id of .* is \d+, of .* None"),
    ):
        with pytest.raises(UsageError, match=message):
            merge([names[0], tmp_path / other], tmp_path / "c")
    for out, message in ((names[1], "exists"), (tmp_path / "c.bin", "is not the name")):
        with pytest.raises(UsageError, match=message):
            merge(names, out)
    with pytest.raises(DataError, match="There is no dataset"):
        merge([names[0], tmp_path / "none"], tmp_path / "c")
    for how, message in (
        ({}, "Say how"),
        ({"by": "1"}, "two or more positive"),
        ({"by": "1,-1"}, "two or more positive"),
        ({"by": "1,x"}, "two or more positive"),
        ({"documents": "5"}, "not A:B"),
        ({"documents": "5:5"}, "not A:B"),
        ({"documents": "0:9999"}, "not A:B"),
    ):
        with pytest.raises(UsageError, match=message):
            split(names[0], tmp_path / "s", **how)
    assert not list(tmp_path.glob("[cs].*"))


@pytest.mark.parametrize("ending", FILE_ENDINGS)
def test_damaged_datasets_are_not_merged(names: list[Path], tmp_path: Path, ending: str) -> None:
    path = Path(f"{names[1]}{ending}")
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 4
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"was changed|damaged"):
        merge(names, tmp_path / "c")
    with pytest.raises(DataError, match=r"was changed|damaged"):
        split(names[1], tmp_path / "s", by="1,1")
    assert not list(tmp_path.glob("[cs][.-]*"))


def test_interrupted_merge(
    names: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed while files were put in place: the next run puts them there again."""
    original = Path.replace
    steps = []

    def dying(path: Path, target: Any) -> Path:
        steps.append(path)
        if str(target).endswith(".origins"):
            raise KeyboardInterrupt
        return original(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", dying)
        with pytest.raises(KeyboardInterrupt):
            merge(names, tmp_path / "c")
    assert not (tmp_path / "c.json").exists()
    assert (tmp_path / "c.bin").exists()
    merge(names, tmp_path / "c")
    verify(tmp_path / "c")
    assert not (tmp_path / "c.partial").exists()


def test_files_of_others_and_unfinished_builds(names: list[Path], tmp_path: Path) -> None:
    (tmp_path / "c.idx").write_text("precious")
    with pytest.raises(UsageError, match="was not made here"):
        merge(names, tmp_path / "c")
    assert (tmp_path / "c.idx").read_text() == "precious"
    (tmp_path / "u.partial").mkdir()
    (tmp_path / "u.partial" / "lock").touch()
    (tmp_path / "u.partial" / "plan.json").touch()
    with pytest.raises(UsageError, match="unfinished build"):
        merge(names, tmp_path / "u")


def test_on_the_command_line(names: list[Path], tmp_path: Path) -> None:
    done = run("merge", *names, "-o", tmp_path / "c")
    assert (done.returncode, done.stderr) == (0, "")
    assert "1,504 documents" in done.stdout
    done = run("split", tmp_path / "c", "-o", tmp_path / "s", "--by", "9,1", "--json")
    made = json.loads(done.stdout)["datasets"]
    assert [Path(row["name"]).name for row in made] == ["s-0", "s-1"]
    assert sum(row["documents"] for row in made) == 1504
    assert run("inspect", tmp_path / "s-1").returncode == 0
    assert run("audit", tmp_path / "s-1").returncode == 0
    refused = run("merge", *names, "-o", tmp_path / "c")
    assert (refused.returncode, refused.stderr.splitlines()[0][-7:]) == (2, "exists.")
