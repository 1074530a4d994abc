"""Models by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from dataprep.errors import UsageError
from zoo.models.gpt2 import GPT2, SIZES, GPT2Config

__all__ = ["MODELS", "build_model"]

# name -> (class of the model, class of its config, sizes that differ from the config's defaults)
MODELS: dict[str, tuple[Any, Any, Mapping[str, int]]] = {
    name: (GPT2, GPT2Config, sizes) for name, sizes in SIZES.items()
}


def build_model(name: str, overrides: Mapping[str, Any]) -> Any:
    """The model of this name with these fields of its config replaced; raises UsageError."""
    if name not in MODELS:
        raise UsageError(f"There is no model {name!r}; known are {', '.join(MODELS)}.")
    model, config, sizes = MODELS[name]
    known = [field.name for field in fields(config)]
    unknown = [key for key in overrides if key not in known]
    if unknown:
        raise UsageError(f"{name} has no setting {', '.join(unknown)}; it has {', '.join(known)}.")
    return model(config(**{**sizes, **overrides}))
