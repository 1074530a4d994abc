"""The builds that a dataset is made of: one, or after merging and splitting several in part.

Their plans and ledgers stay as they were, so that what was read, and what became of it, can be
recounted from the inputs however often a dataset was joined and cut.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from .books import Books

__all__ = ["ELSEWHERE", "Part", "books_of", "identity_of", "parts_of"]

ELSEWHERE = "in another part"
"""Why documents of a build are not in a dataset that was cut out of it."""


@dataclass(frozen=True)
class Part:
    """Documents ``[first, last)`` of a build, out of ``documents`` of them."""

    first: int
    last: int
    documents: int
    tokens: int
    """In these documents."""
    amounts: Mapping[str, int]
    """What of the input is in the records of these documents, by unit."""
    inputs: int
    """Number of its inputs; those of the parts of a dataset follow one another."""
    fingerprint: str
    identity: Mapping[str, str]
    settings: Mapping[str, Any]
    plan: Mapping[str, Any]
    ledger: Sequence[Mapping[str, Any]]
    books: Mapping[str, Any]
    """Of the whole build."""

    @property
    def is_whole(self) -> bool:
        """Whether all documents of the build are here."""
        return self.last - self.first == self.documents

    def only(self, first: int, last: int, tokens: int, amounts: Mapping[str, int]) -> Part:
        """Documents ``[first, last)`` of the build alone."""
        return replace(self, first=first, last=last, tokens=tokens, amounts=dict(amounts))

    def joined(self, after: Part) -> Part | None:
        """This part and the one that follows it, if they follow one another in one build."""
        if self.last != after.first or self.is_whole or not self._same_build(after):
            return None
        units = {*self.amounts, *after.amounts}
        amounts = {u: self.amounts.get(u, 0) + after.amounts.get(u, 0) for u in units}
        return self.only(self.first, after.last, self.tokens + after.tokens, amounts)

    def books_here(self) -> Books:
        """The books of the build, in which documents that are not here count as dropped."""
        books = Books.from_json(self.books)
        if not self.is_whole:
            here = self.last - self.first
            books.dropped[ELSEWHERE] = books.written - here
            books.written, books.tokens = here, self.tokens
            for unit, amounts in books.amounts.items():
                amounts.dropped[ELSEWHERE] = amounts.written - self.amounts.get(unit, 0)
                amounts.written = self.amounts.get(unit, 0)
        return books

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def _same_build(self, other: Part) -> bool:
        return (self.fingerprint, self.ledger, self.plan) == (
            other.fingerprint,
            other.ledger,
            other.plan,
        )


def parts_of(manifest: Mapping[str, Any]) -> list[Part]:
    """The parts of a dataset, in the order of its documents and of its inputs."""
    if "parts" in manifest:
        return [Part(**part) for part in manifest["parts"]]
    return [
        Part(
            first=0,
            last=manifest["documents"],
            documents=manifest["documents"],
            tokens=manifest["tokens"],
            amounts={u: each["written"] for u, each in manifest["books"]["amounts"].items()},
            inputs=len(manifest["inputs"]),
            **{
                name: manifest[name]
                for name in ("fingerprint", "identity", "settings", "plan", "ledger", "books")
            },
        )
    ]


def books_of(parts: Sequence[Part]) -> Books:
    """The books of a dataset that is made of these parts."""
    total = Books()
    for part in parts:
        total.add(part.books_here())
    total.check()
    return total


def identity_of(parts: Sequence[Part]) -> tuple[dict[str, str], str]:
    """Identity and fingerprint of a dataset that is made of these parts.

    One whole build is that build. Otherwise what the builds have in common is kept.
    """
    if len(parts) == 1 and parts[0].is_whole:
        return dict(parts[0].identity), parts[0].fingerprint
    common = {
        name: value
        for name, value in parts[0].identity.items()
        if name != "inputs" and all(part.identity.get(name) == value for part in parts)
    }
    which = [(part.fingerprint, part.first, part.last) for part in parts]
    common["parts"] = hashlib.sha256(json.dumps(which).encode()).hexdigest()
    return common, hashlib.sha256(json.dumps(common).encode()).hexdigest()
