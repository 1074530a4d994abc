"""Texts and added tokens that several tests train and encode with."""

import itertools
import unicodedata
from collections.abc import Callable, Iterator

import tokenizers

from dataprep.batch import Batch
from dataprep.tokenizers.spec import TrainSpec
from dataprep.tokenizers.train import train_tokenizer

TEXTS = [
    "天下大势，分久必合，合久必分。周末七国分争，并入于秦。",
    "天地玄黄，宇宙洪荒。日月盈昃，辰宿列张。寒来暑往，秋收冬藏。",
    "All the world's a stage, and all the men and women merely players.",
    "for i in range(10):\n    print(i, end='\\n')\n\n\nreturn 0\n",
    "2026年11月30日，我们在 GitHub 上 release 了 v1.0 版本！",
] * 3

# Marked special, not special, not special and greedy for white space.
ADDED = [
    {"content": "<|endoftext|>", "special": True},
    {"content": "<|mask|>", "special": True, "lstrip": True},
    {"content": "<think>", "special": False},
    {"content": "<tool>", "special": False, "lstrip": True, "rstrip": True},
]


def train(size: int, *groups: list[str]) -> bytes:
    """tokenizer.json of `size` entries at most, each group of texts one batch."""
    return train_tokenizer(TrainSpec(vocab_size=size), iter(map(Batch.from_texts, groups)))


def trained_wordpiece(size=400, **flags) -> str:
    """tokenizer.json of a WordPiece trained in-process, as BERT's are made."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer(**flags)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = tokenizers.decoders.WordPiece()
    trainer = tokenizers.trainers.WordPieceTrainer(
        vocab_size=size,
        special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
        show_progress=False,
    )
    tokenizer.train_from_iterator(
        [*TEXTS, "café Ünïcode straße İstanbul 한국어 각 ①½"] * 2, trainer
    )
    return tokenizer.to_str()


def every_code_point(show: Callable[[str], str]) -> Iterator[list[str]]:
    """Documents in batches: every code point as `show` has it, 16 in one document.

    Marks and their neighbours have one each: an engine may send them to the reference, which then
    would be compared with itself.
    """
    points = (chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000)
    while batch := list(itertools.islice(points, 1 << 16)):
        documents = []
        for i in range(0, len(batch), 16):
            shown = list(map(show, batch[i : i + 16]))
            marked = any(unicodedata.category(c)[0] == "M" for c in batch[i : i + 16])
            documents += shown if marked else ["".join(shown)]
        yield documents
