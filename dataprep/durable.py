"""Writing files so that a crash leaves either the old state or the new one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

__all__ = ["flush", "replace", "sync_folder", "writing"]


def flush(file: BinaryIO) -> None:
    """Push everything written so far to the disk."""
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Push the names in a folder to the disk: a rename is not durable before that."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """A file that appears under ``path`` whole and on the disk, or not at all."""
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("wb") as file:
        yield file
        flush(file)
    temporary.replace(path)
    sync_folder(path.parent)


def replace(path: Path, content: bytes) -> None:
    """Write a small file in one durable step."""
    with writing(path) as file:
        file.write(content)
