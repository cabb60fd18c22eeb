"""What a skill is given about an entity, line by line, with the entities that each line came from and the cost."""

from collections.abc import Callable
from dataclasses import dataclass

from skillweave.codec import Portable
from skillweave.knowledge.context import EntityContext


@dataclass(frozen=True, slots=True)
class LineShown(Portable):
    """One line of a section, and the ids of the entities that it came from."""

    text: str
    entities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SectionShown(Portable):
    """A named part of an entity's context, line by line."""

    name: str
    tokens: int
    lines: tuple[LineShown, ...]


@dataclass(frozen=True, slots=True)
class ContextShown(Portable):
    """What a skill with these tags is told of an entity, what is left out, and tags that the pack does not list."""

    entity: str
    tags: tuple[str, ...]
    sections: tuple[SectionShown, ...]
    tokens: int
    omitted: tuple[str, ...]
    unknown_tags: tuple[str, ...]


def context_shown(found: EntityContext, tags: tuple[str, ...], count: Callable[[str], int]) -> ContextShown:
    """The sections line by line, and what they cost as `count` counts tokens."""
    sections = tuple(
        SectionShown(part.name, count(part.text), tuple(LineShown(*line) for line in part.lines))
        for part in found.sections
    )
    whole = count("\n".join(part.text for part in found.sections))
    return ContextShown(found.entity, tags, sections, whole, found.omitted, found.unknown_tags)
