"""Samples that travel to other processes as what they were opened by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["Opened", "remember"]

View = TypeVar("View", bound="Opened")


class Opened:
    """A base of views over memory maps, which pickle would copy as a whole."""

    _opened: tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]] | None = None

    def __reduce_ex__(self, protocol: Any) -> Any:
        if self._opened is None:
            return super().__reduce_ex__(protocol)
        return _open, self._opened


def remember(view: View, function: Callable[..., Any], *given: Any, **settings: Any) -> View:
    """Have ``view`` pickled as a call of the function that opened it."""
    view._opened = function, given, settings
    return view


def _open(function: Callable[..., Any], given: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    return function(*given, **settings)
