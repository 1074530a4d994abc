"""The folder of a run: ``metrics.jsonl``, ``loss.png``, ``step-000200/`` and what is the latest.

``latest`` is a small file that names the last whole checkpoint.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from dataprep.durable import replace
from dataprep.errors import DataError, RunError, UsageError

__all__ = ["RunFolder", "find_checkpoint"]


class RunFolder:
    """Paths of a run, and which checkpoint is its latest."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.metrics = path / "metrics.jsonl"
        self.picture = path / "loss.png"
        self._latest = path / "latest"

    def checkpoint(self, step: int) -> Path:
        """Where the checkpoint after so many steps lies."""
        return self.path / f"step-{step:06d}"

    def latest(self) -> Path | None:
        """The last whole checkpoint; None before the first. DataError when it is gone."""
        try:
            name = self._latest.read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            return None
        if not (self.path / name).is_dir():
            raise DataError(f"{self._latest} names {name}, which is not in {self.path}.")
        return self.path / name

    def point_to(self, checkpoint: Path) -> None:
        """Makes a checkpoint the latest."""
        replace(self._latest, f"{checkpoint.name}\n".encode())

    def check(self, *, resume: bool, overwrite: bool) -> None:
        """Raises UsageError for a run that is in the way, or for none where one is to go on."""
        if resume and self.latest() is None:
            raise UsageError(
                f"There is no checkpoint in {self.path} to resume from.",
                hint="Leave --resume out to start, or name the run's folder with --out.",
            )
        if not (resume or overwrite) and (self.metrics.exists() or self._latest.exists()):
            raise UsageError(
                f"{self.path} holds a run already.",
                hint="Go on with it: --resume. Replace it: --overwrite. Keep it: --out OTHER.",
            )

    def clear(self) -> None:
        """Makes the folder, without a run in it; RunError when that cannot be."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            # The pointer goes first: what it names must be whole.
            for file in (self._latest, self.metrics, self.picture):
                file.unlink(missing_ok=True)
            for checkpoint in self.path.glob("step-*"):
                shutil.rmtree(checkpoint)
        except OSError as error:
            raise RunError(f"{self.path} cannot be prepared for a run: {error}.") from error


def find_checkpoint(path: Path) -> Path:
    """The checkpoint that a path means: itself, or the latest of the run in the folder."""
    if (path / "config.json").exists():
        return path
    found = RunFolder(path).latest()
    if found is None:
        raise UsageError(
            f"{path} is neither a checkpoint nor the folder of a run that has one.",
            hint="Name a folder such as runs/gpt2-demo or runs/gpt2-demo/step-000300.",
        )
    return found
