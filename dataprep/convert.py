"""Traditional Chinese to simplified and the other way, by OpenCC, before text is encoded."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from .batch import Batch
from .errors import UsageError
from .settings import Convert

__all__ = ["converter", "identity_of"]

_CONFIGURATIONS = {"simplify": "t2s", "traditionalize": "s2t"}


def converter(convert: Convert) -> Callable[[Batch], Batch]:
    """What does this to the documents of a batch. UsageError when OpenCC is not installed."""
    if convert == "none":
        return lambda batch: batch
    one = _opencc().OpenCC(_CONFIGURATIONS[convert]).convert
    return lambda batch: Batch.from_texts(map(one, batch.texts()))


def identity_of(convert: Convert) -> str:
    """All that decides what becomes of a text."""
    if convert == "none":
        return "none"
    _opencc()
    return f"{_CONFIGURATIONS[convert]} by opencc {version('opencc')}"


def _opencc() -> Any:
    try:
        import opencc
    except ImportError as error:
        raise UsageError(
            "--simplify and --traditionalize need OpenCC, which is not installed.",
            "pip install 'jimu[opencc]'",
        ) from error
    return opencc
