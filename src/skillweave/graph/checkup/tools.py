"""Which tools there are, as far as skills and host say so."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from skillweave.graph.checkup.subject import Subject
from skillweave.graph.checkup.terms import Expression
from skillweave.graph.declared import ANY


@dataclass(frozen=True, slots=True)
class Names:
    """Names of tools; one that ends in `*` stands for all that begin so."""

    exact: frozenset[str] = frozenset()
    beginnings: tuple[str, ...] = ()

    def __contains__(self, tool: str) -> bool:
        return tool in self.exact or tool.startswith(self.beginnings)

    def might_match(self, expression: Expression) -> bool:
        """Whether the expression is found in one of the names; so too where not all names are known."""
        return bool(self.beginnings) or any(map(expression.finds, self.exact))


def names_of(tools: Iterable[str]) -> Names:
    """The tools without the patterns of their arguments: `Bash(git add:*)` is about `Bash`."""
    bare = {tool.partition("(")[0].strip() for tool in tools}
    return Names(
        frozenset(name for name in bare if name and not name.endswith("*")),
        tuple(sorted(name[:-1] for name in bare if name.endswith("*"))),
    )


@dataclass(frozen=True, eq=False)
class Toolbox:
    """The tools of all skills and of the host; lives for one checkup."""

    subject: Subject

    @cached_property
    def host(self) -> Names | None:
        """The host's own tools, None when not stated."""
        known = self.subject.known_tools
        return None if known is None else names_of(known)

    @cached_property
    def all_skills(self) -> Names:
        """The tools of all skills that state theirs."""
        return names_of(tool for skill in self.subject.skills.values() for tool in skill.tools or ())

    @cached_property
    def is_stated_by_all(self) -> bool:
        """Whether every skill states its tools."""
        skills = self.subject.skills.values()
        return bool(skills) and all(skill.tools is not None for skill in skills)

    def at(self, source: str) -> tuple[Names, ...] | None:
        """What can answer while that skill, or for ANY some skill, is the current one; None where it is not known."""
        host = () if self.host is None else (self.host,)
        if source == ANY:
            return (self.all_skills, *host) if host or self.is_stated_by_all else None
        skill = self.subject.skills.get(source)
        if skill is None or skill.tools is None:
            return host or None
        return (names_of(skill.tools), *host)


def all_names(boxes: Collection[Names]) -> Iterator[str]:
    """Every exact name."""
    return (name for names in boxes for name in sorted(names.exact))
