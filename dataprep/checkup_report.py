"""A checkup as tables, one tokenizer beside another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table

from .checkup import Checkup
from .languages import LANGUAGES

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["tables"]

_ROWS = {
    "round_trip": ("decodes to itself", "{:.2%}"),
    "unknown": ("unknown tokens", "{:.3%}"),
    "byte_fallback": ("parts of a character", "{:.2%}"),
    "tokens_per_byte": ("tokens per byte", "{:.4f}"),
    "tokens_per_character": ("tokens per character", "{:.4f}"),
    "bytes_per_token": ("bytes per token", "{:.3f}"),
}


def tables(found: Sequence[Checkup]) -> RenderableType:
    """About the tokenizers, then about the text in each language."""
    about = Table("", *(checkup.name for checkup in found), title="Tokenizer")
    about.add_row("engine", *(checkup.engine for checkup in found))
    about.add_row("vocabulary", *(f"{checkup.vocab_size:,}" for checkup in found))
    about.add_row("special tokens", *(_specials(checkup) for checkup in found))
    about.add_row("ignored", *("; ".join(checkup.ignored) or "nothing" for checkup in found))
    about.add_row("unknown characters", *(_unknown(checkup) for checkup in found))
    parts: list[RenderableType] = [about]
    for language in LANGUAGES:
        counts = [checkup.languages.get(language) for checkup in found]
        if not any(counts):
            continue
        first = next(count for count in counts if count)
        title = f"{language}: {first.documents:,} documents, {first.bytes:,} bytes"
        table = Table("", *(checkup.name for checkup in found), title=title)
        table.add_row("tokens", *(f"{count.tokens:,}" if count else "" for count in counts))
        rates = [count.rates() if count else {} for count in counts]
        for key, (label, form) in _ROWS.items():
            values = [rate.get(key) for rate in rates]
            table.add_row(label, *("" if v is None else form.format(v) for v in values))
        parts.append(table)
    return Group(*parts)


def _specials(checkup: Checkup) -> str:
    shown = {r: i for r, i in checkup.specials.items() if not r.startswith("extra_id_")}
    hidden = len(checkup.specials) - len(shown)
    more = [f"{hidden} sentinels"] if hidden else []
    return ", ".join([*(f"{role} {i}" for role, i in shown.items()), *more]) or "none"


def _unknown(checkup: Checkup) -> str:
    shown = (f"{_visible(c)} {count:,}" for c, count in checkup.unknown_characters)
    return ", ".join(shown) or "none"


def _visible(character: str) -> str:
    plain = character.isprintable() and not character.isspace() and character != "["
    return character if plain else f"U+{ord(character):04X}"
