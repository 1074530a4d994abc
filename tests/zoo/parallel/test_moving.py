"""A run goes on under another layout, and exactly so under the same one; with dropout."""

import sys
from pathlib import Path

import numpy as np
import pytest

import zoo

sys.path.insert(0, str(Path(__file__).parent))
import moving_run

pytestmark = [pytest.mark.oneflow, pytest.mark.slow]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("moving")


@pytest.fixture
def result(folder, start_ranks):
    file = folder / "result.npz"
    if not file.exists():
        assert start_ranks(2, moving_run.__file__, folder) == 0
    return np.load(file)


@pytest.fixture(scope="module")
def alone():
    one = zoo.Mesh()
    _, step = moving_run.begin(one)
    return moving_run.train(step, one, range(6))


def test_a_run_goes_on_under_another_layout(result, alone):
    np.testing.assert_allclose(result["losses"], alone, rtol=1e-5)
    assert result["evaluations"][0] == pytest.approx(result["evaluations"][1], rel=1e-6)


def test_a_graph_over_ranks_goes_on_exactly_to_the_bit(result, alone):
    np.testing.assert_allclose(result["straight"], alone[3:], rtol=1e-5)
    assert result["resumed"].tolist() == result["straight"].tolist()


def test_layouts_that_cannot_be_are_told(result):
    assert result["refusals"].tolist() == [
        "heads=1 cannot be shared by tp=2: it must divide.",
        "1 layers cannot be shared by pp=2 pipeline stages.",
        "vocab=1 is too small for tp=2.",
        "The model is not laid out over Mesh(dp=1, tp=2, pp=1).",
        "dp=1 · tp=1 · pp=1 needs 1 ranks, but this run has 2.",
        "Linear does not name the axes of its parameter weight.",
        "The units of Forgetful do not hold each of its parameters once.",
    ]
