"""Objectives as one would write them for one sample, in plain Python, without a thought of speed.

They draw the same numbers in the same order as the compiled ones, so that results can be compared
bit by bit.
"""

from __future__ import annotations

from collections.abc import Sequence

IGNORED = -100
MASK_64 = 2**64 - 1


def mix(x: int) -> int:
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK_64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK_64
    return x ^ (x >> 31)


class Draws:
    """The numbers of one key, one after another."""

    def __init__(self, key: int) -> None:
        self.state = int(key)

    def number(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK_64
        return mix(self.state)

    def below(self, limit: int) -> int:
        return (self.number() >> 32) * limit >> 32

    def unit(self) -> float:
        return (self.number() >> 11) * 2.0**-53

    def subset(self, count: int, total: int) -> list[int]:
        chosen: list[int] = []
        for i in range(total):
            if len(chosen) == count:
                break
            if self.below(total - i) < count - len(chosen):
                chosen.append(i)
        return chosen


def words_of(tokens: Sequence[int], starts: Sequence[bool], special: set[int]) -> list[list[int]]:
    """Places of the tokens of each whole word."""
    words: list[list[int]] = []
    word: list[int] = []
    for place, token in enumerate(tokens):
        if starts[place] and word:
            words.append(word)
        if token in special:
            word = []
        elif starts[place]:
            word = [place]
        elif word:
            word = [*word, place]
    return [*words, word] if word else words


def masked(tokens, starts, special, key, *, rate, most, cumulative, shares, per, mask_id, ordinary):
    """``(tokens, labels)`` of one row."""
    draws = Draws(key)
    tokens, labels = list(tokens), [IGNORED] * len(tokens)
    words = words_of(tokens, starts, special)
    left = min(most, max(1, int(rate * sum(t not in special for t in tokens) + 0.5)))
    order, taken = list(range(len(words))), set()
    for turn in range(len(words)):
        if left == 0:
            break
        other = turn + draws.below(len(words) - turn)
        order[turn], order[other] = order[other], order[turn]
        word = order[turn]
        if word in taken:
            continue
        wanted = 1
        if len(cumulative) > 1:
            u = draws.unit()
            wanted = 1 + sum(u >= c for c in cumulative[:-1])
        span: list[int] = []
        for w in range(word, min(word + wanted, len(words))):
            follows = not span or words[w][0] == words[w - 1][-1] + 1
            if w in taken or not follows or len(words[w]) > left:
                break
            span.append(w)
            taken.add(w)
            left -= len(words[w])
        fate = ""
        for w in span:
            for place in words[w]:
                new_word = place == words[w][0]
                new_span = place == words[span[0]][0]
                if per == "token" or (per == "word" and new_word) or (per == "span" and new_span):
                    u = draws.unit()
                    fate = "mask" if u < shares[0] else "random" if u < sum(shares[:2]) else "keep"
                labels[place] = tokens[place]
                if fate == "mask":
                    tokens[place] = mask_id
                elif fate == "random":
                    tokens[place] = ordinary[draws.below(len(ordinary))]
    return tokens, labels


def corrupted(tokens, key, noise, spans, sentinels, prefix, eos):
    """``(encoder, labels)`` of one row."""
    draws = Draws(key)

    def parts(total: int) -> list[int]:
        cuts = [c + 1 for c in draws.subset(spans - 1, total - 1)]
        return [b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)]

    kept, cut = parts(len(tokens) - noise), parts(noise)
    encoder, labels, rest = ([prefix] if prefix >= 0 else []), [], list(tokens)
    for k, c, sentinel in zip(kept, cut, sentinels, strict=False):
        encoder += [*rest[:k], sentinel]
        labels += [sentinel, *rest[k : k + c]]
        rest = rest[k + c :]
    return [*encoder, eos], [*labels, eos]


