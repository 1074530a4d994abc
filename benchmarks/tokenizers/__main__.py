"""Every family of tokenizers against its reference: speed and exactness, in one run.

    python benchmarks/tokenizers CORPUS --vocabularies FOLDER [--only WORD]

CORPUS has a folder for each kind of text (zh, en, mixed); FOLDER has the public vocabularies by
name. Writes the page ``benchmarks/results/DATE-tokenizers.md``.

A folder, not a file: a script ``tokenizers.py`` would stand in the way of Hugging Face's package.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import version
from pathlib import Path

os.environ["TOKENIZERS_PARALLELISM"] = "false"
HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path += [str(HERE.parent)]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from corpus import batches, is_text, texts_of  # noqa: E402
from families import FAMILIES, Encode, Family  # noqa: E402

from dataprep.tokenizers.load import load_tokenizer  # noqa: E402
from dataprep.tokenizers.protocol import Tokenizer  # noqa: E402

BATCH_BYTES = 1_000_000
WARM_UP = ["Words and 字 to warm up with.\n"]


@dataclass
class Score:
    """One family on one kind of text."""

    megabytes: float = 0
    ours: float = 0
    """CPU seconds."""
    theirs: float = 0
    documents: int = 0
    tokens: int = 0
    different: int = 0


@dataclass
class Result:
    """One family on all texts."""

    family: Family
    engine: str
    scores: dict[str, Score] = field(default_factory=dict)


def main() -> None:
    """Measure, compare, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--vocabularies", type=Path, required=True)
    parser.add_argument("--only", default="", help="families with this in their name; no page")
    arguments = parser.parse_args()
    kinds = {path.name: _documents(path) for path in sorted(arguments.corpus.iterdir())
             if path.is_dir()}  # fmt: skip
    results = []
    for family in FAMILIES:
        if arguments.only not in family.name:
            continue
        results.append(_measure(family, arguments.vocabularies, kinds))
        for row in (_row, _exact):
            print(row(results[-1], list(kinds)), flush=True)
    if not arguments.only:
        out = ROOT / "benchmarks" / "results" / f"{date.today()}-tokenizers.md"
        out.write_text(_page(results, list(kinds)), encoding="utf-8")


def _documents(folder: Path) -> list[str]:
    files = sorted(filter(is_text, folder.iterdir()))
    return [text for file in files for text in texts_of(file) if text]


def _measure(family: Family, vocabularies: Path, kinds: dict[str, list[str]]) -> Result:
    path = vocabularies / family.source
    source = path if path.exists() else family.source
    tokenizer = load_tokenizer(source)
    reference = family.reference(path, tokenizer)
    result = Result(family, tokenizer.engine)
    tokenizer.encode_batch(WARM_UP)
    reference(WARM_UP)
    for kind, texts in kinds.items():
        score = result.scores[kind] = Score()
        for batch in batches(texts, BATCH_BYTES):
            _add(score, batch, tokenizer, reference)
    return result


def _add(score: Score, texts: list[str], tokenizer: Tokenizer, reference: Encode) -> None:
    """Both on the same fresh text, one after the other: a noisy minute hits both."""
    start = time.process_time()
    ids, offsets = tokenizer.encode_batch(texts)
    middle = time.process_time()
    expected, lengths = reference(texts)
    end = time.process_time()
    score.ours += middle - start
    score.theirs += end - middle
    score.megabytes += sum(len(text.encode()) for text in texts) / 1e6
    score.documents += len(texts)
    score.tokens += len(expected)
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    if not (np.array_equal(bounds, offsets) and np.array_equal(ids, expected)):
        score.different += sum(
            not np.array_equal(
                ids[offsets[i] : offsets[i + 1]], expected[bounds[i] : bounds[i + 1]]
            )
            for i in range(len(texts))
        )


def _row(result: Result, kinds: list[str]) -> str:
    cells = [result.family.name, result.engine]
    for kind in kinds:
        score = result.scores[kind]
        ours, theirs = score.megabytes / score.ours, score.megabytes / score.theirs
        cells.append(f"{ours:.1f} / {theirs:.2f} = **{ours / theirs:.1f}**")
    return f"| {' | '.join(cells)} |"


def _exact(result: Result, kinds: list[str]) -> str:
    scores = [result.scores[kind] for kind in kinds]
    documents, tokens = sum(s.documents for s in scores), sum(s.tokens for s in scores)
    different = sum(s.different for s in scores)
    return f"| {result.family.name} | {documents:,} | {tokens:,} | {different:,} |"


def _page(results: list[Result], kinds: list[str]) -> str:
    lines = Path("/proc/cpuinfo").read_text().split("\n")
    cores = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return "\n".join(
        [
            f"# Tokenizers against their references, {date.today()}",
            "",
            "Each cell: ours / reference = ratio, in MB (10⁶ bytes of UTF-8) per CPU-second, one",
            "thread, first pass over fresh text in batches of 1 MB, turns taken batch by batch,",
            "from Python strings to one flat array of ids on both sides. Building the tokenizer",
            "and compiling are left out. Literal specials in the text count as text on both sides.",
            "",
            f"| family | engine | {' | '.join(kinds)} |",
            f"|---|---|{'--:|' * len(kinds)}",
            *(_row(result, kinds) for result in results),
            "",
            "## Exactness, in the same run",
            "",
            "| family | documents compared | tokens | documents that differ |",
            "|---|--:|--:|--:|",
            *(_exact(result, kinds) for result in results),
            "",
            f"tokenizers {version('tokenizers')}, CPython {platform.python_version()},",
            f"{len(cores)} cores of {cores[0]}, a shared machine: ratios hold, rates do not.",
            "",
        ]
    )


if __name__ == "__main__":
    main()
