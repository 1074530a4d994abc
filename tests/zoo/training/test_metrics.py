from __future__ import annotations

from pathlib import Path

import pytest

from dataprep.errors import DataError
from zoo.training.metrics import Metrics, read_metrics
from zoo.training.picture import draw_picture


def test_lines_are_there_as_soon_as_written(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    metrics = Metrics(path, step=0)
    metrics.write(step=1, loss=2.5, grad_norm=None)
    assert read_metrics(path) == [{"step": 1, "loss": 2.5, "grad_norm": None}]
    metrics.close()


def test_a_resumed_run_has_each_step_once(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    metrics = Metrics(path, step=0)
    for step in range(1, 8):
        metrics.write(step=step, loss=1.0)
    metrics.close()
    with path.open("a") as file:
        file.write('{"step": 8, "lo')  # as a killed process leaves it
    metrics = Metrics(path, step=5)
    metrics.write(step=6, loss=2.0)
    metrics.close()
    assert [line["step"] for line in read_metrics(path)] == [1, 2, 3, 4, 5, 6]
    metrics = Metrics(path, step=0)
    metrics.close()
    assert read_metrics(path) == []


def test_a_missing_file_has_no_lines(tmp_path: Path) -> None:
    assert read_metrics(tmp_path / "metrics.jsonl") == []


def test_damage_is_told(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text("{]\n")
    with pytest.raises(DataError, match=r"metrics.jsonl is damaged"):
        read_metrics(tmp_path / "metrics.jsonl")


def test_a_picture_is_drawn_without_a_display(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    lines = [{"step": s, "loss": 9 / s} for s in range(1, 9)] + [{"step": 8, "validation_loss": 2}]
    draw_picture(tmp_path / "loss.png", lines, title="a run")
    assert (tmp_path / "loss.png").read_bytes().startswith(b"\x89PNG")
