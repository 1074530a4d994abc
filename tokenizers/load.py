"""``load_tokenizer``: from a name or a path to a tokenizer, by the kind of file that is there."""

from __future__ import annotations

from pathlib import Path

import vocab
from dataprep.errors import UsageError
from dataprep.tokenizers.kinds import BUILT_IN, KINDS, Kind
from dataprep.tokenizers.protocol import Tokenizer

__all__ = ["load_tokenizer"]


def load_tokenizer(name_or_path: str | Path) -> Tokenizer:
    """Load and check a tokenizer.

    ``name_or_path`` is a file of one of the KINDS, a folder with the files of one, ``bytes``, or
    the name of a public vocabulary, which is fetched when it is not in the cache. A path comes
    before a name.

    The first load on a machine compares the fast engine with the reference on a probe; when the
    fast one fails or disagrees, the reference is used, with an EngineFallbackWarning, and
    ``engine`` says so. Load once, in the parent, and hand the result to workers by fork or by
    pickle.

    Raises UsageError when there is no such file or its kind is not supported, and DataError when
    it is something else than its name says.
    """
    path, name = Path(name_or_path), str(name_or_path)
    if not path.exists():
        if name in BUILT_IN:
            return BUILT_IN[name]()
        if vocab.is_known(name):
            path = vocab.fetch(name)
    return _kind(path).load(path, name)


def _kind(path: Path) -> Kind:
    """What is at ``path``; UsageError when it is nothing of the kind."""
    if path.is_file():
        # The copy of a tokenizer beside a dataset is called by the dataset's name.
        return next((kind for kind in KINDS if path.name.endswith(kind.endings)), KINDS[0])
    if not path.is_dir():
        raise UsageError(f"There is no tokenizer at {path}.", hint=_allowed())
    for kind in KINDS:
        if kind.files and all(any(path.glob(file)) for file in kind.files):
            return kind
    names = sorted(entry.name for entry in path.iterdir())
    more = " and more" if len(names) > 10 else ""
    raise UsageError(
        f"The folder {path} has no tokenizer in it; it has {', '.join(names[:10]) or 'nothing'}"
        f"{more}.",
        hint=_allowed(),
    )


def _allowed() -> str:
    files = ", ".join(" with ".join(kind.files) or f"NAME{kind.endings[0]}" for kind in KINDS)
    return (
        f"Name a file or a folder of one of these kinds: {files}; or a public vocabulary (dataprep "
        "vocab list); or bytes; or train one: train:bpe:8000."
    )
