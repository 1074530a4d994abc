"""Special tokens by what they are for, whatever a vocabulary calls them."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["TOKENS_OF_ROLE", "by_role"]

TOKENS_OF_ROLE: dict[str, tuple[str, ...]] = {
    # </s> before <|endoftext|>, which RoBERTa has kept from GPT-2 and never used. Ends of a chat
    # turn (<|im_end|>) are not ends of a document, though instruction-tuned models name them as
    # their eos_token.
    "eod": (
        "<eod>",
        "</s>",
        "<|endoftext|>",
        "<|end_of_text|>",
        "<｜end▁of▁sentence｜>",
        "<eos>",
        "[EOS]",
        "[SEP]",  # BERT has no other end; Megatron takes it for one too
    ),
    "bos": (
        "<s>",
        "<|begin_of_text|>",
        "<｜begin▁of▁sentence｜>",
        "<|startoftext|>",
        "<bos>",
        "[BOS]",
    ),
    "eos": ("</s>", "<eos>", "[EOS]"),
    "pad": ("<pad>", "[PAD]"),
    "unk": ("<unk>", "[UNK]", "<|unknown|>"),
    "mask": ("<mask>", "[MASK]"),
    "cls": ("[CLS]", "<cls>"),
    "sep": ("[SEP]", "<sep>"),
    "gmask": ("[gMASK]",),
    "smask": ("[sMASK]",),
    "sop": ("<|startofpiece|>", "sop"),
    "eop": ("<|endofpiece|>", "eop"),
    "fim_prefix": ("<fim_prefix>", "<|fim_prefix|>", "<PRE>", "▁<PRE>", "<｜fim▁begin｜>"),
    "fim_middle": ("<fim_middle>", "<|fim_middle|>", "<MID>", "▁<MID>", "<｜fim▁end｜>"),
    "fim_suffix": ("<fim_suffix>", "<|fim_suffix|>", "<SUF>", "▁<SUF>", "<｜fim▁hole｜>"),
}
"""The names that tokens of each role are known by, most telling first."""


def by_role(tokens: Mapping[str, int]) -> dict[str, int]:
    """Role to id, of the special tokens of a vocabulary.

    T5's sentinels have the roles ``extra_id_0``, ``extra_id_1`` and so on.
    """
    roles = {}
    for role, names in TOKENS_OF_ROLE.items():
        found = next((tokens[name] for name in names if name in tokens), None)
        if found is not None:
            roles[role] = found
    for token, i in tokens.items():
        bare = token.lstrip("▁")
        if bare.startswith("<extra_id_"):
            roles[bare[1:-1]] = i
    return roles
