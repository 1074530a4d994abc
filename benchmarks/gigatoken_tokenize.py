"""The plain script on another fast engine; run by the Python that has gigatoken installed.

Usage: gigatoken_tokenize.py FOLDER TOKENIZER_JSON OUT

Stands for Megatron's fast tool, which has the same engine: reads JSON lines, encodes them in
batches on this thread, writes ids and lengths as arrays, with no check, hash or way to go on.
"""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path

import gigatoken
import numpy as np
import orjson

BATCH = 10_000


def main(folder: str, tokenizer: str, out: str) -> None:
    """An end of document after each; ids as the smallest type that holds them."""
    vocabulary = json.loads(Path(tokenizer).read_text(encoding="utf-8"))
    (end,) = [t["id"] for t in vocabulary["added_tokens"] if t["content"] == "<|endoftext|>"]
    engine = gigatoken.Tokenizer(tokenizer)
    dtype = "<u2" if engine.vocab_size < 65_500 else "<u4"
    lengths = []
    with (Path(out) / "set.bin").open("wb") as file:
        for path in sorted(Path(folder).iterdir()):
            with path.open("rb") as lines:
                while batch := [orjson.loads(x)["text"] for x in itertools.islice(lines, BATCH)]:
                    layout = engine.encode_batch(batch, parallel=False).layout
                    offsets = np.asarray(layout.offsets)
                    ids = np.insert(np.asarray(layout.content.data), offsets[1:], end)
                    file.write(ids.astype(dtype))
                    lengths.append(np.diff(offsets) + 1)
    np.save(Path(out) / "lengths.npy", np.concatenate(lengths))


if __name__ == "__main__":
    main(*sys.argv[1:])
