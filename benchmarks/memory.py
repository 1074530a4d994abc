"""How much memory a build takes: 2 GB of text in many files, and one document of 200 MB.

    python benchmarks/memory.py CORPUS [--gigabytes 2] [--megabytes 200]

writes the page ``benchmarks/results/DATE-memory.md``. CORPUS is a folder of real text, which is
repeated to these sizes in a temporary folder.
"""

from __future__ import annotations

import argparse
import gzip
import json
import platform
import sys
import tempfile
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from corpus import is_text, texts_of  # noqa: E402
from tree import Watched, watch  # noqa: E402

_LIMIT = 1 << 30


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--gigabytes", type=float, default=2)
    parser.add_argument("--megabytes", type=float, default=200)
    parser.add_argument("--tokenizer", default="train:bpe:8000")
    given = parser.parse_args()
    paths = sorted(filter(is_text, given.corpus.rglob("*")))
    texts = [text for path in paths for text in texts_of(path) if text]
    rows = []
    for what, make, size in (
        ("many files: .txt, .jsonl, .jsonl.gz", many_files, given.gigabytes * 1e9),
        ("one document, .md", one_document, given.megabytes * 1e6),
    ):
        with tempfile.TemporaryDirectory(prefix="jimu-memory-") as name:
            folder = Path(name)
            (folder / "corpus").mkdir()
            text_bytes = make(texts, folder / "corpus", int(size))
            command = [sys.executable, "-m", "dataprep", "build", str(folder / "corpus")]
            command += ["-o", str(folder / "d"), "-t", given.tokenizer, "-w", "2"]
            rows.append((what, text_bytes, watch(command, folder / "log")))
    target = ROOT / "benchmarks" / "results" / f"{date.today()}-memory.md"
    target.write_text(page(rows, given.tokenizer), "utf-8")
    print(target.read_text("utf-8"))
    if any(cost.together > _LIMIT for _, _, cost in rows):
        sys.exit("More than 1 GiB.")


def many_files(texts: list[str], folder: Path, size: int) -> int:
    """About so many bytes of text as files of several kinds; how many exactly."""
    lines = "".join(f"{text}\n" for text in texts).encode()
    records = "".join(json.dumps({"text": t}, ensure_ascii=False) + "\n" for t in texts).encode()
    packed = gzip.compress(records, 1)
    written = number = 0
    while written < size:
        ending, content = ((".txt", lines), (".jsonl", records), (".jsonl.gz", packed))[number % 3]
        (folder / f"{number:04}{ending}").write_bytes(content)
        written += len(records if number % 3 else lines)
        number += 1
    return written


def one_document(texts: list[str], folder: Path, size: int) -> int:
    """One text of about so many bytes; how many exactly."""
    text = "\n".join(texts).encode()
    with (folder / "a.md").open("wb") as file:
        while file.tell() < size:
            file.write(text[: size - file.tell()].decode("utf-8", "ignore").encode())
        return file.tell()


def page(rows: list[tuple[str, int, Watched]], tokenizer: str) -> str:
    """The page."""
    table = "".join(
        f"| {what} | {size / 1e6:,.0f} | {cost.together >> 20:,} | {cost.largest >> 20:,} "
        f"| {cost.wall:.0f} | {cost.cpu:.0f} |\n"
        for what, size, cost in rows
    )
    return (
        f"# Memory of a build, {date.today()}\n\n"
        f"`dataprep build --workers 2 --tokenizer {tokenizer}` on real Chinese and English text, "
        "repeated to the size.\nMemory is what is resident, looked at fifty times a second in the "
        "whole process tree; pages that processes\nshare count in each.\n\n"
        f"CPython {platform.python_version()}, 2 cores of a shared machine.\n\n"
        "| corpus | MB of text | all processes, MiB | largest process, MiB | wall s | CPU s |\n"
        f"|---|--:|--:|--:|--:|--:|\n{table}"
    )


if __name__ == "__main__":
    main()
