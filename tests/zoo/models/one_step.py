"""Loss, gradients and ten losses of a tiny GPT-2 on the engine of this interpreter, to a file.

python one_step.py WEIGHTS.npz RESULT.npz; with no WEIGHTS there yet, it writes its own first ones.
"""

import sys
from pathlib import Path

import numpy as np

import zoo
import zoo.engine
from zoo.engine import OptimizerSettings, TrainStep, full_state, load_full_state

SIZES = {"vocab": 61, "positions": 16, "embed": 32, "layers": 2, "heads": 4, "std": 0.2}


def main(weights: Path, result: Path) -> None:
    model = zoo.build("gpt2-small", **SIZES)
    if weights.exists():
        own = full_state(model)
        with np.load(weights) as given:
            same = all((given[name] == array).all() for name, array in own.items())
            load_full_state(model, given)
    else:
        same = True
        np.savez(weights, **full_state(model))
    ids = np.random.default_rng(0).integers(0, 61, (10, 4, 17))
    # with beta1 = 0 and no clipping the first moments are the gradients
    settings = OptimizerSettings(lr=1e-2, betas=(0.0, 0.95), eps=1e-3, clip_norm=None)
    step = TrainStep(model, settings, mesh=zoo.Mesh())
    first = step({"tokens": ids[0, :, :-1], "labels": ids[0, :, 1:]})
    moments = step.optimizer_state()
    rest = [step({"tokens": rows[:, :-1], "labels": rows[:, 1:]}).loss for rows in ids[1:]]
    gradients = {name: array for name, array in moments.items() if name.endswith(".m")}
    np.savez(
        result,
        engine=zoo.engine.name,
        same_first_weights=same,
        losses=np.array([first.loss, *rest]),
        norm=first.grad_norm,
        **gradients,
    )


main(Path(sys.argv[1]), Path(sys.argv[2]))
