"""The MCP server: what the protocol asks, answered from a desk; on the official SDK (spec 13.1)."""

import base64
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn, TypeVar

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError

from skillweave import Skill, SkillweaveError, __version__
from skillweave.registry import media_type_of
from skillweave.values import Json
from skillweave_mcp.answers import Answer, Desk, Visitor
from skillweave_mcp.entries import EXTENSION, SKILL_FILE, Child, InvalidCursor, Served, Shelf, children_of, page_of
from skillweave_mcp.stock import FRESH_SECONDS

Context = ServerRequestContext[Any, Any]
Receive = Callable[[Context], tuple[Desk, Visitor]]
"""Says at which desk a request is answered, and for whom. Raises MCPError for one that nobody is to answer."""

NAME = "skillweave"
INSTRUCTIONS = (
    "Skills are instructions for kinds of tasks. At the start of a task call find_skill with what is to be done, in "
    "the user's words; follow the skill that it gives, or read the one of its list that fits with read_skill."
)
_META = "io.modelcontextprotocol.skills/"
_LONGEST_URI = 4_000
MOST_SESSIONS = 1_000
"""Sessions of the older protocol that changes are told to: the latest."""
T = TypeVar("T")


class UriParams(types.RequestParams):
    """The parameters of `skills/get`."""

    uri: str


class FolderParams(types.PaginatedRequestParams):
    """The parameters of `resources/directory/read`."""

    uri: str


def _tool(name: str, description: str, /, **texts: str) -> types.Tool:
    optional = [one for one in texts if one in ("file", "cursor")]
    schema = {
        "type": "object",
        "properties": {one: {"type": "string", "description": text} for one, text in texts.items()},
        "required": [one for one in texts if one not in optional],
        "additionalProperties": False,
    }
    hints = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
    return types.Tool(name=name, description=description, input_schema=schema, annotations=hints)


TOOLS = (
    _tool(
        "find_skill",
        "Find the skill for a task: its instructions where one surely fits, else a short list.",
        request="What is to be done, in the user's words.",
    ),
    _tool(
        "read_skill",
        "Read a skill's instructions, or one of its files.",
        name="The skill's id.",
        file="A file of the skill, such as references/forms.md.",
    ),
    _tool("list_skills", "List the skills there are.", cursor="What an earlier list said to go on with."),
    _tool(
        "explain",
        "Say which skills were considered for a request, and why each was or was not chosen.",
        request="What is to be done, in the user's words.",
    ),
)
"""Constant, so that a client's prompt cache holds."""


def make_server(receive: Receive, scope: Literal["public", "private"] = "private") -> "SkillServer":
    """Returns a server for everybody whom `receive` lets in; `scope` says who may share an answer's copy."""
    return SkillServer(receive, scope)


