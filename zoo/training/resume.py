"""Whether a run may go on where another stopped: it must be the same one."""

from __future__ import annotations

from dataprep.errors import UsageError
from zoo.recipes.tables import differences
from zoo.training.checkpoint import RunState

__all__ = ["check_same_run"]

# What may change on the way: how far, how often and in which portions, but not what is computed.
FREE = {
    "recipe.train.steps",
    "recipe.train.micro_batch",
    "recipe.train.log_every",
    "recipe.train.eval_every",
    "recipe.train.eval_samples",
    "recipe.train.save_every",
    "dataset.path",
}


def check_same_run(before: RunState, now: RunState) -> None:
    """Raises UsageError that names each setting, or dataset, in which the two runs differ."""
    told = [
        f"{path} was {was!r}, is {given!r}"
        for path, (was, given) in differences(
            {"recipe": before.recipe, "dataset": before.dataset},
            {"recipe": now.recipe, "dataset": now.dataset},
        ).items()
        if path not in FREE
    ]
    if told:
        raise UsageError(
            f"This is not the run of the checkpoint: {'; '.join(told)}.",
            hint="Give the same recipe, --set and --data as before, or start a new run elsewhere: "
            "--out OTHER.",
        )
