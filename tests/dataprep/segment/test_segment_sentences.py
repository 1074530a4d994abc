"""Where sentences begin: cases, and what holds for any text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataprep.segment import sentence_starts
from dataprep.segment.sentences import MAX_CHARACTERS

CASES = [
    # Chinese
    "他说：“今天很好！”|然后走了……真的吗？！|（是的。）|Mr. Smith paid $3.50 for v1.2.3 at 5 p.m. "
    "U.S.A. is big.A.B.C。",
    "今天下雨。|我没出门！|你呢？|好",
    "“走吧！”他说。|我们走。".replace("！”他", "！”|他"),
    "“走吧！”，他说。",
    "《你好，李焕英！》很好看。|《怎么办？》也是。",
    "他想……不说了。|“算了……”|他说。",
    "我们……|“好吧。”",
    "第一；第二；第三。",
    "真的吗？？！！|是的～。。。|好",
    "你好.|我是小明.|再见",
    '他问:"真的?"|我说:"是的。"|对吧',
    '他走了。|"你好。"|她说。',
    "圆周率是3.14。|价格：￥5.00！|网址http://a.cn/b?c=1&d=2!x是对的。",
    "（见图1。）|【完。】|下一句",
    "一行\n|两行\n\n|三行  \n |四行",
    "  空白。　|下一句。 ",
    # English
    "Hello there. |General Kenobi! |You are bold? |Yes.",
    'He said, "Stop it!" and left. |"Why?" she asked. |"I know." |Then nothing.',
    "(He left.) |Then it rained.",
    "Dr. Jekyll met Mr. Hyde at St. James's. |They spoke, e.g. about Prof. Xu. |No.",
    "See Fig. 3 and No. 5 on p. 7. |I said no. |Then I left.",
    "J. R. R. Tolkien wrote it in 1937. |It sold well.",
    "1. First item\n|2. Second item. |Third.",
    "It costs 3.50 or v1.2.3 at example.com/a?b=c. |Fine.",
    "Wait... what? |Well... |Then go.",
    "Done!!! |Really?! |Yes.",
    "The end of it. lower case goes on. |Then not.",
    "“Is it?” |“It is.” |’Twas.",
    # Both
    "OpenAI发布了GPT-4. |它很强。|It is strong! |对。",
    "Yes!|你好。|No?|是吗",
    "项斯（？－838年），字子迁。|他(?)走了。",
    '他去了．|这日走了．|“谁？"|小厮道：“我．"|他说了３．１４．',
]


@pytest.mark.parametrize("case", CASES)
def test_cases(case, cut):
    assert cut([case.replace("|", "")], skipping(sentence_starts)) == [parts(case)]


def parts(case: str) -> list[str]:
    """White space belongs to the sentence before it."""
    found = case.split("|")
    for i in range(1, len(found)):
        bare = found[i].lstrip()
        found[i - 1] += found[i][: len(found[i]) - len(bare)]
        found[i] = bare
    return found


def skipping(starts_of):
    """A document may begin with white space, which is in no sentence."""

    def starts(batch):
        found = starts_of(batch).copy()
        found[batch.offsets[:-1][batch.offsets[:-1] < len(found)]] = True
        first = [len(t) - len(t.lstrip()) for t in batch.texts()]
        if first[0]:
            found[first[0]] = False
        return found

    return starts


def test_hostile_inputs(nasty: Path, cut):
    first, second = (nasty / "uni_sentence_split.txt").read_text("utf-8").split("\n")[:2]
    assert cut([first], sentence_starts) == [parts(CASES[0])]
    found = cut([second], sentence_starts)[0]
    assert len(second) == 6000
    assert max(map(len, found)) <= MAX_CHARACTERS
    assert min(map(len, found)) > MAX_CHARACTERS // 2 or len(found[-1]) < MAX_CHARACTERS
    assert {part[-1] for part in found} == {"，"}
    punctuation = (nasty / "uni_punct.txt").read_text("utf-8").split("\n")
    assert cut([line for line in punctuation if line], sentence_starts) == [
        ["……——“”‘’《》〈〉「」『』【】、；：？！", "·～￥"],
        ["--- ... ", "\"\" '' <> [] ; : ? ", "!"],
    ]


def test_without_a_place_to_cut(cut):
    found = cut(["一" * 1201], sentence_starts)[0]
    assert list(map(len, found)) == [MAX_CHARACTERS, MAX_CHARACTERS, 1201 - 2 * MAX_CHARACTERS]


@pytest.mark.parametrize("soft", ["，", "；", ", ", " ", "——"])
def test_a_long_sentence_is_cut_at_its_last_pause(soft, cut):
    text = f"{'一' * 200}{soft}" * 7
    found = cut([text], sentence_starts)[0]
    assert found == [f"{'一' * 200}{soft}" * 2] * 3 + [f"{'一' * 200}{soft}"]


def test_documents_do_not_touch(cut):
    assert cut(["一。", "，二", "”三"], sentence_starts) == [["一。"], ["，二"], ["”三"]]


@settings(max_examples=300, deadline=None)
@given(text=st.text(st.sampled_from("一二aB1 。！？….!?”’」\"'（(《》，,\n\u3000"), max_size=60))
def test_any_text(text, cut):
    text = text.lstrip()
    if not text:
        return
    found = cut([text], sentence_starts)[0]
    assert "".join(found) == text
    assert all(part[0] not in " \n\u3000" for part in found)
    for part in found:
        assert "\n" not in part.rstrip()
    if text[0] in "一二aB1“（《":
        assert cut([f"好。{text}"], sentence_starts)[0] == ["好。", *found]
