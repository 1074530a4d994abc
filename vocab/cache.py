"""Where this project keeps what it can make or fetch again."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["cache_folder"]


def cache_folder() -> Path:
    """``$XDG_CACHE_HOME/jimu``, by default ``~/.cache/jimu``; it may not exist yet."""
    # The specification has relative paths ignored.
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (given if given.is_absolute() else Path.home() / ".cache") / "jimu"
