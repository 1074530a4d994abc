"""The key that random layers draw from in one step."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from typing import Any

from dataprep.errors import UsageError

__all__ = ["PRIME", "current_key", "key_of", "keyed"]

PRIME = 2**31 - 1  # keys are below it

_keys: list[Any] = []


def key_of(*what: object) -> int:
    """A key that follows from what it is for."""
    text = "/".join(map(str, what))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") % PRIME


@contextlib.contextmanager
def keyed(key: Any) -> Iterator[None]:
    """Inside, random layers draw from this key: a number, or in a graph a tensor int64[1]."""
    _keys.append(key)
    try:
        yield
    finally:
        _keys.pop()


def current_key() -> Any:
    """The key of the step under way; raises UsageError outside of one."""
    if not _keys:
        raise UsageError(
            "A model with dropout was run in training mode outside of a training step.",
            hint="Use TrainStep or EvalStep, or call model.eval() first.",
        )
    return _keys[-1]
