"""BERT's vocab.txt: ids are line numbers, and what is wrong with a file is named."""

import json

import pytest
import tokenizers
from tokenizer_samples import TEXTS

from dataprep.errors import DataError
from dataprep.tokenizers.load import load_tokenizer
from dataprep.tokenizers.vocab_txt import json_from_vocab_txt

TOKENS = ["[PAD]", "[unused1]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "\u2028", "天", "##\u2028",
          "all", "##ing", "cafe", "!", "[", "]", "sep"]  # fmt: skip


def written(folder, tokens, end="\n"):
    (folder / "vocab.txt").write_bytes((end.join(tokens) + end).encode())
    return folder


def ids(tokenizer, text):
    return tokenizer.encode_batch([text])[0].tolist()


def test_ids_are_line_numbers_though_a_line_holds_a_line_separator(tmp_path):
    tokenizer = load_tokenizer(written(tmp_path, TOKENS))
    assert tokenizer.engine == "jimu-wordpiece 1"
    assert tokenizer.vocab_size == len(TOKENS)
    assert ids(tokenizer, "Café, alling天!\u2028") == [11, 2, 9, 10, 7, 12]


def test_a_vocabulary_can_be_named_by_its_file_and_saved(tmp_path):
    tokenizer = load_tokenizer(written(tmp_path, TOKENS) / "vocab.txt")
    tokenizer.save(tmp_path / "copy.tokenizer.json")
    copy = load_tokenizer(tmp_path / "copy.tokenizer.json")
    assert copy.fingerprint == tokenizer.fingerprint
    assert ids(copy, TEXTS[0]) == ids(tokenizer, TEXTS[0])


def test_a_document_ends_with_sep_and_literal_specials_are_text(tmp_path):
    tokenizer = load_tokenizer(written(tmp_path, TOKENS))
    assert tokenizer.eod_id == 4
    assert ids(tokenizer, "[SEP] [unused1]") == [13, 15, 14, 13, 2, 14]


def lower(tokens, config=None):
    data = json_from_vocab_txt("\n".join(tokens).encode(), config, "vocab.txt")
    assert tokenizers.Tokenizer.from_str(data.decode()).get_vocab() == {
        token: i for i, token in enumerate(tokens)
    }
    return json.loads(data)["normalizer"]["lowercase"]


def test_case_is_guessed_from_the_words_unless_the_config_tells():
    assert lower(TOKENS) is True
    assert lower([*TOKENS, "<S>", "<T>"]) is True
    assert lower([*TOKENS, "##S"]) is False
    assert lower([*TOKENS, "The"], b'{"do_lower_case": true, "model_max_length": 512}') is True
    assert lower(TOKENS, b'{"do_lower_case": false}') is False


def test_the_config_beside_the_vocabulary_is_read(tmp_path):
    (tmp_path / "tokenizer_config.json").write_text(
        '{"do_lower_case": true, "strip_accents": false, "tokenize_chinese_chars": false}'
    )
    tokenizer = load_tokenizer(written(tmp_path, [*TOKENS, "café", "天all"]))
    assert ids(tokenizer, "CAFÉ cafe 天All") == [16, 11, 17]
    (tmp_path / "tokenizer_config.json").write_text("<html>")
    with pytest.raises(DataError, match=r"tokenizer_config\.json beside"):
        load_tokenizer(tmp_path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("\r\n".join(TOKENS).encode(), "CRLF"),
        (b"<!DOCTYPE html>", "HTML page"),
        (b"", "empty"),
        (b"hello\nworld\n", r"no \[UNK\]"),
        (b"[UNK]\n\xff\n", "not UTF-8"),
    ],
)
def test_a_wrong_file_is_named(tmp_path, data, message):
    (tmp_path / "vocab.txt").write_bytes(data)
    with pytest.raises(DataError, match=message):
        load_tokenizer(tmp_path)
