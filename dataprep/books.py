"""Keeping the books: each record that is read ends as written, dropped or failed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from .errors import RunError

__all__ = ["KEPT_PROBLEMS", "Books", "Problem", "reject_line"]

KEPT_PROBLEMS = 100
"""Failures kept with their cause in the books; all of them are in the rejects file, if any."""


@dataclass(frozen=True)
class Problem:
    """Where a record failed or was dropped, and why. Lines count from 1, bytes from 0."""

    file: str
    line: int
    byte: int
    cause: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line:,}, byte {self.byte:,}: {self.cause}"


@dataclass
class Books:
    """Counts of a shard or of a whole run; sums of books are books."""

    read: int = 0
    written: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    """Records left out on purpose, by reason."""
    failed: int = 0
    damaged_files: int = 0
    """Files that could not be read to their end; what was lost counts as one failed record."""
    bytes_read: int = 0
    """Bytes of text files, decompressed."""
    tokens: int = 0
    problems: list[Problem] = field(default_factory=list)

    def fail(self, problem: Problem) -> None:
        """Count a record that failed."""
        self.failed += 1
        if len(self.problems) < KEPT_PROBLEMS:
            self.problems.append(problem)

    def add(self, other: Books) -> None:
        """Add the books of another part of the run."""
        for name in ("read", "written", "failed", "damaged_files", "bytes_read", "tokens"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.dropped.update(other.dropped)
        self.problems.extend(other.problems[: KEPT_PROBLEMS - len(self.problems)])

    def check(self) -> None:
        """Raise RunError unless read = written + dropped + failed."""
        if self.read != self.written + self.dropped.total() + self.failed:
            raise RunError(
                f"The books do not add up: {self.summary()}.",
                "This is a fault of the program; nothing was published. Please report it.",
            )

    def summary(self) -> str:
        """One line for people."""
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in sorted(self.dropped.items()))
        dropped = f"{self.dropped.total():,} dropped" + (f" ({reasons})" if reasons else "")
        return f"{self.read:,} read = {self.written:,} written + {dropped} + {self.failed:,} failed"

    def to_json(self) -> dict[str, Any]:
        """Plain values, for the journal and the manifest."""
        return {**asdict(self), "dropped": dict(sorted(self.dropped.items()))}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Books:
        """The reverse of to_json."""
        problems = [Problem(**problem) for problem in values["problems"]]
        return cls(**{**values, "dropped": Counter(values["dropped"]), "problems": problems})


def reject_line(outcome: str, problem: Problem, record: bytes) -> bytes:
    """One line of a rejects file; bytes that are not UTF-8 are shown as ``\\xNN``."""
    text = record.decode("utf-8", "backslashreplace")
    return json.dumps({"outcome": outcome, **asdict(problem), "record": text}).encode() + b"\n"
