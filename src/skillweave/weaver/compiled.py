"""What one generation of skills needs to be searched and shown."""

from dataclasses import dataclass

from skillweave.disclose.catalog import PricedCatalog
from skillweave.disclose.pricing import Pricing
from skillweave.graph.findings import graph_in
from skillweave.graph.graph import SkillGraph
from skillweave.registry import Snapshot
from skillweave.select.kit import Kit, compile_kit
from skillweave.settings import Settings
from skillweave.turn.move import Wiring, wire


@dataclass(frozen=True, slots=True)
class Compiled:
    """A snapshot with its kit and its prices, and the skill graph beside it, None without one."""

    snapshot: Snapshot
    kit: Kit
    shelf: PricedCatalog
    wiring: Wiring | None = None


def compile_skills(
    snapshot: Snapshot,
    settings: Settings,
    pricing: Pricing,
    matchers: tuple[str, ...],
    graph: SkillGraph | None = None,
) -> Compiled:
    """Compile everything that a turn will need, so that no turn waits for it.

    `graph` goes before the one that a pack brings.
    """
    granted = settings.granted
    kit = compile_kit(snapshot, task_rules=settings.task_rules)
    shown = [skill for skill in kit.active if granted is None or skill.id in granted]
    shelf = PricedCatalog(
        shown, pricing, limit=settings.budget.catalog_limit, first=settings.catalog_first, tools=settings.skill_tools
    )
    if "lexical" in matchers:
        kit.lexical()
    if "mention" in matchers:
        kit.mention_names()
    graph = graph or graph_in(snapshot)
    return Compiled(snapshot, kit, shelf, None if graph is None else wire(graph, kit, granted))
