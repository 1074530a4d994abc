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
from pathlib import Path
from typing import Any

from .durable import flush, replace, sync_folder
from .errors import RunError, UsageError
from .plan import Plan

__all__ = ["WorkFolder"]

_LOCK_PATIENCE = 2.0  # seconds: workers of a killed build take a moment to notice and let go


class WorkFolder:
    """The work folder of one dataset, used while its lock is held."""

    def __init__(self, out: Path) -> None:
        self.path = out.with_name(out.name + ".partial")
        self._out = out

    def segment(self, shard: int, kind: str) -> Path:
        """A file of one shard: ``bin``, ``lengths`` or ``rejects``."""
        return self.path / f"{shard:05}.{kind}"

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

    def adopt(self, plan: Plan) -> dict[int, dict[str, Any]]:
        """Go on with the work that is there, or begin; the journal entries of what is done.

        Raises UsageError when the work there was begun with something that decides other bytes.
        """
        stored = self.path / "plan.json"
        if not stored.exists():
            self.clear()
            replace(stored, plan.to_json())
            return {}
        differences = plan.differences(Plan.from_json(stored.read_bytes()))
        if differences:
            raise UsageError(
                f"{self.path} holds unfinished work of another kind: {'; '.join(differences)}.",
                "Go on with the settings of before, choose another --out, or start over with "
                "--overwrite.",
            )
        return self._journal()

    def record(self, shard: int, entry: Mapping[str, Any]) -> None:
        """Note that a shard is done. Its files must be safe on the disk."""
        sync_folder(self.path)
        with (self.path / "journal.jsonl").open("ab") as file:
            file.write(json.dumps({"shard": shard, **entry}).encode() + b"\n")
            flush(file)

    def _journal(self) -> dict[int, dict[str, Any]]:
        path = self.path / "journal.jsonl"
        if not path.exists():
            return {}
        lines = path.read_bytes().splitlines(keepends=True)
        if lines and not lines[-1].endswith(b"\n"):  # the build was killed while it wrote this
            lines.pop()
            replace(path, b"".join(lines))
        done: dict[int, dict[str, Any]] = {}
        for line in lines:
            entry = json.loads(line)
            done[entry.pop("shard")] = entry
        for shard, entry in done.items():
            for kind, size in entry["sizes"].items():
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
