"""The kinds of vocabulary files, and how each becomes a tokenizer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dataprep.tokenizers.clip import CLIP_FILE, json_from_clip
from dataprep.tokenizers.from_json import tokenizer_from_json
from dataprep.tokenizers.from_sentencepiece import is_packed, load_sentencepiece, unpacked
from dataprep.tokenizers.merges import MERGES_FILE, VOCAB_FILE, json_from_merges
from dataprep.tokenizers.protocol import Tokenizer
from dataprep.tokenizers.sp_model import looks_like_model
from dataprep.tokenizers.tiktoken_files import load_tiktoken, looks_like_ranks
from dataprep.tokenizers.unit_files import BYTES_NAME, json_from_chars_file, json_of_bytes
from dataprep.tokenizers.vocab_txt import CONFIG_FILE, VOCAB_TXT, json_from_vocab_txt

__all__ = ["BUILT_IN", "KINDS", "Kind"]


@dataclass(frozen=True)
class Kind:
    """A way in which tokenizers are published.

    A folder that holds all of ``files``, which may be patterns, if there are any, is of this kind;
    so is a file whose name ends in one of ``endings``. ``load`` takes the path, of a file or of a
    folder, and the name for messages.
    """

    files: tuple[str, ...]
    endings: tuple[str, ...]
    load: Callable[[Path, str], Tokenizer]


def _tokenizer_json(path: Path, name: str) -> Tokenizer:
    data = _file(path, "tokenizer.json").read_bytes()
    if looks_like_model(data):  # under a name that tells nothing, such as tokenizer.bin
        return load_sentencepiece(path, name)
    if looks_like_ranks(data):
        return load_tiktoken(path, name)
    return unpacked(data, name) if is_packed(data) else tokenizer_from_json(data, name)


def _merges(path: Path, name: str) -> Tokenizer:
    vocab, merges = (path / VOCAB_FILE).read_bytes(), (path / MERGES_FILE).read_bytes()
    return tokenizer_from_json(json_from_merges(vocab, merges, str(path)), name)


def _model(path: Path, name: str) -> Tokenizer:
    files = [path] if path.is_file() else sorted(path.glob("*.model"))
    if len(files) == 1 and looks_like_ranks(files[0].read_bytes()):
        return load_tiktoken(files[0], name)
    return load_sentencepiece(path, name)


def _vocab_txt(path: Path, name: str) -> Tokenizer:
    file = _file(path, VOCAB_TXT)
    if looks_like_model(file.read_bytes()):  # as Kolors calls ChatGLM 3's
        return load_sentencepiece(file, name)
    config = file.with_name(CONFIG_FILE)
    flags = config.read_bytes() if config.is_file() else None
    return tokenizer_from_json(json_from_vocab_txt(file.read_bytes(), flags, str(file)), name)


def _clip(path: Path, name: str) -> Tokenizer:
    file = _file(path, CLIP_FILE)
    return tokenizer_from_json(json_from_clip(file.read_bytes(), str(file)), name)


def _chars(path: Path, name: str) -> Tokenizer:
    return tokenizer_from_json(json_from_chars_file(path.read_bytes(), str(path)), name)


def _file(path: Path, name: str) -> Path:
    return path / name if path.is_dir() else path


KINDS: tuple[Kind, ...] = (
    Kind(("tokenizer.json",), (".json",), _tokenizer_json),
    Kind((VOCAB_FILE, MERGES_FILE), (), _merges),
    Kind(("*.model",), (".model",), _model),
    Kind(("*.tiktoken",), (".tiktoken",), load_tiktoken),
    Kind((VOCAB_TXT,), (".txt",), _vocab_txt),
    Kind((CLIP_FILE,), (".txt.gz",), _clip),
    Kind((), (".chars",), _chars),
)
"""In order of preference, where a folder holds several; the first also stands for files whose
name tells nothing."""

BUILT_IN: dict[str, Callable[[], Tokenizer]] = {
    BYTES_NAME: lambda: tokenizer_from_json(json_of_bytes(), BYTES_NAME),
}
"""Tokenizers that need no file, by name."""
