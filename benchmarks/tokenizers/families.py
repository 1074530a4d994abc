"""What is measured: each family on one vocabulary, and the reference it has to equal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from tokenizers import Tokenizer as HuggingFace
from tokenizers import models

from dataprep.tokenizers.protocol import Tokenizer

Ids: TypeAlias = tuple[np.ndarray, list[int]]
"""Ids of all documents in a row, and how many each has."""

Encode: TypeAlias = Callable[[list[str]], Ids]


@dataclass(frozen=True)
class Family:
    """``source`` is a folder or file below the folder of vocabularies, or a name of its own.

    ``reference`` makes the peer's encoder from that path and our tokenizer.
    """

    name: str
    source: str
    reference: Callable[[Path, Tokenizer], Encode]


def hugging_face(tokenizer: HuggingFace) -> Encode:
    """``encode_batch``, specials in the text taken for text, as ours."""
    tokenizer.encode_special_tokens = True

    def encode(texts: list[str]) -> Ids:
        encodings = tokenizer.encode_batch(texts, add_special_tokens=False)
        return flat([encoding.ids for encoding in encodings])

    return encode


def flat(lists: Sequence[Sequence[int]]) -> Ids:
    """One array, as every consumer needs it."""
    return np.concatenate([np.array(ids, np.uint32) for ids in lists]), list(map(len, lists))


def _same_json(path: Path, ours: Tokenizer) -> Encode:  # noqa: ARG001
    """Hugging Face's package on the very tokenizer.json that ours made or read."""
    scratch = Path.cwd() / ".bench-tokenizer.json"
    try:
        ours.save(scratch)
        return hugging_face(HuggingFace.from_file(str(scratch)))
    finally:
        scratch.unlink()


def _gpt2(path: Path, ours: Tokenizer) -> Encode:  # noqa: ARG001
    from tokenizers import decoders, pre_tokenizers

    model = models.BPE.from_file(str(path / "vocab.json"), str(path / "merges.txt"))
    tokenizer = HuggingFace(model)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return hugging_face(tokenizer)


def _bert(path: Path, ours: Tokenizer) -> Encode:  # noqa: ARG001
    """Lower-cased BERT from its vocab.txt; read here, since its own reader strips lines."""
    from tokenizers import normalizers, pre_tokenizers

    tokens = (path / "vocab.txt").read_bytes().decode().split("\n")[:-1]
    ids = {token: i for i, token in enumerate(tokens)}
    tokenizer = HuggingFace(models.WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return hugging_face(tokenizer)


def _clip(path: Path, ours: Tokenizer) -> Encode:  # noqa: ARG001
    """CLIP as transformers builds it, from OpenAI's file."""
    import gzip

    from tokenizers import Regex, normalizers, pre_tokenizers

    lines = gzip.decompress((path / "bpe_simple_vocab_16e6.txt.gz").read_bytes()).decode()
    merges = [tuple(line.split()) for line in lines.split("\n")[1 : 49152 - 256 - 2 + 1]]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens = [*letters, *(c + "</w>" for c in letters), *map("".join, merges)]
    ids = {token: i for i, token in enumerate([*tokens, "<|startoftext|>", "<|endoftext|>"])}
    tokenizer = HuggingFace(
        models.BPE(ids, merges, unk_token="<|endoftext|>", end_of_word_suffix="</w>")
    )
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
    )
    words = (
        r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|"
        r"[^\s\p{L}\p{N}]+"
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(words), behavior="removed", invert=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    return hugging_face(tokenizer)


def _sentencepiece(path: Path, ours: Tokenizer) -> Encode:  # noqa: ARG001
    """sentencepiece itself, giving arrays, on one thread."""
    from sentencepiece import SentencePieceProcessor

    (file,) = path.glob("*.model")
    processor = SentencePieceProcessor(model_file=str(file))

    def encode(texts: list[str]) -> Ids:
        parts = processor.encode(texts, return_type="numpy", num_threads=1)
        return np.concatenate(parts).view(np.uint32), list(map(len, parts))

    return encode


FAMILIES: tuple[Family, ...] = (
    Family("byte-level BPE, GPT-2", "gpt2", _gpt2),
    Family("byte-level BPE, Qwen3", "qwen3", _same_json),
    Family("WordPiece, BERT Chinese", "bert-base-chinese", _bert),
    Family("WordPiece, BERT uncased", "bert-base-uncased", _bert),
    Family("lower-cased BPE, CLIP", "clip", _clip),
    Family("SentencePiece BPE, Mistral", "mistral", _sentencepiece),
    Family("SentencePiece unigram, CPM", "cpm-1", _sentencepiece),
    Family("SentencePiece unigram, T5", "t5", _sentencepiece),
    Family("bytes", "bytes", _same_json),
)
