"""``NAME.partial/``: what a build has done so far, so that the next run can go on.

=================== =====================================================================
file                content
=================== =====================================================================
lock                held by the running build; the system lets go of it when that dies
plan.json           the plan, with all that decides the output
tokenizer.json      the tokenizer, once it is known
NNNNN.bin           token ids of shard N, in the dtype of the dataset
NNNNN.lengths       int32 length of each of its documents
NNNNN.origins       where each of them comes from
NNNNN.words         a bit of each of its tokens, when words are wanted; .sentences likewise
NNNNN.rejects       its rejected records, when they are kept
journal             one line for each shard that is done, written after its files are safe
=================== =====================================================================

No reader knows any of these endings: a work folder inside a corpus is not read as text.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .books import Books
from .durable import flush, replace, sync_folder
from .errors import RunError, UsageError
from .manifest import is_sealed, sealed
from .plan import Plan

__all__ = ["Outcome", "WorkFolder", "changed_from_outside", "checksum"]

_READ_STEP = 1 << 22  # a multiple of what any item in a segment takes
_LOCK_PATIENCE = 2.0  # seconds: workers of a killed build take a moment to notice and let go


@dataclass(frozen=True)
class Outcome:
    """What is known of a shard that is done."""

    books: Books
    files: dict[str, tuple[int, int]]
    """Bytes and CRC-32 of each of its files, by kind."""
    hashes: dict[int, str]
    """Hex sha256 of the inputs that start in it, by their number in the plan."""
    extents: dict[int, tuple[int, int]]
    """Lines and bytes that it has of each input that is cut, by its number in the plan."""
    tokenizer: str
    """Fingerprint of the tokenizer that made its ids."""

    def to_json(self) -> dict[str, Any]:
        """Plain values, for the journal."""
        by_number = {
            name: {str(number): value for number, value in getattr(self, name).items()}
            for name in ("hashes", "extents")
        }
        return {**vars(self), "books": self.books.to_json(), **by_number}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Outcome:
        """The reverse of to_json."""
        hashes = {int(number): digest for number, digest in values["hashes"].items()}
        extents = {
            int(number): (lines, size) for number, (lines, size) in values["extents"].items()
        }
        files = {kind: (size, crc) for kind, (size, crc) in values["files"].items()}
        return cls(Books.from_json(values["books"]), files, hashes, extents, values["tokenizer"])


class WorkFolder:
    """The work folder of one dataset, used while its lock is held."""

    def __init__(self, out: Path) -> None:
        self.path = out.with_name(out.name + ".partial")
        self._out = out

    def segment(self, shard: int, kind: str) -> Path:
        """A file of one shard: ``bin``, ``lengths`` or ``rejects``."""
        return self.path / f"{shard:05}.{kind}"

    def content(self, shard: int, kind: str, outcome: Outcome) -> Iterator[bytes]:
        """A file of a shard that is done; RunError at its end when it is not what was written."""
        path, crc = self.segment(shard, kind), 0
        with path.open("rb") as file:
            while block := file.read(_READ_STEP):
                crc = zlib.crc32(block, crc)
                yield block
        if (path.stat().st_size, crc) != outcome.files[kind]:
            raise changed_from_outside(path)

    @property
    def plan(self) -> Path:
        """Where the plan is kept."""
        return self.path / "plan.json"

    @property
    def tokenizer(self) -> Path:
        """Where the tokenizer is kept."""
        return self.path / "tokenizer.json"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder, made when missing.

        Raises UsageError while another build holds it, or when something else bears its name.
        """
        descriptor = self._lock()
        try:
            yield
        finally:
            if [entry.name for entry in self.path.glob("*")] == ["lock"]:
                self.remove()
            os.close(descriptor)

    def _lock(self) -> int:
        deadline = time.monotonic() + _LOCK_PATIENCE
        path = self.path / "lock"
        while True:
            self._refuse_foreign()
            self.path.mkdir(parents=True, exist_ok=True)
            try:
                descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            except FileNotFoundError:  # another build has just finished and removed the folder
                continue
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if path.exists() and os.path.samestat(os.fstat(descriptor), path.stat()):
                    return descriptor
                os.close(descriptor)
            except BlockingIOError:
                os.close(descriptor)
                if time.monotonic() > deadline:
                    raise UsageError(
                        f"Another build is writing {self._out} right now.",
                        "Wait until it ends, or choose another --out.",
                    ) from None
                time.sleep(0.05)

    def _refuse_foreign(self) -> None:
        """A work folder is removed in the end: the lock, made first, tells that it is one."""
        foreign = self.path.exists() and not self.path.is_dir()
        with suppress(FileNotFoundError, NotADirectoryError):
            names = os.listdir(self.path)  # noqa: PTH208  (Path.iterdir would not list at once)
            foreign = bool(names) and "lock" not in names
        if foreign:
            raise UsageError(
                f"{self.path} is needed as work folder, but is there and is none.",
                "Move it away, or choose another --out.",
            )

    def adopt(self, plan: Plan) -> dict[int, Outcome]:
        """Go on with the work that is there, or begin; the outcomes of the shards that are done.

        Raises UsageError when the work there was begun with something that decides other bytes,
        RunError when it is damaged.
        """
        if not self.plan.exists():
            self.clear()
            replace(self.plan, plan.to_json())
            return {}
        try:
            before = Plan.from_json(self.plan.read_bytes())
        except ValueError as error:
            raise changed_from_outside(self.plan) from error
        differences = plan.differences(before)
        if differences:
            raise UsageError(
                f"{self.path} holds unfinished work of another kind: {'; '.join(differences)}.",
                "Go on with the settings of before, choose another --out, or start over with "
                "--overwrite.",
            )
        return self._journal()

    def record(self, shard: int, outcome: Outcome) -> None:
        """Note that a shard is done. Its files must be safe on the disk."""
        sync_folder(self.path)
        entry = sealed({"shard": shard, **outcome.to_json()})
        with (self.path / "journal").open("ab") as file:
            file.write(json.dumps(entry).encode() + b"\n")
            flush(file)

    def _journal(self) -> dict[int, Outcome]:
        path = self.path / "journal"
        if not path.exists():
            return {}
        lines = path.read_bytes().splitlines(keepends=True)
        if lines and not lines[-1].endswith(b"\n"):  # the build was killed while it wrote this
            lines.pop()
            replace(path, b"".join(lines))
        try:
            entries = list(map(json.loads, lines))
        except ValueError as error:
            raise changed_from_outside(path) from error
        if not all(map(is_sealed, entries)):
            raise changed_from_outside(path)
        done = {entry["shard"]: Outcome.from_json(entry) for entry in entries}
        for shard, outcome in done.items():
            for kind, (size, _) in outcome.files.items():
                file = self.segment(shard, kind)
                if not file.is_file() or file.stat().st_size != size:
                    raise changed_from_outside(file)
        return done

    def clear(self) -> None:
        """Remove all but the lock."""
        for entry in self.path.iterdir():
            if entry.name != "lock" and not entry.is_dir():  # no folder in there is ours
                entry.unlink()

    def remove(self) -> None:
        """Remove the folder, once the dataset has appeared."""
        self.clear()
        (self.path / "lock").unlink(missing_ok=True)
        with suppress(OSError):  # another build waited for this moment and has its lock in there
            self.path.rmdir()


def checksum(path: Path) -> int:
    """CRC-32 of a file."""
    crc = 0
    with path.open("rb") as file:
        while block := file.read(_READ_STEP):
            crc = zlib.crc32(block, crc)
    return crc


def changed_from_outside(path: Path) -> RunError:
    """What is raised when something in a work folder is not what was written."""
    return RunError(
        f"{path} is not what the build wrote there.",
        "The work folder was changed from outside, or the disk fails: start over with --overwrite.",
    )
