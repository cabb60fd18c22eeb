"""What one generation of skills needs to be searched and shown."""

from dataclasses import dataclass

from skillweave.disclose.pricing import Pricing
from skillweave.disclose.shelf import Shelf
from skillweave.registry import Snapshot
from skillweave.select.kit import Kit, compile_kit
from skillweave.settings import Settings


@dataclass(frozen=True, slots=True)
class Compiled:
    """A snapshot with its kit and its prices."""

    snapshot: Snapshot
    kit: Kit
    shelf: Shelf


def compile_skills(snapshot: Snapshot, settings: Settings, pricing: Pricing, matchers: tuple[str, ...]) -> Compiled:
    """Compile everything that a turn will need, so that no turn waits for it."""
    granted = settings.granted
    kit = compile_kit(snapshot, task_rules=settings.task_rules)
    shown = [skill for skill in kit.active if granted is None or skill.id in granted]
    shelf = Shelf(
        shown, pricing, limit=settings.budget.catalog_limit, first=settings.catalog_first, tools=settings.skill_tools
    )
    if "lexical" in matchers:
        kit.lexical()
    if "mention" in matchers:
        kit.mention_names()
    return Compiled(snapshot, kit, shelf)
