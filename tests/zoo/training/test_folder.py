from __future__ import annotations

from pathlib import Path

import pytest

from dataprep.errors import DataError, RunError, UsageError
from zoo.training.folder import RunFolder, find_checkpoint


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """A folder with two checkpoints, the second of which is the latest."""
    folder = RunFolder(tmp_path / "run")
    folder.clear()
    for step in (100, 200):
        folder.checkpoint(step).mkdir()
        (folder.checkpoint(step) / "config.json").write_text("{}")
        folder.point_to(folder.checkpoint(step))
    folder.metrics.write_text("")
    return folder


def test_the_pointer_names_the_latest(folder: RunFolder) -> None:
    assert folder.latest() == folder.path / "step-000200"
    assert (folder.path / "latest").read_text() == "step-000200\n"
    assert find_checkpoint(folder.path) == folder.path / "step-000200"
    assert find_checkpoint(folder.path / "step-000100") == folder.path / "step-000100"


def test_a_run_is_never_overwritten_unasked(folder: RunFolder) -> None:
    with pytest.raises(UsageError, match="holds a run already") as error:
        folder.check(resume=False, overwrite=False)
    assert "--resume" in str(error.value.hint)
    folder.check(resume=True, overwrite=False)
    folder.check(resume=False, overwrite=True)
    folder.clear()
    assert list(folder.path.iterdir()) == []


def test_clearing_leaves_other_files_alone(folder: RunFolder) -> None:
    (folder.path / "notes.txt").write_text("mine")
    folder.clear()
    assert [path.name for path in folder.path.iterdir()] == ["notes.txt"]


def test_nothing_to_resume(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no checkpoint in .*empty to resume from"):
        RunFolder(tmp_path / "empty").check(resume=True, overwrite=False)
    with pytest.raises(UsageError, match="neither a checkpoint nor the folder of a run"):
        find_checkpoint(tmp_path / "empty")


def test_a_pointer_to_nothing_is_told(folder: RunFolder) -> None:
    (folder.path / "latest").write_text("step-000900\n")
    with pytest.raises(DataError, match="names step-000900, which is not in"):
        folder.latest()


def test_a_file_in_the_way_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be prepared for a run"):
        RunFolder(tmp_path / "file").clear()
