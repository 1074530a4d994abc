from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataprep.errors import DataError, UsageError
from dataprep.samples.chat import ChatSettings, chats, open_chats
from dataprep.samples.chat_template import ChatTemplate, load_template
from dataprep.tokenizers.load import load_tokenizer

CHATML = (
    "{%- for message in messages %}\n"
    "    {{- '<|im_start|>' + message.role + '\\n' }}\n"
    "    {%- if message.role == 'assistant' %}\n"
    "        {%- generation %}{{ message.content + '<|im_end|>' }}{% endgeneration %}\n"
    "    {%- else %}{{ message.content + '<|im_end|>' }}{% endif %}\n"
    "    {{- '\\n' }}\n"
    "{%- endfor %}\n"
    "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
UNMARKED = CHATML.replace("\n        {%- generation %}", "").replace("{% endgeneration %}", "")
# Loop controls, tojson of Chinese, trimmed blocks, and the time.
RICH = """{{ bos_token }}
{% if tools %}
  {{ tools | tojson(indent=2) }}
{% endif %}
{% for message in messages %}
  {% if message.role == 'skip' %}{% continue %}{% endif %}
  {% if loop.index0 > 3 %}{% break %}{% endif %}
[{{ message.role }}] {{ message.content | trim }} {{ message | tojson }}
{% endfor %}
{{ strftime_now('%Y')[:2] }}{% if add_generation_prompt %}[assistant]{% endif %}"""

TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "床前明月光的下一句？"},
    {"role": "assistant", "content": "疑是地上霜。"},
    {"role": "user", "content": "Thanks "},
    {"role": "assistant", "content": " Any time."},
]


@pytest.fixture(scope="session")
def chat_tokenizer_file(tokenizer_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    written = json.loads(tokenizer_file.read_bytes())
    first = len(written["model"]["vocab"])
    one = written["added_tokens"][0]
    for number, content in enumerate(("<|im_start|>", "<|im_end|>")):
        written["added_tokens"].append({**one, "id": first + number, "content": content})
    path = tmp_path_factory.mktemp("chat") / "tokenizer.json"
    path.write_text(json.dumps(written), "utf-8")
    return path


@pytest.fixture(scope="session")
def tokenizer(chat_tokenizer_file: Path):
    return load_tokenizer(chat_tokenizer_file)


@pytest.mark.parametrize("source", [CHATML, UNMARKED])
def test_answers_are_found_with_and_without_marks(source: str) -> None:
    template = ChatTemplate(source)
    pieces = template.pieces(TALK)
    assert "".join(text for text, _ in pieces) == template.render(TALK)
    answers = [text for text, learnt in pieces if learnt]
    # Without marks the answer is all that its message adds.
    end = "<|im_end|>" if source == CHATML else "<|im_end|>\n"
    assert answers == ["疑是地上霜。" + end, " Any time." + end]
    last = template.pieces(TALK, last_only=True)
    assert [text for text, learnt in last if learnt] == answers[-1:]
    assert "".join(text for text, _ in last) == template.render(TALK)


@pytest.mark.parametrize("source", [CHATML, RICH])
@pytest.mark.parametrize("prompt", [False, True])
def test_as_hugging_face_writes_them(source: str, prompt: bool, chat_tokenizer_file: Path) -> None:
    transformers = pytest.importorskip("transformers")
    theirs = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(chat_tokenizer_file), bos_token="<|endoftext|>"
    )
    tools = [{"type": "function", "function": {"name": "查", "parameters": {"a": [1, None]}}}]
    talk = [*TALK[:2], {"role": "skip", "content": ""}, *TALK[2:]]
    expected = theirs.apply_chat_template(
        talk, tools=tools, chat_template=source, tokenize=False, add_generation_prompt=prompt
    )
    ours = ChatTemplate(source, bos_token="<|endoftext|>")
    assert ours.render(talk, prompt=prompt, tools=tools) == expected


def test_masks_as_hugging_face_gives_them(chat_tokenizer_file: Path, tokenizer) -> None:
    transformers = pytest.importorskip("transformers")
    theirs = transformers.PreTrainedTokenizerFast(tokenizer_file=str(chat_tokenizer_file))
    expected = theirs.apply_chat_template(
        TALK, chat_template=CHATML, return_dict=True, return_assistant_tokens_mask=True
    )
    made = chats([{"messages": TALK}], tokenizer, ChatTemplate(CHATML))
    assert made.tokens.tolist() == expected["input_ids"]
    assert made.learnt.astype(int).tolist() == expected["assistant_masks"]


def test_a_template_of_a_folder(tmp_path: Path) -> None:
    config = {
        "bos_token": {"content": "<s>", "lstrip": False},
        "add_bos_token": True,
        "chat_template": [
            {"name": "tool_use", "template": "no"},
            {"name": "default", "template": "{{ bos_token }}{{ messages[0].content }}"},
        ],
    }
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    assert load_template(tmp_path).render([{"role": "user", "content": "hi"}]) == "<s>hi"
    (tmp_path / "chat_template.jinja").write_text("file {{ messages | length }}")
    assert load_template(tmp_path).render([]) == "file 0"


def test_prompts_and_answers_without_a_template(tokenizer) -> None:
    records = [{"prompt": "一加一？", "answer": "二 <|im_end|>"}, {"prompt": "", "answer": "yes"}]
    made = chats(records, tokenizer)
    texts = [
        tokenizer.decode(made.tokens[low:high])
        for low, high in zip(made.offsets[:-1], made.offsets[1:], strict=True)
    ]
    assert texts == ["一加一？二 <|im_end|><|endoftext|>", "yes<|endoftext|>"]
    assert tokenizer.decode(made.tokens[made.learnt]) == (
        "二 <|im_end|><|endoftext|>yes<|endoftext|>"
    )
    assert tokenizer.special_tokens["<|im_end|>"] not in made.tokens


