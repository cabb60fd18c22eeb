"""What a chat model of LangChain has its provider do: run tools, keep the history, take things out of it."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from langchain_core.tools import BaseTool

from skillweave.adapters.langchain_core import name_in, names_of
from skillweave.compose.policy import OWN_TOOLS, Ruling, ToolPolicy
from skillweave.conversation import Placement
from skillweave.errors import InvalidTurn, UnguardedAgent

Declared: TypeAlias = BaseTool | dict[str, Any]
"""A tool as it is declared to a model; a dict is in the form of the model's provider."""

_CALLED_BACK = ("function", "custom")
_CALLED_BACK_FROM = ("bash_", "text_editor_", "computer_2", "memory_")
"""How the types of tools begin that a provider defines, and the host runs: their calls come by here."""
_MCP = ("mcp", "mcp_toolset")
_RUN_UNSEEN = ("mcp_servers", "web_search_options")
"""Settings of a model with which its provider runs tools that nobody declares."""
_ALLOW = 'or pass unguarded="allow"'


def shown(tools: Sequence[Declared], policy: ToolPolicy) -> list[Declared]:
    """The tools that the model may see; one that its provider runs only while no rule says anything of it.

    Its calls never come by here: nobody could look at their arguments, or wait for a person.
    """
    names = names_of(tools)
    offered = set(policy.offers(names))
    return [
        tool
        for tool, name in zip(tools, names, strict=True)
        if name in offered and (isinstance(tool, BaseTool) or _free(tool, policy))
    ]


def _free(tool: Mapping[str, Any], policy: ToolPolicy) -> bool:
    if not _run_by_provider(tool):
        return True
    judged = (name_in(tool), *(_names_behind(tool) or ())) if tool.get("type") in _MCP else (name_in(tool),)
    return all(policy.authorize(name).ruling is Ruling.ALLOW for name in judged)


def _run_by_provider(tool: Mapping[str, Any]) -> bool:
    kind = str(tool.get("type") or "")
    if not kind:
        return "name" not in tool
    return kind not in _CALLED_BACK and not kind.startswith(_CALLED_BACK_FROM)


def _names_behind(tool: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The names of the tools of an MCP server that the provider calls; None where only the server knows them."""
    allowed = tool.get("allowed_tools")
    listed = allowed.get("tool_names") if isinstance(allowed, Mapping) else allowed
    if isinstance(listed, list | tuple):
        return tuple(map(str, listed))
    if (tool.get("default_config") or {}).get("enabled") is False:
        configured: Mapping[str, Any] = tool.get("configs") or {}
        return tuple(name for name, one in configured.items() if (one or {}).get("enabled", True))
    return None


def require_held(tools: Sequence[Declared], model: object = None, settings: Mapping[str, Any] | None = None) -> None:
    """Raise UnguardedAgent for tools that a provider runs and that no rule of a skill can be about.

    These are an MCP server's without a list of them, and what the `settings` of a model switch on.
    """
    for tool in tools:
        if isinstance(tool, dict) and tool.get("type") in _MCP and _names_behind(tool) is None:
            server = str(tool.get("server_label") or tool.get("mcp_server_name") or name_in(tool))
            listed = "allowed_tools" if tool["type"] == "mcp" else "default_config and configs"
            raise UnguardedAgent(
                server,
                "an MCP server that the model's provider calls",
                f"say in {listed} which of its tools there are, connect to it from here, {_ALLOW}",
            )
    for name in _RUN_UNSEEN:
        if _setting(model, settings, name):
            raise UnguardedAgent(
                name,
                f"a setting of {type(model).__name__}, with which its provider runs tools",
                f"give the tools in `tools`, each by its name, {_ALLOW}",
            )


def require_text_kept(model: object, settings: Mapping[str, Any] | None, placement: Placement) -> None:
    """Raise InvalidTurn for a mode of the model in which skill text would be lost, naming the way out."""
    if placement is Placement.CALL and kept_by_service(model):
        raise InvalidTurn(
            "the model has use_previous_response_id=True: OpenAI keeps the history, and is not sent the system prompt "
            "of a later call, where call placement puts skills; use placement='history', or leave that option out"
        )
    if placement is Placement.HISTORY and (edit := _clears_results(_setting(model, settings, "context_management"))):
        raise InvalidTurn(
            f"the model has context_management with {edit!r}: Anthropic takes skill texts that were read with a tool "
            f"out of the history unseen; add 'exclude_tools': {sorted(OWN_TOOLS)} to that edit, or use "
            "placement='call'"
        )


def kept_by_service(model: object) -> bool:
    """Whether the provider keeps the history and is sent only what is new."""
    return bool(getattr(model, "use_previous_response_id", False))


def _clears_results(management: object) -> str:
    edits = management.get("edits") if isinstance(management, Mapping) else None
    for edit in edits or ():
        kind = str(edit.get("type", ""))
        if kind.startswith("clear_tool_uses") and not set(OWN_TOOLS) <= set(edit.get("exclude_tools") or ()):
            return kind
    return ""


def _setting(model: object, settings: Mapping[str, Any] | None, name: str) -> object:
    """A setting for the coming call, else one of the model; a model with settings bound to it is looked through."""
    if settings and name in settings:
        return settings[name]
    while (bound := getattr(model, "bound", None)) is not None:
        if name in (kwargs := getattr(model, "kwargs", {})):
            return kwargs[name]
        model = bound
    return getattr(model, name, None) or (getattr(model, "model_kwargs", None) or {}).get(name)
