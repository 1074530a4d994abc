"""Settings of a build: from a file, from flags, from Python; checked once, frozen."""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from .errors import UsageError
from .manifest import name_of

__all__ = [
    "BuildSettings",
    "Convert",
    "DocPer",
    "OnError",
    "SpecialInText",
    "help_of",
    "read_config",
]

DocPer = Literal["file", "line", "block"]
OnError = Literal["limit", "skip", "fail"]
SpecialInText = Literal["text", "special", "error"]
Convert = Literal["none", "simplify", "traditionalize"]

_NO_KEY = re.compile(r'["\\\x00-\x1f\ud800-\udfff]')  # what the parser of records does not take


@dataclass(frozen=True, kw_only=True)
class BuildSettings:
    """Everything that a build can be told. Raises UsageError for what cannot be.

    The text beside each type is what --help says.
    """

    inputs: Annotated[tuple[str, ...], "Folders, files or glob patterns to read."] = ()
    out: Annotated[
        str, "Name of the dataset: NAME.bin, NAME.idx, ... (default: out/<name of the input>)"
    ] = ""
    tokenizer: Annotated[
        str,
        "Path of a tokenizer.json or its folder, or train:bpe:N to train one on the corpus "
        "(default: train:bpe:8000).",
    ] = "train:bpe:8000"
    special_in_text: Annotated[
        SpecialInText,
        "What a special token written out in the text is, such as <|endoftext|>: text (default), "
        "the special token, or an error of that record.",
    ] = "text"
    add_bos: Annotated[bool, "Start every document with the tokenizer's bos token."] = False
    append_eod: Annotated[bool, "End every document with its end-of-document token (default)."] = (
        True
    )
    convert: Annotated[
        Convert,
        "simplify or traditionalize Chinese characters before text is encoded, by OpenCC "
        "(default: none).",
    ] = "none"
    words: Annotated[bool, "Write NAME.words: a bit for each token, set where a word starts."] = (
        False
    )
    sentences: Annotated[
        bool, "Write NAME.sentences: a bit for each token, set where a sentence starts."
    ] = False
    segmenter: Annotated[
        str, "What cuts Chinese into words: jieba (default), or the name of a plug-in."
    ] = "jieba"
    user_dict: Annotated[
        str | None, "File of more words for the segmenter, in jieba's format: WORD [FREQ] [TAG]."
    ] = None
    hmm: Annotated[bool, "Let jieba guess words that are in no dictionary."] = False
    workers: Annotated[int | None, "Worker processes (default: one for each core)."] = None
    doc_per: Annotated[
        DocPer | None,
        "What a document is in .txt and .md files: file, line, or block between blank lines "
        "(default: line for .txt, file for .md).",
    ] = None
    text_key: Annotated[str, "Key of the text in .jsonl records (default: text)."] = "text"
    on_error: Annotated[
        OnError,
        "limit (default): leave out up to --max-errors bad records, stop at a damaged file; "
        "skip: leave out all that is bad; fail: stop at the first bad record.",
    ] = "limit"
    max_errors: Annotated[int, "Bad records that --on-error limit leaves out (default: 100)."] = 100
    keep_rejects: Annotated[
        str | None, "File for every record that failed or was dropped, as JSON lines."
    ] = None
    overwrite: Annotated[bool, "Start over: discard unfinished work, replace the dataset."] = False

    def __post_init__(self) -> None:
        for name, (kind, _) in _fields().items():
            value = getattr(self, name)
            if not _fits(value, kind):
                raise UsageError(f"{name} is {value!r}; allowed: {_described(kind)}.")
        paths = (self.out, self.tokenizer, self.keep_rejects or "", self.user_dict or "")
        for path in (*self.inputs, *paths):
            if "\0" in path:
                raise UsageError(f"There is a NUL in {path!r}, which no path can hold.")
        if not self.inputs:
            raise UsageError("No input was given.", "Name a folder, files or a glob pattern.")
        if not self.out:
            object.__setattr__(self, "out", _default_out(self.inputs))
        if Path(self.out).name in ("", ".."):
            raise UsageError(f"--out {self.out} has no name.", "For example: --out out/corpus")
        if (name := name_of(self.out)) != self.out:
            raise UsageError(
                f"--out {self.out} is the name of one file of a dataset.",
                f"Leave the ending out: --out {name}",
            )
        if self.workers is not None and self.workers < 1:
            raise UsageError(f"--workers {self.workers}: at least 1 is needed.")
        if self.max_errors < 0:
            raise UsageError(f"--max-errors {self.max_errors}: it cannot be negative.")
        if not self.words and (self.user_dict is not None or self.hmm or self.segmenter != "jieba"):
            raise UsageError(
                "--segmenter, --user-dict and --hmm say what words are, but no words are wanted.",
                "Add --words.",
            )
        if not self.text_key:
            raise UsageError("--text-key is empty.", "Name the key that holds the text.")
        if _NO_KEY.search(self.text_key):
            raise UsageError(
                f"--text-key {self.text_key!r} cannot be looked for: it has a quote, a backslash, "
                "a control character or bytes that are not UTF-8.",
                "Rename the key in the records.",
            )

    def to_json(self) -> dict[str, Any]:
        """Plain values, as --print-config shows them and the manifest keeps them."""
        return {**dataclasses.asdict(self), "inputs": list(self.inputs)}

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> BuildSettings:
        """Settings by name, as a file holds them."""
        for name in values:
            if name not in _fields():
                raise UsageError(f"Unknown setting {name!r}.", f"Known: {', '.join(_fields())}.")
        inputs = values.get("inputs", ())
        inputs = tuple(inputs) if isinstance(inputs, list) else inputs
        return cls(**{**values, "inputs": inputs})


def help_of(name: str) -> str:
    """What a setting means, for --help."""
    return _fields()[name][1]


@cache
def _fields() -> dict[str, tuple[Any, str]]:
    """Type and meaning of each setting."""
    hints = get_type_hints(BuildSettings, include_extras=True)
    return {name: (kind.__origin__, kind.__metadata__[0]) for name, kind in hints.items()}


def read_config(path: Path) -> dict[str, Any]:
    """The settings in a TOML file; dashes in names count as underscores."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"--config {path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise UsageError(f"--config {path} is not TOML: {error}.") from error
    return {name.replace("-", "_"): value for name, value in values.items()}


def _fits(value: Any, kind: Any) -> bool:
    if get_origin(kind) in (Union, UnionType):
        return any(_fits(value, option) for option in get_args(kind))
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    if get_origin(kind) is tuple:
        return isinstance(value, tuple) and all(isinstance(entry, str) for entry in value)
    return type(value) is kind


def _described(kind: Any) -> str:
    if get_origin(kind) in (Union, UnionType):
        return " or ".join(map(_described, get_args(kind)))
    if get_origin(kind) is Literal:
        return ", ".join(get_args(kind))
    name = str(getattr(kind, "__name__", kind))
    return {"NoneType": "nothing", "tuple": "a list of str"}.get(name, name)


def _default_out(inputs: tuple[str, ...]) -> str:
    if len(inputs) > 1 or any(character in inputs[0] for character in "*?["):
        raise UsageError("Several inputs need a name for the dataset.", "Give it with --out NAME.")
    name = Path(inputs[0]).resolve().name.split(".")[0]
    return str(Path("out") / (name or "corpus"))
