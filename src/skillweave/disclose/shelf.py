"""What one generation of skills costs to show: its catalog and the figure of loading everything, each made once."""

from collections.abc import Sequence
from functools import cached_property

from skillweave.diagnostics import Diagnostic
from skillweave.disclose.catalog import Catalog, build_catalog, catalog_cost, show_all
from skillweave.disclose.pricing import Pricing
from skillweave.disclose.render import catalog_findings
from skillweave.disclose.rung import Rung
from skillweave.skill import Skill


class Shelf:
    """The selectable skills of one snapshot with their prices; everything is counted at first use."""

    def __init__(self, skills: Sequence[Skill], pricing: Pricing, *, limit: int, first: Sequence[str] = ()) -> None:
        self.skills = tuple(skills)
        self.pricing = pricing
        self._limit = limit
        self._first = tuple(first)

    @cached_property
    def catalog(self) -> Catalog:
        """The catalog inside its limit, the same bytes for every turn of this generation."""
        return build_catalog(self.skills, self._limit, self.pricing, first=self._first)

    @cached_property
    def everything(self) -> int:
        """Tokens of every line of the catalog and of the instructions of every skill."""
        bodies = (self.pricing.skill(skill, Rung.INSTRUCTIONS).tokens for skill in self.skills)
        return catalog_cost(self.skills, self.pricing) + sum(bodies)

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What had to be escaped in the catalog's lines."""
        return tuple(finding for skill in self.skills for finding in catalog_findings(skill))

    def in_full(self, limit: int) -> str:
        """Full documents, as many as fit into `limit` tokens."""
        return show_all(self.skills, limit, self.pricing)
