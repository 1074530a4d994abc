"""Frozen settings from nested tables of plain values, and back.

TOML has no null: None is written as the word "none".
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from dataprep.errors import UsageError

__all__ = ["NONE", "differences", "from_table", "to_table"]

T = TypeVar("T")
NONE = "none"


def from_table(kind: type[T], table: Mapping[str, Any], where: str = "") -> T:
    """An instance of the dataclass ``kind`` with the values of ``table``; the rest are defaults.

    Raises UsageError, naming the entry by its dotted path, for an unknown or missing name and for a
    value of another type.
    """
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for name in table:
        if name not in fields:
            raise UsageError(
                f"There is no setting {where}{name}; known here are "
                f"{', '.join(where + known for known in fields)}."
            )
    for name, field in fields.items():
        defaults = (field.default, field.default_factory)
        if name not in table and defaults == (dataclasses.MISSING, dataclasses.MISSING):
            raise UsageError(f"The setting {where}{name} is missing: it has no default.")
    hints = get_type_hints(kind)
    return kind(**{name: _converted(hints[name], table[name], f"{where}{name}") for name in table})


def to_table(settings: Any) -> dict[str, Any]:
    """The plain, nested values of a dataclass; :func:`from_table` reads them back."""
    return {
        field.name: _plain(getattr(settings, field.name)) for field in dataclasses.fields(settings)
    }


def differences(
    one: Mapping[str, Any], other: Mapping[str, Any], where: str = ""
) -> dict[str, tuple[Any, Any]]:
    """Dotted path -> the two values, for each entry in which two nested tables differ."""
    found: dict[str, tuple[Any, Any]] = {}
    for name in [*one, *(name for name in other if name not in one)]:
        a, b = one.get(name), other.get(name)
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            found |= differences(a, b, f"{where}{name}.")
        elif a != b:
            found[f"{where}{name}"] = (a, b)
    return found


def _plain(value: Any) -> Any:
    if value is None:
        return NONE
    if dataclasses.is_dataclass(value):
        return to_table(value)
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    return value


def _converted(hint: Any, value: Any, path: str) -> Any:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        if value == NONE and type(None) in arguments:
            return None
        (hint,) = [option for option in arguments if option is not type(None)]
        return _converted(hint, value, path)
    if dataclasses.is_dataclass(hint) and isinstance(value, Mapping):
        return from_table(hint, value, f"{path}.")  # type: ignore[arg-type]
    if origin is Mapping and isinstance(value, Mapping):
        return {name: None if entry == NONE else entry for name, entry in value.items()}
    if origin is tuple and isinstance(value, list) and len(value) == len(arguments):
        parts = zip(arguments, value, strict=True)
        return tuple(_converted(part, entry, path) for part, entry in parts)
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is not hint:
        raise UsageError(f"{path}={value!r} cannot be: {_described(hint)} is needed.")
    return value


def _described(hint: Any) -> str:
    if get_origin(hint) is tuple:
        parts = get_args(hint)
        return f"a list of {len(parts)} values, each {_described(parts[0])},"
    if get_origin(hint) is Mapping or dataclasses.is_dataclass(hint):
        return "a section"
    return {int: "a whole number", float: "a number", str: "text", bool: "true or false"}[hint]
