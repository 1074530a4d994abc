"""Layouts in which vocabularies are published, each loaded by its path, against its reference."""

import io
import json
from itertools import chain

import pytest
import sentencepiece
import tokenizers
from tokenizer_samples import TEXTS, trained_wordpiece

from dataprep.tokenizers.load import load_tokenizer
from dataprep.tokenizers.probe import PROBES

TRIED = [*TEXTS, *PROBES, "<s> a<mask></s> <|begin_of_text|>x<|eot_id|>"]
FLAGS = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}


def added(*tokens, first):
    entries = enumerate(tokens, first)
    return [{**FLAGS, "id": i, "content": t, "special": True} for i, t in entries]


def assert_like_hugging_face(path, file):
    """Ids of text alone, whatever the file adds, cuts or fills up."""
    reference = tokenizers.Tokenizer.from_file(str(file))
    reference.no_truncation()
    reference.no_padding()
    reference.encode_special_tokens = True
    tokenizer = load_tokenizer(path)
    ids, offsets = tokenizer.encode_batch(TRIED)
    for i, text in enumerate(TRIED):
        expected = reference.encode(text, add_special_tokens=False).ids
        assert ids[offsets[i] : offsets[i + 1]].tolist() == expected, text
    return tokenizer


def test_like_roberta(tmp_path, trained):
    """Five specials, the mask greedy for blanks, RoBERTa's own post-processor."""
    spec = json.loads(trained)
    names = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    spec["added_tokens"] = added(*names, first=len(spec["model"]["vocab"]))
    spec["added_tokens"][-1]["lstrip"] = True
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    spec["pre_tokenizer"] = {**byte_level, "use_regex": True}
    ends = {"sep": ["</s>", 402], "cls": ["<s>", 400]}
    flags = {"trim_offsets": True, "add_prefix_space": False}
    spec["post_processor"] = {"type": "RobertaProcessing", **ends, **flags}
    (tmp_path / "tokenizer.json").write_text(json.dumps(spec))
    (tmp_path / "vocab.json").write_text(json.dumps(spec["model"]["vocab"]))
    tokenizer = assert_like_hugging_face(tmp_path, tmp_path / "tokenizer.json")
    assert tokenizer.engine.startswith("fastokens ")
    roles = {"bos": 400, "pad": 401, "eod": 402, "eos": 402, "unk": 403, "mask": 404}
    assert tokenizer.specials == roles
    assert tokenizer.vocab_size == 405


def test_like_llama_3(tmp_path, trained):
    """Whole words first, a template that puts the beginning, a truncation and a padding."""
    spec = json.loads(trained)
    spec["model"]["ignore_merges"] = True
    names = ("<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>")
    spec["added_tokens"] = added(*names, first=len(spec["model"]["vocab"]))
    begin = {"SpecialToken": {"id": "<|begin_of_text|>", "type_id": 0}}
    single = [begin, {"Sequence": {"id": "A", "type_id": 0}}]
    template = {
        "type": "TemplateProcessing",
        "single": single,
        "pair": [*single, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {
            "<|begin_of_text|>": {"id": "<|begin_of_text|>", "ids": [400], "tokens": [names[0]]}
        },
    }
    byte_level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False}
    spec["post_processor"] = {
        "type": "Sequence",
        "processors": [{**byte_level, "use_regex": True}, template],
    }
    spec["truncation"] = {
        "direction": "Right",
        "max_length": 4,
        "strategy": "LongestFirst",
        "stride": 0,
    }
    spec["padding"] = {
        "strategy": {"Fixed": 9},
        "direction": "Left",
        "pad_to_multiple_of": None,
        "pad_id": 401,
        "pad_type_id": 0,
        "pad_token": "<|end_of_text|>",
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(spec))
    tokenizer = assert_like_hugging_face(tmp_path, tmp_path / "tokenizer.json")
    assert tokenizer.specials == {"bos": 400, "eod": 401}
    assert len(tokenizer.encode_batch([TEXTS[0]])[0]) > 9


