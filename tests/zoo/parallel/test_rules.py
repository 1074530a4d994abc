import pytest

from dataprep.errors import UsageError
from zoo.engine import constrain, flow
from zoo.parallel.rules import mesh_dimension


def test_axes_have_a_dimension_or_none():
    assert [mesh_dimension(axis) for axis in ("batch", "heads", "embed")] == ["dp", "tp", None]


def test_unknown_axes_are_told_with_the_known():
    with pytest.raises(UsageError, match=r"axis 'head'; known are batch, seq, .*heads, mlp, vocab"):
        mesh_dimension("head")
    with pytest.raises(UsageError, match="axis 'sequence'"):
        constrain(flow.ones(1, 1, 1), "batch", "sequence", "embed")
    with pytest.raises(UsageError, match=r"of 2 axes cannot be laid out as \(batch, seq, embed\)"):
        constrain(flow.ones(1, 1), "batch", "seq", "embed")
