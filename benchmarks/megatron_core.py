"""megatron-core's datasets, imported alone: the rest of it wants Triton kernels and a GPU."""

from __future__ import annotations

import importlib.util
import logging
import sys
import tempfile
import types
import typing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


def prepare() -> None:
    """Make ``megatron.core.datasets`` importable, in a process group of one."""
    typing.override = getattr(typing, "override", lambda function: function)  # type: ignore[attr-defined]
    spec = importlib.util.find_spec("megatron")
    if spec is None or spec.submodule_search_locations is None:
        raise SystemExit("megatron-core is not installed: pip install megatron-core torch pybind11")
    root = Path(next(iter(spec.submodule_search_locations))).parent
    for name in ("megatron", "megatron.core"):
        module = types.ModuleType(name)
        module.__path__ = [str(root.joinpath(*name.split(".")))]
        sys.modules[name] = module
    # A circle of imports that only opens from this side.
    importlib.import_module("megatron.core.parallel_state")
    import torch.distributed

    store = tempfile.NamedTemporaryFile(delete=False).name  # noqa: SIM115
    torch.distributed.init_process_group("gloo", f"file://{store}", rank=0, world_size=1)
    logging.disable(logging.WARNING)
    # Torch starts threads for copies of 8 KB; they only cost.
    torch.set_num_threads(1)


@dataclass
class Ids:
    """What megatron-core asks a tokenizer for, of a vocabulary whose pieces are given."""

    pieces: list[str]

    def __post_init__(self) -> None:
        self.inv_vocab = dict(enumerate(self.pieces))
        self.vocab_size = len(self.pieces)
        self.pad, self.cls, self.sep, self.mask, self.eod, self.bos, self.eos = 0, 1, 2, 3, 4, 5, 6
        self.special_tokens_dict = {"pad_token": "[PAD]"}
        self.additional_special_tokens_ids = list(range(7, 200))
        self.unique_identifiers = {"class": "Ids", "size": len(self.pieces)}


def dataset(kind: str, prefix: Path, cache: Path, tokenizer: Ids, n: int) -> Any:
    """One of its datasets over all documents: ``gpt``, ``bert`` or ``t5``."""
    from megatron.core.datasets.bert_dataset import (
        BERTMaskedWordPieceDataset,
        BERTMaskedWordPieceDatasetConfig,
    )
    from megatron.core.datasets.gpt_dataset import GPTDataset, GPTDatasetConfig
    from megatron.core.datasets.t5_dataset import (
        T5MaskedWordPieceDataset,
        T5MaskedWordPieceDatasetConfig,
    )
    from megatron.core.datasets.utils import Split

    common = {
        "random_seed": 1234,
        "split": "1,0,0",
        "path_to_cache": str(cache),
        "tokenizer": tokenizer,
        "mid_level_dataset_surplus": 0.0,
    }
    masked = {
        "masking_probability": 0.15,
        "short_sequence_probability": 0.1,
        "masking_do_full_word": True,
        "masking_do_permutation": False,
        "masking_use_longer_ngrams": False,
    }
    make: Any
    config: Any
    if kind == "gpt":
        make = GPTDataset
        config = GPTDatasetConfig(
            **common,
            sequence_length=1024,
            reset_position_ids=False,
            reset_attention_mask=False,
            eod_mask_loss=False,
            create_attention_mask=False,
        )
    elif kind == "bert":
        make = BERTMaskedWordPieceDataset
        config = BERTMaskedWordPieceDatasetConfig(
            **common,
            **masked,
            sequence_length=512,
            masking_max_ngram=3,
            masking_use_geometric_distribution=False,
            classification_head=True,
        )
    else:
        make = T5MaskedWordPieceDataset
        config = T5MaskedWordPieceDatasetConfig(
            **common,
            **masked,
            sequence_length=512,
            sequence_length_decoder=256,
            masking_max_ngram=10,
            masking_use_geometric_distribution=True,
        )
    low = make.build_low_level_dataset(str(prefix), config)
    indices = np.arange(make.numel_low_level_dataset(low), dtype=np.int32)
    return make(low, str(prefix), indices, n, Split.train, config)
