from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from dataprep.batch import Batch
from dataprep.segment import Segmenter, SegmenterOptions, load_segmenter


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory):
    """Tables are made once for all tests here, and not taken from the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder


@pytest.fixture(scope="session")
def jieba(own_cache):
    """A tokenizer of jieba's, with a cache of its own and nothing of other tests in it."""
    from dataprep.segment.jieba_dictionary import package

    tokenizer = package().Tokenizer()
    tokenizer.tmp_dir = str(own_cache)
    tokenizer.initialize()
    return tokenizer


@pytest.fixture(scope="session")
def segmenters(own_cache) -> dict[bool, Segmenter]:
    """Ours, by whether it guesses."""
    return {hmm: load_segmenter(options=SegmenterOptions(hmm=hmm)) for hmm in (False, True)}


Cut = Callable[[list[str], Callable[[Batch], np.ndarray]], list[list[str]]]


@pytest.fixture(scope="session")
def cut() -> Cut:
    """The parts of each text that a function of a batch marks the starts of."""

    def parts(texts: list[str], starts_of: Callable[[Batch], np.ndarray]) -> list[list[str]]:
        batch = Batch.from_texts(texts)
        starts = starts_of(batch)
        assert starts.dtype == np.bool_
        assert starts.shape == (len(batch.data),)
        found = []
        for first, stop in itertools.pairwise(batch.offsets.tolist()):
            places = [*(first + np.flatnonzero(starts[first:stop])).tolist(), stop]
            assert places[0] == first
            found.append([bytes(batch.data[a:b]).decode() for a, b in itertools.pairwise(places)])
        return found

    return parts
