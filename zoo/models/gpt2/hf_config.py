"""GPT-2's sizes as Hugging Face's ``config.json`` spells them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dataprep.errors import DataError
from zoo.models.gpt2.config import GPT2Config

__all__ = ["from_hf_config", "to_hf_config"]

# our name -> theirs
NAMES = {
    "vocab": "vocab_size",
    "positions": "n_positions",
    "embed": "n_embd",
    "layers": "n_layer",
    "heads": "n_head",
    "mlp": "n_inner",
    "eps": "layer_norm_epsilon",
    "std": "initializer_range",
}
# What this GPT-2 does and theirs can be told to do otherwise.
FIXED = {
    "activation_function": "gelu_new",
    "tie_word_embeddings": True,
    "scale_attn_weights": True,
    "scale_attn_by_inverse_layer_idx": False,
    "add_cross_attention": False,
}


def to_hf_config(config: GPT2Config) -> dict[str, Any]:
    """What ``transformers`` reads to build the same model."""
    return {
        "model_type": "gpt2",
        "architectures": ["GPT2LMHeadModel"],
        **{theirs: getattr(config, ours) for ours, theirs in NAMES.items()},
        **FIXED,
        "resid_pdrop": 0.0,
        "embd_pdrop": 0.0,
        "attn_pdrop": 0.0,
    }


def from_hf_config(table: Mapping[str, Any]) -> GPT2Config:
    """The reverse of :func:`to_hf_config`; absent entries are GPT-2's defaults on both sides.

    Raises DataError for a variant that this GPT-2 is not.
    """
    for name, value in FIXED.items():
        if table.get(name, value) != value:
            raise DataError(f"{name}={table[name]!r} in config.json: only {value!r} is known here.")
    return GPT2Config(**{ours: table[theirs] for ours, theirs in NAMES.items() if theirs in table})
