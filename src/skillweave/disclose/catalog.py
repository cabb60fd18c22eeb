"""The catalog: tier 1 lines inside a limit, the same bytes for one generation of skills (spec 2.3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from skillweave.diagnostics import Diagnostic
from skillweave.disclose.block import Rung, SkillTools
from skillweave.disclose.pricing import Pricing
from skillweave.disclose.render import (
    all_skills_head,
    catalog_continued,
    catalog_findings,
    catalog_head,
    catalog_line,
    catalog_line_too_long,
    catalog_tail,
)
from skillweave.skill import Skill

MOST_SKILLS_IN_FULL = 10
"""How many skills an answer to "show all skills" holds at most (seed 004's later releases)."""
LONGEST_SHOWN = 100
LONGEST_LINE = 500
"""Tokens of one line that a tool's list always has room for (the 99th percentile of public skills is 247)."""


@dataclass(frozen=True, slots=True)
class Catalog:
    """The block's text, what it costs, and which skills have a line in it; empty when nothing fits."""

    text: str = ""
    tokens: int = 0
    shown: frozenset[str] = frozenset()
    total: int = 0


NO_CATALOG = Catalog()


def build_catalog(
    skills: Sequence[Skill],
    limit: int,
    pricing: Pricing,
    *,
    first: Sequence[str] = (),
    tools: SkillTools = SkillTools.ABSENT,
) -> Catalog:
    """Every skill's line while they fit into `limit` tokens: `first` ones, then by id; says how many are missing."""
    if not skills:
        return NO_CATALOG
    preferred = {skill_id: place for place, skill_id in enumerate(first)}
    ranked = sorted(skills, key=lambda skill: (preferred.get(skill.id, len(preferred)), skill.id))
    lines = [catalog_line(skill) for skill in ranked]
    chosen = _fitting(lines, limit, pricing, tools)
    while chosen:
        text = _catalog_text([lines[place] for place in chosen], len(lines), tools)
        tokens = pricing.count(text)
        if tokens <= limit:
            return Catalog(text, tokens, frozenset(ranked[place].id for place in chosen), len(skills))
        chosen.pop()
    return Catalog(total=len(skills))


def catalog_page(skills: Sequence[Skill], limit: int, pricing: Pricing, *, after: str = "") -> str:
    """The lines of the skills whose ids come after `after`, as many as fit into `limit` tokens; says how to go on."""
    ranked = sorted((skill for skill in skills if skill.id > after), key=lambda skill: skill.id)
    if not ranked:
        return f"No skill comes after {after[:LONGEST_SHOWN]!r}." if after and skills else "There are no skills."
    lines = catalog_lines(ranked, limit, pricing)
    if len(lines) < len(ranked):
        lines.append(catalog_continued(len(lines), len(ranked), ranked[len(lines) - 1].id))
    return "\n".join(lines)


def catalog_lines(skills: Sequence[Skill], limit: int, pricing: Pricing) -> list[str]:
    """The lines of the first skills, as many as fit into `limit` tokens, one at least; an endless one says so."""
    lines: list[str] = []
    room = limit
    for skill in skills:
        line = catalog_line(skill)
        tokens = pricing.count("\n" + line)
        if tokens > max(limit, LONGEST_LINE):
            line = catalog_line_too_long(skill.id, tokens)
            tokens = pricing.count("\n" + line)
        room -= tokens
        if lines and room < 0:
            break
        lines.append(line)
    return lines


def catalog_cost(skills: Sequence[Skill], pricing: Pricing) -> int:
    """Tokens of a catalog that shows every skill."""
    if not skills:
        return 0
    return pricing.count(catalog_head(SkillTools.ABSENT)) + sum(
        pricing.count("\n" + catalog_line(skill)) for skill in skills
    )


def show_all(skills: Sequence[Skill], limit: int, pricing: Pricing) -> str:
    """Full documents by id, as many as fit into `limit` tokens and at most ten, saying how many of how many."""
    ranked = sorted(skills, key=lambda skill: skill.id)[:MOST_SKILLS_IN_FULL]
    shown: list[str] = []
    text = ""
    for skill in ranked:
        document = pricing.skill(skill, Rung.INSTRUCTIONS).text
        longer = "\n\n".join([all_skills_head(len(shown) + 1, len(skills)), *shown, document])
        if pricing.count(longer) <= limit:
            shown.append(document)
            text = longer
    return text


def _catalog_text(lines: Sequence[str], total: int, tools: SkillTools) -> str:
    tail = [] if len(lines) == total else [catalog_tail(len(lines), total, tools)]
    return "\n".join([catalog_head(tools), *sorted(lines), *tail])


def _fitting(lines: Sequence[str], limit: int, pricing: Pricing, tools: SkillTools) -> list[int]:
    """The places of the lines to show; one that is too long leaves its room to those behind it."""
    # Only where to start: the tokens of joined lines can be a few more than their sum, so the whole is counted too.
    costs = [pricing.count("\n" + line) for line in lines]
    room = limit - pricing.count(catalog_head(tools))
    if sum(costs) <= room:
        return list(range(len(lines)))
    room -= pricing.count("\n" + catalog_tail(len(lines), len(lines), tools))
    fitting = []
    for place, cost in enumerate(costs):
        if cost <= room:
            room -= cost
            fitting.append(place)
    return fitting


class PricedCatalog:
    """The selectable skills of one snapshot with their prices; everything is counted at first use."""

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

    @cached_property
    def catalog(self) -> Catalog:
        """The catalog inside its limit, the same bytes for every turn of this generation."""
        return build_catalog(self.skills, self._limit, self.pricing, first=self._first, tools=self._tools)

    @cached_property
    def everything(self) -> int:
        """Tokens of every line of the catalog and of the instructions of every skill."""
        bodies = (self.pricing.skill(skill, Rung.INSTRUCTIONS).tokens for skill in self.skills)
        return catalog_cost(self.skills, self.pricing) + sum(bodies)

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What had to be escaped in the catalog's lines."""
        return tuple(finding for skill in self.skills for finding in catalog_findings(skill))

    def page(self, after: str = "") -> str:
        """The catalog's lines after that id, as many as the limit holds."""
        return catalog_page(self.skills, self._limit, self.pricing, after=after)

    def lines(self, skill_ids: Sequence[str]) -> str:
        """The catalog's lines of these skills in this order, as many as the limit holds."""
        shown = {skill.id: skill for skill in self.skills}
        found = [shown[skill_id] for skill_id in skill_ids if skill_id in shown]
        return "\n".join(catalog_lines(found, self._limit, self.pricing))

    def in_full(self, limit: int) -> str:
        """Full documents, as many as fit into `limit` tokens."""
        return show_all(self.skills, limit, self.pricing)
