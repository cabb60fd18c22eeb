"""What stays the same from turn to turn: the budget, the limits, the lifecycles, and what the host can do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from skillweave.codec import Portable
from skillweave.compose.composition import Enforce
from skillweave.disclose.block import SkillTools
from skillweave.disclose.fit import Budget
from skillweave.errors import SkillweaveError
from skillweave.frozen import EMPTY
from skillweave.select.matchers import Thresholds
from skillweave.state.state import Lifecycle
from skillweave.task import TaskRule


class CatalogMode(StrEnum):
    """When the model sees the catalog: in every call, only when nothing matches or it is asked for, or never."""

    ALWAYS = "always"
    FALLBACK = "fallback"
    NEVER = "never"


class FileAccess(StrEnum):
    """Whether the host's tools can read the folders that skills come from, so that blocks may name them."""

    LOCAL = "local"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Settings(Portable):
    """What stays the same from turn to turn.

    `lifecycle` None means `conversation` in history placement and `recent` in call placement; `lifecycles` are those of
    single skills, by id. `catalog_first` are ids that the catalog shows before others when not all fit; `entity_keys`
    are the keys of a turn's memory that name an entity; `skill_tools` says whether the model has skillweave's own
    tools; `granted` are the ids that this agent may have, None for all; `task_rules` are the host's own, which go
    before those of packs. A skill is given from the probability `give_at` on and offered from `offer_at` on, None for
    what was fitted; at most `offer_most` are offered.

    Raises:
        SkillweaveError: a probability is not from 0 to 1, or `offer_most` is below 0.
    """

    budget: Budget = field(default_factory=Budget)
    max_skills: int = 3
    catalog: CatalogMode = CatalogMode.FALLBACK
    lifecycle: Lifecycle | None = None
    enforce: Enforce = Enforce.EXPLICIT
    files: FileAccess = FileAccess.LOCAL
    skill_tools: SkillTools = SkillTools.ABSENT
    catalog_first: tuple[str, ...] = ()
    entity_keys: tuple[str, ...] = ("entity_id",)
    granted: frozenset[str] | None = None
    lifecycles: Mapping[str, Lifecycle] = field(default=EMPTY, hash=False)
    task_rules: tuple[TaskRule, ...] = ()
    give_at: float | None = None
    offer_at: float | None = None
    offer_most: int = 5

    def __post_init__(self) -> None:
        for name in ("give_at", "offer_at"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise SkillweaveError(f"Settings({name}={value}) is no probability; give a number from 0 to 1, or None")
        if self.offer_most < 0:
            raise SkillweaveError(f"Settings(offer_most={self.offer_most}) is below zero; give 0 to offer nothing")

    @property
    def thresholds(self) -> Thresholds:
        """From which probability on skills are given and offered, and how many are offered."""
        return Thresholds(self.give_at, self.offer_at, self.offer_most)
