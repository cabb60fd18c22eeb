"""Whether routes and texts of skills name tools and statuses that there are."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from skillweave.graph.checked import Problem, problem
from skillweave.graph.checkup.subject import Declaration, Subject, way
from skillweave.graph.checkup.terms import Expression, OnTool, Part
from skillweave.graph.checkup.values import values_of
from skillweave.graph.declared import ANY, STATUSES, GraphSkill, Route
from skillweave.graph.guards import FieldTest, Op
from skillweave.graph.wording import named, sentence, several
from skillweave.text.search import Automaton, MatchMode, compile_automaton

_A_SKILL = "a skill"
_CALL = re.compile(r"(?<!\w)[a-z][a-z0-9]*+(?:_[a-z0-9]++)++(?=\()")
"""A name in snake case with a parenthesis after it; read in one go, however long the text."""


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


def check_vocabulary(subject: Subject) -> Iterator[Problem]:
    """unknown-tool and unknown-status of each route in the order of declaration; then statuses in other conditions."""
    toolbox = Toolbox(subject)
    boxes: dict[str, tuple[Names, ...] | None] = {}
    for route, declaration in zip(subject.declared.routes, subject.routes, strict=True):
        if route.from_ not in boxes:
            boxes[route.from_] = toolbox.at(route.from_)
        yield from _tools(subject, route, declaration.parts, boxes[route.from_])
        yield from _statuses(subject, declaration)
    for declaration in (*subject.entries, *subject.decisions):
        yield from _statuses(subject, declaration)


def _tools(subject: Subject, route: Route, parts: Sequence[Part], boxes: Collection[Names] | None) -> Iterator[Problem]:
    if boxes is None:
        return
    whose = _A_SKILL if route.from_ == ANY else named(route.from_)
    wanted: dict[str, None] = {}
    for part in parts:
        if isinstance(part, OnTool):
            expression = Expression(part.regex)
            if not any(names.might_match(expression) for names in boxes):
                wait = f"{sentence(way(route))} waits for tools with {named(part.regex.source)} in their name"
                message = f"{wait}, which {_nobody(subject, whose)}."
                fix = f"Correct the expression, or add the tool to those of {whose} or to the known tools."
                yield problem("unknown-tool", message, fix, from_=route.from_, to=route.to)
        elif isinstance(part, FieldTest) and part.field == "tool_name" and part.op in (Op.EQ, Op.IN):
            wanted.update((value, None) for value in values_of(part) if isinstance(value, str))
    for tool in wanted:
        if not any(tool in names for names in boxes):
            message = f"{sentence(way(route))} waits for the tool {named(tool)}, which {_nobody(subject, whose)}."
            otherwise = f"Add it to the tools of {whose} or to the known tools."
            exact = (name for names in boxes for name in sorted(names.exact))
            fix = subject.guesses.fix(tool, exact, f"tools of {whose}", otherwise)
            yield problem("unknown-tool", message, fix, from_=route.from_, to=route.to)


def _nobody(subject: Subject, whose: str) -> str:
    if subject.known_tools is not None:
        return f"neither {whose} nor the host has"
    return "no skill has" if whose == _A_SKILL else f"{whose} does not have"


def _statuses(subject: Subject, declaration: Declaration) -> Iterator[Problem]:
    source = declaration.source
    wanted = dict.fromkeys(source.on_status if isinstance(source, Route) else ())
    for part in declaration.parts:
        if isinstance(part, FieldTest) and part.field == "status":
            wanted.update((value, None) for value in values_of(part) if isinstance(value, str))
    name = sentence(declaration.wording.name)
    for status in wanted:
        if status not in STATUSES:
            message = f"{name} names the status {named(status)}, which no tool result has."
            fix = subject.guesses.fix(status, STATUSES, "statuses", f"Write one of {', '.join(STATUSES)}.")
            yield problem("unknown-status", message, fix, **declaration.wording.spot)


def check_bodies(subject: Subject) -> Iterator[Problem]:
    """body-foreign-tool and body-unknown-tool, skill by skill; silent where it is not known whose tools there are."""
    texts = _Texts(Toolbox(subject))
    for skill in subject.skills.values():
        if skill.body:
            yield from texts.foreign(skill)
            yield from texts.unknown(skill)


@dataclass(frozen=True, eq=False)
class _Texts:
    toolbox: Toolbox

    def foreign(self, skill: GraphSkill) -> Iterator[Problem]:
        if skill.tools is None:  # which says nothing, so that any tool may be its own
            return
        own, host = names_of(skill.tools), self.toolbox.host
        body = skill.body.encode("utf-8", "replace").decode()
        found = dict.fromkeys(self._spellings[number][1] for number in self._mentions.search(body).spans)
        tools = [tool for tool in found if tool not in own]
        foreign = [tool for tool in tools if host is None or tool not in host]
        if foreign:
            name, owner = named(skill.id), named(self._owners[foreign[0]])
            message = f"The text of {name} names {several(foreign)}, which it may not use, as {owner} may."
            fix = f"Add it to the tools of {name}, or leave it to {owner}."
            yield problem("body-foreign-tool", message, fix, skill=skill.id)

    def unknown(self, skill: GraphSkill) -> Iterator[Problem]:
        host = self.toolbox.host
        if host is None and skill.tools is None:
            return
        boxes = [names_of(skill.tools or ()), self.toolbox.all_skills, *([] if host is None else [host])]
        called = dict.fromkeys(match[0] for match in _CALL.finditer(skill.body))
        unknown = [name for name in called if not any(name in names for names in boxes)]
        if unknown:
            nobody = "no skill has" if host is None else "neither a skill nor the host has"
            message = f"The text of {named(skill.id)} calls {several(unknown)}, which {nobody}."
            otherwise = "Correct the name, or add the tool to the known ones."
            known = sorted(self.toolbox.all_skills.exact)
            fix = self.toolbox.subject.guesses.fix(unknown[0], known, "all tools", otherwise)
            yield problem("body-unknown-tool", message, fix, skill=skill.id)

    @cached_property
    def _owners(self) -> dict[str, str]:
        owners: dict[str, str] = {}
        for skill in self.toolbox.subject.skills.values():
            for tool in sorted(names_of(skill.tools or ()).exact):
                owners.setdefault(tool, skill.id)
        return owners

    @cached_property
    def _spellings(self) -> list[tuple[str, str]]:
        """How each tool stands in texts; a plain word counts only as code: `search` in backticks, or `search(`."""
        return [
            (spelling, tool)
            for tool in self._owners
            for spelling in ((f"`{tool}`", f"{tool}(") if tool.isalpha() and tool[1:].islower() else (tool,))
        ]

    @cached_property
    def _mentions(self) -> Automaton:
        spelled = (spelling.encode("utf-8", "replace").decode() for spelling, _ in self._spellings)
        return compile_automaton((spelling, MatchMode.WORD) for spelling in spelled)
