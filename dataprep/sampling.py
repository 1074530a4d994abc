"""A seeded sample of a corpus, by bytes, for training a tokenizer and for judging it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from .batch import Batch
from .intake import without_blank
from .languages import LANGUAGES, language_of
from .plan import Plan
from .training import readable

__all__ = ["Sample", "draw"]

HELD_OUT = 0.05
"""Share of the sample that is kept for judging."""


@dataclass(frozen=True)
class Sample:
    """Lines of the corpus, each with its line end."""

    training: list[Batch]
    held_out: list[str]
    bytes_of: dict[str, int]
    """Bytes of the training part by language."""


def draw(plan: Plan, size: int, *, seed: int, balance: bool) -> Sample:
    """About ``size`` bytes of lines, each as likely as another, in the order of the corpus.

    With ``balance``, Chinese, English and the rest get equal shares, as far as there is enough of
    each. The corpus is read twice, as a stream: what is in it has to be known first. The same
    corpus, size and seed give the same sample.
    """
    totals: Counter[str] = Counter()
    for line in _lines(plan):
        totals[language_of(line) if balance else ""] += len(line.encode())
    chances = _chances(totals, size)
    chance = random.Random(seed)  # noqa: S311  (no secret)
    training: list[Batch] = []
    lines: list[str] = []
    held_out: list[str] = []
    bytes_of: Counter[str] = Counter(dict.fromkeys(LANGUAGES, 0))
    for line in _lines(plan):
        language = language_of(line)
        drawn, kept = chance.random(), chance.random()
        if drawn >= chances[language if balance else ""]:
            continue
        if kept < HELD_OUT:
            held_out.append(line)
            continue
        bytes_of[language] += len(line.encode())
        lines.append(line)
        if len(lines) == 10_000:
            training.append(Batch.from_texts(lines))
            lines = []
    return Sample([*training, Batch.from_texts(lines)], held_out, dict(bytes_of))


def _chances(totals: Counter[str], size: int) -> dict[str, float]:
    """How likely a line of each group is drawn; what small groups leave goes to the others."""
    chances: dict[str, float] = {}
    left = size
    for number, (group, total) in enumerate(sorted(totals.items(), key=lambda item: item[1])):
        share = left / (len(totals) - number)
        chances[group] = min(1.0, share / total) if total else 1.0
        left -= int(min(share, total))
    return chances


def _lines(plan: Plan) -> Iterator[str]:
    for shard in range(len(plan.shards)):
        for records in readable(plan, shard):
            for text in without_blank(records.batch).texts():
                yield from (f"{line}\n" for line in text.split("\n") if line and line.strip())
