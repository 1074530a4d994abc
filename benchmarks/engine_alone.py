"""CPU seconds that the engine of a tokenizer takes for a folder of JSON lines, and nothing else.

Usage: engine_alone.py FOLDER TOKENIZER_JSON

Texts are ready as strings before the clock runs, in batches of about what a build reads at once.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).parents[1]))

from dataprep.batch import Batch
from dataprep.tokenizers.load import load_tokenizer

BATCH_BYTES = 1 << 20


class _Record(msgspec.Struct):
    text: str


def main(folder: str, tokenizer: str) -> None:
    """Print the seconds."""
    engine = load_tokenizer(tokenizer)
    engine.encode_batch(["Words and 字 to warm up with.\n"])
    decode = msgspec.json.Decoder(_Record).decode
    seconds = 0.0
    for path in sorted(Path(folder).iterdir()):
        with path.open("rb") as file:
            while lines := file.readlines(BATCH_BYTES):
                batch = Batch.from_texts([decode(line).text for line in lines])
                start = time.process_time()
                engine.encode_batch(batch)
                seconds += time.process_time() - start
    print(seconds)


if __name__ == "__main__":
    main(*sys.argv[1:])
