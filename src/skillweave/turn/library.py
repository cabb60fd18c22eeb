"""Everything that a turn needs of one generation of skills, compiled once however many Weavers share it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

from skillweave.cachefile import CacheFolder
from skillweave.conversation import Turn
from skillweave.disclose.block import Rung, SkillTools
from skillweave.disclose.catalog import PricedCatalog
from skillweave.disclose.fit import Pricing
from skillweave.graph.findings import graph_in
from skillweave.graph.graph import SkillGraph
from skillweave.knowledge.findings import EntityRules, entity_rules_in
from skillweave.registry import Agent, AgentPart, Registry, Snapshot
from skillweave.select.index import SkillIndex, build_index
from skillweave.select.lexical import MATCHERS_OF_WORDS
from skillweave.select.matchers import FITTED, Matchers, Thresholds
from skillweave.settings import Settings
from skillweave.state.state import CLAIM_SECONDS, Delivery, Record, State
from skillweave.task import TaskRule
from skillweave.text.search import MatchMode
from skillweave.turn.move import GraphBinding, bind
from skillweave.turn.reconcile import digest_of, is_replay

if TYPE_CHECKING:
    from skillweave.select.numbered import TermStore

T = TypeVar("T")

READ_SKILL = "read_skill"
"""The tool by which a model reads skills; a host that offers it can show outlines."""


@dataclass(frozen=True, slots=True)
class Library:
    """A snapshot with what matchers search, what its texts cost, and the skill graph beside it, None without one.

    `settings` are those that it was made for, in an agent's with a budget that is no larger than the agent's own.
    `entities` are the rules by which entity context is shown, `thresholds` the settings' own.
    """

    snapshot: Snapshot
    settings: Settings
    index: SkillIndex
    catalog: PricedCatalog
    graph: GraphBinding | None = None
    entities: EntityRules = field(default_factory=EntityRules)
    thresholds: Thresholds = FITTED

    @property
    def has_rules(self) -> bool:
        """Whether any of the skills rules on tool calls."""
        return any(skill.has_rules for skill in self.snapshot.skills.values())


@dataclass(frozen=True, slots=True)
class Inputs:
    """What every step of a turn goes by: the turn, what the ledger says, the skills and how they are matched.

    `before` and `now` are the conversation's State and the store's clock. `delivery` is `given` for a turn that counts
    as delivered on return, `claimed` for one that is confirmed later. `told` is the digest of the transcript that came
    with the call which the turn answers, if it answers one; `again` says that the turn is a replay; `skill_tools`
    whether the model has our tools, by the settings or by what the host says that it offers.
    """

    turn: Turn
    before: State
    now: float
    library: Library
    matchers: Matchers
    delivery: Delivery
    told: str
    again: bool
    skill_tools: SkillTools

    def record(self, key: str, digest: str, rung: Rung, carrier: str, tokens: int) -> Record:
        """Returns the row for one key in this turn's name."""
        until = self.now + CLAIM_SECONDS if self.delivery is Delivery.CLAIMED else None
        return Record(key, digest, rung, carrier, tokens, self.delivery, self.turn.id, self.now, until, self.told)


def inputs_of(
    turn: Turn, before: State, now: float, library: Library, matchers: Matchers, delivery: Delivery = Delivery.GIVEN
) -> Inputs:
    """Returns what the steps of the turn go by."""
    told = digest_of(turn.transcript) if turn.reads and turn.transcript is not None else ""
    offered = turn.reads or READ_SKILL in (turn.tools or ())
    tools = SkillTools.OFFERED if offered else library.settings.skill_tools
    again = before.last_turn == turn.id and is_replay(turn, before)
    return Inputs(turn, before, now, library, matchers, delivery, told, again, tools)


class _Made(Generic[T]):
    """What was made for each key; keys are few, and compared, since the settings in them need not be hashable."""

    def __init__(self) -> None:
        self._made: list[tuple[object, T]] = []

    def get(self, key: object, make: Callable[[], T]) -> T:
        for known, value in self._made:
            if known == key:
                return value
        value = make()
        self._made.append((key, value))
        return value


@dataclass(frozen=True, slots=True)
class Common:
    """Skills that others have too, and what is compiled of them."""

    registry: Registry
    libraries: "Libraries"