def blanked(tokens, key, *, long_share, long_least, budget, most, cumulative, ids):
    """``(tokens, labels, positions, context)`` of one row; ``ids``: mask, long, start, end."""
    draws = Draws(key)
    n = len(tokens)
    mask, long_mask, start, end = ids
    if draws.unit() < long_share:
        lengths = [long_least + draws.below(n - long_least)]
        slots, mask = [n - lengths[0]], long_mask
    else:
        lengths = []
        while sum(lengths) < budget and len(lengths) < most:
            u = draws.unit()
            lengths.append(min(1 + sum(u >= c for c in cumulative[:-1]), budget - sum(lengths)))
        for i in reversed(range(1, len(lengths))):
            j = draws.below(i + 1)
            lengths[i], lengths[j] = lengths[j], lengths[i]
        slots = draws.subset(len(lengths), n - sum(lengths) + 1)
    out, labels, spans, at = [], [], [], 0
    for slot, length in zip(slots, lengths, strict=True):
        kept = slot - (len(out) - len(spans))
        out += tokens[at : at + kept]
        at += kept
        spans.append((tokens[at : at + length], len(out)))
        out.append(mask)
        at += length
    out += tokens[at:]
    context = len(out)
    labels = [IGNORED] * context
    positions = [(i, 0) for i in range(context)]
    for turn in range(len(spans)):
        other = turn + draws.below(len(spans) - turn)
        spans[turn], spans[other] = spans[other], spans[turn]
        span, place = spans[turn]
        out += [start, *span]
        labels += [*span, end]
        positions += [(place, i + 1) for i in range(len(span) + 1)]
    return out, labels, positions, context


def filled(tokens, begins, key, *, rate, spm, eod, ids):
    """One row with the middles of its documents moved; ``ids``: prefix, middle, suffix."""
    draws = Draws(key)
    pre, mid, suf = ids
    width, out, low = len(tokens), [], 0
    while len(out) < width:
        high = next((i for i in range(low + 1, width) if begins[i]), width)
        moves, swapped = draws.unit() < rate, draws.unit() < spm
        text = list(tokens[low:high])
        tail = [text.pop()] if text[-1] == eod else []
        moves = moves and len(text) > 0 and width - len(out) > 3
        room = width - len(out) - 3 * moves
        if len(text) > room:
            text, tail = text[:room], []
        if moves:
            one, two = sorted(draws.below(len(text) + 1) for _ in range(2))
            first, middle, last = text[:one], text[one:two], text[two:]
            if swapped:
                text = [pre, suf, *last, mid, *first, *middle]
            else:
                text = [pre, *first, suf, *last, mid, *middle]
        out += [*text, *tail]
        low = high
    return out[:width]


class Window:
    """What a pair is taken from: one row of each of Rows' arrays."""

    def __init__(self, tokens, starts, sentences, begins, document) -> None:
        self.tokens, self.starts, self.sentences = tokens, starts, sentences
        self.begins = begins
        self.documents = [document + sum(begins[1 : i + 1]) for i in range(len(tokens))]

    def piece(self, point: int, special: set[int]) -> tuple[int, int]:
        """The text of the document around ``point``, from the start of a sentence."""
        low = max((i for i in range(point + 1) if self.begins[i]), default=0)
        high = next((i for i in range(point + 1, len(self.tokens)) if self.begins[i]), None)
        high = len(self.tokens) if high is None else high
        text = [i for i in range(low, high) if self.tokens[i] not in special]
        if not text:
            return low, low
        whole = bool(self.begins[low]) or text[0] > low
        low, high = text[0], text[-1] + 1
        for bits in () if whole else (self.sentences, self.starts):
            first = next((i for i in range(low, high) if bits[i]), high)
            if first < low + (high - low + 1) // 2:
                return first, high
        return low, high


def paired(row: Window, partner: Window, key, *, short, swaps, special, cls, sep):
    """``(tokens, types, pair label)`` before masking and padding."""
    numbers = [Draws((int(key) + n * 0x9E3779B97F4A7C15) & MASK_64) for n in range(6)]
    width = len(row.tokens)
    target = 2 + numbers[1].below(width - 1) if numbers[0].unit() < short else width
    low, high = row.piece(numbers[2].below(width), special)
    if high - low < 2:
        firsts = [0, *(i for i in range(1, width) if row.begins[i])]
        low, high = max((row.piece(i, special) for i in firsts), key=lambda p: p[1] - p[0])
        if high == low:
            low, high = 0, 0
    high = min(high, low + target)
    cuts = [i for i in range(low + 1, high) if row.sentences[i]]
    cuts = cuts or [i for i in range(low + 1, high) if row.starts[i]]
    other = numbers[4].unit() < 0.5
    if not cuts:
        a = row.tokens[low:high]
        return [cls, *a, sep], [0] * (len(a) + 2), IGNORED
    middle = cuts[numbers[3].below(len(cuts))]
    a, b, label = row.tokens[low:middle], row.tokens[middle:high], 0
    if other and swaps:
        a, b, label = b, a, 1
    elif other:
        low_2, high_2 = partner.piece(numbers[5].below(width), special)
        if high_2 > low_2 and partner.documents[low_2] != row.documents[low]:
            b, label = partner.tokens[low_2 : min(high_2, low_2 + target - len(a))], 1
    return [cls, *a, sep, *b, sep], [0] * (len(a) + 2) + [1] * (len(b) + 1), label
