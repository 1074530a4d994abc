"""``dataprep.build`` for Python."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .builder import run_build
from .dataset import Dataset, open_dataset
from .progress import Silent
from .settings import BuildSettings

__all__ = ["build"]


def build(inputs: str | Path | Iterable[str | Path], **settings: Any) -> Dataset:
    """Make a dataset and open it; ``settings`` are those of BuildSettings.

    A dataset that is already there, made of the same inputs with the same settings, is just
    opened; unfinished work is gone on with. Raises UsageError, DataError or RunError.
    """
    paths = [inputs] if isinstance(inputs, str | Path) else list(inputs)
    for name in ("out", "tokenizer", "keep_rejects"):
        if isinstance(settings.get(name), Path):
            settings[name] = str(settings[name])
    resolved = BuildSettings.from_values({**settings, "inputs": tuple(map(str, paths))})
    run_build(resolved, Silent())
    return open_dataset(resolved.out)
