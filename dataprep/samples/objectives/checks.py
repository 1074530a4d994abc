"""Checks that settings of objectives share."""

from __future__ import annotations

from dataprep.errors import UsageError

__all__ = ["check_share"]


def check_share(name: str, value: float, *, zero: bool = False, one: bool = False) -> None:
    """UsageError unless ``value`` lies between 0 and 1; the ends count where asked for."""
    if not ((value > 0 or (zero and value == 0)) and (value < 1 or (one and value == 1))):
        low, high = ("from 0" if zero else "above 0"), ("to 1" if one else "to below 1")
        raise UsageError(f"{name} is {value}: it must be a number {low} {high}")
