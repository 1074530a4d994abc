"""``dataprep build`` against its peers and its own engine: same text, same tokenizer, same run.

    python benchmarks/build.py CORPUS [--tokenizer gpt2] [--peer-python PYTHON] [--rounds 3]

writes the page ``benchmarks/results/DATE-build.md``. A tokenizer is a path, a public name or, by
default, trained on the corpus: train:bpe:8000. Needs a Python with datatrove, orjson, tokenizers
and gigatoken; without --peer-python one is made in ``.venv-bench``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from contestants import Contestant, Datatrove, Gigatoken, Jimu  # noqa: E402
from corpus import Prepared, more, prepare  # noqa: E402
from measure import Cost, first_byte, measure  # noqa: E402

from dataprep.batch import Batch  # noqa: E402
from dataprep.tokenizers.load import load_tokenizer  # noqa: E402
from dataprep.tokenizers.spec import TrainSpec, parse_tokenizer_spec  # noqa: E402
from dataprep.tokenizers.train import train_tokenizer  # noqa: E402

PEER_PACKAGES = ("datatrove==0.10.1", "orjson", "tokenizers", "gigatoken==0.10.0")
LARGE = 200_000_000
"""Bytes of text of the large run."""


@dataclass(frozen=True)
class Measured:
    """Rounds of one contestant on one folder."""

    name: str
    text: Prepared
    costs: list[Cost]

    @property
    def cpu(self) -> float:
        """CPU seconds of the median round."""
        return statistics.median(cost.cpu for cost in self.costs)

    @property
    def rate(self) -> float:
        """MB per CPU-second, whole process tree, start-up included."""
        return self.text.text_bytes / 1e6 / self.cpu


@dataclass(frozen=True)
class Outcome:
    """What all wrote, for one tokenizer."""

    tokens: int
    same_order: bool


@dataclass(frozen=True)
class Alone:
    """Of ``dataprep build`` on the large text."""

    engine: float
    """CPU seconds of its engine, for nothing but the ids."""
    first_byte: float
    """Wall seconds from the start to the first byte of a token on disk."""


def main() -> None:
    """Measure, check, write the page."""
    arguments = _arguments()
    python = arguments.peer_python or _make_peer(ROOT / ".venv-bench")
    contestants = (Jimu(), Gigatoken(python), Datatrove(python))
    out = ROOT / "benchmarks" / "results" / f"{date.today()}-build.md"
    out.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=arguments.scratch) as scratch:
        work = Path(scratch)
        once = prepare(arguments.corpus, work / "once")
        large = more(once, work / "large", LARGE)
        page = [_head(once, large, arguments, python)]
        for name in arguments.tokenizer or ["train:bpe:8000"]:
            tokenizer = _tokenizer(name, once, work / "tokenizer.json")
            print(f"{name}: {arguments.rounds} rounds", flush=True)
            small = _rounds(contestants, once, tokenizer, arguments.rounds, work)
            outcome = _compare(contestants, work)
            grown = _rounds(contestants, large, tokenizer, 1, work)
            _compare(contestants, work)
            page.append(_section(name, small, grown, outcome, _alone(large, tokenizer, work)))
            print(page[-1], flush=True)
            out.write_text("\n".join(page), encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--peer-python", help="Python that has datatrove installed")
    parser.add_argument("--tokenizer", action="append", help="may be given several times")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scratch", type=Path, help="folder for several times the corpus")
    return parser.parse_args()


def _make_peer(folder: Path) -> str:
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PEER_PACKAGES], check=True)
    return str(python)


def _tokenizer(name: str, text: Prepared, path: Path) -> Path:
    """Load or train outside of what is measured; both contestants get the file."""
    spec = parse_tokenizer_spec(name)
    if isinstance(spec, TrainSpec):
        path.write_bytes(train_tokenizer(spec, _sample(text)))
    else:
        load_tokenizer(spec).save(path)
    return path


def _sample(text: Prepared) -> Iterator[Batch]:
    """Every eighth document."""
    for file in sorted(text.folder.iterdir()):
        lines = file.read_text(encoding="utf-8").split("\n")[:-1:8]
        yield Batch.from_texts([json.loads(line)["text"] for line in lines])


def _rounds(
    contestants: tuple[Contestant, ...], text: Prepared, tokenizer: Path, rounds: int, work: Path
) -> list[Measured]:
    """Take turns, so that a noisy minute on a shared machine hits both."""
    costs: dict[str, list[Cost]] = {contestant.name: [] for contestant in contestants}
    for _ in range(rounds):
        for contestant in contestants:
            out = _out(work, contestant)
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
            command = contestant.command(text.folder, tokenizer, out)
            cost = measure(command, out / "log.txt", cwd=ROOT)
            print(f"  {contestant.name}: {cost.cpu:.2f} CPU s, {cost.wall:.2f} s", flush=True)
            costs[contestant.name].append(cost)
    return [Measured(name, text, found) for name, found in costs.items()]


def _out(work: Path, contestant: Contestant) -> Path:
    return work / f"out-{type(contestant).__name__}"


def _compare(contestants: tuple[Contestant, ...], work: Path) -> Outcome:
    """All must have written the same documents, token for token; RuntimeError otherwise."""
    hashes, tokens = zip(*(_digest(c.documents(_out(work, c))) for c in contestants), strict=True)
    for contestant, theirs, count in zip(contestants, hashes, tokens, strict=True):
        if missing := Counter(theirs) - Counter(hashes[0]):
            raise RuntimeError(
                f"{contestants[0].name} and {contestant.name} did different work: {tokens[0]} and "
                f"{count} tokens, {len(hashes[0])} and {len(theirs)} documents, "
                f"{missing.total()} of the second not in the first"
            )
    return Outcome(tokens[0], all(theirs == hashes[0] for theirs in hashes))


def _alone(text: Prepared, tokenizer: Path, work: Path) -> Alone:
    script = str(ROOT / "benchmarks" / "engine_alone.py")
    command = [sys.executable, script, str(text.folder), str(tokenizer)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    jimu = Jimu()
    seconds = []
    for _ in range(3):
        out = _out(work, jimu)
        shutil.rmtree(out)
        out.mkdir()
        command = jimu.command(text.folder, tokenizer, out)
        written = partial(jimu.has_written, out)
        seconds.append(first_byte(command, out / "log.txt", ROOT, written))
    return Alone(float(done.stdout), statistics.median(seconds))


def _digest(documents: Iterator[bytes]) -> tuple[list[bytes], int]:
    hashes, tokens = [], 0
    for ids in documents:
        hashes.append(sha256(ids).digest())
        tokens += len(ids) // 4
    return hashes, tokens


def _head(text: Prepared, large: Prepared, arguments: argparse.Namespace, python: str) -> str:
    packages = ("datatrove", "tokenizers", "gigatoken")
    ask = f"from importlib.metadata import version as v; print(*map(v, {packages}))"
    peer = subprocess.run([python, "-c", ask], check=True, capture_output=True, text=True)
    datatrove, tokenizers, gigatoken = peer.stdout.split()
    return f"""\