@dataclass(slots=True)
class SkillServer:
    """The handlers of one MCP server; `sdk` is what a transport runs."""

    receive: Receive
    scope: Literal["public", "private"] = "private"
    bus: InMemorySubscriptionBus = field(default_factory=InMemorySubscriptionBus)
    sdk: "Server[Any]" = field(init=False)
    _sessions: "deque[ServerSession]" = field(default_factory=lambda: deque(maxlen=MOST_SESSIONS))

    def __post_init__(self) -> None:
        hint = CacheHint(self.ttl_ms, self.scope)
        cached = ("tools/list", "prompts/list", "resources/list", "resources/read", "resources/templates/list")
        self.sdk = Server(
            NAME,
            version=__version__,
            instructions=INSTRUCTIONS,
            cache_hints=dict.fromkeys(cached, hint),  # type: ignore[arg-type]
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=_no_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_subscriptions_listen=ListenHandler(self.bus),
        )
        self.sdk.extensions = {EXTENSION: {"directoryRead": True}}
        self.sdk.add_notification_handler("notifications/initialized", types.NotificationParams, self._begun)
        self.sdk.add_request_handler("skills/list", types.PaginatedRequestParams, self._list_skills)
        self.sdk.add_request_handler("skills/get", UriParams, self._get_skill)
        self.sdk.add_request_handler("resources/directory/read", FolderParams, self._read_folder)

    @property
    def ttl_ms(self) -> int:
        """For how many milliseconds an answer may be kept: files are looked at again after as long."""
        return round(FRESH_SECONDS * 1000)

    async def announce(self) -> None:
        """Tells every client that listens, or has a session of the older kind, that the skills are others now."""
        for event in (ResourcesListChanged(), PromptsListChanged(), ToolsListChanged()):
            await self.bus.publish(event)
        for session in tuple(self._sessions):
            await session.send_resource_list_changed()
            await session.send_prompt_list_changed()

    async def _begun(self, context: Context, _: types.NotificationParams) -> None:
        """Remembers a session of the older kind; what is sent to one that has ended goes nowhere."""
        self._sessions.append(context.session)

    async def _shelf(self, context: Context) -> tuple[Desk, Shelf]:
        desk, visitor = self.receive(context)
        return desk, await _known(desk.shelf(visitor))

    async def _list_skills(self, context: Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
        _, shelf = await self._shelf(context)
        page, following = _page(shelf.served, params.cursor, lambda one: 2 + len(one.manifest.files))
        return self._cached({"skills": [one.entry for one in page]}, following)

    async def _get_skill(self, context: Context, params: UriParams) -> dict[str, Any]:
        _, shelf = await self._shelf(context)
        found = shelf.locate(params.uri)
        if found is None or found[1] != SKILL_FILE:
            _refuse(f"no skill is served at {params.uri[:_LONGEST_URI]!r}; skills/list has those that are")
        return self._cached({"skill": found[0].entry}, None)

    async def _read_folder(self, context: Context, params: FolderParams) -> dict[str, Any]:
        _, shelf = await self._shelf(context)
        found = shelf.locate(params.uri)
        children = None if found is None else children_of(*found)
        if found is None or children is None:
            _refuse(f"{params.uri[:_LONGEST_URI]!r} is no folder of a skill that is served")
        page, following = _page({one.path: one for one in children}, params.cursor)
        resources = [_resource(found[0], one) for one in page]
        shown = [one.model_dump(by_alias=True, exclude_none=True, mode="json") for one in resources]
        return {"resultType": "complete", "resources": shown, **({"nextCursor": following} if following else {})}

    async def _list_resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        _, shelf = await self._shelf(context)
        page, following = _page(shelf.served, params.cursor if params else None)
        definitions = (one.manifest.file(SKILL_FILE) for one in page)
        found = [
            _resource(one, Child(SKILL_FILE, file.size))
            for one, file in zip(page, definitions, strict=True)
            if file is not None
        ]
        return types.ListResourcesResult(resources=found, next_cursor=following)

    async def _read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        desk, shelf = await self._shelf(context)
        found = shelf.locate(str(params.uri))
        data = None if found is None else await _known(desk.stock.read(*found))
        if found is None or data is None:
            _refuse(f"no file is served at {str(params.uri)[:_LONGEST_URI]!r}; skills/list has those that are")
        served, path = found
        text = None if b"\0" in data else _text(data)
        kind, uri = media_type_of(path), served.uri_of(path)
        if text is None:
            blob = base64.b64encode(data).decode()
            return types.ReadResourceResult(contents=[types.BlobResourceContents(uri=uri, mime_type=kind, blob=blob)])
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=kind, text=text)])

    async def _list_tools(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=list(TOOLS))

    async def _call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        desk, visitor = self.receive(context)
        said = params.arguments or {}
        spec = next((one for one in TOOLS if one.name == params.name), None)
        if spec is None:
            _refuse(f"there is no tool {params.name[:100]!r}; there are {', '.join(one.name for one in TOOLS)}")
        problem = _problem(spec, said)
        answer = Answer(problem, failed=True) if problem else await _known(_answer(desk, visitor, spec.name, said))
        return types.CallToolResult(content=[types.TextContent(text=answer.text)], is_error=answer.failed)

    async def _list_prompts(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        desk, visitor = self.receive(context)
        page, following = _page(await _known(desk.prompts(visitor)), params.cursor if params else None)
        return types.ListPromptsResult(prompts=[_prompt(one) for one in page], next_cursor=following)

    async def _get_prompt(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        desk, visitor = self.receive(context)
        skill = (await _known(desk.prompts(visitor))).get(params.name)
        if skill is None:
            _refuse(f"there is no prompt {params.name[:100]!r}; prompts/list has those that there are")
        answer = await _known(desk.prompt(skill.id, (params.arguments or {}).get("arguments", ""), visitor))
        message = types.PromptMessage(role="user", content=types.TextContent(text=answer.text))
        return types.GetPromptResult(description=skill.description, messages=[message])

    def _cached(self, result: dict[str, Json], following: str | None) -> dict[str, Any]:
        more = {"nextCursor": following} if following else {}
        return {"resultType": "complete", **result, **more, "ttlMs": self.ttl_ms, "cacheScope": self.scope}


async def _no_templates(_: Context, __: types.PaginatedRequestParams | None) -> types.ListResourceTemplatesResult:
    return types.ListResourceTemplatesResult(resource_templates=[])


async def _answer(desk: Desk, visitor: Visitor, tool: str, said: Mapping[str, Any]) -> Answer:
    if tool == "find_skill":
        return await desk.find_skill(said["request"], visitor)
    if tool == "explain":
        return await desk.explain(said["request"], visitor)
    if tool == "list_skills":
        return await desk.list_skills(said.get("cursor"), visitor)
    if said.get("file"):
        return await desk.read_file(said["name"], said["file"], visitor)
    return await desk.read_skill(said["name"], visitor)


async def _known(asked: Awaitable[T]) -> T:
    """What was asked for; our own errors as those of the protocol, in their words, which name no secret."""
    try:
        return await asked
    except InvalidCursor as error:
        _refuse(str(error))
    except SkillweaveError as error:
        raise MCPError(types.INTERNAL_ERROR, str(error)) from error


def _page(
    items: Mapping[str, T], cursor: str | None, weight: Callable[[T], int] = lambda _: 4
) -> tuple[list[T], str | None]:
    try:
        return page_of(items, cursor, weight)
    except InvalidCursor as error:
        _refuse(str(error))


def _refuse(message: str) -> NoReturn:
    raise MCPError(types.INVALID_PARAMS, message)


def _problem(spec: types.Tool, said: Mapping[str, object]) -> str | None:
    """What is wrong with a call's arguments, in words for the model; None where nothing is."""
    known: Iterable[str] = spec.input_schema["properties"]
    lacking = next((one for one in spec.input_schema["required"] if not said.get(one)), None)
    if lacking is not None:
        return f"{spec.name} needs {lacking}; call it again with {lacking}"
    strange = next((one for one in said if one not in known), None)
    if strange is not None:
        return f"{spec.name} takes {', '.join(known)}, not {strange[:60]!r}"
    wrong = next((one for one, value in said.items() if value is not None and not isinstance(value, str)), None)
    return None if wrong is None else f"{wrong} of {spec.name} is a text; call it again with a text"


def _resource(served: Served, child: Child) -> types.Resource:
    """What the protocol says about a file or a folder; about SKILL.md what its front matter does."""
    uri, kind = served.uri_of(child.path), child.media_type
    if child.path != SKILL_FILE:
        return types.Resource(uri=uri, name=child.name, mime_type=kind, size=child.size)
    meta = {f"{_META}version": served.skill.version} if served.skill.version else None
    described = served.description
    return types.Resource(uri=uri, name=served.name, description=described, mime_type=kind, size=child.size, _meta=meta)


def _prompt(skill: Skill) -> types.Prompt:
    arguments = types.PromptArgument(name="arguments", description="What to do with it, in your words.", required=False)
    return types.Prompt(name=skill.id, title=skill.name, description=skill.description, arguments=[arguments])


def _text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
