from __future__ import annotations

import numpy as np
import pytest

from zoo.training.curve import draw_curve


def column_tops(text: str, height: int) -> list[int]:
    """For each column that has dots, the row of its highest one."""
    rows = [line.split("┤", 1)[1] for line in text.splitlines()[:height]]
    return [
        min(r for r in range(height) if rows[r][c] != "⠀")
        for c in range(len(rows[0]))
        if any(row[c] != "⠀" for row in rows)
    ]


def test_a_falling_line_falls_over_the_whole_frame() -> None:
    text = draw_curve(range(1, 101), np.linspace(9.0, 1.0, 100), width=20, height=5)
    lines = text.splitlines()
    assert len(lines) == 7
    assert lines[0].startswith("9.000 ┤")
    assert lines[4].startswith("1.000 ┤")
    assert lines[6].strip().split() == ["1", "100"]
    tops = column_tops(text, 5)
    assert len(tops) == 20
    assert tops == sorted(tops)
    assert (tops[0], tops[-1]) == (0, 4)


@pytest.mark.parametrize("values", [[2.5], [2.5, 2.5, 2.5]])
def test_a_flat_line_is_drawn(values: list[float]) -> None:
    text = draw_curve(range(len(values)), values, width=10, height=3)
    assert "2.500" in text
    assert set(column_tops(text, 3)) == {2}


def test_few_points_are_joined() -> None:
    text = draw_curve([1, 2], [0.0, 1.0], width=10, height=4)
    assert len(column_tops(text, 4)) == 10
