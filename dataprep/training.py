"""Training a tokenizer on the corpus, in a process of its own.

Training takes from seconds to minutes inside one call of a library that hears no interrupt, and
starts threads that a later fork would not survive. Apart, it can be ended at any time, and this
process stays as it was.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from .batch import Batch
from .convert import converter
from .errors import RunError
from .intake import read_piece, without_blank
from .plan import Plan
from .readers import DamagedError, Records
from .workfolder import WorkFolder

if TYPE_CHECKING:
    from .tokenizers.spec import TrainSpec

__all__ = ["first_documents", "readable", "train_apart"]

TRAINING_BYTES = 16 << 20
"""Text that a tokenizer is trained on: BPE training slows down with the number of distinct words,
and frequent words are what it learns from."""
_TRAINING_SHARDS = 32


def train_apart(spec: TrainSpec, work: WorkFolder) -> bytes:
    """The ``tokenizer.json`` trained on a sample of what the plan in the work folder reads."""
    command = [sys.executable, "-m", "dataprep.training", str(spec), str(work.plan)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,  # nothing is written: its end says that this process is gone
        stdout=subprocess.PIPE,
        env=environment,
        start_new_session=True,  # Ctrl-C is for this process, which then ends the other
    ) as process:
        try:
            assert process.stdout is not None  # noqa: S101
            json = process.stdout.read()
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise RunError(
            f"Training the tokenizer failed with exit code {process.returncode}.",
            "Often the system was out of memory. Run again to try again.",
        )
    return json


def _main() -> None:
    from .tokenizers.spec import TrainSpec, parse_tokenizer_spec
    from .tokenizers.train import train_tokenizer

    threading.Thread(target=_end_with_parent, daemon=True).start()
    spec = parse_tokenizer_spec(sys.argv[1])
    assert isinstance(spec, TrainSpec)  # noqa: S101
    json = train_tokenizer(spec, first_documents(Plan.from_json(Path(sys.argv[2]).read_bytes())))
    sys.stdout.buffer.write(json)
    sys.stdout.flush()
    os._exit(0)  # the other thread holds standard input, which a normal end would wait for


def _end_with_parent() -> None:
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)


def first_documents(plan: Plan, size: int = TRAINING_BYTES) -> Iterator[Batch]:
    """The first documents of up to so many shards, evenly spread; about ``size`` bytes in all."""
    count = len(plan.shards)
    convert = converter(plan.convert)
    chosen = sorted({count * part // _TRAINING_SHARDS for part in range(_TRAINING_SHARDS)})
    for shard in chosen:
        left = size // len(chosen)
        for records in readable(plan, shard):
            batch = convert(without_blank(records.batch))
            yield _first_bytes(batch, left)
            left -= len(batch.data)
            if left <= 0:
                break


def readable(plan: Plan, shard: int) -> Iterator[Records]:
    """The records of a shard, those of a damaged file up to the damage."""
    for piece in plan.shards[shard]:
        # When the file's turn comes, its damage is an error; until then, what there is will do.
        with suppress(DamagedError):
            yield from read_piece(plan, piece)


def _first_bytes(batch: Batch, size: int) -> Batch:
    """The documents in the first bytes of a batch, the last of them cut."""
    if size >= len(batch.data):
        return batch
    whole = bisect_right(batch.offsets.tolist(), size) - 1
    part = bytes(batch.data[batch.offsets[whole] : size]).decode("utf-8", "ignore")
    return Batch.from_texts([*batch.texts()[:whole], part])


if __name__ == "__main__":
    _main()
