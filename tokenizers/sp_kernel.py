"""SentencePiece compiled: normalisation, merging by score, and the best path of a unigram model.

Each does what sentencepiece's own loops do, in the order of their additions and comparisons. All
are in one file, since numba does not see a change in another file that it has compiled in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dataprep.tokenizers.compiled import compiled, inlined

if TYPE_CHECKING:
    from dataprep.tokenizers.sp_tables import Cache, Pairs, Pieces, Rules, Trie

__all__ = [
    "JOINTS",
    "KEY_TOKENS",
    "encode_bpe",
    "encode_unigram",
    "filled",
    "grow",
    "joints",
    "normalize",
    "spell",
    "splits",
]

Array = npt.NDArray[Any]
Whole = Any
"""An int where Python runs it, a NumPy integer where the types are asked."""

JOINTS = (1 << 21) - 1
"""Mask of the table of joints: one less than its size."""
KEY_BYTES, KEY_TOKENS = 23, 7
"""What a slot of the cache has room for: bytes of the text, and tokens."""

_ROOT = 1 << 30
_REBASE = np.float32(-100_000)
"""A sum below this is taken off all, as sentencepiece does: float32 loses digits far from 0."""


@inlined
def _mixed(high: Whole, low: Whole) -> Whole:
    mixed = (np.int64(high) * 0x2545F4914F6CDD1D ^ np.int64(low)) * 0x1E3779B97F4A7C15
    return mixed ^ (mixed >> 31)


@inlined
def _place(high: Whole, low: Whole, mask: int) -> Whole:
    """Where a table is first looked into for the key high << 32 | low."""
    return _mixed(high, low) & mask


@compiled
def filled(keys: Array, values: Array, slots: int) -> tuple[Array, Array]:
    """A table with open addressing, of ``slots`` places, a power of 2: keys int64, values int32."""
    all_keys = np.full(slots, -1, np.int64)
    all_values = np.zeros(slots, np.int32)
    for i in range(len(keys)):
        place = _place(keys[i] >> 32, keys[i] & 0xFFFFFFFF, slots - 1)
        while all_keys[place] >= 0:
            place = (place + 1) & (slots - 1)
        all_keys[place] = keys[i]
        all_values[place] = values[i]
    return all_keys, all_values


@compiled
def grow(letters: Array, bounds: Array, values: Array, slots: int, alphabet: int) -> Any:
    """``roots`` and ``nodes`` of a Trie of the texts ``letters[bounds[i]:bounds[i + 1]]``, and how
    many nodes it has.
    """
    roots = np.full(alphabet, -1, np.int32)
    nodes = np.full((slots, 2), -1, np.int64)
    count = 0
    for i in range(len(values)):
        node = 0
        for at in range(bounds[i], bounds[i + 1]):
            # A first letter has no node above it.
            key = np.int64(node if at > bounds[i] else _ROOT) << 32 | letters[at]
            node = _place(key >> 32, letters[at], slots - 1)
            while nodes[node, 0] != key and nodes[node, 0] >= 0:
                node = (node + 1) & (slots - 1)
            if nodes[node, 0] < 0:
                nodes[node, 0] = key
                count += 1
                if at == bounds[i]:
                    roots[letters[at]] = node
        nodes[node, 1] = values[i]
    return roots, nodes, count


@inlined
def _child(nodes: Array, node: int, letter: int) -> Whole:
    mask = len(nodes) - 1
    key = np.int64(node) << 32 | letter
    place = _place(node, letter, mask)
    while nodes[place, 0] != key:
        if nodes[place, 0] < 0:
            return -1
        place = (place + 1) & mask
    return place


@compiled
def splits(letters: Array, bounds: Array, symbols: Array, trie: Trie, alone: Array) -> Any:
    """Every way to cut a text into two symbols: ``keys`` left << 32 | right, and the text's symbol.

    A symbol is a text of ``trie`` or, by ``alone``, a letter.
    """
    keys = np.zeros(len(letters), np.int64)
    values = np.zeros(len(letters), np.int32)
    n = 0
    for i in range(len(symbols)):
        first = bounds[i]
        last = bounds[i + 1]
        for cut in range(first + 1, last):
            left = _symbol(trie, alone, letters, first, cut)
            if left < 0:
                continue
            right = _symbol(trie, alone, letters, cut, last)
            if right >= 0:
                keys[n] = np.int64(left) << 32 | right
                values[n] = symbols[i]
                n += 1
    return keys[:n].copy(), values[:n].copy()


@compiled
def joints(letters: Array, bounds: Array) -> Array:
    """uint8: a bit for the ``_place`` of each two letters that are neighbours in a text.

    Others may share a place, and are then not cut apart, which costs time only.
    """
    found = np.zeros((JOINTS + 1) >> 3, np.uint8)
    for i in range(len(bounds) - 1):
        for at in range(bounds[i] + 1, bounds[i + 1]):
            joint = _place(letters[at - 1], letters[at], JOINTS)
            found[joint >> 3] |= 1 << (joint & 7)
    return found


@inlined
def _symbol(trie: Trie, alone: Array, letters: Array, first: int, last: int) -> Whole:
    if last == first + 1:
        return alone[letters[first]]
    node = trie.roots[letters[first]]
    for at in range(first + 1, last):
        if node < 0:
            return -1
        node = _child(trie.nodes, node, letters[at])
    return trie.nodes[node, 1] if node >= 0 else -1


@inlined
def _longest(trie: Trie, letters: Array, i: int, count: int) -> tuple[int, int]:
    """Length and value of the longest entry of the trie that stands at ``i``."""
    length = 0
    value = -1
    node = trie.roots[letters[i]]
    at = i
    while node >= 0:
        at += 1
        if trie.nodes[node, 1] >= 0:
            length = at - i
            value = trie.nodes[node, 1]
        if at == count:
            break
        node = _child(trie.nodes, node, letters[at])
    return length, value


@inlined
def _read(data: Array, first: int, stop: int, table: Array, letters: Array, places: Array) -> int:
    """The letters of valid UTF-8 and where they start and, last, end; how many there are."""
    n = 0
    here = first
    while here < stop:
        places[n] = here
        byte = data[here]
        if byte < 0x80:
            point = int(byte)
            here += 1
        elif byte < 0xE0:
            point = (byte & 0x1F) << 6 | (data[here + 1] & 0x3F)
            here += 2
        elif byte < 0xF0:
            point = (byte & 0x0F) << 12 | (data[here + 1] & 0x3F) << 6 | (data[here + 2] & 0x3F)
            here += 3
        else:
            point = (
                (byte & 0x07) << 18
                | (data[here + 1] & 0x3F) << 12
                | (data[here + 2] & 0x3F) << 6
                | (data[here + 3] & 0x3F)
            )
            here += 4
        letters[n] = table[point]
        n += 1
    places[n] = here
    return n


@inlined
def _rule(rules: Rules, data: Array, here: int, stop: int) -> tuple[int, int]:
    """The longest rule that fits: the bytes it takes, and where what they become stands.

    The rules are a double-array trie as Darts-clone lays it out.
    """
    length = 0
    value = 0
    units = rules.units
    if len(units) == 0:
        return length, value
    unit = np.int64(units[0])
    node = (unit >> 10) << ((unit & 512) >> 6)
    for at in range(here, stop):
        byte = np.int64(data[at])
        if byte == 0:
            break
        node ^= byte
        if node >= len(units):
            break
        unit = np.int64(units[node])
        if unit & 0x800000FF != byte:
            break
        node ^= (unit >> 10) << ((unit & 512) >> 6)
        if unit & 256:
            length = at + 1 - here
            value = int(units[node]) & 0x7FFFFFFF
    return length, value


@compiled
def normalize(
    data: Array,
    offsets: Array,
    rules: Rules,
    own: Trie,
    table: Array,
    out: Array,
    ends: Array,
    origins: Array,
    finals: Array,
) -> bool:
    """Fill ``out`` with the normalised documents and ``ends`` with their offsets.

    ``own`` has the pieces that no rule touches, ``table`` the letters of its alphabet. ``origins``
    gets the byte of the document that each byte comes from, ``finals`` that behind the last one;
    both are empty when they are not wanted. False when ``out`` is too small.
    """
    strips = rules.flags[0]
    prefixed = rules.flags[1]
    escapes = rules.flags[2]
    suffixed = rules.flags[3]
    any_own = rules.flags[4]
    traced = len(origins) > 0
    longest = _longest_of(offsets) if any_own else 0
    letters = np.empty(longest, np.int32)
    places = np.empty(longest + 1, np.int64)
    own_roots = own.roots
    plain = np.zeros(256, np.bool_)
    has_rules = len(rules.units) > 0
    for byte in range(256):
        plain[byte] = byte != 32 and not any_own and not has_rules
        if byte < 0x80 and byte != 32:
            plain[byte] = not (any_own and own_roots[table[byte]] >= 0) and _is_plain(
                rules.units, byte
            )
    n = 0
    ends[0] = 0
    for document in range(len(offsets) - 1):
        first = offsets[document]
        stop = offsets[document + 1]
        here = first
        begun = n
        count = 0
        letter = 0
        if any_own:
            count = _read(data, first, stop, table, letters, places)
        leading = strips
        started = False
        after_space = strips
        while here < stop:
            if (
                started
                and plain[data[here]]
                and (not has_rules or here + 1 == stop or data[here + 1] < 0x80)
            ):
                if n + 6 > len(out):
                    return False
                out[n] = data[here]
                if traced:
                    origins[n] = here - first
                n += 1
                here += 1
                after_space = False
                continue
            # What stands here and the bytes it takes: source[at:end], taken.
            source = data
            at = here
            taken = 0
            if any_own:
                while places[letter] < here:
                    letter += 1
                if own_roots[letters[letter]] >= 0:
                    length, _ = _longest(own, letters, letter, count)
                    taken = places[letter + length] - here
            if taken == 0:
                taken, value = _rule(rules, data, here, stop)
                if taken:
                    source = rules.texts
                    at = value
                    end = value
                    while source[end] != 0:
                        end += 1
                else:
                    byte = data[here]
                    taken = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
                    end = here + taken
            else:
                end = here + taken
            if leading:
                if end - at == 1 and source[at] == 32:
                    here += taken
                    continue
                leading = False
            if n + 3 * (end - at) + 6 > len(out):
                return False
            origin = here - first
            if not started:
                started = True
                if prefixed and not suffixed:
                    n = _space(out, origins, n, origin, escapes, traced)
            while after_space and at < end and source[at] == 32:
                at += 1
            if at < end:
                after_space = source[end - 1] == 32
                while at < end:
                    if escapes and source[at] == 32:
                        n = _space(out, origins, n, origin, escapes, traced)
                    else:
                        out[n] = source[at]
                        if traced:
                            origins[n] = origin
                        n += 1
                    at += 1
            here += taken
            if not strips:
                after_space = False
        final = here - first
        if started:
            if strips:
                while True:
                    if escapes and n - begun >= 3:
                        if out[n - 3] != 0xE2 or out[n - 2] != 0x96 or out[n - 1] != 0x81:
                            break
                        n -= 3
                    elif not escapes and n > begun and out[n - 1] == 32:
                        n -= 1
                    else:
                        break
                    if traced:
                        final = origins[n]
            if suffixed and prefixed:
                n = _space(out, origins, n, final, escapes, traced)
        if traced:
            finals[document] = final
        ends[document + 1] = n
    return True


@inlined
def _is_plain(units: Array, byte: int) -> bool:
    """Whether no rule begins with this ASCII byte and another one, or is this byte alone."""
    if len(units) == 0:
        return True
    unit = np.int64(units[0])
    node = (unit >> 10) << ((unit & 512) >> 6) ^ byte
    if byte == 0 or node >= len(units):
        return True
    unit = np.int64(units[node])
    if unit & 0x800000FF != byte:
        return True
    if unit & 256:
        return False
    node ^= (unit >> 10) << ((unit & 512) >> 6)
    for after in range(1, 128):
        if node ^ after < len(units) and np.int64(units[node ^ after]) & 0x800000FF == after:
            return False
    return True


@inlined
def _space(out: Array, origins: Array, n: int, origin: int, escapes: bool, traced: bool) -> int:
    size = 3 if escapes else 1
    if escapes:
        out[n] = 0xE2
        out[n + 1] = 0x96
        out[n + 2] = 0x81
    else:
        out[n] = 32
    if traced:
        for i in range(n, n + size):
            origins[i] = origin
    return n + size


@compiled
def encode_bpe(
    data: Array,
    offsets: Array,
    pieces: Pieces,
    pairs: Pairs,
    cache: Cache,
    tokens: Array,
    stops: Array,
    ends: Array,
) -> None:
    """Tokens of normalised documents, where each stops in its document, and their offsets.

    The text is cut where no piece spans two neighbours. What is between two cuts is merged on its
    own, or has been before.
    """
    longest = _longest_of(offsets)
    letters = np.empty(longest, np.int32)
    places = np.empty(longest + 1, np.int64)
    work = np.empty((4, longest), np.int32)
    heap = np.empty(3 * longest, np.int64)
    table = pieces.letters
    own = pieces.own
    own_roots = own.roots
    unknown = pieces.facts[0]
    any_own = pieces.facts[1]
    joints = pairs.joints
    alone = pairs.alone
    size = len(pairs.ranks)
    known_keys = cache.keys
    known = cache.tokens
    n = 0
    ends[0] = 0
    for document in range(len(offsets) - 1):
        count = _read(data, offsets[document], offsets[document + 1], table, letters, places)
        base = offsets[document]
        cut = 0
        i = 0
        while i <= count:
            length = 0
            piece = -1
            if i < count:
                if any_own and own_roots[letters[i]] >= 0:
                    length, piece = _longest(own, letters, i, count)
                if length == 0:
                    if i == cut:
                        i += 1
                        continue
                    joint = _place(letters[i - 1], letters[i], JOINTS)
                    if joints[joint >> 3] >> (joint & 7) & 1:
                        i += 1
                        continue
            if i - cut == 1:
                symbol = alone[letters[cut]]
                tokens[n] = symbol if symbol < size else unknown
                stops[n] = places[i] - base
                n += 1
            elif i > cut:
                start = places[cut]
                stop = places[i]
                slot = -1
                same = False
                first = np.int64(0)
                second = np.int64(0)
                third = np.int64(0)
                if stop - start <= KEY_BYTES:
                    for at in range(start, min(stop, start + 8)):
                        first = first << 8 | data[at]
                    for at in range(start + 8, min(stop, start + 16)):
                        second = second << 8 | data[at]
                    for at in range(start + 16, stop):
                        third = third << 8 | data[at]
                    third = third << 8 | (stop - start)
                    slot = _place(_mixed(first, second), third, len(known_keys) - 1)
                    same = (
                        known_keys[slot, 0] == first
                        and known_keys[slot, 1] == second
                        and known_keys[slot, 2] == third
                    )
                if same:
                    for k in range(1, known[slot, 0] + 1):
                        tokens[n] = known[slot, k] >> 5
                        start += known[slot, k] & 31
                        stops[n] = start - base
                        n += 1
                else:
                    _merge(letters, cut, i, pairs, work, heap)
                    before = n
                    at = cut
                    while at < i:
                        symbol = work[0, at]
                        at = work[1, at]
                        tokens[n] = symbol if symbol < size else unknown
                        stops[n] = places[at] - base
                        n += 1
                    if slot >= 0 and n - before <= KEY_TOKENS:
                        known_keys[slot, 0] = first
                        known_keys[slot, 1] = second
                        known_keys[slot, 2] = third
                        known[slot, 0] = n - before
                        for k in range(before, n):
                            known[slot, k - before + 1] = tokens[k] << 5 | (stops[k] + base - start)
                            start = stops[k] + base
            cut = i
            if length:
                tokens[n] = piece
                stops[n] = places[i + length] - base
                n += 1
                i += length
                cut = i
            else:
                i += 1
        ends[document + 1] = n


@compiled
def _merge(letters: Array, first: int, last: int, pairs: Pairs, work: Array, heap: Array) -> None:
    """Join ``letters[first:last]``, the best score first, the leftmost of equals.

    ``work`` gets, at the places that are left, symbols, where the next one is, and where the one
    before; last, what a symbol and the next one would become, or -1. Entries of the heap that this
    does not bear out have been overtaken.

    Two loops look into the table and push, line by line: calls with arrays are slow.
    """
    keys = pairs.keys
    values = pairs.values
    ranks = pairs.ranks
    alone = pairs.alone
    mask = len(keys) - 1
    size = 0
    for left in range(first, last):
        work[0, left] = alone[letters[left]]
        work[1, left] = left + 1
        work[2, left] = left - 1
        work[3, left] = -1
    for left in range(first, last - 1):
        key = np.int64(work[0, left]) << 32 | work[0, left + 1]
        place = _place(work[0, left], work[0, left + 1], mask)
        while keys[place] != key and keys[place] >= 0:
            place = (place + 1) & mask
        if keys[place] == key:
            whole = values[place]
            work[3, left] = whole
            entry = np.int64(ranks[whole]) << 32 | left
            hole = size
            size += 1
            while hole > 0 and heap[(hole - 1) >> 1] > entry:
                heap[hole] = heap[(hole - 1) >> 1]
                hole = (hole - 1) >> 1
            heap[hole] = entry
    while size:
        top = heap[0]
        size -= 1
        moved = heap[size]
        hole = 0
        below = 1
        while below < size:
            if below + 1 < size and heap[below + 1] < heap[below]:
                below += 1
            if heap[below] >= moved:
                break
            heap[hole] = heap[below]
            hole = below
            below = 2 * hole + 1
        heap[hole] = moved
        at = top & 0xFFFFFFFF
        whole = work[3, at]
        if whole < 0 or ranks[whole] != top >> 32:
            continue
        right = work[1, at]
        after = work[1, right]
        work[0, at] = whole
        work[1, at] = after
        work[3, at] = -1
        work[3, right] = -1
        if after < last:
            work[2, after] = at
        for again in (np.int64(work[2, at]), np.int64(at)):
            if again < first or work[1, again] >= last:
                continue
            work[3, again] = -1
            key = np.int64(work[0, again]) << 32 | work[0, work[1, again]]
            place = _place(work[0, again], work[0, work[1, again]], mask)
            while keys[place] != key and keys[place] >= 0:
                place = (place + 1) & mask
            if keys[place] == key:
                whole = values[place]
                work[3, again] = whole
                entry = np.int64(ranks[whole]) << 32 | again
                hole = size
                size += 1
                while hole > 0 and heap[(hole - 1) >> 1] > entry:
                    heap[hole] = heap[(hole - 1) >> 1]
                    hole = (hole - 1) >> 1
                heap[hole] = entry


@compiled
def encode_unigram(
    data: Array,
    offsets: Array,
    pieces: Pieces,
    trie: Trie,
    scores: Array,
    rare: Array,
    tokens: Array,
    stops: Array,
    ends: Array,
) -> None:
    """As ``encode_bpe``: the best path, scores summed in float32 as sentencepiece does.

    ``scores`` float32 by id, ``rare`` float32[1] the score of a character that no piece is.
    """
    longest = _longest_of(offsets)
    letters = np.empty(longest, np.int32)
    places = np.empty(longest + 1, np.int64)
    best = np.empty(longest + 1, np.float32)
    origin = np.empty(longest + 1, np.int32)
    token = np.empty(longest + 1, np.int32)
    following = np.empty(longest + 1, np.int32)
    table = pieces.letters
    unknown = pieces.facts[0]
    roots = trie.roots
    nodes = trie.nodes
    mask = len(nodes) - 1
    n = 0
    ends[0] = 0
    for document in range(len(offsets) - 1):
        count = _read(data, offsets[document], offsets[document + 1], table, letters, places)
        base = offsets[document]
        origin[: count + 1] = -1
        best[0] = 0
        reach = 0
        for i in range(count):
            here = best[i]
            if here < _REBASE:
                for at in range(i, reach + 1):
                    best[at] -= here
                here = best[i]
            single = False
            at = i
            node = roots[letters[i]]
            while node >= 0:
                at += 1
                piece = nodes[node, 1]
                if piece >= 0:
                    reach = max(reach, at)
                    score = scores[piece] + here
                    if origin[at] < 0 or score > best[at]:
                        best[at] = score
                        origin[at] = i
                        token[at] = piece
                    if at == i + 1:
                        single = True
                if at == count:
                    break
                key = np.int64(node) << 32 | letters[at]
                node = _place(node, letters[at], mask)
                while nodes[node, 0] != key and nodes[node, 0] >= 0:
                    node = (node + 1) & mask
                if nodes[node, 0] < 0:
                    break
            if not single:
                at = i + 1
                reach = max(reach, at)
                score = rare[0] + here
                if origin[at] < 0 or score > best[at]:
                    best[at] = score
                    origin[at] = i
                    token[at] = unknown
        at = count
        while at > 0:
            following[origin[at]] = at
            at = origin[at]
        while at < count:
            at = following[at]
            tokens[n] = token[at]
            stops[n] = places[at] - base
            n += 1
        ends[document + 1] = n


@compiled
def spell(
    data: Array,
    offsets: Array,
    tokens: Array,
    stops: Array,
    token_ends: Array,
    pieces: Pieces,
    ids: Array,
    ends: Array,
    spans: Array,
) -> None:
    """From the tokens of the other loops to ids, and to spans where there is room for them.

    A character that is unknown becomes its bytes, of which the last has the span, or else lengthens
    the unknown token before it.
    """
    unknown = pieces.facts[0]
    bytes_of = pieces.bytes
    with_spans = len(spans) > 0
    n = 0
    ends[0] = 0
    for document in range(len(offsets) - 1):
        begun = n
        start = offsets[document]
        for t in range(token_ends[document], token_ends[document + 1]):
            token = tokens[t]
            stop = offsets[document] + stops[t]
            if token != unknown:
                ids[n] = token
                if with_spans:
                    spans[n, 0] = start
                    spans[n, 1] = stop
                n += 1
            elif len(bytes_of):
                for at in range(start, stop):
                    ids[n] = bytes_of[data[at]]
                    if with_spans:
                        spans[n, 0] = start
                        spans[n, 1] = start
                    n += 1
                if with_spans:
                    spans[n - 1, 1] = stop
            elif n > begun and ids[n - 1] == unknown:
                if with_spans:
                    spans[n - 1, 1] = stop
            else:
                ids[n] = unknown
                if with_spans:
                    spans[n, 0] = start
                    spans[n, 1] = stop
                n += 1
            start = stop
        ends[document + 1] = n


@compiled
def _longest_of(offsets: Array) -> int:
    longest = 0
    for i in range(len(offsets) - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    return longest
