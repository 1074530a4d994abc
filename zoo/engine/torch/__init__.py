"""PyTorch: the engine for Pythons and GPUs that OneFlow's newest wheel has no code for.

One process, eager.
"""

from __future__ import annotations

import torch as flow
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

from zoo.engine.torch.layout import parallelize
from zoo.engine.torch.ops import constrain, layer_norm, numbered, replicated, step_key, weight
from zoo.engine.torch.state import full_state, full_tensor, load_full_state
from zoo.engine.torch.step import EvalStep, TrainStep

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
