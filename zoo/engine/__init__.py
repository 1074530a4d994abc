"""The seam between this project and the tensor library that runs it.

Everything else in the repository writes ``from zoo.engine import flow, nn, F`` and uses the part of
the single-card interface that OneFlow and PyTorch share. ``JIMU_ENGINE=oneflow|torch`` chooses the
engine; unset, it is OneFlow where that is installed, else PyTorch. The library is imported at the
first use of one of the names below, not with this package.
"""

from __future__ import annotations

import importlib
import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from dataprep.errors import RunError, UsageError
from zoo.engine.ranks import rank, world_size
from zoo.engine.settings import OptimizerSettings, ScheduleSettings, StepResult

if TYPE_CHECKING:
    from zoo.engine.oneflow import (
        EvalStep,
        F,
        Tensor,
        TrainStep,
        constrain,
        flow,
        full_state,
        full_tensor,
        layer_norm,
        load_full_state,
        nn,
        numbered,
        parallelize,
        replicated,
        step_key,
        weight,
    )

    name: str

__all__ = [
    "EvalStep",
    "F",
    "OptimizerSettings",
    "ScheduleSettings",
    "StepResult",
    "Tensor",
    "TrainStep",
    "constrain",
    "flow",
    "full_state",
    "full_tensor",
    "layer_norm",
    "load_full_state",
    "name",
    "nn",
    "numbered",
    "parallelize",
    "rank",
    "replicated",
    "step_key",
    "weight",
    "world_size",
]

# engine -> (package that must be installed, what to type when it is not)
ENGINES = {
    "oneflow": ("oneflow", "python3.10 -m pip install 'jimu[zoo]'  (CPython 3.7-3.10, Linux)"),
    "torch": ("torch", "python -m pip install 'jimu[torch]'"),
}


def choose_engine() -> str:
    """The engine's name by ``JIMU_ENGINE`` and by what is installed; raises UsageError."""
    installed = [engine for engine, (package, _) in ENGINES.items() if find_spec(package)]
    asked = os.environ.get("JIMU_ENGINE", "")
    if asked and asked not in ENGINES:
        raise UsageError(
            f"JIMU_ENGINE={asked!r} names no engine; known are {', '.join(ENGINES)}.",
            hint="Set one of them, or unset it to take OneFlow where it is installed.",
        )
    if asked and asked not in installed:
        raise UsageError(
            f"JIMU_ENGINE={asked} asks for an engine that is not installed here.",
            hint=ENGINES[asked][1],
        )
    if not installed:
        commands = "\n  ".join(command for _, command in ENGINES.values())
        raise UsageError(
            "Neither OneFlow nor PyTorch is installed; the zoo needs one of them.",
            hint=f"Install one:\n  {commands}",
        )
    return asked or installed[0]


def __getattr__(attribute: str) -> Any:
    if attribute not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {attribute!r}")
    engine = choose_engine()
    if attribute == "name":
        value: Any = engine
    else:
        try:
            value = getattr(importlib.import_module(f"zoo.engine.{engine}"), attribute)
        except ImportError as error:
            raise RunError(
                f"{engine} is installed but cannot be imported: {error}",
                hint=f"Repair it with: {ENGINES[engine][1]}\nor set JIMU_ENGINE to another engine.",
            ) from error
    globals()[attribute] = value
    return value
