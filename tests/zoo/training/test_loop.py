from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dataprep.errors import DataError, RunError, UsageError
from zoo.recipes import load_recipe
from zoo.training import train
from zoo.training.metrics import read_metrics
from zoo.training.trainer import Trainer


def losses(folder: Path) -> dict[int, float]:
    lines = read_metrics(folder / "metrics.jsonl")
    return {line["step"]: line["loss"] for line in lines if "loss" in line}


@pytest.fixture(scope="module")
def straight(dataset: str, tiny_recipe: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an undisturbed run of ten steps."""
    folder = tmp_path_factory.mktemp("straight") / "run"
    train(load_recipe(tiny_recipe), dataset, out=folder)
    return folder


def test_the_loss_falls_and_all_is_written(straight: Path, dataset: str) -> None:
    found = losses(straight)
    assert list(found) == list(range(1, 11))
    assert found[1] == pytest.approx(np.log(300), rel=0.05)
    assert found[10] < found[1] - 0.3
    validations = [x for x in read_metrics(straight / "metrics.jsonl") if "validation_loss" in x]
    assert [line["step"] for line in validations] == [5, 10]
    assert validations[1]["validation_loss"] < validations[0]["validation_loss"]
    assert (straight / "loss.png").read_bytes().startswith(b"\x89PNG")
    assert (straight / "latest").read_text() == "step-000010\n"
    checkpoint = straight / "step-000010"
    assert {path.name for path in checkpoint.iterdir()} == {
        "config.json",
        "model.safetensors",
        "optimizer.safetensors",
        "tokenizer.json",
        "trainer.json",
    }
    assert (checkpoint / "tokenizer.json").read_bytes() == Path(
        f"{dataset}.tokenizer.json"
    ).read_bytes()
    state = json.loads((checkpoint / "trainer.json").read_text())
    assert (state["step"], state["consumed"]) == (10, 80)
    assert state["recipe"]["model"]["vocab"] == 300


def test_a_resumed_run_is_the_undisturbed_one(
    straight: Path, dataset: str, tiny_recipe: str, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    train(load_recipe(tiny_recipe, ["train.steps=5"]), dataset, out=folder)
    train(load_recipe(tiny_recipe), dataset, out=folder, resume=True)
    assert losses(folder) == losses(straight)  # to the last bit
    for name in ("model.safetensors", "optimizer.safetensors"):
        ours, theirs = (run / "step-000010" / name for run in (folder, straight))
        assert ours.read_bytes() == theirs.read_bytes(), name


def test_portions_do_not_change_the_run(
    straight: Path, dataset: str, tiny_recipe: str, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    train(load_recipe(tiny_recipe, ["train.micro_batch=8"]), dataset, out=folder)
    assert losses(folder) == pytest.approx(losses(straight), rel=1e-5)


def test_saving_and_validating_do_not_change_the_run(
    straight: Path, dataset: str, tiny_recipe: str, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    recipe = load_recipe(tiny_recipe, ["train.save_every=4", "train.eval_every=0"])
    train(recipe, dataset, out=folder)
    assert losses(folder) == losses(straight)
    assert sorted(path.name for path in folder.glob("step-*")) == [
        "step-000004",
        "step-000008",
        "step-000010",
    ]


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("optimizer.lr=0.02", r"recipe.optimizer.lr was 0.01, is 0.02"),
        ("data.seed=1", r"recipe.data.seed was 0, is 1"),
        ("model.layers=3", r"recipe.model.layers was 2, is 3"),
        ("train.batch_size=16", r"recipe.train.batch_size was 8, is 16"),
    ],
)
def test_another_recipe_does_not_resume(
    straight: Path, dataset: str, tiny_recipe: str, override: str, told: str
) -> None:
    before = {p: p.stat().st_mtime_ns for p in straight.rglob("*")}
    with pytest.raises(UsageError, match=told):
        train(load_recipe(tiny_recipe, [override]), dataset, out=straight, resume=True)
    assert {p: p.stat().st_mtime_ns for p in straight.rglob("*")} == before


def test_another_dataset_does_not_resume(
    straight: Path, dataset: str, tiny_recipe: str, tmp_path: Path
) -> None:
    import dataprep

    corpus = tmp_path / "corpus.txt"
    corpus.write_text("the moon 明月 light\n" * 200, encoding="utf-8")
    other = str(tmp_path / "other")
    dataprep.build(
        corpus, out=other, doc_per="line", tokenizer=f"{dataset}.tokenizer.json", workers=1
    )
    with pytest.raises(UsageError, match=r"dataset.tokens_sha256 was '[0-9a-f]{64}', is '"):
        train(load_recipe(tiny_recipe), other, out=straight, resume=True)


def test_a_moved_dataset_resumes(
    straight: Path, dataset: str, tiny_recipe: str, tmp_path: Path
) -> None:
    for ending in (".bin", ".idx", ".json", ".tokenizer.json"):
        (tmp_path / f"tiny{ending}").write_bytes(Path(f"{dataset}{ending}").read_bytes())
    told: list[str] = []
    train(load_recipe(tiny_recipe), tmp_path / "tiny", out=straight, resume=True, say=told.append)
    assert any("resumed from" in line for line in told)


def test_a_run_in_the_folder_is_kept(straight: Path, dataset: str, tiny_recipe: str) -> None:
    with pytest.raises(UsageError, match="holds a run already"):
        train(load_recipe(tiny_recipe), dataset, out=straight)


def test_a_fault_in_the_settings_keeps_the_run_that_was_to_be_replaced(
    dataset: str, tiny_recipe: str, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    train(load_recipe(tiny_recipe, ["train.steps=1"]), dataset, out=folder)
    with pytest.raises(DataError, match="cannot be split"):
        train(
            load_recipe(tiny_recipe, ["data.seq_len=16000", "model.positions=16000"]),
            dataset,
            out=folder,
            overwrite=True,
        )
    assert (folder / "step-000001" / "model.safetensors").exists()


def test_a_lost_loss_ends_the_run_by_name(
    dataset: str, tiny_recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    advance = Trainer.advance

    def poisoned(self: Trainer) -> Any:
        result = advance(self)
        return type(result)(float("nan"), result.grad_norm, result.lr) if self.step == 3 else result

    monkeypatch.setattr(Trainer, "advance", poisoned)
    folder = tmp_path / "run"
    with pytest.raises(RunError, match="loss of step 3 is nan"):
        train(load_recipe(tiny_recipe, ["train.save_every=2"]), dataset, out=folder)
    assert losses(folder)[3] is None
    assert (folder / "latest").read_text() == "step-000002\n"


def test_a_damaged_checkpoint_is_told(dataset: str, tiny_recipe: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    recipe = load_recipe(tiny_recipe, ["train.steps=1"])
    checkpoint = train(recipe, dataset, out=folder)
    weights = checkpoint / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(DataError, match=r"model.safetensors cannot be read"):
        train(recipe, dataset, out=folder, resume=True)
    weights.unlink()
    with pytest.raises(DataError, match=r"model.safetensors is missing"):
        train(recipe, dataset, out=folder, resume=True)
    (checkpoint / "trainer.json").write_text("{}")
    with pytest.raises(DataError, match="does not tell where a run stood"):
        train(recipe, dataset, out=folder, resume=True)


def test_a_mesh_of_more_ranks_than_there_are(dataset: str, tiny_recipe: str, tmp_path) -> None:
    from zoo.parallel.mesh import Mesh

    with pytest.raises(UsageError, match="needs 2 ranks, but this run has 1"):
        train(load_recipe(tiny_recipe), dataset, out=tmp_path / "run", mesh=Mesh(tp=2))
    assert not (tmp_path / "run").exists()