@pytest.mark.parametrize("lower", [True, False])
def test_like_bert_in_any_form(tmp_path, lower):
    """tokenizer.json with its post-processor, and the list alone, under whatever name."""
    made = json.loads(trained_wordpiece(lowercase=lower))
    vocab = made["model"]["vocab"]
    made["post_processor"] = {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]}
    (tmp_path / "tokenizer.json").write_text(json.dumps(made))
    tokenizer = assert_like_hugging_face(tmp_path, tmp_path / "tokenizer.json")
    assert tokenizer.engine.startswith("jimu-wordpiece ")
    lines = "".join(f"{token}\n" for token in sorted(vocab, key=vocab.__getitem__))
    (tmp_path / "google_vocab.txt").write_text(lines, encoding="utf-8")
    if not lower:  # a word with a capital says so
        assert any(token != token.lower() and token[0] != "[" for token in vocab)
    listed = assert_like_hugging_face(tmp_path / "google_vocab.txt", tmp_path / "tokenizer.json")
    assert listed.specials == tokenizer.specials


def sentencepiece_model(**settings):
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXTS),
        model_writer=out,
        hard_vocab_limit=False,
        minloglevel=2,
        **settings,
    )
    return out.getvalue()


LAYOUTS = {
    "llama": {"model_type": "bpe", "byte_fallback": True, "vocab_size": 420,
              "normalization_rule_name": "identity", "remove_extra_whitespaces": False},
    "albert": {"vocab_size": 200, "pad_id": 0, "unk_id": 1, "bos_id": -1, "eos_id": -1,
               "control_symbols": ["[CLS]", "[SEP]", "[MASK]"]},
    "mt5": {"vocab_size": 200, "pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1,
            "byte_fallback": False, "user_defined_symbols": ["▁<extra_id_1>", "▁<extra_id_0>"]},
    "glm": {"model_type": "bpe", "vocab_size": 200, "user_defined_symbols": ["<n>", "▁▁"]},
}  # fmt: skip
ROLES = {
    "llama": {"bos": 1, "eod": 2, "eos": 2, "unk": 0},
    "albert": {"cls": 2, "eod": 3, "mask": 4, "pad": 0, "sep": 3, "unk": 1},
    "mt5": {"eod": 1, "eos": 1, "extra_id_0": 4, "extra_id_1": 3, "pad": 0, "unk": 2},
    "glm": {"bos": 1, "eod": 2, "eos": 2, "unk": 0},
}


@pytest.mark.parametrize("name", ["tokenizer.model", "spiece.model", "vocab.txt"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("whole_folder", [True, False])
def test_sentencepiece_files_alone_in_a_folder(tmp_path, name, layout, whole_folder):
    """ChatGLM 3's has been published as vocab.txt."""
    model = sentencepiece_model(**LAYOUTS[layout])
    (tmp_path / name).write_bytes(model)
    tokenizer = load_tokenizer(tmp_path if whole_folder else tmp_path / name)
    assert tokenizer.engine.startswith("jimu-sentencepiece ")
    assert tokenizer.specials == ROLES[layout]
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    assert tokenizer.encode_batch(TRIED)[0].tolist() == list(chain(*map(processor.encode, TRIED)))


def test_a_name_may_tell_nothing(tmp_path):
    model = sentencepiece_model(**LAYOUTS["llama"])
    for name in ("tokenizer.bin", "spm"):
        (tmp_path / name).write_bytes(model)
        tokenizer = load_tokenizer(tmp_path / name)
        assert tokenizer.engine.startswith("jimu-sentencepiece ")
        assert tokenizer.specials == ROLES["llama"]


def test_like_mt5_with_its_config(tmp_path):
    """Its sentinels are in the file: none are added."""
    (tmp_path / "spiece.model").write_bytes(sentencepiece_model(**LAYOUTS["mt5"]))
    config = {"tokenizer_class": "T5Tokenizer", "extra_ids": 0, "eos_token": "</s>"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    tokenizer = load_tokenizer(tmp_path)
    assert {**ROLES["mt5"], **tokenizer.specials} == tokenizer.specials
    assert tokenizer.specials["extra_id_0"] == 4
    assert tokenizer.vocab_size <= 200
