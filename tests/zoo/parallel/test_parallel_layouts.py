"""Every layout gives the losses, gradients and weights of one process.

Float32, no dropout; 1e-5 relative: of each loss, and of the largest entry of each tensor.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import layout_run

pytestmark = [pytest.mark.oneflow, pytest.mark.slow]

# ranks -> layouts (dp, tp, pp, accumulation), all run eager and as a graph in one launch
LAYOUTS = {
    2: ["2,1,1,1", "1,2,1,1", "1,1,2,1", "1,1,2,4"],
    4: ["2,2,1,1", "1,2,2,1"],
    8: ["2,2,2,4"],
}
RUNS = [
    (ranks, f"{layout},{graph}")
    for ranks, layouts in LAYOUTS.items()
    for graph in (0, 1)
    for layout in layouts
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("layouts")


@pytest.mark.parametrize(("ranks", "layout"), RUNS, ids=[layout for _, layout in RUNS])
def test_layout_gives_what_one_process_gives(ranks, layout, folder, start_ranks):
    file = folder / f"{layout}.npz"
    started = folder / f"{ranks}-started"
    if not started.exists():
        started.touch()
        together = [run for count, run in RUNS if count == ranks]
        script = Path(layout_run.__file__)
        assert start_ranks(ranks, script, folder, *together, timeout=540) == 0
    assert file.exists(), "the launch with this layout failed"

    accumulate = layout.split(",")[3]
    alone = folder / f"alone-{accumulate}.npz"
    if not alone.exists():
        np.savez(alone, **layout_run.train(f"1,1,1,{accumulate},0"))
    expected, given = np.load(alone), np.load(file)
    assert set(given) == set(expected)
    np.testing.assert_allclose(given["losses"], expected["losses"], rtol=1e-5)
    assert expected["losses"][-1] < expected["losses"][0]
    for name in set(expected) - {"losses"}:
        scale = np.abs(expected[name]).max()
        assert scale > 0
        np.testing.assert_allclose(given[name], expected[name], rtol=0, atol=1e-5 * scale)
