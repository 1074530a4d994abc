"""Finding the input files: folders, files and glob patterns, in an order that never varies."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import DataError, UsageError
from .readers import format_of, known_endings

__all__ = ["Input", "Listing", "list_inputs"]


@dataclass(frozen=True)
class Input:
    """One file of the corpus."""

    name: str
    """Path below the folder that was given: the same wherever that folder lies."""
    path: str
    format: str
    """Its row in the table of formats."""
    size: int
    mtime_ns: int

    def key(self) -> tuple[str, int, int]:
        """What tells whether this is the input of an earlier run, unchanged."""
        return self.name, self.size, self.mtime_ns


@dataclass(frozen=True)
class Listing:
    """The files to read, and what was passed over."""

    inputs: tuple[Input, ...]
    passed_over: dict[str, int]
    """Files not read, counted by their ending, which no reader knows, or as what they are."""
    repeated: int
    """Files that were named more than once and are read once."""


def list_inputs(arguments: Sequence[str]) -> Listing:
    """List what was asked for: arguments in their order, folders sorted by path.

    Hidden files and folders (their name starts with a dot) are no part of a folder. Raises
    UsageError for an argument that names nothing, or a file that no reader knows.
    """
    inputs: dict[str, Input] = {}
    passed_over: Counter[str] = Counter()
    repeated = 0
    for argument in arguments:
        for path, name in _expand(argument):
            kind = format_of(path)
            if kind is None or not path.is_file():
                passed_over[_why_not(path, kind)] += 1
                continue
            key = os.path.realpath(path)
            repeated += key in inputs
            if key not in inputs:
                status = path.stat()
                inputs[key] = Input(name, str(path), kind, status.st_size, status.st_mtime_ns)
    if not inputs:
        passed = ", ".join(f"{count:,} {what}" for what, count in sorted(passed_over.items()))
        raise UsageError(
            f"Nothing to read in {', '.join(arguments)}"
            + (f": passed over {passed}." if passed else "."),
            f"Known endings: {known_endings()}.",
        )
    return Listing(tuple(inputs.values()), dict(sorted(passed_over.items())), repeated)


def _why_not(path: Path, kind: str | None) -> str:
    if kind is None:
        return path.suffix.lower() or "no ending"
    return "special file" if path.exists() else "broken link"


def _expand(argument: str) -> Iterator[tuple[Path, str]]:
    """Files that an argument stands for, with the name that each has within it."""
    path = Path(argument)
    if path.is_dir():
        yield from _below(path)
    elif path.is_file():
        if format_of(path) is None:
            raise UsageError(
                f"{path} has an ending that no reader knows.",
                f"Known endings: {known_endings()}.",
            )
        yield path, path.name
    elif glob.has_magic(argument):
        for match in sorted(glob.glob(argument, recursive=True), key=os.fsencode):  # noqa: PTH207
            found = Path(match)
            if not found.is_dir():
                yield found, match
    elif path.exists():
        raise UsageError(
            f"{path} is neither a file nor a folder.", "Write what it gives to a file first."
        )
    else:
        raise UsageError(f"There is no {argument}.", "Name a folder, files or a glob pattern.")


def _below(folder: Path) -> Iterator[tuple[Path, str]]:
    seen: set[tuple[int, int]] = set()  # a link to a folder above would never end
    found = []
    for root, folders, files in os.walk(folder, onerror=_unreadable, followlinks=True):
        status = Path(root).stat()
        if (status.st_dev, status.st_ino) in seen:
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(root, name) for name in files if not name.startswith(".")]
    named = [(path, path.relative_to(folder).as_posix()) for path in found]
    yield from sorted(named, key=lambda entry: os.fsencode(entry[1]).split(b"/"))


def _unreadable(error: OSError) -> None:
    raise DataError(
        f"{error.filename} cannot be listed: {error.strerror}.",
        "Allow reading it, or name the folders beside it one by one.",
    ) from error