class Libraries:
    """Compiles the newest snapshot; shared by all variants of a Weaver, on whatever thread they run.

    The index depends on task rules only, the catalog on what its block may show, the graph on who may be engaged:
    what two settings have in common is compiled once for both. Of a snapshot after another one only the words of
    changed skills are read. In `cache` compiled indexes are kept for other processes. Those of an agent (`agent_id`)
    compile its own skills only, and again only when one of these changes. What the registry of `common` shows is
    compiled there, once for all who have the same skills.
    """

    def __init__(
        self,
        pricing: Pricing,
        cache: CacheFolder | None = None,
        agent_id: str | None = None,
        common: "Common | None" = None,
    ) -> None:
        self.pricing = pricing
        self.agent_id = agent_id
        self._common = common
        self._cache = cache
        self._part = None if agent_id is None else AgentPart(agent_id)
        self._of_agents: dict[str, Libraries] = {}
        self._terms: TermStore | None = None
        self._compiling = Lock()
        self._begin(None)

    def compile(self, snapshot: Snapshot, settings: Settings, matchers: Matchers, graph: SkillGraph | None) -> Library:
        """Everything that a turn will need, so that no turn waits for it; who comes second gets what the first made.

        `graph` goes before the one that a pack brings. Call it beside the event loop: it takes up to a second for
        1,000 skills, and others wait for it.
        """
        common = self._common
        if common is not None and snapshot is common.registry.snapshot:
            return common.libraries.compile(snapshot, settings, matchers, graph)
        with self._compiling:
            if snapshot is not self._snapshot:
                self._begin(snapshot)
            return self._compiled(snapshot, settings, matchers, graph)

    def for_agent(self, agent_id: str) -> "Libraries":
        """Those of an agent, the same ones for all its Weavers."""
        with self._compiling:
            known = self._of_agents.get(agent_id)
            if known is None:
                known = self._of_agents[agent_id] = Libraries(self.pricing, self._cache, agent_id)
                known._of_agents = self._of_agents
            return known

    def seen(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot, of an agent its part of it; raises AgentNotFound where the agent is not described any more."""
        return snapshot if self._part is None else self._part.of(snapshot)

    def _begin(self, snapshot: Snapshot | None) -> None:
        self._snapshot = snapshot
        self._indexes: _Made[SkillIndex] = _Made()
        self._catalogs: _Made[PricedCatalog] = _Made()
        self._graphs: _Made[GraphBinding] = _Made()
        self._of_packs: _Made[SkillGraph | None] = _Made()
        self._entities: _Made[EntityRules] = _Made()

    def _compiled(
        self, snapshot: Snapshot, settings: Settings, matchers: Matchers, graph: SkillGraph | None
    ) -> Library:
        if self.agent_id is not None:
            settings = _within(settings, snapshot.agents[self.agent_id])
        granted, rules = settings.granted, settings.task_rules
        mode = settings.trigger_mode
        index = self._indexes.get((rules, mode), lambda: self._built(snapshot, rules, mode))
        limit, first, tools = settings.budget.catalog_limit, settings.catalog_first, settings.skill_tools

        def catalog() -> PricedCatalog:
            shown = [skill for skill in index.active if granted is None or skill.id in granted]
            return PricedCatalog(shown, self.pricing, limit=limit, first=first, tools=tools)

        priced = self._catalogs.get((granted, limit, first, tools), catalog)
        if not MATCHERS_OF_WORDS.isdisjoint(matchers.names):
            index.lexical()
        if "mention" in matchers.names:
            index.mention_names()
        chosen = graph or self._of_packs.get(None, lambda: graph_in(snapshot))
        entities = self._entities.get(None, lambda: entity_rules_in(snapshot))
        binding = None
        if chosen is not None:
            binding = self._graphs.get((chosen, rules, mode, granted), lambda: bind(chosen, index, granted))
        return Library(snapshot, settings, index, priced, binding, entities, settings.thresholds)

    def _built(self, snapshot: Snapshot, rules: tuple[TaskRule, ...], mode: MatchMode) -> SkillIndex:
        if self._terms is None:
            from skillweave.select.numbered import TermStore

            self._terms = TermStore()
        return build_index(snapshot, mode=mode, task_rules=rules, cache=self._cache, terms=self._terms)


def _within(settings: Settings, agent: Agent) -> Settings:
    """The settings with a budget that is no larger than the agent's own."""
    most = agent.most_tokens
    if most is None or most >= settings.budget.total:
        return settings
    return replace(settings, budget=replace(settings.budget, total=most))
