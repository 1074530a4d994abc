"""CPU seconds that the engine of a tokenizer takes for a folder of JSON lines, and nothing else.

Usage: engine_alone.py FOLDER TOKENIZER_JSON

Texts are ready as strings before the clock runs, in batches of about what a build reads at once.
As many processes as there are cores share the files: cores that are busy at the same time are
slower than one that has the machine to itself, and a build keeps all of them busy.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from functools import partial
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).parents[1]))

from dataprep.batch import Batch
from dataprep.tokenizers.load import load_tokenizer
from dataprep.tokenizers.protocol import Tokenizer

BATCH_BYTES = 1 << 20


class _Record(msgspec.Struct):
    text: str


def main(folder: str, tokenizer: str) -> None:
    """Print the seconds."""
    engine = load_tokenizer(tokenizer)
    files = sorted(Path(folder).iterdir(), key=lambda path: path.stat().st_size)
    cores = len(os.sched_getaffinity(0))
    with multiprocessing.get_context("fork").Pool(cores) as pool:
        parts = [files[k::cores] for k in range(cores)]
        print(sum(pool.map(partial(_seconds, engine), parts, chunksize=1)))


def _seconds(engine: Tokenizer, files: list[Path]) -> float:
    decode = msgspec.json.Decoder(_Record).decode
    engine.encode_batch(["Words and 字 to warm up with.\n"])  # a copy builds its engine now
    seconds = 0.0
    for path in files:
        with path.open("rb") as file:
            while lines := file.readlines(BATCH_BYTES):
                batch = Batch.from_texts([decode(line).text for line in lines])
                start = time.process_time()
                engine.encode_batch(batch)
                seconds += time.process_time() - start
    return seconds


if __name__ == "__main__":
    main(*sys.argv[1:])
