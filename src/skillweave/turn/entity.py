"""Which entity a turn is about: what the host says, what the user wrote, or what it was about before (spec 6.2)."""

from collections.abc import Mapping
from dataclasses import dataclass

from skillweave.conversation import Role, Turn
from skillweave.diagnostics import Diagnostic, Location
from skillweave.errors import StoreUnavailable
from skillweave.frontmatter.codes import Code
from skillweave.knowledge.codes import ENTITY_AMBIGUOUS, ENTITY_UNAVAILABLE, ENTITY_UNKNOWN
from skillweave.knowledge.context import ContextSource, FindsEntities
from skillweave.knowledge.entity import LONGEST_ALIAS, LONGEST_NAME, AmbiguousEntity
from skillweave.knowledge.findings import EntityRules
from skillweave.redaction import error_in_words
from skillweave.settings import Settings

SHOWN = 100
"""So many characters of a name are told: it may be any text."""
_LARGEST = 10**LONGEST_NAME


@dataclass(frozen=True, slots=True)
class Named:
    """The name of an entity, and who names it; `before` says that only the conversation does, from earlier turns."""

    ref: str
    by: str
    before: bool = False


@dataclass(frozen=True, slots=True)
class Subject:
    """What a name turned out to be: the entity, None where that cannot be told, and then what the finding is.

    `remembered` is what the conversation is about from now on, the empty text for nothing.
    """

    entity: str | None
    remembered: str
    problem: Diagnostic | None = None


def name_in(turn: Turn, settings: Settings, found: EntityRules, before: str) -> Named | None:
    """The entity that is named: by the turn's memory, by an id in what the user wrote, or `before`; None by none.

    A key of the memory with nothing in it says that the work is about no entity any more.
    """
    keys = tuple(dict.fromkeys((*settings.entity_keys, *found.rules.entity_keys)))
    for key in keys:
        ref = _name_of(turn.memory.get(key))
        if ref:
            return Named(ref, f"`{key}` of the memory")
    if turn.message.role is Role.USER:
        recognised = found.recogniser.find(turn.message.text)
        if recognised is not None:
            return Named(recognised.ref, "the message")
    return Named(before, "the conversation", before=True) if before and not _cleared(turn.memory, keys) else None


def _name_of(value: object) -> str:
    """The name that a value of the memory is: a text, or a whole number, as hosts keep ids; empty for none."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if abs(value) < _LARGEST else ""
    return value.strip() if isinstance(value, str) else ""


def _cleared(memory: Mapping[str, object], keys: tuple[str, ...]) -> bool:
    return any(key in memory and memory[key] in (None, "") for key in keys)


async def subject_of(named: Named, context: ContextSource) -> Subject:
    """The entity of that name, where the context can tell; a name that means nothing, or too much, is no entity.

    What is not known is not remembered either, so that no later turn is about what was named before it.
    """
    if not isinstance(context, FindsEntities):
        return Subject(named.ref, named.ref)
    try:
        entity = await context.find(named.ref)
    except AmbiguousEntity as error:
        return Subject(None, "", _problem(ENTITY_AMBIGUOUS, named, str(error), "name it by its id"))
    if entity is None:
        fix = "check the spelling, or add the entity to the graph; until then there is no context about it"
        return Subject(
            None, "", _problem(ENTITY_UNKNOWN, named, f"the graph knows no entity {named.ref[:SHOWN]!r}", fix)
        )
    return Subject(entity.id, entity.id)


def not_told(named: Named, error: BaseException | None, seconds: float) -> Subject:
    """The subject where nobody answered; the name is kept, so that the next turn asks again.

    One that is longer than a name can be is not: it would stay in the State of the conversation.
    """
    if error is None:
        why = f"it did not come within {seconds * 1000:.0f} ms"
    else:
        why = str(error) if isinstance(error, StoreUnavailable) else error_in_words(error)
    kept = named.ref if len(named.ref) <= LONGEST_ALIAS else ""
    message = f"what is known of {named.ref[:SHOWN]!r} could not be read: {why}"
    return Subject(
        None, kept, _problem(ENTITY_UNAVAILABLE, named, message, "check the graph; the next turn asks again")
    )


def _problem(code: Code, named: Named, message: str, fix: str) -> Diagnostic:
    return code.found(Location(named.by), message, fix)
