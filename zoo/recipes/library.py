"""Recipes by name, or from a file of the reader's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dataprep.errors import UsageError
from zoo.recipes.recipe import Recipe
from zoo.recipes.tables import from_table
from zoo.recipes.toml import read_toml, value_of

__all__ = ["load_recipe", "recipe_names"]

_FOLDER = Path(__file__).parent


def recipe_names() -> list[str]:
    """The names of the recipes that come with the package."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def load_recipe(name: str, overrides: Sequence[str] = ()) -> Recipe:
    """The recipe of this name, or in this ``.toml`` file, with ``section.key=value`` put over it.

    Where ``optimizer.schedule.max_steps`` is not given, the schedule ends with the run. Raises
    UsageError for an unknown name and for settings that cannot be.
    """
    if name.endswith(".toml"):
        table = read_toml(Path(name))
    elif name in recipe_names():
        table = read_toml(_FOLDER / f"{name}.toml")
    else:
        raise UsageError(
            f"There is no recipe {name!r}; known are {', '.join(recipe_names())}.",
            hint="Name one of them, or give the path of a .toml file.",
        )
    for override in overrides:
        _put(table, override)
    # Read before anything is added, so that a fault is told of what was written.
    recipe = from_table(Recipe, table)
    if "max_steps" in table.get("optimizer", {}).get("schedule", {}):
        return recipe
    _put(table, f"optimizer.schedule.max_steps={recipe.train.steps}")
    return from_table(Recipe, table)


def _put(table: dict[str, Any], override: str) -> None:
    path, equals, text = override.partition("=")
    *sections, key = path.strip().split(".")
    if not (equals and sections and all(sections) and key):
        raise UsageError(
            f"--set {override} is not of the form section.key=value.",
            hint="For example: --set optimizer.lr=3e-4 --set model.layers=6",
        )
    for depth, section in enumerate(sections, 1):
        table = table.setdefault(section, {})
        if not isinstance(table, dict):
            raise UsageError(f"--set {override}: {'.'.join(sections[:depth])} is not a section.")
    table[key] = value_of(text.strip())
