"""Model, optimizer and samples of a run, and how far it is."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path

import zoo.engine
from dataprep.dataset import Dataset
from dataprep.samples import Loader
from zoo.engine import (
    EvalStep,
    StepResult,
    TrainStep,
    full_state,
    load_full_state,
    parallelize,
)
from zoo.engine.ranks import rank
from zoo.models.public import read_weights
from zoo.parallel.mesh import Mesh
from zoo.recipes import Recipe
from zoo.recipes.tables import to_table
from zoo.training.checkpoint import RunState, read_optimizer, read_state, write_checkpoint
from zoo.training.model import build_model, with_vocabulary
from zoo.training.resume import check_same_run
from zoo.training.validation import Validation

__all__ = ["Trainer"]


class Trainer:
    """A run under any layout. Its methods are collective: every rank calls each of them alike.

    ``step`` counts the optimizer steps done. Raises UsageError for settings that cannot be and
    DataError for a dataset that is too small or damaged.
    """

    def __init__(self, recipe: Recipe, dataset: Dataset, mesh: Mesh, *, graph: bool) -> None:
        accumulate = recipe.train.accumulate(mesh.dp)
        self.recipe = recipe = with_vocabulary(recipe, dataset.vocab_size)
        self.dataset = dataset
        self.mesh = mesh
        self.graph = graph
        self.step = 0
        # Read at once: one that is missing must be told before the run, not at its end.
        self.tokenizer = dataset.tokenizer() if rank() == 0 else None
        seq_len, weights = recipe.data.seq_len, recipe.data.split
        self.train_samples, self.validation_samples = (
            dataset.samples("causal", seq_len=seq_len, seed=seed, split=part, weights=weights)
            for part, seed in (("train", recipe.data.seed), ("validation", None))
        )
        _, copy, _ = mesh.coordinates(rank())
        batch_size = recipe.train.batch_size
        self.loader = Loader(self.train_samples, batch_size=batch_size, rank=copy, ranks=mesh.dp)
        self.model = build_model(recipe)
        self.config = self.model.config
        self.parameters = sum(math.prod(p.shape) for p in self.model.parameters())
        parallelize(self.model, mesh)
        self.train_step = TrainStep(
            self.model, recipe.optimizer, mesh=mesh, accumulate=accumulate, graph=graph
        )
        self.validate = Validation(
            self.validation_samples,
            EvalStep(self.model, mesh, graph=graph),
            limit=recipe.train.eval_samples,
            batch_size=batch_size,
            passes=accumulate,
            rank=copy,
            ranks=mesh.dp,
        )

    def describe(self) -> list[str]:
        """Lines that say what is about to be trained."""
        return [
            f"{self.recipe.model['name']}: {self.parameters:,} parameters, "
            f"{self.config.vocab:,} token ids; {zoo.engine.name}, "
            f"{'graph' if self.graph else 'eager'}, "
            f"dp {self.mesh.dp} · tp {self.mesh.tp} · pp {self.mesh.pp}",
            f"{self.dataset.prefix}: {len(self.train_samples):,} samples of "
            f"{self.recipe.data.seq_len} tokens to train on, "
            f"{len(self.validation_samples):,} to validate",
        ]

    def advance(self) -> StepResult:
        """One optimizer step on the next batch."""
        result = self.train_step(next(self.loader))
        self.step += 1
        return result

    def state(self) -> RunState:
        """Where the run stands."""
        return RunState(
            step=self.step,
            consumed=self.loader.consumed,
            recipe=to_table(self.recipe),
            dataset={
                "path": str(self.dataset.prefix),
                "tokens_sha256": self.dataset.tokens_sha256,
                "tokenizer": self.dataset.manifest["tokenizer"]["fingerprint"],
            },
            mesh=asdict(self.mesh),
            engine=zoo.engine.name,
        )

    def save(self, checkpoint: Path) -> None:
        """Writes everything that going on needs; rank 0 does the writing."""
        weights = full_state(self.model)
        optimizer = self.train_step.optimizer_state()
        if self.tokenizer is not None:
            write_checkpoint(
                checkpoint,
                self.state(),
                config=self.config,
                weights=weights,
                optimizer=optimizer,
                tokenizer=self.tokenizer,
            )

    def load(self, checkpoint: Path) -> None:
        """Goes on where a checkpoint of the same run stood; UsageError if it is of another."""
        before = read_state(checkpoint)
        check_same_run(before, self.state())
        load_full_state(self.model, read_weights(checkpoint, self.config))
        self.train_step.load_optimizer_state(read_optimizer(checkpoint))
        self.step, self.loader.consumed = before.step, before.consumed
