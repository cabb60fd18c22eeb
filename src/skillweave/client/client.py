"""The client's door: one method for each operation of the service, and the same without `await`."""

from collections.abc import Callable
from typing import TypeVar
from uuid import uuid4

from skillweave.blocking import Blocking, BlockingBlock, BlockingSeries
from skillweave.checking import Checked
from skillweave.client.approvals import Approvals
from skillweave.client.composition import Compositions
from skillweave.client.entities import Entities
from skillweave.client.events import Events
from skillweave.client.graphs import Graphs
from skillweave.client.ledger import Ledger
from skillweave.client.sending import Retries, Wire
from skillweave.client.skills import Skills
from skillweave.client.turns import Turns
from skillweave.closing import ClosedOnExit
from skillweave.errors import needing
from skillweave.loop_thread import LoopThread, OnLoopThread

with needing("client", "the client of the service"):
    import httpx

T = TypeVar("T")

TIMEOUT = 30.0
"""Seconds to wait for one answer."""


class Client(Turns, Ledger, Skills, Compositions, Graphs, Entities, Approvals, Events, ClosedOnExit):
    """Calls a service at its address with an API key or none; the verbs are those of a Weaver.

    `timeout` is in seconds, for one try. What is safe to repeat is sent again when the service does not answer or asks
    to wait; every turn is, as it has an id. `transport` takes the place of the network, for tests and for proxies.

    Verbs raise what the engine raises, such as SkillNotFound; every refusal of the service is a ServiceError with its
    `problem` as well. ServiceUnreachable is raised where nobody answers. The client itself raises InvalidValue for an
    address or a key that is none.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = TIMEOUT,
        retries: Retries | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        new_id: Callable[[], str] = lambda: uuid4().hex,
    ) -> None:
        checked = Checked("Client")
        self._wire = Wire(
            url,
            key,
            timeout=checked.number("timeout", timeout, 0.001),
            retries=Retries()
            if retries is None
            else checked.kind("retries", retries, Retries, "Retries(...), or None"),
            transport=transport,
        )
        self._new_id = new_id

    @property
    def url(self) -> str:
        """The address of the service."""
        return self._wire.url

    async def close(self) -> None:
        """Give back the connections."""
        await self._wire.close()

    def __repr__(self) -> str:
        return f"Client({self.url!r})"


class SyncClient(OnLoopThread[Client]):
    """The verbs of a Client, blocking, on one private event-loop thread; works inside a running loop too."""

    weave = Blocking(Client.weave)
    claim = Blocking(Client.claim)
    delivery = BlockingBlock(Client.delivery)
    confirm = Blocking(Client.confirm)
    release = Blocking(Client.release)
    why = Blocking(Client.why)
    list_conversations = BlockingSeries(Client.list_conversations)
    state = Blocking(Client.state)
    show_record = Blocking(Client.show_record)
    mark = Blocking(Client.mark)
    evict = Blocking(Client.evict)
    clear = Blocking(Client.clear)
    read_memory = Blocking(Client.read_memory)
    merge_memory = Blocking(Client.merge_memory)
    forget_memory = Blocking(Client.forget_memory)
    list_skills = BlockingSeries(Client.list_skills)
    search_skills = Blocking(Client.search_skills)
    get_skill = Blocking(Client.get_skill)
    publish_skill = Blocking(Client.publish_skill)
    remove_skill = Blocking(Client.remove_skill)
    list_versions = BlockingSeries(Client.list_versions)
    roll_back_skill = Blocking(Client.roll_back_skill)
    list_artifacts = BlockingSeries(Client.list_artifacts)
    get_artifact = Blocking(Client.get_artifact)
    check_definitions = Blocking(Client.check_definitions)
    list_agents = BlockingSeries(Client.list_agents)
    get_agent = Blocking(Client.get_agent)
    compose = Blocking(Client.compose)
    validate = Blocking(Client.validate)
    authorize = Blocking(Client.authorize)
    prepare_spawn = Blocking(Client.prepare_spawn)
    spawned = Blocking(Client.spawned)
    list_tools = Blocking(Client.list_tools)
    call_tool = Blocking(Client.call_tool)
    list_graphs = Blocking(Client.list_graphs)
    get_graph = Blocking(Client.get_graph)
    check_graph = Blocking(Client.check_graph)
    draw_graph_as_mermaid = Blocking(Client.draw_graph_as_mermaid)
    draw_graph_as_svg = Blocking(Client.draw_graph_as_svg)
    find_next_skill = Blocking(Client.find_next_skill)
    simulate_graph = Blocking(Client.simulate_graph)
    find_nearby_entities = Blocking(Client.find_nearby_entities)
    get_entity = Blocking(Client.get_entity)
    list_neighbours = Blocking(Client.list_neighbours)
    assemble_context = Blocking(Client.assemble_context)
    put_entities = Blocking(Client.put_entities)
    remove_entity = Blocking(Client.remove_entity)
    ask_for_approval = Blocking(Client.ask_for_approval)
    list_approvals = BlockingSeries(Client.list_approvals)
    show_approval = Blocking(Client.show_approval)
    decide_approval = Blocking(Client.decide_approval)
    escalate_approvals = Blocking(Client.escalate_approvals)
    read_approval_log = BlockingSeries(Client.read_approval_log)
    verify_approval_log = Blocking(Client.verify_approval_log)
    emit = Blocking(Client.emit)
    stream = BlockingSeries(Client.stream)

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = TIMEOUT,
        retries: Retries | None = None,
    ) -> None:
        super().__init__(Client(url, key, timeout=timeout, retries=retries), LoopThread())

    @property
    def url(self) -> str:
        """The address of the service."""
        return self.awaited.url

    def __repr__(self) -> str:
        return f"SyncClient({self.url!r})"
