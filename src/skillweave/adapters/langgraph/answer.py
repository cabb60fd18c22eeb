"""An answer in a form of the host's: the model gives it by calling a tool of the form's name, as any provider can."""

from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import TypeAdapter, ValidationError

from skillweave.adapters.chat import Call, read_call
from skillweave.adapters.langchain_core import refused
from skillweave.errors import InvalidTurn

ResponseFormat: TypeAlias = type[Any] | Mapping[str, Any]
"""A Pydantic model, a dataclass, a TypedDict, or a JSON Schema with a `title`."""

_TAKEN = "taken as the answer"
_BESIDE = "not taken: other tools were called beside it; call it alone when they have answered"


class AnswerForm:
    """The form of an answer, declared to the model as a tool."""

    def __init__(self, form: ResponseFormat) -> None:
        schema = form if isinstance(form, type) and not is_dataclass(form) else _json_schema(form)
        self.declared: dict[str, Any] = convert_to_openai_tool(schema)
        self.name: str = self.declared["function"]["name"]
        self._adapter: TypeAdapter[Any] | None = TypeAdapter(form) if isinstance(form, type) else None

    def heard(self, reply: BaseMessage) -> tuple[object, list[ToolMessage]]:
        """The answer in a reply, None for none that is in the form, and the results for the calls that give it."""
        calls = reply.tool_calls if isinstance(reply, AIMessage) else []
        ours = [read_call(call["id"], call["name"], call["args"]) for call in calls if call["name"] == self.name]
        if len(ours) != len(calls):
            return None, [refused(call, _BESIDE) for call in ours]
        answer: object = None
        results: list[ToolMessage] = []
        for call in ours:
            value, problem = self._read(call)
            results.append(refused(call, problem) if problem else _taken(call))
            answer = value if answer is None else answer
        return answer, results

    def _read(self, call: Call) -> tuple[object, str]:
        if self._adapter is None:
            return dict(call.arguments or {}), ""
        try:
            return self._adapter.validate_python(dict(call.arguments or {})), ""
        except ValidationError as error:
            said = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
            return None, f"not taken: {said}; call {self.name} again with all of it"


def _taken(call: Call) -> ToolMessage:
    return ToolMessage(content=_TAKEN, tool_call_id=call.id, name=call.name)


def _json_schema(form: object) -> dict[str, Any]:
    if isinstance(form, type):
        return {"title": form.__name__, **TypeAdapter(form).json_schema()}
    if not isinstance(form, Mapping) or not form.get("title"):
        raise InvalidTurn(f"response_format is a class or a JSON Schema with a title; got {str(form)[:60]!r}")
    return dict(form)
