"""Models in the form in which they are public: Hugging Face's names, ``config.json``, safetensors.

A folder of this form is read here and by ``transformers`` alike.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dataprep.errors import DataError
from zoo.engine.arrays import Array
from zoo.models.gpt2 import GPT2, GPT2Config
from zoo.models.gpt2.hf_config import from_hf_config, to_hf_config
from zoo.models.gpt2.weights import from_hf, to_hf

__all__ = ["CONFIG", "WEIGHTS", "build_public", "read_arrays", "read_weights", "write_public"]

CONFIG = "config.json"
WEIGHTS = "model.safetensors"


@dataclass(frozen=True)
class PublicForm:
    """How models of one kind are built from, and turned into, their public form."""

    config: type
    model: Callable[[Any], Any]
    to_hf_config: Callable[[Any], dict[str, Any]]
    from_hf_config: Callable[[Mapping[str, Any]], Any]
    to_hf: Callable[[Mapping[str, Array], Any], dict[str, Array]]
    from_hf: Callable[[Mapping[str, Array], Any], dict[str, Array]]


# model_type in config.json -> form
FORMS = {
    "gpt2": PublicForm(GPT2Config, GPT2, to_hf_config, from_hf_config, to_hf, from_hf),
}


def write_public(
    folder: Path, config: Any, state: Mapping[str, Array], *, extra: Mapping[str, Any]
) -> None:
    """Writes ``config.json``, with the entries ``extra``, and ``model.safetensors`` into a folder.

    ``state`` holds whole parameters under our names.
    """
    from safetensors.numpy import save_file

    (form,) = [form for form in FORMS.values() if form.config is type(config)]
    table = {**form.to_hf_config(config), "dtype": "float32", **extra}
    (folder / CONFIG).write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")
    # Their forms are views of ours; safetensors writes memory as it lies.
    weights = {name: np.ascontiguousarray(a) for name, a in form.to_hf(state, config).items()}
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})


def build_public(folder: Path) -> Any:
    """The model, with its weights, of a folder in public form, on this process."""
    from zoo.engine import load_full_state

    form, config = _read_config(folder)
    model = form.model(config)
    load_full_state(model, read_weights(folder, config))
    return model


def read_weights(folder: Path, config: Any) -> dict[str, Array]:
    """Whole parameters, float32, under our names."""
    (form,) = [form for form in FORMS.values() if form.config is type(config)]
    weights = read_arrays(folder / WEIGHTS)
    return form.from_hf({name: a.astype(np.float32) for name, a in weights.items()}, config)


def read_arrays(path: Path) -> dict[str, Array]:
    """The arrays of a safetensors file; DataError when it is missing or damaged."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        return load_file(path)
    except FileNotFoundError:
        raise DataError(f"{path} is missing: {path.parent} is not a whole checkpoint.") from None
    except (OSError, SafetensorError) as error:
        raise DataError(f"{path} cannot be read: {error}.") from error


def _read_config(folder: Path) -> tuple[PublicForm, Any]:
    path = folder / CONFIG
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        kind = table["model_type"]
    except FileNotFoundError:
        raise DataError(f"{path} is missing: {folder} is not a checkpoint.") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} is not a model's configuration: {error!r}.") from error
    if kind not in FORMS:
        raise DataError(f"{path} is of a {kind!r} model; known are {', '.join(FORMS)}.")
    form = FORMS[kind]
    return form, form.from_hf_config(table)
