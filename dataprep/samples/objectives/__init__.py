"""What a model is trained to do: each kind of samples by name, with its settings.

Every objective is a pure function of windows of tokens, what is known about them, and a key for
each; ``KINDS`` says which settings it takes and how it is bound to a length and a vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from dataprep.errors import UsageError
from dataprep.samples.objectives.fim import FimSettings, fim_objective
from dataprep.samples.objectives.glm import GlmSettings, glm_objective
from dataprep.samples.objectives.mlm import MACBERT, SPANBERT, MlmSettings, mlm_objective
from dataprep.samples.objectives.prefix import PrefixSettings, prefix_objective
from dataprep.samples.objectives.t5 import T5Settings, t5_objective
from dataprep.samples.objectives.ul2 import Ul2Settings, ul2_objective
from dataprep.samples.rows import Objective

__all__ = ["KINDS", "Kind", "settings_of"]


@dataclass(frozen=True)
class Kind:
    """One entry of the table.

    Attributes:
        settings: the dataclass of its settings.
        objective: ``(settings, seq_len=, vocabulary=) -> Objective``.
        preset: settings that the name stands for; others may be given over them.
    """

    settings: Callable[..., Any]
    objective: Callable[..., Objective]
    preset: Mapping[str, Any] = field(default_factory=dict)


KINDS: dict[str, Kind] = {
    "mlm": Kind(MlmSettings, mlm_objective),
    "mlm-wwm": Kind(MlmSettings, mlm_objective, {"whole_words": True}),
    "mlm-ngram": Kind(
        MlmSettings,
        mlm_objective,
        {"whole_words": True, "ngrams": MACBERT, "share_per": "word"},
    ),
    "mlm-span": Kind(
        MlmSettings,
        mlm_objective,
        {"whole_words": True, "ngrams": SPANBERT, "share_per": "span"},
    ),
    "t5": Kind(T5Settings, t5_objective),
    "ul2": Kind(Ul2Settings, ul2_objective),
    "glm": Kind(GlmSettings, glm_objective),
    "prefix-lm": Kind(PrefixSettings, prefix_objective),
    "fim": Kind(FimSettings, fim_objective),
}
"""Kinds of samples that are made of windows, beside ``causal``, which needs no vocabulary."""


def settings_of(kind: str, settings: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """The settings of a kind; UsageError for one that it does not have."""
    known = [f.name for f in fields(settings)]  # type: ignore[arg-type]
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise UsageError(
            f"Samples of the kind {kind!r} have no setting {unknown[0]!r}; known: "
            f"{', '.join(known) or 'none'}."
        )
    return settings(**given)
