"""``NAME.json``, which says what a dataset is and what it was made of."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .errors import DataError

__all__ = ["FORMAT", "is_sealed", "manifest_path", "read_manifest", "sealed"]

FORMAT = "jimu-dataset 1"


def manifest_path(name: str | Path) -> Path:
    """The manifest of a dataset."""
    return Path(f"{name}.json")


def read_manifest(name: str | Path) -> dict[str, Any]:
    """The manifest of a dataset; DataError when it is missing or not one."""
    path = manifest_path(name)
    try:
        manifest: dict[str, Any] = json.loads(path.read_bytes())
        found = manifest["format"]
    except FileNotFoundError:
        raise DataError(
            f"There is no dataset {name}: {path} is missing.",
            "Give the name without its ending, as it was given to `dataprep build --out`.",
        ) from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} is not the manifest of a dataset.") from error
    if found != FORMAT:
        raise DataError(f"{path} has format {found!r}; this version reads {FORMAT!r}.")
    return manifest


def sealed(values: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest with the hash of its own content."""
    return {**values, "sha256": _digest(values)}


def is_sealed(manifest: Mapping[str, Any]) -> bool:
    """Whether a manifest still is what was sealed."""
    values = {name: value for name, value in manifest.items() if name != "sha256"}
    return manifest.get("sha256") == _digest(values)


def _digest(values: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
