"""What a run measured, as JSON lines: ``metrics.jsonl`` in the folder of the run.

One line for each step (``step``, ``loss``, ``lr``, ``grad_norm``, ``tokens`` so far, ``seconds``)
and one for each validation (``step``, ``validation_loss``).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dataprep.durable import replace
from dataprep.errors import DataError

__all__ = ["Metrics", "read_metrics"]


class Metrics:
    """Appends to the file; each line is there, for a reader, as soon as it is written.

    A run that goes on from ``step`` first removes the lines after it: those steps come again.
    """

    def __init__(self, path: Path, *, step: int) -> None:
        kept = [line for line in read_metrics(path) if line["step"] <= step] if step else []
        replace(path, "".join(map(_line, kept)).encode())
        self._file = path.open("a", encoding="utf-8", buffering=1)

    def write(self, **values: Any) -> None:
        """One line; values are numbers or None."""
        self._file.write(_line(values))

    def close(self) -> None:
        """Ends the file."""
        self._file.close()


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The lines of a file, none when it is missing; a last line cut by a crash is left out."""
    if not path.exists():
        return []
    *whole, _ = path.read_text(encoding="utf-8").split("\n")
    try:
        return [json.loads(line) for line in whole]
    except ValueError as error:
        raise DataError(f"{path} is damaged: {error}.") from error


def _line(values: dict[str, Any]) -> str:
    return json.dumps(values, allow_nan=False) + "\n"
