"""What one generation of skills needs to be searched and shown."""

from dataclasses import dataclass

from skillweave.disclose.pricing import Pricing
from skillweave.disclose.shelf import Shelf
from skillweave.plan import Settings
from skillweave.registry import Snapshot
from skillweave.select.kit import Kit, compile_kit


@dataclass(frozen=True, slots=True)
class Compiled:
    """A snapshot with its kit and its prices."""

    snapshot: Snapshot
    kit: Kit
    shelf: Shelf


def compile_skills(snapshot: Snapshot, settings: Settings, pricing: Pricing, matchers: tuple[str, ...]) -> Compiled:
    """Compile everything that a turn will need, so that no turn waits for it."""
    granted = settings.granted
    shown = [skill for skill in snapshot.active() if granted is None or skill.id in granted]
    shelf = Shelf(shown, pricing, limit=settings.budget.catalog_limit, first=settings.catalog_first)
    kit = compile_kit(snapshot)
    if "lexical" in matchers:
        kit.lexical()
    return Compiled(snapshot, kit, shelf)
