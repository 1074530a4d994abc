"""A curve drawn with the characters of a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["draw_curve"]

# Dots of a Braille character, by row and column in it (Unicode, block U+2800).
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_BLANK = 0x2800


def draw_curve(
    steps: Sequence[float], values: Sequence[float], *, width: int = 60, height: int = 12
) -> str:
    """``values`` over ``steps`` as text of ``height`` rows and two more, the axis.

    The dots of a column join the means of what falls into it and into its neighbour.
    """
    x, y = np.asarray(steps, float), np.asarray(values, float)
    low, high = float(y.min()), float(y.max())
    columns, rows = 2 * width, 4 * height
    column = _scaled(x, float(x.min()), float(x.max()), columns)
    filled = np.unique(column)
    means = np.array([y[column == c].mean() for c in filled])
    # The top row is row 0.
    heights = (
        rows
        - 1
        - np.interp(np.arange(filled[0], filled[-1] + 1), filled, _scaled(means, low, high, rows))
        .round()
        .astype(int)
    )
    cells = np.full((height, width), _BLANK)
    previous = heights[0]
    for at, here in enumerate(heights, start=int(filled[0])):
        for dot in range(min(previous, here), max(previous, here) + 1):
            cells[dot // 4, at // 2] |= _DOTS[dot % 4][at % 2]
        previous = here
    labels = {0: f"{high:.3f}", height - 1: f"{low:.3f}"}
    margin = max(map(len, labels.values()))
    lines = [
        f"{labels.get(row, ''):>{margin}} ┤{''.join(map(chr, cells[row]))}" for row in range(height)
    ]
    first, last = f"{x.min():g}", f"{x.max():g}"
    return "\n".join(
        [
            *lines,
            " " * margin + " └" + "─" * width,
            " " * (margin + 2) + first + last.rjust(width - len(first)),
        ]
    )


def _scaled(x: npt.NDArray[Any], low: float, high: float, size: int) -> npt.NDArray[np.int64]:
    """Places 0 … size - 1 of values between low and high."""
    if high == low:
        return np.zeros(len(x), int)
    return ((x - low) / (high - low) * (size - 1)).round().astype(int)
