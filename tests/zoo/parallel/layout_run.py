"""Trains a tiny GPT-2 for 20 steps under layouts; ranks of test_parallel_layouts.py run it.

python layout_run.py FOLDER LAYOUT…, each LAYOUT as dp,tp,pp,accumulate,graph. Rank 0 writes
FOLDER/LAYOUT.npz: losses, first moments after the first step, weights after the last.
"""

import sys
from pathlib import Path

import numpy as np

import zoo
from zoo.engine import OptimizerSettings, ScheduleSettings, TrainStep, full_state, rank
from zoo.layers import IGNORED

STEPS, ROWS, POSITIONS = 20, 8, 16
# 61 tokens cannot be cut evenly; eps keeps rounding of tiny gradients from being blown up to steps
SIZES = {"vocab": 61, "positions": POSITIONS, "embed": 32, "layers": 2, "heads": 4, "std": 0.2}
SETTINGS = OptimizerSettings(
    lr=1e-2, eps=1e-3, clip_norm=1.0, schedule=ScheduleSettings(max_steps=STEPS, warmup_steps=3)
)


def train(layout: str) -> dict[str, np.ndarray]:
    """What a run under this layout gives, on rank 0."""
    dp, tp, pp, accumulate, graph = map(int, layout.split(","))
    mesh = zoo.Mesh(dp=dp, tp=tp, pp=pp)
    model = zoo.parallelize(zoo.build("gpt2-small", **SIZES), mesh)
    step = TrainStep(model, SETTINGS, mesh=mesh, accumulate=accumulate, graph=bool(graph))
    copy = mesh.coordinates(rank())[1]
    draw = np.random.default_rng(0)
    losses = []
    moments: dict[str, np.ndarray] = {}
    for number in range(STEPS):
        ids = draw.integers(0, SIZES["vocab"], (accumulate, dp, ROWS // accumulate // dp, 17))
        rows = ids[:, copy].reshape(-1, 17)
        # labels that do not count, more of them in some rows than in others
        labels = np.where(rows[:, 1:] % 7 < 2, IGNORED, rows[:, 1:])
        losses.append(step({"tokens": rows[:, :-1], "labels": labels}).loss)
        if number == 0:
            state = step.optimizer_state()
            moments = {name: array for name, array in state.items() if name.endswith(".m")}
    return {"losses": np.array(losses), **moments, **full_state(model)}


if __name__ == "__main__":
    for one in sys.argv[2:]:
        results = train(one)
        if rank() == 0:
            np.savez(Path(sys.argv[1], f"{one}.npz"), **results)
