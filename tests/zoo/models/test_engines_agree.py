"""The same weights through both engines, each in its own environment, compared through files."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import zoo.engine

HERE = Path(__file__).parent
OTHER = {"oneflow": "torch", "torch": "oneflow"}


def test_both_engines_give_the_same_loss_and_gradients(tmp_path):
    other = OTHER[zoo.engine.name]
    variable = f"JIMU_PYTHON_{other.upper()}"
    if not os.environ.get(variable):
        pytest.skip(f"{variable} names no interpreter with {other}")
    pythons = {zoo.engine.name: sys.executable, other: os.environ[variable]}
    results = {}
    for engine, python in pythons.items():
        file = tmp_path / f"{engine}.npz"
        environment = {**os.environ, "JIMU_ENGINE": engine, "PYTHONPATH": str(HERE.parents[2])}
        command = [python, HERE / "one_step.py", tmp_path / "weights.npz", file]
        subprocess.run(command, env=environment, check=True, timeout=300)
        results[engine] = dict(np.load(file))
        assert results[engine].pop("engine") == engine

    ours, theirs = results[zoo.engine.name], results[other]
    assert theirs.pop("same_first_weights")
    assert ours.pop("same_first_weights")
    assert ours.keys() == theirs.keys()
    assert len(ours) > 20
    for name, array in ours.items():
        scale = np.abs(theirs[name]).max()
        np.testing.assert_allclose(array, theirs[name], rtol=0, atol=1e-5 * scale, err_msg=name)
