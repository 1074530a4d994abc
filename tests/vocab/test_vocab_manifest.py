import re
from urllib.parse import urlparse

import pytest

import vocab
from dataprep.errors import UsageError

PINNED = [
    (entry, file)
    for entry in map(vocab.known, vocab.names())
    for file in entry.files
    if file.sha256 is not None
]


def test_every_entry_is_complete():
    for entry in map(vocab.known, vocab.names()):
        assert entry.files, entry.name
        assert (entry.url is None) != (entry.repository is None), entry.name
        if entry.url:
            assert urlparse(entry.url).scheme == "https"


def test_hashes_and_sizes_are_plausible():
    for entry, file in PINNED:
        assert re.fullmatch("[0-9a-f]{64}", file.sha256), entry.name
        assert file.bytes is None or 50_000 < file.bytes < 50_000_000, entry.name


def test_one_hash_is_one_size():
    sizes = {}
    for _, file in PINNED:
        assert sizes.setdefault(file.sha256, file.bytes) == file.bytes


def test_an_unknown_name_is_answered_with_near_ones():
    with pytest.raises(UsageError, match="'gtp2'") as caught:
        vocab.known("gtp2")
    assert "gpt2" in caught.value.hint
    with pytest.raises(UsageError) as caught:
        vocab.known("xyzzy")
    assert "bert-base-chinese" in caught.value.hint
