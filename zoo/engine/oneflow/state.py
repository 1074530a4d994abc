"""Whole tensors out of any layout and into any layout.

Taking out is collective: every rank calls, rank 0 gets the arrays, the others None or an empty
dictionary, so that the memory of a whole model is needed once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import oneflow as flow
import oneflow.nn as nn
from oneflow import Tensor

from zoo.engine.arrays import Array, check_names, check_shape
from zoo.engine.oneflow.ops import split_axis
from zoo.engine.ranks import rank

__all__ = [
    "distribute",
    "full_state",
    "full_tensor",
    "load_full_state",
    "tensor_like",
]


def full_tensor(tensor: Tensor) -> Array | None:
    """The whole of a tensor on rank 0, a copy; None on the other ranks."""
    tensor = tensor.detach()
    if tensor.is_global:
        first = flow.placement("cpu", [0])
        tensor = tensor.to_global(placement=first, sbp=flow.sbp.broadcast).to_local()
    # numpy() may share the memory of a CPU tensor that training goes on to change
    return tensor.cpu().numpy().copy() if rank() == 0 else None


def _gather(tensors: Mapping[str, Tensor]) -> dict[str, Array]:
    whole = ((name, full_tensor(tensor)) for name, tensor in tensors.items())
    return {name: array for name, array in whole if array is not None}


def full_state(model: nn.Module) -> dict[str, Array]:
    """All parameters whole by name, on rank 0; an empty dictionary elsewhere."""
    return _gather(dict(model.named_parameters()))


def distribute(array: Array, placement: flow.placement, sbp: Sequence[flow.sbp.sbp]) -> Tensor:
    """A whole array, which every rank holds, laid out so; each rank keeps its part of it."""
    place = np.argwhere(placement.ranks == rank())
    if len(place) == 0:
        array = array[:0]  # on a rank outside, the global tensor has no part
    else:
        for cut, parts, part in zip(sbp, placement.ranks.shape, place[0], strict=True):
            axis = split_axis(cut, array.ndim)
            if axis is not None:
                array = np.array_split(array, parts, axis=axis)[part]
    return flow.tensor(np.ascontiguousarray(array)).to_global(placement=placement, sbp=sbp)


def tensor_like(array: Array, like: Tensor) -> Tensor:
    """A whole array as a tensor laid out as ``like``."""
    if like.is_local:
        return flow.tensor(array, device=like.device)
    return distribute(array, like.placement, like.sbp)


def load_full_state(model: nn.Module, state: Mapping[str, Array]) -> None:
    """Fills all parameters from whole arrays by name, which every rank gives.

    Raises DataError when a name is missing or left over or a shape differs.
    """
    parameters = dict(model.named_parameters())
    check_names("the model", parameters, state)
    with flow.no_grad():
        for name, parameter in parameters.items():
            array = state[name]
            check_shape(name, parameter.shape, array.shape)
            parameter.copy_(tensor_like(array, parameter))
