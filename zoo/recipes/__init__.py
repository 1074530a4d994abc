"""Full run settings by name: one TOML file a recipe, beside this one."""

from __future__ import annotations

from zoo.recipes.library import load_recipe, recipe_names
from zoo.recipes.recipe import DataSettings, Recipe, TrainSettings

__all__ = ["DataSettings", "Recipe", "TrainSettings", "load_recipe", "recipe_names"]
