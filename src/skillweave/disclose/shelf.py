"""What one generation of skills costs to show: its catalog and the figure of loading everything, each made once."""

from collections.abc import Sequence
from functools import cached_property

from skillweave.diagnostics import Diagnostic
from skillweave.disclose.catalog import Catalog, build_catalog, catalog_cost, catalog_lines, catalog_page, show_all
from skillweave.disclose.pricing import Pricing
from skillweave.disclose.render import catalog_findings
from skillweave.disclose.rung import Rung
from skillweave.disclose.skill_tools import SkillTools
from skillweave.skill import Skill


class Shelf:
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
