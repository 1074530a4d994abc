"""OneFlow: the engine this project is for."""

from __future__ import annotations

from zoo.engine.oneflow.start import start

start()

import oneflow as flow  # noqa: E402
import oneflow.nn as nn  # noqa: E402
import oneflow.nn.functional as F  # noqa: E402
from oneflow import Tensor  # noqa: E402

from zoo.engine.oneflow.layout import parallelize  # noqa: E402
from zoo.engine.oneflow.ops import constrain, layer_norm, numbered, replicated, step_key, weight  # noqa: E402
from zoo.engine.oneflow.state import (  # noqa: E402
    full_state,
    full_tensor,
    load_full_state,
)
from zoo.engine.oneflow.step import EvalStep, TrainStep  # noqa: E402

__all__ = [
    "EvalStep",
    "F",
    "Tensor",
    "TrainStep",
    "constrain",
    "flow",
    "full_state",
    "full_tensor",
    "layer_norm",
    "load_full_state",
    "nn",
    "numbered",
    "parallelize",
    "replicated",
    "step_key",
    "weight",
]
