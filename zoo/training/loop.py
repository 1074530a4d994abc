"""A whole run: go on where it stopped, train, measure, save."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from dataprep.dataset import open_dataset
from dataprep.errors import RunError
from zoo.engine.ranks import rank, world_size
from zoo.parallel.mesh import Mesh
from zoo.recipes import Recipe
from zoo.training.folder import RunFolder
from zoo.training.journal import Journal
from zoo.training.trainer import Trainer

__all__ = ["train"]


def train(
    recipe: Recipe,
    data: str | Path,
    *,
    out: str | Path,
    mesh: Mesh | None = None,
    graph: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> Path:
    """Trains by a recipe on a dataset, in the folder ``out``; returns the last checkpoint.

    Every rank of the run calls this alike, with a mesh of as many ranks; rank 0 writes, and tells
    ``say`` what to show. With ``resume`` the run in ``out`` goes on from its latest checkpoint,
    under any mesh; with ``overwrite`` a run in ``out`` is replaced. Raises UsageError for settings
    that cannot be, DataError for a damaged dataset or checkpoint, RunError when the loss is not
    finite or a checkpoint cannot be written.
    """
    leads = rank() == 0
    mesh = mesh or Mesh()
    mesh.check(world_size())
    folder = RunFolder(Path(out))
    if leads:
        folder.check(resume=resume, overwrite=overwrite)
    trainer = Trainer(recipe, open_dataset(data), mesh, graph=graph)
    if leads:
        for line in trainer.describe():
            say(line)
    checkpoint = folder.latest() if resume else None
    if checkpoint is not None:
        trainer.load(checkpoint)
        if leads:
            say(f"resumed from {checkpoint}")
    elif leads:
        folder.clear()
    if not leads:
        return _run(trainer, folder, None)
    journal = Journal(
        folder,
        say,
        step=trainer.step,
        steps=recipe.train.steps,
        log_every=recipe.train.log_every,
        tokens_per_step=recipe.train.batch_size * recipe.data.seq_len,
    )
    with closing(journal):
        last = _run(trainer, folder, journal)
        journal.conclude(f"{folder.path.name}: {recipe.model['name']} on {trainer.dataset.prefix}")
    say(f"checkpoint: {last}")
    return last


def _run(trainer: Trainer, folder: RunFolder, journal: Journal | None) -> Path:
    """The steps that are left; ``journal`` is rank 0's."""
    settings = trainer.recipe.train
    while trainer.step < settings.steps:
        start = time.perf_counter()
        result = trainer.advance()
        step, is_last = trainer.step, trainer.step == settings.steps
        if journal is not None:
            journal.stepped(step, result, time.perf_counter() - start)
        if not math.isfinite(result.loss):
            raise RunError(
                f"The loss of step {step} is {result.loss}: the run cannot go on.",
                hint="Lower optimizer.lr, lengthen the warm-up or clip more, then start again; "
                "with --resume it would go the same way from the last checkpoint.",
            )
        if settings.eval_every and (is_last or step % settings.eval_every == 0):
            loss = trainer.validate()
            if journal is not None:
                journal.validated(step, loss)
        if is_last or (settings.save_every and step % settings.save_every == 0):
            trainer.save(folder.checkpoint(step))
            if journal is not None:
                folder.point_to(folder.checkpoint(step))
    return folder.checkpoint(trainer.step)
