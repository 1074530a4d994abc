"""Whole checkpoints: the same files whatever the layout of the run.

``config.json`` and ``model.safetensors`` (Hugging Face's names), ``tokenizer.json``,
``optimizer.safetensors`` (our names) and ``trainer.json``: a folder that appears under its name
whole and on the disk, or not at all.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dataprep.durable import sync_folder
from dataprep.errors import DataError, RunError
from zoo.engine.arrays import Array
from zoo.models.public import read_arrays, write_public

if TYPE_CHECKING:
    from dataprep.tokenizers.protocol import Tokenizer

__all__ = ["OPTIMIZER", "TOKENIZER", "RunState", "read_optimizer", "read_state", "write_checkpoint"]

OPTIMIZER = "optimizer.safetensors"
TOKENIZER = "tokenizer.json"
STATE = "trainer.json"
FORMAT = "jimu-run 1"


@dataclass(frozen=True, kw_only=True)
class RunState:
    """Where a run stands, and what it is.

    Attributes:
        step: optimizer steps done.
        consumed: training samples used, over all ranks.
        recipe: all settings, seeds among them, as nested plain values.
        dataset: path of the dataset, and hashes that tell it from others.
        mesh: degrees of parallelism that the run had; another run may have others.
        engine: what ran it.
    """

    step: int
    consumed: int
    recipe: Mapping[str, Any]
    dataset: Mapping[str, str]
    mesh: Mapping[str, int]
    engine: str


def write_checkpoint(
    folder: Path,
    state: RunState,
    *,
    config: Any,
    weights: Mapping[str, Array],
    optimizer: Mapping[str, Array],
    tokenizer: Tokenizer,
) -> None:
    """Writes a checkpoint; one of the same name is replaced. RunError when the disk refuses."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    partial = folder.with_name(f"{folder.name}.partial")
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        ends = dict.fromkeys(("bos_token_id", "eos_token_id"), tokenizer.eod_id)
        write_public(partial, config, weights, extra=ends)
        save_file(dict(optimizer), partial / OPTIMIZER)
        tokenizer.save(partial / TOKENIZER)
        about = {"format": FORMAT, **asdict(state)}
        (partial / STATE).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
        mode = (partial / STATE).stat().st_mode
        for file in partial.iterdir():
            file.chmod(mode)  # safetensors lets nobody else read its files, whatever the umask
            _sync(file)
        sync_folder(partial)
        if folder.exists():
            shutil.rmtree(folder)
        partial.rename(folder)
        sync_folder(folder.parent)
    except (OSError, SafetensorError) as error:
        raise RunError(
            f"The checkpoint {folder} cannot be written: {error}.",
            hint="Make room or choose another --out; --resume goes on from the checkpoint before.",
        ) from error


def read_state(folder: Path) -> RunState:
    """Where the run of a checkpoint stood; DataError when that cannot be read."""
    path = folder / STATE
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        if table.pop("format") != FORMAT:
            raise DataError(f"{path} is not of the format {FORMAT!r}, which this version reads.")
        return RunState(**table)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path} does not tell where a run stood: {error!r}.") from error


def read_optimizer(folder: Path) -> dict[str, Array]:
    """The optimizer's whole arrays."""
    return read_arrays(folder / OPTIMIZER)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
