"""Everything that this project raises for people.

::

    JimuError            a sentence about what was given and where; ``hint`` says what to do
    ├── UsageError       exit 2: a setting or an argument that cannot be
    ├── DataError        exit 1: an input or a dataset is damaged or unreadable
    └── RunError         exit 1: the run failed (a process died, the disk is full, ...)

Anything else that escapes is a fault of the code, not of the input.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = ["DataError", "JimuError", "RunError", "UsageError"]


class JimuError(Exception):
    """Root of the tree.

    ``str(error)`` is a full sentence for people, ``error.hint`` says what to do about it.
    ``exit_code`` is what a command line program ends with.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint

    def __reduce__(self) -> tuple[type[JimuError], tuple[str, str | None]]:
        # Errors cross process borders; the default would lose the hint.
        return type(self), (str(self), self.hint)


class UsageError(JimuError):
    """A setting or an argument that cannot be."""

    exit_code = 2


class DataError(JimuError):
    """An input or a dataset is damaged or unreadable."""


class RunError(JimuError):
    """The run failed, though its settings and inputs may be fine."""
