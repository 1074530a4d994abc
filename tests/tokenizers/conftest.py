"""Small tokenizers made in-process, so that no test needs a download."""

import functools
import json
import os
from pathlib import Path

import pytest
from tokenizer_samples import ADDED, TEXTS, train

from dataprep.tokenizers import wordpiece_tables
from dataprep.tokenizers.wordpiece_classes import probe


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch) -> Path:
    """Nothing has been checked or fetched, and the user's own cache is left alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "jimu"


@functools.cache
def probe_once(parts: str):
    return probe(parts)


def probe_parts(made: str):
    """What code points become hangs on two parts of the file, whatever the vocabulary."""
    spec = json.loads(made)
    model = {"type": "WordPiece", "vocab": {"[UNK]": 0}, "unk_token": "[UNK]"}
    model |= {"continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
    return probe_once(json.dumps({**spec, "added_tokens": [], "model": model}))


@pytest.fixture(autouse=True)
def code_points_are_asked_for_once(monkeypatch):
    """All of them take seconds, and caches are empty in each test."""
    monkeypatch.setattr(wordpiece_tables, "probe", probe_parts)


@pytest.fixture(scope="session")
def trained() -> bytes:
    """tokenizer.json of a byte-level BPE of 400 entries, <|endoftext|> its only added token."""
    return train(400, TEXTS)


@pytest.fixture(scope="session")
def with_added(trained: bytes) -> bytes:
    """The same with more added tokens, and with a truncation, a padding and a post-processor."""
    spec = json.loads(trained)
    flags = {"lstrip": False, "rstrip": False, "single_word": False, "normalized": False}
    first = len(spec["model"]["vocab"])
    spec["added_tokens"] = [
        {**flags, **token, "id": first + i - 1 if i else 0} for i, token in enumerate(ADDED)
    ]
    spec["truncation"] = {
        "direction": "Right",
        "max_length": 3,
        "strategy": "LongestFirst",
        "stride": 0,
    }
    spec["padding"] = {
        "strategy": {"Fixed": 9},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "<|endoftext|>",
    }
    spec["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [
            {"Sequence": {"id": "A", "type_id": 0}},
            {"SpecialToken": {"id": "<|endoftext|>", "type_id": 0}},
        ],
        "pair": [
            {"Sequence": {"id": "A", "type_id": 0}},
            {"Sequence": {"id": "B", "type_id": 1}},
        ],
        "special_tokens": {
            "<|endoftext|>": {"id": "<|endoftext|>", "ids": [0], "tokens": ["<|endoftext|>"]}
        },
    }
    return json.dumps(spec, ensure_ascii=False).encode()


@pytest.fixture(scope="session")
def public_vocabularies() -> Path:
    """Folder of real public vocabularies, where the machine has one."""
    if "JIMU_SHARED" not in os.environ:
        pytest.skip("JIMU_SHARED is not set: no public vocabularies on this machine")
    return Path(os.environ["JIMU_SHARED"]) / "vocab"
