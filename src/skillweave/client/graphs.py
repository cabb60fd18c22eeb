"""The skill graph over HTTP: as data, checked, drawn, asked and played."""

from collections.abc import Sequence

from skillweave.api.graphs import CURRENT, GraphListed, GraphPage, SimulationRequest
from skillweave.blocking import M, Verb
from skillweave.client.room import Room
from skillweave.client.sending import Asked, at
from skillweave.graph.answers import GraphShown, Next, SimulationShown
from skillweave.graph.checked import Checkup
from skillweave.graph.move import MoveContext


class Graphs(Room[M]):
    """The verbs about the skill graph."""

    @Verb
    async def list_graphs(self) -> tuple[GraphListed, ...]:
        """The graph that conversations move in; nothing where there is none."""
        return (await self._wire.answer(Asked("GET", "/graphs"), GraphPage)).items

    @Verb
    async def get_graph(self, graph: str = CURRENT) -> GraphShown:
        """The whole graph: its skills with what engages them, and what is drawn of it."""
        return await self._wire.answer(Asked("GET", at("/graphs/{}", graph)), GraphShown)

    @Verb
    async def check_graph(self, graph: str = CURRENT, known_tools: Sequence[str] | None = None) -> Checkup:
        """What is wrong with the wiring, with the loaded skills as the known ones."""
        asked = Asked("GET", at("/graphs/{}/checkup", graph), {"known_tools": known_tools})
        return await self._wire.answer(asked, Checkup)

    @Verb
    async def draw_graph_as_mermaid(
        self, graph: str = CURRENT, *, visited: Sequence[str] | None = None, current: str | None = None
    ) -> str:
        """The graph as the text of a Mermaid flowchart, with a run on top where one is named."""
        query = {"visited": visited, "current": current}
        return (await self._wire.send(Asked("GET", at("/graphs/{}/mermaid", graph), query))).text

    @Verb
    async def draw_graph_as_svg(
        self, graph: str = CURRENT, *, visited: Sequence[str] | None = None, current: str | None = None
    ) -> str:
        """The graph as a picture, with a run on top where one is named."""
        query = {"visited": visited, "current": current}
        return (await self._wire.send(Asked("GET", at("/graphs/{}/svg", graph), query))).text

    @Verb
    async def find_next_skill(self, moment: MoveContext, graph: str = CURRENT) -> Next:
        """Where a conversation goes from this moment, what decided it, and what lost; nothing is stored."""
        return await self._wire.answer(Asked("POST", at("/graphs/{}/next", graph), body=moment), Next)

    @Verb
    async def simulate_graph(self, request: SimulationRequest, graph: str = CURRENT) -> SimulationShown:
        """Play a script through the graph, move by move."""
        return await self._wire.answer(Asked("POST", at("/graphs/{}/simulate", graph), body=request), SimulationShown)
