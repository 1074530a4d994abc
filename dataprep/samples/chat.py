"""Prompts and answers: only what a model is to write is predicted.

Supervised fine-tuning, as in Ouyang et al., "Training language models to follow instructions with
human feedback" (2022), section 3.5. Conversations are put together where they fit best, and do not
see one another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from dataprep.errors import DataError, JimuError, UsageError
from dataprep.samples.pack import PackedSamples

if TYPE_CHECKING:
    from dataprep.samples.chat_template import ChatTemplate, Piece
    from dataprep.tokenizers.protocol import Tokenizer

__all__ = ["ChatSamples", "ChatSettings", "Chats", "chats", "open_chats"]

_AT_ONCE = 4096  # conversations
Record = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ChatSettings:
    """What is learnt of a conversation.

    Attributes:
        learn: "all" answers, or the "last" one alone.
        overlong: of what is longer than a sample, "cut" keeps the beginning, "drop" nothing.
        prompt, answer: the keys of a record that has no ``messages``.
    """

    learn: Literal["all", "last"] = "all"
    overlong: Literal["cut", "drop"] = "cut"
    prompt: str = "prompt"
    answer: str = "answer"

    def __post_init__(self) -> None:
        for name, value, known in (
            ("learn", self.learn, ("all", "last")),
            ("overlong", self.overlong, ("cut", "drop")),
        ):
            if value not in known:
                raise UsageError(f"{name} is {value!r}; known: {', '.join(known)}.")


class Chats(NamedTuple):
    """Conversations as tokens: ``i`` is ``tokens[offsets[i]:offsets[i + 1]]``.

    ``tokens`` uint32, ``offsets`` int64[n + 1], ``learnt`` bool[n_tokens].
    """

    tokens: npt.NDArray[np.uint32]
    offsets: npt.NDArray[np.int64]
    learnt: npt.NDArray[np.bool_]


class _Offsets:
    """Borders in memory."""

    def __init__(self, offsets: npt.NDArray[np.int64]) -> None:
        self._offsets = offsets

    def __len__(self) -> int:
        return len(self._offsets)

    def range(self, first: int, last: int) -> npt.NDArray[np.int64]:
        return self._offsets[first:last]


class ChatSamples(PackedSamples):
    """Samples of ``seq_len`` inputs made of whole conversations; see PackedSamples.

    Attributes:
        kept, cut, dropped: how many conversations were used, how many of these were cut, and how
            many left out, since they were too long or have nothing that is learnt.
    """

    def __init__(
        self, chats: Chats, *, seq_len: int, seed: int | None, pad: int, overlong: str
    ) -> None:
        lengths = np.diff(chats.offsets)
        number = np.repeat(np.arange(len(lengths)), lengths)
        within = np.arange(len(number)) - chats.offsets[number]
        long = lengths > seq_len + 1
        inside = within <= seq_len
        # The first token is never predicted.
        used = np.zeros(len(lengths), bool)
        used[number[chats.learnt & inside & (within > 0)]] = True
        if overlong == "drop":
            used &= ~long
        keep = inside & used[number]
        self.kept, self.cut = int(used.sum()), int((used & long).sum())
        self.dropped = len(lengths) - self.kept
        offsets = np.concatenate(([0], np.cumsum(np.minimum(lengths, seq_len + 1)[used])))
        super().__init__(
            chats.tokens[keep],
            _Offsets(offsets),
            seq_len=seq_len,
            seed=seed,
            pad=pad,
            learnt=np.packbits(chats.learnt[keep], bitorder="little"),
        )


def chats(
    records: Iterable[Record],
    tokenizer: Tokenizer,
    template: ChatTemplate | None = None,
    settings: ChatSettings | None = None,
) -> Chats:
    """Conversations to tokens.

    A record has ``messages`` (and what else its template reads: ``tools``, …), which need a
    template; or a prompt and an answer, which are put one after the other, with the end-of-document
    token behind. Pieces are encoded one by one, as at inference, where the prompt is all there is.

    Special tokens that the template writes are such. In a message they would be as well, and end
    the user's turn, say: DataError is raised for one, as for a record that is something else.
    """
    settings = settings or ChatSettings()
    # The longest first, where one begins with another; none is a pattern that fits nowhere.
    written = sorted(filter(None, tokenizer.special_tokens), key=len, reverse=True)
    special = re.compile(f"({'|'.join(map(re.escape, written)) or '(?!)'})")
    found: list[Chats] = []
    numbered = enumerate(records, 1)
    while some := list(islice(numbered, _AT_ONCE)):
        pieces: list[tuple[str, bool]] = []
        counts = np.empty(len(some), np.int64)
        for i, (number, record) in enumerate(some):
            try:
                split = _pieces(record, template, settings)
                if template is not None:
                    _check(record, special)
            except JimuError as error:
                raise DataError(f"Record {number}: {error}", error.hint) from error
            pieces += split
            counts[i] = len(split)
        if template is None:
            ids, borders = tokenizer.encode_batch([text for text, _ in pieces])
        else:
            ids, borders = _encode_special([text for text, _ in pieces], tokenizer, special)
        learnt = np.repeat(np.array([flag for _, flag in pieces], bool), np.diff(borders))
        offsets = borders[np.concatenate(([0], np.cumsum(counts)))]
        if template is None:
            ends = offsets[1:]
            ids, learnt = np.insert(ids, ends, _eod(tokenizer)), np.insert(learnt, ends, True)
            offsets = offsets + np.arange(len(offsets))
        found.append(Chats(ids, offsets, learnt))
    if not found:
        raise DataError("There are no conversations.")
    firsts = np.cumsum([0, *(part.offsets[-1] for part in found[:-1])])
    return Chats(
        np.concatenate([part.tokens for part in found]),
        np.concatenate(
            [[0], *(part.offsets[1:] + first for part, first in zip(found, firsts, strict=True))]
        ).astype(np.int64),
        np.concatenate([part.learnt for part in found]),
    )


def open_chats(
    records: str | Path | Iterable[Record],
    *,
    tokenizer: Tokenizer,
    seq_len: int,
    template: ChatTemplate | None = None,
    seed: int | None = None,
    **settings: Any,
) -> ChatSamples:
    """Samples of conversations: records, or a file of them, one JSON object a line.

    ``settings`` are those of ChatSettings. All conversations are kept in memory, 5 bytes a token.
    """
    known = ChatSettings.__dataclass_fields__
    if unknown := sorted(set(settings) - set(known)):
        raise UsageError(
            f"Conversations have no setting {unknown[0]!r}; known: {', '.join(known)}."
        )
    chosen = ChatSettings(**settings)
    if isinstance(records, str | Path):
        records = _read(Path(records))
    encoded = chats(records, tokenizer, template, chosen)
    pad = tokenizer.specials.get("pad", tokenizer.eod_id or 0)
    return ChatSamples(encoded, seq_len=seq_len, seed=seed, pad=pad, overlong=chosen.overlong)


def _read(path: Path) -> Iterator[Record]:
    decoder = msgspec.json.Decoder(dict[str, Any])
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    try:
                        yield decoder.decode(line)
                    except (msgspec.DecodeError, UnicodeDecodeError) as error:
                        raise DataError(
                            f"{path}, line {number}, is no JSON object: {error}."
                        ) from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error


def _pieces(record: Record, template: ChatTemplate | None, settings: ChatSettings) -> list[Piece]:
    if "messages" in record:
        if template is None:
            raise UsageError(
                "Messages need a chat template.", "Give template=load_template(FOLDER)."
            )
        messages = record["messages"]
        if not isinstance(messages, list) or not all(isinstance(m, Mapping) for m in messages):
            raise DataError("messages are a list of objects, each with role and content")
        more = {name: value for name, value in record.items() if name != "messages"}
        return template.pieces(messages, last_only=settings.learn == "last", **more)
    prompt, answer = record.get(settings.prompt), record.get(settings.answer)
    if not isinstance(prompt, str) or not isinstance(answer, str):
        raise DataError(
            f"it has neither messages nor texts under {settings.prompt!r} and {settings.answer!r}; "
            f"its keys: {', '.join(sorted(record)) or 'none'}"
        )
    if template is not None:
        turns = (("user", prompt), ("assistant", answer))
        return template.pieces([{"role": role, "content": text} for role, text in turns])
    return [(prompt, False), (answer, True)]


def _encode_special(
    texts: Sequence[str], tokenizer: Tokenizer, special: re.Pattern[str]
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """Ids and borders of texts in which special tokens are such; what is between, all at once."""
    parts = [special.split(text) for text in texts]  # every second part is a special token
    plain, borders = tokenizer.encode_batch([part for split in parts for part in split[::2]])
    counts = np.array([len(split) for split in parts], np.int64)
    firsts = np.cumsum(counts) - counts
    is_special = (np.arange(counts.sum()) - np.repeat(firsts, counts)) % 2 == 1
    lengths = np.ones(len(is_special), np.int64)
    lengths[~is_special] = np.diff(borders)
    ends = np.cumsum(lengths)
    ids = np.empty(ends[-1] if len(ends) else 0, np.uint32)
    here = np.zeros(len(ids), bool)
    here[ends[is_special] - 1] = True
    known = tokenizer.special_tokens
    ids[here] = [known[part] for split in parts for part in split[1::2]]
    ids[~here] = plain
    return ids, np.concatenate(([0], ends[firsts + counts - 1]))


def _check(value: Any, special: re.Pattern[str]) -> None:
    """DataError where a special token is written anywhere in a record."""
    for text in _texts(value):
        if found := special.search(text):
            raise DataError(
                f"the special token {found[0]} is written in a message",
                "Take it out of the conversations: it would be read as the template's own.",
            )


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


def _eod(tokenizer: Tokenizer) -> int:
    if tokenizer.eod_id is None:
        raise UsageError(
            f"The tokenizer {tokenizer.name} has no end-of-document token to end answers with."
        )
    return tokenizer.eod_id
