"""A function that an agent can call: JSON Schema in, JSON out, and refusals that a model can act on."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import TypeAlias, cast

from skillweave.checking import Checked
from skillweave.contracts.check import check_against
from skillweave.contracts.prepare import JsonSchema, PreparedSchema, prepare_schema
from skillweave.diagnostics import Diagnostic, has_errors
from skillweave.errors import SkillweaveError
from skillweave.frozen import FrozenJson, Json, as_json, freeze_mapping, thaw

__all__ = ["BrokenTool", "Tool", "ToolRefused", "require_fit"]

JsonObject: TypeAlias = dict[str, Json]
"""What a tool is called with, and what it answers: an object of plain JSON data."""
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
"""The names that the hosts' models take."""


class ToolRefused(SkillweaveError, ValueError):
    """Arguments that a tool cannot use: `place` in them, `why`, the `fix`, and `others` that were refused too."""

    def __init__(self, place: str, why: str, fix: str, *, others: Sequence["ToolRefused"] = ()) -> None:
        self.place, self.why, self.fix, self.others = place, why, fix, tuple(others)
        super().__init__("\n".join((f"{place}: {why}; {fix}", *map(str, others))))


class BrokenTool(SkillweaveError):
    """A tool with a bad schema, or an answer that breaks `returns`; `diagnostics` say what is wrong."""

    def __init__(self, tool: str, diagnostics: Sequence[Diagnostic]) -> None:
        self.tool, self.diagnostics = tool, tuple(diagnostics)
        found = "; ".join(str(one) for one in diagnostics)
        super().__init__(f"tool {tool!r} is broken, whatever it is called with: {found}")


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that an agent can call by its name. Raises InvalidValue.

    `parameters` and `returns` are JSON Schemas (draft 2020-12) of objects. `run` gets fitting arguments and returns a
    fitting object, or an awaitable of one; it raises ToolRefused where nothing can be computed.
    """

    name: str
    description: str
    parameters: Mapping[str, FrozenJson] = field(hash=False)
    returns: Mapping[str, FrozenJson] = field(hash=False)
    run: Callable[[JsonObject], JsonObject | Awaitable[JsonObject]]

    def __post_init__(self) -> None:
        checked = Checked("Tool")
        if not _NAME.fullmatch(checked.text("name", self.name)):
            checked.refuse("name", self.name, "1 to 64 letters, digits, `_` and `-`")
        if not checked.text("description", self.description).strip():
            checked.refuse("description", self.description, "a text that says what it computes, and when to call it")
        for name in ("parameters", "returns"):
            schema = cast("JsonObject", as_json(checked.mapping(name, getattr(self, name))))
            if schema.get("type") != "object":
                checked.refuse(name, schema, "a JSON Schema with `type: object`")
            object.__setattr__(self, name, freeze_mapping(schema))

    async def call(self, arguments: Mapping[str, object]) -> JsonObject:
        """The answer, checked like the arguments. Raises ToolRefused, BrokenTool, MissingExtra, what `run` raises."""
        _refuse(self._problems(self.parameters, arguments, "arguments"))
        answer = self.run(cast("JsonObject", as_json(arguments)))
        if isawaitable(answer):
            answer = await answer
        problems = self._problems(self.returns, answer, "answer")
        if has_errors(problems):
            raise BrokenTool(self.name, problems)
        return answer

    def declaration(self) -> JsonObject:
        """Name, description and parameters as JSON data, as in an OpenAI-style `function`."""
        return {"name": self.name, "description": self.description, "parameters": thaw(self.parameters)}

    def _problems(self, schema: Mapping[str, FrozenJson], value: object, place: str) -> tuple[Diagnostic, ...]:
        prepared = prepare_schema(schema)
        problems = check_against(prepared, value, place=place)
        if prepared.problems:
            raise BrokenTool(self.name, problems)
        return problems


def require_fit(schema: PreparedSchema | JsonSchema, value: object, place: str) -> None:
    """Check data that a call is about and that came from elsewhere; raises ToolRefused, which names `place`."""
    _refuse(check_against(schema, value, place=place))


def _refuse(problems: Sequence[Diagnostic]) -> None:
    if has_errors(problems):
        first, *others = (ToolRefused(one.path or "arguments#", one.message, one.fix) for one in problems)
        raise ToolRefused(first.place, first.why, first.fix, others=others)
