"""Inputs that changed behind the back of a build, though their size and time look the same.

Times of modification can be set, and tools that copy, unpack and synchronise do set them. The time
at which the status of a file changed cannot: where that differs, the file is hashed again.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import DataError
from .intake import sha256_of
from .plan import Plan

if TYPE_CHECKING:
    from .inputs import Input
    from .workfolder import Outcome

__all__ = ["changed_at", "shards_to_redo"]


def changed_at(entry: Input) -> int:
    """When the status of an input last changed, in ns. Raises DataError when it is gone."""
    try:
        return Path(entry.path).stat().st_ctime_ns
    except OSError as error:
        raise DataError(
            f"{entry.path} is gone: {error.strerror}.",
            "Put it back as it was, or start over with --overwrite.",
        ) from error


def shards_to_redo(plan: Plan, outcomes: Mapping[int, Outcome]) -> set[int]:
    """Shards that are done, but of an input that may have changed since then.

    Raises DataError when an input certainly has: its hash, where one was taken, is another.
    """
    hashes: dict[int, str] = {}
    readers: dict[int, dict[int, int]] = {}  # when it had changed, by input and shard
    for shard, outcome in outcomes.items():
        hashes.update(outcome.hashes)
        for number, stamp in outcome.stamps.items():
            readers.setdefault(number, {})[shard] = stamp
    redo: set[int] = set()
    for number, stamps in readers.items():
        entry = plan.inputs[number]
        now = changed_at(entry)
        suspicious = {shard for shard, stamp in stamps.items() if stamp != now}
        if suspicious and number not in hashes:
            redo |= suspicious
        elif suspicious and sha256_of(Path(entry.path)) != hashes[number]:
            raise DataError(
                f"{entry.path} has other content than when it was read, though its size and time "
                "are the same: its sha256 differs.",
                "Let the inputs come to rest, then start over with --overwrite.",
            )
    return redo
