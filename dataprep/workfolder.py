"""``NAME.partial/``: what a build has done so far, so that the next run can go on.

=================== =====================================================================
file                content
=================== =====================================================================
lock                held by the running build; the system lets go of it when that dies
plan.json           the plan, with all that decides the output
tokenizer.json      the tokenizer, once it is known
NNNNN.bin           token ids of shard N, in the dtype of the dataset
NNNNN.lengths       int32 length of each of its documents
NNNNN.rejects       its rejected records, when they are kept
journal.jsonl       one line for each shard that is done, written after its files are safe
=================== =====================================================================
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .books import Books
from .durable import flush, replace, sync_folder
from .errors import RunError, UsageError
from .plan import Plan

__all__ = ["Outcome", "WorkFolder"]

_LOCK_PATIENCE = 2.0  # seconds: workers of a killed build take a moment to notice and let go


@dataclass(frozen=True)
class Outcome:
    """What is known of a shard that is done."""

    books: Books
    sizes: dict[str, int]
    """Bytes of each of its files, by kind."""
    sha256: dict[int, str]
    """Hashes of the inputs that start in it, by their number in the plan."""

    def to_json(self) -> dict[str, Any]:
        """Plain values, for the journal."""
        return {"books": self.books.to_json(), "sizes": self.sizes, "sha256": self.sha256}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Outcome:
        """The reverse of to_json."""
        hashes = {int(number): digest for number, digest in values["sha256"].items()}
        return cls(Books.from_json(values["books"]), values["sizes"], hashes)


class WorkFolder:
    """The work folder of one dataset, used while its lock is held."""

    def __init__(self, out: Path) -> None:
        self.path = out.with_name(out.name + ".partial")
        self._out = out

    def segment(self, shard: int, kind: str) -> Path:
        """A file of one shard: ``bin``, ``lengths`` or ``rejects``."""
        return self.path / f"{shard:05}.{kind}"

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
        """Hold the folder, made when missing; UsageError while another build holds it."""
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

    def adopt(self, plan: Plan) -> dict[int, Outcome]:
        """Go on with the work that is there, or begin; the outcomes of the shards that are done.

        Raises UsageError when the work there was begun with something that decides other bytes.
        """
        if not self.plan.exists():
            self.clear()
            replace(self.plan, plan.to_json())
            return {}
        differences = plan.differences(Plan.from_json(self.plan.read_bytes()))
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
        with (self.path / "journal.jsonl").open("ab") as file:
            file.write(json.dumps({"shard": shard, **outcome.to_json()}).encode() + b"\n")
            flush(file)

    def _journal(self) -> dict[int, Outcome]:
        path = self.path / "journal.jsonl"
        if not path.exists():
            return {}
        lines = path.read_bytes().splitlines(keepends=True)
        if lines and not lines[-1].endswith(b"\n"):  # the build was killed while it wrote this
            lines.pop()
            replace(path, b"".join(lines))
        entries = map(json.loads, lines)
        done = {entry["shard"]: Outcome.from_json(entry) for entry in entries}
        for shard, outcome in done.items():
            for kind, size in outcome.sizes.items():
                file = self.segment(shard, kind)
                if not file.is_file() or file.stat().st_size != size:
                    raise RunError(
                        f"{file} is not as the journal says ({size:,} bytes).",
                        "The work folder was changed from outside; start over with --overwrite.",
                    )
        return done

    def clear(self) -> None:
        """Remove all but the lock."""
        for entry in self.path.iterdir():
            if entry.name != "lock":
                entry.unlink()

    def remove(self) -> None:
        """Remove the folder, once the dataset has appeared."""
        self.clear()
        (self.path / "lock").unlink(missing_ok=True)
        with suppress(OSError):  # another build waited for this moment and has its lock in there
            self.path.rmdir()
