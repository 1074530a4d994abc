"""What a published model adds to its SentencePiece file: tokens, roles, and XLM-R's other ids.

The file itself does not say. It is known by its sha256, or by the ``tokenizer_config.json`` beside
it; any other file stands for itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import vocab
from dataprep.errors import DataError, UsageError
from dataprep.tokenizers.roles import by_role
from dataprep.tokenizers.sp_model import PieceType, SentencePieceModel

__all__ = ["Layout", "layout_of"]

CONFIG, ADDED = "tokenizer_config.json", "added_tokens.json"

_GLM = (
    *("<|endoftext|>", "[SEP]", "[CLS]", "[MASK]", "[UNUSED1]", "[UNUSED2]"),
    *("<|startofpiece|>", "<|endofpiece|>", "[sMASK]", "[gMASK]"),
)
_CHATGLM3 = (
    *("[MASK]", "[gMASK]", "[sMASK]", "sop", "eop"),
    *("<|system|>", "<|user|>", "<|assistant|>", "<|observation|>"),
)
_SHIFTED = ("Camembert", "MBart", "Nllb", "M2M100", "Barthez", "Pegasus", "XLMProphetNet", "Plbart")


@dataclass(frozen=True, kw_only=True)
class Layout:
    """``added`` maps tokens to their final ids; ``roles`` overrides what names would tell.

    ``fairseq``: ids are those of XLM-R, 1 above the model's, with ``<s>``, ``<pad>``, ``</s>`` and
    ``<unk>`` before them.
    """

    added: Mapping[str, int] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    fairseq: bool = False

    def ids(self, model: SentencePieceModel) -> npt.NDArray[np.uint32]:
        """uint32[n_pieces]: the final id of each piece."""
        ids = np.arange(len(model.pieces), dtype=np.uint32)
        if self.fairseq:
            ids += 1
            for role, i in (("bos", 0), ("eos", 2), ("unk", 3)):
                ids[model.roles[role]] = i
        return ids

    def specials(self, model: SentencePieceModel) -> dict[str, int]:
        """Role to final id."""
        ids = self.ids(model)
        kinds = (PieceType.CONTROL, PieceType.USER_DEFINED, PieceType.UNKNOWN)
        named = {p.text: int(i) for p, i in zip(model.pieces, ids, strict=True) if p.type in kinds}
        named.update(self.added)
        roles = {role: int(ids[i]) for role, i in model.roles.items()}
        if "eos" in roles:
            roles["eod"] = roles["eos"]
        roles = {**by_role(named), **roles}
        if "<eod>" in named:
            roles["eod"] = named["<eod>"]
        if self.roles:  # CPM's <eod> is an ordinary piece
            named.update((p.text, int(i)) for p, i in zip(model.pieces, ids, strict=True))
            found = {role: named.get(token) for role, token in self.roles.items()}
            roles.update({role: i for role, i in found.items() if i is not None})
        return dict(sorted(roles.items()))


def layout_of(model: SentencePieceModel, digest: str, file: Path) -> Layout:
    """The layout of the model in ``file``, whose hex sha256 is ``digest``.

    Raises UsageError when the file beside it names a class whose ids are shifted in a way that is
    not known here, DataError when that file is damaged.
    """
    known = _LAYOUTS.get(_name_of(digest) or "")
    if known is not None:
        return known(len(model.pieces))
    config = _read(file.with_name(CONFIG))
    kind = str(config.get("tokenizer_class", "")).removesuffix("Fast").removesuffix("Tokenizer")
    if kind.startswith(_SHIFTED):
        raise UsageError(
            f"{file.with_name(CONFIG)} says {config['tokenizer_class']}, which gives other ids "
            "than the SentencePiece file and is not supported.",
            hint="Give its tokenizer.json instead.",
        )
    size = len(model.pieces)
    base = _CLASSES[kind](size) if kind in _CLASSES else Layout()
    if config.get("extra_ids") == 0:  # mT5 has its sentinels in the file itself
        base = Layout()
    decoder = config.get("added_tokens_decoder", {})
    added = {str(entry["content"]): int(i) for i, entry in decoder.items()}
    added.update(_read(file.with_name(ADDED)))
    # Those below are pieces of the model under another description.
    border = size + 1 if base.fairseq else size
    beyond = {token: i for token, i in added.items() if i >= border}
    return Layout(
        added={**base.added, **beyond}, roles={**base.roles, **_roles(config)}, fairseq=base.fairseq
    )


def _t5(size: int) -> Layout:
    return Layout(added={f"<extra_id_{n}>": size + 99 - n for n in range(100)})


def _xlm_r(size: int) -> Layout:
    return Layout(added={"<pad>": 1, "<mask>": size + 1}, fairseq=True)


def _glm(size: int) -> Layout:
    roles = {"eod": "<|endoftext|>", "eos": "<|endoftext|>", "pad": "<|endoftext|>"}
    return Layout(added=_from(size, _GLM), roles={**roles, "sep": "[SEP]", "cls": "[CLS]"})


def _cpm(size: int) -> Layout:  # noqa: ARG001
    return Layout(roles={"eod": "<eod>"})


def _chatglm3(size: int) -> Layout:
    return Layout(added=_from(size, _CHATGLM3))


def _from(first: int, tokens: Iterable[str]) -> dict[str, int]:
    return {token: first + i for i, token in enumerate(tokens)}


_LAYOUTS = {
    "t5": _t5,
    "xlm-roberta": _xlm_r,
    "cpm-1": _cpm,
    "glm-chinese": _glm,
    "chatglm3": _chatglm3,
}
"""By the name in the manifest of vocabularies."""

_CLASSES = {"T5": _t5, "XLMRoberta": _xlm_r}
"""By tokenizer_class, without its ending."""


def _name_of(digest: str) -> str | None:
    files = ((name, file) for name in vocab.names() for file in vocab.known(name).files)
    return next((name for name, file in files if file.sha256 == digest), None)


def _roles(config: Mapping[str, Any]) -> dict[str, str]:
    found = {}
    for role in ("bos", "eos", "pad", "unk", "mask", "cls", "sep"):
        token = config.get(f"{role}_token")
        content = token.get("content") if isinstance(token, dict) else token
        if content:
            found[role] = str(content)
    if "eos" in found:
        found["eod"] = found["eos"]
    return found


def _read(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise DataError(f"{path} is not JSON: {error}.") from error
    if not isinstance(values, dict):
        raise DataError(f"{path} is not a JSON object.")
    return values
