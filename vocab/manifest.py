"""``manifest.toml`` as objects: what is known about each public vocabulary."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType

from dataprep.errors import UsageError

__all__ = ["File", "Vocabulary", "is_known", "known", "names"]


@dataclass(frozen=True, kw_only=True)
class File:
    """One file of a vocabulary; its size and hash are None where no one has published them."""

    name: str
    bytes: int | None = None
    sha256: str | None = None


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """An entry of the manifest.

    Files lie at ``url`` or, on the Hugging Face hub, in ``folder`` of ``repository`` at
    ``revision``. ``specials`` gives the token of each role that the publisher names.
    """

    name: str
    kind: str
    licence: str
    files: tuple[File, ...]
    entries: int | None = None
    url: str | None = None
    repository: str | None = None
    revision: str = "main"
    folder: str | None = None
    aliases: tuple[str, ...] = ()
    """Other names that people call it by."""
    specials: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@cache
def _manifest() -> Mapping[str, Vocabulary]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    text = Path(__file__).with_name("manifest.toml").read_text(encoding="utf-8")
    return {
        name: Vocabulary(
            name=name, files=tuple(File(**file) for file in entry.pop("files")), **entry
        )
        for name, entry in tomllib.loads(text).items()
    }


def names() -> list[str]:
    """Names of all vocabularies in the manifest, sorted."""
    return sorted(_manifest())


def is_known(name: str) -> bool:
    """Whether a vocabulary is called ``name``, by its own name or another."""
    return _find(name) is not None


def _find(name: str) -> Vocabulary | None:
    entries = _manifest()
    others = (entry for entry in entries.values() if name in entry.aliases)
    return entries.get(name) or next(others, None)


def known(name: str) -> Vocabulary:
    """The entry called ``name``; UsageError with near names when there is none."""
    entry = _find(name)
    if entry is None:
        near = difflib.get_close_matches(name, names())
        raise UsageError(
            f"There is no public vocabulary {name!r} in the manifest.",
            hint=f"Did you mean {' or '.join(near)}?" if near else f"Known: {', '.join(names())}.",
        )
    return entry
