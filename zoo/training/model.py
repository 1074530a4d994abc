"""The model of a recipe, with the vocabulary of a dataset."""

from __future__ import annotations

import dataclasses
from typing import Any

import zoo
from dataprep.errors import UsageError
from zoo.models.registry import MODELS
from zoo.recipes import Recipe
from zoo.recipes.tables import from_table

__all__ = ["build_model", "with_vocabulary"]


def with_vocabulary(recipe: Recipe, vocab_size: int) -> Recipe:
    """The recipe with ``model.vocab`` settled: the tokenizer's, unless the recipe asks for more.

    More ids than the tokenizer has are allowed, since some sizes train faster; fewer raise
    UsageError.
    """
    asked = recipe.model.get("vocab", vocab_size)
    if isinstance(asked, int) and asked < vocab_size:
        raise UsageError(
            f"model.vocab={asked} is less than the {vocab_size} ids of the dataset's tokenizer.",
            hint="Leave model.vocab out: the dataset decides it.",
        )
    return dataclasses.replace(recipe, model={**recipe.model, "vocab": asked})


def build_model(recipe: Recipe) -> Any:
    """The model on this process; raises UsageError for settings that it does not have."""
    sizes = dict(recipe.model)
    name = sizes.pop("name")
    if name in MODELS:
        # Types are checked, and faults told by their path, before the config checks its values.
        from_table(MODELS[name][1], sizes, "model.")
    model = zoo.build(name, **sizes)
    if recipe.data.seq_len > model.config.positions:
        raise UsageError(
            f"data.seq_len={recipe.data.seq_len} exceeds model.positions={model.config.positions}, "
            "the longest sequence of the model.",
            hint="Shorten the samples or give the model more positions.",
        )
    return model
