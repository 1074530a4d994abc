"""Cutting the inputs into shards, before anything starts and without regard to who will work."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .convert import identity_of
from .inputs import Input
from .manifest import COLUMNS, is_sealed, sealed
from .readers import FORMATS, DamagedError, codec_of
from .settings import Convert, DocPer, SpecialInText

__all__ = ["PLAN_VERSION", "Piece", "Plan", "make_plan"]

PLAN_VERSION = 1
"""Raised whenever the same inputs and settings would give other bytes than before."""

MIN_SHARD, MAX_SHARD = 2 << 20, 64 << 20
"""Below, waiting for the disk outweighs the work; above, little is gained and more lost in a crash.
"""
_SHARDS = 256  # wanted between those bounds: they keep many workers evenly busy to the end


@dataclass(frozen=True)
class Piece:
    """A file, or bytes ``[start, end)`` of a plain one."""

    input: int
    start: int
    end: int | None

    def size(self, inputs: Sequence[Input]) -> int:
        """Bytes on disk."""
        return (inputs[self.input].size if self.end is None else self.end) - self.start


@dataclass(frozen=True)
class Plan:
    """All that decides the output, and how the work is divided.

    ``identity`` maps each thing that decides the bytes of the dataset to its value; two plans with
    equal identities give equal bytes.
    """

    identity: Mapping[str, str]
    inputs: tuple[Input, ...]
    shards: tuple[tuple[Piece, ...], ...]
    doc_per: DocPer | None
    text_key: str
    keep_rejects: bool
    special_in_text: SpecialInText = "text"
    convert: Convert = "none"
    columns: tuple[str, ...] = ()
    """Kinds of bits that are kept of each token: ``words``, ``sentences``, in this order."""

    @property
    def fingerprint(self) -> str:
        """Hex sha256 of the identity."""
        return hashlib.sha256(json.dumps(dict(self.identity)).encode()).hexdigest()

    @property
    def total_bytes(self) -> int:
        """Bytes of all inputs on disk."""
        return sum(entry.size for entry in self.inputs)

    def shard_bytes(self, shard: int) -> int:
        """Bytes of one shard on disk."""
        return sum(piece.size(self.inputs) for piece in self.shards[shard])

    def shard_name(self, shard: int) -> str:
        """What a shard reads, for messages."""
        pieces = self.shards[shard]
        names = [self.inputs[piece.input].path for piece in pieces[:3]]
        more = f" and {len(pieces) - 3:,} more" if len(pieces) > 3 else ""
        return f"shard {shard} ({', '.join(names)}{more})"

    def differences(self, before: Plan) -> list[str]:
        """What decides other bytes than in an earlier plan, for people."""
        found = [
            f"{name} was {before.identity.get(name)}, is {value}"
            for name, value in self.identity.items()
            if name != "inputs" and before.identity.get(name) != value
        ]
        old, new = (Counter(map(Input.key, plan.inputs)) for plan in (before, self))
        came, went = ({name for name, *_ in keys} for keys in (new - old, old - new))
        for what, names in (
            ("new", came - went),
            ("missing", went - came),
            ("changed", came & went),
        ):
            if names:
                first = ", ".join(sorted(names)[:3])
                found.append(f"{len(names):,} input(s) {what} ({first})")
        if not found and self.identity != before.identity:
            found.append("the inputs come in another order")
        return found

    def to_json(self) -> bytes:
        """One line, for the work folder."""
        return json.dumps(sealed(dataclasses.asdict(self))).encode()

    @classmethod
    def from_json(cls, data: bytes) -> Plan:
        """The reverse of to_json; ValueError for anything else."""
        values: dict[str, Any] = json.loads(data)
        if not is_sealed(values):
            raise ValueError("not a plan, or changed")
        del values["sha256"]
        values["columns"] = tuple(values["columns"])
        values["inputs"] = tuple(Input(**entry) for entry in values["inputs"])
        values["shards"] = tuple(
            tuple(Piece(**piece) for piece in shard) for shard in values["shards"]
        )
        return cls(**values)


def make_plan(
    inputs: Sequence[Input],
    *,
    tokenizer: str,
    doc_per: DocPer | None,
    text_key: str,
    keep_rejects: bool,
    special_in_text: SpecialInText = "text",
    add_bos: bool = False,
    append_eod: bool = True,
    convert: Convert = "none",
    columns: Mapping[str, str] | None = None,
) -> Plan:
    """Cut the inputs into shards of about equal bytes.

    ``tokenizer`` stands for all that decides ids, and each value of ``columns`` for all that
    decides the bits of that kind. Files are known by size and time of change, not by a hash:
    hashing would read the whole corpus before the first token, and again after every interruption.
    Their hashes are taken while they are read, and kept in the manifest.
    """
    columns = columns or {}
    names = "\n".join("\0".join(map(str, entry.key())) for entry in inputs)
    identity = {
        "plan version": str(PLAN_VERSION),
        "inputs": hashlib.sha256(names.encode("utf-8", "surrogateescape")).hexdigest(),
        "tokenizer": tokenizer,
        "doc_per": str(doc_per),
        "text_key": text_key,
        "keep_rejects": str(keep_rejects),
        "special_in_text": special_in_text,
        "add_bos": str(add_bos),
        "append_eod": str(append_eod),
        "convert": identity_of(convert),
        **{kind: columns.get(kind, "none") for kind in COLUMNS},
    }
    total = sum(entry.size for entry in inputs)
    target = min(max(total // _SHARDS, MIN_SHARD), MAX_SHARD)
    pieces = [
        piece
        for number, entry in enumerate(inputs)
        for piece in _cut(number, entry, target, doc_per)
    ]
    return Plan(
        identity,
        tuple(inputs),
        _group(pieces, inputs, target),
        doc_per,
        text_key,
        keep_rejects,
        special_in_text,
        convert,
        tuple(columns),
    )


def _cut(number: int, entry: Input, target: int, doc_per: DocPer | None) -> list[Piece]:
    """The pieces of one file: one, unless it is large and can be cut between records."""
    path = Path(entry.path)
    boundary = FORMATS[entry.format].reader(doc_per).boundary
    if entry.size < 2 * target or boundary is None or not _is_plain(path):
        return [Piece(number, 0, None)]
    count = entry.size // target
    ends = {boundary.first_after(path, entry.size * part // count) for part in range(1, count)}
    cuts = [0, *sorted(ends - {entry.size}), entry.size]
    return [Piece(number, start, end) for start, end in itertools.pairwise(cuts)]


def _is_plain(path: Path) -> bool:
    try:
        return codec_of(path) is None
    except (DamagedError, OSError):
        return False  # whoever reads the file will say what is wrong with it


def _group(
    pieces: Sequence[Piece], inputs: Sequence[Input], target: int
) -> tuple[tuple[Piece, ...], ...]:
    """Runs of neighbouring pieces of about ``target`` bytes together."""
    shards: list[list[Piece]] = []
    room = 0
    for piece in pieces:
        size = piece.size(inputs)
        if not shards or room < size / 2:
            shards.append([])
            room = target
        shards[-1].append(piece)
        room -= size
    return tuple(map(tuple, shards))
