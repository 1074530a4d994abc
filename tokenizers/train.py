"""Vocabularies trained on the corpus itself: byte-level BPE, WordPiece, unigram, characters."""

from __future__ import annotations

import io
import itertools
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from dataprep.batch import Batch
from dataprep.errors import DataError
from dataprep.tokenizers.spec import TrainSpec
from dataprep.tokenizers.unit_files import json_of_characters
from dataprep.tokenizers.word_cuts import WORD_END, cut_words, is_han

__all__ = ["EOD_TOKEN", "WORDS", "train_tokenizer", "trainer_of"]

EOD_TOKEN = "<|endoftext|>"  # noqa: S105  (no password)

COVERAGE = 0.9995
"""Share of the characters of the text that WordPiece and unigram vocabularies hold themselves."""

WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
    r"|[^\r\n\p{L}\p{N}]?\p{L}+"
    r"|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+"
    r"|\s+(?!\S)"
    r"|\s+"
)
"""Merges never cross the ends of these matches. It is the pattern that Qwen2 published: fastokens
knows it by heart, digits stay single, and line ends stay with the punctuation before them."""


def train_tokenizer(spec: TrainSpec, batches: Iterator[Batch]) -> bytes:
    """Train on all ``batches`` and return the bytes of a ``tokenizer.json``.

    The same documents in the same order give the same bytes, on any number of threads. Ids: 0 is
    ``<|endoftext|>`` in a byte-level BPE, 1 to 256 are the bytes, then the merges by falling
    frequency. The vocabulary is smaller than ``spec.vocab_size`` when the corpus has no more pairs
    to merge.

    Memory grows with the number of distinct words, time with their total length: give it a sample
    of a large corpus. Raises DataError for documents that are not UTF-8.
    """
    texts = _texts(batches)
    if spec.respect_words:
        texts = map(cut_words, texts)
    with _all_threads():
        return _TRAINERS[spec.kind](spec, texts)


def trainer_of(spec: TrainSpec) -> str:
    """The package that trains, with its version; ours has none."""
    package = {"unigram": "sentencepiece", "chars": None}.get(spec.kind, "tokenizers")
    return f"{package} {version(package)}" if package else "jimu"


