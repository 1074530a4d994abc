"""Takes a run from one layout to another; started by test_moving.py as two ranks.

python moving_run.py FOLDER: writes FOLDER/losses.npz on rank 0.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import zoo
from dataprep.errors import UsageError
from zoo.engine import EvalStep, OptimizerSettings, TrainStep, full_state, load_full_state, nn, rank

SETTINGS = OptimizerSettings(lr=1e-2, eps=1e-3)
BATCHES = np.random.default_rng(0).integers(0, 61, (6, 4, 17))


def begin(mesh: zoo.Mesh, graph: bool = False, **sizes: float) -> tuple[object, TrainStep]:
    tiny = {"vocab": 61, "positions": 16, "embed": 32, "layers": 2, "heads": 4, "dropout": 0.1}
    model = zoo.parallelize(zoo.build("gpt2-small", **{**tiny, **sizes}), mesh)
    return model, TrainStep(model, SETTINGS, mesh=mesh, graph=graph)


def batch(mesh: zoo.Mesh, number: int) -> dict[str, np.ndarray]:
    rows = BATCHES[number].reshape(mesh.dp, -1, 17)[mesh.coordinates(rank())[1]]
    return {"tokens": rows[:, :-1], "labels": rows[:, 1:]}


def train(step: TrainStep, mesh: zoo.Mesh, numbers: range) -> list[float]:
    return [step(batch(mesh, number)).loss for number in numbers]


def to_all(folder: Path, name: str, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What rank 0 has, on all ranks, through a file."""
    file = folder / f"{name}.npz"
    if rank() == 0:
        np.savez(folder / f"{name}-part.npz", **arrays)
        (folder / f"{name}-part.npz").rename(file)
    while not file.exists():
        time.sleep(0.05)
    return dict(np.load(file))


def refusal(act: Callable[[], object]) -> str:
    try:
        act()
    except UsageError as error:
        return str(error)
    raise AssertionError("nothing was refused")


class Unnamed(nn.Module):
    """A model whose parameters have no axes."""

    def __init__(self) -> None:
        super().__init__()
        self.part = nn.Linear(2, 2)

    def units(self) -> list[nn.Module]:
        return [self.part]


class Forgetful(Unnamed):
    """A model that keeps a part to itself."""

    def units(self) -> list[nn.Module]:
        return []


def main(folder: Path) -> None:
    dp2, tp2, pp2 = zoo.Mesh(dp=2), zoo.Mesh(tp=2), zoo.Mesh(pp=2)
    model, step = begin(tp2)
    losses = train(step, tp2, range(3))
    weights = to_all(folder, "weights", full_state(model))
    moments = to_all(folder, "moments", step.optimizer_state())

    model, step = begin(pp2, std=0.3)
    load_full_state(model, weights)
    step.load_optimizer_state(moments)
    losses += train(step, pp2, range(3, 6))
    evaluations = [EvalStep(model, pp2, graph=graph)(batch(pp2, 0)) for graph in (False, True)]

    model, step = begin(dp2, graph=True)
    load_full_state(model, weights)
    step.load_optimizer_state(moments)
    straight = train(step, dp2, range(3, 6))
    model, step = begin(dp2, graph=True)
    load_full_state(model, weights)
    step.load_optimizer_state(moments)
    part = train(step, dp2, range(3, 4))
    weights = to_all(folder, "weights-4", full_state(model))
    moments = to_all(folder, "moments-4", step.optimizer_state())
    model, step = begin(dp2, graph=True, std=0.3)
    load_full_state(model, weights)
    step.load_optimizer_state(moments)
    resumed = part + train(step, dp2, range(4, 6))

    refusals = [
        refusal(lambda: begin(tp2, heads=1)),
        refusal(lambda: begin(pp2, layers=1)),
        refusal(lambda: begin(tp2, vocab=1)),
        refusal(lambda: TrainStep(model, SETTINGS, mesh=tp2)),
        refusal(lambda: begin(zoo.Mesh())),
        refusal(lambda: zoo.parallelize(Unnamed(), tp2)),
        refusal(lambda: zoo.parallelize(Forgetful(), tp2)),
    ]
    if rank() == 0:
        np.savez(
            folder / "result.npz",
            losses=losses,
            evaluations=evaluations,
            straight=straight,
            resumed=resumed,
            refusals=refusals,
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