# Build against its peers, {date.today()}

The same text and the same tokenizer.json in the same run, taking turns. The contestants read .txt,
.md and .gz by other rules, so the corpus is first written as JSON lines, outside of what is
measured: {text.documents:,} documents, {text.text_bytes / 1e6:.1f} MB of UTF-8 text. The large
text is {large.documents:,} documents, {large.text_bytes / 1e6:.1f} MB: the same text, then versions
of it in which every word (run of letters or Chinese characters) that it has once is another one.
That is as many new words as fresh text has; the text alone, repeated, would favour caches.

- CPU s: user + system of the whole process tree (`RUSAGE_CHILDREN`), start-up included; rates are
  those of the median of {arguments.rounds} rounds, of one on the large text.
- Marginal: the large text less the small one, which leaves start-up out.
- The script on gigatoken stands for Megatron's fast tool, which has this engine: it reads, encodes
  and writes, and neither checks nor hashes nor could go on. datatrove runs on Hugging Face's.
- All outputs are compared document by document before anything is written here.
- dataprep has checked the tokenizer on this machine before; the first time costs more by what
  `dataprep.tokenizers.checked` says.

fastokens {version("fastokens")}, gigatoken {gigatoken}, datatrove {datatrove} (tokenizers
{tokenizers}), CPython {platform.python_version()}, {_processor()}, a shared machine with a load of
{os.getloadavg()[0]:.1f} before this began: ratios hold, wall times do not.
"""


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().split("\n")
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} cores of {names[0]}"


def _section(
    name: str, once: list[Measured], more: list[Measured], outcome: Outcome, alone: Alone
) -> str:
    rows = [
        f"## {Path(name).name}",
        "",
        f"{outcome.tokens:,} tokens of the small text from each, the same documents token for "
        f"token, {'in the same order' if outcome.same_order else 'in another order'}.",
        "",
        "| | CPU s (each round) | wall s | MB per CPU-second | large text | marginal |",
        "|---|---|--:|--:|--:|--:|",
    ]
    marginals = []
    for one, many in zip(once, more, strict=True):
        extra = (many.text.text_bytes - one.text.text_bytes) / 1e6 / (many.cpu - one.cpu)
        marginals.append(extra)
        rounds = ", ".join(f"{cost.cpu:.2f}" for cost in one.costs)
        wall = statistics.median(cost.wall for cost in one.costs)
        cells = (one.name, rounds, f"{wall:.1f}")
        rates = (f"{rate:.2f}" for rate in (one.rate, many.rate, extra))
        rows.append(f"| {' | '.join((*cells, *rates))} |")
    rows += ["", "| dataprep build, times as fast as | small text | large text | marginal |"]
    rows += ["|---|--:|--:|--:|"]
    for k in range(1, len(once)):
        ratios = (once[0].rate / once[k].rate, more[0].rate / more[k].rate)
        cells = (f"{ratio:.1f}" for ratio in (*ratios, marginals[0] / marginals[k]))
        rows.append(f"| {once[k].name} | {' | '.join(cells)} |")
    engine = more[0].text.text_bytes / 1e6 / alone.engine
    rows += [
        "",
        f"Its own engine gives ids of the large text at {engine:.1f} MB per CPU-second, on all "
        f"cores at once as in a build: the build goes at **{more[0].rate / engine:.0%}** of that, "
        f"start-up included, and at {marginals[0] / engine:.0%} at the margin. First byte of a "
        f"token on disk after **{alone.first_byte:.2f} s** (median of 3).",
        "",
    ]
    return "\n".join(rows)


if __name__ == "__main__":
    main()
