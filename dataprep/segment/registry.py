"""Segmenters by name: jieba's, and those that other packages bring."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any

import numpy as np

from ..batch import Batch
from ..errors import JimuError, RunError, UsageError
from .protocol import Bits, Segmenter, SegmenterOptions

__all__ = ["DEFAULT", "GROUP", "load_segmenter"]

DEFAULT = "jieba"

GROUP = "dataprep.segmenters"
"""Entry points of this group are called with SegmenterOptions and give a Segmenter."""


def load_segmenter(name: str = DEFAULT, options: SegmenterOptions | None = None) -> Segmenter:
    """The segmenter of this name.

    Raises UsageError when there is none, when it cannot do what ``options`` ask for, or when the
    package that brings it fails.
    """
    options = options or SegmenterOptions()
    if name == DEFAULT:
        from .jieba_segmenter import JiebaSegmenter

        return JiebaSegmenter(options)
    found = {entry.name: entry for entry in entry_points(group=GROUP)}
    if name not in found:
        raise UsageError(
            f"There is no segmenter {name!r}.",
            f"Installed: {', '.join([DEFAULT, *sorted(found)])}. Others come from packages with an "
            f"entry point in the group {GROUP}.",
        )
    try:
        factory: Callable[[SegmenterOptions], Any] = found[name].load()
        return _Checked(name, factory(options))
    except JimuError:
        raise
    except Exception as error:  # whatever a package of others raises
        raise UsageError(f"The segmenter {name!r} does not start: {error}.") from error


class _Checked:
    """A segmenter of others, which may be wrong."""

    def __init__(self, name: str, inner: Segmenter) -> None:
        self._name, self._inner = name, inner
        self.identity = f"{name}: {inner.identity}"

    def word_starts(self, batch: Batch) -> Bits:
        """See Segmenter; RunError when the answer cannot be."""
        starts = np.asarray(self._inner.word_starts(batch))
        data, firsts = np.frombuffer(batch.data, np.uint8), batch.offsets[:-1]
        fits = starts.shape == data.shape and starts.dtype == np.bool_
        if not (
            fits
            and starts[firsts[np.diff(batch.offsets) > 0]].all()
            and not ((data[starts] & 0xC0) == 0x80).any()
        ):
            raise RunError(
                f"The segmenter {self._name!r} gave no word starts: they are a bool for each of "
                f"the {len(data)} bytes, set at the beginning of every document, never within a "
                "character.",
                "Tell those who make it.",
            )
        return starts
