"""Cuts a model's run of units into pipeline stages."""

from __future__ import annotations

from dataprep.errors import UsageError

__all__ = ["stages_of_units"]


def stages_of_units(units: int, stages: int) -> list[int]:
    """The stage of each unit, in order.

    The units between the first and the last (the blocks) are shared out evenly, the earlier stages
    taking one more where they do not divide; the first unit goes with the first stage and the last
    with the last, which has the most work left: the scores of the whole vocabulary. Raises
    UsageError when a stage would have no block.
    """
    blocks = units - 2
    if stages > 1 and blocks < stages:
        raise UsageError(
            f"{blocks} layers cannot be shared by pp={stages} pipeline stages.",
            hint=f"Choose pp of at most {max(1, blocks)}.",
        )
    counts = [blocks // stages + (stage < blocks % stages) for stage in range(stages)]
    middle = [stage for stage, count in enumerate(counts) for _ in range(count)]
    return [0, *middle, stages - 1]
