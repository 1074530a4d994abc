"""One folder of JSON lines that every contestant reads, made from a corpus of several formats."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Prepared:
    """A folder of .jsonl files and what is in them."""

    folder: Path
    documents: int
    text_bytes: int


def prepare(corpus: Path, folder: Path, copies: int = 1) -> Prepared:
    """Write each file of ``corpus`` as ``copies`` files of JSON lines, the text under ``text``.

    .jsonl keeps its records, .md is one document a file, .txt is one a block between blank lines,
    or one a line in a file that has none. Documents without text are left out, since datatrove
    leaves them out.
    """
    documents = text_bytes = 0
    folder.mkdir(parents=True)
    for number, path in enumerate(sorted(filter(is_text, corpus.rglob("*")))):
        texts = [text for text in texts_of(path) if text]
        lines = "".join(json.dumps({"text": t}, ensure_ascii=False) + "\n" for t in texts)
        for copy in range(copies):
            (folder / f"{number:03}-{copy:02}.jsonl").write_text(lines, encoding="utf-8")
        documents += copies * len(texts)
        text_bytes += copies * sum(len(text.encode()) for text in texts)
    return Prepared(folder, documents, text_bytes)


def is_text(path: Path) -> bool:
    """Whether the file is of a format known here."""
    return path.name.endswith((".txt", ".md", ".jsonl", ".jsonl.gz"))


def texts_of(path: Path) -> Iterator[str]:
    """The documents of one file, by the rules of prepare, empty ones too."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    if ".jsonl" in path.suffixes:
        yield from (json.loads(line)["text"] for line in text.split("\n") if line)
    elif path.suffix == ".md":
        yield text
    else:
        blocks = [block.strip("\n") for block in re.split(r"\n\s*\n", text)]
        yield from blocks if len(blocks) > 1 else text.split("\n")
