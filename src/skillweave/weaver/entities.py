"""What a Weaver knows of entities: the graph that it was given, or what the host's own source says."""

from collections.abc import Sequence

from skillweave.blocking import M, Verb
from skillweave.knowledge.context import EntityContext, FindsEntities
from skillweave.knowledge.entity import Entity, EntityGraph, EntityNotFound
from skillweave.weaver.engine import Engine, View
from skillweave.weaver.entity_graph import graph_context, with_rules

_GIVE_ONE = "nothing is known of any entity here: open the weaver with `entities=`, a file or the URL of a database"


class EntitiesView(View[M]):
    """`weaver.entities`: the things that skills are given context about."""

    @Verb
    async def graph(self) -> EntityGraph | None:
        """Returns the graph of entities that was given, as the rules of the packs see it; None without one."""
        return await _graph(self._engine)

    @Verb
    async def get(self, ref: str) -> Entity:
        """Returns the entity of that id or other name.

        Raises EntityNotFound, also where nothing is known of entities; AmbiguousEntity, and StoreUnavailable.
        """
        graph = await _graph(self._engine)
        if graph is None:
            raise EntityNotFound(ref, _GIVE_ONE)
        return _there(ref, await graph.entity(ref))

    @Verb
    async def context(self, ref: str, domain_tags: Sequence[str]) -> EntityContext:
        """Returns what a skill with these tags is given about the entity; raises like `get`.

        It comes from the host's `context` where one was given, which may not tell that it does not know an entity.
        """
        engine, library = self._engine, await self._engine.library()
        source = (
            engine.context if engine.entities is None else graph_context(engine.entities, library, engine.fetch_seconds)
        )
        if source is None:
            raise EntityNotFound(ref, _GIVE_ONE)
        if isinstance(source, FindsEntities):
            ref = _there(ref, await source.find(ref)).id
        return await source.assemble(ref, domain_tags)


async def _graph(engine: Engine) -> EntityGraph | None:
    return None if engine.entities is None else with_rules(engine.entities, (await engine.library()).entities.rules)


def _there(ref: str, found: Entity | None) -> Entity:
    if found is None:
        raise EntityNotFound(ref)
    return found
