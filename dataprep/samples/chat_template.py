"""Chat templates as models publish them: Jinja, run in a sandbox.

The environment is the one that Hugging Face's ``apply_chat_template`` gives to templates: blocks
are trimmed, ``{% break %}`` and ``{% generation %}`` are known, and so are ``raise_exception``,
``strftime_now`` and a ``tojson`` that leaves text as it is. Templates come from strangers: the
sandbox lets them reach no attribute that Python keeps to itself, and change no message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

from dataprep.errors import DataError, UsageError

try:
    from jinja2 import TemplateError, nodes
    from jinja2.ext import Extension
    from jinja2.parser import Parser
    from jinja2.runtime import Macro
    from jinja2.sandbox import ImmutableSandboxedEnvironment
except ImportError as error:
    raise UsageError(
        "Chat templates need the package jinja2, which is not installed.",
        "pip install 'jimu[chat]'",
    ) from error

__all__ = ["ChatTemplate", "Piece", "load_template"]

Message = Mapping[str, Any]
Piece = tuple[str, bool]
"""A stretch of text, and whether a model is to learn to write it."""

# Unicode keeps these for use inside of programs: no text may hold them.
_OPEN, _CLOSE = "\ufdd0", "\ufdd1"


class _Generation(Extension):
    """``{% generation %} … {% endgeneration %}``: what the assistant writes."""

    tags = {"generation"}  # noqa: RUF012  (a set of the class, as jinja2 wants it)

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        call = self.call_method("_mark")
        return nodes.CallBlock(call, [], [], body).set_lineno(line)

    def _mark(self, caller: Macro) -> str:
        return f"{_OPEN}{caller()}{_CLOSE}"


class ChatTemplate:
    """A template, compiled. ``variables`` are what it is given beside the messages.

    Raises UsageError when it is no template.
    """

    def __init__(self, source: str, **variables: Any) -> None:
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,
            extensions=[_Generation, "jinja2.ext.loopcontrols"],
        )
        environment.filters["tojson"] = _to_json
        environment.globals["raise_exception"] = _refuse
        environment.globals["strftime_now"] = _now
        try:
            self._template = environment.from_string(source)
        except TemplateError as error:
            raise UsageError(f"The chat template cannot be read: {error}.") from error
        self._variables = variables
        self._marks = re.search(r"{%[-+]?\s*generation\b", source) is not None

    def render(self, messages: Sequence[Message], *, prompt: bool = False, **more: Any) -> str:
        """The text of a conversation; with ``prompt`` also what an answer is written after.

        Raises DataError for messages that the template refuses or cannot show.
        """
        return self._render(messages, prompt, more).replace(_OPEN, "").replace(_CLOSE, "")

    def pieces(
        self, messages: Sequence[Message], *, last_only: bool = False, **more: Any
    ) -> list[Piece]:
        """The text of a conversation in pieces, those of the assistant to be learnt.

        Where the template marks what is generated, its marks count. Else an answer is what a
        message of the assistant adds to what is shown before it, its end included; this needs that
        the beginning of a conversation looks alike however it goes on, and DataError is raised
        where it does not. With ``last_only`` the last message is learnt alone.
        """
        if _OPEN in (flat := json.dumps(messages, ensure_ascii=False)) or _CLOSE in flat:
            raise DataError("A message holds U+FDD0 or U+FDD1, which no text may.")
        whole = self._render(messages, False, more)
        if self._marks:
            return _last(_marked(whole)) if last_only else _marked(whole)
        answers = [i for i, message in enumerate(messages) if message.get("role") == "assistant"]
        pieces: list[Piece] = []
        at = 0
        for i in answers[-1:] if last_only else answers:
            before = self._render(messages[:i], True, more)
            end = len(messages) - 1 == i
            until = whole if end else self._render(messages[: i + 1], False, more)
            if not (whole.startswith(until) and until.startswith(before) and len(before) >= at):
                raise DataError(
                    f"With this template the beginning of a conversation does not look alike "
                    f"however it goes on (message {i + 1}): what was generated cannot be told.",
                    "Learn the last answer alone (learn='last'), or put {% generation %} and "
                    "{% endgeneration %} into the template.",
                )
            pieces += [(whole[at : len(before)], False), (until[len(before) :], True)]
            at = len(until)
        return [piece for piece in [*pieces, (whole[at:], False)] if piece[0]]

    def _render(self, messages: Sequence[Message], prompt: bool, more: Mapping[str, Any]) -> str:
        values = {**self._variables, **more, "add_generation_prompt": prompt}
        try:
            return self._template.render(messages=messages, **values)
        except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError) as error:
            raise DataError(f"The chat template refuses a conversation: {error}.") from error


def _marked(whole: str) -> list[Piece]:
    pieces: list[Piece] = []
    for number, part in enumerate(whole.split(_OPEN)):
        if number == 0:
            pieces.append((part, False))
            continue
        answer, _, rest = part.partition(_CLOSE)
        pieces += [(answer, True), (rest, False)]
    return [piece for piece in pieces if piece[0]]


def _last(pieces: list[Piece]) -> list[Piece]:
    answers = [i for i, (_, learnt) in enumerate(pieces) if learnt]
    return [(text, i in answers[-1:]) for i, (text, _) in enumerate(pieces)]


def _to_json(value: Any, **settings: Any) -> str:
    return json.dumps(value, **{"ensure_ascii": False, **settings})


def _refuse(message: str) -> NoReturn:
    raise TemplateError(message)


def _now(form: str) -> str:
    return datetime.now().strftime(form)


def load_template(folder: str | Path) -> ChatTemplate:
    """The template of a tokenizer's folder, given the special tokens that are named there.

    It is ``chat_template.jinja``, or ``chat_template`` in ``tokenizer_config.json``; of several,
    the one called "default". Raises UsageError when there is none.
    """
    folder = Path(folder)
    config_file, file = folder / "tokenizer_config.json", folder / "chat_template.jinja"
    config: Any = {}
    if config_file.is_file():
        try:
            config = json.loads(config_file.read_bytes())
        except ValueError as error:
            raise UsageError(f"{config_file} is no JSON: {error}.") from error
    source = file.read_text("utf-8") if file.is_file() else config.get("chat_template")
    if isinstance(source, list):
        source = {entry["name"]: entry["template"] for entry in source}.get("default")
    if not isinstance(source, str):
        raise UsageError(
            f"{folder} has no chat template: no chat_template.jinja, and none in "
            "tokenizer_config.json.",
        )
    written = {
        name: value["content"] if isinstance(value, Mapping) else value
        for name, value in config.items()
        if name.endswith("_token") and value and not isinstance(value, bool)
    }
    return ChatTemplate(source, **written)
