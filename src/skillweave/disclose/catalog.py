"""The catalog: tier 1 lines inside a limit, the same bytes for one generation of skills (spec 2.3)."""

from collections.abc import Sequence
from dataclasses import dataclass

from skillweave.disclose.pricing import Pricing
from skillweave.disclose.render import CATALOG_HEAD, all_skills_head, catalog_line, catalog_tail
from skillweave.disclose.rung import Rung
from skillweave.skill import Skill

MOST_SKILLS_IN_FULL = 10
"""How many skills an answer to "show all skills" holds at most (seed 004's later releases)."""


@dataclass(frozen=True, slots=True)
class Catalog:
    """The block's text, what it costs, and which skills have a line in it; empty when nothing fits."""

    text: str = ""
    tokens: int = 0
    shown: frozenset[str] = frozenset()
    total: int = 0


NO_CATALOG = Catalog()


def build_catalog(skills: Sequence[Skill], limit: int, pricing: Pricing, *, first: Sequence[str] = ()) -> Catalog:
    """Every skill's line while they fit into `limit` tokens: `first` ones, then by id; says how many are missing."""
    if not skills:
        return NO_CATALOG
    preferred = {skill_id: place for place, skill_id in enumerate(first)}
    ranked = sorted(skills, key=lambda skill: (preferred.get(skill.id, len(preferred)), skill.id))
    lines = [catalog_line(skill) for skill in ranked]
    fitting = _fitting(lines, limit, pricing)
    shown = ranked[:fitting]
    if not shown:
        return Catalog(total=len(skills))
    kept = sorted(zip((skill.id for skill in shown), lines, strict=False))
    tail = [] if fitting == len(lines) else [catalog_tail(fitting, len(lines))]
    text = "\n".join([CATALOG_HEAD, *(line for _, line in kept), *tail])
    return Catalog(text, pricing.count(text), frozenset(skill.id for skill in shown), len(skills))


def catalog_cost(skills: Sequence[Skill], pricing: Pricing) -> int:
    """Tokens of a catalog that shows every skill."""
    if not skills:
        return 0
    return pricing.count(CATALOG_HEAD) + sum(pricing.count("\n" + catalog_line(skill)) for skill in skills)


def show_all(skills: Sequence[Skill], limit: int, pricing: Pricing) -> str:
    """Full documents by id, as many as fit into `limit` tokens and at most ten, saying how many of how many."""
    documents: list[str] = []
    left = limit - pricing.count(all_skills_head(len(skills), len(skills) + 1))
    for skill in sorted(skills, key=lambda skill: skill.id)[:MOST_SKILLS_IN_FULL]:
        document = pricing.skill(skill, Rung.INSTRUCTIONS)
        cost = pricing.count("\n\n" + document.text)
        if cost > left:
            break
        left -= cost
        documents.append(document.text)
    if not documents:
        return ""
    return "\n\n".join([all_skills_head(len(documents), len(skills)), *documents])


def _fitting(lines: Sequence[str], limit: int, pricing: Pricing) -> int:
    costs = [pricing.count("\n" + line) for line in lines]
    room = limit - pricing.count(CATALOG_HEAD)
    if sum(costs) <= room:
        return len(lines)
    room -= pricing.count("\n" + catalog_tail(len(lines), len(lines)))
    fitting = 0
    for cost in costs:
        if cost > room:
            break
        room -= cost
        fitting += 1
    return fitting
