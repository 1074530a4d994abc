"""The grid of processes that a run is laid out on."""

from __future__ import annotations

from dataclasses import dataclass, fields

from dataprep.errors import UsageError

__all__ = ["Mesh"]


@dataclass(frozen=True)
class Mesh:
    """Degrees of parallelism. They are exact: dp·tp·pp ranks, no more, no fewer.

    Ranks are numbered with tp fastest, then dp, then pp: the ranks of one pipeline stage are
    neighbours, and in them those that hold one copy of the model.

    Attributes:
        dp: data-parallel copies of the model, each on its own rows.
        tp: parts that every layer is cut into.
        pp: pipeline stages, runs of layers.
    """

    dp: int = 1
    tp: int = 1
    pp: int = 1

    def __post_init__(self) -> None:
        for field in fields(self):
            degree = getattr(self, field.name)
            if not isinstance(degree, int) or degree < 1:
                raise UsageError(f"{field.name}={degree!r} cannot be: a degree is at least 1.")

    @property
    def size(self) -> int:
        """Number of ranks."""
        return self.dp * self.tp * self.pp

    def coordinates(self, rank: int) -> tuple[int, int, int]:
        """(pipeline stage, data-parallel copy, tensor-parallel part) of a rank."""
        if not 0 <= rank < self.size:
            raise UsageError(f"Rank {rank} is not on a mesh of {self.size} ranks.")
        return rank // (self.dp * self.tp), rank // self.tp % self.dp, rank % self.tp

    def stage_ranks(self, stage: int) -> list[list[int]]:
        """Ranks of a pipeline stage as a [dp, tp] table."""
        first = stage * self.dp * self.tp
        return [
            list(range(first + copy * self.tp, first + (copy + 1) * self.tp))
            for copy in range(self.dp)
        ]

    def check(self, world_size: int) -> None:
        """Raises UsageError unless the run has exactly as many ranks as the mesh."""
        if self.size != world_size:
            raise UsageError(
                f"dp={self.dp} · tp={self.tp} · pp={self.pp} needs {self.size} ranks, "
                f"but this run has {world_size}.",
                hint=f"Start {self.size} ranks (python -m zoo.launch -n {self.size} …), "
                f"or choose degrees whose product is {world_size}.",
            )
