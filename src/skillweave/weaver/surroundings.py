"""The verbs about what stands around conversations: the skill graph, and the things that are known."""

from collections.abc import Sequence

from skillweave.graph.graph import SkillGraph
from skillweave.knowledge.context import EntityContext, FindsEntities
from skillweave.knowledge.entity import Entity, EntityGraph, EntityNotFound
from skillweave.weaver.engine import Engine
from skillweave.weaver.entities import with_rules

_GIVE_ONE = "nothing is known of any entity here: open the weaver with `entities=`, a file or the URL of a database"


class Surroundings:
    """The part of a Weaver that shows what its turns move in and know of."""

    _engine: Engine

    async def skill_graph(self) -> SkillGraph | None:
        """The graph that conversations move in, its skills completed by the loaded ones; None without a graph.

        It is the one that was given, else that of a pack.
        """
        library = await self._engine.library()
        return None if library.graph is None else library.graph.graph.with_skills(library.snapshot.skills)

    async def entity_graph(self) -> EntityGraph | None:
        """The graph of entities that was given, as the rules of the packs see it; None without one."""
        entities = self._engine.entities
        return None if entities is None else with_rules(entities, (await self._engine.library()).entities.rules)

    async def entity(self, ref: str) -> Entity:
        """The entity of that id or other name.

        Raises EntityNotFound, also where nothing is known of entities; AmbiguousEntity, and StoreUnavailable.
        """
        graph = await self.entity_graph()
        if graph is None:
            raise EntityNotFound(ref, _GIVE_ONE)
        return _there(ref, await graph.entity(ref))

    async def entity_context(self, ref: str, domain_tags: Sequence[str]) -> EntityContext:
        """What a skill with these tags is given about the entity; raises like `entity`.

        It comes from the host's `context` where one was given, which may not tell that it does not know an entity.
        """
        source = self._engine.context_source(await self._engine.library())
        if source is None:
            raise EntityNotFound(ref, _GIVE_ONE)
        if isinstance(source, FindsEntities):
            ref = _there(ref, await source.find(ref)).id
        return await source.assemble(ref, domain_tags)


def _there(ref: str, found: Entity | None) -> Entity:
    if found is None:
        raise EntityNotFound(ref)
    return found
