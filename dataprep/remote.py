"""Datasets that lie elsewhere: ``s3://bucket/corpus`` and whatever else fsspec can reach.

The files are fetched once, into the user's cache, and mapped there. The folder in the cache is
named by the manifest's own sha256, so that a dataset that was made again is another one, and every
file is checked against the manifest when it arrives.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from vocab.cache import cache_folder

from .errors import DataError, UsageError
from .manifest import name_of, read_manifest

__all__ = ["fetch_dataset"]

_STEP = 1 << 22


def fetch_dataset(url: str, **storage_options: Any) -> Path:
    """Bring a dataset into the cache; its name there.

    ``storage_options`` are those of fsspec's filesystem. What the cache has already is not fetched
    again: only the manifest is. Raises DataError when the dataset is not there or arrives damaged.
    """
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise UsageError(
            f"{url} is elsewhere, and the package fsspec, which fetches it, is not installed.",
            "pip install 'jimu[remote]'",
        ) from error
    name = name_of(url)
    try:
        filesystem, path = url_to_fs(name, **storage_options)
    except (ValueError, ImportError) as error:
        raise UsageError(f"{url} cannot be reached: {error}.") from error
    manifest = _read(filesystem, f"{path}.json", url)
    folder = cache_folder() / "datasets" / hashlib.sha256(manifest).hexdigest()
    local: Path = folder / path.rpartition("/")[2]
    kept = Path(f"{local}.json")
    if kept.is_file():
        return local
    folder.mkdir(parents=True, exist_ok=True)
    # Under another name until all else is there: its presence says that the dataset is whole.
    unchecked = Path(f"{local}.{os.getpid()}")
    Path(f"{unchecked}.json").write_bytes(manifest)
    try:
        for ending, about in read_manifest(unchecked)["files"].items():
            _fetch(filesystem, f"{path}{ending}", Path(f"{local}{ending}"), about["sha256"])
        Path(f"{unchecked}.json").replace(kept)
    finally:
        Path(f"{unchecked}.json").unlink(missing_ok=True)
    return local


def _read(filesystem: Any, path: str, url: str) -> bytes:
    try:
        found: bytes = filesystem.cat_file(path)
    except Exception as error:  # every kind of storage has errors of its own
        raise DataError(
            f"There is no dataset at {url}: {path} cannot be read ({error}).",
            "Give the address of its files without their endings.",
        ) from error
    return found


def _fetch(filesystem: Any, path: str, target: Path, sha256: str) -> None:
    if target.is_file():
        return
    part = Path(f"{target}.{os.getpid()}")
    digest = hashlib.sha256()
    try:
        with filesystem.open(path, "rb") as source, part.open("wb") as file:
            while block := source.read(_STEP):
                digest.update(block)
                file.write(block)
        if digest.hexdigest() != sha256:
            raise DataError(f"{path} is not what its manifest says: its sha256 is another.")
        part.replace(target)
    except OSError as error:
        raise DataError(f"{path} could not be fetched: {error}.") from error
    finally:
        part.unlink(missing_ok=True)
