"""`skillweave mcp`: skills for an agent that speaks MCP, over stdio or HTTP on this machine."""

import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated, TypeAlias

from skillweave.commands import (
    Answer,
    AsJson,
    Keeping,
    LoadingWithGraph,
    Mistake,
    Page,
    Selecting,
    counted,
    opened,
    option,
    page_for,
    whole_number,
)
from skillweave_mcp.commands.output import McpListening

if TYPE_CHECKING:
    from collections.abc import Sequence
    from socket import socket

    from skillweave import Skill, Source

DEFAULT_PORT = 8323
MOST_PORT = 65_535
EXAMPLES = {
    "mcp": """
skillweave mcp --skills skills
skillweave mcp --skills skills --http --port 8323
skillweave mcp --skills skills --tool Read --tool Bash
skillweave mcp --skills mcp+https://docs.example.com/mcp --approve docs-example-com-mcp-d55f6ec9__refunds
"""
}

Http: TypeAlias = Annotated[bool, option("MCP", "--http", "Serve over streamable HTTP at /mcp, in place of stdio.")]
Port: TypeAlias = Annotated[
    int, option("MCP", "--port N", "The port on 127.0.0.1; 0 for any that is free.", parser=whole_number)
]
AgentTools: TypeAlias = Annotated[
    list[str] | None,
    option("MCP", "--tool NAME", "A tool that the agent has. Repeatable; skills that name others are left out then."),
]
Approve: TypeAlias = Annotated[
    list[str] | None,
    option("Other servers", "--approve ID", "Say yes to a skill of another server, as its files are now. Repeatable."),
]
GrantTools: TypeAlias = Annotated[
    bool, option("Other servers", "--grant-tools", "With --approve: also to the tools in its `allowed-tools`.")
]


async def mcp(
    http: Http = False,
    port: Port = DEFAULT_PORT,
    tool: AgentTools = None,
    approve: Approve = None,
    grant_tools: GrantTools = False,
    as_json: AsJson = False,
    *,
    keeping: Keeping,
    loading: LoadingWithGraph,
    selecting: Selecting,
) -> None:
    """Serve skills over MCP, to an agent on this machine.

    Agents start it themselves and talk to it over stdin and stdout. Other machines are reached by `skillweave serve`,
    which has the same at /mcp, with keys.
    """
    from uvicorn import Config, Server

    from skillweave_mcp.answers import Desk, Visitor
    from skillweave_mcp.serving import http_app, serve_stdio

    if port != DEFAULT_PORT and not http:
        raise Mistake("--port is of --http; add that, or leave it out")
    if approve:
        await _approve(loading.sources(), approve, tools=grant_tools)
        return
    if grant_tools:
        raise Mistake("--grant-tools is of --approve; name a skill with that, or leave it out")
    kept, sources, tools = keeping.kept(), loading.sources(), None if tool is None else tuple(tool)
    graph, _ = await loading.own_graph()
    async with opened(kept, sources) as store:
        weaver = selecting.weaver(sources, store, graph, loading.kept_skills())
        if not http:
            await serve_stdio(weaver, tools, keeping.conversation)
            return
        shelf = await Desk(weaver).shelf(Visitor(tools=tools))
        skills = len((await weaver.skills.snapshot()).active())
        with _listening(port) as bound:
            address = f"http://127.0.0.1:{bound.getsockname()[1]}/mcp"
            _tell(McpListening(address, skills, len(shelf.served)), as_json=as_json)
            config = Config(http_app(weaver, tools), log_config=None, access_log=False, lifespan="on", ws="none")
            await Server(config).serve([bound])


async def _approve(sources: "Sequence[Source]", ids: "Sequence[str]", *, tools: bool) -> None:
    """Note a person's yes to each skill, and say to which files."""
    from skillweave_mcp.host.source import McpSource

    found: dict[str, tuple[McpSource, Skill]] = {}
    for source in sources:
        if isinstance(source, McpSource):
            found |= {skill.id: (source, skill) for skill in (await source.load()).skills}
    for one in ids:
        if one not in found:
            raise Mistake(f"no MCP server among --skills has a skill {one!r}; they have: {', '.join(found) or 'none'}")
    for one in ids:
        source, skill = found[one]
        held = source.approve(skill, tools=tools)
        granted = ", with its allowed-tools" if tools else ""
        sys.stdout.write(f"approved {held.name} of {source.label}{granted}, manifest {held.manifest.digest}:\n")
        sys.stdout.writelines(f"  {file.sha256[:12]} {file.size:>9,} {file.path}\n" for file in held.manifest.files)


def _listening(port: int) -> "socket":
    from socket import create_server

    if not 0 <= port <= MOST_PORT:
        raise Mistake(f"{port} is no port; give a number from 1 to {MOST_PORT:,}, or 0 for any that is free")
    try:
        return create_server(("127.0.0.1", port))
    except OSError as error:
        raise Mistake(f"port {port} cannot be used ({error.strerror}); give another one with --port") from None


def _tell(shown: McpListening, *, as_json: bool) -> None:
    answer = Answer(lambda: shown, partial(_listening_text, shown), schema="mcp")
    sys.stdout.write(f"{answer.as_json(indent=None) if as_json else answer.text(page_for(sys.stdout))}\n")
    sys.stdout.flush()


def _listening_text(shown: McpListening, page: Page) -> str:
    left = shown.skills - shown.served
    rest = f"; {counted(left, 'skill')} by its tools only, as the open format does not allow them" if left else ""
    return page.wrap(f"serving {counted(shown.served, 'skill')} at {shown.address}{rest}")
