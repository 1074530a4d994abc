"""Lays a plain model out over a mesh."""

from __future__ import annotations

from types import MethodType
from typing import Any

import oneflow as flow
import oneflow.nn as nn
from oneflow import Tensor

from dataprep.errors import UsageError
from zoo.engine.oneflow.ops import layout
from zoo.engine.oneflow.state import distribute
from zoo.engine.ranks import world_size
from zoo.parallel.mesh import Mesh
from zoo.parallel.rules import mesh_dimension
from zoo.parallel.stages import stages_of_units

__all__ = ["parallelize"]


def parallelize(model: nn.Module, mesh: Mesh) -> nn.Module:
    """Lays the model out over the mesh, in place; gives it back.

    Every rank calls it with the same model. On a mesh of one rank nothing changes: its tensors stay
    local. Else parameters become global, cut as their axes say, and a unit whose inputs live on
    another stage takes them over. Raises UsageError when the mesh is not the run's, or when a
    parameter cannot be cut so.
    """
    mesh.check(world_size())
    if mesh.size == 1:
        return model
    units = model.units()
    _check(model, units, mesh)
    kind = next(model.parameters()).device.type
    for unit, stage in zip(units, stages_of_units(len(units), mesh.pp), strict=True):
        placement = flow.placement(kind, mesh.stage_ranks(stage))
        for layer in unit.modules():
            for name, parameter in list(layer.named_parameters(recurse=False)):
                sbp = layout(placement, layer.axes[name], parameter.shape)
                whole = distribute(parameter.cpu().numpy(), placement, sbp)
                setattr(layer, name, nn.Parameter(whole))
        if mesh.pp > 1:
            _take_inputs_over(unit, placement)
    return model


def _check(model: nn.Module, units: list[nn.Module], mesh: Mesh) -> None:
    owned = [parameter for unit in units for parameter in unit.parameters()]
    if len(owned) != len(set(owned)) or set(owned) != set(model.parameters()):
        raise UsageError(
            f"The units of {type(model).__name__} do not hold each of its parameters once.",
            hint="Let units() name all parts; pass a shared weight from one to the other.",
        )
    for layer in model.modules():
        for name, parameter in layer.named_parameters(recurse=False):
            axes = getattr(layer, "axes", {}).get(name)
            if axes is None:
                raise UsageError(
                    f"{type(layer).__name__} does not name the axes of its parameter {name}.",
                    hint="Make it a zoo.layers.Layer and add the parameter with parameter().",
                )
            for axis, size in zip(axes, parameter.shape, strict=True):
                dimension, degree = _cut(axis, mesh)
                if size < degree:
                    raise UsageError(f"{axis}={size} is too small for {dimension}={degree}.")
        for axis, count in getattr(layer, "pieces", {}).items():
            dimension, degree = _cut(axis, mesh)
            if count % degree:
                raise UsageError(
                    f"{axis}={count} cannot be shared by {dimension}={degree}: it must divide."
                )


def _cut(axis: str, mesh: Mesh) -> tuple[str | None, int]:
    """The mesh dimension that cuts this axis, and into how many parts."""
    dimension = mesh_dimension(axis)
    return dimension, 1 if dimension is None else getattr(mesh, dimension)


def _take_inputs_over(unit: nn.Module, placement: flow.placement) -> None:
    """Makes the unit move its inputs to its own stage first."""
    plain = type(unit).forward

    def here(value: Any) -> Any:
        if not isinstance(value, Tensor) or value.placement == placement:
            return value
        return value.to_global(placement=placement, sbp=value.sbp, grad_sbp=value.sbp)

    # A graph ignores hooks, but it calls what stands at the instance's ``forward``.
    def forward(self: nn.Module, *values: Any) -> Any:
        return plain(self, *map(here, values))

    unit.forward = MethodType(forward, unit)
