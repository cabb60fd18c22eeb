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
from skillweave.select.own_fit import OwnFit
from skillweave.state.state import Lifecycle
from skillweave.task import TaskRule

SMALLEST_WINDOW = 4000
"""Tokens of a context window."""
ONE_SKILL = 4000
"""Tokens that hold the instructions of nine in ten public skills; half of these have more than 1,200."""


class CatalogMode(StrEnum):
    """When the model sees which skills there are.

    `auto`: all of them in short lines in every call, where these fit into `Budget.catalog`, else the shortlist of those
    that may fit the message. `always`: the catalog in every call. `fallback`: one line where nothing matches, the
    catalog when it is asked for. `never`: not at all.
    """

    AUTO = "auto"
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
    what was fitted; at most `offer_most` are offered. `fitted` is what was fitted to one's own labelled queries, and
    `ranked` how many of the best ranked skills are told in decisions, given or not.

    Raises:
        SkillweaveError: a probability is not from 0 to 1, or `offer_most` is below 0.
    """

    budget: Budget = field(default_factory=Budget)
    max_skills: int = 3
    catalog: CatalogMode = CatalogMode.AUTO
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
    fitted: OwnFit | None = None
    ranked: int = 8

    def __post_init__(self) -> None:
        for name in ("give_at", "offer_at"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise SkillweaveError(f"Settings({name}={value}) is no probability; give a number from 0 to 1, or None")
        if self.offer_most < 0:
            raise SkillweaveError(f"Settings(offer_most={self.offer_most}) is below zero; give 0 to offer nothing")

    @property
    def thresholds(self) -> Thresholds:
        """From which probability on skills are given and offered, how many are offered, and how many told."""
        return Thresholds(self.give_at, self.offer_at, self.offer_most, self.fitted, self.ranked)

    @classmethod
    def for_window(cls, tokens: int) -> "Settings":
        """Settings with a budget for a model's context window of so many tokens: an eighth of it, parts in proportion.

        In a window below 32,000 an eighth holds no ordinary skill: there the budget is 4,000 tokens, at most half of
        the window. Raises SkillweaveError for a window below 4,000 tokens.
        """
        if tokens < SMALLEST_WINDOW:
            raise SkillweaveError(f"a window of {tokens} tokens has no room for skills; give {SMALLEST_WINDOW} or more")
        usual = Budget()
        total = max(tokens // 8, min(tokens // 2, ONE_SKILL))
        catalog, shortlist, per_skill = (
            round(part * total / usual.total) for part in (usual.catalog, usual.shortlist, usual.per_skill)
        )
        most = max(per_skill, min(total, ONE_SKILL))
        return cls(budget=Budget(total=total, catalog=catalog, shortlist=shortlist, per_skill=most))
