"""The entity graph of a Weaver: looked at where it comes in, and that of another tenant."""

from skillweave.checking import Checked
from skillweave.knowledge.context import ContextSource
from skillweave.knowledge.entity import EntityGraph

_VERBS = ("entity", "neighbours", "near")


def require_one(checked: Checked, context: ContextSource | None, entities: EntityGraph | None) -> None:
    """Raise InvalidValue for what is no source of entity context or no graph, and for both of them together."""
    if context is not None and not callable(getattr(context, "assemble", None)):
        checked.refuse("context", context, "a ContextSource, which has a method `assemble`, or None")
    if entities is not None and not all(callable(getattr(entities, verb, None)) for verb in _VERBS):
        checked.refuse("entities", entities, "an EntityGraph, such as skillweave.MemoryGraph(), or None")
    if entities is not None and context is not None:
        checked.refuse("context", context, "either `context` or `entities`: each of them says what entities are")


def of_tenant(entities: EntityGraph | None, *, before: str, now: str) -> EntityGraph | None:
    """The entities of that tenant: no customer is shown what a shared database knows of another."""
    for_tenant = getattr(entities, "for_tenant", None)
    return for_tenant(now) if now != before and callable(for_tenant) else entities
