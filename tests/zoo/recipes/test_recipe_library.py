from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from dataprep.errors import UsageError
from dataprep.samples import CausalSamples, Loader
from zoo.recipes import Recipe, load_recipe, recipe_names
from zoo.recipes.tables import from_table, to_table
from zoo.recipes.toml import read_toml, to_toml


@pytest.mark.parametrize("name", recipe_names())
def test_a_printed_recipe_is_the_recipe(name: str, tmp_path: Path) -> None:
    recipe = load_recipe(name)
    (tmp_path / "printed.toml").write_text(to_toml(to_table(recipe)), encoding="utf-8")
    assert from_table(Recipe, read_toml(tmp_path / "printed.toml")) == recipe
    assert load_recipe(str(tmp_path / "printed.toml")) == recipe


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_trains_at_a_reduced_size(name: str) -> None:
    from zoo.engine import TrainStep
    from zoo.parallel.mesh import Mesh
    from zoo.training.model import build_model, with_vocabulary

    recipe = load_recipe(
        name,
        [
            "model.layers=1",
            "model.embed=16",
            "model.heads=2",
            "data.seq_len=8",
            "train.batch_size=4",
            "train.micro_batch=2",
            "optimizer.schedule.warmup_steps=0",
        ],
    )
    recipe = with_vocabulary(recipe, 50)
    step = TrainStep(
        build_model(recipe),
        recipe.optimizer,
        mesh=Mesh(),
        accumulate=recipe.train.accumulate(1),
    )
    samples = CausalSamples(np.arange(500) % 50, seq_len=8, seed=recipe.data.seed)
    loader = Loader(samples, batch_size=recipe.train.batch_size)
    losses = [step(next(loader)).loss for _ in range(8)]
    assert losses[0] == pytest.approx(np.log(50), rel=0.05)
    assert losses[-1] < losses[0]


def test_published_sizes() -> None:
    small, medium = load_recipe("gpt2-small"), load_recipe("gpt2-medium")
    assert (small.model, medium.model) == ({"name": "gpt2-small"}, {"name": "gpt2-medium"})
    assert small.data.seq_len == medium.data.seq_len == 1024
    assert small.train.batch_size == medium.train.batch_size == 512


def test_overrides_come_over_the_recipe() -> None:
    recipe = load_recipe(
        "gpt2-demo",
        ["model.layers=2", "optimizer.clip_norm=none", "data.split=[4, 1]", "train.steps=70"],
    )
    assert recipe.model["layers"] == 2
    assert recipe.optimizer.clip_norm is None
    assert recipe.data.split == (4.0, 1.0)
    # The schedule ends with the run, unless it is told otherwise.
    assert recipe.optimizer.schedule.max_steps == 70
    held = load_recipe("gpt2-demo", ["train.steps=70", "optimizer.schedule.max_steps=90"])
    assert held.optimizer.schedule.max_steps == 90
    constant = load_recipe("gpt2-demo", ["optimizer.schedule.max_steps=none"])
    assert constant.optimizer.schedule.max_steps is None


@pytest.mark.parametrize(
    ("name", "override", "message"),
    [
        ("gpt3", "train.steps=1", "no recipe 'gpt3'; known are gpt2-demo, gpt2-medium, gpt2-small"),
        ("gpt2-demo", "steps=1", "--set steps=1 is not of the form section.key=value"),
        ("gpt2-demo", "train.steps", "is not of the form section.key=value"),
        ("gpt2-demo", "train..steps=1", "is not of the form section.key=value"),
        ("gpt2-demo", "train.steps.x=1", "train.steps is not a section"),
        ("gpt2-demo", "train.step=1", "no setting train.step; known here are train.steps"),
        ("gpt2-demo", "train.steps=0", "train.steps=0 cannot be: it is at least 1"),
        ("gpt2-demo", "train.save_every=-1", "train.save_every=-1 cannot be"),
        ("gpt2-demo", "data.seq_len=long", "data.seq_len='long' cannot be: a whole number"),
        ("gpt2-demo", "model.name=5", "model.name is missing"),
    ],
)
def test_what_cannot_be_is_refused(name: str, override: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_recipe(name, [override])


def test_accumulation_fills_the_batch() -> None:
    train = load_recipe("gpt2-demo", ["train.batch_size=24", "train.micro_batch=4"]).train
    assert [train.accumulate(dp) for dp in (1, 2, 3, 6)] == [6, 3, 2, 1]
    with pytest.raises(UsageError, match="batch_size=24 is not a multiple of dp=4") as error:
        train.accumulate(4)
    assert error.value.hint == "For example: --set train.batch_size=32"


def test_the_vocabulary_is_the_datasets() -> None:
    from zoo.training.model import build_model, with_vocabulary

    recipe = load_recipe("gpt2-demo", ["model.layers=1", "model.embed=8", "model.heads=1"])
    assert build_model(with_vocabulary(recipe, 77)).config.vocab == 77
    asked = dataclasses.replace(recipe, model={**recipe.model, "vocab": 80})
    assert build_model(with_vocabulary(asked, 77)).config.vocab == 80
    with pytest.raises(UsageError, match=r"model.vocab=80 is less than the 81 ids"):
        with_vocabulary(asked, 81)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("model.layer=3", "no setting model.layer; known here are model.vocab"),
        ("model.layers=three", "model.layers='three' cannot be: a whole number"),
        ("model.name=gpt9", "no model 'gpt9'; known are gpt2-small"),
        ("model.positions=64", "data.seq_len=128 exceeds model.positions=64"),
    ],
)
def test_a_model_that_cannot_be_is_refused(override: str, message: str) -> None:
    from zoo.training.model import build_model, with_vocabulary

    recipe = load_recipe("gpt2-demo", ["model.embed=16", "model.heads=1", override])
    with pytest.raises(UsageError, match=message):
        build_model(with_vocabulary(recipe, 50))
