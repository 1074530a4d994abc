"""Keeping the books: each record that is read ends as written, dropped or failed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from .errors import RunError

__all__ = ["KEPT_PROBLEMS", "Amounts", "Books", "Problem", "reject_line"]

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
class Amounts:
    """What became of the input, in the unit of its readers: bytes, or rows where there are none."""

    read: int = 0
    written: int = 0
    """In records that became documents."""
    dropped: Counter[str] = field(default_factory=Counter)
    """In records left out on purpose, by reason."""
    failed: int = 0
    """In records that failed."""
    framing: Counter[str] = field(default_factory=Counter)
    """In no record, by what it is: line ends, blank lines, a byte order mark."""

    def add(self, other: Amounts) -> None:
        """Add those of another part of the run."""
        self.read += other.read
        self.written += other.written
        self.failed += other.failed
        self.dropped.update(other.dropped)
        self.framing.update(other.framing)

    @property
    def lost(self) -> float:
        """Share of what was in records that did not become documents, from 0 to 1."""
        lost = self.dropped.total() + self.failed
        return lost / (lost + self.written) if lost else 0.0

    @property
    def unexplained(self) -> int:
        """What was read and is nowhere: 0 unless the program is at fault."""
        told = self.written + self.dropped.total() + self.failed + self.framing.total()
        return self.read - told

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            **vars(self),
            "dropped": dict(sorted(self.dropped.items())),
            "framing": dict(sorted(self.framing.items())),
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Amounts:
        """The reverse of to_json."""
        counters = {name: Counter(values[name]) for name in ("dropped", "framing")}
        return cls(**{**values, **counters})


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
    amounts: dict[str, Amounts] = field(default_factory=dict)
    """The same in bytes and rows, by unit: what of the input is in which records, and in none."""
    problems: list[Problem] = field(default_factory=list)

    def of_unit(self, unit: str) -> Amounts:
        """The amounts in one unit, to add to."""
        return self.amounts.setdefault(unit, Amounts())

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
        for unit, amounts in other.amounts.items():
            self.of_unit(unit).add(amounts)
        self.problems.extend(other.problems[: KEPT_PROBLEMS - len(self.problems)])

    def check(self) -> None:
        """Raise RunError unless read = written + dropped + failed, in records and in bytes."""
        wrong = []
        if self.read != self.written + self.dropped.total() + self.failed:
            wrong.append(self.summary())
        wrong += [
            f"{amounts.unexplained:,} {unit}s of {amounts.read:,} are unexplained"
            for unit, amounts in self.amounts.items()
            if amounts.unexplained
        ]
        if wrong:
            raise RunError(
                f"The books do not add up: {'; '.join(wrong)}.",
                "This is a fault of the program; nothing was published. Please report it.",
            )

    def summary(self) -> str:
        """One line for people."""
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in sorted(self.dropped.items()))
        dropped = f"{self.dropped.total():,} dropped" + (f" ({reasons})" if reasons else "")
        return f"{self.read:,} read = {self.written:,} written + {dropped} + {self.failed:,} failed"

    def to_json(self) -> dict[str, Any]:
        """Plain values, for the journal and the manifest."""
        return {
            **vars(self),
            "dropped": dict(sorted(self.dropped.items())),
            "amounts": {unit: amounts.to_json() for unit, amounts in sorted(self.amounts.items())},
            "problems": [asdict(problem) for problem in self.problems],
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Books:
        """The reverse of to_json."""
        problems = [Problem(**problem) for problem in values["problems"]]
        amounts = {unit: Amounts.from_json(each) for unit, each in values["amounts"].items()}
        dropped = Counter(values["dropped"])
        return cls(**{**values, "dropped": dropped, "amounts": amounts, "problems": problems})


def reject_line(outcome: str, problem: Problem, record: bytes) -> bytes:
    """One line of a rejects file; bytes that are not UTF-8 are shown as ``\\xNN``."""
    text = record.decode("utf-8", "backslashreplace")
    return json.dumps({"outcome": outcome, **asdict(problem), "record": text}).encode() + b"\n"
