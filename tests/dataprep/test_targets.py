"""Where a build may write: refused before any work, and nothing of the user's is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

import dataprep
from dataprep.errors import RunError, UsageError


@pytest.mark.parametrize(
    ("rejects", "message"),
    [
        ("corpus/a.txt", "within the inputs"),
        ("corpus/rejects.jsonl", "within the inputs"),
        ("corpus", "is no file"),
        ("/dev/null", "is no file"),
        ("d.json", "for the dataset itself"),
        ("d.partial/rejects", "for the dataset itself"),
        ("precious.txt", "holds something else"),
    ],
)
def test_rejects_that_would_destroy(
    rejects: str,
    message: str,
    corpus: Path,
    tmp_path: Path,
    tokenizer_file: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("precious.txt").write_text("precious")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(UsageError, match=message):
        dataprep.build(corpus, out="d", tokenizer=tokenizer_file, keep_rejects=rejects)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_rejects_that_cannot_be_written(corpus: Path, tmp_path: Path, tokenizer_file: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="file"):
        dataprep.build(
            corpus, out=tmp_path / "d", tokenizer=tokenizer_file, keep_rejects=tmp_path / "file/r"
        )
    assert not (tmp_path / "d.partial").exists()


def test_rejects_beside_the_dataset(corpus: Path, tmp_path: Path, tokenizer_file: Path) -> None:
    """Replaced by another build, missed when they are gone."""
    rejects = tmp_path / "d.rejects.jsonl"
    for overwrite in (False, True):
        dataprep.build(
            corpus,
            out=tmp_path / "d",
            tokenizer=tokenizer_file,
            keep_rejects=rejects,
            overwrite=overwrite,
        )
        assert rejects.read_bytes().count(b"\n") == 300
    rejects.unlink()
    with pytest.raises(UsageError, match="its rejects are not in"):
        dataprep.build(corpus, out=tmp_path / "d", tokenizer=tokenizer_file, keep_rejects=rejects)


def test_folder_under_the_name_of_a_file(
    corpus: Path, tmp_path: Path, tokenizer_file: Path
) -> None:
    (tmp_path / "d.bin").mkdir()
    with pytest.raises(UsageError, match=r"d\.bin is a folder"):
        dataprep.build(corpus, out=tmp_path / "d", tokenizer=tokenizer_file, overwrite=True)
