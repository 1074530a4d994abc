"""What a document costs when it is nothing but a document: 1, 10 and 50 million of one character.

    python benchmarks/documents.py [--millions 1 10 50]

writes the page ``benchmarks/results/DATE-documents.md``: CPU time, memory and bytes on disk for
each document, of building, opening, verifying, auditing and merging.
"""

from __future__ import annotations

import argparse
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tree import Watched, watch  # noqa: E402

_ENDINGS = (".bin", ".idx", ".origins", ".json")


@dataclass(frozen=True)
class Row:
    """One number of documents."""

    documents: int
    build: Watched
    verify: Watched
    audit: Watched
    merge: Watched
    opened: float
    """Seconds to open and to look up one document, its origin and one token."""
    sizes: dict[str, int]


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--millions", type=int, nargs="+", default=[1, 10, 50])
    rows = [measured(millions * 1_000_000) for millions in parser.parse_args().millions]
    target = ROOT / "benchmarks" / "results" / f"{date.today()}-documents.md"
    target.write_text(page(rows), "utf-8")
    print(target.read_text("utf-8"))


def measured(documents: int) -> Row:
    """Build so many documents and use them."""
    with tempfile.TemporaryDirectory(prefix="jimu-documents-") as name:
        folder = Path(name)
        lines = b"".join(b"%c\n" % (97 + number % 26) for number in range(1_000_000))
        with (folder / "a.txt").open("wb") as file:
            for _ in range(documents // 1_000_000):
                file.write(lines)

        def run(*arguments: str) -> Watched:
            return watch([sys.executable, "-m", "dataprep", *arguments], folder / "log")

        dataset = str(folder / "d")
        build = run("build", str(folder / "a.txt"), "-o", dataset, "-t", "train:bpe:300", "-w", "2")
        row = Row(
            documents,
            build,
            run("verify", dataset),
            run("audit", dataset),
            run("merge", dataset, dataset, "-o", f"{dataset}-twice"),
            seconds_to_open(dataset, documents),
            {ending: Path(f"{dataset}{ending}").stat().st_size for ending in _ENDINGS},
        )
    print(f"{documents:,} documents done", file=sys.stderr)
    return row


def seconds_to_open(dataset: str, documents: int) -> float:
    """Seconds to open a dataset and to look at what is in its middle."""
    import dataprep

    start = time.perf_counter()
    data = dataprep.open(dataset)
    data.origin(documents // 2)
    data.document_at(data.n_tokens // 3)
    return time.perf_counter() - start


def page(rows: list[Row]) -> str:
    """The page."""
    heads = [f"{row.documents // 1_000_000} million" for row in rows]

    def line(what: str, cell: Callable[[Row], str]) -> str:
        return f"| {what} | " + " | ".join(map(cell, rows)) + " |\n"

    def costs(what: str, of: Callable[[Row], Watched]) -> str:
        return (
            line(f"{what}: CPU µs a document", lambda r: f"{of(r).cpu / r.documents * 1e6:.2f}")
            + line(f"{what}: wall s", lambda r: f"{of(r).wall:.1f}")
            + line(f"{what}: memory, all processes, MiB", lambda r: f"{of(r).together >> 20}")
            + line(f"{what}: memory, largest process, MiB", lambda r: f"{of(r).largest >> 20}")
        )

    return (
        f"# Documents of one character, {date.today()}\n\n"
        "One .txt file, a document of one letter on each line, 2 workers, start-up and the "
        "training of a small\nvocabulary included. Memory is what is resident: files that "
        "are mapped, as `verify` maps the\nindex, count as far as they were touched, and pages "
        "shared between processes count in each.\n\n"
        f"CPython {platform.python_version()}, 2 cores of a shared machine.\n\n"
        f"| | {' | '.join(heads)} |\n|---|{'--:|' * len(rows)}\n"
        + costs("build", lambda r: r.build)
        + costs("verify", lambda r: r.verify)
        + costs("audit", lambda r: r.audit)
        + costs("merge with itself", lambda r: r.merge)
        + line("open, look up: ms", lambda r: f"{r.opened * 1e3:.0f}")
        + "".join(
            line(f"{e}: bytes a document", lambda r, e=e: f"{r.sizes[e] / r.documents:.3f}")  # type: ignore[misc]
            for e in _ENDINGS
        )
    )


if __name__ == "__main__":
    main()
