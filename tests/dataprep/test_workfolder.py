"""Unfinished work that was tampered with, and folders that are none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dataprep
from dataprep import builder
from dataprep import plan as plan_module
from dataprep.errors import RunError, UsageError
from dataprep.readers import format_of

Build = Callable[..., Any]


@pytest.fixture
def build(corpus: Path, tmp_path: Path) -> Build:
    def make(**settings: Any) -> dataprep.Dataset:
        return dataprep.build(corpus, out=tmp_path / "d", tokenizer="train:bpe:300", **settings)

    return make


@pytest.fixture
def work(build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The work folder of a build that was stopped with all shards done."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(plan_module, "MIN_SHARD", 4096)
    with monkeypatch.context() as patch:
        patch.setattr(builder, "publish", interrupted)
        with pytest.raises(KeyboardInterrupt):
            build(keep_rejects=tmp_path / "rejects")
    return tmp_path / "d.partial"


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-2] + b"\n")


def _garble(path: Path) -> None:
    path.write_bytes(b"garbage\n")


@pytest.mark.parametrize("damage", [_flip, _cut, _garble, Path.unlink])
@pytest.mark.parametrize(
    "name",
    ["plan.json", "journal", "tokenizer.json", "00001.bin", "00001.lengths", "00000.rejects"],
)
def test_damage_is_found(
    name: str, damage: Callable[[Path], None], work: Path, build: Build, tmp_path: Path
) -> None:
    damage(work / name)
    rejects = tmp_path / "rejects"
    if damage is Path.unlink and not name[0].isdigit():  # that much of the work is done again
        assert build(keep_rejects=rejects).n_documents == 1201
    else:
        with pytest.raises(RunError, match=r"is not what the build wrote") as caught:
            build(keep_rejects=rejects)
        assert name in str(caught.value)
        assert not (tmp_path / "d.json").exists()
        assert build(keep_rejects=rejects, overwrite=True).n_documents == 1201
    assert not work.exists()


def test_another_tokenizer_in_the_work_folder(
    work: Path, build: Build, tmp_path: Path, tokenizer_file: Path
) -> None:
    (work / "tokenizer.json").write_bytes(tokenizer_file.read_bytes())
    with pytest.raises(RunError, match=r"tokenizer\.json is not what the build wrote"):
        build(keep_rejects=tmp_path / "rejects")


def test_no_reader_reads_unfinished_work(work: Path) -> None:
    assert [path for path in work.iterdir() if format_of(path)] == []


def test_folder_of_others_is_left_alone(build: Build, tmp_path: Path) -> None:
    folder = tmp_path / "d.partial"
    folder.mkdir()
    (folder / "mine.txt").write_text("precious")
    for overwrite in (False, True):
        with pytest.raises(UsageError, match="needed as work folder"):
            build(overwrite=overwrite)
    assert (folder / "mine.txt").read_text() == "precious"


def test_file_under_the_name_of_the_work_folder(build: Build, tmp_path: Path) -> None:
    (tmp_path / "d.partial").write_text("precious")
    with pytest.raises(UsageError, match="needed as work folder"):
        build()
