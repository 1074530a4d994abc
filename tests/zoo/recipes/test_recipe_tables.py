from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from dataprep.errors import UsageError
from zoo.recipes.tables import differences, from_table, to_table
from zoo.recipes.toml import read_toml, to_toml, value_of


@dataclass(frozen=True, kw_only=True)
class Inner:
    rate: float = 1.0
    limit: float | None = None


@dataclass(frozen=True, kw_only=True)
class Outer:
    name: str
    count: int = 3
    fast: bool = False
    pair: tuple[float, float] = (1.0, 2.0)
    free: Mapping[str, Any] = field(default_factory=dict)
    inner: Inner = field(default_factory=Inner)


def test_defaults_and_conversions() -> None:
    table = {"name": "x", "pair": [3, 4.5], "inner": {"rate": 2}, "free": {"a": 1, "b": "none"}}
    outer = from_table(Outer, table)
    assert outer == Outer(
        name="x", pair=(3.0, 4.5), inner=Inner(rate=2.0), free={"a": 1, "b": None}
    )
    assert type(outer.inner.rate) is float


def test_tables_and_toml_bring_settings_back(tmp_path) -> None:
    for outer in (
        Outer(name='quo"te \\ 积木\n\t', fast=True, inner=Inner(rate=1e-8, limit=None)),
        Outer(name="", count=-5, inner=Inner(rate=1e22, limit=0.1), free={"k": 0.5, "n": None}),
    ):
        assert from_table(Outer, to_table(outer)) == outer
        (tmp_path / "x.toml").write_text(to_toml(to_table(outer)), encoding="utf-8")
        assert from_table(Outer, read_toml(tmp_path / "x.toml")) == outer


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "setting run.name is missing"),
        ({"nmae": "x"}, "no setting run.nmae; known here are run.name, run.count"),
        ({"name": 3}, "run.name=3 cannot be: text is needed"),
        ({"name": "x", "count": 1.5}, "run.count=1.5 cannot be: a whole number"),
        ({"name": "x", "count": True}, "run.count=True cannot be: a whole number"),
        ({"name": "x", "count": "none"}, "run.count='none' cannot be"),
        ({"name": "x", "fast": 1}, "run.fast=1 cannot be: true or false"),
        (
            {"name": "x", "pair": [1]},
            r"run.pair=\[1\] cannot be: a list of 2 values, each a number",
        ),
        ({"name": "x", "inner": 3}, "run.inner=3 cannot be: a section"),
        ({"name": "x", "free": 3}, "run.free=3 cannot be: a section"),
        ({"name": "x", "inner": {"rate": "fast"}}, "run.inner.rate='fast' cannot be: a number"),
        ({"name": "x", "inner": {"limit": "low"}}, "run.inner.limit='low' cannot be: a number"),
    ],
)
def test_what_cannot_be_is_told_by_its_path(table: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        from_table(Outer, table, "run.")


def test_differences_are_named() -> None:
    one = {"a": 1, "b": {"c": 2, "d": [1, 2]}, "gone": 0}
    other = {"a": 1, "b": {"c": 3, "d": [1, 2]}, "new": 5}
    assert differences(one, other) == {"b.c": (2, 3), "gone": (0, None), "new": (None, 5)}
    assert differences(one, one) == {}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("3e-4", 3e-4),
        ("true", True),
        ("[9, 1]", [9, 1]),
        ('"3"', "3"),
        ("word", "word"),
        ("a b", "a b"),
        ("1\nother = 2", "1\nother = 2"),
        ("", ""),
    ],
)
def test_values_of_a_command_line(text: str, value: Any) -> None:
    assert value_of(text) == value
    assert type(value_of(text)) is type(value)


def test_a_file_that_is_not_toml_is_refused(tmp_path) -> None:
    (tmp_path / "bad.toml").write_text("[model\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"bad.toml is not TOML"):
        read_toml(tmp_path / "bad.toml")
    with pytest.raises(UsageError, match=r"gone.toml cannot be read: No such file"):
        read_toml(tmp_path / "gone.toml")
