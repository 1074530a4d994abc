"""Raw text to indexed, memory-mapped token datasets.

::

    import dataprep

    dataprep.build(["corpus/"], out="out/corpus")
    dataset = dataprep.open("out/corpus")
    ids, offsets = dataset.tokenizer().encode_batch(["床前明月光", "Call me Ishmael."])
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import build
    from .batch import Batch
    from .dataset import Dataset
    from .dataset import open_dataset as open  # noqa: A004
    from .errors import DataError, JimuError, RunError, UsageError
    from .settings import BuildSettings
    from .tokenizers.load import load_tokenizer

__all__ = [
    "Batch",
    "BuildSettings",
    "DataError",
    "Dataset",
    "JimuError",
    "RunError",
    "UsageError",
    "build",
    "load_tokenizer",
    "open",
]

_HOMES = {
    "Batch": ("batch", "Batch"),
    "BuildSettings": ("settings", "BuildSettings"),
    "DataError": ("errors", "DataError"),
    "Dataset": ("dataset", "Dataset"),
    "JimuError": ("errors", "JimuError"),
    "RunError": ("errors", "RunError"),
    "UsageError": ("errors", "UsageError"),
    "build": ("api", "build"),
    "load_tokenizer": ("tokenizers.load", "load_tokenizer"),
    "open": ("dataset", "open_dataset"),
}


def __getattr__(name: str) -> Any:
    # Nothing is imported before it is used: --help must not wait for numpy and engines.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _HOMES[name]
    value = getattr(import_module(f".{module}", __name__), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
