"""Runs of several processes: the same numbers, one checkpoint for all layouts, clean failures."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from zoo.launch import launch
from zoo.recipes import load_recipe
from zoo.training import train
from zoo.training.metrics import read_metrics

pytestmark = pytest.mark.oneflow

ROOT = Path(__file__).parents[3]
TRAIN = str(ROOT / "zoo" / "train.py")


def losses(folder: Path, key: str = "loss") -> list[float]:
    return [line[key] for line in read_metrics(folder / "metrics.jsonl") if key in line]


@pytest.fixture(scope="module")
def straight(dataset: str, tiny_recipe: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("straight") / "run"
    train(load_recipe(tiny_recipe), dataset, out=folder)
    return folder


@pytest.fixture(scope="module")
def half(dataset: str, tiny_recipe: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two data-parallel ranks, stopped after five of ten steps."""
    folder = tmp_path_factory.mktemp("half") / "run"
    command = [TRAIN, tiny_recipe, "--data", dataset, "--out", str(folder), "--steps", "5"]
    assert launch(2, [*command, "--dp", "2"], timeout=300) == 0
    return folder


def copied(run: Path, to: Path) -> Path:
    return Path(shutil.copytree(run, to / "run"))


def check(folder: Path, straight: Path) -> None:
    assert losses(folder) == pytest.approx(losses(straight), rel=1e-5)
    assert losses(folder, "validation_loss") == pytest.approx(
        losses(straight, "validation_loss"), rel=1e-5
    )


@pytest.mark.parametrize("layout", [["--tp", "2"], ["--pp", "2"]])
def test_a_run_goes_on_under_another_layout(
    layout: list[str], half: Path, straight: Path, dataset: str, tiny_recipe: str, tmp_path: Path
) -> None:
    folder = copied(half, tmp_path)
    command = [TRAIN, tiny_recipe, "--data", dataset, "--out", str(folder), "--resume"]
    assert launch(2, [*command, *layout], timeout=300) == 0
    check(folder, straight)


def test_a_run_goes_on_under_one_process(
    half: Path, straight: Path, dataset: str, tiny_recipe: str, tmp_path: Path
) -> None:
    folder = copied(half, tmp_path)
    train(load_recipe(tiny_recipe), dataset, out=folder, resume=True)
    check(folder, straight)


def test_a_run_goes_on_exactly_under_the_same_layout(
    half: Path, straight: Path, dataset: str, tiny_recipe: str, tmp_path: Path
) -> None:
    whole, folder = tmp_path / "whole", copied(half, tmp_path)
    command = [TRAIN, tiny_recipe, "--data", dataset, "--dp", "2", "--out"]
    assert launch(2, [*command, str(folder), "--resume"], timeout=300) == 0
    assert launch(2, [*command, str(whole)], timeout=300) == 0
    assert losses(folder) == losses(whole)  # to the last bit
    check(folder, straight)
    state = json.loads((folder / "step-000010" / "trainer.json").read_text())
    assert state["mesh"] == {"dp": 2, "tp": 1, "pp": 1}


def test_a_graph_goes_on_exactly_too(
    straight: Path, dataset: str, tiny_recipe: str, tmp_path: Path
) -> None:
    whole, folder = tmp_path / "whole", tmp_path / "run"
    command = [TRAIN, tiny_recipe, "--data", dataset, "--graph", "--out"]
    # Each in a process of its own, which compiles one graph.
    assert launch(1, [*command, str(whole)], timeout=300) == 0
    assert launch(1, [*command, str(folder), "--steps", "5"], timeout=300) == 0
    assert launch(1, [*command, str(folder), "--resume"], timeout=300) == 0
    assert losses(folder) == losses(whole)  # to the last bit
    check(folder, straight)


def test_rank_0_alone_speaks(half: Path, capfd, dataset: str, tiny_recipe: str) -> None:
    """And a setting that cannot be is told once, as one."""
    command = [TRAIN, tiny_recipe, "--data", dataset, "--out", str(half)]
    assert launch(2, [*command, "--tp", "2", "--dp", "2"], timeout=300) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("needs 4 ranks, but this run has 2") == 1
    assert "scripts/launch -n 4 zoo/train.py" in err
    assert "Traceback" not in err


BROKEN = """
from zoo.engine.ranks import rank
from zoo.training.trainer import Trainer

advance = Trainer.advance

def failing(self):
    if self.step == 2 and rank() == 1:
        raise ValueError("the third batch is cursed")
    return advance(self)

Trainer.advance = failing
from zoo.cli.train import main
main()
"""


def test_a_failing_rank_ends_the_run_with_its_error(
    capfd, monkeypatch, dataset: str, tiny_recipe: str, tmp_path: Path
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (tmp_path / "broken.py").write_text(BROKEN)
    command = [tiny_recipe, "--data", dataset, "--out", str(tmp_path / "run"), "--dp", "2"]
    # Were the other rank left to wait, the time limit would end the run with another code.
    assert launch(2, [str(tmp_path / "broken.py"), *command], timeout=300) == 1
    _, err = capfd.readouterr()
    assert "rank 1 of 2: error: ValueError: the third batch is cursed" in err
