"""``dataprep train-tokenizer``: a folder that transformers and this project both load."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .checkup import Checkup, examine
from .durable import replace
from .errors import DataError, UsageError
from .inputs import list_inputs
from .plan import make_plan
from .sampling import draw

if TYPE_CHECKING:
    from .tokenizers.spec import TrainSpec

__all__ = ["TrainSettings", "Trained", "train_folder"]

_ROLES = {"eod": "eos_token", "pad": "pad_token", "unk": "unk_token", "mask": "mask_token"} | {
    "cls": "cls_token",
    "sep": "sep_token",
}


@dataclass(frozen=True, kw_only=True)
class TrainSettings:
    """What to train on."""

    inputs: tuple[str, ...]
    sample_bytes: int
    seed: int = 0
    balance: bool = False
    text_key: str = "text"

    def __post_init__(self) -> None:
        if self.sample_bytes < 1:
            raise UsageError(f"--sample-bytes {self.sample_bytes}: at least 1 is needed.")


@dataclass(frozen=True)
class Trained:
    """What came of it."""

    folder: Path
    checkup: Checkup
    """On text held out of the training."""
    bytes_of: dict[str, int]
    """Bytes trained on, by language."""
    coverage: float
    """Share of the held-out characters that the vocabulary writes whole."""

    def summary(self) -> str:
        """One line for people."""
        trained = ", ".join(f"{size / 1e6:,.2f} MB {name}" for name, size in self.bytes_of.items())
        return (
            f"{self.checkup.vocab_size:,} entries, trained on {trained}; {100 * self.coverage:.3f} "
            "% of the characters of held-out text are in the vocabulary."
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "folder": str(self.folder),
            "trained_on": self.bytes_of,
            "coverage": self.coverage,
            "held_out": self.checkup.to_json(),
        }


def train_folder(spec: TrainSpec, settings: TrainSettings, folder: Path) -> Trained:
    """Train and write ``tokenizer.json``, ``tokenizer_config.json``, ``special_tokens_map.json``.

    Raises UsageError when the folder is not empty, DataError when there is no text to train on.
    """
    from .tokenizers.from_json import tokenizer_from_json
    from .tokenizers.train import train_tokenizer

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists and is not empty.", "Choose another --out.")
    plan = make_plan(
        list_inputs(settings.inputs).inputs,
        tokenizer="",
        doc_per=None,
        text_key=settings.text_key,
        keep_rejects=False,
    )
    sample = draw(plan, settings.sample_bytes, seed=settings.seed, balance=settings.balance)
    if not any(map(len, sample.training)):
        raise DataError(
            f"There is no text to train on in {', '.join(settings.inputs)}.",
            "Is it the right --text-key? Allow more with --sample-bytes.",
        )
    data = train_tokenizer(spec, iter(sample.training))
    tokenizer = tokenizer_from_json(data, str(folder))
    tokens = {i: token for token, i in tokenizer.special_tokens.items()}
    specials = {
        name: tokens[tokenizer.specials[role]]
        for role, name in _ROLES.items()
        if tokenizer.specials.get(role) in tokens
    }
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        **specials,
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, values in (("tokenizer_config", config), ("special_tokens_map", specials)):
        replace(folder / f"{name}.json", json.dumps(values, indent=1).encode())
    replace(folder / "tokenizer.json", data)
    checkup = examine(tokenizer, sample.held_out)
    return Trained(folder, checkup, sample.bytes_of, _coverage(data, sample.held_out))


def _coverage(data: bytes, texts: list[str]) -> float:
    """Share of the characters, blanks aside, that some token of the vocabulary holds."""
    from .tokenizers.spelling import byte_alphabet

    model = json.loads(data)["model"]
    pieces = [p[0] for p in model["vocab"]] if isinstance(model["vocab"], list) else model["vocab"]
    if model["type"] == "BPE":
        byte_of = {character: byte for byte, character in enumerate(byte_alphabet())}
        spelt = (bytes(byte_of.get(c, 0) for c in piece) for piece in pieces)
        known = {c for token in spelt for c in token.decode("utf-8", "ignore")}
    else:
        known = {c for piece in pieces for c in piece}
    counts = Counter(c for text in texts for c in text if not c.isspace())
    return sum(n for c, n in counts.items() if c in known) / (counts.total() or 1)
