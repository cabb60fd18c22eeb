"""The catalog: tier 1 lines inside a limit, the same bytes for one generation of skills (spec 2.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from skillweave.codec import Portable
from skillweave.diagnostics import Diagnostic
from skillweave.disclose.block import Rung, SkillTools
from skillweave.disclose.fit import Pricing
from skillweave.disclose.render import (
    catalog_continued,
    catalog_findings,
    catalog_head,
    catalog_line,
    catalog_line_too_long,
    catalog_tail,
    short_line,
    shortlist_head,
    telling_line,
)
from skillweave.skill import Skill

MOST_CHARACTERS_OF_A_TOKEN = 16
"""A catalog with more characters than this for each token of its limit is not counted at all: it cannot fit."""
LONGEST_SHOWN = 100
LONGEST_LINE = 500
"""Tokens of one line that a tool's list always has room for (the 99th percentile of public skills is 247)."""


@dataclass(frozen=True, slots=True)
class Catalog(Portable):
    """The block's text, what it costs, and which skills have a line in it; empty when nothing fits."""

    text: str = ""
    tokens: int = 0
    shown: frozenset[str] = frozenset()
    total: int = 0


NO_CATALOG = Catalog()


class PricedCatalog:
    """The skills of a snapshot and what showing them costs, within `limit` tokens; `first` stay longest."""

    def __init__(
        self,
        skills: Sequence[Skill],
        pricing: Pricing,
        *,
        limit: int,
        first: Sequence[str] = (),
        tools: SkillTools = SkillTools.ABSENT,
    ) -> None:
        self.skills = tuple(skills)
        self.pricing = pricing
        self._limit = limit
        self._first = tuple(first)
        self._tools = tools
        self._by_id = sorted(skills, key=lambda skill: skill.id)
        self._told: dict[tuple[str, int], str] = {}

    @cached_property
    def by_id(self) -> Mapping[str, Skill]:
        """The skills by their ids."""
        return {skill.id: skill for skill in self.skills}

    @cached_property
    def catalog(self) -> Catalog:
        """The lines that fit, `first` ones before others, and how many are missing; the same bytes in each turn."""
        if not self.skills:
            return NO_CATALOG
        preferred = {skill_id: place for place, skill_id in enumerate(self._first)}
        ranked = sorted(self._by_id, key=lambda skill: preferred.get(skill.id, len(preferred)))
        lines = [catalog_line(skill) for skill in ranked]
        chosen = self._fitting(lines)
        while chosen:
            tail = [] if len(chosen) == len(lines) else [catalog_tail(len(chosen), len(lines), self._tools)]
            text = "\n".join([catalog_head(self._tools), *sorted(lines[place] for place in chosen), *tail])
            tokens = self.pricing.count(text)
            if tokens <= self._limit:
                return Catalog(text, tokens, frozenset(ranked[place].id for place in chosen), len(lines))
            chosen.pop()
        return Catalog(total=len(lines))

    @cached_property
    def brief(self) -> Catalog:
        """Every skill in one short line, empty if they do not all fit; the same bytes in each turn."""
        lines = [short_line(skill) for skill in self._by_id]
        if not lines or sum(map(len, lines)) > self._limit * MOST_CHARACTERS_OF_A_TOKEN:
            return NO_CATALOG
        text = "\n".join([catalog_head(self._tools), *lines])
        tokens = self.pricing.count(text)
        if tokens > self._limit:
            return NO_CATALOG
        return Catalog(text, tokens, frozenset(skill.id for skill in self._by_id), len(lines))

    def shortlist(self, skill_ids: Sequence[str], limit: int, words: int) -> Catalog:
        """A line of so many words for each of these skills, as many as fit into `limit` tokens, and how to load one."""
        return self._short(self._named(skill_ids), shortlist_head(self._tools), limit, words=words)

    def found(self, skill_ids: Sequence[str], limit: int) -> Catalog:
        """The short lines of these skills in this order, as many as fit into `limit` tokens."""
        return self._short(self._named(skill_ids), "", limit)

    def _named(self, skill_ids: Sequence[str]) -> list[Skill]:
        return [self.by_id[skill_id] for skill_id in skill_ids if skill_id in self.by_id]

    def overview(self, first: Sequence[str], limit: int) -> Catalog:
        """Short lines that fit, `first` ones, then others spread evenly by id; says how many are missing."""
        named = dict.fromkeys(one for one in (*first, *self._first) if one in self.by_id)
        ahead = [self.by_id[skill_id] for skill_id in named]
        others = [skill for skill in self._by_id if skill.id not in named]
        return self._short([*ahead, *_evenly(others)], catalog_head(self._tools), limit, among=len(self.skills))

    def _short(
        self, skills: Sequence[Skill], head: str, limit: int, among: int = 0, words: int | None = None
    ) -> Catalog:
        """The lines under the head, short or of so many words; where `among` so many are fewer, a last one says so."""
        lines: list[str] = []
        room = limit - self.pricing.count(head)
        for skill in skills:
            line = short_line(skill) if words is None else self._telling(skill, words)
            room -= self.pricing.count("\n" + line)
            if room < 0:
                break
            lines.append(line)
        while lines:
            tail = [catalog_tail(len(lines), among, self._tools)] if len(lines) < among else []
            text = "\n".join([*([head] if head else []), *lines, *tail])
            tokens = self.pricing.count(text)
            if tokens <= limit:
                return Catalog(text, tokens, frozenset(skill.id for skill in skills[: len(lines)]), among or len(lines))
            lines.pop()
        return NO_CATALOG

    def _telling(self, skill: Skill, words: int) -> str:
        """The line of a shortlist; kept, since the same skills are offered again and again."""
        key = skill.id, words
        if key not in self._told:
            self._told[key] = telling_line(skill, words)
        return self._told[key]

    def _fitting(self, lines: Sequence[str]) -> list[int]:
        """The places of the lines to show; one that is too long leaves its room to those behind it."""
        # Only where to start: the tokens of joined lines can be a few more than their sum, so the whole is counted too.
        costs = [self.pricing.count("\n" + line) for line in lines]
        room = self._limit - self.pricing.count(catalog_head(self._tools))
        if sum(costs) <= room:
            return list(range(len(lines)))
        room -= self.pricing.count("\n" + catalog_tail(len(lines), len(lines), self._tools))
        fitting = []
        for place, cost in enumerate(costs):
            if cost <= room:
                room -= cost
                fitting.append(place)
        return fitting

    @cached_property
    def everything(self) -> int:
        """Tokens of every line of the catalog and of the instructions of every skill: what loading all would cost."""
        if not self.skills:
            return 0
        count = self.pricing.count
        lines = sum(count("\n" + catalog_line(skill)) for skill in self.skills)
        bodies = sum(self.pricing.skill(skill, Rung.INSTRUCTIONS).tokens for skill in self.skills)
        return count(catalog_head(SkillTools.ABSENT)) + lines + bodies

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What had to be escaped in the catalog's lines."""
        return tuple(finding for skill in self.skills for finding in catalog_findings(skill))

    def page(self, after: str = "") -> str:
        """The lines of the skills whose ids come after `after`, as many as fit into the limit; says how to go on."""
        left = [skill for skill in self._by_id if skill.id > after]
        if not left:
            nothing = after and self.skills
            return f"No skill comes after {after[:LONGEST_SHOWN]!r}." if nothing else "There are no skills."
        lines = self._lines(left)
        if len(lines) < len(left):
            lines.append(catalog_continued(len(lines), len(left), left[len(lines) - 1].id))
        return "\n".join(lines)

    def _lines(self, skills: Sequence[Skill]) -> list[str]:
        """The lines of the first skills, as many as fit, one at least; one that is too long for any list says so."""
        lines: list[str] = []
        room = self._limit
        for skill in skills:
            line = catalog_line(skill)
            tokens = self.pricing.count("\n" + line)
            if tokens > max(self._limit, LONGEST_LINE):
                line = catalog_line_too_long(skill.id, tokens)
                tokens = self.pricing.count("\n" + line)
            room -= tokens
            if lines and room < 0:
                break
            lines.append(line)
        return lines


def _evenly(skills: Sequence[Skill]) -> Sequence[Skill]:
    """The skills in an order in which every beginning is spread over all of them: halves, quarters, and so on."""
    width = max(len(skills) - 1, 0).bit_length()
    # The bits of each place read backwards: the order of van der Corput.
    places = sorted(range(len(skills)), key=lambda place: f"{place:0{width}b}"[::-1])
    return [skills[place] for place in places]
