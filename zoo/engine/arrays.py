"""Plain arrays by name: what crosses the border of an engine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy.typing as npt

from dataprep.errors import DataError

__all__ = ["Array", "check_names", "check_shape"]

Array: TypeAlias = npt.NDArray[Any]

_SHOWN = 5


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def check_names(owner: str, needed: Iterable[str], given: Iterable[str]) -> None:
    """Raises DataError unless exactly the needed names are given."""
    needed, given = list(needed), list(given)
    missing = [name for name in needed if name not in set(given)]
    left_over = [name for name in given if name not in set(needed)]
    told = [
        f"{what}: {_some(names)}"
        for what, names in (("missing", missing), ("left over", left_over))
        if names
    ]
    if told:
        raise DataError(f"The given names are not those of {owner}; {'; '.join(told)}.")


def check_shape(name: str, needed: Iterable[int], given: Iterable[int]) -> None:
    """Raises DataError unless the shapes are equal."""
    needed, given = list(needed), list(given)
    if needed != given:
        raise DataError(f"{name} has the shape {needed} here, but {given} is given.")
