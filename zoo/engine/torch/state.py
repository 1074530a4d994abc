"""Whole tensors out of a model and into it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
import torch.nn as nn
from torch import Tensor

from zoo.engine.arrays import Array, check_names, check_shape

__all__ = ["full_state", "full_tensor", "load_full_state"]


def full_tensor(tensor: Tensor) -> Array:
    """A copy of the tensor."""
    # numpy() shares the memory of a CPU tensor that training goes on to change
    array: Array = tensor.detach().cpu().numpy().copy()
    return array


def full_state(model: nn.Module) -> dict[str, Array]:
    """All parameters by name."""
    return {name: full_tensor(p) for name, p in model.named_parameters()}


def load_full_state(model: nn.Module, state: Mapping[str, Array]) -> None:
    """Fills all parameters from arrays by name.

    Raises DataError when a name is missing or left over or a shape differs.
    """
    parameters = dict(model.named_parameters())
    check_names("the model", parameters, state)
    with torch.no_grad():
        for name, parameter in parameters.items():
            array = state[name]
            check_shape(name, parameter.shape, array.shape)
            parameter.copy_(torch.from_numpy(np.array(array)))
