"""``NAME.json``, which says what a dataset is and what it was made of."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .errors import DataError

__all__ = [
    "COLUMNS",
    "ENDINGS",
    "FORMAT",
    "is_sealed",
    "manifest_path",
    "name_of",
    "read_manifest",
    "sealed",
]

FORMAT = "jimu-dataset 1"
ENDINGS = (".bin", ".idx", ".origins", ".tokenizer.json")
"""Files of a dataset besides its manifest, in the order in which they appear."""
COLUMNS = ("words", "sentences")
"""What a bit of each token may be kept of; ``.words`` is the ending of such a file, for example."""


def name_of(path: str) -> str:
    """The name of the dataset that a file belongs to; a name stays as it is."""
    for ending in (*ENDINGS, *(f".{kind}" for kind in COLUMNS), ".json"):
        if path.endswith(ending):
            return path.removesuffix(ending)
    return path


def manifest_path(name: str | Path) -> Path:
    """The manifest of a dataset."""
    return Path(f"{name}.json")


def read_manifest(name: str | Path) -> dict[str, Any]:
    """The manifest of a dataset; DataError when it is missing, not one, or was changed."""
    path = manifest_path(name)
    try:
        manifest: dict[str, Any] = json.loads(path.read_bytes())
        found = manifest["format"]
    except FileNotFoundError:
        raise DataError(
            f"There is no dataset {name}: {path} is missing.",
            "Give the name as it was given to `dataprep build --out`. Datasets that other programs "
            "made have no such file, and are not read here.",
        ) from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(f"{path} is not the manifest of a dataset.") from error
    if found != FORMAT:
        raise DataError(f"{path} has format {found!r}; this version reads {FORMAT!r}.")
    if not is_sealed(manifest):
        raise DataError(
            f"{path} was changed since the dataset was made: its own hash does not fit.",
            "Copy it again, or make the dataset again.",
        )
    return manifest


def sealed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values, JSON with strings as keys, and the hash of them."""
    return {**values, "sha256": _digest(values)}


def is_sealed(manifest: Any) -> bool:
    """Whether this still is what was sealed."""
    if not isinstance(manifest, Mapping):
        return False
    values = {name: value for name, value in manifest.items() if name != "sha256"}
    return manifest.get("sha256") == _digest(values)


def _digest(values: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
