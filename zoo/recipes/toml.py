"""Reading TOML, and writing the part of it that settings need."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dataprep.errors import UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["read_toml", "to_toml", "value_of"]


def read_toml(path: Path) -> dict[str, Any]:
    """The tables in a file; raises UsageError when it cannot be read or is not TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise UsageError(f"{path} is not TOML: {error}.") from error


def value_of(text: str) -> Any:
    """A value as TOML writes it; what is not TOML, such as a bare word, is text."""
    try:
        table = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    # A line break in the text could smuggle in a second entry.
    return table["value"] if len(table) == 1 else text


def to_toml(table: Mapping[str, Any], section: str = "") -> str:
    """A document with these nested tables of text, numbers, truth values and lists."""
    # JSON writes all of these as TOML does.
    lines = [
        f"{name} = {json.dumps(value, ensure_ascii=False)}"
        for name, value in table.items()
        if not isinstance(value, Mapping)
    ]
    if section and lines:
        lines.insert(0, f"[{section}]")
    parts = ["\n".join(lines)] if lines else []
    parts += [
        to_toml(value, f"{section}.{name}" if section else name)
        for name, value in table.items()
        if isinstance(value, Mapping)
    ]
    return "\n\n".join(parts).rstrip("\n") + ("" if section else "\n")
