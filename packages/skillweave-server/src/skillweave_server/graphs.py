"""The skill graph that the tenant's conversations move in: as data, checked, drawn, asked and played."""

import asyncio
from typing import Annotated

from fastapi import Path, Query
from fastapi.responses import Response

from skillweave.api import CURRENT, GraphListed, GraphPage, SimulationRequest
from skillweave.graph import (
    Checkup,
    GraphShown,
    MoveContext,
    Next,
    Overlay,
    ScoredGraph,
    SimulationShown,
    SkillGraph,
    checkup_among,
)
from skillweave_server.calls import Call
from skillweave_server.endpoints import Endpoints
from skillweave_server.problems import Refused
from skillweave_stores.access import Scope

GRAPHS = Endpoints("graphs")

_LOCKED = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}
"""A drawing needs its own styles, and nothing else."""

GraphId = Annotated[
    str, Path(min_length=1, max_length=100, description="The graph's digest, or `current` for the one that is in use.")
]
Ids = Annotated[list[str] | None, Query(max_length=1_000, description="A skill of the graph; may stand several times.")]
Current = Annotated[str | None, Query(max_length=100, description="The skill that a conversation is in.")]
KnownTools = Annotated[
    list[str] | None, Query(max_length=1_000, description="A tool of the host; may stand several times.")
]


@GRAPHS.at("GET", "/graphs", scope=Scope.READ, answers=GraphPage)
async def list_graphs(call: Call) -> GraphPage:
    """The graph that conversations move in; nothing where neither the service nor a pack has one."""
    graph = await call.weaver().skills.graph()
    if graph is None:
        return GraphPage(())
    return GraphPage((GraphListed(graph.digest, len(graph.declared.skills), len(graph.edges)),))


@GRAPHS.at("GET", "/graphs/{graph}", scope=Scope.READ, answers=GraphShown, problems=(404,))
async def get_graph(call: Call, graph: GraphId) -> GraphShown:
    """The whole graph: its skills with what engages them, and what is drawn of it."""
    return GraphShown.of(await _graph_of(call, graph))


@GRAPHS.at("GET", "/graphs/{graph}/checkup", scope=Scope.READ, answers=Checkup, problems=(404,))
async def check_graph(call: Call, graph: GraphId, known_tools: KnownTools = None) -> Checkup:
    """What is wrong with the wiring, with the loaded skills as the known ones."""
    found, snapshot = await _graph_of(call, graph), await call.weaver().skills.snapshot()
    return await asyncio.to_thread(checkup_among, found, snapshot, known_tools)


@GRAPHS.at(
    "GET",
    "/graphs/{graph}/mermaid",
    scope=Scope.READ,
    answers=str,
    media_type="text/plain",
    problems=(404,),
)
async def draw_graph_as_mermaid(call: Call, graph: GraphId, visited: Ids = None, current: Current = None) -> Response:
    """The graph as the text of a Mermaid flowchart, with a run on top where one is named."""
    found = await _graph_of(call, graph)
    drawn = await asyncio.to_thread(found.to_mermaid, _overlay(found, visited, current))
    return Response(drawn, media_type="text/plain", headers=_LOCKED)


@GRAPHS.at(
    "GET",
    "/graphs/{graph}/svg",
    scope=Scope.READ,
    answers=str,
    media_type="image/svg+xml",
    problems=(404,),
)
async def draw_graph_as_svg(call: Call, graph: GraphId, visited: Ids = None, current: Current = None) -> Response:
    """The graph as a picture, with a run on top where one is named."""
    found = await _graph_of(call, graph)
    drawn = await asyncio.to_thread(found.to_svg, _overlay(found, visited, current))
    return Response(drawn, media_type="image/svg+xml", headers=_LOCKED)


@GRAPHS.at(
    "POST",
    "/graphs/{graph}/next",
    scope=Scope.READ,
    takes=MoveContext,
    answers=Next,
    problems=(404, 501),
)
async def find_next_skill(call: Call, graph: GraphId, asked: MoveContext) -> Next:
    """Where a conversation goes from this moment, what decided it, and what lost; nothing is stored."""
    found = await _graph_of(call, graph)
    scoring = await found.score_entries(asked) if isinstance(found, ScoredGraph) else None
    return Next.of(found.explain(asked, scoring), found.leaf(asked, scoring))


@GRAPHS.at(
    "POST",
    "/graphs/{graph}/simulate",
    scope=Scope.READ,
    takes=SimulationRequest,
    answers=SimulationShown,
    problems=(404, 501),
)
async def simulate_graph(call: Call, graph: GraphId, asked: SimulationRequest) -> SimulationShown:
    """Play a script through the graph, move by move; a step that does not lead where it expects makes `ok` false."""
    return SimulationShown.of(await (await _graph_of(call, graph)).simulate(asked.steps))


async def _graph_of(call: Call, graph_id: str) -> SkillGraph:
    """The graph that is in use, where that is the one that is named; raises Refused for another one."""
    graph = await call.weaver().skills.graph()
    if graph is not None and graph_id in (CURRENT, graph.digest):
        return graph
    there = (
        f"the one in use is {graph.digest}, or `{CURRENT}`"
        if graph is not None
        else "start the service with a pack that has one"
    )
    raise Refused(404, "graph-not-found", f"there is no skill graph {graph_id[:100]!r}; {there}")


def _overlay(graph: SkillGraph, visited: list[str] | None, current: str | None) -> Overlay | None:
    for skill_id in (*(visited or ()), *(() if current is None else (current,))):
        if skill_id not in graph.compiled.wired:
            detail = f"{skill_id[:100]!r} is no skill of this graph; GET /api/v1/graphs/{graph.digest} lists its skills"
            raise Refused(422, "invalid-parameter", detail)
    if not visited and current is None:
        return None
    reached = () if current is None else graph.reachable_skills(current)
    return Overlay(tuple(dict.fromkeys(visited or ())), current, reached)
