import pytest

from dataprep.errors import UsageError
from zoo.parallel.stages import stages_of_units


def test_blocks_are_shared_evenly_and_ends_go_along():
    assert stages_of_units(6, 1) == [0] * 6
    assert stages_of_units(6, 2) == [0, 0, 0, 1, 1, 1]
    assert stages_of_units(7, 2) == [0, 0, 0, 0, 1, 1, 1]
    assert stages_of_units(5, 3) == [0, 0, 1, 2, 2]


def test_stages_without_a_block_are_told():
    with pytest.raises(UsageError, match=r"2 layers cannot be shared by pp=3") as caught:
        stages_of_units(4, 3)
    assert caught.value.hint == "Choose pp of at most 2."
