"""A provider's tool declarations: their names, and those that the model is to see."""

from collections.abc import Sequence
from typing import Any

from skillweave.adapters.messages.shape import plain
from skillweave.errors import InvalidTurn
from skillweave.injection import Injection


def offer(tools: Sequence[Any] | None, injection: Injection) -> list[Any]:
    """The declarations that the model may see in this call, as they are and in their order.

    Both styles: `{"type": "function", "function": {"name": ...}}`, `{"name": ...}`; a provider's own tool without a
    name goes by its type. OpenAI refuses an empty list: leave `tools` out then. Hiding is not enough, because a model
    may name a hidden tool: judge each of `calls` too.
    """
    names = tool_names(tools or ())
    offered = frozenset(injection.tools.offers(names))
    return [tool for tool, name in zip(tools or (), names, strict=True) if name in offered]


def tool_names(tools: Sequence[Any]) -> tuple[str, ...]:
    """The name of each declaration; a name stands for itself. Raises InvalidTurn for one that names nothing."""
    return tuple(_name(tool, index) for index, tool in enumerate(tools))


def _name(tool: object, index: int) -> str:
    if isinstance(tool, str):
        return tool
    declared = plain(tool) or {}
    inner = plain(declared.get("function")) or plain(declared.get("custom")) or {}
    name = declared.get("name") or inner.get("name") or declared.get("type")
    if not isinstance(name, str) or not name:
        raise InvalidTurn(f"tools[{index}] names no tool; give a declaration with a 'name', or the name itself")
    return name
