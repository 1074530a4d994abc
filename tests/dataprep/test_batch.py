from __future__ import annotations

import pickle

import numpy as np
import pytest

import dataprep
from dataprep.batch import Batch
from dataprep.errors import DataError, JimuError, RunError, UsageError

TEXTS = ["床前", "", "abc\n", "😀"]


def test_texts_and_layout_agree() -> None:
    made = Batch.from_texts(TEXTS)
    assert made.offsets.dtype == np.int64
    assert made.offsets.tolist() == [0, 6, 6, 10, 14]
    assert bytes(made.data) == "".join(TEXTS).encode()
    given = Batch(memoryview(bytes(made.data)), made.offsets)
    assert given.texts() == TEXTS
    assert len(given) == len(made) == 4


def test_empty_batch() -> None:
    batch = Batch.from_texts([])
    assert (len(batch), bytes(batch.data), batch.offsets.tolist()) == (0, b"", [0])


def test_lone_surrogate_is_no_utf8() -> None:
    batch = Batch.from_texts(["\ud800"])
    with pytest.raises(UnicodeEncodeError):
        _ = batch.data


@pytest.mark.parametrize("kind", [JimuError, UsageError, DataError, RunError])
def test_errors_cross_processes(kind: type[JimuError]) -> None:
    copy = pickle.loads(pickle.dumps(kind("What happened.", "What to do.")))
    assert type(copy) is kind
    assert (str(copy), copy.hint) == ("What happened.", "What to do.")


def test_exit_codes() -> None:
    assert [kind.exit_code for kind in (UsageError, DataError, RunError)] == [2, 1, 1]


def test_public_names() -> None:
    for name in dataprep.__all__:
        assert getattr(dataprep, name) is not None
        assert name in dir(dataprep)
    assert sorted(dataprep.__all__) == dataprep.__all__
    with pytest.raises(AttributeError, match="nothing"):
        _ = dataprep.nothing
