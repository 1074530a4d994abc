"""How a dataset appears under its name: made elsewhere, and put there whole or not at all."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from .disk import Sink
from .durable import sync_folder, writing
from .manifest import FILE_ENDINGS, encoded, manifest_path, sealed
from .workfolder import WorkFolder

__all__ = ["Drafts", "write_all"]


class Drafts:
    """The files of a dataset in the making. They lie in the work folder until it appears."""

    def __init__(self, out: Path, work: WorkFolder) -> None:
        self._out, self._work = out, work
        self.files: dict[str, dict[str, Any]] = {}
        """Bytes and hex sha256 of each by its ending, as the manifest has them."""

    def write(self, ending: str, write: Callable[[Sink], None]) -> None:
        """Make the file of an ending."""
        with writing(self._draft(ending)) as file:
            hashing = _Hashing(file)
            write(hashing)
        self.files[ending] = {"bytes": hashing.size, "sha256": hashing.digest.hexdigest()}

    def appear(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Put the files in place of what is there; the manifest comes last, and is returned."""
        manifest = sealed({**values, "files": self.files})
        self._work.claim()
        manifest_path(self._out).unlink(missing_ok=True)
        for ending in self.files:
            self._draft(ending).replace(f"{self._out}{ending}")
        for ending in set(FILE_ENDINGS) - set(self.files):  # of a dataset that is replaced
            Path(f"{self._out}{ending}").unlink(missing_ok=True)
        sync_folder(self._out.parent)
        with writing(manifest_path(self._out)) as file:
            file.write(encoded(manifest))
        return manifest

    def _draft(self, ending: str) -> Path:
        return self._work.path / f"whole{ending.replace('.', '-')}"


class _Hashing:
    """A file to write to that hashes what passes through, which saves reading it again."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.digest = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes | memoryview) -> int:
        self.digest.update(data)
        self.size += memoryview(data).nbytes
        return self._file.write(data)


def write_all(file: Sink, blocks: Iterable[bytes]) -> None:
    """Write one block after another."""
    for block in blocks:
        file.write(block)
