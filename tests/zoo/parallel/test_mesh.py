import pytest

from dataprep.errors import UsageError
from zoo.parallel import Mesh


def test_ranks_are_numbered_with_tp_fastest_and_pp_slowest():
    mesh = Mesh(dp=2, tp=3, pp=2)
    assert mesh.size == 12
    assert [mesh.coordinates(rank) for rank in (0, 1, 3, 6, 11)] == [
        (0, 0, 0),
        (0, 0, 1),
        (0, 1, 0),
        (1, 0, 0),
        (1, 1, 2),
    ]
    assert mesh.stage_ranks(0) == [[0, 1, 2], [3, 4, 5]]
    assert mesh.stage_ranks(1) == [[6, 7, 8], [9, 10, 11]]


def test_degrees_are_exact():
    Mesh(dp=2, tp=2).check(4)
    with pytest.raises(UsageError, match=r"dp=2 · tp=2 · pp=1 needs 4 ranks, but this run has 8"):
        Mesh(dp=2, tp=2).check(8)


@pytest.mark.parametrize("degrees", [{"dp": 0}, {"tp": -1}, {"pp": 1.5}])
def test_degrees_that_cannot_be_are_told(degrees):
    with pytest.raises(UsageError, match=r"cannot be: a degree is at least 1"):
        Mesh(**degrees)


def test_ranks_outside_are_told():
    with pytest.raises(UsageError, match="Rank 2 is not on a mesh of 2 ranks"):
        Mesh(dp=2).coordinates(2)
