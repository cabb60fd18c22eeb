"""The skills that a Weaver chooses from: read and compiled, as they are now, and what there is to say about them."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Unpack

from skillweave.blocking import M, Verb, VerbSeries
from skillweave.diagnostics import Diagnostic
from skillweave.dialogue import MessageLike, Turn, TurnFields, turn_of
from skillweave.errors import AgentNotFound
from skillweave.graph.findings import graph_findings
from skillweave.graph.graph import SkillGraph
from skillweave.knowledge.findings import context_findings
from skillweave.registry import Agent, Changes, Registry, Snapshot
from skillweave.registry.registry import QUIET_SECONDS
from skillweave.relations.rules import check_companions
from skillweave.select.candidates import Selection, within_places
from skillweave.state.state import check_lifecycles
from skillweave.tokens.counter import TokenCounter
from skillweave.weaver.engine import View
from skillweave.weaver.entity_graph import found_in


class SkillsView(View[M]):
    """`weaver.skills`: the skills that turns choose from, with their graph."""

    @property
    def registry(self) -> Registry:
        """Where the skills are; what is registered there is used from the next turn on."""
        return self._engine.registry

    @property
    def matchers(self) -> tuple[str, ...]:
        """The names of the matchers that take part, strongest first."""
        return self._engine.matchers.names

    @property
    def counter(self) -> TokenCounter:
        """What counts tokens."""
        return self._engine.libraries.pricing.counter

    @property
    def given_graph(self) -> SkillGraph | None:
        """The skill graph that the Weaver was opened with; None where there is none, or where a pack brings it."""
        return self._engine.graph

    @property
    def agent(self) -> Agent | None:
        """The agent that this Weaver is for, as it is described now; None for a Weaver with all skills.

        Raises AgentNotFound where it is not described any more.
        """
        agent_id = self._engine.libraries.agent_id
        if agent_id is None:
            return None
        known = self.registry.snapshot.agents
        if agent_id not in known:
            raise AgentNotFound(agent_id, known)
        return known[agent_id]

    @Verb
    async def snapshot(self) -> Snapshot:
        """Returns the skills as they are now; reads them at first use."""
        return await self._engine.snapshot()

    @Verb
    async def graph(self) -> SkillGraph | None:
        """Returns the graph that conversations move in, its skills completed by the loaded ones; None without a graph.

        It is the one that was given, else that of a pack.
        """
        library = await self._engine.library()
        return None if library.graph is None else library.graph.graph.with_skills(library.snapshot.skills)

    @Verb
    async def match(self, message: MessageLike | Turn, **fields: Unpack[TurnFields]) -> Selection:
        """Returns what the matchers say to this message, whatever the conversation already has; writes nothing."""
        engine = self._engine
        return within_places(await engine.match(turn_of(message, fields, engine.new_id)), engine.settings.max_skills)

    @Verb
    async def make_ready(self) -> None:
        """Reads and compiles the skills now, vectors of an embedder included, so that no turn waits for them.

        Raises what an embedder raises that cannot be used; turns would then rank by words alone, and say so.
        """
        await self._engine.make_ready()

    @Verb
    async def refresh(self) -> Changes:
        """Reads again what changed in the sources."""
        return await self._engine.refresh()

    @VerbSeries
    def watch(self, *, quiet_seconds: float = QUIET_SECONDS) -> AsyncGenerator[Changes, None]:
        """Follows the files of the skills; every edit counts from the next turn on. See `Registry.watch`."""
        return self._engine.registry.watch(quiet_seconds=quiet_seconds)

    @Verb
    async def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Returns what there is to say about the skills: their reading, triggers, task rules and output contracts.

        Then about the skill graph, the rules and the file of entities, and the catalog. The schemas of contracts are
        looked at where the package `jsonschema` is installed.
        """
        from skillweave.contracts.output import check_contracts

        library = await self._engine.library()
        snapshot = library.snapshot
        contracts = await asyncio.to_thread(check_contracts, snapshot.values())
        lifecycles = check_lifecycles(self._engine.settings.lifecycles, snapshot.skills)
        companions = await asyncio.to_thread(check_companions, snapshot)
        about_skills = (*snapshot.diagnostics, *library.index.diagnostics, *companions, *contracts)
        about_graph = await asyncio.to_thread(graph_findings, snapshot, self._engine.graph)
        entities = self._engine.entities
        about_context = context_findings(snapshot, library.entities, entities=entities is not None)
        about_entities = await found_in(entities, library.entities.rules)
        return (*about_skills, *about_graph, *about_context, *about_entities, *library.catalog.diagnostics, *lifecycles)

    @Verb
    async def catalog(self) -> str:
        """Returns the catalog block inside its budget."""
        return (await self._engine.library()).catalog.catalog.text

    @Verb
    async def tokens_of_everything(self) -> int:
        """Counts the whole catalog and the instructions of every active skill: what an agent without us would load.

        Counted once for each state of the skills, which takes a while the first time.
        """
        catalog = (await self._engine.library()).catalog
        return await asyncio.to_thread(lambda: catalog.everything)
