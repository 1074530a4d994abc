"""Tokenize a folder of JSON lines with datatrove; run by the Python that has it installed.

Usage: datatrove_tokenize.py FOLDER TOKENIZER_JSON OUT
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.tokens import DocumentTokenizer


def main(folder: str, tokenizer: str, out: str) -> None:
    """One task in this process: the cheapest way to run it, per CPU-second."""
    added = json.loads(Path(tokenizer).read_text(encoding="utf-8"))["added_tokens"]
    (eos,) = [token["content"] for token in added if token["content"] == "<|endoftext|>"]
    LocalPipelineExecutor(
        pipeline=[
            JsonlReader(folder),
            DocumentTokenizer(
                str(Path(out) / "set"),
                tokenizer_name_or_path=tokenizer,
                eos_token=eos,
                shuffle_documents=False,
            ),
        ],
        tasks=1,
        logging_dir=str(Path(out) / "logs"),
    ).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
