"""Every word is jieba's, in both modes."""

from __future__ import annotations

import json
import os
import pickle
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dataprep.batch import Batch
from dataprep.segment import SegmenterOptions, load_segmenter
from dataprep.segment.double_array import double_array

TEXTS = [
    "",
    "我来到北京清华大学",
    "他来到了网易杭研大厦",
    "小明硕士毕业于中国科学院计算所，后在日本京都大学深造",
    "工信处女干事每月经过下属科室都要亲口交代24口交换机等技术性器件的安装工作",
    "T恤 卡拉OK 3D打印 B超 AT&T C++ c# 3.14% 1.5abc 2.%x --- -a- _x_ 50%-60% v1.2.3.4",
    "a\r\nb\r\r\n\n\u3000\x85\u2028\u00a0\x00末",
    "永和服装饰品有限公司，龘靐齉爩乂乄乆乇㐀𠀀𪚥",
    "カタカナひらがな한국어 हिन्दी العربية e\u0301 😀👨‍👩‍👧",
    "干脆就把那部蒙人的闲法给废了拉倒！RT @laoshipukong : 27日",
]

interesting = st.text(
    st.one_of(
        st.sampled_from(
            "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年"
        ),
        st.sampled_from("aZ09.%+#&_-,。 \r\n\t"),
        st.characters(min_codepoint=0x4DF0, max_codepoint=0x9FFF),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=40,
)


@pytest.mark.parametrize("hmm", [False, True])
def test_some_texts(hmm, segmenters, jieba, cut):
    expected = [list(jieba.cut(text, HMM=hmm)) for text in TEXTS]
    assert cut(TEXTS[1:], segmenters[hmm].word_starts) == expected[1:]


@settings(max_examples=300, deadline=None)
@given(text=interesting)
@example(text="甲" * 50)
@example(text="1.5abc.%x%")
def test_any_text(segmenters, jieba, cut, text):
    if text:
        for hmm in (False, True):
            expected = list(jieba.cut(text, HMM=hmm))
            assert cut([text], segmenters[hmm].word_starts) == [expected]


@pytest.mark.parametrize("hmm", [False, True])
def test_words_of_the_dictionary_in_any_order(hmm, segmenters, jieba, cut):
    """Where the ways through the dictionary are many, and the model has much to do."""
    rng = random.Random(5)
    words = rng.sample(sorted(jieba.FREQ), 3000)
    texts = ["".join(rng.choices(words, k=8)) for _ in range(1000)]
    texts += ["".join(rng.choices("人一不中了大子生学会国家民主义", k=30)) for _ in range(500)]
    assert cut(texts, segmenters[hmm].word_starts) == [list(jieba.cut(t, HMM=hmm)) for t in texts]


@pytest.mark.parametrize("hmm", [False, True])
def test_a_sample_of_the_corpus(hmm, segmenters, jieba, cut):
    if "JIMU_SHARED" not in os.environ:
        pytest.skip("JIMU_SHARED is not set: it names the folder with the corpus")
    lines = []
    for path in sorted((Path(os.environ["JIMU_SHARED"]) / "corpus").glob("*/*")):
        if path.suffix in (".txt", ".md", ".jsonl"):
            some = path.read_text("utf-8").split("\n")[:: 97 if path.suffix == ".txt" else 41]
            lines += [json.loads(x)["text"] if path.suffix == ".jsonl" else x for x in some if x]
    lines = [line[:300] for line in lines if line][::3]
    assert len(lines) > 300
    assert cut(lines, segmenters[hmm].word_starts) == [list(jieba.cut(x, HMM=hmm)) for x in lines]


@pytest.mark.parametrize("hmm", [False, True])
def test_one_very_long_line(hmm, segmenters, jieba, cut):
    """Without a stop; what is far away does not change a word."""
    text = "他来到了网易杭研大厦小明硕士毕业于中国科学院计算所龘靐齉"
    words = cut([text * 20_000], segmenters[hmm].word_starts)[0]
    assert "".join(words) == text * 20_000
    some = list(jieba.cut(text * 20, HMM=hmm))
    # From the same character on, the same words.
    assert words[: len(some) // 2] == some[: len(some) // 2]
    assert words[-len(some) // 2 :] == some[-len(some) // 2 :]


def test_documents_do_not_touch(segmenters):
    joined = segmenters[False].word_starts(Batch.from_texts(["北", "", "京"]))
    assert joined.tolist() == [True, False, False, True, False, False]


def test_broken_text_is_refused(segmenters):
    with pytest.raises(UnicodeError):
        segmenters[False].word_starts(Batch(b"\xe4\xb8", np.array([0, 2])))
    with pytest.raises(UnicodeError):
        segmenters[False].word_starts(Batch("一".encode(), np.array([0, 1, 3])))


def test_a_copy_by_pickle_does_the_same(segmenters):
    batch = Batch.from_texts(TEXTS)
    copy = pickle.loads(pickle.dumps(segmenters[True]))
    assert copy.identity == segmenters[True].identity
    assert np.array_equal(copy.word_starts(batch), segmenters[True].word_starts(batch))


def test_the_cache_is_used_and_mended(segmenters, own_cache, monkeypatch):
    from dataprep.segment import jieba_tables

    (path,) = (own_cache / "jimu" / "jieba").glob("*.npz")
    made = []
    monkeypatch.setattr(
        jieba_tables, "frequencies", lambda user: made.append(user) or pytest.fail("made again")
    )
    load_segmenter()
    whole = path.read_bytes()
    path.write_bytes(whole[:1000])
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(own_cache))
    mended = load_segmenter()
    assert path.read_bytes() == whole
    assert mended.identity == segmenters[False].identity
    assert [entry.name for entry in path.parent.iterdir() if entry.suffix == ".npz"] == [path.name]


def test_options_are_part_of_the_identity(segmenters):
    assert segmenters[False].identity != segmenters[True].identity
    assert "0.42" in segmenters[False].identity
    assert load_segmenter(options=SegmenterOptions()).identity == segmenters[False].identity


@settings(max_examples=50, deadline=None)
@given(words=st.lists(st.text("abcdefghij", min_size=1, max_size=5), max_size=40))
def test_a_double_array_has_just_its_words(words):
    nodes = sorted({word[:end] for word in words for end in range(1, len(word) + 1)}, key=len)
    number = {"": 0, **{node: i for i, node in enumerate(nodes, 1)}}
    parents = np.array([0, *(number[node[:-1]] for node in nodes)], np.int32)
    symbols = np.array([0, *(ord(node[-1]) - 96 for node in nodes)], np.int32)
    places, links = double_array(parents, symbols, 11)
    assert len(set(places.tolist())) == len(nodes) + 1
    for node in number:
        for symbol in range(11):
            child = links[places[number[node]], 0] + symbol
            there = links[child, 1] == places[number[node]]
            longer = node + chr(96 + symbol)
            assert there == (longer in number)
            assert not there or child == places[number[longer]]
