"""What stays the same from turn to turn: the budget, the limits, the lifecycles, and what the host can do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from skillweave.checking import Checked
from skillweave.codec import Portable
from skillweave.compose.composition import OnlySkillTools
from skillweave.disclose.block import SkillTools
from skillweave.disclose.fit import Budget
from skillweave.errors import InvalidValue
from skillweave.frozen import EMPTY, FrozenDict
from skillweave.knowledge.assemble import SECONDS
from skillweave.select.matchers import Thresholds
from skillweave.select.own_fit import OwnFit
from skillweave.state.state import Lifecycle
from skillweave.task import TaskRule
from skillweave.text.search import MatchMode

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


_ENUMS: Mapping[str, type[StrEnum]] = {
    "catalog": CatalogMode,
    "only_skill_tools": OnlySkillTools,
    "files": FileAccess,
    "skill_tools": SkillTools,
    "trigger_mode": MatchMode,
}


@dataclass(frozen=True, slots=True)
class Settings(Portable):
    """What stays the same from turn to turn.

    `lifecycle` None means `conversation` in history placement and `recent` in call placement; `lifecycles` are those of
    single skills, by id. `catalog_first` are ids that the catalog shows before others when not all fit; `entity_keys`
    are the keys of a turn's memory that name an entity; `skill_tools` says whether the model has skillweave's own
    tools; `granted` are the ids that this agent may have, None for all; `task_rules` are the host's own, which go
    before those of packs. `only_skill_tools` says when the agent has only the tools that skills allow. A skill is given
    from the probability `give_at` on and offered from `offer_at` on, None for what was fitted; at most `offer_most` are
    offered, each in a line of some `offer_words` words: a small model may need longer ones. `fitted` is what was fitted
    to one's own labelled queries, and `ranked` how many of the best ranked skills are told in decisions, given or not.
    `context_seconds` is how long a graph of entities may say nothing while what is known of one is put together; one
    that is at work is waited for longer. With `trigger_mode` `substring` keywords and verbs also match inside words,
    and all languages' endings with them.

    Enums are also taken as their texts, lists as any list of texts.

    Raises:
        InvalidValue: a value is of another type, below what is possible, or no member of its enum.
    """

    budget: Budget = field(default_factory=Budget)
    max_skills: int = 3
    catalog: CatalogMode = CatalogMode.AUTO
    lifecycle: Lifecycle | None = None
    only_skill_tools: OnlySkillTools = OnlySkillTools.WHEN_CHOSEN
    files: FileAccess = FileAccess.LOCAL
    skill_tools: SkillTools = SkillTools.ABSENT
    catalog_first: tuple[str, ...] = ()
    entity_keys: tuple[str, ...] = ("entity_id",)
    granted: frozenset[str] | None = None
    lifecycles: Mapping[str, Lifecycle] = field(default=EMPTY, hash=False)
    task_rules: tuple[TaskRule, ...] = ()
    give_at: float | None = None
    offer_at: float | None = None
    offer_most: int = 12
    offer_words: int = 13
    fitted: OwnFit | None = None
    ranked: int = 14
    context_seconds: float = SECONDS
    trigger_mode: MatchMode = MatchMode.WORD

    def __post_init__(self) -> None:
        checked, read = Checked("Settings"), object.__setattr__
        checked.kind("budget", self.budget, Budget, "skillweave.Budget(total=..., catalog=...)")
        for name, least in (("max_skills", 0), ("offer_most", 0), ("offer_words", 1), ("ranked", 0)):
            checked.whole(name, getattr(self, name), least)
        for name, kind in _ENUMS.items():
            read(self, name, checked.member(name, getattr(self, name), kind))
        if self.lifecycle is not None:
            read(self, "lifecycle", checked.member("lifecycle", self.lifecycle, Lifecycle))
        read(self, "catalog_first", checked.texts("catalog_first", self.catalog_first, "invoice-checking"))
        read(self, "entity_keys", checked.texts("entity_keys", self.entity_keys, "entity_id"))
        if self.granted is not None:
            read(self, "granted", frozenset(checked.texts("granted", self.granted, "invoice-checking")))
        read(self, "lifecycles", self._lifecycles(checked))
        read(self, "task_rules", checked.items("task_rules", self.task_rules, TaskRule, "TaskRule(When(...), skills)"))
        checked.number("context_seconds", self.context_seconds)
        for name in ("give_at", "offer_at"):
            if getattr(self, name) is not None:
                checked.number(name, getattr(self, name), most=1)
        if self.fitted is not None:
            checked.kind("fitted", self.fitted, OwnFit, "an OwnFit, as `skillweave eval fit` writes it")

    def _lifecycles(self, checked: Checked) -> Mapping[str, Lifecycle]:
        given = checked.mapping("lifecycles", self.lifecycles)
        if all(type(one) is Lifecycle for one in given.values()):
            return given
        return FrozenDict({id_: checked.member(f"lifecycles[{id_!r}]", one, Lifecycle) for id_, one in given.items()})

    @property
    def thresholds(self) -> Thresholds:
        """From which probability on skills are given and offered, how many are offered, and how many told."""
        return Thresholds(self.give_at, self.offer_at, self.offer_most, self.fitted, self.ranked)

    @classmethod
    def for_window(cls, tokens: int) -> "Settings":
        """Settings with a budget for a model's context window of so many tokens: an eighth of it, parts in proportion.

        In a window below 32,000 an eighth holds no ordinary skill: there the budget is 4,000 tokens, at most half of
        the window. Raises InvalidValue for a window below 4,000 tokens.
        """
        Checked("Settings.for_window").whole("tokens", tokens)
        if tokens < SMALLEST_WINDOW:
            raise InvalidValue(f"a window of {tokens} tokens has no room for skills; give {SMALLEST_WINDOW} or more")
        usual = Budget()
        total = max(tokens // 8, min(tokens // 2, ONE_SKILL))
        parts = (usual.catalog, usual.shortlist, usual.per_skill, usual.context)
        catalog, shortlist, per_skill, context = (round(part * total / usual.total) for part in parts)
        most = max(per_skill, min(total, ONE_SKILL))
        return cls(budget=Budget(total=total, catalog=catalog, shortlist=shortlist, per_skill=most, context=context))
