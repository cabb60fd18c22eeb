"""The entity graph of a Weaver: looked at where it comes in, that of another tenant, its first question, findings."""

import asyncio
from inspect import iscoroutinefunction

from skillweave.checking import Checked
from skillweave.diagnostics import Diagnostic, Location
from skillweave.errors import StoreUnavailable
from skillweave.knowledge.assemble import GraphContext
from skillweave.knowledge.codes import ENTITY_UNAVAILABLE
from skillweave.knowledge.context import ContextSource
from skillweave.knowledge.entity import EntityGraph, is_graph
from skillweave.knowledge.rules import ContextRules
from skillweave.turn.library import Library

SPARE_SECONDS = 0.5
"""What a graph of entities has beside its own time, in which it puts together what it has."""


def require_one(checked: Checked, context: ContextSource | None, entities: EntityGraph | None) -> None:
    """Raise InvalidValue for what is no source of entity context or no graph, and for both of them together."""
    if context is not None and not callable(getattr(context, "assemble", None)):
        checked.refuse("context", context, "a ContextSource, which has a method `assemble`, or None")
    if entities is not None and not is_graph(entities):
        checked.refuse("entities", entities, "an EntityGraph, such as skillweave.entities.MemoryGraph(), or None")
    if entities is not None and context is not None:
        checked.refuse("context", context, "either `context` or `entities`: each of them says what entities are")


def of_tenant(entities: EntityGraph | None, *, before: str, now: str) -> EntityGraph | None:
    """The entities of that tenant: no customer is shown what a shared database knows of another."""
    for_tenant = getattr(entities, "for_tenant", None)
    return for_tenant(now) if now != before and callable(for_tenant) else entities


def with_rules(entities: EntityGraph, rules: ContextRules) -> EntityGraph:
    """The graph as the rules see it: in a file they say which properties are other names and places."""
    take = getattr(entities, "with_rules", None)
    return take(rules) if callable(take) else entities


def graph_context(entities: EntityGraph, library: Library, longest: float) -> ContextSource:
    """The context that the graph gives by the rules of the skills, in `longest` seconds while it is at work."""
    rules = library.entities.rules
    graph = with_rules(entities, rules)
    return GraphContext(graph, rules, seconds=library.settings.context_seconds, longest=longest)


async def first_asked(entities: EntityGraph, seconds: float) -> None:
    """Ask once for nothing, so that a file is read and a database connected before the deadline of a turn counts."""

    async def ask() -> None:
        await entities.entity("-")

    asked = asyncio.ensure_future(ask())
    await asyncio.wait((asked,), timeout=seconds)
    # Whatever went wrong, the turn asks the same graph, and says what it answers.
    asked.add_done_callback(lambda one: one.cancelled() or one.exception())
    asked.cancel()


async def found_in(entities: EntityGraph | None, rules: ContextRules) -> tuple[Diagnostic, ...]:
    """What the graph itself has to say, as that of a file does; a graph in a database says nothing."""
    tell = getattr(None if entities is None else with_rules(entities, rules), "diagnostics", None)
    if not iscoroutinefunction(tell):
        return ()
    try:
        found: tuple[Diagnostic, ...] = await tell()
    except StoreUnavailable as error:
        fix = "correct the file and open it again; until then nothing is known of any entity"
        return (ENTITY_UNAVAILABLE.found(Location("entities"), str(error), fix),)
    return found
