"""Where a build writes: what cannot work, or would destroy something, is refused at the start."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from .errors import UsageError
from .inputs import Listing
from .manifest import COLUMNS, ENDINGS, manifest_path
from .settings import BuildSettings
from .workfolder import WorkFolder

__all__ = ["check_targets"]

_ANOTHER = "Choose another name."
_REJECTS_START = b'{"outcome": '


def check_targets(settings: BuildSettings, listing: Listing) -> None:
    """Make the folder of the rejects. Raises UsageError; OSError when it cannot be written in."""
    out = Path(settings.out)
    endings = (*ENDINGS, *(f".{kind}" for kind in COLUMNS))
    own = [manifest_path(out), *(Path(f"{out}{ending}") for ending in endings)]
    for path in own:
        if path.is_dir():
            raise UsageError(f"{path} is a folder, but a file is to be written there.", _ANOTHER)
    if settings.keep_rejects is not None:
        inputs = [*settings.inputs, *(entry.path for entry in listing.inputs)]
        _check_rejects(Path(settings.keep_rejects), [*own, WorkFolder(out).path], inputs)


def _check_rejects(path: Path, own: Sequence[Path], inputs: Sequence[str]) -> None:
    if path.exists() and not path.is_file():
        raise UsageError(f"--keep-rejects {path} is there, but is no file.", _ANOTHER)
    place = Path(os.path.realpath(path))
    within = {str(place), *map(str, place.parents)}
    if within & set(map(os.path.realpath, own)):
        raise UsageError(f"--keep-rejects {path} is kept for the dataset itself.", _ANOTHER)
    if within & set(map(os.path.realpath, inputs)):
        raise UsageError(
            f"--keep-rejects {path} is within the inputs: it would be read as text by a later run.",
            "Name a file elsewhere.",
        )
    if path.exists():
        with path.open("rb") as file:
            if file.read(len(_REJECTS_START)) not in (b"", _REJECTS_START):
                raise UsageError(
                    f"--keep-rejects {path} exists and holds something else.", _ANOTHER
                )
    path.parent.mkdir(parents=True, exist_ok=True)
    probe = path.with_name(path.name + ".tmp")  # hours of work are not to end in an error here
    probe.open("wb").close()
    probe.unlink()
