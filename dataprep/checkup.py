"""How well a tokenizer suits a text: what is lost, what is broken up, how long it gets."""

from __future__ import annotations

import itertools
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from .batch import Batch
from .languages import LANGUAGES, language_of

if TYPE_CHECKING:
    from .tokenizers.protocol import Tokenizer

__all__ = ["Checkup", "Counts", "examine"]

TOP = 20
_BATCH = 1000


@dataclass
class Counts:
    """Sums over the documents of one language."""

    documents: int = 0
    bytes: int = 0
    characters: int = 0
    tokens: int = 0
    unknown: int = 0
    """Tokens that stand for what the vocabulary cannot write."""
    fragments: int = 0
    """Tokens that are bytes of a character, not whole ones."""
    round_trips: int = 0
    """Documents that decode to themselves."""

    def rates(self) -> dict[str, float | None]:
        """Shares and ratios; None where nothing was seen."""
        pairs = {
            "round_trip": (self.round_trips, self.documents),
            "unknown": (self.unknown, self.tokens),
            "byte_fallback": (self.fragments, self.tokens),
            "tokens_per_byte": (self.tokens, self.bytes),
            "tokens_per_character": (self.tokens, self.characters),
            "bytes_per_token": (self.bytes, self.tokens),
        }
        return {name: part / whole if whole else None for name, (part, whole) in pairs.items()}


@dataclass
class Checkup:
    """What was found about one tokenizer."""

    name: str
    engine: str
    vocab_size: int
    fingerprint: str
    specials: dict[str, int]
    ignored: list[str]
    """What the file would do to text beyond encoding it, and what is not done here."""
    languages: dict[str, Counts] = field(default_factory=dict)
    unknown_characters: list[tuple[str, int]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Plain values, with the rates of each language."""
        values = asdict(self)
        for name, counts in self.languages.items():
            values["languages"][name] |= counts.rates()
        return values


def examine(tokenizer: Tokenizer, texts: Iterable[str]) -> Checkup:
    """Encode and decode the texts, document by document."""
    checkup = Checkup(
        name=tokenizer.name,
        engine=tokenizer.engine,
        vocab_size=tokenizer.vocab_size,
        fingerprint=tokenizer.fingerprint,
        specials=dict(tokenizer.specials),
        ignored=_ignored(tokenizer),
    )
    counts: dict[str, Counts] = defaultdict(Counts)
    unknown: Counter[str] = Counter()
    fragments: dict[int, bool] = {}
    documents = iter(texts)
    while group := list(itertools.islice(documents, _BATCH)):
        _count(tokenizer, group, counts, unknown, fragments)
    checkup.languages = {name: counts[name] for name in LANGUAGES if name in counts}
    checkup.unknown_characters = _really_unknown(tokenizer, unknown)[:TOP]
    return checkup


def _count(
    tokenizer: Tokenizer,
    texts: Sequence[str],
    counts: dict[str, Counts],
    unknown: Counter[str],
    fragments: dict[int, bool],
) -> None:
    ids, offsets = tokenizer.encode_batch(texts)
    unk_id = tokenizer.specials.get("unk")
    for i in np.unique(ids).tolist():
        if i not in fragments:
            fragments[i] = i != unk_id and "\ufffd" in tokenizer.decode([i])
    is_fragment = np.zeros(tokenizer.vocab_size, bool)
    is_fragment[[i for i, broken in fragments.items() if broken]] = True
    lost = []
    for text, start, end in zip(texts, offsets, offsets[1:], strict=False):
        part, found = ids[start:end], counts[language_of(text)]
        found.documents += 1
        found.bytes += len(text.encode())
        found.characters += len(text)
        found.tokens += len(part)
        found.fragments += int(is_fragment[part].sum())
        found.round_trips += tokenizer.decode(part) == text
        if unk_id is not None and (times := int((part == unk_id).sum())):
            found.unknown += times
            lost.append(text)
    for text in lost:
        part, _, spans = tokenizer.encode_spans([text])
        data = text.encode()
        for start, end in spans[part == unk_id].tolist():
            unknown.update(data[start:end].decode("utf-8", "ignore"))


def _really_unknown(tokenizer: Tokenizer, counts: Counter[str]) -> list[tuple[str, int]]:
    """The characters that are unknown alone; a word may be unknown though its letters are not."""
    characters = sorted(counts, key=lambda character: (-counts[character], character))
    ids, offsets = tokenizer.encode_batch(Batch.from_texts(characters))
    unk_id = tokenizer.specials.get("unk")
    return [
        (character, counts[character])
        for character, start, end in zip(characters, offsets, offsets[1:], strict=False)
        if (ids[start:end] == unk_id).any()
    ]


class _Extras(msgspec.Struct):
    truncation: Any = None
    padding: Any = None
    post_processor: Any = None


def _ignored(tokenizer: Tokenizer) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.json"
        tokenizer.save(path)
        extras = msgspec.json.decode(path.read_bytes(), type=_Extras)
    found = []
    if extras.truncation:
        found.append(f"truncation to {extras.truncation.get('max_length')} tokens")
    if extras.padding:
        found.append(f"padding ({extras.padding.get('strategy')})")
    if extras.post_processor:
        found.append(f"post-processor {extras.post_processor.get('type')} (adds special tokens)")
    return found
