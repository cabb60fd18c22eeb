"""Whether the texts of skills speak of tools that they may use."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from skillweave.graph.checked import Problem
from skillweave.graph.checkup.codes import problem
from skillweave.graph.checkup.subject import Subject
from skillweave.graph.checkup.tools import Toolbox, names_of
from skillweave.graph.checkup.wording import named, several
from skillweave.graph.declared import GraphSkill
from skillweave.text.search import Automaton, MatchMode, compile_automaton

_CALL = re.compile(r"(?<!\w)[a-z][a-z0-9]*+(?:_[a-z0-9]++)++(?=\()")
"""A name in snake case with a parenthesis after it; read in one go, however long the text."""


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
        found = dict.fromkeys(self._named[number] for number in self._mentions.find(body))
        tools = [tool for tool in found if tool not in own]
        foreign = [tool for tool in tools if host is None or tool not in host]
        if foreign:
            owner = self._owners[foreign[0]]
            message = (
                f"The text of {named(skill.id)} names {several(foreign)}, which it may not use, as {named(owner)} may."
            )
            fix = f"Add it to the tools of {named(skill.id)}, or leave it to {named(owner)}."
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
            near = self.toolbox.subject.guesses.of(unknown[0], sorted(self.toolbox.all_skills.exact), "all tools")
            fix = f"Write {named(near)}." if near else "Correct the name, or add the tool to the known ones."
            yield problem("body-unknown-tool", message, fix, skill=skill.id)

    @cached_property
    def _owners(self) -> dict[str, str]:
        """By tool the first skill that states it."""
        owners: dict[str, str] = {}
        for skill in self.toolbox.subject.skills.values():
            for tool in sorted(names_of(skill.tools or ()).exact):
                owners.setdefault(tool, skill.id)
        return owners

    @cached_property
    def _spellings(self) -> list[tuple[str, str]]:
        """How tools stand in texts, each with its tool; a name that is an ordinary word has to stand there as code."""
        return [
            (spelling, tool)
            for tool in self._owners
            for spelling in ((f"`{tool}`", f"{tool}(") if _is_ordinary(tool) else (tool,))
        ]

    @cached_property
    def _named(self) -> list[str]:
        return [tool for _, tool in self._spellings]

    @cached_property
    def _mentions(self) -> Automaton:
        spelled = (spelling.encode("utf-8", "replace").decode() for spelling, _ in self._spellings)
        return compile_automaton((spelling, MatchMode.WORD) for spelling in spelled)


def _is_ordinary(tool: str) -> bool:
    """Whether the name could as well be a word of prose: `search` and `Read`, but not `lookup_order`."""
    return tool.isalpha() and tool[1:].islower()
