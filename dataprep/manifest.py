"""``NAME.json``, which says what a dataset is and what it was made of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .errors import DataError

__all__ = ["FORMAT", "manifest_path", "read_manifest"]

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
