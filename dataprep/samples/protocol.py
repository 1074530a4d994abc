"""What every view of samples offers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy.typing as npt

__all__ = ["Samples"]


class Samples(Protocol):
    """An endless run of samples, each found by its position: 0, 1, 2, …"""

    def __len__(self) -> int:
        """The number of samples in one epoch."""

    def __getitem__(self, position: int, /) -> Mapping[str, npt.NDArray[Any]]:
        """The arrays of one sample."""

    def batch(self, positions: npt.ArrayLike, /) -> Mapping[str, npt.NDArray[Any]]:
        """Arrays whose first axis follows ``positions``."""
