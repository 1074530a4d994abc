"""The base of all layers: parameters that know their axes and their first values."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from zoo.engine import flow, load_full_state, nn
from zoo.engine.arrays import Array
from zoo.engine.randomness import key_of

__all__ = ["Layer", "constant", "initialise", "normal"]

Initial = Callable[[np.random.Generator, tuple[int, ...]], Array]


def normal(std: float) -> Initial:
    """First values drawn from a normal distribution around zero."""

    def draw(generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
        return generator.standard_normal(shape, dtype=np.float32) * np.float32(std)

    return draw


def constant(value: float) -> Initial:
    """First values that are all the same."""

    def fill(_: np.random.Generator, shape: tuple[int, ...]) -> Array:
        return np.full(shape, value, np.float32)

    return fill


class Layer(nn.Module):
    """A module whose parameters have named axes.

    Attributes:
        axes: parameter name -> names of its axes, which the layout table knows.
        initial: parameter name -> its first values.
        pieces: axis -> number of pieces along it that no layout may cut.
    """

    def __init__(self) -> None:
        super().__init__()
        self.axes: dict[str, tuple[str, ...]] = {}
        self.initial: dict[str, Initial] = {}
        self.pieces: dict[str, int] = {}

    def parameter(self, name: str, initial: Initial, **sizes: int) -> None:
        """Adds a float32 parameter ``self.<name>``; ``sizes`` names its axes in order."""
        self.axes[name] = tuple(sizes)
        self.initial[name] = initial
        empty = flow.empty(*sizes.values(), dtype=flow.float32)
        self.register_parameter(name, nn.Parameter(empty))


class _FirstValues(Mapping[str, Array]):
    """First values by parameter name, made when asked for."""

    def __init__(self, model: nn.Module, seed: int) -> None:
        self.seed = seed
        self.makers = {
            f"{prefix}.{name}" if prefix else name: (initial, tuple(getattr(module, name).shape))
            for prefix, module in model.named_modules()
            if isinstance(module, Layer)
            for name, initial in module.initial.items()
        }

    def __getitem__(self, name: str) -> Array:
        initial, shape = self.makers[name]
        digest = hashlib.sha256(f"{self.seed}/{name}".encode()).digest()
        return initial(np.random.default_rng(list(digest)), shape)

    def __iter__(self) -> Iterator[str]:
        return iter(self.makers)

    def __len__(self) -> int:
        return len(self.makers)


def initialise(model: nn.Module, seed: int) -> None:
    """Gives every parameter the first values that follow from the seed and its name alone.

    They are made in NumPy, so they are the same on every engine and under every layout. Random
    layers get the ``site`` that they draw for likewise.
    """
    load_full_state(model, _FirstValues(model, seed))
    for name, module in model.named_modules():
        if hasattr(module, "site"):
            module.site = key_of(seed, name)