def _bpe(spec: TrainSpec, texts: Iterator[list[str]]) -> bytes:
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=spec.vocab_size,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=[AddedToken(EOD_TOKEN, special=True, normalized=False)],
        show_progress=False,
    )
    words = [
        pre_tokenizers.Split(Regex(WORDS), behavior="isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ]
    _train(tokenizer, trainer, words, texts)
    return _json(tokenizer)


def _wordpiece(spec: TrainSpec, texts: Iterator[list[str]]) -> bytes:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    kept = list(texts)  # characters are counted before pieces are
    alphabet = _alphabet(kept, room=spec.vocab_size // 2)
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", EOD_TOKEN]
    # Left to itself, the trainer numbers these as they come out of a hash table. A Han character
    # is a word, so that nothing goes on with one.
    letters = [f"##{c}" for c in alphabet if not is_han(c)]
    trainer = trainers.WordPieceTrainer(
        vocab_size=spec.vocab_size,
        initial_alphabet=alphabet,
        limit_alphabet=len(alphabet),
        special_tokens=[*specials, *letters],
        show_progress=False,
    )
    trained = _bert(Tokenizer(models.WordPiece(unk_token="[UNK]")))  # noqa: S106  (no password)
    _train(trained, trainer, [pre_tokenizers.BertPreTokenizer()], iter(kept))
    # Only now are the letters ordinary pieces.
    model = models.WordPiece(trained.get_vocab(), unk_token="[UNK]")  # noqa: S106
    tokenizer = _bert(Tokenizer(model))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(specials)
    return _json(tokenizer)


def _bert(tokenizer: Any) -> Any:
    from tokenizers import normalizers

    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
    return tokenizer


def _unigram(spec: TrainSpec, texts: Iterator[list[str]]) -> bytes:
    """By sentencepiece, on one thread: Hugging Face's trainer cannot leave a character out."""
    import sentencepiece
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    model = io.BytesIO()
    lines = (line for group in texts for text in group for line in text.splitlines() if line)
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=lines,
            model_writer=model,
            model_type="unigram",
            vocab_size=spec.vocab_size - 1,
            hard_vocab_limit=False,
            character_coverage=COVERAGE,
            byte_fallback=True,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            add_dummy_prefix=False,  # a text with a space before it would lose that
            max_sentence_length=1 << 20,
            pretokenization_delimiter=WORD_END if spec.respect_words else "",
            bos_id=-1,
            eos_id=-1,
            num_threads=1,
            minloglevel=2,
        )
    except RuntimeError as error:
        raise DataError(
            f"No unigram vocabulary of {spec.vocab_size} can be trained on this text: {error}.",
            hint="Give more text, or ask for another size.",
        ) from error
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    # Hugging Face finds a literal <0x41> in the text; at this price only where its characters are
    # unknown.
    pieces = [
        (
            processor.id_to_piece(i),
            -1e4 if processor.is_byte(i) or processor.is_unknown(i) else processor.get_score(i),
        )
        for i in range(processor.vocab_size())
    ]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
    tokenizer.decoder = decoders.Sequence(
        [decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="never")]
    )
    tokenizer.add_special_tokens([AddedToken(EOD_TOKEN, special=True, normalized=False)])
    return _json(tokenizer)


def _characters(spec: TrainSpec, texts: Iterator[list[str]]) -> bytes:
    """The characters by falling frequency, behind the end of a document and the unknown one."""
    counts = Counter(itertools.chain.from_iterable(itertools.chain.from_iterable(texts)))
    del counts[WORD_END]  # no token spans words here anyway
    ranked = sorted(counts, key=lambda character: (-counts[character], character))
    return json_of_characters(ranked[: spec.vocab_size - 2])


_TRAINERS: dict[str, Callable[[TrainSpec, Iterator[list[str]]], bytes]] = {
    "bpe": _bpe,
    "wordpiece": _wordpiece,
    "unigram": _unigram,
    "chars": _characters,
}


def _train(tokenizer: Any, trainer: Any, words: list[Any], texts: Iterator[list[str]]) -> None:
    """Train with the ends of words as borders, which the finished tokenizer does not know."""
    from tokenizers import pre_tokenizers

    cuts = pre_tokenizers.Split(WORD_END, behavior="removed")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([cuts, *words])
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(words) if len(words) > 1 else words[0]


def _alphabet(texts: list[list[str]], room: int) -> list[str]:
    """The commonest characters that make up COVERAGE of the text, at most ``room``, sorted."""
    counts = Counter(c for group in texts for text in group for c in text if not c.isspace())
    counts.pop(WORD_END, None)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    missing = (1 - COVERAGE) * counts.total()
    while ordered and ordered[-1][1] <= missing:
        missing -= ordered.pop()[1]
    return sorted(character for character, _ in ordered[:room])


def _json(tokenizer: Any) -> bytes:
    json: str = tokenizer.to_str()
    return json.encode()


def _texts(batches: Iterator[Batch]) -> Iterator[list[str]]:
    for number, batch in enumerate(batches):
        try:
            yield batch.texts()
        except UnicodeDecodeError as error:
            raise DataError(
                f"Batch {number} of the training text is not valid UTF-8: {error}.",
                hint="Clean the text before a tokenizer is trained on it.",
            ) from error


@contextmanager
def _all_threads() -> Iterator[None]:
    """Undo what the reference engine asks of Hugging Face's package, for as long as this lasts."""
    name = "TOKENIZERS_PARALLELISM"
    before = os.environ.get(name)
    os.environ[name] = "true"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
