from __future__ import annotations

import json
import os
import stat
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import dataprep
from dataprep.errors import RunError
from zoo.engine import EvalStep
from zoo.models.public import build_public
from zoo.parallel.mesh import Mesh
from zoo.recipes import load_recipe
from zoo.training import train
from zoo.training.checkpoint import read_state
from zoo.training.trainer import Trainer

TOKENS = np.arange(12, dtype=np.int64).reshape(2, 6) * 7


@pytest.fixture(scope="module")
def checkpoint(dataset: str, tiny_recipe: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "run"
    return train(load_recipe(tiny_recipe, ["train.steps=3"]), dataset, out=folder)


@pytest.fixture
def trainer(dataset: str, tiny_recipe: str) -> Trainer:
    recipe = load_recipe(tiny_recipe, ["train.steps=3"])
    return Trainer(recipe, dataprep.open(dataset), Mesh(), graph=False)


def test_a_checkpoint_brings_the_trainer_back(checkpoint: Path, trainer: Trainer) -> None:
    trainer.load(checkpoint)
    assert trainer.state() == read_state(checkpoint)
    assert trainer.step == 3


def test_a_checkpoint_is_a_model_by_itself(checkpoint: Path, trainer: Trainer) -> None:
    trainer.load(checkpoint)
    ours = EvalStep(trainer.model, Mesh()).logits(TOKENS)
    assert np.array_equal(EvalStep(build_public(checkpoint), Mesh()).logits(TOKENS), ours)


@pytest.mark.skipif(find_spec("transformers") is None, reason="transformers is not installed")
@pytest.mark.filterwarnings("ignore")  # of transformers
def test_transformers_reads_a_checkpoint(checkpoint: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    theirs, report = AutoModelForCausalLM.from_pretrained(checkpoint, output_loading_info=True)
    assert not any(report.values()), report
    with torch.no_grad():
        expected = theirs(torch.from_numpy(TOKENS)).logits.numpy()
    ours = EvalStep(build_public(checkpoint), Mesh()).logits(TOKENS)
    assert np.allclose(ours, expected, rtol=1e-4, atol=1e-5)
    assert theirs.config.eos_token_id == dataprep.load_tokenizer(checkpoint).eod_id


def test_every_reader_of_the_folder_may_read_its_files(checkpoint: Path) -> None:
    modes = {stat.S_IMODE(file.stat().st_mode) for file in checkpoint.iterdir()}
    assert len(modes) == 1


def test_a_failure_leaves_the_checkpoint_before(
    trainer: Trainer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "step-000001"
    trainer.save(target)
    before = {file.name: file.read_bytes() for file in target.iterdir()}
    trainer.advance()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(RunError, match=r"step-000001 cannot be written: .* No space left"):
            trainer.save(target)
    assert {file.name: file.read_bytes() for file in target.iterdir()} == before
    trainer.save(target)
    assert read_state(target).step == 1
    assert [path.name for path in tmp_path.iterdir()] == ["step-000001"]


def test_no_pickle_and_no_foreign_path_in_a_checkpoint(checkpoint: Path) -> None:
    for file in checkpoint.iterdir():
        head = file.read_bytes()[:9]
        if file.suffix == ".safetensors":
            assert head[8:9] == b"{"
        else:
            json.loads(file.read_text(encoding="utf-8"))
