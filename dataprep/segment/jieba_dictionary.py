"""jieba's words and how frequent they are, out of the installed package, and a user's own."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..errors import UsageError

__all__ = ["Frequencies", "UserDictionary", "dictionary_sha256", "frequencies", "package"]

_LINE = re.compile(r"(.+?)( [0-9]+)?( [a-z]+)?")
_LARGEST = 2**53  # sums of frequencies stay exact in float64


@dataclass(frozen=True)
class Frequencies:
    """A dictionary as jieba has it."""

    of: dict[str, int]
    """Frequency of each word; 0 for what is only the beginning of one."""
    total: int
    forced: frozenset[str]
    """Words that the user gave frequency 0: the hidden Markov model must not make them either."""


def package() -> Any:
    """The module ``jieba``, without the noise it makes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own old idioms, at import
        import jieba  # type: ignore[import-untyped]

    jieba.setLogLevel("WARNING")
    return jieba


class UserDictionary:
    """A file in jieba's format: a word, and if wanted its frequency and its tag, on each line.

    They are separated by one blank. Without a frequency, a word gets one that lets it be found.
    Raises UsageError, which names the line, for what jieba would misunderstand or stumble over.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        try:
            self._data = Path(path).read_bytes()
        except OSError as error:
            raise UsageError(f"--user-dict {path} cannot be read: {error.strerror}.") from error
        self.sha256 = sha256(self._data).hexdigest()
        self.entries = [
            entry
            for number, line in enumerate(self._data.split(b"\n"), 1)
            if (entry := self._entry(number, line)) is not None
        ]

    def _entry(self, number: int, line: bytes) -> tuple[str, int | None] | None:
        try:
            text = line.strip().decode().lstrip("\ufeff").strip()
        except UnicodeDecodeError:
            raise self._refuse(number, "it is not UTF-8", "Save the file as UTF-8.") from None
        if not text:
            return None
        match = _LINE.fullmatch(text)
        if match is None or re.search(r"\s", match[1]):
            raise self._refuse(
                number,
                f"{text!r} is not a word, its frequency and its tag",
                "Separate them by one blank: 云计算 5 n. The frequency is a whole number, the tag "
                "is of small letters, and both may be left out.",
            )
        frequency = None if match[2] is None else int(match[2][:20])
        if frequency is not None and frequency > _LARGEST:
            raise self._refuse(number, "the frequency is too large", f"At most {_LARGEST:,}.")
        return match[1], frequency

    def _refuse(self, number: int, what: str, hint: str) -> UsageError:
        return UsageError(f"--user-dict {self._path}, line {number}: {what}.", hint)


def frequencies(user: UserDictionary | None) -> Frequencies:
    """jieba's own dictionary, with the user's words put in one after another as jieba does."""
    jieba = package()
    tokenizer = jieba.Tokenizer()
    # Not initialize(): that trusts a file in the world-writable /tmp.
    of, total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.FREQ, tokenizer.total, tokenizer.initialized = of, total, True
    forced = set()
    for word, given in user.entries if user else ():
        frequency = tokenizer.suggest_freq(word) if given is None else given
        of[word] = frequency
        tokenizer.total += frequency
        for end in range(1, len(word)):
            of.setdefault(word[:end], 0)
        if frequency == 0:
            forced.add(word)
    return Frequencies(of, tokenizer.total, frozenset(forced))


def dictionary_sha256() -> str:
    """Hex sha256 of jieba's dictionary and its version, which decide what frequencies() gives."""
    with package().Tokenizer().get_dict_file() as file:
        digest = sha256(file.read())
    digest.update(version("jieba").encode())
    return digest.hexdigest()
