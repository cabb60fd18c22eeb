"""What one generation of skills needs to be searched and shown."""

from dataclasses import dataclass

from skillweave.disclose.pricing import Pricing
from skillweave.disclose.shelf import Shelf
from skillweave.graph.findings import graph_in
from skillweave.graph.graph import SkillGraph
from skillweave.registry import Snapshot
from skillweave.select.index import SkillIndex, build_index
from skillweave.settings import Settings
from skillweave.turn.move import Wiring, wire


@dataclass(frozen=True, slots=True)
class Compiled:
    """A snapshot with its index and its prices, and the skill graph beside it, None without one."""

    snapshot: Snapshot
    index: SkillIndex
    shelf: Shelf
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
    index = build_index(snapshot, task_rules=settings.task_rules)
    shown = [skill for skill in index.active if granted is None or skill.id in granted]
    shelf = Shelf(
        shown, pricing, limit=settings.budget.catalog_limit, first=settings.catalog_first, tools=settings.skill_tools
    )
    if "lexical" in matchers:
        index.lexical()
    if "mention" in matchers:
        index.mention_names()
    graph = graph or graph_in(snapshot)
    return Compiled(snapshot, index, shelf, None if graph is None else wire(graph, index, granted))
