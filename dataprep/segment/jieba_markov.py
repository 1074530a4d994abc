"""The hidden Markov model by which jieba guesses words, compiled."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from ..tokenizers.compiled import compiled

__all__ = ["guess", "is_alphanumeric"]

Array = npt.NDArray[Any]

B, E, M, S = range(4)


@compiled
def is_alphanumeric(byte: int) -> bool:
    """Whether this is an ASCII letter or digit."""
    return 0x30 <= byte <= 0x39 or 0x41 <= byte <= 0x5A or 0x61 <= byte <= 0x7A


@compiled
def is_digit(byte: int) -> bool:
    """Whether this is an ASCII digit."""
    return 0x30 <= byte <= 0x39


@compiled
def guess(
    data: Array,
    block: Array,
    places: Array,
    first: int,
    stop: int,
    links: Array,
    forced: Array,
    start: Array,
    trans: Array,
    emit: Array,
    back: Array,
    starts: Array,
) -> None:
    """Cut the characters ``first`` to ``stop`` of a block: Chinese by the model, others by kind."""
    at = first
    while at < stop:
        end = at + 1
        if data[places[at]] >= 0x80:
            while end < stop and data[places[end]] >= 0x80:
                end += 1
            decode(block, places, at, end, links, forced, start, trans, emit, back, starts)
        else:
            # Letters and digits, with a fraction and a per cent sign; or what lies between.
            starts[places[at]] = True
            if is_alphanumeric(data[places[at]]):
                while end < stop and is_alphanumeric(data[places[end]]):
                    end += 1
                if (
                    end + 1 < stop
                    and data[places[end]] == ord(".")
                    and is_digit(data[places[end + 1]])
                ):
                    end += 2
                    while end < stop and is_digit(data[places[end]]):
                        end += 1
                if end < stop and data[places[end]] == ord("%"):
                    end += 1
            else:
                while (
                    end < stop
                    and data[places[end]] < 0x80
                    and not is_alphanumeric(data[places[end]])
                ):
                    end += 1
        at = end


@compiled
def decode(
    block: Array,
    places: Array,
    first: int,
    stop: int,
    links: Array,
    forced: Array,
    start: Array,
    trans: Array,
    emit: Array,
    back: Array,
    starts: Array,
) -> None:
    """Viterbi's way through the states of Chinese characters, and the words that it makes.

    ``back`` uint8[_, 4] is room: the best state before each state of each character.
    """
    row = emit[block[first]]
    b = start[B] + row[B]
    e = start[E] + row[E]
    m = start[M] + row[M]
    s = start[S] + row[S]
    for at in range(first + 1, stop):
        row = emit[block[at]]
        # Of two equal ones, the later letter.
        from_e, from_s = e + trans[E, B] + row[B], s + trans[S, B] + row[B]
        back[at, B], new_b = (S, from_s) if from_s >= from_e else (E, from_e)
        from_b, from_m = b + trans[B, E] + row[E], m + trans[M, E] + row[E]
        back[at, E], new_e = (M, from_m) if from_m >= from_b else (B, from_b)
        from_b, from_m = b + trans[B, M] + row[M], m + trans[M, M] + row[M]
        back[at, M], new_m = (M, from_m) if from_m >= from_b else (B, from_b)
        from_e, from_s = e + trans[E, S] + row[S], s + trans[S, S] + row[S]
        back[at, S], new_s = (S, from_s) if from_s >= from_e else (E, from_e)
        b, e, m, s = new_b, new_e, new_m, new_s
    state = S if s >= e else E
    # Backwards: the state of each character takes the place of the way to it.
    for at in range(stop - 1, first - 1, -1):
        before = back[at, state]
        back[at, 0] = state
        state = before
    begin = first
    for at in range(first, stop):
        state = back[at, 0]
        if state == B:
            begin = at
        elif state == E:
            starts[places[begin]] = True
            split_forced(block, places, begin, at + 1, links, forced, starts)
        elif state == S:
            starts[places[at]] = True


@compiled
def split_forced(
    block: Array, places: Array, first: int, stop: int, links: Array, forced: Array, starts: Array
) -> None:
    """Leave the characters of a word alone that the user does not want."""
    node = 0
    for at in range(first, stop):
        child = links[node, 0] + block[at]
        if links[child, 1] != node:
            return
        node = child
    if forced[node]:
        for at in range(first, stop):
            starts[places[at]] = True
