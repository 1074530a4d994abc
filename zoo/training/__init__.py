"""The trainer: one loop for every model, layout and engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zoo.training.loop import train

__all__ = ["train"]


def __getattr__(attribute: str) -> Any:
    # The loop needs the engine, which takes seconds to import; a reader of metrics does not.
    if attribute == "train":
        from zoo.training.loop import train

        return train
    raise AttributeError(f"module {__name__!r} has no attribute {attribute!r}")
