"""The user's cache of vocabularies. What is in it is checked at every use."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from dataprep.errors import DataError, UsageError

from .cache import cache_folder
from .damage import Damage, compare
from .manifest import File, Vocabulary, known
from .sources import Copy, Source, source_of

__all__ = ["DamagedVocabularyError", "add", "fetch", "verify", "where"]


class DamagedVocabularyError(DataError):
    """A file is not the one in the manifest; ``damage.kind`` says what it is instead."""

    def __init__(self, message: str, damage: Damage) -> None:
        super().__init__(message, damage.hint)
        self.damage = damage

    def __reduce__(self) -> tuple[type[DamagedVocabularyError], tuple[str, Damage]]:  # type: ignore[override]
        return type(self), (str(self), self.damage)


def where(name: str) -> Path:
    """Folder in the cache for the vocabulary ``name``, whether it is there or not.

    ``$XDG_CACHE_HOME/jimu/vocab/NAME``, by default ``~/.cache/jimu/vocab/NAME``.
    """
    return cache_folder() / "vocab" / known(name).name


def verify(name: str) -> None:
    """Check every file of ``name`` in the cache.

    Raises DataError when one is missing, DamagedVocabularyError when it is not the right one.
    """
    entry, folder = known(name), where(name)
    for file in entry.files:
        path = folder / file.name
        if not path.is_file():
            raise DataError(f"{path} is not there.", hint=f"Fetch it: dataprep vocab fetch {name}")
        _check(path, entry, file)


def fetch(name: str, *, offline: bool = False) -> Path:
    """Folder with every file of ``name``, each checked; what is missing or damaged is downloaded.

    Files come from ``JIMU_VOCAB_MIRROR`` (a folder or an http(s) address that holds NAME/FILE) if
    that is set, otherwise from their publisher, ``HF_ENDPOINT`` standing for the Hugging Face hub.

    Raises UsageError for an unknown name or a file of which no sha256 is known,
    DamagedVocabularyError when what arrives is something else, and DataError when nothing does, or
    when it would have to be downloaded though ``offline``.
    """
    entry, folder = known(name), where(name)
    for file in entry.files:
        path = folder / file.name
        digest = _digest(entry, file)
        if path.is_file() and compare(path.read_bytes(), file, digest) is None:
            continue
        if offline:
            raise DataError(
                f"{path} is {'damaged' if path.exists() else 'not there'}, and downloads are off.",
                hint=f"Run 'dataprep vocab fetch {name}' with a network, or copy the file there.",
            )
        _bring(entry, file, path)
    return folder


def add(name: str, source: Path) -> Path:
    """Copy the files of ``name`` from ``source`` into the cache; the folder there.

    ``source`` is a folder with all of them or, for a vocabulary of one file, that file under any
    name. Raises UsageError when one is missing, DamagedVocabularyError when one is another file.
    """
    entry, folder = known(name), where(name)
    if source.is_file() and len(entry.files) > 1:
        raise UsageError(
            f"{name} has {len(entry.files)} files: {', '.join(f.name for f in entry.files)}.",
            hint="Name the folder that holds them.",
        )
    for file in entry.files:
        path = source if source.is_file() else source / file.name
        if not path.is_file():
            raise UsageError(f"There is no {path}.", hint=f"{name} needs the file {file.name}.")
        _place(Copy(path), entry, file, folder / file.name)
    return folder


def _digest(entry: Vocabulary, file: File) -> str:
    if file.sha256 is None:
        raise UsageError(
            f"No sha256 of {entry.name}'s {file.name} is known, so nothing could tell it from "
            "another file.",
            hint="Download it yourself and name it by its path.",
        )
    return file.sha256


def _bring(entry: Vocabulary, file: File, path: Path) -> None:
    _place(source_of(entry, file), entry, file, path)


def _place(source: Source, entry: Vocabulary, file: File, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{file.name}.")
    os.close(handle)
    try:
        source.copy(Path(temporary))
        _check(Path(temporary), entry, file, called=source.address)
        Path(temporary).replace(path)
    finally:
        Path(temporary).unlink(missing_ok=True)


def _check(path: Path, entry: Vocabulary, file: File, called: str | None = None) -> None:
    damage = compare(path.read_bytes(), file, _digest(entry, file))
    if damage is not None:
        raise DamagedVocabularyError(f"{called or path} is {damage.what}.", damage)
