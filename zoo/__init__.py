"""Models of plain blocks whose parallel layout is a table beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zoo.parallel.mesh import Mesh

if TYPE_CHECKING:
    from zoo.engine import parallelize

__all__ = ["Mesh", "build", "parallelize"]


def build(name: str, **overrides: Any) -> Any:
    """A model by its name, such as ``gpt2-small``, on this process.

    ``overrides`` replaces fields of its config. Raises UsageError for a name or a field that does
    not exist and for values that cannot be.
    """
    from zoo.models.registry import build_model

    return build_model(name, overrides)


def __getattr__(attribute: str) -> Any:
    # The engine takes a second to import; only what needs it pays.
    if attribute == "parallelize":
        from zoo.engine import parallelize

        return parallelize
    raise AttributeError(f"module {__name__!r} has no attribute {attribute!r}")
