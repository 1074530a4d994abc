"""Words of any text: Chinese by the segmenter, the rest by kinds of characters."""

from __future__ import annotations

import contextlib
import itertools
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataprep.batch import Batch
from dataprep.segment import word_starts
from dataprep.segment.characters import ALONE, BLANK, EXTEND, FLAG, HAN, LETTER, kinds


@pytest.mark.parametrize(
    "words",
    [
        "研究|生命|起源|，|研究|生命",
        "买|了|T恤|，|iPhone15|很酷",
        "卡拉|OK|，|3D|打印|，|B超",
        "don|'|t| |stop|.|  |3|.|14|!|!",
        "a_b".replace("_", "|_|"),
        "カタカナです|人|々",
        "二|〇|〇|八年",
        "e\u0301te\u0301| |café|!\ufe0f|x",
        "😀|😀|👨\u200d👩\u200d👧|👍🏽|1\ufe0f\u20e3",
        "🇨🇳|🇺🇸|🇫",
        "\n\n|x|\t \n|y|\u3000",
        "C|+|+|语言",
        "한국어| |русский|, |हिन्दी".replace(", ", ",| "),
        "天\u0301|b",
    ],
)
def test_words(words, segmenters, cut):
    text = words.replace("|", "")
    assert cut([text], lambda batch: word_starts(batch, segmenters[False])) == [words.split("|")]


def test_documents_do_not_touch(segmenters, cut):
    found = cut(["ab", "cd", "\u0301x", "🇨", "🇳"], lambda b: word_starts(b, segmenters[False]))
    assert found == [["ab"], ["cd"], ["\u0301x"], ["🇨"], ["🇳"]]


def slow(text: str, segmented: set[int]) -> list[int]:
    """Where words start, by the documented rules, one character after another."""
    table = kinds()
    bounds = sorted({*segmented, len(text)})
    chinese = set()
    for first, stop in itertools.pairwise(bounds):
        if any(table[ord(c)] == HAN for c in text[first:stop]):
            chinese.update(range(first, stop))
    found, before, flags, joined = [], None, 0, False
    for i, c in enumerate(text):
        kind = HAN if i in chinese else int(table[ord(c)])
        if kind == HAN:
            start = i in segmented
        elif kind == EXTEND:
            start = before in (None, BLANK)
            kind = LETTER if start else before
        elif kind == FLAG:
            flags = flags + 1 if before == FLAG else 1
            start = flags % 2 == 1
        elif kind == ALONE:
            start = not (joined and before == ALONE)
        else:
            start = kind != before
        if start:
            found.append(i)
        before, joined = kind, c == "\u200d" and i not in chinese
    return found


@settings(max_examples=300, deadline=None)
@given(
    text=st.text(
        st.one_of(
            st.sampled_from("中国人T恤ab1,。 \n\u200d\u0301\ufe0f😀👩🇨🇳🏽〇々𠀀カ"),
            st.characters(exclude_categories=["Cs"]),
        ),
        max_size=30,
    )
)
def test_against_the_rules_written_slowly(segmenters, text):
    check(segmenters[False], text)


def test_hostile_inputs(segmenters, nasty):
    """Emoji, flags, nine scripts, control characters, mojibake: whatever is UTF-8."""
    lines = []
    for path in sorted(nasty.glob("*.txt")):
        with contextlib.suppress(UnicodeDecodeError):
            lines += path.read_text("utf-8").split("\n")
    assert len(lines) > 50
    for line in lines:
        check(segmenters[False], line[:2000])


def check(segmenter, text):
    batch = Batch.from_texts([text])
    lengths = np.cumsum([0, *(len(c.encode()) for c in text)])
    segmented = segmenter.word_starts(batch)
    own = {i for i in range(len(text)) if segmented[lengths[i]]}
    starts = word_starts(batch, segmenter)
    assert np.flatnonzero(starts).tolist() == [int(lengths[i]) for i in slow(text, own)]


def test_kinds_of_characters():
    table = kinds()
    for point in (*range(0x20, 0x3000, 7), 0x1F600, 0xFF01, 0xFF21):
        character = chr(point)
        if character.isspace():
            assert table[point] == BLANK
        elif character.isalnum() and unicodedata.category(character)[0] in "LN":
            assert table[point] in (LETTER, HAN)
        elif unicodedata.category(character)[0] in "PS":
            assert table[point] in (ALONE, HAN)
