"""A user's words, as jieba.load_userdict takes them."""

from __future__ import annotations

import itertools
import random

import pytest

from dataprep.errors import UsageError
from dataprep.segment import SegmenterOptions, load_segmenter
from dataprep.segment.jieba_dictionary import package

USER = """\ufeff云计算 5
李小福 2 nr
创新办 3 i
easy_install 3 eng
好用 300

韩玉赏鉴 3 nz
八一双鹿 3 nz
台中
凱特琳 nz
Edu Trust认证 2000
天地玄黄宇宙洪荒
研究生 0
江州市 0
"""
TEXTS = [
    "李小福是创新办主任也是云计算方面的专家; 什么是八一双鹿",
    "例如我输入一个带“韩玉赏鉴”的标题，在自定义词库中也增加了此词为N类",
    "「台中」正確應該不會被切開。mac上可分出「石墨烯」；此時又可以分出來凱特琳了。",
    "easy_install 很好用，研究生命起源，江州市长江大桥天地玄黄宇宙洪荒日月",
]


@pytest.fixture
def oracle(jieba):
    """A way to jieba with a user dictionary; what it keeps in a global is put back."""
    made = package()
    before = set(made.finalseg.Force_Split_Words)

    def load(path):
        tokenizer = made.Tokenizer()
        tokenizer.FREQ, tokenizer.total = dict(jieba.FREQ), jieba.total
        tokenizer.initialized = True
        with path.open("rb") as file:
            tokenizer.load_userdict(file)
        return tokenizer

    yield load
    made.finalseg.Force_Split_Words.clear()
    made.finalseg.Force_Split_Words.update(before)


def test_words_of_a_user(oracle, cut, tmp_path):
    path = tmp_path / "user.txt"
    # A word with a blank in it is never found by jieba: left out here, see below.
    path.write_text("".join(x for x in USER.splitlines(True) if "Trust" not in x), "utf-8")
    theirs = oracle(path)
    for hmm in (False, True):
        ours = load_segmenter(options=SegmenterOptions(user_dict=str(path), hmm=hmm))
        assert cut(TEXTS, ours.word_starts) == [list(theirs.cut(t, HMM=hmm)) for t in TEXTS]
        assert "user dictionary" in ours.identity


def test_equally_probable_ways(oracle, cut, tmp_path):
    """Sums in float64 that are equal, or differ in the last bit by the order of addition."""
    path = tmp_path / "user.txt"
    words = ["".join(w) for n in (2, 3) for w in itertools.product("甲乙丙", repeat=n)]
    path.write_text("".join(f"{word} 1000\n" for word in [*words, *"甲乙丙"]), "utf-8")
    rng = random.Random(7)
    texts = ["".join(rng.choices("甲乙丙", k=rng.randrange(1, 30))) for _ in range(1500)]
    theirs = oracle(path)
    for hmm in (False, True):
        ours = load_segmenter(options=SegmenterOptions(user_dict=str(path), hmm=hmm))
        assert cut(texts, ours.word_starts) == [list(theirs.cut(t, HMM=hmm)) for t in texts]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"\xe4\xba\x91 5\n\xb0\xa1 3\n", "line 2: it is not UTF-8"),
        ("云计算 5\n\nEdu Trust认证 2000\n".encode(), "line 3: 'Edu Trust认证 2000' is not"),
        ("云计算\t5\n".encode(), "line 1: "),
        ("云计算 5.5\n".encode(), "line 1: "),
        ("云计算 -5 n\n".encode(), "line 1: "),
        ("云计算 99999999999999999999999\n".encode(), "line 1: the frequency is too large"),
    ],
)
def test_what_jieba_would_misunderstand_is_refused(content, told, tmp_path):
    path = tmp_path / "user.txt"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=told) as caught:
        load_segmenter(options=SegmenterOptions(user_dict=str(path)))
    assert str(path) in str(caught.value)
    assert caught.value.hint


def test_no_such_file(tmp_path):
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        load_segmenter(options=SegmenterOptions(user_dict=str(tmp_path / "none.txt")))
