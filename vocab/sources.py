"""Where a file comes from: a mirror in a folder or on the web, the hub, the publisher."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from dataprep.errors import DataError

from .manifest import File, Vocabulary

__all__ = ["Copy", "Source", "source_of"]

TIMEOUT = 60.0
"""Seconds without an answer or without a byte before a download is given up."""


class Source(Protocol):
    """One file at one place."""

    @property
    def address(self) -> str:
        """For people."""

    def copy(self, path: Path) -> None:
        """Bring the bytes to ``path``, unchecked. Raises DataError when there are none."""


@dataclass(frozen=True)
class Copy:
    """A file on this machine."""

    file: Path

    @property
    def address(self) -> str:
        """See Source."""
        return str(self.file)

    def copy(self, path: Path) -> None:
        """See Source."""
        try:
            shutil.copyfile(self.file, path)
        except OSError as error:
            raise DataError(
                f"{self.file} cannot be read: {error.strerror}.",
                hint="JIMU_VOCAB_MIRROR names the folder that holds NAME/FILE.",
            ) from error


@dataclass(frozen=True)
class _Web:
    address: str

    def copy(self, path: Path) -> None:
        import pooch  # type: ignore[import-untyped]
        import requests

        try:
            pooch.HTTPDownloader(timeout=TIMEOUT)(self.address, str(path), None)
        except requests.HTTPError as error:
            # A server has answered, and pooch leaves the answer open.
            with cast("requests.Response", error.response) as response:
                code = response.status_code
            raise DataError(
                f"{self.address} answered with status {code}.", hint=_HINTS.get(code, _MIRROR)
            ) from error
        except (requests.RequestException, OSError, ValueError) as error:
            raise DataError(f"{self.address} could not be downloaded: {error}.", _MIRROR) from error


_MIRROR = (
    "Try again, or set HF_ENDPOINT to a mirror of the hub, or JIMU_VOCAB_MIRROR to a folder or "
    "address that holds NAME/FILE."
)
_GATED = (
    "The publisher asks for a login. Download the file in a browser and name it by its path, or "
    "put it into a folder NAME/FILE and set JIMU_VOCAB_MIRROR to that."
)
_HINTS: dict[int, str] = {401: _GATED, 403: _GATED}


def source_of(entry: Vocabulary, file: File) -> Source:
    """The place that the environment asks for, read at each call."""
    mirror = os.environ.get("JIMU_VOCAB_MIRROR")
    if mirror:
        if mirror.startswith(("http://", "https://")):
            return _Web(f"{mirror.rstrip('/')}/{entry.name}/{file.name}")
        return Copy(Path(mirror.removeprefix("file://")) / entry.name / file.name)
    if entry.url is not None:
        return _Web(f"{entry.url}/{file.name}")
    endpoint = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    parts = [endpoint.rstrip("/"), entry.repository, "resolve", entry.revision, entry.folder]
    return _Web("/".join([*(part for part in parts if part), file.name]))
