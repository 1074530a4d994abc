"""A trie as a double array: one look at memory for each character that is followed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..tokenizers.compiled import compiled

__all__ = ["double_array"]

Ints = npt.NDArray[np.int32]


def double_array(parents: Ints, symbols: Ints, n_symbols: int) -> tuple[npt.NDArray[Any], Ints]:
    """Where the nodes of a trie go, and the links between them.

    Node ``i`` is the child of ``parents[i]`` by ``symbols[i]``, which is at least 1 and less than
    ``n_symbols``; node 0 is the root. Both are int32[n].

    Returns ``places`` int64[n] and ``links`` int32[m, 2]: the child of the node at ``p`` by symbol
    ``s`` is at ``c = links[p, 0] + s`` if ``links[c, 1] == p``; there is none otherwise. The root
    is at 0. ``m`` is large enough for any of the symbols from any node.
    """
    counts = np.bincount(parents[1:], minlength=len(parents))
    first = np.concatenate([[0], np.cumsum(counts)])
    children = 1 + np.argsort(parents[1:], kind="stable")
    # The fullest first: there is room for them yet, and those with one child fill the holes.
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    places = np.zeros(len(parents), np.int64)
    room = 2 * len(parents) + 4 * n_symbols
    while True:
        links = np.zeros((room, 2), np.int32)
        links[:, 1] = -1
        last = _place(order, first, children, symbols, n_symbols, places, links)
        if last >= 0:
            return places, links[: last + n_symbols].copy()
        room *= 2


@compiled
def _place(
    order: npt.NDArray[Any],
    first: npt.NDArray[Any],
    children: npt.NDArray[Any],
    symbols: npt.NDArray[Any],
    n_symbols: int,
    places: npt.NDArray[Any],
    links: npt.NDArray[Any],
) -> int:
    """Find a base for every node; the last place taken, or -1 when ``links`` is too short."""
    taken = np.zeros(len(links), np.bool_)
    taken[0] = True
    bases = np.zeros(len(places), np.int64)
    free = 1
    base = 0
    last = 0
    for node in order:
        begin, end = first[node], first[node + 1]
        lowest = symbols[children[begin]]
        for k in range(begin + 1, end):
            lowest = min(lowest, symbols[children[k]])
        if end - begin == 1:
            while taken[free]:
                free += 1
            base = max(free - lowest, 0)
        while True:
            if base + n_symbols > len(links):
                return -1
            fits = True
            for k in range(begin, end):
                if taken[base + symbols[children[k]]]:
                    fits = False
                    break
            if fits:
                break
            base += 1
        bases[node] = base
        for k in range(begin, end):
            place = base + symbols[children[k]]
            taken[place] = True
            places[children[k]] = place
            last = max(last, place)
    for node in order:
        links[places[node], 0] = bases[node]
        for k in range(first[node], first[node + 1]):
            links[places[children[k]], 1] = places[node]
    return int(last)
