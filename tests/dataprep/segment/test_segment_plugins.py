"""Segmenters of other packages, by entry point."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from dataprep.batch import Batch
from dataprep.errors import RunError, UsageError
from dataprep.segment import SegmenterOptions, load_segmenter

MODULE = """
import numpy as np
from dataprep.errors import UsageError

class Pairs:
    identity = "pairs 3"
    def __init__(self, options):
        if options.hmm:
            raise UsageError("pairs does not guess")
        self.wrong = options.user_dict
    def word_starts(self, batch):
        starts = np.zeros(len(batch.data), bool)
        for first in batch.offsets[:-1]:
            starts[first:first + 1] = True
        if self.wrong == "length":
            return starts[:-1]
        if self.wrong == "type":
            return starts.astype(np.int64)
        if self.wrong == "within":
            starts[1:2] = True
        if self.wrong == "none":
            starts[:] = False
        return starts

def broken(options):
    raise OSError("no model here")
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A distribution with two segmenters, as pip leaves one."""
    (tmp_path / "fake_pairs.py").write_text(MODULE)
    info = tmp_path / "fake_pairs-3.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fake-pairs\nVersion: 3\n")
    (info / "entry_points.txt").write_text(
        "[dataprep.segmenters]\npairs = fake_pairs:Pairs\nbroken = fake_pairs:broken\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("fake_pairs", None)


def test_a_plug_in_is_found_by_name(installed):
    segmenter = load_segmenter("pairs")
    assert segmenter.identity == "pairs: pairs 3"
    starts = segmenter.word_starts(Batch.from_texts(["一二", "三"]))
    assert np.flatnonzero(starts).tolist() == [0, 6]


def test_an_unknown_name_is_told_those_that_are_there(installed):
    with pytest.raises(UsageError, match="no segmenter 'pears'") as caught:
        load_segmenter("pears")
    assert "jieba, broken, pairs" in caught.value.hint


def test_what_a_plug_in_refuses_or_breaks_on(installed):
    with pytest.raises(UsageError, match="pairs does not guess"):
        load_segmenter("pairs", SegmenterOptions(hmm=True))
    with pytest.raises(UsageError, match="'broken' does not start: no model here"):
        load_segmenter("broken")


@pytest.mark.parametrize("wrong", ["length", "type", "within", "none"])
def test_an_answer_that_cannot_be_is_refused(installed, wrong):
    segmenter = load_segmenter("pairs", SegmenterOptions(user_dict=wrong))
    with pytest.raises(RunError, match="'pairs' gave no word starts"):
        segmenter.word_starts(Batch.from_texts(["一二"]))
