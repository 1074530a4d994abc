"""Texts on which an engine has to agree with the reference before it is trusted."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dataprep.batch import Batch
from dataprep.tokenizers.engine import Engine

__all__ = ["PROBES", "disagreement"]

PROBES = (
    "",
    " ",
    "\n",
    "The quick brown fox can't jump; it's 3,141.59 metres -- I'D say WE'VE seen it!",
    "人类的历史，就是一个不断地从必然王国向自由王国发展的历史。“引文”、《书名》……（注）",
    "繁體中文與简体混排ABC中英mixed文本2026年11月30日 全角ＡＢＣ１２３　空格",
    "def f(x: int) -> None:\n\tif x != 0:\n\t\treturn {'a': [x**2, x >> 1]}  # 注释\r\n\r\n",
    "  two   three    \t tabs\t\t\n\n\n   lines \n \n  trailing   ",
    "nbsp\u00a0thin\u2009ideographic\u3000zero\u200bwidth\u2028line\u2029para\u0085nel\ufeffbom",
    "👍🏽👩‍👩‍👧‍👦🇨🇳❤️☺︎ 1️⃣ 𝒳𝔘 𠮷野家 𪚥",
    "e\u0301 n\u0303 한국어 한글 a\u0323\u0307 हिन्दी ไทย עִבְרִית عَرَبِيّ ﬁ Å Å ①½",
    "0 00 007 1234567890 ３４５ ٣٤٥ 1e-10 0xFF 12a34",
    "\x00\x01\x1b[31m\x7f\u0080\ufffd\ufffe\U0010ffff",
    "https://example.org/a_b?c=%20&d=e#f <p class='x'>&amp;</p> $\\frac{1}{2}$ __init__",
    "ſ'S 'ſ İi ǅ ß SS Σσς 'Tis don’t O’Neill",
    "a" * 300 + "啊" * 100 + "!" * 70 + "=" * 33,
    "<|endoftext|> text<|endoftext|><|endoftext|>\n</s><s>[SEP] <unk>[MASK]",
)
"""Chinese, English, code, white space, emoji, combining marks, digits, controls, specials."""


def disagreement(engine: Engine, reference: Engine, specials: Iterable[str]) -> str | None:
    """The first probe on which ids or decoded text differ, as a sentence; None if there is none.

    ``specials`` are the vocabulary's own added tokens: each is tried inside a text.
    """
    texts = [*PROBES, "".join(f"文{special} a{special}{special}\n" for special in specials)]
    ids, offsets = engine.encode(Batch.from_texts(texts))
    expected_ids, expected_offsets = reference.encode(Batch.from_texts(texts))
    for i, text in enumerate(texts):
        got = ids[offsets[i] : offsets[i + 1]]
        expected = expected_ids[expected_offsets[i] : expected_offsets[i + 1]]
        if not np.array_equal(got, expected):
            return f"{text[:40]!r} gives {got[:8].tolist()}, not {expected[:8].tolist()}"
        if engine.decode(got.tolist()) != reference.decode(got.tolist()):
            return f"the ids of {text[:40]!r} decode to another text"
    return None