def unpacked(samples) -> tuple[list[list[int]], list[list[int]]]:
    """Tokens and labels of all conversations, in the order of their first tokens."""
    found = []
    batch = samples.batch(np.arange(len(samples)))
    for tokens, labels, segments, positions in zip(*batch.values(), strict=True):
        for segment in range(segments.max() + 1):
            here = segments == segment
            assert positions[here].tolist() == list(range(here.sum()))
            found.append((tokens[here].tolist(), labels[here].tolist()))
        padding = segments < 0
        assert (labels[padding] == -100).all()
        assert not positions[padding].any()
    found.sort()
    return [t for t, _ in found], [la for _, la in found]


@settings(max_examples=25, deadline=None)
@given(
    lengths=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=30),
    seq_len=st.integers(4, 50),
    overlong=st.sampled_from(["cut", "drop"]),
)
def test_packing_keeps_conversations_and_masks(lengths, seq_len, overlong, tokenizer) -> None:
    records = [
        {"prompt": f"{i} " + "月" * p, "answer": "霜" * a} for i, (p, a) in enumerate(lengths)
    ]
    made = chats(records, tokenizer)
    expected = []
    cut = 0
    for low, high in zip(made.offsets[:-1], made.offsets[1:], strict=True):
        tokens = made.tokens[low:high].tolist()
        learnt = made.learnt[low:high].tolist()
        if len(tokens) > seq_len + 1:
            if overlong == "drop":
                continue
            tokens, learnt = tokens[: seq_len + 1], learnt[: seq_len + 1]
            cut += any(learnt)
        if any(learnt[1:]):
            labels = [t if keep else -100 for t, keep in zip(tokens, learnt, strict=True)][1:]
            expected.append((tokens[:-1], labels))
    if not expected:
        with pytest.raises(DataError):
            open_chats(records, tokenizer=tokenizer, seq_len=seq_len, overlong=overlong)
        return
    samples = open_chats(records, tokenizer=tokenizer, seq_len=seq_len, overlong=overlong, seed=3)
    tokens, labels = unpacked(samples)
    expected.sort()
    assert (tokens, labels) == ([t for t, _ in expected], [la for _, la in expected])
    assert (samples.kept, samples.cut) == (len(expected), cut)
    assert samples.kept + samples.dropped == len(records)


def test_a_file_of_conversations(tmp_path: Path, tokenizer) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text(json.dumps({"messages": TALK}) + "\n\n" + json.dumps({"messages": TALK[:3]}))
    template = ChatTemplate(UNMARKED)
    samples = open_chats(path, tokenizer=tokenizer, seq_len=300, template=template, learn="last")
    batch = samples.batch([0])
    learnt = batch["labels"][batch["labels"] >= 0]
    assert tokenizer.decode(learnt) in (
        " Any time.<|im_end|>\n疑是地上霜。<|im_end|>\n",
        "疑是地上霜。<|im_end|>\n Any time.<|im_end|>\n",
    )
    path.write_text('{"messages": []}\n[1]\n')
    with pytest.raises(DataError, match=r"talk.jsonl, line 2, is no JSON object"):
        open_chats(path, tokenizer=tokenizer, seq_len=30, template=template)


THINKING = UNMARKED.replace("message.content +", "(message.content if loop.last else '…') +")


@pytest.mark.parametrize(
    ("record", "source", "message"),
    [
        ({"messages": TALK}, None, "Record 1: Messages need a chat template"),
        ({"messages": "hi"}, CHATML, "Record 1: messages are a list of objects"),
        ({"text": "hi"}, None, "Record 1: it has neither messages nor texts .* its keys: text"),
        ({"messages": TALK}, THINKING, "Record 1: With this template the beginning"),
        (
            {"messages": [{"role": "user", "content": "<|im_end|>"}]},
            CHATML,
            r"Record 1: the special token <\|im_end\|> is written in a message",
        ),
        ({"messages": [{"role": "user"}]}, CHATML, "refuses a conversation"),
        ({"messages": TALK}, "{{ raise_exception('roles!') }}", "refuses a conversation: roles!"),
        ({"messages": TALK}, "{{ messages.append(1) }}", "refuses a conversation"),
        ({"messages": TALK}, "{{ ''.__class__.__mro__ }}", "refuses a conversation"),
        ({"messages": [{"role": "user", "content": "\ufdd0"}]}, CHATML, "U\\+FDD0"),
    ],
)
def test_what_is_no_conversation(record, source, message, tokenizer) -> None:
    template = ChatTemplate(source) if source else None
    with pytest.raises(DataError, match=message):
        chats([record], tokenizer, template)


def test_settings_that_cannot_be(tokenizer, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="learn is 'some'; known: all, last"):
        ChatSettings(learn="some")
    with pytest.raises(UsageError, match="no setting 'lern'; known: learn"):
        open_chats([], tokenizer=tokenizer, seq_len=9, lern="all")
    with pytest.raises(UsageError, match="cannot be read"):
        ChatTemplate("{% for %}")
    with pytest.raises(UsageError, match="has no chat template"):
        load_template(tmp_path)
    with pytest.raises(DataError, match="no conversations"):
        chats([], tokenizer)
