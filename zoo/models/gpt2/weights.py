"""Parameter names and forms of GPT-2 here and in Hugging Face's checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from dataprep.errors import DataError
from zoo.engine.arrays import Array, check_names
from zoo.models.gpt2.config import GPT2Config

__all__ = ["from_hf", "to_hf"]

Form = Callable[[Array, GPT2Config], Array]


def _same(array: Array, _: GPT2Config) -> Array:
    return array


def _transposed(array: Array, _: GPT2Config) -> Array:
    # Theirs is [source, target] (Conv1D), ours [target, source].
    return array.T


def _qkv_ours(array: Array, config: GPT2Config) -> Array:
    """[..., (3, H, D)] of theirs -> [(H, 3, D), ...] of ours."""
    heads = array.T.reshape(3, config.heads, -1, *array.shape[:-1])
    return heads.swapaxes(0, 1).reshape(array.T.shape)


def _qkv_theirs(array: Array, config: GPT2Config) -> Array:
    heads = array.reshape(config.heads, 3, -1, *array.shape[1:])
    return heads.swapaxes(0, 1).reshape(array.shape).T


# Our name, their name, form of theirs -> ours, form of ours -> theirs; * is the number of a block.
SAME = (_same, _same)
MATRIX = (_transposed, _transposed)
QKV = (_qkv_ours, _qkv_theirs)
TABLE: list[tuple[str, str, tuple[Form, Form]]] = [
    ("embedding.tokens", "transformer.wte.weight", SAME),
    ("embedding.positions", "transformer.wpe.weight", SAME),
    ("blocks.*.attention_norm.weight", "transformer.h.*.ln_1.weight", SAME),
    ("blocks.*.attention_norm.bias", "transformer.h.*.ln_1.bias", SAME),
    ("blocks.*.attention.qkv.weight", "transformer.h.*.attn.c_attn.weight", QKV),
    ("blocks.*.attention.qkv.bias", "transformer.h.*.attn.c_attn.bias", QKV),
    ("blocks.*.attention.out.weight", "transformer.h.*.attn.c_proj.weight", MATRIX),
    ("blocks.*.attention.out.bias", "transformer.h.*.attn.c_proj.bias", SAME),
    ("blocks.*.mlp_norm.weight", "transformer.h.*.ln_2.weight", SAME),
    ("blocks.*.mlp_norm.bias", "transformer.h.*.ln_2.bias", SAME),
    ("blocks.*.mlp.up.weight", "transformer.h.*.mlp.c_fc.weight", MATRIX),
    ("blocks.*.mlp.up.bias", "transformer.h.*.mlp.c_fc.bias", SAME),
    ("blocks.*.mlp.down.weight", "transformer.h.*.mlp.c_proj.weight", MATRIX),
    ("blocks.*.mlp.down.bias", "transformer.h.*.mlp.c_proj.bias", SAME),
    ("head.norm.weight", "transformer.ln_f.weight", SAME),
    ("head.norm.bias", "transformer.ln_f.bias", SAME),
]


def _rows(config: GPT2Config) -> list[tuple[str, str, tuple[Form, Form]]]:
    return [
        (ours.replace("*", str(number)), theirs.replace("*", str(number)), forms)
        for ours, theirs, forms in TABLE
        for number in (range(config.layers) if "*" in ours else [0])
    ]


def from_hf(state: Mapping[str, Array], config: GPT2Config) -> dict[str, Array]:
    """Parameters under our names from those under Hugging Face's, ``GPT2LMHeadModel``'s.

    "lm_head.weight" may be there if it is the token table again. Raises DataError when it is not,
    and for any other name that is missing or left over.
    """
    rows = _rows(config)
    check_names(
        "a Hugging Face GPT-2",
        [theirs for _, theirs, _ in rows],
        [name for name in state if name != "lm_head.weight"],
    )
    table = state["transformer.wte.weight"]
    if not np.array_equal(state.get("lm_head.weight", table), table):
        raise DataError(
            "lm_head.weight differs from transformer.wte.weight: this GPT-2 has one table for both."
        )
    return {ours: forms[0](state[theirs], config) for ours, theirs, forms in rows}


def to_hf(state: Mapping[str, Array], config: GPT2Config) -> dict[str, Array]:
    """The reverse of :func:`from_hf`, without "lm_head.weight", as Hugging Face saves it."""
    rows = _rows(config)
    check_names("this GPT-2", [ours for ours, _, _ in rows], state)
    return {theirs: forms[1](state[ours], config) for ours, theirs, forms in rows}
